"""`weft draw`: one well-formed picture a sentence, a page of all, and plain words where there is nothing to draw."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from places import EXAMPLES
from typer.testing import CliRunner

from weft.cli.app import app

STORY = EXAMPLES / "story.conllu"


def draw(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["draw", *map(str, arguments)])
    return result.exit_code, result.output + getattr(result, "stderr", "")


def texts(picture: Path) -> set[str | None]:
    return {element.text for element in ElementTree.parse(picture).iter() if element.tag.endswith("text")}


def test_every_sentence_becomes_a_picture_with_its_words_and_relations(tmp_path):
    code, said = draw(STORY, "--out", tmp_path / "pictures")
    assert code == 0, said
    pictures = sorted((tmp_path / "pictures").glob("*.svg"))
    assert len(pictures) == 40
    assert {"lighthouse", "nsubj", "VERB"} <= texts(pictures[0])


def test_one_sentence_goes_to_one_file_and_a_missing_one_is_named(tmp_path):
    out = tmp_path / "second.svg"
    assert draw(STORY, "--sentence", "2", "--out", out)[0] == 0
    assert "Nobody" in out.read_text()
    for options, expected in ((["--sentence", "999"], "no sentence 999"), ([], "--sentence")):
        code, said = draw(STORY, *options, "--out", tmp_path / "x.svg")
        assert code == 1
        assert expected in said


def test_phrases_and_spans_are_drawn_where_they_are(tmp_path):
    out = tmp_path / "one.svg"
    assert draw(EXAMPLES / "tea.mrg", "--sentence", 1, "--out", out)[0] == 0
    assert "IP" in texts(out)
    assert (
        draw(EXAMPLES / "expressions.tags", "--sentence", 1, "--what", "spans", "--layer", "mwe", "--out", out)[0] == 0
    )
    ElementTree.parse(out)


def test_a_page_holds_all_sentences(tmp_path):
    out = tmp_path / "pages" / "chunks.html"
    code, said = draw(EXAMPLES / "unseen.conll", "--out", out)
    assert (code, said.strip()) == (0, f"10 sentences in {out}")
    assert out.read_text().count("<figure>") == 10


@pytest.mark.parametrize("out", ["x.svg", "x.html", "folder"])
def test_a_file_with_nothing_to_draw_is_told(tmp_path, out):
    code, said = draw(EXAMPLES / "letters.conllu", "--sentence", 1, "--out", tmp_path / out)
    assert code == 1
    assert "no trees, phrases, graphs or spans" in said
    assert not (tmp_path / out).exists()


def test_unknown_kinds_and_layers_are_named(tmp_path):
    assert "cannot draw arcs" in draw(STORY, "--what", "arcs", "--sentence", 1, "--out", tmp_path / "x.svg")[1]
    code, said = draw(EXAMPLES / "unseen.conll", "--layer", "names", "--out", tmp_path / "x.html")
    assert code == 1
    assert "available layers: chunks" in said


def test_a_sentence_can_be_named_by_its_id(tmp_path):
    out = tmp_path / "x.svg"
    assert draw(STORY, "--sentence", "lighthouse-02", "--out", out)[0] == 0
    assert {"Nobody", "lighthouse-02"} <= texts(out)
    code, said = draw(STORY, "--sentence", "lighthouse-022", "--out", out)
    assert code == 1
    assert "there is no sentence lighthouse-022" in said
    assert "did you mean lighthouse-" in said


def test_an_id_that_is_a_number_is_taken_as_an_id(tmp_path):
    numbered = tmp_path / "numbered.conllu"
    rows = "1\t{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    numbered.write_text("".join(f"# sent_id = {i}\n" + rows.format(form) for i, form in ((2, "first"), (1, "second"))))
    assert draw(numbered, "--sentence", "1", "--out", tmp_path / "x.svg")[0] == 0
    assert "second" in texts(tmp_path / "x.svg")


def test_a_page_shows_numbers_ids_and_text_of_sentences(tmp_path):
    out = tmp_path / "story.html"
    assert draw(STORY, "--out", out)[0] == 0
    page = out.read_text()
    assert (
        '<section id="lighthouse-02"><h2>2 <code>lighthouse-02</code></h2><p class="sentence-text" dir="auto">Nobody'
        in page
    )
    assert page.count("<section") == 40
    assert 'type="search"' in page


def test_a_file_without_sentences_is_told(tmp_path):
    (tmp_path / "letter.txt").write_text("Some text.\n")
    code, said = draw(tmp_path / "letter.txt", "--sentence", 1, "--out", tmp_path / "x.svg")
    assert code == 1
    assert "annotate it first" in said
