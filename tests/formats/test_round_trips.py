"""Random documents come back from every format as they went in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from random_docs import full, tokenized, with_conllu_extras

from weft.formats import columns, read, write
from weft.formats.brat import files as brat
from weft.formats.conllu import files as conllu
from weft.text import Doc, SpanLayer
from weft.text.record import to_record

few = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def spacing_told(doc: Doc) -> dict[str, object]:
    """A record without MISC, which CoNLL-U uses to tell the spacing."""
    record = to_record(doc)
    record.get("columns", {}).pop("misc", None)  # type: ignore[union-attr]
    if not record.get("columns"):
        record.pop("columns", None)
    record["multiwords"] = [[*row[:2], row[2][:-1]] for row in record.get("multiwords", [])]
    return record


@few
@given(with_conllu_extras())
def test_conllu_keeps_words_trees_comments_and_text(doc: Doc) -> None:
    (back,) = conllu.parse_text(conllu.to_text(doc))
    assert back.text == doc.text
    assert spacing_told(back) == spacing_told(doc)
    assert conllu.to_text(back) == conllu.to_text(doc)


@few
@given(with_conllu_extras())
def test_offsets_of_tokens_reproduce_their_forms(doc: Doc) -> None:
    (back,) = conllu.parse_text(conllu.to_text(doc))
    inside = {word for row in back.multiwords for word in range(row.first, row.end)}
    for row in back.multiwords:
        assert back.words[row.first].token.text == row.fields[0]
    for word in back.words:
        if word.index not in inside:
            assert word.token.text == word.form


@few
@given(full())
def test_bytes_keep_everything(doc: Doc) -> None:
    assert Doc.from_bytes(doc.to_bytes()).same(doc)


@few
@given(full())
@pytest.mark.parametrize("name", ["docs.jsonl", "docs.jsonl.gz", "docs.parquet"])
def test_jsonl_and_parquet_keep_everything(tmp_path: Path, name: str, doc: Doc) -> None:
    path = tmp_path / name
    assert write([doc, Doc("no words"), doc], path) == 3
    first, second, third = read(path)
    assert to_record(first) == to_record(doc) == to_record(third)
    assert second.same(Doc("no words"))


@few
@given(tokenized())
@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "BIOES"])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_columns_keep_words_tags_and_flat_spans(scheme: str, separator: str, tmp_path: Path, doc: Doc) -> None:
    starts = doc.sentence_offsets.tolist()
    doc.spans["chunks"] = SpanLayer.of(doc.strings, [(start, start + 1, "NP") for start in starts[:-1]])
    path = tmp_path / "docs.conll"
    fields = f"form xpos lemma head chunks:{scheme}"
    columns.write([doc], str(path), fields=fields, separator=separator)
    (back,) = read(path, fields=fields)
    assert (back.text, back.column("xpos"), back.column("lemma")) == (doc.text, doc.column("xpos"), doc.column("lemma"))
    assert list(back.spans["chunks"]) == list(doc.spans["chunks"])
    assert back.sentence_offsets.tolist() == starts
    assert (doc.head is None and (back.head == -1).all()) or (back.head == doc.head).all()


@few
@given(full())
def test_brat_keeps_spans_relations_and_clusters(doc: Doc) -> None:
    plain = Doc(doc.text, doc.strings)
    plain.spans["entities"] = SpanLayer(doc.strings, "chars")
    for pieces, label in doc.spans["chars"]:
        plain.spans["entities"].add(pieces, label)
    back = brat.parse(doc.text, [("a.ann", brat.to_text(plain))])
    assert list(back.spans["entities"]) == list(plain.spans["entities"])


@few
@given(tokenized())
def test_plain_text_keeps_the_text(tmp_path: Path, doc: Doc) -> None:
    path = tmp_path / "a.txt.gz"
    write([doc], path)
    (back,) = read(path)
    assert (back.text, back.id) == (doc.text + "\n", "a")
    assert gzip.decompress(path.read_bytes()).decode() == back.text
