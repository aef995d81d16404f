"""`weft draw`: one well-formed picture a sentence, a page of all, and plain words where there is nothing to draw."""

from __future__ import annotations

import json
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


def tables(folder: Path, **rows: list[str]) -> Path:
    """A folder as `weft lexicon entities` writes it, at two thresholds."""
    folder.mkdir()
    found = ((0.5, "m1", 2, "Ann Lee"), (0.3, "m1", 3, "Ann Lee"), (0.3, "m4", 1, "Bo & Co"))
    entities = [
        json.dumps(
            {"threshold": t, "entity": e, "mentions": n, "names": [{"name": name, "mentions": n}], "score": None}
        )
        for t, e, n, name in found
    ]
    merges = [
        json.dumps({
            "threshold": 0.3, "entity": "m1", "part": "m3", "names": ["A. Lee"], "into_names": ["Ann Lee"],
            "mentions": 1, "into_mentions": 2, "similarity": 0.4567, "name": 0.5, "equal": 0, "context": 0.4,
            "words": ["oil", "paint"],
        })
    ]  # fmt: skip
    for name, own in {"entities": entities, "merges": merges, **rows}.items():
        (folder / f"{name}.jsonl").write_text("\n".join(own) + "\n")
    return folder


def test_entities_are_drawn_with_what_every_merge_rests_on(tmp_path):
    folder = tables(tmp_path / "people")
    code, said = draw(folder, "--what", "entities", "--out", tmp_path / "x.html")
    assert (code, said.strip()) == (0, f"2 entities in {tmp_path / 'x.html'}")
    page = (tmp_path / "x.html").read_text()
    assert page.index('id="m1"') < page.index('id="m4"')
    assert 'type="search"' in page
    assert draw(folder, "--what", "entities", "--sentence", "m1", "--out", tmp_path / "x.svg")[0] == 0
    assert {"Ann Lee (2)", "A. Lee (1)", "0.46  oil, paint"} <= texts(tmp_path / "x.svg")
    assert draw(folder, "--what", "entities", "--out", tmp_path / "all")[0] == 0
    assert "Bo & Co (1)" in texts(tmp_path / "all" / "0002.svg")


def test_entities_that_cannot_be_drawn_are_told(tmp_path):
    folder = tables(tmp_path / "people")
    out = tmp_path / "x.svg"
    broken = tables(tmp_path / "broken", merges=["{"])
    other = tables(tmp_path / "other", entities=['{"threshold": 0.3, "entity": "m1"}'])
    for place, options, expected in (
        (folder, (), "is one picture"), (folder, ("--sentence", "m2"), "there is no entity m2"),
        (STORY, (), "is no folder"), (tmp_path, (), "has no entities.jsonl"), (broken, (), "merges.jsonl, line 1"),
        (other, (), "are not those of"),
    ):  # fmt: skip
        code, said = draw(place, "--what", "entities", *options, "--out", out)
        assert code == 1
        assert expected in " ".join(said.split())
    assert not out.exists()
