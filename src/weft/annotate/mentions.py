"""Mentions with alternative boundaries: what is correct, what errors cost, and scores.

A *reference* is a gold mention with its alternatives. It is matched if the mention or one of its alternatives is
predicted exactly. It can be matched once: of two predictions that match the same reference, one is correct and the
other a false alarm. With the references of a sentence and its predictions,

    loss = a * false alarms + b * misses        precision = matched / predicted        recall = matched / references

b > a trains for recall (Ganchev et al. 2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from weft.errors import DataError
from weft.evaluate.counts import Counts
from weft.text.doc import Doc

#: First word, one past the last, and label; words counted within the sentence.
Mention = tuple[int, int, str]


@dataclass(frozen=True)
class Reference:
    """A gold mention and other boundaries that count as correct.

    >>> Reference((0, 2, "GENE"), ((0, 1, "GENE"),)).spans
    ((0, 2, 'GENE'), (0, 1, 'GENE'))
    """

    mention: Mention
    alternatives: tuple[Mention, ...] = ()

    @property
    def spans(self) -> tuple[Mention, ...]:
        return (self.mention, *self.alternatives)


@dataclass(frozen=True)
class Proposal:
    """A candidate mention in a sentence: words `start:end`, and its support."""

    start: int
    end: int
    label: str
    votes: int  # labellings that contain it, over all taggers
    rank: int  # best rank of such a labelling, 1 for the first


def mistakes(references: Sequence[Reference], predicted: Iterable[Mention]) -> tuple[int, int]:
    """False alarms and misses of predictions.

    >>> gold = [Reference((0, 2, "GENE"), ((0, 1, "GENE"),)), Reference((4, 5, "GENE"))]
    >>> mistakes(gold, [(0, 1, "GENE"), (4, 5, "GENE")]), mistakes(gold, [(0, 2, "GENE"), (0, 1, "GENE")])
    ((0, 0), (1, 1))
    """
    wanted = set(predicted)
    matched = sum(any(span in wanted for span in reference.spans) for reference in references)
    return len(wanted) - matched, len(references) - matched


def score_mentions(references: Sequence[Sequence[Reference]], predicted: Sequence[Iterable[Mention]]) -> Counts:
    """Counts per sentence: references, predictions, and matched references.

    >>> score_mentions([[Reference((0, 2, "X"), ((0, 1, "X"),))]], [[(0, 1, "X"), (3, 4, "X")]]).total().precision
    0.5
    """
    rows: list[tuple[int, int, int]] = []
    for gold, system in zip(references, predicted, strict=True):
        wanted = set(system)
        false_alarms, _ = mistakes(gold, wanted)
        rows.append((len(gold), len(wanted), len(wanted) - false_alarms))
    return Counts.of(*(list(column) for column in zip(*rows, strict=True))) if rows else Counts.of([], [], [])


@dataclass(frozen=True)
class MentionLoss:
    """a * false alarms + b * misses of a label sequence; the batch carries `references`, `names` decodes labels.

    >>> from weft.infer.chains.chain import Chain
    >>> MentionLoss(miss=5.0)
    MentionLoss(miss=5.0, false_alarm=1.0)
    """

    miss: float = 1.0
    false_alarm: float = 1.0

    def __call__(self, structure: Any, batch: Any, solution: Any) -> float:
        false_alarms, misses = mistakes(batch.references, batch.mentions(solution))
        return self.false_alarm * false_alarms + self.miss * misses


def right_sets(references: Sequence[Reference], limit: int = 64) -> list[list[Mention]]:
    """The sets of mentions that are correct: one span per reference, without overlaps, the gold ones first.

    >>> right_sets([Reference((0, 2, "X"), ((0, 1, "X"),)), Reference((1, 3, "X"))])
    [[(0, 1, 'X'), (1, 3, 'X')]]
    """
    correct: list[list[Mention]] = []
    for number, choice in enumerate(product(*(reference.spans for reference in references))):
        if number >= limit:
            break
        ordered = sorted(choice)
        if all(one[1] <= other[0] for one, other in pairwise(ordered)):
            correct.append(ordered)
    return correct


def references_of(doc: Doc, layer: str, alternatives: str = "") -> list[list[Reference]]:
    """The mentions of every sentence; spans in the layer of alternatives belong to the mention they overlap most.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["the", "StAR", "gene"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(1, 2, "GENE")])
    >>> doc.spans["others"] = SpanLayer.of(doc.strings, [(1, 3, "GENE")])
    >>> references_of(doc, "entities", "others")
    [[Reference(mention=(1, 2, 'GENE'), alternatives=((1, 3, 'GENE'),))]]
    """
    gold = mentions_of(doc, layer)
    other = mentions_of(doc, alternatives) if alternatives and alternatives in doc.spans else [[] for _ in gold]
    references: list[list[Reference]] = []
    for mentions, extra in zip(gold, other, strict=True):
        alternatives_of: dict[Mention, list[Mention]] = {mention: [] for mention in mentions}
        for span in extra:
            shared = [
                (min(span[1], end) - max(span[0], start), -start, end, label) for start, end, label in alternatives_of
            ]
            best = max(shared, default=(0, 0, 0, ""))
            if best[0] > 0 and span not in alternatives_of:
                alternatives_of[-best[1], best[2], best[3]].append(span)
        references.append([Reference(mention, tuple(spans)) for mention, spans in alternatives_of.items()])
    return references


def mentions_of(doc: Doc, layer: str) -> list[list[Mention]]:
    """The contiguous spans of a layer per sentence, in order."""
    from weft.tasks.spans.gapped import sentence_segments

    if layer not in doc.spans:
        raise DataError(f"the document has no span layer {layer!r}; it has: {', '.join(doc.spans) or 'none'}")
    return [
        sorted({(parts[0][0], parts[-1][1], label) for parts, label in sentence if len(parts) == 1})
        for sentence in sentence_segments(doc, layer)
    ]
