"""The detector on documents: heads, names, compounds, particles, lemmas, corrections, and the layer."""

from __future__ import annotations

import pytest

from weft.errors import DataError
from weft.lexical.resources.source import MISSING, Patch
from weft.tasks.preferences.detector import PreferenceDetector
from weft.tasks.preferences.fillers import Filler, names_of
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, set_frames
from weft.text.layers import SpanLayer


def clause(*rows: tuple[str, str, int, str, str], frames: list[FrameRow], **meta: str) -> Doc:
    """A document of one sentence: form, tag, head, relation and lemma of every word."""
    columns = list(zip(*rows, strict=True))
    doc = Doc.from_words(
        [list(columns[0])], upos=[list(columns[1])], head=[list(columns[2])], deprel=[list(columns[3])],
        lemma=[list(columns[4])],
    )  # fmt: skip
    set_frames(doc, frames)
    return doc


def town_drank(subject: str = "town", tag: str = "NOUN", *, lemma: str = "drink") -> Doc:
    return clause(
        ("The", "DET", 2, "det", "the"), (subject, tag, 3, "nsubj", subject), ("drank", "VERB", 0, "root", lemma),
        ("tea", "NOUN", 3, "obj", "tea"),
        frames=[FrameRow(2, "drink.01", (Role("A0", 0, 2), Role("A1", 3, 4), Role("AM-TMP", 3, 4)))],
    )  # fmt: skip


def outcomes(raw, doc: Doc, **options) -> list[tuple[str, str]]:
    PreferenceDetector(raw, **options)([doc])
    return [(each.verb.form, each.outcome) for each in doc.preferences]


def test_the_head_of_an_argument_decides(raw):
    assert outcomes(raw, town_drank()) == [("drank", "violation")]
    assert outcomes(raw, town_drank("judge")) == [("drank", "ok")]


def test_the_layer_explains_every_verb_and_marks_the_arguments(raw):
    doc = town_drank()
    PreferenceDetector(raw)([doc])
    [each] = doc.preferences
    [broken] = each.broken
    assert (broken.word.form, broken.argument, broken.role) == ("town", "A0", "Agent")
    assert (broken.verb_class, broken.restriction, broken.senses) == ("sip-39.9", "+animate", ("town%1:15:00::",))
    assert [(pieces, label) for pieces, label in doc.spans["preferences"]] == [
        (((2, 3),), "violation"), (((1, 2),), "argument"),
    ]  # fmt: skip
    assert list(doc.relations["preferences"]) == [(0, 1, "Agent")]


def test_a_lemma_that_no_resource_has_is_looked_for_by_endings(raw):
    doc = clause(
        ("Judges", "NOUN", 2, "nsubj", "judge"), ("pruned", "VERB", 0, "root", "prun"),
        ("laws", "NOUN", 2, "obj", "law"),
        frames=[FrameRow(1, "prun.01", (Role("A0", 0, 1), Role("A1", 2, 3)))],
    )  # fmt: skip
    assert outcomes(raw, doc) == [("pruned", "violation")]


def test_names_have_the_types_of_their_labels(raw):
    doc = town_drank("Ada", "PROPN")
    assert outcomes(raw, doc) == [("drank", "ok")]  # a name of unknown type
    for label, outcome in (("PER", "ok"), ("ORG", "violation"), ("LOC", "violation"), ("MISC", "ok")):
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(1, 2, label)])
        assert outcomes(raw, doc) == [("drank", outcome)]


def test_a_compound_that_wordnet_has_has_its_own_senses(raw):
    doc = clause(
        ("They", "PRON", 2, "nsubj", "they"), ("inspect", "VERB", 0, "root", "inspect"),
        ("dairy", "NOUN", 4, "compound", "dairy"), ("farms", "NOUN", 2, "obj", "farm"),
        frames=[FrameRow(1, "inspect.01", (Role("A0", 0, 1), Role("A1", 2, 4)))],
    )  # fmt: skip
    PreferenceDetector(raw)([doc])
    assert doc.preferences[0].readings[0]["checks"][1]["senses"] == ["dairy_farm%1:06:00::"]
    doc.set_column("form", ["They", "inspect", "old", "farms"])
    PreferenceDetector(raw)([doc])
    assert doc.preferences[0].readings[0]["checks"][1]["senses"] == ["farm%1:06:00::"]


