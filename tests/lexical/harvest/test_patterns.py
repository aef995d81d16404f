"""Pairs of noun phrases in sentences that were written for this test, tagged by the English model or by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import weft
from weft.lexical.harvest.patterns import Patterns
from weft.lexical.harvest.phrases import Tagged, tagged_sentences

GOLD = Path(__file__).with_name("sentences.tsv")


@pytest.fixture(scope="module")
def rows():
    """Every sentence with its gold pairs and those found."""
    nlp = weft.load("en")
    lines = [line.split("\t") for line in GOLD.read_text(encoding="utf-8").splitlines()]
    docs = list(nlp.pipe([sentence for sentence, _ in lines]))
    listed = []
    for (sentence, told), doc in zip(lines, docs, strict=True):
        found = set()
        for each in tagged_sentences(doc):
            patterns = Patterns(each)
            for kind in ("isa", "similes", "copulas"):
                name = {"similes": "simile", "copulas": "copula"}.get(kind, kind)
                found |= {f"{name} {x.name}>{y.name}" for x, y in getattr(patterns, kind)()}
        listed.append((sentence, {pair for pair in told.split("; ") if pair}, found))
    return listed


@pytest.mark.must_show("metaphor-knowledge", 1)
def test_nine_of_ten_similes_and_isa_pairs_are_right(rows):
    assert len(rows) == 100
    right, found, gold = Counter(), Counter(), Counter()
    for _, wanted, got in rows:
        for counts, pairs in ((right, wanted & got), (found, got), (gold, wanted)):
            counts.update(pair.split(" ")[0] for pair in pairs)
    for kind in ("simile", "isa", "copula"):
        assert right[kind] >= 0.9 * found[kind], kind
        assert right[kind] >= 0.8 * gold[kind], kind


def found_in(words: str, lemmas: str, tags: str) -> dict[str, list[tuple[str, str]]]:
    patterns = Patterns(Tagged.of(words.split(), lemmas.split(), tags.split()))
    return {kind: [(x.name, y.name) for x, y in getattr(patterns, kind)()] for kind in ("isa", "similes", "copulas")}


@pytest.mark.parametrize(
    ("words", "lemmas", "tags"),
    [
        ("Life is not like a journey", "life be not like a journey", "NOUN AUX PART ADP DET NOUN"),
        ("Life has never been like a journey", "life have never be like a journey", "NOUN AUX ADV AUX ADP DET NOUN"),
        ("This life is like a journey", "this life be like a journey", "DET NOUN AUX ADP DET NOUN"),
        ("It is like a journey", "it be like a journey", "PRON AUX ADP DET NOUN"),
        ("Cats and dogs are like thieves", "cat and dog be like thief", "NOUN CCONJ NOUN AUX ADP NOUN"),
        ("Life is like this journey", "life be like this journey", "NOUN AUX ADP DET NOUN"),
        ("Life is like two journeys", "life be like two journey", "NOUN AUX ADP NUM NOUN"),
        ("Children like sweets", "child like sweet", "NOUN VERB NOUN"),
        ("Life is like the rest", "life be like the rest", "NOUN AUX ADP DET NOUN"),
        ("Is life a journey", "be life a journey", "AUX NOUN DET NOUN"),
        ("Life is my journey", "life be my journey", "NOUN AUX PRON NOUN"),
        ("Life was never a journey", "life be never a journey", "NOUN AUX ADV DET NOUN"),
    ],
)
def test_what_is_denied_asked_or_referred_to_is_left_out(words, lemmas, tags):
    found = found_in(words, lemmas, tags)
    assert (found["similes"], found["copulas"]) == ([], [])


def test_a_list_ends_where_a_clause_begins():
    words, lemmas = "Birds such as owls , and men sleep", "bird such as owl , and man sleep"
    found = found_in(words, lemmas, "NOUN ADJ ADP NOUN PUNCT CCONJ NOUN VERB")
    assert found["isa"] == [("owl", "bird")]
    found = found_in("Owls , hawks and other birds", "owl , hawk and other bird", "NOUN PUNCT NOUN CCONJ ADJ NOUN")
    assert found["isa"] == [("owl", "bird"), ("hawk", "bird")]


def test_long_sentences_take_linear_time():
    words = " ".join(["owls", ",", "and", "like", "a", "is", "such", "as", "other"] * 2000)
    tags = " ".join(["NOUN", "PUNCT", "CCONJ", "ADP", "DET", "AUX", "ADJ", "ADP", "ADJ"] * 2000)
    assert found_in(words, words, tags)["isa"] is not None
