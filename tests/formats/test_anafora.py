"""Anafora XML: written back byte for byte, with or without its text, and what is wrong with a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from weft.errors import DataError, FormatError
from weft.formats import anafora, convert, detect, read, write
from weft.recipes.extraction.thyme_clinical_time.corpora import THYME, thyme_files
from weft.text import Doc

EXAMPLE = Path(__file__).parents[2] / "examples" / "timeline" / "surgery.anafora.xml"
ENTITY = """\t<entity>
\t\t<id>1@e@n@gold</id>
\t\t<span>{span}</span>
\t\t<type>EVENT</type>
\t\t<parentsType>TemporalEntities</parentsType>
\t\t<properties>
\t\t\t<DocTimeRel>BEFORE</DocTimeRel>
\t\t\t<Type>N/A</Type>
\t\t</properties>
\t</entity>

"""
BARE = """\t<entity>
\t\t<id>2@e@n@gold</id>
\t\t<span>9,12</span>
\t\t<type>EVENT</type>
\t\t<parentsType>TemporalEntities</parentsType>
\t\t<addition>
\t\t\t<compareEntity>1@e@n@a &amp; b</compareEntity>
\t\t</addition>
\t</entity>

"""
RELATION = """\t<relation>
\t\t<id>{name}@r@n@gold</id>
\t\t<type>{kind}</type>
\t\t<parentsType>TemporalRelations</parentsType>
\t\t<properties>
\t\t\t<Source>1@e@n@gold</Source>
\t\t\t<{second}</{tag2}>
\t\t\t<{third}</{tag3}>
\t\t</properties>
\t</relation>

