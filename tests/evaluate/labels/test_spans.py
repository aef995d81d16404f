"""Span scores: conlleval on well-formed and malformed labels, nested and discontinuous spans, other tokens."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate import Counts, conlleval, evaluate_span_sets, evaluate_spans, macro_f1, paired_bootstrap
from weft.evaluate.labels.spans import conlleval_f1
from weft.text import Doc, SpanLayer

# Every row: labels, and the chunks that conlleval sees in them (start, end, type), worked out by hand from its rules.
MALFORMED = [
    ("O I-NP I-NP O", "1-3 NP"),  # I after O begins a chunk
    ("I-NP I-NP", "0-2 NP"),  # so does I at the start of a sentence
    ("B-NP I-VP", "0-1 NP, 1-2 VP"),  # and I after another type
    ("I-NP I-VP I-NP", "0-1 NP, 1-2 VP, 2-3 NP"),
    ("B-NP B-NP I-NP", "0-1 NP, 1-3 NP"),
    ("I-NP B-NP", "0-1 NP, 1-2 NP"),
    ("B-NP O I-NP", "0-1 NP, 2-3 NP"),
    ("B-NP I-NP B-VP I-NP", "0-2 NP, 2-3 VP, 3-4 NP"),
    ("B I O I B", "0-2 , 3-4 , 4-5 "),  # without types
    ("B-A-B I-A-B I-A", "0-2 A-B, 2-3 A"),  # the type is all behind the first hyphen
    # BIOES
    ("B-NP I-NP E-NP S-NP", "0-3 NP, 3-4 NP"),
    ("E-NP E-NP", "0-1 NP, 1-2 NP"),  # E without a beginning is a chunk of its own
    ("B-NP E-NP I-NP", "0-2 NP, 2-3 NP"),  # E ends a chunk, I goes on with another
    ("O E-NP O", "1-2 NP"),
    ("I-NP E-NP", "0-2 NP"),
    ("B-NP E-VP", "0-1 NP, 1-2 VP"),
    ("S-NP I-NP S-NP", "0-1 NP, 1-2 NP, 2-3 NP"),
    ("B-NP S-NP E-NP", "0-1 NP, 1-2 NP, 2-3 NP"),
    ("B-NP I-NP O", "0-2 NP"),  # a chunk without its E ends before O
    ("E-NP B-NP E-NP", "0-1 NP, 1-3 NP"),
]


def chunks_of(table: str) -> list[tuple[tuple[int, int], str]]:
    found = []
    for item in table.split(","):
        place, label = item.lstrip().split(" ", 1)
        start, end = place.split("-")
        found.append(((int(start), int(end)), label.strip()))
    return found


@pytest.mark.must_show("crf-shallow-parsing", 7)
@pytest.mark.parametrize(("labels", "chunks"), MALFORMED)
def test_malformed_label_sequences_are_read_as_conlleval_reads_them(labels: str, chunks: str) -> None:
    sequence, spans = labels.split(), chunks_of(chunks)
    assert evaluate_span_sets([spans], [spans]).score.gold == len(spans)
    # Against labels that hold exactly the chunks of the table, every chunk is found and nothing else.
    clean = ["O"] * len(sequence)
    for (start, end), label in spans:
        tail = f"-{label}" if label else ""
        clean[start:end] = [f"B{tail}"] + [f"I{tail}"] * (end - start - 1)
    score = conlleval([clean], [sequence]).score
    assert (score.gold, score.system, score.correct) == (len(spans),) * 3


@pytest.mark.must_show("crf-shallow-parsing", 7)
def test_a_whole_file_gives_the_table_of_conlleval() -> None:
    gold = ["B-NP I-NP B-VP O B-NP", "O B-PP B-NP I-NP", "B-NP I-NP"]
    system = ["I-NP I-NP I-VP I-NP I-NP", "I-PP I-PP B-NP I-VP", "B-NP B-NP"]
    report = conlleval([row.split() for row in gold], [row.split() for row in system])
    # gold chunks: NP0-2 VP2-3 NP4-5 | PP1-2 NP2-4 | NP0-2; system: NP0-2 VP2-3 NP3-5 | PP0-2 NP2-3 VP3-4 | NP0-1 NP1-2
    assert str(report).splitlines() == [
        "processed 11 tokens with 6 phrases; found: 8 phrases; correct: 2.",
        "accuracy:  27.27%; precision:  25.00%; recall:  33.33%; FB1:  28.57",
        "               NP: precision:  20.00%; recall:  25.00%; FB1:  22.22  5",
        "               PP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1",
        "               VP: precision:  50.00%; recall: 100.00%; FB1:  66.67  2",
    ]
    assert report.counts.correct.tolist() == [2, 0, 0]
    assert report.counts.system.tolist() == [3, 3, 2]
    assert report.tokens is not None
    assert report.tokens.correct.tolist() == [1, 1, 1]


LABEL = st.sampled_from(["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"])


@given(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_chunks_follow_the_pairwise_rules_of_conlleval(pairs: list[tuple[str, str]]) -> None:
    def chunks(labels: list[str]) -> set[tuple[int, int, str]]:
        """From the rules for pairs of neighbours: where a chunk starts, and where it ends."""
        found, start = set(), None
        padded = ["O", *labels, "O"]
        for i in range(1, len(padded)):
            (before, old), (mark, new) = (label.partition("-")[::2] for label in (padded[i - 1], padded[i]))
            ends = before != "O" and (before in "ES" or mark in ("O", "B", "S") or old != new)
            starts = mark != "O" and (mark in "BS" or before in ("O", "E", "S") or old != new)
            if ends:
                assert start is not None
                found.add((start, i - 1, old))
            start = i - 1 if starts else start
        return found

    gold, system = (list(side) for side in zip(*pairs, strict=True))
    ours, theirs = chunks(gold), chunks(system)
    score = conlleval([gold], [system]).score
    assert (score.gold, score.system, score.correct) == (len(ours), len(theirs), len(ours & theirs))


@given(st.lists(st.lists(st.tuples(LABEL, LABEL), max_size=6), max_size=5))
@settings(max_examples=100, deadline=None)
def test_the_fast_f1_is_that_of_conlleval(sentences: list[list[tuple[str, str]]]) -> None:
    gold, system = ([[pair[side] for pair in sentence] for sentence in sentences] for side in (0, 1))
    assert conlleval_f1(gold, system) == conlleval(gold, system).score.f1


def test_nested_overlapping_and_discontinuous_spans_match_by_their_pieces() -> None:
    gold = [[((0, 5), "X"), ((1, 3), "Y"), (((0, 1), (4, 5)), "Z"), ((2, 4), "X")]]
    system = [[((0, 5), "X"), ((1, 3), "X"), (((4, 5), (0, 1)), "Z"), (((2, 3), (3, 4)), "X"), ((2, 4), "X")]]
    report = evaluate_span_sets(gold, system)
    # Order and cutting of the pieces do not matter, and a span that is given twice counts once.
    assert (report.score.gold, report.score.system, report.score.correct) == (4, 4, 3)
    assert report.unlabelled.total().correct == 4
    assert {label: score.correct for label, score in report.scores.items()} == {"X": 2, "Y": 0, "Z": 1}
    assert report.macro_f1 == pytest.approx((0.8 + 0.0 + 1.0) / 3)
    assert float(macro_f1(report.label_rows.sum(axis=0))) == pytest.approx(report.macro_f1)


def test_macro_f_can_be_tested_for_significance() -> None:
    gold = [[((0, 1), "X"), ((1, 2), "Y")]] * 20
    a, b = evaluate_span_sets(gold, gold), evaluate_span_sets(gold, [[((0, 1), "X"), ((1, 3), "Y")]] * 20)
    result = paired_bootstrap(a.label_rows, b.label_rows, macro_f1, samples=200)
    assert (result.a, result.b) == (1.0, 0.5)


def spanned(sentences: list[list[str]], spans: list[tuple[int, int, str]], name: str = "ner") -> Doc:
    doc = Doc.from_words(sentences)
    doc.spans[name] = SpanLayer.of(doc.strings, spans)
    return doc


def test_documents_are_scored_sentence_by_sentence() -> None:
    gold = spanned([["Ada", "met", "Bob"], ["in", "Paris"]], [(0, 1, "PER"), (2, 3, "PER"), (4, 5, "LOC")])
    system = spanned([["Ada", "met", "Bob"], ["in", "Paris"]], [(0, 1, "PER"), (4, 5, "ORG")])
    report = evaluate_spans([gold], [system])
    assert report.counts.gold.tolist() == [2, 1]
    assert report.counts.correct.tolist() == [1, 0]
    assert report.unlabelled.correct.tolist() == [1, 1]


def test_other_tokens_and_document_boundaries_compare_by_characters() -> None:
    gold = [spanned([["New", "York", "-", "based"]], [(0, 2, "LOC")]), spanned([["Bob"]], [(0, 1, "PER")])]
    system = spanned([["New", "York-", "based"], ["Bob"]], [(0, 2, "LOC"), (3, 4, "PER")])
    report = evaluate_spans(gold, system)
    assert report.scores["LOC"].correct == 0  # "New York-" is not "New York"
    assert report.scores["PER"].correct == 1


def test_character_spans_match_word_spans() -> None:
    system = Doc("Ada  met Bob")
    system.spans["ner"] = SpanLayer.of(system.strings, [(0, 3, "PER"), (9, 12, "PER")], unit="chars")
    gold = spanned([["Ada", "met", "Bob"]], [(0, 1, "PER"), (2, 3, "PER")])
    assert evaluate_spans(gold, system).score.f1 == 1.0
    assert evaluate_spans(system, gold).score.f1 == 1.0


def test_plain_words_for_what_cannot_be_scored() -> None:
    one, other = spanned([["a"]], [(0, 1, "X")]), spanned([["b"]], [(0, 1, "X")])
    with pytest.raises(WeftError, match="differ at character 1"):
        evaluate_spans(one, other)
    with pytest.raises(WeftError, match="share no span layer: gold has ner, system has chunk"):
        evaluate_spans(one, spanned([["a"]], [], "chunk"))
    with pytest.raises(WeftError, match="gold documents have no span layer 'chunk'; they have ner"):
        evaluate_spans(one, one, layer="chunk")
    with pytest.raises(WeftError, match="sentence 1 has 2 gold labels and 1 system labels"):
        conlleval([["O", "O"]], [["O"]])
    with pytest.raises(WeftError, match="gold has 1 sentences, system has 2"):
        conlleval([["O"]], [["O"], ["O"]])


def test_nothing_against_nothing_is_zero_not_an_error() -> None:
    report = conlleval([["O"]], [["O"]])
    assert report.score.f1 == 0.0
    assert report.macro_f1 == 0.0
    assert isinstance(report.counts, Counts)
    assert len(report.counts) == 1


def random_labels(sentences: int) -> list[list[str]]:
    rng = random.Random(1)
    return [rng.choices(["O", "B-NP", "I-NP", "B-VP", "I-PP"], k=25) for _ in range(sentences)]


def test_any_labels_are_right_beside_themselves() -> None:
    gold = random_labels(200)
    report = conlleval(gold, gold)
    assert report.score.f1 == 1.0
    assert np.array_equal(report.counts.gold, report.counts.correct)


@pytest.mark.timing
def test_50_000_labels_are_scored_within_a_second() -> None:
    gold = random_labels(2000)
    start = time.process_time()
    report = conlleval(gold, gold)
    assert time.process_time() - start < 1.0
    assert report.score.f1 == 1.0
    assert np.array_equal(report.counts.gold, report.counts.correct)


@pytest.mark.corpus
def test_the_chunks_of_conll_2000_are_as_many_as_conlleval_counts() -> None:
    from weft.data import find
    from weft.errors import DataError
    from weft.formats import read

    try:
        path = find("chunking/conll2000/test.txt.gz")
    except DataError as missing:
        pytest.skip(str(missing))
    docs = list(read(path, "columns"))
    report = evaluate_spans(docs, docs)
    assert (report.score.gold, report.score.correct) == (23_852, 23_852)
    assert report.scores["NP"].gold == 12_422
    assert len(report.counts) == 2_012
