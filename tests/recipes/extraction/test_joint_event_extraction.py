"""The recipe of joint-event-extraction: generated data, and the order of the systems on it."""

from __future__ import annotations

import pytest

from weft.recipes.extraction.joint_event_extraction.corpora import _abstract, _article
from weft.recipes.extraction.joint_event_extraction.experiment import outside
from weft.recipes.extraction.joint_event_extraction.generated import generated
from weft.recipes.extraction.joint_event_extraction.parses import add_chunks
from weft.recipes.extraction.joint_event_extraction.systems import Task, cells, fit
from weft.tasks.events.encode import Reading
from weft.text.conventions.events import event_rows
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.strings import StringTable

READING = Reading(tags="upos", trees=True)


@pytest.fixture(scope="module")
def task() -> Task:
    return Task.of(generated(800, 21), generated(300, 22), READING)


@pytest.mark.must_show("joint-event-extraction", 5)
def test_staged_is_below_joint_local_is_below_joint_global_on_generated_sentences(task: Task) -> None:
    staged = cells(task.scored(task.staged()))
    local, whole = (
        cells(task.scored(task.joint(fit(task, 4, "early", use_global, 6).weights))) for use_global in (False, True)
    )
    assert staged["argument F"] + 5 < local["argument F"] < whole["argument F"] - 0.5
    assert staged["trigger F"] + 5 < local["trigger F"] < whole["trigger F"] - 0.5
    assert whole["argument F"] > 97


@pytest.mark.must_show("joint-event-extraction", 7)
def test_no_predicted_argument_is_outside_the_role_table(task: Task) -> None:
    fitted = fit(task, 4, "early", True, 1)
    fitted.weights.bonus[:] = 30.0
    assert sum(map(len, (row.arguments for rows in task.joint(fitted.weights) for row in rows))) > 1000
    assert outside(task, fitted) == 0


def test_generated_sentences_have_what_they_promise() -> None:
    docs = generated(600, 1)
    rows = [event_rows(doc) for doc in docs]
    two = sum(len(events) > 1 for events in rows) / len(docs)
    assert 0.25 < two < 0.35
    for doc, events in zip(docs, rows, strict=True):
        first = events[0]
        word = doc.column("form")[first.trigger[0][0]]
        if word == "fired":
            instrument = any(filler.role == "Instrument" for filler in first.arguments)
            assert first.type == ("Attack" if instrument else "End-Position")
        if len(events) > 1 and events[1].type == "Die":
            targets = [filler.pieces for filler in first.arguments if filler.role == "Target"]
            assert [filler.pieces for filler in events[1].arguments] == targets
        assert sum(filler.role == "Place" for filler in first.arguments) <= 1
    assert {event.type for events in rows for event in events} == {
        "Attack", "End-Position", "Die", "Transport", "Meet", "Injure"
    }  # fmt: skip


def test_abstracts_keep_proteins_whole_and_strip_numbers_of_roles() -> None:
    text = "Kinab1-binding of Toro A rose. Then Kinab1 fell."
    a1 = "T1\tProtein 0 6\tKinab1\nT2\tProtein 18 24\tToro A\nT3\tProtein 36 42\tKinab1\n"
    a2 = (
        "T4\tBinding 7 14\tbinding\nT5\tPositive_regulation 25 29\trose\n"
        "E1\tBinding:T4 Theme:T1 Theme2:T2\nE2\tPositive_regulation:T5 Theme:E1\n"
    )
    doc = _abstract("a", {"txt": text, "a1": a1, "a2": a2}, StringTable())
    assert [sentence.text for sentence in doc.sentences] == ["Kinab1-binding of Toro A rose.", "Then Kinab1 fell."]
    assert [event.told for event in doc.events] == [
        "Binding(binding, Theme: Kinab1, Theme: Toro A)", "Positive_regulation(rose, Theme: binding)"
    ]  # fmt: skip


def test_articles_repair_offsets_nearby_and_keep_all_fillers_as_mentions() -> None:
    part = {"text": "a clinic", "startOffset": 17, "endOffset": 25, "role": {"type": "Victim"}, "type": "Organization"}
    event = {"subtype": "Ransom", "nugget": {"text": "locked", "startOffset": 8, "endOffset": 14}, "argument": [part]}
    doc = _article({"content": "Thieves locked a clinic.", "cyberevent": {"hopper": [{"events": [event]}]}})
    assert [each.told for each in doc.events] == ["Ransom(locked, Victim: a clinic)"]
    assert [row.label for row in doc.spans["entities"]] == ["Organization"]


def test_noun_chunks_that_overlap_no_mention_become_candidates() -> None:
    doc = Doc.from_words([["the", "old", "clinic", "paid", "a", "ransom"]],
                         upos=[["DET", "ADJ", "NOUN", "VERB", "DET", "NOUN"]])  # fmt: skip
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(4, 6, "Money")])
    add_chunks(doc)
    assert doc.spans["entities"].flat() == [(0, 3, "Other"), (4, 6, "Money")]
