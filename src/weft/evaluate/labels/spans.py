"""Precision, recall and F of labelled spans.

A span is a set of half-open pieces and a label; a system span is correct if gold has the same pieces with the same
label (with any label for the unlabelled score). Spans may nest, overlap and have gaps. Micro averages pool all spans;
the macro average is the mean F1 of the labels.

`conlleval` scores label sequences like the scorer of that name. It accepts every sequence: a chunk begins at B (or S),
at a label of a different type than the one before, and at I or E after O or after the end of a chunk; it ends before
the next one, before O, after E or S, and with the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Ints
from weft.errors import WeftError
from weft.evaluate.counts import Counts, Score
from weft.text import Doc, SpanLayer
from weft.text.layers import Pieces
from weft.text.schemes import decode, decode_sentences, numbered

#: A span in a unit: its pieces, or `(start, end)`, and its label.
UnitSpan = tuple[Pieces | tuple[int, int], str]


@dataclass(frozen=True)
class SpanReport:
    """Span counts per unit: all of them, without labels, and per label."""

    counts: Counts
    unlabelled: Counts
    by_label: dict[str, Counts]
    tokens: Counts | None = None  # words with the correct label, if label sequences were scored

    @property
    def score(self) -> Score:
        """Totals over all labels (micro average)."""
        return self.counts.total()

    @property
    def scores(self) -> dict[str, Score]:
        """Totals per label."""
        return {label: counts.total() for label, counts in self.by_label.items()}

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the labels that occur in gold or system."""
        scores = [score.f1 for score in self.scores.values()]
        return sum(scores) / len(scores) if scores else 0.0

    @property
    def label_rows(self) -> Ints:
        """Counts of shape `(units, labels, 3)`, for significance tests of the macro average."""
        return np.stack([counts.rows for counts in self.by_label.values()], axis=1)

    def __str__(self) -> str:
        """The report in conlleval's format."""
        total, tokens = self.score, self.tokens.total() if self.tokens is not None else None
        words = f"{tokens.gold} tokens with " if tokens else ""
        accuracy = f"accuracy: {100 * tokens.accuracy:6.2f}%; " if tokens else ""
        lines = [
            f"processed {words}{total.gold} phrases; found: {total.system} phrases; correct: {total.correct}.",
            f"{accuracy}{_ratios(total)}",
        ]
        lines.extend(f"{label:>17}: {_ratios(score)}  {score.system}" for label, score in sorted(self.scores.items()))
        return "\n".join(lines)


def evaluate_span_sets(gold: Sequence[Iterable[UnitSpan]], system: Sequence[Iterable[UnitSpan]]) -> SpanReport:
    """Score spans given unit by unit, as `(start, end), label` or `pieces, label`.

    >>> gold = [[((0, 2), "PER"), (((3, 4), (6, 7)), "ORG")], [((0, 1), "LOC")]]
    >>> system = [[((0, 2), "ORG"), (((3, 4), (6, 7)), "ORG")], []]
    >>> report = evaluate_span_sets(gold, system)
    >>> report.score
    Score(gold=3, system=2, correct=1, aligned=None)
    >>> report.unlabelled.total().correct, report.scores["ORG"].precision, round(report.macro_f1, 4)
    (2, 0.5, 0.2222)
    """
    if len(gold) != len(system):
        raise WeftError(
            f"gold has {len(gold)} units (sentences), system has {len(system)}; both must have the same units"
        )
    labels: dict[str, int] = {}
    cells: list[list[int]] = [[], [], []]  # unit * 2**32 + label of gold, system and correct spans
    bare = np.zeros((3, len(gold)), dtype=np.int64)
    for unit, (ours, theirs) in enumerate(zip(gold, system, strict=True)):
        one, other = ({(_merge(pieces), label) for pieces, label in spans} for spans in (ours, theirs))
        if not one and not other:
            continue
        for kind, spans in enumerate((one, other, one & other)):
            cells[kind].extend((unit << 32) + labels.setdefault(label, len(labels)) for _, label in spans)
        ours_bare, theirs_bare = {pieces for pieces, _ in one}, {pieces for pieces, _ in other}
        bare[:, unit] = len(ours_bare), len(theirs_bare), len(ours_bare & theirs_bare)
    typed = np.zeros((3, len(gold), len(labels)), dtype=np.int64)
    for kind, packed in enumerate(cells):
        cell_array = np.array(packed, dtype=np.int64)
        np.add.at(typed[kind], (cell_array >> 32, cell_array & 0xFFFFFFFF), 1)
    by_label = {label: Counts(*typed[:, :, labels[label]]) for label in sorted(labels)}
    return SpanReport(Counts(*typed.sum(axis=2)), Counts(*bare), by_label)


