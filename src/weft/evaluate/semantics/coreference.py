"""Scores of coreference, equal to those of the reference scorer of CoNLL-2011 and 2012.

K are the gold entities, R those of the system, both as sets of mentions; c(K, R) is the number of mentions they share.

    MUC     R = sum of (|K| - parts of K) / sum of (|K| - 1)        parts: one per R that meets K, one per lost mention
    B3      R = sum over K, R of c(K, R)^2 / |K|  /  number of gold mentions
    CEAF    R = value of the best one-to-one alignment of K and R / its value for K with itself
            the value of a pair is c(K, R) for CEAFm and 2 c(K, R) / (|K| + |R|) for CEAFe
    BLANC   mean of the scores of coreferent and of other pairs of mentions (Luo et al. 2014)
    LEA     R = sum of |K| * links of K that are found / links of K  /  sum of |K|        (Moosavi and Strube 2016)

Precision is the same with the two sides exchanged, F1 the harmonic mean; the CoNLL score is the mean F1 of MUC, B3 and
CEAFe. A mention that only one side has stands alone on the other. Mentions are compared by their words; the second of
two mentions with the same words is dropped, as the reference scorer does. Documents are added up before ratios are
taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import WeftError
from weft.evaluate.counts import Ratios
from weft.text.conventions.coreference import LAYER, coreference_of
from weft.text.doc import Doc
from weft.text.layers import words_of_chars

#: The measures in the order in which they are shown.
METRICS = ("MUC", "B3", "CEAFe", "CEAFm", "BLANC", "LEA")
CONLL = ("MUC", "B3", "CEAFe")
Entities = Sequence[Sequence[Hashable]]


@dataclass(frozen=True)
class CorefReport:
    """The sums that every measure needs, one row per document."""

    tables: dict[str, Floats]
    mentions: NDArray[np.int64]  #: gold, system and shared mentions per document

    def counts(self) -> dict[str, Ratios]:
        """The scores by name: the CoNLL mean first, then every measure, then the mentions."""
        together = np.concatenate([self.tables[name] for name in CONLL], axis=1)
        found = {"CoNLL": Ratios.from_table(together, conll_ratios, self.mentions)}
        for name in METRICS:
            ratios = blanc_ratios if name == "BLANC" else plain_ratios
            found[name] = Ratios.from_table(self.tables[name], ratios, self.mentions)
        gold, system, both = self.mentions.T.astype(np.float64)
        found["mentions"] = Ratios.from_table(np.stack([both, gold, both, system], 1), plain_ratios, self.mentions)
        return found

    def as_dict(self) -> dict[str, float]:
        """F1 of every measure by name."""
        return {name: counts.total().f1 for name, counts in self.counts().items()}

    @property
    def conll(self) -> float:
        """The mean F1 of MUC, B3 and CEAFe."""
        return self.counts()["CoNLL"].total().f1


def score_entities(gold: Sequence[Entities], system: Sequence[Entities]) -> CorefReport:
    """Compare the entities of the same documents, each a list of mentions, which may be any values.

    >>> report = score_entities([["abc", "defg"]], [["ab", "cdefg"]])
    >>> {name: round(value, 3) for name, value in report.as_dict().items()}
    {'CoNLL': 0.811, 'MUC': 0.8, 'B3': 0.79, 'CEAFe': 0.844, 'CEAFm': 0.857, 'BLANC': 0.714, 'LEA': 0.714, \
'mentions': 1.0}
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} documents, the system has {len(system)}; both must have the same ones")
    rows = [_compared(ours, theirs) for ours, theirs in zip(gold, system, strict=True)]
    tables = {
        name: np.array([row[name] for row, _ in rows], dtype=np.float64).reshape(len(rows), -1) for name in METRICS
    }
    return CorefReport(tables, np.array([mentions for _, mentions in rows], dtype=np.int64).reshape(-1, 3))


def evaluate_coreference(
    gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER, singletons: bool = True
) -> CorefReport:
    """Compare documents; without `singletons`, entities with a single mention are left out on both sides."""
    sides = [[doc_entities(doc, layer, singletons) for doc in docs] for docs in (gold, system)]
    for ours, theirs in zip(gold, system, strict=False):
        if ours.n_words != theirs.n_words:
            raise WeftError(
                f"{ours.id or 'a document'} has {ours.n_words} words in the gold data and {theirs.n_words} in the "
                "system's; coreference is scored on the same words"
            )
    return score_entities(*sides)


def doc_entities(doc: Doc, layer: str = LAYER, singletons: bool = True) -> list[list[Hashable]]:
    """The entities of a document as lists of mentions; empty without the layer."""
    found = coreference_of(doc, layer)
    if found is None:
        return []
    spans = words_of_chars(doc, found[0])
    groups = found[1].groups()
    return [[spans[span].pieces for span in group] for group in groups if singletons or len(group) > 1]


