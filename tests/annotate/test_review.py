"""The review: nothing is lost when it is killed, and what it writes can be read again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import weft as package
from weft.annotate.journal import Journal, Question, fingerprint, questions_of
from weft.annotate.mentions import Proposal
from weft.annotate.review import progress, proposals_of_layer, question_lines, read_answers, review, write_accepted
from weft.errors import DataError, FormatError
from weft.text import Doc, SpanLayer


@pytest.fixture
def docs():
    doc = Doc.from_words([["SREBP-1a", "stimulated", "StAR", "promoter", "activity"], ["No", "gene", "here"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "GENE"), (2, 3, "GENE"), (2, 4, "GENE"), (6, 7, "GENE")])
    return [doc]


@pytest.fixture
def questions(docs):
    return questions_of([proposals_of_layer(doc, "entities") for doc in docs])


def keys(*pressed):
    """A reviewer who presses these keys, and notes what was asked."""
    left = list(pressed)
    seen = []

    def ask(question: Question, number: int) -> str:
        seen.append((question.id, number))
        return left.pop(0)

    return ask, seen


def test_one_key_a_question_with_undo_skip_and_quit(tmp_path, docs, questions):
    ask, seen = keys("y", "y", "u", "n", "s", "?", "q")
    times = iter(range(100))
    with Journal(tmp_path / "j", len(questions), "x") as journal:
        review(questions, journal, ask, clock=lambda: float(next(times)))
        assert [journal.decisions[q.id].accept for q in questions[:2]] == [True, False]
        state = progress(questions, journal.decisions)
    names = [question.id for question in questions]
    assert [name for name, _ in seen] == [names[i] for i in (0, 1, 2, 1, 2, 3, 3)]
    assert [number for _, number in seen[:2]] == [4, 3]
    assert (state.questions, state.answered, state.accepted, state.sentences) == (4, 2, 1, 1)
    assert state.seconds == 2.0


def test_accepted_mentions_are_written_and_overlaps_resolved(tmp_path, docs, questions):
    with Journal(tmp_path / "j", len(questions), "x") as journal:
        review(questions, journal, keys("y", "y", "y", "n")[0])
        for overlaps, expected in (("longest", [(0, 1), (2, 4)]), ("votes", [(0, 1), (2, 4)]),
                                   ("keep", [(0, 1), (2, 3), (2, 4)])):  # fmt: skip
            write_accepted(docs, questions, journal.decisions, "found", overlaps)
            assert [row.pieces[0] for row in docs[0].spans["found"]] == expected


@pytest.mark.must_show("semi-automated-ne-annotation", 7)
def test_a_journal_cut_at_any_byte_keeps_every_whole_decision(tmp_path, docs, questions):
    path = tmp_path / "j.jsonl"
    mark = fingerprint(questions, docs)
    with Journal(path, len(questions), mark) as journal:
        review(questions, journal, keys("y", "n", "y", "n")[0])
        full = dict(journal.decisions)
    data = path.read_bytes()
    head = data.index(b"\n") + 1
    for size in range(head, len(data) + 1):
        path.write_bytes(data[:size])
        lines = data[head:size].count(b"\n")
        with Journal(path, len(questions), mark) as journal:
            assert len(journal.decisions) == lines
            review(questions, journal, lambda question, _: "y" if full[question.id].accept else "n")
            assert {name: d.accept for name, d in journal.decisions.items()} == {n: d.accept for n, d in full.items()}
        with Journal(path, len(questions), mark) as again:
            assert len(again.decisions) == len(questions)


@pytest.mark.must_show("semi-automated-ne-annotation", 7)
@pytest.mark.parametrize("name", ["out.jsonl", "out.conll", "out"])
def test_what_is_written_reads_back_the_same(tmp_path, docs, questions, name):
    with Journal(tmp_path / "j", len(questions), "x") as journal:
        review(questions, journal, keys("y", "n", "y", "n")[0])
        write_accepted(docs, questions, journal.decisions, "entities")
    path = tmp_path / name
    kind = "brat" if name == "out" else None
    package.write(docs, path, format=kind)
    (again,) = package.read(path, format=kind)
    if kind == "brat":
        wanted = ["SREBP-1a", "StAR promoter"]
        assert [again.text[slice(*row.pieces[0])] for row in again.spans["entities"]] == wanted
    else:
        assert list(again.spans["entities"]) == list(docs[0].spans["entities"])


def test_a_journal_of_other_questions_is_refused(tmp_path, docs, questions):
    path = tmp_path / "j"
    Journal(path, 4, "one").close()
    with pytest.raises(DataError, match="a different review"):
        Journal(path, 4, "two")
    other = [Question(0, 0, Proposal(0, 2, "GENE", 1, 1))]
    assert fingerprint(other, docs) != fingerprint(questions, docs)
    path.write_text('{"weft-review": 1, "fingerprint": "one"}\nnot json\n')
    with pytest.raises(FormatError, match="2"):
        Journal(path, 4, "one")


def test_questions_and_answers_go_through_json(tmp_path, docs, questions):
    lines = [json.loads(line) for line in question_lines(questions, docs)]
    assert lines[2]["mention"] == "StAR promoter"
    assert lines[2]["before"] == "SREBP-1a stimulated"
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps({"question": line["question"], "accept": True}) + "\n" for line in lines))
    assert [name for name, _, _ in read_answers(path, questions)] == [question.id for question in questions]
    path.write_text('{"question": "9.9", "accept": true}\n')
    with pytest.raises(FormatError, match="a question name"):
        read_answers(path, questions)


def test_the_command_reviews_resumes_and_writes(weft, examples, tmp_path):
    common = ("label", "review", examples / "unseen.conll", "--layer", "chunks", "--journal", "j.jsonl", "--json")
    first = weft(*common, stdin="y\nn\n")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["answered"] == 2
    asked = weft(*common, "--questions", "open.jsonl")
    assert asked.returncode == 0, asked.stderr
    left = [json.loads(line) for line in (tmp_path / "open.jsonl").read_text().splitlines()]
    assert len(left) == json.loads(first.stdout)["questions"] - 2
    answers = "".join(json.dumps({"question": each["question"], "accept": True}) + "\n" for each in left)
    (tmp_path / "answers.jsonl").write_text(answers)
    done = weft(*common, "--answers", "answers.jsonl", "--out", "new.conll")
    figures = json.loads(done.stdout)
    assert figures["answered"] == figures["questions"]
    new = list(package.read(tmp_path / "new.conll"))
    assert sum(len(doc.spans["chunks"]) for doc in new) == figures["accepted"] == figures["questions"] - 1


@pytest.mark.must_show("semi-automated-ne-annotation", 7)
def test_a_killed_review_goes_on_where_it_stopped(examples, tmp_path):
    journal = tmp_path / "j.jsonl"
    command = [sys.executable, "-m", "weft", "label", "review", str(examples / "unseen.conll"), "--layer", "chunks",
               "--journal", str(journal), "--json"]  # fmt: skip
    environment = {**os.environ, "WEFT_QUIET": "1"}
    running = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    assert running.stdin is not None
    running.stdin.write(b"y\nn\ny\n")
    running.stdin.flush()
    for _ in range(300):
        if journal.exists() and journal.read_bytes().count(b"\n") == 4:
            break
        time.sleep(0.1)
    running.send_signal(signal.SIGKILL)
    running.wait()
    again = subprocess.run(command, input=b"n\n", capture_output=True, env=environment, check=True)
    figures = json.loads(again.stdout)
    assert (figures["answered"], figures["accepted"]) == (4, 2)


def test_a_proposer_trained_on_the_command_line_asks(weft, examples, tmp_path):
    trained = weft(
        "train",
        "chunker",
        examples / "chunks.conll",
        "--method",
        "proposer",
        "--out",
        "p.weft",
        "--layer",
        "chunks",
        "--miss",
        "5",
        "--epochs",
        "2",
    )
    assert trained.returncode == 0, trained.stderr
    done = weft("label", "review", examples / "unseen.conll", "--model", "p.weft", "--layer", "chunks",
                "--journal", "j.jsonl", "--out", "new.conll", "--json", stdin="y\n" * 500)  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["questions"] == figures["accepted"] > 5
