"""Records: one JSON object per document, everything counted from 0 in characters or words, and read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from json_schema import faults
from places import ROOT
from random_docs import full

from weft.errors import FormatError
from weft.formats import Report, convert, detect, read, write
from weft.text import Doc, SpanLayer
from weft.text.conventions.alternatives import note_alternatives
from weft.text.records import doc_of_record, is_record, record_of, record_schema


def contraction() -> Doc:
    """A contraction whose words are parts of it, an entity after it, a tree in the second sentence."""
    doc = Doc("Yes. We don't know Oslo.", meta={"id": "a/x", "stars": 4})
    doc.set_offsets([0, 3, 5, 8, 14, 19, 23], [3, 4, 7, 13, 18, 23, 24])
    doc.word_token = np.array([0, 1, 2, 3, 3, 4, 5, 6], dtype=np.int32)
    doc.set_column("form", ["Yes", ".", "We", "do", "n't", "know", "Oslo", "."])
    doc.set_sentences([0, 2, 8])
    doc.set_column("deprel", ["root", "punct", "nsubj", "aux", "advmod", "root", "obj", "punct"])
    doc.head = np.array([0, 1, 4, 4, 4, 0, 4, 4], dtype=np.int32)
    doc.spans["entities"] = SpanLayer(doc.strings)
    doc.spans["entities"].add([(6, 7)], "LOC", probability=0.75)
    return doc


def test_offsets_of_spans_and_words_are_characters_whether_or_not_there_is_a_contraction() -> None:
    record = record_of(contraction())
    text = record["text"]
    (span,) = record["spans"]["entities"]
    assert text[span["start"] : span["end"]] == span["text"] == "Oslo"
    assert (span["label"], span["probability"]) == ("LOC", 0.75)
    assert [text[word["start"] : word["end"]] for word in record["words"]] == [word["form"] for word in record["words"]]
    assert [text[row["start"] : row["end"]] for row in record["sentences"]] == ["Yes.", "We don't know Oslo."]


def test_heads_count_words_of_the_document_from_0_and_roots_have_minus_1() -> None:
    words = record_of(contraction())["words"]
    assert [word["head"] for word in words] == [-1, 0, 5, 5, 5, -1, 5, 5]
    assert words[words[6]["head"]]["form"] == "know"


def test_a_record_is_read_again_with_its_contractions_trees_and_spans(tmp_path: Path) -> None:
    doc = contraction()
    write([doc], tmp_path / "a.records.jsonl")
    (again,) = read(tmp_path / "a.records.jsonl")
    again.multiwords = []
    assert again.same(doc)
    (tmp_path / "a.records.jsonl").rename(tmp_path / "b.jsonl")
    (again,) = read(tmp_path / "b.jsonl")
    assert again.id == "a/x"
    assert again.span_views("entities")[0].text == "Oslo"


def test_the_suffix_of_records_names_their_format() -> None:
    assert detect("a.records.jsonl.gz") == "records"
    assert detect("a.jsonl") == "jsonl"


def test_alternatives_stand_with_their_sentences() -> None:
    doc = Doc.from_words([["Dogs", "bark"], ["Yes"]])
    note_alternatives(doc, "tagger", [[(["NOUN", "VERB"], 0.75)], [(["INTJ"], 1.0)]])
    record = record_of(doc)
    assert record["sentences"][1]["alternatives"] == {"tagger": [{"probability": 1.0, "labels": ["INTJ"]}]}
    assert "meta" not in record
    assert doc_of_record(record).same(doc)


@given(full())
@settings(max_examples=40, deadline=None)
def test_every_document_has_a_record_that_follows_the_schema_and_is_read_again(doc: Doc) -> None:
    record = json.loads(json.dumps(record_of(doc)))
    assert is_record(record)
    assert faults(record, record_schema()) == []
    again = doc_of_record(record)
    assert again.text == doc.text
    assert again.column("form") == doc.column("form")
    assert (again.head is None) == (doc.head is None)
    assert again.head is None or (again.head == doc.head).all()
    for name, layer in doc.spans.items():
        assert list(again.spans[name]) == list(layer) or not len(layer)
        assert again.spans[name].attributes == layer.attributes
    assert record_of(again) == record


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda record: record.pop("id"), "$ lacks id"),
        (lambda record: record["words"][0].update(start="0"), "$.words[0].start is no integer"),
        (lambda record: record["spans"]["entities"][0].update(end=-1), "$.spans.entities[0].end is -1"),
        (lambda record: record["spans"]["entities"][0].pop("text"), "$.spans.entities[0] lacks text"),
        (lambda record: record.update(other=1), "$ has other"),
    ],
)
def test_the_schema_refuses_other_fields_and_values(change, place: str) -> None:
    record = record_of(contraction())
    change(record)
    assert faults(record, record_schema()) == [place]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record["words"][0].update(end=99), "not in ascending order"),
        (lambda record: record["words"][0].pop("form"), "the key 'form'"),
        (lambda record: record["sentences"].pop(), "must hold every one of the 8 words"),
        (lambda record: record["spans"]["entities"][0].update(first_word="x"), "expected a span"),
        (lambda record: record["words"][1].update(head=7), "outside their sentence"),
        (lambda record: record.update(words=[3]), "invalid values"),
        (lambda record: record["sentences"][0].update(id="s1\n# newdoc"), "a line break"),
        (lambda record: record["words"][0].update(upos=7), "invalid values"),
        (lambda record: record["spans"]["entities"][0].update(label=["LOC"]), "invalid values"),
    ],
)
def test_a_bad_record_is_named_and_skipped(tmp_path: Path, change, words: str) -> None:
    record = record_of(contraction())
    change(record)
    path = tmp_path / "a.records.jsonl"
    path.write_text(json.dumps(record_of(Doc("good"))) + "\n" + json.dumps(record) + "\n")
    with pytest.raises(FormatError, match=words) as caught:
        list(read(path))
    assert caught.value.line == 2
    report = Report()
    assert [doc.text for doc in read(path, skip_bad=True, report=report)] == ["good"]
    assert report.count == 1


def test_a_conversion_says_that_records_hold_no_empty_nodes(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1\tDogs\t_\t_\t_\t_\t0\troot\t_\t_\n1.1\tbark\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    report = Report()
    convert(tmp_path / "a.conllu", tmp_path / "a.records.jsonl", report=report)
    assert report.lost == {"empty_nodes"}


def fields_of(schema: dict[str, Any]) -> Iterator[str]:
    """The names of all fields that a schema describes."""
    yield from schema.get("properties", {})
    inner = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    for part in inner:
        if isinstance(part, dict):
            yield from fields_of(part)


def test_the_page_names_every_field_of_records_of_lines_and_of_structs() -> None:
    from weft.formats.csv.tables import columns_of
    from weft.formats.layer_columns import arrow_types
    from weft.text.record import KEYS

    page = (ROOT / "docs" / "start" / "files.md").read_text(encoding="utf-8")
    structs = {field.name for kind in arrow_types().values() for field in kind.value_type}
    tables = {name for layer in ("words", "sentences", "documents", "entities") for name in columns_of(layer)}
    missing = {name for name in {*fields_of(record_schema()), *KEYS, *structs, *tables} if f"`{name}`" not in page}
    assert missing == set()