"""
TYPE_FIRST = {"second": "Type>CONTAINS", "tag2": "Type", "third": "Target>2@e@n@gold", "tag3": "Target"}
TARGET_FIRST = {"second": "Target>2@e@n@gold", "tag2": "Target", "third": "Type>CONTAINS", "tag3": "Type"}
FRAMES = [
    ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n<data>\n<annotations>\n", "</annotations>\n\n</data>"),
    ("<?xml version='1.0' encoding='UTF-8'?>\n<data>\n<info>\n  <progress>x</progress>\n</info>\n<annotations>\n\n",
     "\n</annotations>\n</data>\n"),
    ("<data>\n<annotations>\n", "</annotations>\n\n<adjudication>\n" + BARE + "</adjudication>\n\n</data>"),
]  # fmt: skip


def content(head: str = FRAMES[0][0], tail: str = FRAMES[0][1], span: str = "0,4;5,8") -> str:
    relations = [
        RELATION.format(name=1, kind="TLINK", **TYPE_FIRST),
        RELATION.format(name=2, kind="TLINK", **TARGET_FIRST),
        RELATION.format(name=3, kind="ALINK", **TARGET_FIRST),
        RELATION.format(name=4, kind="ALINK", **TYPE_FIRST),
    ]
    return head + ENTITY.format(span=span) + BARE + "".join(relations) + tail


@pytest.mark.parametrize("frame", FRAMES)
def test_every_layout_of_the_corpus_is_written_back_byte_for_byte(frame):
    given = content(*frame)
    doc = anafora.parse(given)
    assert anafora.to_text(doc) == given
    assert len(doc.spans["timeline"]) == 2
    assert doc.spans["timeline"][0].pieces == ((0, 4), (5, 8))
    assert [doc.relations["timeline"].attributes.get(i, {}).get("link", "TLINK") for i in range(4)] == [
        "TLINK",
        "TLINK",
        "ALINK",
        "ALINK",
    ]


def test_the_layout_survives_other_formats(tmp_path):
    (tmp_path / "n.anafora.xml").write_text(content())
    convert(tmp_path / "n.anafora.xml", tmp_path / "n.jsonl")
    convert(tmp_path / "n.jsonl", tmp_path / "again.anafora.xml")
    assert (tmp_path / "again.anafora.xml").read_text() == content()


def test_the_text_is_read_from_beside_the_annotation_and_written_there(tmp_path):
    folder = tmp_path / "N1"
    folder.mkdir()
    (folder / "N1").write_text("Ache gone. ok")
    (folder / "N1.Temporal-Relation.gold.completed.xml").write_text(content())
    assert detect(tmp_path) == "anafora"
    [doc] = read(tmp_path)
    assert (doc.id, doc.text) == ("N1", "Ache gone. ok")
    assert doc.span_views("timeline")[0].text == "Ache ... gon"
    write([doc, doc], tmp_path / "out", "anafora")
    assert (tmp_path / "out" / "N1" / "N1").read_text() == "Ache gone. ok"
    assert [each.text for each in read(tmp_path / "out")] == ["Ache gone. ok"]
    with pytest.raises(DataError, match="holds one document"):
        write([doc, doc], tmp_path / "two.anafora.xml")


def test_annotation_without_its_text_can_be_read():
    doc = anafora.parse(content())
    assert doc.text == " " * 12
    assert doc.meta["anafora"]["text"] == "missing"


def test_documents_of_other_origin_are_written():
    doc = Doc.from_words([["She", "bled", "today"]], upos=[["PRON", "VERB", "NOUN"]])
    from weft.text.conventions.timeline import new_layers

    spans, links = new_layers(doc)
    spans.add([(1, 2)], "EVENT", DocTimeRel="BEFORE")
    spans.add([(2, 3)], "TIMEX3", Class="DATE")
    links.add(1, 0, "CONTAINS")
    again = anafora.parse(anafora.to_text(doc), doc.text)
    assert again.span_views("timeline")[0].text == "bled"
    assert list(again.relations["timeline"]) == [(1, 0, "CONTAINS")]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (content().replace("</annotations>", ""), "line 72: expected well-formed XML"),
        (content(span="8,5"), "line 5: expected rising offsets"),
        (content(span="0,99999999"), "at most 10,000,000"),
        (content(span="x"), "found 'x'"),
        (
            content().replace("2@e@n@gold</Target>", "9@e@n@gold</Target>"),
            "as the Target of a TLINK, found '9@e@n@gold'",
        ),
        (content().replace("2@e", "1@e"), "a different id for every entity"),
        (content().replace("<type>EVENT</type>", ""), "expected <type> in <entity>, found none"),
        ("<html></html>", "expected the element <data> of Anafora"),
        ('<!DOCTYPE d [<!ENTITY a "b">]><data/>', "expected no declared entities"),
        ("<data>" + "<a>" * 30, "nested at most 20 deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(broken, message, tmp_path):
    (tmp_path / "n.anafora.xml").write_text(broken)
    with pytest.raises(FormatError) as caught:
        list(read(tmp_path / "n.anafora.xml"))
    assert message in str(caught.value)
    assert list(read(tmp_path / "n.anafora.xml", skip_bad=True)) == []


def test_offsets_beyond_the_text_are_an_error(tmp_path):
    (tmp_path / "n.txt").write_text("short")
    (tmp_path / "n.anafora.xml").write_text(content())
    with pytest.raises(FormatError, match="offsets within the text"):
        list(read(tmp_path / "n.anafora.xml"))


@pytest.mark.must_show("thyme-clinical-time", 6, weaker="the example of the repository; the corpus has its own test")
def test_the_example_is_written_back_byte_for_byte(tmp_path):
    [doc] = read(EXAMPLE)
    write([doc], tmp_path / "again.anafora.xml")
    assert (tmp_path / "again.anafora.xml").read_bytes() == EXAMPLE.read_bytes()
    assert doc.span_views("timeline")[0].text == "December 19"


@pytest.mark.corpus
@pytest.mark.must_show("thyme-clinical-time", 6)
def test_all_591_files_of_the_corpus_are_written_back_and_two_thirds_of_their_links_are_contains(corpus_file):
    count = 0
    links: Counter[str] = Counter()
    for part in ("train", "dev", "test"):
        for name, given in thyme_files(corpus_file(THYME.format(part))):
            doc = anafora.parse(given, None, name)
            assert anafora.to_text(doc) == given, name
            count += 1
            relations = doc.relations["timeline"]
            links.update(
                label for i, (_, _, label) in enumerate(relations) if "link" not in relations.attributes.get(i, {})
            )
    assert count == 591
    assert sum(links.values()) == 35_814
    assert 0.62 < links["CONTAINS"] / sum(links.values()) < 0.69
    assert links.most_common()[-1][0] == "ENDS-ON"