def plain_ratios(rows: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F1 of sums `correct of gold, gold, correct of system, system` along the last axis."""
    recall, precision = _ratio(rows[..., 0], rows[..., 1]), _ratio(rows[..., 2], rows[..., 3])
    return precision, recall, _harmonic(precision, recall)


def conll_ratios(rows: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Means of three measures."""
    parts = [plain_ratios(rows[..., 4 * k : 4 * k + 4]) for k in range(3)]
    means = np.mean(np.stack([np.stack(part) for part in parts]), axis=0)
    return means[0], means[1], means[2]


def blanc_ratios(rows: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Of coreferent pairs (shared, gold, system), other pairs (the same) and equal single mentions.

    If gold has pairs of one kind only, that kind alone counts; if it has none at all, whether the mentions are equal.
    """
    kinds = []
    for k in (0, 3):
        recall, precision = _ratio(rows[..., k], rows[..., k + 1]), _ratio(rows[..., k], rows[..., k + 2])
        kinds.append(np.stack([precision, recall, _harmonic(precision, recall)]))
    links, others = rows[..., 1] > 0, rows[..., 4] > 0
    mean = np.where(links & others, (kinds[0] + kinds[1]) / 2, np.where(links, kinds[0], kinds[1]))
    alone = _ratio(rows[..., 6], rows[..., 7])
    mean = np.where(links | others, mean, np.stack([alone] * 3))
    return mean[0], mean[1], mean[2]


def _compared(gold: Entities, system: Entities) -> tuple[dict[str, list[float]], tuple[int, int, int]]:
    """The sums of all measures for one document."""
    ours, theirs = _numbered(gold), _numbered(system)
    shared = [mention for mention in ours if mention in theirs]
    keys, answers = _sizes(ours), _sizes(theirs)
    table = np.zeros((len(keys), len(answers)))
    np.add.at(table, ([ours[m] for m in shared], [theirs[m] for m in shared]), 1.0)
    rows = {
        "MUC": _muc(table, keys, answers),
        "B3": [*_b_cubed(table, keys), *_b_cubed(table.T, answers)],
        "CEAFm": _ceaf(table, float(keys.sum()), float(answers.sum())),
        "CEAFe": _ceaf(
            2 * table / np.maximum(keys[:, None] + answers[None, :], 1.0), float(len(keys)), float(len(answers))
        ),
        "BLANC": _blanc(table, keys, answers, len(shared)),
        "LEA": [*_lea(table, keys, ours, theirs), *_lea(table.T, answers, theirs, ours)],
    }
    return rows, (len(ours), len(theirs), len(shared))


def _numbered(entities: Entities) -> dict[Hashable, int]:
    """The entity of every mention; of repeated mentions the first counts, and entities that lose all are left out."""
    found: dict[Hashable, int] = {}
    number = 0
    for entity in entities:
        fresh = [mention for mention in dict.fromkeys(entity) if mention not in found]
        found.update(dict.fromkeys(fresh, number))
        number += bool(fresh)
    return found


def _sizes(entity_of: dict[Hashable, int]) -> Floats:
    return np.bincount(np.fromiter(entity_of.values(), dtype=np.int64, count=len(entity_of))).astype(np.float64)


def _muc(table: Floats, keys: Floats, answers: Floats) -> list[float]:
    links = float(np.maximum(table - 1.0, 0.0).sum())
    return [links, float((keys - 1.0).sum()), links, float((answers - 1.0).sum())]


def _b_cubed(table: Floats, sizes: Floats) -> tuple[float, float]:
    return float((table**2 / np.maximum(sizes, 1.0)[:, None]).sum()), float(sizes.sum())


def _ceaf(similarity: Floats, gold: float, system: float) -> list[float]:
    from scipy.optimize import linear_sum_assignment

    best = linear_sum_assignment(similarity, maximize=True)
    value = float(similarity[best].sum())
    return [value, gold, value, system]


def _blanc(table: Floats, keys: Floats, answers: Floats, shared: int) -> list[float]:
    def pairs(sizes: Any) -> float:
        return float((np.asarray(sizes) * (np.asarray(sizes) - 1.0) / 2.0).sum())

    linked, gold, system = pairs(table), pairs(keys), pairs(answers)
    apart = pairs(shared) - pairs(table.sum(axis=1)) - pairs(table.sum(axis=0)) + linked
    sides = [pairs(keys.sum()) - gold, pairs(answers.sum()) - system]
    single = [float(shared == 1), 1.0] if keys.sum() == 1 and answers.sum() == 1 else [0.0, 0.0]
    return [linked, gold, system, apart, *sides, *single]


def _lea(
    table: Floats, sizes: Floats, ours: dict[Hashable, int], theirs: dict[Hashable, int]
) -> tuple[float, float]:  # fmt: skip
    """Entities weighted by size; one with a single mention is found if the other side has it alone too."""
    links = np.maximum(sizes * (sizes - 1.0) / 2.0, 1.0)
    resolved = (table * (table - 1.0) / 2.0).sum(axis=1) / links
    single = sizes == 1
    if single.any():
        answers = _sizes(theirs)
        for mention, entity in ours.items():
            if single[entity]:
                resolved[entity] = float(mention in theirs and answers[theirs[mention]] == 1)
    return float((sizes * resolved).sum()), float(sizes.sum())


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> Floats:
    zero = below == 0
    return np.where(zero, 0.0, above / np.where(zero, 1.0, below))


def _harmonic(precision: Floats, recall: Floats) -> Floats:
    return _ratio(2 * precision * recall, precision + recall)
