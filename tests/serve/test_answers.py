"""Answers as files: whatever spans a document has, every format gets a file that can be read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft
from weft.serve.answers import formats_of, to_file, to_json
from weft.text import Doc, SpanLayer
from weft.text.conventions.alternatives import note_alternatives
from weft.text.conventions.coreference import set_entities
from weft.text.conventions.preferences import PreferenceRow, set_preferences
from weft.text.conventions.tuples import TupleRow, set_tuples

LAYERS = [
    "head",
    "constituents",
    "relations/hedge",
    "relations/relations",
    *(f"spans/{name}" for name in ("mwe", "times", "timeline", "coref", "links")),
]
FORMATS = formats_of(LAYERS)


def a_document() -> Doc:
    """Nested and crossing entities, an expression with a gap, alternatives."""
    doc = Doc.from_words([["The", "Bank", "of", "Oslo", "wrote", "it", "down"]], head=[[2, 5, 4, 2, 0, 5, 5]],
                       deprel=[["det", "nsubj", "case", "nmod", "root", "obj", "compound"]])  # fmt: skip
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 4, "ORG"), (3, 4, "LOC"), (3, 5, "X")])
    doc.spans["mwe"] = SpanLayer(doc.strings)
    doc.spans["mwe"].add([(4, 5), (6, 7)], "strong")
    note_alternatives(doc, "tagger", [[(["X"] * 7, 0.75)]])
    return doc


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_holds_what_it_can_of_any_spans(format: str, tmp_path: Path) -> None:
    file = to_file(a_document(), format)
    assert file.content
    (tmp_path / file.name).write_bytes(file.content)
    if format in ("conllu", "columns", "records", "jsonl", "parquet"):
        (doc,) = weft.read(tmp_path / file.name, format)
        assert doc.n_words == 7
        if format == "conllu":
            assert [word.misc.get("NER", "") for word in doc.words] == ["B-ORG", "I-ORG", "I-ORG", "I-ORG", "", "", ""]
            assert any(line.startswith("# tagger_1 = 0.75") for line in doc.comments[0])


def test_formats_of_all_models_are_those_of_the_api() -> None:
    from typing import get_args

    from weft.serve.schemas import Format

    assert set(FORMATS) | {"json"} == set(get_args(Format))


def test_an_answer_holds_spans_with_gaps_and_nested_ones() -> None:
    import json

    answer = json.loads(to_json(a_document(), "any", 0.0, pictures=True))
    (expression,) = answer["spans"]["mwe"]
    places = [(piece["first_word"], piece["end_word"]) for piece in expression["pieces"]]
    assert (places, expression["text"]) == ([(4, 5), (6, 7)], "wrote ... down")
    assert len(answer["spans"]["entities"]) == 3
    assert answer["sentences"][0]["pictures"]["spans"]["entities"].count("<mark") == 4


def test_relations_are_drawn_for_the_page_and_come_back_from_their_file(tmp_path: Path) -> None:
    doc = Doc.from_words([["Ada", "edits", "for", "Quill"], ["Bo", "left"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (3, 4, "ORG"), (4, 5, "PER")])
    set_tuples(doc, [TupleRow("works for", (("Arg1", 0), ("Arg2", 1)), (0.75,))])
    answer = json.loads(to_json(doc, "any", 0.0, pictures=True))
    assert [each["pictures"].get("relations", "").count("<circle") for each in answer["sentences"]] == [2, 0]
    file = to_file(doc, "tuples")
    (tmp_path / file.name).write_bytes(file.content)
    (back,) = weft.read(tmp_path / file.name)
    assert [each.row for each in back.tuples] == [each.row for each in doc.tuples]


def test_a_text_in_another_language_comes_with_a_notice_for_the_page() -> None:
    doc = Doc.from_words([f"{i} der alte Leuchtturm stand auf einem schwarzen Felsen".split() for i in range(4)])
    answer = json.loads(to_json(doc, "en", 0.0, pictures=True, language="English"))
    assert answer["notice"] == "the text looks like German; the model en is English"
    for options in ({"language": "German"}, {"language": ""}, {"language": "English", "pictures": False}):
        assert "notice" not in json.loads(to_json(doc, "en", 0.0, **{"pictures": True, **options}))


def test_an_answer_notes_what_was_annotated_in_windows() -> None:
    doc = Doc.from_words([["Dogs", "bark"]])
    assert "notes" not in json.loads(to_json(doc, "en", 0.1))
    doc.meta["windows"] = {"graph-parser": "1 sentence of 2 words was annotated in windows of at most 1"}
    (note,) = json.loads(to_json(doc, "en", 0.1))["notes"]
    assert note.startswith("graph-parser: 1 sentence of 2 words")


def test_times_and_entities_of_coreference_come_back_from_their_files(tmp_path: Path) -> None:
    doc = Doc.from_words([["Ada", "slept", "when", "she", "came", "home", "yesterday"]])
    doc.spans["times"] = SpanLayer(doc.strings)
    doc.spans["times"].add([(6, 7)], "DATE", value="2026-05-01", anchor="2026-05-02")
    set_entities(doc, [(0, 1), (3, 4)], [0, 0])
    read = {}
    for format in ("times", "timeml", "coref"):
        file = to_file(doc, format)
        (tmp_path / file.name).write_bytes(file.content)
        (read[format],) = weft.read(tmp_path / file.name, format)
    for format in ("times", "timeml"):
        assert [(time.text, time.value) for time in read[format].times] == [("yesterday", "2026-05-01")]
    (entity,) = read["coref"].entities_of("coref")
    assert [mention.text for mention in entity.mentions] == ["Ada", "she"]


def test_an_answer_with_pictures_has_the_timeline_of_the_text() -> None:
    import json

    from weft.text.conventions.timeline import new_layers

    doc = a_document()
    assert "timeline" not in json.loads(to_json(doc, "any", 0.0, pictures=True))
    new_layers(doc)[0].add([(4, 5)], "EVENT", DocTimeRel="BEFORE")
    answer = json.loads(to_json(doc, "any", 0.0, pictures=True))
    assert answer["timeline"].startswith("<svg")
    assert "wrote" in answer["timeline"]
    assert "timeline" not in json.loads(to_json(doc, "any", 0.0))


def test_roles_of_the_english_model_are_arcs_of_the_tree_and_spans_of_every_format(tmp_path: Path) -> None:
    doc = weft.load("en", "en-roles")("The captain gave Anna a map.")
    answer = json.loads(to_json(doc, "en+en-roles", 0.0, pictures=True))
    tree = answer["sentences"][0]["pictures"]["tree"]
    assert all(f">{label}<" in tree for label in ("A0", "A1", "A2"))
    assert "give.01" in tree
    assert {span["label"] for span in answer["spans"]["frames"]} >= {"give.01", "A0", "A1", "A2"}
    formats = formats_of(["tokens", "head", "spans/frames", "relations/frames"])
    assert "bioscope" not in formats
    for format in ("conllu", "records", "jsonl", "parquet"):
        file = to_file(doc, format)
        (tmp_path / file.name).write_bytes(file.content)
        (again,) = weft.read(tmp_path / file.name, format)
        assert [frame.row for frame in again.frames] == [frame.row for frame in doc.frames]


def test_broken_preferences_are_told_on_the_page_and_kept_by_files(tmp_path: Path) -> None:
    check = {"argument": "A1", "role": "Patient", "restriction": "+concrete", "senses": [], "holds": False}
    doc = Doc.from_words([["They", "pruned", "laws"]], upos=[["PRON", "VERB", "NOUN"]], head=[[2, 0, 2]])
    explanation = {"readings": [{"roleset": "prune.01", "class": "trim-21.9", "checks": [check]}]}
    set_preferences(doc, [PreferenceRow(1, "violation", explanation, {"A0": 0, "A1": 2})])
    answer = json.loads(to_json(doc, "any", 0.0, pictures=True))
    assert "violation: Patient +concrete (trim-21.9)" in answer["sentences"][0]["pictures"]["spans"]["preferences"]
    assert [span["label"] for span in answer["spans"]["preferences"]] == ["violation", "argument"]
    assert "bioscope" not in formats_of(["tokens", "head", "spans/preferences", "relations/preferences"])
    for format in ("records", "jsonl", "parquet"):
        file = to_file(doc, format)
        (tmp_path / file.name).write_bytes(file.content)
        (again,) = weft.read(tmp_path / file.name, format)
        assert again.preferences[0].broken[0].restriction == "+concrete"
