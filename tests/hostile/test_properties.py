"""Properties that hold for every text and every document; `bench/fuzz/documents.py` tries a million."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import ROOT
from random_docs import full, with_conllu_extras

from weft.pipeline.pipeline import Pipeline
from weft.text import Doc
from weft.text.validity import check_doc

sys.path.append(str(ROOT / "bench"))
from fuzz import documents, kinds, pipelines, properties

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
odd = st.sampled_from([*kinds.INVISIBLE, *kinds.BIDI, *kinds.COMBINING, *kinds.BLANKS, *kinds.QUOTES, "\x00", "\r\n"])
pieces = st.sampled_from(["The ferry", " left", ".", "don't", "3,5", "语", "é", "e\u0301"])
texts = st.one_of(
    st.text(max_size=80),
    st.lists(st.one_of(odd, st.sampled_from(["The ferry", " left", ".", "don't", "3,5", "语", "é", "e\u0301"]))).map(
        "".join
    ),
)
seeds = st.integers(0, 2**40)


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A pipeline trained on the examples."""
    return pipelines.small_pipeline(tmp_path_factory.mktemp("models"))


@few
@given(texts)
def test_tokens_cover_all_that_can_be_seen_of_a_text(nlp: Pipeline, text: str) -> None:
    properties.offsets_cover(nlp(text), text)


def test_a_letter_outside_of_all_tokens_is_noticed() -> None:
    doc = Doc("Ada left")
    doc.set_offsets([0], [3])
    doc.set_sentences([0, 1])
    with pytest.raises(AssertionError, match=r"'l'.*in no token"):
        properties.offsets_cover(doc, "Ada left")
    with pytest.raises(AssertionError, match="changed"):
        properties.offsets_cover(doc, "Ada")


@few
@given(st.lists(texts, min_size=1, max_size=8), seeds)
@pytest.mark.parametrize("way", properties.WAYS)
def test_a_text_is_annotated_alike_whatever_stands_beside_it(
    nlp: Pipeline, way: str, some: list[str], seed: int
) -> None:
    docs = list(nlp.pipe(some))
    other = properties.WAYS[way](nlp, some, random.Random(seed))
    assert properties.lines_of(docs) == properties.lines_of(other)


@few
@given(st.lists(texts, min_size=1, max_size=4))
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_files_keep_annotated_texts(nlp: Pipeline, name: str, tmp_path: Path, some: list[str]) -> None:
    docs = list(nlp.pipe(some))
    properties.files_keep(docs, properties.lines_of(docs), tmp_path, name)


@few
@given(texts)
def test_conllu_keeps_annotated_texts_of_any_kind(nlp: Pipeline, text: str) -> None:
    doc = nlp(text)
    if doc.n_words:
        properties.conllu_keeps(doc)


@few
@given(full())
def test_bytes_and_conllu_keep_any_layers(doc: Doc) -> None:
    check_doc(doc)
    (line,) = properties.lines_of([doc])
    properties.bytes_keep(doc, line)
    properties.conllu_keeps(doc)


@few
@given(with_conllu_extras())
def test_a_changed_word_is_noticed(doc: Doc) -> None:
    changed = Doc.from_bytes(doc.to_bytes())
    changed.set_column("xpos", ["changed", *changed.column("xpos")[1:]])
    assert properties.lines_of([doc]) != properties.lines_of([changed])
    assert properties.spacing_told(doc) != properties.spacing_told(changed)


@few
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_files_of_text_are_read_to_the_character(tmp_path: Path, text: str) -> None:
    properties.text_file_keeps(text + "end", tmp_path)


@pytest.mark.parametrize(("name", "writing", "reading"), properties.WORD_FORMATS, ids=lambda value: str(value)[:8])
def test_word_formats_write_the_same_again(name: str, writing: dict, reading: dict, tmp_path: Path) -> None:
    _, trees = documents.docs_of(11, 40)
    properties.stable(trees, tmp_path, name, writing, reading)


def test_the_same_seed_makes_the_same_documents_and_texts() -> None:
    first, again, other = (documents.docs_of(seed, 20) for seed in (7, 7, 8))
    assert [properties.lines_of(docs) for docs in first] == [properties.lines_of(docs) for docs in again]
    assert properties.lines_of(first[0]) != properties.lines_of(other[0])
    assert documents.texts_of(7, 50) == documents.texts_of(7, 50) != documents.texts_of(8, 50)


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_of_the_long_run_holds(nlp: Pipeline, seed: int, tmp_path: Path) -> None:
    documents.check_texts(nlp, documents.texts_of(seed, 30), tmp_path, seed)
    docs, trees = documents.docs_of(seed, 30)
    documents.check_docs(docs, trees, tmp_path, seed)
