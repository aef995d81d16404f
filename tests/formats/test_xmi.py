"""UIMA XMI: text, words, spans and links, offsets in UTF-16, and what is wrong with a file."""

from __future__ import annotations

import pytest

from weft.errors import DataError, FormatError
from weft.formats import read, write, xmi
from weft.recipes.extraction.thyme_clinical_time.corpora import CLINICAL, files_of
from weft.text import Doc

FILE = """<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:c="http:///c.ecore">
<c:Token xmi:id="2" sofa="1" begin="0" end="2"/><c:Token xmi:id="3" sofa="1" begin="3" end="7"/>
<c:Token xmi:id="4" sofa="1" begin="8" end="13"/><c:Sentence xmi:id="5" sofa="1" begin="0" end="13"/>
<c:METADATA xmi:id="6" sofa="1" begin="0" end="0" docTime="2014-01-02" docName="N1"/>
<c:EVENT xmi:id="7" sofa="1" begin="3" end="7" docTimeRel="IS-CONTAINED" eventType="N/A" ALINK="12"/>
<c:TIMEX3 xmi:id="8" sofa="1" begin="8" end="13" timex3Class="DATE" timexLink="10 11"/>
<c:BODYPART xmi:id="9" sofa="1" begin="0" end="2"/><c:ACTOR xmi:id="13" sofa="1" begin="0" end="2" of="14"/>
<c:TIMEX3TimexLinkLink xmi:id="10" role="CONTAINS" target="7"/><c:L xmi:id="11" role="BEFORE" target="9"/>
<c:L xmi:id="12" role="INITIATES" target="7"/><c:L xmi:id="14" role="IS" target="7"/>
<c:Sofa xmi:id="1" sofaString="&#128512; bled today"/></xmi:XMI>"""


def test_words_spans_links_and_metadata_are_read_with_offsets_in_utf_16(tmp_path):
    (tmp_path / "n.xmi").write_text(FILE, encoding="utf-8")
    [doc] = read(tmp_path / "n.xmi")
    assert [word.form for word in doc.words] == ["\U0001f600", "bled", "today"]
    assert (doc.id, doc.meta["date"]) == ("N1", "2014-01-02")
    timed = doc.span_views("timeline")
    assert [(span.text, span.label) for span in timed] == [
        ("\U0001f600", "BODYPART"), ("bled", "EVENT"), ("today", "TIMEX3"),
    ]  # fmt: skip
    assert timed[1].attributes == {"DocTimeRel": "IS-CONTAINED", "Type": "N/A"}
    assert timed[2].attributes == {"Class": "DATE"}
    assert list(doc.relations["timeline"]) == [(1, 1, "INITIATES"), (2, 1, "CONTAINS"), (2, 0, "BEFORE")]
    assert doc.relations["timeline"].attributes == {0: {"link": "ALINK"}}
    assert [(span.label, span.attributes) for span in doc.span_views("annotations")] == [
        ("ACTOR", {"of": [["IS", "7"]]})
    ]


def test_what_is_written_is_read_again(tmp_path):
    doc = xmi.parse(FILE)
    write([doc], tmp_path / "again.xmi")
    [again] = read(tmp_path / "again.xmi")
    assert again.same(doc)
    with pytest.raises(DataError, match="one document per file"):
        write([doc, doc], tmp_path / "two.xmi")
    lines = Doc.from_words([["a"], ["b"]])
    lines.text = "a\nb"
    assert xmi.parse(xmi.to_text(lines)).text == "a\nb"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (FILE.replace('begin="3" end="7" doc', 'begin="1" end="7" doc'), "line 5: expected offsets within the text"),
        (FILE.replace('end="13" timex3', 'end="99" timex3'), "line 6: expected offsets within the text of 13"),
        (FILE.replace('begin="8" end="13" timex3', 'begin="x" end="13" timex3'), "begin='x'"),
        (FILE.replace("c:Sofa", "c:Other"), "expected one Sofa"),
        (FILE[:-10], "expected well-formed XML"),
        ('<!DOCTYPE d [<!ENTITY a "b">]><x/>', "expected no declared entities"),
        ("<x>" * 30, "elements nested at most 20 deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(broken, message, tmp_path):
    (tmp_path / "n.xmi").write_text(broken, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        list(read(tmp_path / "n.xmi"))
    assert message in str(caught.value)


@pytest.mark.corpus
def test_the_case_reports_have_the_known_numbers_of_mentions_and_links_and_are_written_back(corpus_file):
    counts = {"EVENT": 0, "TIMEX3": 0, "links": 0, "documents": 0}
    for name, content in files_of(corpus_file(CLINICAL)):
        doc = xmi.parse(content.decode(), name)
        counts["documents"] += 1
        counts["links"] += len(doc.relations["timeline"])
        for row in doc.spans["timeline"]:
            if row.label in counts:
                counts[row.label] += 1
        assert xmi.parse(xmi.to_text(doc)).same(doc)
    assert counts == {"EVENT": 3504, "TIMEX3": 268, "links": 3152 + 348 + 75, "documents": 45}
