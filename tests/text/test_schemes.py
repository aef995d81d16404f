"""Label schemes against enumeration."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.text.schemes import (
    SCHEMES,
    SchemeError,
    convert,
    decode,
    decode_sentences,
    encode,
    guess_scheme,
    legal_transitions,
    lost_boundaries,
    numbered,
)


@st.composite
def chunked(draw: st.DrawFn) -> tuple[list[tuple[int, int, str]], int]:
    spans, position = [], 0
    for gap, length, label in draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["A", "B", "X-Y", ""])), max_size=6)
    ):
        spans.append((position + gap, position + gap + length, label))
        position += gap + length
    return spans, position + draw(st.integers(0, 2))


@given(chunked(), st.sampled_from(["IOB1", "IOB2", "BIOES"]))
@settings(deadline=None)
def test_spans_come_back_from_their_labels(case: tuple[list[tuple[int, int, str]], int], scheme: str) -> None:
    spans, length = case
    labels = encode(spans, length, scheme)
    assert len(labels) == length
    assert decode(labels, scheme) == spans
    assert decode(labels, scheme, strict=False) == spans


@given(chunked(), st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
@settings(deadline=None)
def test_conversion_is_decoding_and_encoding(case: tuple[list[tuple[int, int, str]], int], a: str, b: str) -> None:
    spans, length = case
    labels = encode(spans, length, a)
    assert convert(labels, a, b) == encode(decode(labels, a), length, b)
    if "IO" not in (a, b):
        assert convert(convert(labels, a, b), b, a) == labels


@pytest.mark.must_show("direct-transfer-ner", 8)
@given(chunked())
@settings(deadline=None)
def test_the_way_through_io_loses_boundaries_between_neighbours_of_one_label_and_nothing_else(case):
    spans, length = case
    merged: list[tuple[int, int, str]] = []
    for start, end, label in spans:
        if merged and merged[-1][1:] == (start, label):
            merged[-1] = (merged[-1][0], end, label)
        else:
            merged.append((start, end, label))
    labels = encode(spans, length, "BIOES")
    through = convert(convert(labels, "BIOES", "IO"), "IO", "IOB2")
    assert decode(through, "IOB2") == merged
    assert len(spans) - len(merged) == lost_boundaries(spans)
    assert lost_boundaries(merged) == 0
    back = convert(convert(through, "IOB2", "BIOES"), "BIOES", "IO")
    assert back == convert(labels, "BIOES", "IO")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_sequence_is_legal_exactly_if_some_spans_are_written_so(scheme: str) -> None:
    """Enumerate all sequences of four labels and all sets of spans."""
    marks = ["O"] + [f"{mark}-{label}" for mark in ("BIES" if scheme == "BIOES" else "BI") for label in "XY"]
    if scheme == "IO":
        marks = ["O", "I-X", "I-Y"]
    written = set()
    cuts = list(product([0, 1], repeat=3))
    for borders in cuts:
        parts, begin = [], 0
        for i, cut in enumerate([*borders, 1]):
            if cut:
                parts.append((begin, i + 1))
                begin = i + 1
        for labels in product(["", "X", "Y"], repeat=len(parts)):
            spans = [(a, b, label) for (a, b), label in zip(parts, labels, strict=True) if label]
            written.add(tuple(encode(spans, 4, scheme)))
    start, pairs, end = legal_transitions(marks, scheme)
    for sequence in product(range(len(marks)), repeat=4):
        labels = tuple(marks[i] for i in sequence)
        try:
            decode(labels, scheme)
            legal = True
        except SchemeError:
            legal = False
        by_matrix = start[sequence[0]] and end[sequence[-1]] and all(pairs[a, b] for a, b in pairwise(sequence))
        assert legal == bool(by_matrix) == (labels in written)


def test_errors_name_position_and_pair() -> None:
    with pytest.raises(SchemeError) as caught:
        decode(["B-NP", "O", "I-NP"], "IOB2")
    assert (caught.value.position, caught.value.previous, caught.value.label) == (2, "O", "I-NP")
    with pytest.raises(SchemeError, match="'the end' after 'B-NP'"):
        decode(["B-NP"], "BIOES")
    with pytest.raises(WeftError, match="no label scheme"):
        decode([], "XYZ")
    with pytest.raises(WeftError, match="flat spans"):
        encode([(0, 2, "A"), (1, 3, "B")], 3)
    with pytest.raises(WeftError, match="not a label"):
        decode(["NP"], "IOB2")


def test_lenient_reading_follows_conlleval() -> None:
    assert decode(["I-A", "B-A", "I-B", "O", "I-B"], "IOB2", strict=False) == [
        (0, 1, "A"), (1, 2, "A"), (2, 3, "B"), (4, 5, "B")]  # fmt: skip
    assert decode(["B-A", "S-A", "I-A", "E-A", "E-B"], "BIOES", strict=False) == [
        (0, 1, "A"), (1, 2, "A"), (2, 4, "A"), (4, 5, "B")]  # fmt: skip


@given(st.lists(chunked(), min_size=3, max_size=6), st.sampled_from(["IOB1", "IOB2", "BIOES"]))
@settings(deadline=None)
def test_the_guessed_scheme_reads_the_same_spans(
    cases: list[tuple[list[tuple[int, int, str]], int]], scheme: str
) -> None:
    sentences = [encode(spans, length, scheme) for spans, length in cases]
    guess = guess_scheme(sentences)
    assert [decode(labels, guess) for labels in sentences] == [spans for spans, _ in cases]


@given(st.lists(chunked(), min_size=3, max_size=6), st.sampled_from(["IOB1", "IOB2", "BIOES"]))
@settings(deadline=None)
def test_one_foreign_label_never_turns_marked_labels_into_io(
    cases: list[tuple[list[tuple[int, int, str]], int]], scheme: str
) -> None:
    sentences = [encode(spans, length, scheme) for spans, length in cases]
    if any("-" in label for labels in sentences for label in labels):
        assert guess_scheme([*sentences, ["Q-A"]]) == guess_scheme(sentences)


def test_the_scheme_with_the_fewest_faults_is_guessed() -> None:
    assert guess_scheme([["B-A", "O", "B-A"], ["O", "I-A"]]) == "IOB2"
    assert guess_scheme([["I-A", "O", "I-A"], ["O", "B-A"]]) == "IOB1"
    assert guess_scheme([["B-A", "E-A", "S-A"], ["B-A", "O"]]) == "BIOES"
    assert guess_scheme([["B-A", "I-A"], ["B-A", "I-A", "I-A"], ["E-A"]]) == "IOB2"


def test_transition_matrices_are_boolean_and_square() -> None:
    start, pairs, end = legal_transitions(["O", "S-A", "B-A", "I-A", "E-A"], "BIOES")
    assert pairs.shape == (5, 5)
    assert start.dtype == pairs.dtype == end.dtype == np.bool_


ANY_LABELS = st.lists(st.sampled_from(["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "I"]), max_size=6)


@given(st.lists(ANY_LABELS, max_size=5), st.sampled_from(SCHEMES))
@settings(deadline=None)
def test_sentences_are_decoded_together_as_one_by_one(sentences: list[list[str]], scheme: str) -> None:
    offsets = np.cumsum([0, *map(len, sentences)])
    flat = [label for sentence in sentences for label in sentence]
    starts, ends, numbers, names = decode_sentences(*numbered(flat), offsets, scheme)
    together = [(a, b, names[n]) for a, b, n in zip(starts.tolist(), ends.tolist(), numbers.tolist(), strict=True)]
    one_by_one = [
        (first + start, first + end, label)
        for first, sentence in zip(offsets.tolist(), sentences, strict=False)
        for start, end, label in decode(sentence, scheme, strict=False)
    ]
    assert together == one_by_one
