"""The layer of judged verbs: kept by formats, and read from files that others wrote."""

from __future__ import annotations

import pytest

import weft
from weft.errors import WeftError
from weft.text.conventions.preferences import PreferenceRow, set_preferences
from weft.text.doc import Doc

CHECK = {"argument": "A1", "role": "Patient", "restriction": "+concrete", "senses": ["law%1:10:00::"], "holds": False}
READING = {"roleset": "prune.01", "class": "trim-21.9", "checks": [CHECK]}


def flagged() -> Doc:
    doc = Doc.from_words([["They", "pruned", "laws"]])
    explanation = {"readings": [READING], "patches": [{"patch": "p", "before": "ok", "after": "violation"}]}
    set_preferences(doc, [PreferenceRow(1, "violation", explanation, {"A0": 0, "A1": 2})])
    return doc


@pytest.mark.parametrize("name", ["doc.jsonl", "doc.parquet"])
def test_files_keep_flags_and_explanations(tmp_path, name):
    doc = flagged()
    weft.write([doc], tmp_path / name)
    [again] = weft.read(tmp_path / name)
    assert again.same(doc)
    [each] = again.preferences
    [broken] = each.broken
    assert broken[1:] == ("A1", "Patient", "trim-21.9", "+concrete", ("law%1:10:00::",))
    assert broken.word.form == "laws"
    assert each.patches[0]["after"] == "violation"


def test_flags_without_explanations_can_be_read():
    doc = Doc.from_words([["They", "pruned", "laws"]])
    set_preferences(doc, [PreferenceRow(1, "unknown", {"why": "no frame"}, {})])
    assert (doc.preferences[0].why, doc.preferences[0].broken, doc.preferences[0].readings) == ("no frame", [], [])
    doc.spans["preferences"].attributes.clear()
    assert doc.preferences[0].broken == []
    assert Doc("").preferences == []


def test_what_is_no_judgement_is_refused():
    doc = flagged()
    with pytest.raises(WeftError, match="one of violation, ok, unknown"):
        set_preferences(doc, [PreferenceRow(1, "perhaps", {}, {})])
    doc.spans["preferences"].attributes[0] = {"explanation": "none"}
    with pytest.raises(WeftError, match="no explanation that can be read"):
        doc.preferences  # noqa: B018
