"""Projects from the command line: made, labelled, trained, exported, packed and restored."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from workbench_help import Make, document

import weft
from weft import read as weft_read
from weft.annotate.journal import Journal, fingerprint, questions_of
from weft.errors import ConfigError, DataError
from weft.text import SpanLayer
from weft.text.layers import RelationLayer
from weft.workbench.export import backup, labelled, restore, write_times
from weft.workbench.models import Proposer
from weft.workbench.progress import progress
from weft.workbench.project import Project, read_settings, settings_text
from weft.workbench.retrain import retrain
from weft.workbench.store import ADJUDICATOR, ANSWER, Answer

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
FERRIES = ROOT / "examples" / "ferries.conll"


def say(project: Project, item: int, value: object, person: str = "ada", seconds: float = 2.0) -> None:
    name = f"{person}-{item}-{project.store.last()}"
    project.store.add(Answer(name, item, person, ANSWER, value, seconds))  # type: ignore[arg-type]


def answer_from_files(project: Project, items: int) -> None:
    """Somebody who accepts what the files say."""
    for item in project.store.items()[:items]:
        say(project, item.id, item.given, seconds=1.0 + item.words)


def test_a_corpus_becomes_a_model_from_the_command_line(weft: Weft, tmp_path: Path) -> None:
    folder = tmp_path / "names"
    made = weft("label", "new", folder, FERRIES, "--task", "entities", "--guidelines", ROOT / "LICENSE")
    assert made.returncode == 0, made.stderr
    assert "29 items" in made.stderr
    with Project(folder) as project:
        assert project.settings.labels == ["LOC", "ORG", "PER"]
        assert "MIT" in project.guidelines()
        answer_from_files(project, 29)
        facts = retrain(project)
        assert facts["outcome"] == "first", facts
        assert facts["trained on"] + facts["held out"] == 29
        assert facts["score"] > 0.3
        again = retrain(project)
        assert again["outcome"] in ("better", "too close to tell")
        assert [each["number"] for each in project.store.rounds()] == [1, 2]
    out, model = tmp_path / "out.conll", tmp_path / "names.weft"
    done = weft("label", "export", folder, "--out", out, "--model-out", model, "--times", tmp_path / "times.csv")
    assert done.returncode == 0, done.stderr
    gold, found = (list(_entities(path)) for path in (FERRIES, out))
    assert gold == found
    told = json.loads(weft("label", "status", folder, "--json").stdout)
    assert (told["answers"], told["hours left"]) == (29, 0.0)
    applied = weft("annotate", FERRIES, "--model", model, "--out", tmp_path / "applied.conll")
    assert applied.returncode == 0, applied.stderr


def _entities(path: Path) -> list[object]:
    return [(span.text, span.label) for doc in weft.read(path) for span in doc.entities]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["new", "p", "examples/port.txt", "--task", "spam"], "there is no task 'spam'"),
        (["new", "p", "examples/port.txt"], "needs labels, such as --labels PER,ORG"),
        (["new", "p", "none.txt", "--labels", "A"], "no file"),
        (["new", "p", "examples/port.txt", "--labels", "A,A"], "different names"),
        (["new", "p", "examples/port.txt", "--labels", "A", "--unit", "page"], "sentences or documents"),
        (["new", "p", "examples/port.txt", "--task", "trees", "--labels", "A", "--unit", "document"], "sentence by"),
        (["new", "p", "examples/port.txt", "--labels", "A", "--plan", "x.jsonl"], "--plan is for --task tags"),
        (["new", "p", "examples/port.txt", "--task", "relations", "--labels", "A"], "labels of their own"),
        (["open", "p"], "is not a project"), (["status", "p"], "is not a project"), (["export", "p"], "say what to"),
        (["restore", "none.tar.gz", "p"], "no file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_plain_words_and_leaves_nothing(
    weft: Weft, tmp_path: Path, words: list[str], told: str
) -> None:
    given = [
        str(tmp_path / word) if word == "p" else str(ROOT / word) if word.startswith("ex") and "/" in word else word
        for word in words
    ]
    done = weft("label", *given)
    assert done.returncode != 0
    assert told in " ".join(done.stderr.split())
    assert not (tmp_path / "p").exists()


def test_nobody_can_enter_from_elsewhere_without_people(weft: Weft, tmp_path: Path, make: Make) -> None:
    folder = make().folder
    done = weft("label", "open", folder, "--host", "0.0.0.0")
    assert "add people first" in " ".join(done.stderr.split())
    assert weft("label", "people", folder, "--join", "ada", "--role", "king").returncode != 0
    told = json.loads(weft("label", "people", folder, "--join", "ada", "--role", ADJUDICATOR, "--json").stdout)
    with Project(folder) as project:
        assert project.store.person_of_token(told["token"]) is not None
    assert "removed" in weft("label", "people", folder, "--leave", "ada").stdout


def test_settings_are_read_back_whatever_labels_are_called(make: Make, tmp_path: Path) -> None:
    project = make(labels=['"', "\\", "naïve\x7f", "日本", "a b", "'''"])
    assert read_settings(project.folder / "project.toml") == project.settings
    path = tmp_path / "project.toml"
    for wrong in ('task = "spans"\nlabel = []', "task = 3", "[", 'task = "spans"\nlabels = ["A"]\nper_item = true', ""):
        path.write_text(wrong)
        with pytest.raises((ConfigError, DataError, weft.WeftError)):
            read_settings(path)
    path.write_text(settings_text(project.settings))
    assert read_settings(path) == project.settings


def test_a_plan_opens_as_items_in_its_order(weft: Weft, tmp_path: Path) -> None:
    predicted, work, folder = tmp_path / "p.conllu", tmp_path / "work.jsonl", tmp_path / "plan"
    weft("annotate", ROOT / "examples" / "note.txt", "--probabilities", "--out", predicted)
    weft("label", "plan", predicted, "--minutes", "0.5", "--out", work)
    made = weft("label", "new", folder, predicted, "--task", "tags", "--plan", work)
    assert made.returncode == 0, made.stderr
    rows = [json.loads(line) for line in work.read_text().splitlines()]
    with Project(folder) as project:
        items = project.store.items()
        assert [(item.first, item.end) for item in items] == [(row["start"], row["end"]) for row in rows]
        assert [item.given and item.given["tags"] for item in items] == [row["labels"] for row in rows]
        (first, *_) = items
        project.store.add_person("ada")
        value = {"tags": ["X" if "X" in project.settings.labels else project.settings.labels[0]] * first.words}
        say(project, first.id, value)
        (doc,) = labelled(project, everything=True)
        assert doc.column("upos")[first.first : first.end] == value["tags"]
        assert doc.n_words == 46


def test_the_journal_of_a_review_is_read(weft: Weft, tmp_path: Path) -> None:
    from weft.annotate.review import proposals_of_layer

    journal = tmp_path / "answers.jsonl"
    docs = list(weft_read(FERRIES))
    asked = questions_of([proposals_of_layer(doc, "entities") for doc in docs])
    with Journal(journal, len(asked), fingerprint(asked, docs)) as kept:
        kept.record(asked[0].id, True, 2.0)
        kept.record(asked[1].id, False, 3.0)
    made = weft("label", "new", tmp_path / "p", FERRIES, "--task", "questions", "--journal", journal)
    assert "2 answers" in made.stderr, made.stderr
    with Project(tmp_path / "p") as project:
        assert [(each.person, each.value, each.seconds) for each in project.store.standing()] == [
            ("review", {"accept": True}, 2.0), ("review", {"accept": False}, 3.0),
        ]  # fmt: skip
        assert project.store.counts() == {"items": len(asked), "answers": 2}
        (doc,) = labelled(project)
        assert len(doc.entities) == 1
    words = [FERRIES.with_name("unseen.conll"), "--task", "questions", "--layer", "chunks", "--journal", journal]
    other = weft("label", "new", tmp_path / "q", *words)
    assert other.returncode != 0
    assert not (tmp_path / "q").exists()


def test_export_has_only_what_was_answered_and_only_by_whom_it_is_asked(make: Make) -> None:
    project = make()
    value = {"spans": [{"pieces": [[1, 2], [3, 4]], "label": "LOC"}]}
    say(project, 2, value)
    say(project, 2, {"spans": []}, "bea")
    say(project, 2, value, "cleo")
    (doc,) = labelled(project)
    assert (doc.n_sentences, [row.pieces for row in doc.spans["entities"]]) == (1, [((1, 2), (3, 4))])
    (doc,) = labelled(project, "bea")
    assert len(doc.spans["entities"]) == 0
    (doc,) = labelled(project, everything=True)
    assert (doc.n_sentences, len(doc.spans["entities"])) == (3, 1)
    with pytest.raises(DataError, match="dora has not answered"):
        list(labelled(project, "dora"))


def test_a_backup_restores_the_answers_people_and_settings(make: Make, tmp_path: Path) -> None:
    project = make()
    token = project.store.add_person("ada")
    say(project, 1, {"spans": []})
    packed = tmp_path / "project.tar.gz"
    backup(project, packed)
    say(project, 2, {"spans": []})
    with restore(packed, tmp_path / "again") as again:
        assert [each.item for each in again.store.standing()] == [1]
        assert again.settings == project.settings
        assert again.store.person_of_token(token) is not None
    for wrong in (packed, tmp_path / "x.zip"):
        with pytest.raises(ConfigError):
            backup(project, wrong)
    with pytest.raises(ConfigError, match="not empty"):
        restore(packed, tmp_path / "again")


@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "models/../../evil.weft", "other.txt", "models/x/y.weft"])
def test_a_backup_writes_nothing_outside_its_folder(tmp_path: Path, name: str) -> None:
    packed = tmp_path / "evil.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        entry = tarfile.TarInfo(name)
        entry.size = 4
        file.addfile(entry, io.BytesIO(b"evil"))
    with pytest.raises(DataError, match="not a whole backup"):
        restore(packed, tmp_path / "in")
    assert not (tmp_path / "evil.txt").exists()
    assert not (tmp_path / "in").exists()


def test_a_worse_model_is_not_used(make: Make) -> None:
    """The first model learns names; then all answers but the held-out ones are turned into nonsense."""
    docs = []
    for number in range(60):
        doc = document([["Ada" if number % 2 else "Oslo", "it", "is", "."]], f"d{number}")
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER" if number % 2 else "LOC")])
        docs.append(doc)
    project = make(docs=docs, held_out=0.3)
    answer_from_files(project, 60)
    assert retrain(project)["outcome"] == "first"
    proposer = Proposer(project)
    for item in project.store.items():
        if not item.held:
            say(project, item.id, {"spans": [{"pieces": [[2, 3]], "label": "PER"}]})
    facts = retrain(project)
    assert facts["outcome"] == "worse"
    assert facts["score"] < facts["before"]
    proposer.refresh()
    assert proposer.round == 1


def test_too_few_answers_are_told_and_do_not_stop_the_work(make: Make) -> None:
    project = make()
    say(project, 1, {"spans": []})
    assert retrain(project)["reason"].startswith("training needs 10 answers")
    assert progress(project)["rounds"][0]["outcome"] == "failed"


@pytest.mark.parametrize("task", ["labels", "tags", "trees", "questions", "relations"])
def test_every_kind_of_task_has_a_model_that_learns(make: Make, task: str) -> None:
    docs = []
    for number in range(40):
        doc = document([[["ada", "bea"][number % 2], ["sleeps", "runs"][number // 2 % 2], "."]], f"d{number}")
        doc.set_column("upos", ["A" if number % 2 else "B", "VERB", "PUNCT"])
        doc.set_column("deprel", ["x", "root", "x"])
        doc.head = np.array([2, 0, 2], dtype=np.int32)
        doc.meta["document_labels"] = {"label": ["A" if number % 2 else "B"]}
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "A" if number % 2 else "B")])
        docs.append(doc)
    labels = {"trees": ["root", "x"], "tags": ["A", "B", "VERB", "PUNCT"]}.get(task, ["A", "B"])
    if task == "questions":
        from weft.annotate.mentions import Proposal
        from weft.workbench.items import add_questions

        project = make(task, [], docs=docs)
        add_questions(project, docs, [[[Proposal(0, 1, "A", 1, 1)]] for _ in docs], None)
        for item in project.store.items():
            if "question" in item.shown:
                say(project, item.id, {"accept": item.shown["words"][0][0] == "bea"})
    else:
        project = make(task, labels, docs=docs, relations=["r"] if task == "relations" else [])
        answer_from_files(project, 40)
    facts = retrain(project)
    assert (facts["outcome"], facts["score"]) == ("first", 1.0), facts
    shown = [item for item in project.store.items() if task != "questions" or "question" in item.shown]
    assert all(each is not None and each.round == 1 for each in Proposer(project).propose(shown[:3]))


def test_relations_are_learned_from_answers_and_proposed(make: Make) -> None:
    docs = []
    for number in range(40):
        who, verb, what = (
            ["ada", "bea"][number % 2],
            ["sells", "fears"][number // 2 % 2],
            ["ink", "tea"][number % 3 % 2],
        )
        doc = document([[who, verb, what, "."]], f"d{number}")
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "A"), (2, 3, "B")])
        doc.relations["entities"] = RelationLayer(doc.strings, "entities")
        if verb == "sells":
            doc.relations["entities"].add(0, 1, "deals in")
        docs.append(doc)
    project = make("relations", ["A", "B"], docs=docs, relations=["deals in"])
    answer_from_files(project, 30)
    assert retrain(project)["score"] == 1.0
    proposer = Proposer(project)
    for item in project.store.items(only_open=True):
        (proposal,) = proposer.propose([item])
        assert proposal is not None
        joined = [{"head": 0, "tail": 1, "label": "deals in"}] if item.shown["words"][1][0] == "sells" else []
        assert proposal.value["relations"] == joined


def test_items_that_the_model_is_unsure_of_come_first(make: Make) -> None:
    docs = []
    for number in range(60):
        doc = document([["Ada" if number < 50 else "Zzyzx", "sleeps", "."]], f"d{number}")
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
        docs.append(doc)
    project = make(docs=docs, order="unsure")
    answer_from_files(project, 30)
    assert retrain(project)["outcome"] == "first"
    left = [item.shown["words"][0][0] for item in project.store.items(only_open=True)]
    assert left[:12].count("Zzyzx") >= 6


def test_times_are_what_a_plan_learns_from(make: Make, tmp_path: Path) -> None:
    project = make()
    for item in (1, 2, 3):
        say(project, item, {"spans": []}, seconds=float(item))
    assert write_times(project, tmp_path / "times.csv") == 3
    assert (tmp_path / "times.csv").read_text().splitlines()[:2] == ["words,confidence,seconds", "8,0.5,1.0"]


def test_hours_left_add_up_the_mean_of_predicted_times(make: Make) -> None:
    """Each item takes as long as it has words; the line through the logarithms finds that."""
    docs = [document([["w"] * (2 + number % 7)], f"d{number}") for number in range(60)]
    project = make(docs=docs)
    for item in project.store.items()[:30]:
        say(project, item.id, {"spans": []}, seconds=10.0 * item.words)
    left = sum(10.0 * item.words for item in project.store.items()[30:]) / 3600
    assert progress(project)["hours left"] == pytest.approx(left, abs=0.01)