def conlleval_f1(gold: Sequence[Sequence[str]], system: Sequence[Sequence[str]]) -> float:
    """The F1 of `conlleval`, many times faster: for held-out checks during training.

    >>> conlleval_f1([["B-NP", "I-NP", "O", "B-NP"]], [["I-NP", "I-NP", "O", "I-VP"]])
    0.5
    """
    offsets = np.cumsum([0, *map(len, gold)])
    names: dict[str, int] = {}
    coded = []
    for labels in (gold, system):
        starts, ends, numbers, types = decode_sentences(*numbered([label for row in labels for label in row]), offsets)
        of_name = np.array([names.setdefault(name, len(names)) for name in types], dtype=np.int64)
        coded.append((starts * (int(offsets[-1]) + 1) + ends) * 2**16 + of_name[numbers])
    total = len(coded[0]) + len(coded[1])
    return 2.0 * len(np.intersect1d(coded[0], coded[1], assume_unique=True)) / total if total else 0.0


def conlleval(gold: Iterable[Sequence[str]], system: Iterable[Sequence[str]]) -> SpanReport:
    """Score label sequences (`B-NP I-NP O ...`, one per sentence) like conlleval, well-formed or not.

    >>> print(conlleval([["B-NP", "I-NP", "O", "B-NP"]], [["I-NP", "I-NP", "O", "I-VP"]]))
    processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.
    accuracy:  50.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                   NP: precision: 100.00%; recall:  50.00%; FB1:  66.67  1
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
    """
    chunks: list[list[list[UnitSpan]]] = [[], []]
    lengths: list[int] = []
    right: list[int] = []
    ours, theirs = list(gold), list(system)
    if len(ours) != len(theirs):
        raise WeftError(f"gold has {len(ours)} sentences, system has {len(theirs)}; both must have the same sentences")
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True), 1):
        if len(one) != len(other):
            raise WeftError(f"sentence {number} has {len(one)} gold labels and {len(other)} system labels")
        for side, labels in zip(chunks, (one, other), strict=True):
            side.append([((start, end), label) for start, end, label in decode(labels, strict=False)])
        lengths.append(len(one))
        right.append(sum(map(str.__eq__, one, other)))
    report = evaluate_span_sets(*chunks)
    return SpanReport(report.counts, report.unlabelled, report.by_label, Counts.of(lengths, lengths, right))


def evaluate_spans(gold: Iterable[Doc] | Doc, system: Iterable[Doc] | Doc, layer: str | None = None) -> SpanReport:
    """Score a span layer of system documents against gold documents.

    Spans are compared in words if both sides have the same words, else in characters without whitespace, so the system
    may have different words and document boundaries. Units are the gold sentences, or documents without sentences.

    >>> docs = [Doc.from_words([["Ada", "met", "Bob"]]) for _ in range(2)]
    >>> docs[0].spans["ner"] = SpanLayer.of(docs[0].strings, [(0, 1, "PER"), (2, 3, "PER")])
    >>> docs[1].spans["ner"] = SpanLayer.of(docs[1].strings, [(0, 1, "PER"), (1, 3, "PER")])
    >>> evaluate_spans(docs[0], docs[1]).score.f1
    0.5
    """
    ours, theirs = (_as_list(docs) for docs in (gold, system))
    name = layer or common_layer(ours, theirs)
    one, other = _flatten(ours, name, "gold"), _flatten(theirs, name, "system")
    by_words = one.by_words and other.by_words and one.forms == other.forms
    if not by_words and one.text != other.text:
        place = next((i for i, (a, b) in enumerate(zip(one.text, other.text, strict=False)) if a != b),
                     min(len(one.text), len(other.text)))  # fmt: skip
        raise WeftError(
            f"the texts of gold and system differ at character {place + 1}, whitespace not counted: gold has "
            f"{one.text[place : place + 15]!r}, system has {other.text[place : place + 15]!r}. "
            "Both must annotate the same text"
        )
    starts = np.array(one.unit_words if by_words else one.unit_chars, dtype=np.int64)
    units: list[list[list[UnitSpan]]] = [[[] for _ in starts] for _ in range(2)]
    for side, into in zip((one, other), units, strict=True):
        for pieces, label in side.in_words if by_words else side.in_chars:
            into[max(0, int(np.searchsorted(starts, pieces[0][0], side="right")) - 1)].append((pieces, label))
    return evaluate_span_sets(*units)


