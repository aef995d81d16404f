"""Scores of joint parsing and disfluency detection (Honnibal & Johnson 2014).

    P, R, F     of the disfluent words
    UAS, LAS    fraction of the words that are fluent in gold whose head (and relation) is correct

A fluent word predicted as disfluent has no head and counts as wrong; disfluent words predicted as such do not count for
UAS and LAS at all. Relations are compared up to the colon. Counts are kept per sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.repairs import analysis_of
from weft.text.doc import Doc

#: Heads and relations of a sentence; a disfluent word is its own head.
Analysis = tuple[Sequence[int], Sequence[str]]


@dataclass(frozen=True)
class DisfluencyReport:
    """Counts per sentence of disfluent words, and of heads and heads with relations of the fluent words."""

    struck: Counts
    uas: Counts
    las: Counts

    def as_dict(self) -> dict[str, float]:
        """Precision, recall and F1 of disfluent words, UAS and LAS."""
        struck = self.struck.total()
        return {
            "P": struck.precision, "R": struck.recall, "F": struck.f1,
            "UAS": self.uas.total().recall, "LAS": self.las.total().recall,
        }  # fmt: skip


def score_analyses(gold: Sequence[Analysis], system: Sequence[Analysis]) -> DisfluencyReport:
    """Compare analyses sentence by sentence.

    >>> gold = [([1, 3, 0], ["", "nsubj", "root"])]
    >>> report = score_analyses(gold, [([1, 2, 0], ["", "", "root"])])
    >>> {name: round(value, 2) for name, value in report.as_dict().items()}
    {'P': 0.5, 'R': 1.0, 'F': 0.67, 'UAS': 0.5, 'LAS': 0.5}
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} sentences, system has {len(system)}; both must have the same sentences")
    rows: list[tuple[int, ...]] = []
    for number, ((heads, names), (ours, our_names)) in enumerate(zip(gold, system, strict=True), 1):
        if len(heads) != len(ours):
            raise WeftError(f"sentence {number}: gold has {len(heads)} words, system has {len(ours)}")
        words = range(1, len(heads) + 1)
        struck = [heads[word - 1] == word for word in words]
        guess = [ours[word - 1] == word for word in words]
        right = [not out and head == our for out, head, our in zip(struck, heads, ours, strict=True)]
        pairs = zip(right, names, our_names, strict=True)
        labelled = sum(ok and name.split(":")[0] == our.split(":")[0] for ok, name, our in pairs)
        fluent = len(heads) - sum(struck)
        both = sum(a and b for a, b in zip(struck, guess, strict=True))
        rows.append((sum(struck), sum(guess), both, fluent, len(heads) - sum(guess), sum(right), labelled))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 7
    return DisfluencyReport(
        Counts.of(columns[0], columns[1], columns[2]),
        Counts.of(columns[3], columns[4], columns[5]),
        Counts.of(columns[3], columns[4], columns[6]),
    )


def evaluate_disfluency(gold: Sequence[Doc], system: Sequence[Doc]) -> DisfluencyReport:
    """Compare documents whose trees attach reparanda by that relation; both need the same words.

    >>> doc = Doc.from_words([["the", "the", "sea"]], head=[[2, 3, 0]], deprel=[["reparandum", "det", "root"]])
    >>> evaluate_disfluency([doc], [doc]).as_dict()["F"]
    1.0
    """
    return score_analyses(analyses_of(gold), analyses_of(system))


def analyses_of(docs: Sequence[Doc]) -> list[Analysis]:
    """The analyses of the sentences in documents.

    >>> analyses_of([Doc.from_words([["so", "so"]], head=[[2, 0]], deprel=[["reparandum", "root"]])])
    [([1, 0], ['reparandum', 'root'])]
    """
    analyses: list[Analysis] = []
    for doc in docs:
        if doc.head is None:
            raise WeftError("a document has no heads; fill the columns HEAD and DEPREL of CoNLL-U")
        relations = doc.column("deprel")
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            names = relations[first:end]
            analyses.append((analysis_of(doc.head[first:end].tolist(), names), names))
    return analyses
