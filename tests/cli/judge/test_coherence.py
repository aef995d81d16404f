"""`weft diagnose coherence`: rankings, links, joints, orders; and the picture of a sentence graph."""

from __future__ import annotations

import json

import pytest

from weft.formats import write
from weft.pictures import DrawnLink, DrawnText, draw_sentences, show_sentences
from weft.text.doc import Doc


@pytest.fixture
def parsed(tmp_path):
    """Two documents: one about ashes and oaks in order, one without links."""
    docs = []
    for name, nouns in (("loose", "ash elm oak fir"), ("woods", "ash ash oak oak")):
        words = [[noun, "grows"] for noun in nouns.split()]
        doc = Doc.from_words(
            words, lemma=words, upos=[["NOUN", "VERB"]] * 4, head=[[2, 0]] * 4, deprel=[["nsubj", "root"]] * 4
        )
        doc.id = name
        docs.append(doc)
    path = tmp_path / "texts.jsonl"
    write(docs, path)
    return path


def test_documents_are_ranked_with_their_links_joints_and_orders(weft, parsed, tmp_path):
    ran = weft("diagnose", "coherence", parsed, "--json", "--reorder", "--out", tmp_path / "links.csv")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    first, last = report["documents"]
    assert (first["document"], last["document"]) == ("woods", "loose")
    assert (first["score"], last["score"]) == (4.5, 0.0)
    assert first["weakest joints"][0] == {
        "after": 2, "strength": 0.0, "before": "ash grows", "next": "oak grows", "across": []
    }  # fmt: skip
    assert first["strongest links"][0] == {"sentence": 1, "other": 2, "weight": 9.0, "entities": {"ash": "S-S"}}
    assert first["order"] == [1, 2, 3, 4]
    assert first["better than"] > 0.5
    lines = (tmp_path / "links.csv").read_text().splitlines()
    assert lines[0].startswith("document,sentence,other,distance,unweighted")
    assert lines[1] == "woods,1,2,1,1.0,1.0,9.0,ash S-S"


def test_tables_say_the_same_for_people(weft, parsed):
    ran = weft("diagnose", "coherence", parsed, "--reorder", "--most", "1")
    assert ran.returncode == 0, ran.stderr
    for part in ("woods: weakest joints", "2 | 3", "ash (S-S)", "in order, score 4.500", "2 documents"):
        assert part in ran.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weight", "heavy"], "--weight is unweighted, weighted, roles, not 'heavy'"),
        (["--entities", "coref"], "loose has no entities 'coref'"),
        (["--out", "links.xlsx"], "a table is written to a file that ends in"),
    ],
)
def test_wrong_options_are_explained(weft, parsed, options, message):
    ran = weft("diagnose", "coherence", parsed, *options)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_sentence_graph_is_drawn_as_a_picture_or_a_page(weft, parsed, tmp_path):
    page = tmp_path / "page.html"
    assert weft("draw", parsed, "--what", "coherence", "--out", page).stdout.startswith("2 sentence graphs")
    assert "ash (S-S)" in page.read_text(encoding="utf-8")
    ran = weft("draw", parsed, "--what", "coherence", "--out", tmp_path / "one.svg")
    assert "has 2 sentence graphs: give a folder" in ran.stderr
    assert weft("draw", parsed, "--what", "coherence", "--out", tmp_path / "both").returncode == 0
    assert (tmp_path / "both" / "0002.svg").read_text(encoding="utf-8").startswith("<svg ")
    raw = tmp_path / "raw.txt"
    raw.write_text("Only text.")
    ran = weft("draw", raw, "--what", "coherence", "--out", tmp_path / "raw.svg")
    assert "no document of several sentences" in ran.stderr


def test_arcs_are_wider_for_heavier_links_and_long_documents_are_cut():
    text = DrawnText(
        "a", ["One.", "Two.", "Three <3."], [DrawnLink(0, 1, 9.0, "x & y"), DrawnLink(1, 2, 1.0, "z")], [0], 1
    )
    picture = draw_sentences(text)
    assert 'stroke-width="4.0"' in picture
    assert "x &amp; y" in picture
    assert "score 1.000" in picture
    long = DrawnText("", ["s"] * 250, [DrawnLink(0, 240, 1.0, "far")])
    assert "50 more sentences" in draw_sentences(long)
    assert show_sentences([text, long]).figures == 2
