"""Pictures of timelines."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from weft.errors import ConfigError
from weft.pictures import DocPictures, draw_timeline, show, show_timelines
from weft.recipes.extraction.thyme_clinical_time.notes import notes
from weft.text import Doc
from weft.text.conventions.timeline import new_layers


def note(*links: tuple[int, int, str]) -> Doc:
    doc = Doc.from_words([["Monday", "<op>", "bled", "slept"]])
    spans, relations = new_layers(doc)
    for i in range(4):
        spans.add([(i, i + 1)], "EVENT" if i else "TIMEX3")
    for first, second, relation in links:
        relations.add(first, second, relation)
    return doc


def bars(picture: str) -> list[tuple[float, float]]:
    found = re.findall(r'class="bar[^>]* x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture)
    return [(float(x), float(x) + float(width)) for x, width in found]


def test_contents_lie_within_their_containers_and_earlier_bars_to_the_left():
    picture = draw_timeline(note((0, 1, "CONTAINS"), (1, 2, "CONTAINS"), (0, 3, "BEFORE")))
    ElementTree.fromstring(picture)
    assert "&lt;op&gt;" in picture
    day, op, bled, slept = bars(picture)
    assert day[0] < op[0] < bled[0] < bled[1] < op[1] < day[1] < slept[0]
    assert picture.count('stroke-dasharray="4 3"') == 0


def test_what_is_in_its_container_by_inference_is_dashed():
    links = (0, 1, "CONTAINS"), (1, 2, "BEGINS-ON"), (1, 2, "ENDS-ON")
    assert draw_timeline(note(*links)).count('stroke-dasharray="4 3"') == 1


def test_links_that_are_left_out_are_counted():
    picture = draw_timeline(note((0, 1, "BEFORE"), (1, 0, "BEFORE")))
    assert "1 link left out: they contradict others" in picture
    ElementTree.fromstring(picture)


def test_pages_show_the_timeline_of_a_document_once():
    [doc] = notes(1, seed=2)
    assert show(doc).html.count('class="weft timeline"') == 1
    assert show(doc, kinds=["spans"]).html.count('class="weft timeline"') == 0
    page = show_timelines([doc, Doc("nothing"), *notes(2)])
    assert (page.figures, page.html.count("<svg")) == (3, 3)
    assert DocPictures(Doc.from_words([["a"]])).timeline() == ""
    with pytest.raises(ConfigError, match="timeline"):
        DocPictures(doc, ["nothing"])
