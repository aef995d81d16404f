"""Word senses in XML, links as lines of JSON and in NIF: read, written and read again."""

from __future__ import annotations

import pytest

from weft.errors import FormatError
from weft.formats import read, write
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

XML = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="demo">
<text id="d000">
<sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="grand_jury" pos="NOUN">grand jury</instance>
<wf lemma="." pos=".">.</wf>
</sentence>
<sentence id="d000.s001">
<instance id="d000.s001.t000" lemma="rule" pos="VERB">ruled</instance>
</sentence>
</text>
</corpus>
"""


def test_senses_are_read_with_their_keys_and_written_the_same(tmp_path):
    (tmp_path / "a.data.xml").write_text(XML, encoding="utf-8")
    (tmp_path / "a.gold.key.txt").write_text(
        "d000.s000.t000 grand_jury%1:14:00:: jury%1:14:00::\nd000.s001.t000 rule%2:41:00::\n", encoding="utf-8"
    )
    [doc] = read(tmp_path / "a.data.xml")
    assert [(link.text, link.id) for link in doc.links] == [
        ("grand jury", "grand_jury%1:14:00::"),
        ("ruled", "rule%2:41:00::"),
    ]
    assert doc.links[0].attributes["also"] == ["jury%1:14:00::"]
    assert doc.column("upos") == ["DET", "NOUN", "PUNCT", "VERB"]
    assert doc.column("lemma")[1] == "grand jury"
    write([doc], tmp_path / "b.data.xml")
    assert (tmp_path / "b.data.xml").read_text(encoding="utf-8") == XML
    assert (tmp_path / "b.gold.key.txt").read_text() == (tmp_path / "a.gold.key.txt").read_text()
    [again] = read(tmp_path / "b.data.xml")
    assert again.same(doc)


def test_without_a_key_file_mentions_are_open(tmp_path):
    (tmp_path / "a.data.xml").write_text(XML, encoding="utf-8")
    [doc] = read(tmp_path / "a.data.xml")
    assert [link.id for link in doc.links] == ["NIL", "NIL"]


def test_links_of_several_words_become_one_instance(tmp_path):
    doc = Doc.from_words([["The", "grand", "jury"]], lemma=[["the", "grand", "jury"]], upos=[["DET", "ADJ", "NOUN"]])
    doc.spans["links"] = SpanLayer.of(doc.strings, [(2, 3, "jury%1:14:01::"), (1, 3, "grand_jury%1:14:00::")])
    write([doc], tmp_path / "a.data.xml")
    text = (tmp_path / "a.data.xml").read_text(encoding="utf-8")
    assert '<instance id="d000.s000.t000" lemma="grand_jury" pos="NOUN">grand jury</instance>' in text


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (XML.replace("<sentence id", "<wf><sentence id", 1), 4),
        (XML.replace(' id="d000.s001.t000"', ""), 10),
        (XML.replace(">The<", "> <"), 5),
        (XML.replace("</text>", ""), 13),
        (XML.replace("?>", '?><!DOCTYPE x [<!ENTITY a "b">]>', 1), 1),
    ],
)
def test_bad_senses_are_named_by_line(tmp_path, broken, line):
    (tmp_path / "a.data.xml").write_text(broken, encoding="utf-8")
    with pytest.raises(FormatError, match=f"line {line}:"):
        list(read(tmp_path / "a.data.xml"))


def test_a_key_file_with_an_instance_twice_is_refused(tmp_path):
    (tmp_path / "a.data.xml").write_text(XML, encoding="utf-8")
    (tmp_path / "a.gold.key.txt").write_text("x a%1:00:00::\nx b%1:00:00::\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 2:"):
        list(read(tmp_path / "a.data.xml"))


BENCHMARK = (
    '{"id": 3, "title": "news", "text": "Steve left Apple", "evaluation_span": [0, 16], "labels": '
    '[{"id": 0, "span": [0, 5], "entity_id": "Unknown1", "name": "UNKNOWN"}, '
    '{"id": 1, "span": [11, 16], "entity_id": "Q312", "name": "Apple", "type": "Q43229"}]}\n'
)


def test_benchmarks_are_read_and_written(tmp_path):
    (tmp_path / "a.benchmark.jsonl").write_text(BENCHMARK, encoding="utf-8")
    [doc] = read(tmp_path / "a.benchmark.jsonl")
    assert (doc.id, doc.meta["evaluation_span"]) == ("news", [0, 16])
    assert [(link.text, link.id, link.title) for link in doc.links] == [
        ("Steve", "NIL", "UNKNOWN"),
        ("Apple", "Q312", "Apple"),
    ]
    write([doc], tmp_path / "b.links.jsonl")
    [again] = read(tmp_path / "b.links.jsonl")
    assert again.same(doc)


@pytest.mark.parametrize(
    "line", ["[1]", '{"text": 3}', '{"text": "a", "labels": [{"span": [0, 9]}]}', '{"text": "a", "labels": [{}]}', "{"]
)
def test_bad_lines_are_named(tmp_path, line):
    (tmp_path / "a.links.jsonl").write_text(f'{{"text": "fine"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(FormatError, match="line 2:"):
        list(read(tmp_path / "a.links.jsonl"))


def test_bytes_that_are_no_utf8_are_named(tmp_path):
    (tmp_path / "a.links.jsonl").write_bytes(b'{"text": "fine"}\n{"text": "K\xf6ln"}\n')
    with pytest.raises(FormatError, match="line 2:"):
        list(read(tmp_path / "a.links.jsonl"))


def test_nif_survives_a_round_trip(tmp_path):
    doc = Doc('He said "no";\nSteve left Apple, Inc.\\', meta={"id": "a b"})
    doc.spans["links"] = SpanLayer(doc.strings, "chars")
    doc.spans["links"].add([(14, 19)], "NIL")
    doc.spans["links"].add([(25, 30)], "Q312", score=0.5)
    doc.spans["links"].add([(25, 36)], "apple%1:13:00::")
    write([doc, Doc("Nothing here.")], tmp_path / "a.ttl")
    again, other = read(tmp_path / "a.ttl")
    assert (again.text, again.id, other.text) == (doc.text, "a b", "Nothing here.")
    assert [(link.text, link.id) for link in again.links] == [(link.text, link.id) for link in doc.links]
    assert again.links[1].score == 0.5


def test_nif_of_other_tools_is_read(tmp_path):
    (tmp_path / "a.ttl").write_text(
        """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix its: <http://www.w3.org/2005/11/its/rdf#> .
@base <http://example.org/> .
# a comment
<http://example.org/1#char=0,5> a nif:Context, nif:RFC5147String ; nif:isString \"\"\"Köln "am" Rhein\"\"\"@de ; .
<http://example.org/1#char=0,4> nif:referenceContext <http://example.org/1#char=0,5> ;
  nif:beginIndex 0 ; nif:endIndex 4 ; its:taIdentRef <http://dbpedia.org/resource/Cologne> .
""",
        encoding="utf-8",
    )
    [doc] = read(tmp_path / "a.ttl")
    assert doc.text == 'Köln "am" Rhein'
    assert [(link.text, link.id) for link in doc.links] == [("Köln", "Cologne")]


@pytest.mark.parametrize(
    ("text", "line"),
    [("<a> <b> .", 1), ("\n<a> x:b <c> .", 2), ("\n\n[ ] <b> <c> .", 3), ("<a> <b> 'c' .", 1)],
)
def test_bad_turtle_is_named_by_line(tmp_path, text, line):
    (tmp_path / "a.ttl").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=f"line {line}:"):
        list(read(tmp_path / "a.ttl"))