@pytest.mark.parametrize(
    ("form", "tag", "kind"),
    [("saying", "VERB", "clause"), ("seven", "NUM", "number"), ("1985", "NOUN", "number"), ("which", "PRON", "pronoun"),
     ("she", "PRON", "pronoun"), ("Smith", "PROPN", "name"), ("law", "NOUN", "noun")],
)  # fmt: skip
def test_kinds_of_heads(form, tag, kind):
    doc = town_drank(form, tag)
    assert Filler.of_head(doc[1], names_of(doc)).kind == kind


def test_a_quoted_word_is_mentioned_not_used():
    doc = Doc.from_words([['"', "law", '"']], upos=[["PUNCT", "NOUN", "PUNCT"]], head=[[2, 0, 2]])
    assert Filler.of_head(doc[1], {}).kind == "clause"


def test_phrasal_verbs_auxiliaries_and_nouns_are_left_out(raw):
    doc = clause(
        ("Towns", "NOUN", 3, "nsubj", "town"), ("have", "AUX", 3, "aux", "have"), ("drunk", "VERB", 0, "root", "drink"),
        ("up", "ADP", 3, "compound:prt", "up"), ("rumours", "NOUN", 3, "obj", "rumour"),
        frames=[FrameRow(1, "have.01"), FrameRow(2, "drink.01", (Role("A0", 0, 1),)), FrameRow(4, "rumour.01")],
    )  # fmt: skip
    PreferenceDetector(raw)([doc])
    assert [(each.verb.form, each.outcome, each.why) for each in doc.preferences] == [
        ("have", "unknown", "excluded: auxiliary verb"),
        ("drunk", "unknown", "excluded: phrasal verb 'drink up'"),
    ]


def test_predicted_senses_choose_readings(raw):
    other = raw.patched([Patch("semlink:drink.02/35.9", MISSING, "A0=agent A1=theme", "a sense")])
    doc = town_drank("judge")
    set_frames(doc, [FrameRow(2, "drink.02", (Role("A0", 0, 2), Role("A1", 0, 2)))])
    assert outcomes(other, doc, predicted_senses=True) == [("drank", "ok")]
    set_frames(doc, [FrameRow(2, "drink.01", (Role("A0", 0, 2), Role("A1", 0, 2)))])
    assert outcomes(other, doc, predicted_senses=True) == [("drank", "violation")]


def test_corrections_change_judgements_and_are_named_and_the_document_stays(raw):
    doc = town_drank()
    notes = (Patch("1/3/A0", "1-2", "4", "the tea was drunk", "notes.tsv, line 1"),)
    [each] = PreferenceDetector(raw, corrections=notes).judged(doc)
    assert each.heads == {"A0": 3, "A1": 3}
    assert each.judgement.outcome == "violation"  # tea does not drink
    assert [(change.patch.origin, change.before) for change in each.judgement.changes] == [
        ("notes.tsv, line 1", "violation")
    ]
    other = (Patch("1/3/A0", "1-2", MISSING, "nobody", "notes.tsv, line 2"), Patch("2/1/A0", "1", "2", "elsewhere"))
    [each] = PreferenceDetector(raw, corrections=other).judged(doc)
    assert (each.judgement.outcome, len(each.judgement.changes)) == ("ok", 1)
    [each] = PreferenceDetector(raw).judged(doc)
    assert (each.judgement.outcome, each.judgement.changes) == ("violation", ())


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (Patch("1/9/A0", "1", "2", "x", "notes.tsv, line 1"), "notes.tsv, line 1: expected SENTENCE/WORD/FIELD"),
        (Patch("1/3", "1", "2", "x"), "expected SENTENCE/WORD/FIELD"),
        (Patch("1/3/A0", "1", "2", "x"), "holds '1-2', but the patch expects '1'"),
        (Patch("1/3/A0", "1-2", "2-9", "x"), "expected words as in 6 or 6-8"),
        (Patch("1/2/A0", MISSING, "2", "x"), "has no '1/2/A0' to patch"),
        (Patch("1/3/frame", "give.01", MISSING, "x"), "holds 'drink.01'"),
    ],
)
def test_corrections_that_do_not_fit_are_refused(raw, patch, message):
    with pytest.raises(DataError, match=message):
        PreferenceDetector(raw, corrections=(patch,)).judged(town_drank())


def test_documents_without_roles_are_refused_in_words(raw):
    doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]])
    with pytest.raises(DataError, match="has no semantic roles; annotate it first"):
        PreferenceDetector(raw)([doc])
    PreferenceDetector(raw)([Doc("")])
