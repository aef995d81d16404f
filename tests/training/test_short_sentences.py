"""The short sentences that the English model is trained on (configs/sentences)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import weft
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.text.conventions.misc_spans import spans_of_misc
from weft.text.doc import Doc

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    files = sorted((ROOT / "configs" / "sentences").glob("*.en.conllu"))
    assert [path.name for path in files] == ["more.en.conllu", "plain.en.conllu", "short.en.conllu"]
    return [doc for path in files for doc in weft.read(path)]


def test_every_sentence_has_a_projective_tree_with_one_root(docs: list[Doc]) -> None:
    for doc in docs:
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            assert doc.head is not None
            assert is_tree(doc.head[first:end]), doc.text
            assert is_projective(doc.head[first:end]), doc.text
            assert (doc.head[first:end] == 0).sum() == 1, doc.text


def test_every_word_has_tags_a_lemma_and_a_relation(docs: list[Doc]) -> None:
    for name in ("upos", "xpos", "lemma", "deprel"):
        assert all(all(doc.column(name)) for doc in docs), name


def test_names_are_persons_places_and_organizations(docs: list[Doc]) -> None:
    labels = [row.label for doc in docs for row in spans_of_misc(doc) or ()]
    assert set(labels) == {"PER", "LOC", "ORG"}
    assert min(labels.count(label) for label in set(labels)) > 100


def test_no_sentence_is_one_of_the_everyday_sentences(docs: list[Doc]) -> None:
    held_out = {
        line.strip().casefold()
        for half in ("seen", "held")
        for line in (ROOT / "tests" / "everyday" / f"{half}.txt").read_text(encoding="utf-8").splitlines()
        if line and line[0] not in " #="
    }
    assert len(held_out) == 300
    assert not held_out & {doc.text.strip().casefold() for doc in docs}
