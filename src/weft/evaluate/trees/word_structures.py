"""Word-internal structure: a word is correct if it, its tag and the tree over its characters are correct.

P, R, F over (first character, last character, tag, structure); for unknown words the recall, also among those whose
boundaries and tag are correct
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate, pairwise

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.doc import Doc
from weft.text.word_structures import COLUMN


@dataclass(frozen=True)
class StructureReport:
    """Counts per sentence; for unknown words their number, with correct boundaries and tag, and fully correct."""

    counts: Counts
    unknown: int
    unknown_tagged: int
    unknown_right: int

    @property
    def unknown_recall(self) -> float:
        """The fraction of unknown words that are correct, including structure."""
        return self.unknown_right / self.unknown if self.unknown else 0.0

    @property
    def unknown_recall_if_tagged(self) -> float:
        """The same among those with correct boundaries and tag."""
        return self.unknown_right / self.unknown_tagged if self.unknown_tagged else 0.0


def evaluate_structures(gold: Doc, system: Doc, known: Collection[str] = ()) -> StructureReport:
    """Compare the word structures of two documents with the same sentences.

    >>> gold, system = (Doc.from_words([["茶杯", "好"]], xpos=[["NN", "VA"]], structure=[[own, "."]])
    ...                 for own in ("..r", "..c"))
    >>> report = evaluate_structures(gold, system, known={"好"})
    >>> report.counts.total().correct, report.unknown, report.unknown_tagged, report.unknown_right
    (1, 1, 1, 0)
    """
    if gold.n_sentences != system.n_sentences:
        raise WeftError(f"the gold document has {gold.n_sentences} sentences, the system document {system.n_sentences}")
    rows = []
    unknown = [0, 0, 0]
    for ours, theirs in zip(_words(gold), _words(system), strict=True):
        predicted, spans = set(theirs), {word[:3] for word in theirs}
        right = [word in predicted for word in ours]
        rows.append((len(ours), len(theirs), sum(right)))
        for (start, end, tag, _, form), is_right in zip(ours, right, strict=True):
            if form not in known:
                unknown[0] += 1
                unknown[1] += (start, end, tag) in spans
                unknown[2] += is_right
    return StructureReport(Counts.of(*zip(*rows, strict=True)), *unknown)


def _words(doc: Doc) -> list[list[tuple[int, int, str, str, str]]]:
    forms, tags, structures = doc.column("form"), doc.column("xpos"), doc.column(COLUMN)
    structured = []
    for a, b in pairwise(doc.sentence_offsets.tolist()):
        borders = [0, *accumulate(len(form) for form in forms[a:b])]
        spans = pairwise(borders)
        structured.append(
            [(*span, tags[i], structures[i], forms[i]) for i, span in zip(range(a, b), spans, strict=True)]
        )
    return structured
