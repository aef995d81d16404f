"""The probabilities of the three models, learned from samples of phrases and their matches.

    Model I      P(TCM | SCM, NLN, SPL, SEP, z)
    Model II     P(TCM | SCM, NLN, LTC, SPL, SEP, z)   P(LTC | CSS, SCM, NLN, SEP, z)
    Model III    those of model II   P(CPM | TCM, SCM, NLN, z)

Each is a table with Witten-Bell smoothing; SEP, SPL, NLN, z, LTC or CSS, and SCM are dropped in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ids
from weft.learn.generative.factored import FactoredTable
from weft.tasks.memory.status import CONTENTS, ENDS, EXTENSIONS, INTERVALS, LENGTHS, NEIGHBOURS, ORDERS, SETS

MODELS = ("I", "II", "III")
#: The columns of samples.
COLUMNS = ("SCM", "NLN", "CSS", "SPL", "SEP", "z", "TCM", "LTC", "CPM")
SIZES = {
    "SCM": len(CONTENTS), "NLN": len(NEIGHBOURS), "CSS": len(SETS), "SPL": LENGTHS, "SEP": ENDS, "z": INTERVALS,
    "TCM": len(CONTENTS), "LTC": len(EXTENSIONS), "CPM": len(ORDERS),
}  # fmt: skip
#: What each table predicts, and from which factors; its name is that of the feature.
CONTENT, CONTENT_EXTENDED, EXTENSION, ORDER = (
    "memory content", "memory content by extension", "memory extension", "memory order"
)  # fmt: skip
TABLES = {
    CONTENT: ("TCM", ("SCM", "NLN", "SPL", "SEP", "z")),
    CONTENT_EXTENDED: ("TCM", ("SCM", "NLN", "LTC", "SPL", "SEP", "z")),
    EXTENSION: ("LTC", ("CSS", "SCM", "NLN", "SEP", "z")),
    ORDER: ("CPM", ("TCM", "SCM", "NLN", "z")),
}
#: The features of every model.
FEATURES = {
    "I": (CONTENT,), "II": (CONTENT_EXTENDED, EXTENSION), "III": (CONTENT_EXTENDED, EXTENSION, ORDER),
}  # fmt: skip
_DROPPED = ("SEP", "SPL", "NLN", "z", "LTC", "CSS", "SCM", "TCM")


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """The tables of all models.

    >>> tables = MemoryTables.learn([[0, 0, 0, 0, 0, 9, 0, 0, 0]])
    >>> tables.of[CONTENT].probabilities.shape, bool(tables.of[CONTENT].probabilities[0, 0, 0, 0, 9, 0] > 0.9)
    ((4, 6, 5, 2, 10, 4), True)
    """

    of: dict[str, FactoredTable]

    @classmethod
    def learn(
        cls, samples: Sequence[Sequence[int]] | Ids, dropped: Sequence[str] = _DROPPED, priors: bool = False
    ) -> MemoryTables:
        """Learn from samples, rows with the columns `COLUMNS`; `dropped` is the order of backing off.

        With `priors`, tables of few samples expect that a phrase which equals that of a match is translated as there.
        """
        rows = np.asarray(samples, np.int64).reshape(-1, len(COLUMNS))
        found = {}
        for name, (outcome, factors) in TABLES.items():
            order = [factors.index(each) for each in dropped if each in factors]
            columns = [COLUMNS.index(factor) for factor in factors]
            found[name] = FactoredTable.learn(
                rows[:, columns], rows[:, COLUMNS.index(outcome)], [SIZES[each] for each in factors],
                SIZES[outcome], order, _prior(outcome, factors) if priors else None,
            )  # fmt: skip
        return cls(found)


def _prior(outcome: str, factors: Sequence[str]) -> Floats:
    """P(outcome | the factor that says most of it), with an axis for every factor."""
    rows = _PRIORS[outcome]
    factor = {"TCM": "SCM", "LTC": "CSS", "CPM": "TCM"}[outcome]
    shape = [SIZES[factor] if each == factor else 1 for each in factors]
    return np.array(rows).reshape([*shape, SIZES[outcome]])


#: Rows by SCM, CSS and TCM, in the order of `weft.tasks.memory.status`.
_PRIORS = {
    "TCM": ((0.8, 0.1, 0.09, 0.01), (0.2, 0.5, 0.29, 0.01), (0.1, 0.1, 0.79, 0.01), (0.01, 0.01, 0.01, 0.97)),
    "LTC": (
        (0.95, 0.01, 0.01, 0.01, 0.01, 0.01), (0.65, 0.25, 0.01, 0.01, 0.07, 0.01),
        (0.65, 0.01, 0.25, 0.01, 0.07, 0.01), (0.6, 0.1, 0.1, 0.1, 0.09, 0.01), (0.01, 0.01, 0.01, 0.01, 0.01, 0.95),
    ),
    "CPM": (
        (0.7, 0.1, 0.06, 0.01, 0.04, 0.06, 0.01, 0.01, 0.01), (0.2, 0.4, 0.16, 0.06, 0.05, 0.08, 0.02, 0.02, 0.01),
        (0.1, 0.35, 0.2, 0.1, 0.1, 0.1, 0.02, 0.02, 0.01), (0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.92),
    ),
}  # fmt: skip
