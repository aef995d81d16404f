"""Pictures of events and opinions: stars and bars over the text, text made safe, broken layers left out."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.formats import write
from weft.pictures import show
from weft.pictures.display import DocPictures
from weft.pictures.events import events_by_sentence
from weft.text.conventions.events import EventRow, Filler, set_events
from weft.text.conventions.opinions import LAYER, MENTIONS, OpinionRow, set_opinions
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

NAMESPACE = "{http://www.w3.org/2000/svg}"


def story() -> Doc:
    doc = Doc.from_words([["Rain", "made", "the", "<Heron>", "sink"], ["Ada", "wept", "."]])
    ship, day = Filler("Ship", -1, ((2, 4),), "ship"), Filler("Seen", -1, ((5, 6),), "person")
    set_events(doc, [EventRow("Cause", ((1, 2),), (Filler("Effect", 1),)), EventRow("Sink", ((4, 5),), (ship, day))])
    return doc


def review() -> Doc:
    doc = Doc.from_words([["Halo", "beats", "Dawn", "by", "its", "lens", "but", "the", "strap", "itches"], ["Yes"]])
    spans = [(0, 1, "entity"), (2, 3, "entity"), (5, 6, "aspect"), (8, 9, "aspect")]
    doc.spans[MENTIONS] = SpanLayer.of(doc.strings, spans)
    rows = [OpinionRow("negative", 0, 3, evidence=(9, 10)), OpinionRow("better", 0, 2, 1, evidence=(1, 2)),
            OpinionRow("positive", 0)]  # fmt: skip
    set_opinions(doc, rows)
    return doc


def circles(picture: str) -> list[tuple[float, float]]:
    return [(float(e.attrib["cx"]), float(e.attrib["cy"])) for e in ET.fromstring(picture).iter(f"{NAMESPACE}circle")]


def words_of(picture: str) -> dict[str, float]:
    groups = (e for e in ET.fromstring(picture).iter(f"{NAMESPACE}g") if e.get("class") == "word")
    return {str(e[0].text): float(e[0].attrib["x"]) for e in groups}


def test_an_event_is_a_star_whose_points_stand_over_its_words() -> None:
    doc = story()
    drawn = DocPictures(doc)
    assert drawn.kinds == ["events", "spans"]
    picture = drawn.events(doc.sentences[0])
    at = words_of(picture)
    # Cause: the point of its effect, then its own; Sink: its ship, then its own. What is elsewhere has no point.
    assert [x for x, _ in circles(picture)] == pytest.approx(
        [at["sink"], at["made"], (at["the"] + at["<Heron>"]) / 2, at["sink"]], abs=25
    )
    assert circles(picture)[0][0] == pytest.approx(at["sink"], abs=0.1)
    assert "Seen (other sentence)" in picture
    assert "Effect: Sink" in picture
    assert "&lt;Heron&gt;" in picture
    assert drawn.events(doc.sentences[1]) == ""


def test_the_trigger_stands_above_what_takes_part_and_events_do_not_overlap() -> None:
    doc = story()
    heights = [y for _, y in circles(DocPictures(doc).events(doc.sentences[0]))]
    effect, cause, ship, sink = heights
    assert cause < effect < sink < ship


def test_opinions_stand_by_aspect_with_bars_over_their_evidence() -> None:
    doc = review()
    picture = DocPictures(doc, ["opinions"]).opinions(doc.sentences[0])
    names = [str(e.text) for e in ET.fromstring(picture).iter(f"{NAMESPACE}text") if "kind" in e.get("class", "")]
    assert names == ["lens: Halo better than Dawn", "strap: negative", "as a whole: positive"]
    bars = [e for e in ET.fromstring(picture).iter(f"{NAMESPACE}rect") if "bar" in e.get("class", "")]
    at = words_of(picture)
    middles = [float(bar.attrib["x"]) + float(bar.attrib["width"]) / 2 for bar in bars]
    assert middles == pytest.approx([at["beats"], at["itches"]], abs=0.1)
    assert len(circles(picture)) == 3 + 2 + 1
    assert DocPictures(doc).opinions(doc.sentences[1]) == ""


def test_broken_layers_are_shown_as_spans_only() -> None:
    doc = review()
    doc.spans[LAYER].add([(0, 1)], "splendid")
    assert "opinions" not in DocPictures(doc).kinds
    assert show(doc).figures > 0
    other = story()
    other.graphs["events"].node("Loose", -1, "E9")
    assert "events" not in DocPictures(other).kinds


def test_events_of_documents_without_words_are_left_out() -> None:
    doc = Doc("Ada left")
    set_events(doc, [EventRow("Leave", ((4, 8),))], unit="chars")
    assert events_by_sentence(doc) == {}


def test_the_command_draws_events_and_opinions(
    tmp_path: Path, weft: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    for name, doc in (("events", story()), ("opinions", review())):
        write([doc], tmp_path / f"{name}.jsonl")
        done = weft("draw", tmp_path / f"{name}.jsonl", "--what", name, "--out", tmp_path / f"{name}.html")
        assert done.returncode == 0, done.stderr
        assert f'class="weft {name}"' in (tmp_path / f"{name}.html").read_text()
