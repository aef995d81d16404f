"""`weft draw`: one well-formed picture a sentence, and plain words where there is nothing to draw."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from typer.testing import CliRunner

from weft.cli.app import app
from weft.text import Doc
from weft.text.drawing import _levels, draw_tree

STORY = Path(__file__).parent.parent.parent / "examples" / "story.conllu"


def test_every_sentence_becomes_a_picture_with_its_words_and_relations(tmp_path):
    result = CliRunner().invoke(app, ["draw", str(STORY), "--out", str(tmp_path / "pictures")])
    assert result.exit_code == 0, result.output
    pictures = sorted((tmp_path / "pictures").glob("*.svg"))
    assert len(pictures) > 1
    texts = [element.text for element in ElementTree.parse(pictures[0]).iter() if element.tag.endswith("text")]
    assert {"lighthouse", "nsubj", "VERB"} <= set(texts)


def test_one_sentence_goes_to_one_file_and_a_missing_one_is_named(tmp_path):
    out = tmp_path / "second.svg"
    assert CliRunner().invoke(app, ["draw", str(STORY), "--sentence", "2", "--out", str(out)]).exit_code == 0
    assert "Nobody" in out.read_text()
    for options, said in ((["--sentence", "999"], "no sentence 999"), ([], "--sentence")):
        result = CliRunner().invoke(app, ["draw", str(STORY), *options, "--out", str(tmp_path / "x.svg")])
        assert result.exit_code == 1
        assert said in result.output + getattr(result, "stderr", "")


def test_arcs_stand_above_those_inside_them_and_odd_characters_are_escaped():
    assert _levels([2, 0, 5, 5, 2]) == [1, 4, 2, 1, 3]
    doc = Doc.of_words([["<a>", "&"]], head=[[0, -1]], deprel=[["ro<ot", ""]])
    ElementTree.fromstring(draw_tree(doc.sentences[0]))
