"""The extractor of events: training, annotation, nested and multi-word events, reach, model files, explanations."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from tiny_wordnet import write_wordnet

from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.documents import evaluate_documents
from weft.formats import read, write
from weft.pipeline.pipeline import Pipeline
from weft.shipped import shipped
from weft.tasks.events.encode import Reading
from weft.tasks.events.extractor import EventExtractor, EventSettings
from weft.tasks.events.schema import Schema, coarse_of, learn_schema
from weft.text.conventions.events import EventRow, Filler, event_rows, set_events
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.split import with_words

EXAMPLES = shipped("examples") / "events"


@pytest.fixture(scope="module")
def extractor() -> EventExtractor:
    trained = EventExtractor()
    trained.fit(read(EXAMPLES / "harbour.events.jsonl"))
    return trained


def new_docs() -> list[Doc]:
    docs = with_words(read(EXAMPLES / "new.events.jsonl"))
    for doc in docs:
        doc.graphs.clear()
        doc.spans.pop("events")
    return docs


def told(docs: list[Doc]) -> list[list[str]]:
    return [[event.told for event in doc.events] for doc in docs]


def test_it_finds_events_of_several_words_and_events_as_arguments(extractor: EventExtractor) -> None:
    docs = new_docs()
    extractor(docs)
    assert told(docs)[0] == [
        "Depart(set sail, Ship: Osprey, From: Elmstead, Time: Monday)", "Arrive(reached, Ship: Osprey, To: Linden Quay)"
    ]  # fmt: skip
    cause = docs[1].events[0]
    assert cause.type == "Cause"
    assert cause["Effect"] == docs[1].events[1]
    gold = with_words(read(EXAMPLES / "new.events.jsonl"))
    assert evaluate_documents(gold, docs, "events").counts["arguments"].total().recall == 1.0


def test_without_nested_slots_no_event_is_an_argument() -> None:
    plain = EventExtractor(EventSettings(nested=False))
    report = plain.fit(read(EXAMPLES / "harbour.events.jsonl"))
    docs = new_docs()
    plain(docs)
    assert all(filler.event < 0 for doc in docs for row in event_rows(doc) for filler in row.arguments)
    assert report["training"]["arguments lost"] == 0


def test_a_model_file_predicts_the_same(extractor: EventExtractor, tmp_path: Path) -> None:
    file = tmp_path / "harbour.weft"
    Pipeline([extractor], {}).save(file)
    one, two = new_docs(), new_docs()
    extractor(one)
    list(Pipeline.load(file).pipe(two))
    assert told(one) == told(two)


def test_a_damaged_schema_is_refused(extractor: EventExtractor) -> None:
    header, arrays = extractor.state()
    worse = copy.deepcopy(header)
    worse["schema"]["allowed"][0] = [99, 0, 1]
    with pytest.raises((DataError, ModelError), match="role table"):
        EventExtractor.from_state(worse, dict(arrays))
    with pytest.raises(ModelError, match="sizes"):
        EventExtractor.from_state(header, {**arrays, "roles.values": np.zeros((3, 1), np.float32)})


def test_explanations_add_up_to_the_margin(extractor: EventExtractor) -> None:
    [doc] = [doc for doc in new_docs() if doc.id == "n2"]
    extractor([doc])
    word = doc.column("form").index("sink")
    found = extractor.explain(doc, word) if hasattr(extractor, "explain") else extractor._explain(doc, word)
    assert found.decision == "Sink(Ship, Place)"
    assert found.margin > 0
    assert {"argument", "elsewhere"} <= {reason.template for reason in found.reasons}
    assert any("Fulmar: Ship" in reason.value for reason in found.reasons)
    nothing = extractor._explain(doc, doc.column("form").index("."))
    assert (nothing.decision, nothing.reasons) == ("no event", ())


def test_dev_data_choose_an_epoch_and_a_balance() -> None:
    trained = EventExtractor(EventSettings(epochs=5))
    docs = list(read(EXAMPLES / "harbour.events.jsonl"))
    report = trained.fit(docs[:36], docs[36:])
    assert report["scores"]["dev trigger F"] > 0.7
    assert 1 <= report["training"]["epoch"] <= 5
    assert report["training"]["invalid updates"] == 0


def two_sentences(name: str, place: str, event: bool = True) -> Doc:
    doc = Doc.from_words([["The", name, "sank", "."], ["It", "lay", "off", place, "."]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(1, 2, "ship"), (7, 8, "port")])
    fillers = Filler("Ship", -1, ((1, 2),), "ship"), Filler("Place", -1, ((7, 8),), "port")
    set_events(doc, [EventRow("Sink", ((2, 3),), fillers)] if event else [])
    return doc


def test_arguments_in_the_next_sentence_need_reach() -> None:
    train = [two_sentences(name, place) for name, place in (("Heron", "Alder"), ("Plover", "Birch"), ("Gull", "Elm"))]
    near, far = (EventExtractor(EventSettings(reach=reach, common=0)) for reach in (0, 1))
    assert near.fit(train)["training"]["arguments lost"] == 3
    assert far.fit(train)["training"]["arguments lost"] == 0
    new = [two_sentences("Curlew", "Cedar", event=False) for _ in range(2)]
    near(new[:1])
    far(new[1:])
    assert told(new) == [["Sink(sank, Ship: Curlew)"], ["Sink(sank, Ship: Curlew, Place: Cedar)"]]


def test_events_without_mentions_can_be_learned_from_their_fillers(tmp_path: Path) -> None:
    lines = []
    for ship, port in (("Heron", "Alder"), ("Plover", "Birch"), ("Gull", "Elm")):
        text = f"{ship} sank off {port}."
        places = {word: [text.index(word), text.index(word) + len(word)] for word in (ship, "sank", port)}
        event = {
            "type": "Sink",
            "trigger": places["sank"],
            "arguments": [["Ship", places[ship]], ["Place", places[port]]],
        }
        lines.append(json.dumps({"text": text, "events": [event]}))
    file = tmp_path / "plain.events.jsonl"
    file.write_text("\n".join(lines))
    trained = EventExtractor(EventSettings(common=0))
    trained.fit(read(file))
    doc = Doc.from_words([["Curlew", "sank", "off", "Cedar", "."]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "argument"), (3, 4, "argument")])
    trained([doc])
    assert told([doc]) == [["Sink(sank, Ship: Curlew, Place: Cedar)"]]


def test_brat_files_train_the_same_model(tmp_path: Path, extractor: EventExtractor) -> None:
    write(read(EXAMPLES / "harbour.events.jsonl"), tmp_path / "brat", "brat")
    again = EventExtractor()
    again.fit(read(tmp_path / "brat"))
    docs = new_docs()
    again(docs)
    assert told(docs)[0][0] == "Depart(set sail, Ship: Osprey, From: Elmstead, Time: Monday)"


def test_plain_brat_files_as_in_shared_tasks_have_triggers_among_their_mentions(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Heron sank off Alder.")
    lines = ["T1\tShip 0 5\tHeron", "T2\tPort 15 20\tAlder", "T3\tSink 6 10\tsank", "E1\tSink:T3 Who:T1 At:T2"]
    (tmp_path / "a.ann").write_text("\n".join(lines) + "\n")
    docs = with_words(read(tmp_path))
    schema = learn_schema(docs, [event_rows(doc) for doc in docs], Reading())
    assert schema.told() == ["Sink.Who: Ship", "Sink.At: Port"]
    trained = EventExtractor(EventSettings(common=0))
    assert trained.fit(docs)["training"]["arguments"] == 2


def test_shared_roles_and_coarse_types() -> None:
    schema = Schema(["", "Life.Die", "Life.Injure"], ["p"], ["", "Place", "Victim"],
                    [(1, 0, 1), (2, 0, 1), (1, 0, 2), (2, 0, 2)], set(), {})  # fmt: skip
    table = schema.table
    assert table.columns[1, 0, 1] == table.columns[2, 0, 1]
    assert table.columns[1, 0, 2] != table.columns[2, 0, 2]
    assert table.coarse[1] == table.coarse[2] > 0
    assert coarse_of("Conflict:Attack") == "Conflict"


def test_two_fillers_of_one_mention_in_two_events(extractor: EventExtractor) -> None:
    docs = new_docs()
    extractor(docs)
    ships = [event["Ship"] for event in docs[0].events]
    assert [ship.text for ship in ships if ship is not None] == ["Osprey", "Osprey"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("name", "value"), [("beam", 0), ("epochs", 0), ("update", "late"), ("reach", -1)])
def test_settings_are_checked(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        EventExtractor(EventSettings(**{name: value}))  # type: ignore[arg-type]


def test_training_data_without_events_or_mentions_are_an_error() -> None:
    doc = Doc.from_words([["Heron", "sank"]])
    with pytest.raises(DataError, match="spans/entities"):
        EventExtractor().fit([doc])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "ship")])
    with pytest.raises(DataError, match="no document has an event"):
        EventExtractor().fit([doc])


def test_documents_without_words_or_candidates_get_no_arguments(extractor: EventExtractor) -> None:
    doc = Doc.from_words([["Everything", "sank", "."]])
    doc.spans["entities"] = SpanLayer(doc.strings)
    extractor([doc])
    assert all(not row.arguments for row in event_rows(doc))


def test_synonyms_and_verbs_of_nouns_help_words_never_seen(tmp_path: Path) -> None:
    """Words never seen are of one synset or cluster with words of training data."""

    def note(who: str, verb: str, what: str, event: str = "") -> Doc:
        doc = Doc.from_words([[who, verb, what]])
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person"), (2, 3, "thing")])
        fillers = Filler("Who", -1, ((0, 1),), "person"), Filler("What", -1, ((2, 3),), "thing")
        set_events(doc, [EventRow(event, ((1, 2),), fillers)] if event else [])
        return doc

    def verbs_of(settings: EventSettings) -> list[list[str]]:
        extractor = EventExtractor(settings)
        extractor.fit(train)
        again = EventExtractor.from_state(*extractor.state())
        docs = [note("Zoe", "jog", "ink"), note("Zoe", "drowse", "ink")]
        again(docs)
        return told(docs)

    moving, resting = ("run", "dash", "hasten", "trot"), ("sleep", "nap", "doze", "slumber")
    train = [note(who, verb, "bread", "Move") for verb in moving for who in ("Ada", "Bo")]
    train += [note(who, verb, "bread") for verb in resting for who in ("Ada", "Bo")]
    nouns = [("a", (), 3, (*moving, "jog")), ("b", (), 3, (*resting, "drowse"))]
    moves = ["Move(jog, Who: Zoe, What: ink)"]
    assert verbs_of(EventSettings(common=0, wordnet=str(write_wordnet(tmp_path / "net", nouns)))) == [moves, []]
    nouns = [("a", (), 3, (*moving, "drowse")), ("b", (), 3, (*resting, "jog"))]
    assert verbs_of(EventSettings(common=0, wordnet=str(write_wordnet(tmp_path / "other", nouns))))[0] == []
    paths = tmp_path / "paths"
    bits = {"0101010101010101": (*moving, "jog"), "1101010101010101": (*resting, "drowse")}
    paths.write_text("".join(f"{path}\t{word}\t9\n" for path, words in bits.items() for word in words))
    assert verbs_of(EventSettings(common=0, clusters=str(paths))) == [moves, []]
