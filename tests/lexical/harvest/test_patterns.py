"""Pairs of noun phrases in a list of sentences written for this test, tagged by the English model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import weft
from weft.lexical.harvest.patterns import Patterns
from weft.lexical.harvest.phrases import tagged_sentences

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