def common_layer(gold: Iterable[Doc], system: Iterable[Doc]) -> str:
    """The only span layer that both sides have."""
    ours = {name for doc in gold for name in doc.spans}
    theirs = {name for doc in system for name in doc.spans}
    both = sorted(ours & theirs)
    if len(both) == 1:
        return both[0]
    if both:
        raise WeftError(f"gold and system share the span layers {', '.join(both)}; name the one to score (--layer)")
    raise WeftError(
        f"gold and system share no span layer: gold has {', '.join(sorted(ours)) or 'none'}, "
        f"system has {', '.join(sorted(theirs)) or 'none'}"
    )


class _Spans(NamedTuple):
    """The spans of a stream, with offsets from its beginning in words and in characters without whitespace."""

    text: str
    forms: list[str]
    by_words: bool
    in_words: list[tuple[Pieces, str]]
    in_chars: list[tuple[Pieces, str]]
    unit_words: list[int]
    unit_chars: list[int]


def _flatten(docs: Sequence[Doc], name: str, side: str) -> _Spans:
    if not any(name in doc.spans for doc in docs):
        others = sorted({other for doc in docs for other in doc.spans})
        raise WeftError(f"the {side} documents have no span layer {name!r}; they have {', '.join(others) or 'none'}")
    texts: list[str] = []
    forms: list[str] = []
    in_words: list[tuple[Pieces, str]] = []
    in_chars: list[tuple[Pieces, str]] = []
    unit_words: list[int] = []
    unit_chars: list[int] = []
    by_words, chars = True, 0
    for doc in docs:
        visible = [not character.isspace() for character in doc.text]
        rank = np.concatenate([[0], np.cumsum(visible)]).astype(np.int64) + chars
        words = len(forms)
        first = doc.sentence_offsets[:-1]
        if doc.n_sentences and doc.n_words:
            first = first[np.diff(doc.sentence_offsets) > 0]
            unit_words.extend((first + words).tolist())
            unit_chars.extend([chars, *rank[doc.word_start[first[1:]]].tolist()])
        else:
            unit_words.append(words)
            unit_chars.append(chars)
        layer = doc.spans.get(name, SpanLayer(doc.strings))
        by_words &= layer.unit == "words"
        starts, ends = doc.word_start, doc.word_end
        for pieces, label in layer:
            if layer.unit == "words":
                in_words.append((tuple((start + words, end + words) for start, end in pieces), label))
                pieces = tuple((int(starts[start]), int(ends[end - 1])) for start, end in pieces)
            in_chars.append((tuple((int(rank[start]), int(rank[end])) for start, end in pieces), label))
        texts.append("".join(character for character, seen in zip(doc.text, visible, strict=True) if seen))
        forms.extend(doc.column("form"))
        chars = int(rank[-1])
    return _Spans("".join(texts), forms, by_words, in_words, in_chars, unit_words, unit_chars)


def _merge(pieces: Pieces | tuple[int, int]) -> Pieces:
    """Pieces in order, with adjacent ones merged, so that equal stretches of text compare equal."""
    if isinstance(pieces[0], int):
        return (pieces,)
    if len(pieces) == 1:
        return pieces
    merged: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _as_list(docs: Iterable[Doc] | Doc) -> list[Doc]:
    return [docs] if isinstance(docs, Doc) else list(docs)


def _ratios(score: Score) -> str:
    return f"precision: {100 * score.precision:6.2f}%; recall: {100 * score.recall:6.2f}%; FB1: {100 * score.f1:6.2f}"
