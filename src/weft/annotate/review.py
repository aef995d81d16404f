"""The review: questions answered one by one with single keys, and documents with the accepted mentions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from weft.annotate.journal import Decision, Journal, Question, words_of
from weft.annotate.mentions import Proposal
from weft.annotate.simulate import resolve
from weft.errors import FormatError
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

YES, NO, UNDO, SKIP, QUIT = "y", "n", "u", "s", "q"
#: Shows a question and the number of questions left, and returns the key that was pressed.
Ask = Callable[[Question, int], str]


class Progress(NamedTuple):
    """The progress of a review."""

    questions: int
    answered: int
    accepted: int
    seconds: float
    sentences: int  # with at least one answer

    @property
    def seconds_a_sentence(self) -> float:
        return self.seconds / self.sentences if self.sentences else 0.0


def review(
    questions: Sequence[Question], journal: Journal, ask: Ask, clock: Callable[[], float] = time.monotonic
) -> None:
    """Ask every unanswered question, until all are answered or the reviewer quits.

    Keys: y accepts, n rejects, u undoes the last answer, s skips the question for now, q quits.
    """
    skipped: set[str] = set()
    while True:
        left = [each for each in questions if each.id not in journal.decisions and each.id not in skipped]
        if not left:
            return
        question = left[0]
        started = clock()
        key = ask(question, len(left)).lower()
        if key == QUIT:
            return
        if key in (YES, NO):
            journal.record(question.id, key == YES, clock() - started)
        elif key == SKIP:
            skipped.add(question.id)
        elif key == UNDO:
            taken_back = journal.undo()
            skipped.discard(taken_back or "")


def progress(questions: Sequence[Question], decisions: Mapping[str, Decision]) -> Progress:
    """Count the answers."""
    answered = [(each, decisions[each.id]) for each in questions if each.id in decisions]
    return Progress(
        len(questions),
        len(answered),
        sum(decision.accept for _, decision in answered),
        round(sum(decision.seconds for _, decision in answered), 3),
        len({(each.doc, each.sentence) for each, _ in answered}),
    )


def write_accepted(
    docs: Sequence[Doc],
    questions: Sequence[Question],
    decisions: Mapping[str, Decision],
    layer: str = "entities",
    overlaps: str = "longest",
) -> None:
    """Add a layer of accepted mentions to every document; missed mentions stay missed."""
    layers = [SpanLayer(doc.strings) for doc in docs]
    yes = [each for each in questions if each.id in decisions and decisions[each.id].accept]
    for (number, sentence), group in groupby(yes, key=lambda each: (each.doc, each.sentence)):
        first = int(docs[number].sentence_offsets[sentence])
        for start, end, label in resolve([each.proposal for each in group], overlaps):
            layers[number].add([(first + start, first + end)], label)
    for doc, accepted in zip(docs, layers, strict=True):
        doc.spans[layer] = accepted


def proposals_of_layer(doc: Doc, layer: str) -> list[list[Proposal]]:
    """The existing spans of a document as proposals."""
    from weft.annotate.mentions import mentions_of

    return [[Proposal(*mention, 1, 1) for mention in sentence] for sentence in mentions_of(doc, layer)]


def question_lines(questions: Iterable[Question], docs: Sequence[Doc]) -> Iterable[str]:
    """Questions as lines of JSON, for other programs to answer."""
    for question in questions:
        before, own, behind = (" ".join(words) for words in words_of(question, docs))
        values = {"question": question.id, "label": question.proposal.label, "votes": question.proposal.votes,
                  "before": before, "mention": own, "behind": behind}  # fmt: skip
        yield json.dumps(values, ensure_ascii=False) + "\n"


def read_answers(path: Path, questions: Sequence[Question]) -> list[tuple[str, bool, float]]:
    """Answers from lines of JSON: `{"question": ..., "accept": true}`, with `seconds` if known."""
    known = {question.id for question in questions}
    answers: list[tuple[str, bool, float]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values: Any = json.loads(line)
            name, accept = values["question"], values["accept"]
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(str(path), number, '{"question": ..., "accept": true or false}', line[:60]) from error
        if name not in known or not isinstance(accept, bool):
            raise FormatError(str(path), number, "a question name and true or false", f"{name!r}, {accept!r}")
        answers.append((name, accept, float(values.get("seconds", 0.0))))
    return answers
