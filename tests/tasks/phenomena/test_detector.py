"""The detector from files to answers: commands, Python, layers, bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from places import EXAMPLES

import weft as package
from weft import formats
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.evaluate.documents import evaluate_documents
from weft.tasks import PhenomenaDetector
from weft.tasks.phenomena import PhenomenaSettings
from weft.tasks.phenomena.instances import chat_tokens, instances_of
from weft.text import Doc
from weft.text.conventions.conversations import Turn, set_turns

ROOMS = EXAMPLES / "chat" / "rooms.chat.tsv"


def chat(*turns, name="c"):
    doc = Doc("", meta={"id": name})
    set_turns(doc, [Turn(*turn) for turn in turns])
    return doc


@pytest.fixture(scope="module")
def detector():
    found = PhenomenaDetector(PhenomenaSettings(majority="none"))
    found.fit(formats.read(ROOMS))
    return found


def test_clitics_and_marks_are_words():
    assert chat_tokens("She's NOT here?! can't, won’t") == [
        "she",
        "'s",
        "not",
        "here",
        "?",
        "!",
        "ca",
        "n't",
        ",",
        "wo",
        "n't",
    ]


def test_instances_are_speakers_threads_and_blocks():
    doc = chat(
        ("a", "one", "t1", "NA"), ("b", "two", "t1", "NA"), ("a", "three", "t2", "POS"), ("a", "four", "t1", "NEG")
    )
    found = instances_of([doc], 0, {"NEG": 0, "POS": 1, "NA": 2})
    assert [(each.speaker, each.thread, each.texts, each.label) for each in found] == [
        ("a", "t1", ("one", "four"), "NEG"), ("b", "t1", ("two",), "NA"), ("a", "t2", ("three",), "POS"),
    ]  # fmt: skip
    assert [each.texts for each in instances_of([doc], 1) if each.speaker == "a"] == [("one",), ("three",), ("four",)]


def test_rules_answers_and_their_reasons(detector):
    rules = detector.rules()
    assert rules[0]["cue"] == "my"
    assert rules[0]["rule"].startswith("D:")
    doc = chat(
        ("ina", "the bus was late"), ("jon", "soup for lunch"), ("ina", "my letter came"), ("ina", "i am so scared")
    )
    detector([doc], probabilities=True)
    layer = doc.spans["phenomena"]
    assert [row.label for row in layer] == ["worry", "none", "worry", "worry"]
    given = [layer.attributes[n] for n in range(4)]
    assert [each["instance"] for each in given] == [0, 1, 0, 0]
    assert not given[0]["kept"]
    assert given[3]["kept"]
    said = {each.split()[0] for each in given[3]["because"]}
    assert said
    assert said <= {"my", "letter", "came", "i", "am", "so", "scared"}  # words of the lines that were kept
    assert "because" not in given[0]
    assert given[0]["probabilities"]["worry"] == given[0]["probability"]
    assert sum(given[0]["probabilities"].values()) == pytest.approx(1, abs=1e-3)


def test_a_model_file_gives_the_same_answers(detector, tmp_path):
    from weft.pipeline.registry import keep

    keep(detector, {}, tmp_path / "worries.weft")
    again = package.load(tmp_path / "worries.weft")
    docs = list(formats.read(ROOMS))[:3]
    ours = [each.to_dict()["spans"] for each in again.pipe([chat(*_turns(doc)) for doc in docs])]
    theirs = [chat(*_turns(doc)) for doc in docs]
    detector(theirs)
    assert ours == [each.to_dict()["spans"] for each in theirs]


def _turns(doc):
    from weft.text.conventions.conversations import turns_of

    return [(turn.speaker, turn.text) for turn in turns_of(doc)]


def test_a_stump_is_kept_in_the_model(tmp_path):
    stump = PhenomenaDetector(PhenomenaSettings(majority="none", rules=False, stump=True))
    stump.fit(formats.read(ROOMS))
    header, arrays = stump.state()
    again = PhenomenaDetector.from_state(json.loads(json.dumps(header)), arrays)
    assert again.model.split == stump.model.split
    docs = list(formats.read(ROOMS))
    for one, other in zip(stump.confidences(docs)[2], again.confidences(docs)[2], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    "change",
    [
        {"majority": 7}, {"ranks": [0]}, {"sides": [[]]}, {"sides": []}, {"labels": ["worry", "worry"]},
        {"sides": [[[[10**6, "D", 0.1]]]]}, {"split": {"lines": 1, "category": ""}}, {"thresholds": {"worry": "x"}},
    ],
)  # fmt: skip
def test_damaged_headers_are_refused(detector, change):
    header, arrays = detector.state()
    with pytest.raises(ModelError):
        PhenomenaDetector.from_state(json.loads(json.dumps({**header, **change})), arrays)


def test_a_recall_that_the_user_names_makes_few_and_sure_hits():
    rng = np.random.default_rng(0)
    chats = []
    for number in range(24):
        turns = []
        for user in range(12):
            rare = rng.random() < 0.25
            words = [f"w{k}" for k in rng.integers(0, 20, 4)] + (["aha"] if rare or rng.random() < 0.2 else [])
            words += ["oho"] if rare and rng.random() < 0.5 else []
            turns.append((f"u{user}", " ".join(words), "", "YES" if rare else "NA"))
        chats.append(chat(*turns, name=f"c{number}"))
    hits, precision = {}, {}
    for recall in (0.0, 0.3):
        found = PhenomenaDetector(PhenomenaSettings(rules=False, recall=recall))
        report = found.fit(chats[:18])
        _, labels, _ = found.confidences(chats[18:])
        gold = np.array([each.label for own in found.confidences(chats[18:])[0] for each in own])
        said = np.array(found.labels)[np.concatenate(labels)]
        hits[recall] = int(np.sum(said == "YES"))
        precision[recall] = float(np.mean(gold[said == "YES"] == "YES"))
        if recall:
            assert 0.3 <= report["scores"]["YES held-out recall"] < 0.6
    assert 0 < hits[0.3] < hits[0.0]
    assert precision[0.3] > precision[0.0] + 0.1


def test_the_command_line(weft, tmp_path):
    model, out = tmp_path / "worries.weft", tmp_path / "out.jsonl"
    trained = weft("train", "phenomena", ROOMS, "--majority", "none", "--dev", ROOMS, "--out", model)
    assert "Cue rules" in trained.stdout
    assert "ignore all history" in trained.stdout
    told = weft("train", "phenomena", ROOMS, "--no-rules", "--recall", "0.5", "--out", model, "--json")
    assert json.loads(told.stdout)["scores"]["worry held-out recall"] >= 0.5
    weft("train", "phenomena", ROOMS, "--majority", "none", "--out", model)
    weft("annotate", ROOMS, "--model", model, "--out", out)
    scored = weft("evaluate", ROOMS, out, "--layer", "phenomena", "--json")
    assert json.loads(scored.stdout)["scores"]["rare labels"]["f1"] > 0.9
    weft("convert", out, tmp_path / "out.chat.tsv")
    back = list(formats.read(tmp_path / "out.chat.tsv"))
    assert [each.id for each in back] == [each.id for each in formats.read(ROOMS)]


def test_gold_and_answers_are_compared_by_instance(detector):
    docs = list(formats.read(ROOMS))
    system = [chat(*_turns(doc)) for doc in docs]
    detector(system)
    outcome = evaluate_documents(docs, system, "phenomena")
    assert outcome.main == "rare labels"
    assert outcome.counts["labels"].total().gold == 48
    assert outcome.counts["worry"].total().gold == outcome.counts["rare labels"].total().gold == 16


def test_bad_data_and_settings_are_told():
    with pytest.raises(DataError, match="one label only, NA"):
        PhenomenaDetector().fit([chat(("a", "x", "", "NA"))])
    with pytest.raises(DataError, match="no labels"):
        PhenomenaDetector().fit([chat(("a", "x"))])
    with pytest.raises(DataError, match="learn from different conversations"):
        PhenomenaDetector().fit([chat(("a", "x", "", "NA"), ("b", "y", "", "POS"))])
    with pytest.raises(ConfigError, match="no label 'MANY'"):
        PhenomenaDetector(PhenomenaSettings(majority="MANY")).fit([chat(("a", "x", "", "NA"), ("b", "y", "", "POS"))])
    with pytest.raises(ConfigError, match="a rule that does nothing gains 0"):
        PhenomenaSettings(threshold=0).check()
    with pytest.raises(ConfigError, match="recall must be"):
        PhenomenaSettings(recall=1).check()


def test_conversations_are_read_and_written(tmp_path):
    table = tmp_path / "own.chat.csv"
    table.write_text('speaker,text,conversation,label\nAnn,"hi, all",1,_\nBob,hey,1,POS\nAnn,bye,2,\n')
    docs = list(formats.read(table))
    assert [doc.text for doc in docs] == ["hi, all\nhey", "bye"]
    assert docs[0].spans["turns"].attributes == {1: {"phenomenon": "POS"}}
    formats.write(docs, tmp_path / "copy.chat.csv")
    assert all(one.same(other) for one, other in zip(docs, formats.read(tmp_path / "copy.chat.csv"), strict=True))
    kit = tmp_path / "utterances.jsonl"
    rows = [
        {"id": "u1", "speaker": "Ann", "root": "r1", "text": "hi", "meta": {"label": "POS"}},
        {"id": "u2", "user": "Bob", "conversation_id": "r1", "text": "ho", "meta": {}},
    ]
    kit.write_text("\n".join(map(json.dumps, rows)))
    (doc,) = formats.read(kit)
    assert (doc.id, doc.text) == ("r1", "hi\nho")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.chat.tsv", "who\twhat\nx\ty\n", "line 1: expected the names of the columns"),
        ("a.chat.tsv", "speaker\ttext\nx\ty\tz\n", "line 2: expected 2 columns, found 3"),
        ("a.chat.tsv", "conversation\tspeaker\ttext\n1\ta\tx\n2\ta\tx\n1\ta\tx\n", "line 4: .* one after another"),
        ("utterances.jsonl", "{\n", "line 1: expected an utterance of ConvoKit as JSON"),
        ("utterances.jsonl", '{"text": "x"}\n', "line 1: expected an utterance with `speaker` and `text`"),
        ("utterances.jsonl", "[]\n", "line 1: expected an utterance with"),
    ],
)
def test_broken_conversations_are_refused_with_their_line(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FormatError, match=said):
        list(formats.read(path))
