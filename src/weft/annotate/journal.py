"""The journal of a review: one line of JSON per decision, on disk before the next question is asked.

    {"weft-review": 1, "questions": 12, "fingerprint": "..."}
    {"question": "0.3.5-7.GENE", "accept": true, "seconds": 1.2}
    {"question": "0.3.5-7.GENE", "undo": true}

An interrupted review, even a killed one, resumes where it stopped: a truncated last line is dropped, all others count.
The fingerprint prevents a journal from being continued with other questions.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from weft.annotate.mentions import Proposal
from weft.errors import DataError, FormatError
from weft.text.doc import Doc


class Question(NamedTuple):
    """Whether the words `start:end` of a sentence are a mention."""

    doc: int
    sentence: int
    proposal: Proposal

    @property
    def id(self) -> str:
        """The question's name in journals."""
        each = self.proposal
        return f"{self.doc}.{self.sentence}.{each.start}-{each.end}.{each.label}"


class Decision(NamedTuple):
    """An answer, and how long it took in seconds."""

    accept: bool
    seconds: float


def questions_of(proposals: Sequence[Sequence[Sequence[Proposal]]]) -> list[Question]:
    """Proposals by document and sentence as questions, in order."""
    return [
        Question(d, s, proposal)
        for d, sentences in enumerate(proposals)
        for s, candidates in enumerate(sentences)
        for proposal in candidates
    ]


def words_of(question: Question, docs: Sequence[Doc]) -> tuple[list[str], list[str], list[str]]:
    """The words before, in and after the candidate in its sentence."""
    doc = docs[question.doc]
    first, end = doc.sentence_offsets[question.sentence : question.sentence + 2].tolist()
    forms = doc.strings.strings(doc.columns["form"][first:end])
    start, stop = question.proposal.start, question.proposal.end
    return forms[:start], forms[start:stop], forms[stop:]


def fingerprint(questions: Iterable[Question], docs: Sequence[Doc]) -> str:
    """A number that identifies these questions about these words."""
    digest = hashlib.sha256()
    for question in questions:
        text = " ".join(word for part in words_of(question, docs) for word in part)
        digest.update(f"{question.id}\t{text}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


class Journal:
    """Decisions by question name, stored in a file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "review.jsonl"
    ...     with Journal(path, 2, "ab") as journal:
    ...         journal.record("0.0.0-1.X", True, 0.5)
    ...     with Journal(path, 2, "ab") as journal:
    ...         journal.decisions
    {'0.0.0-1.X': Decision(accept=True, seconds=0.5)}
    """

    def __init__(self, path: Path, questions: int, fingerprint: str) -> None:
        self.path = path
        self.decisions: dict[str, Decision] = {}
        self._order: list[str] = []
        exists = path.exists() and path.stat().st_size > 0
        if exists:
            self._read(fingerprint)
        self._file = path.open("ab")
        if not exists:
            self._write({"weft-review": 1, "questions": questions, "fingerprint": fingerprint})

    def _read(self, fingerprint: str) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.decode("utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                values = json.loads(line)
                if number == 1:
                    if values["weft-review"] != 1 or values["fingerprint"] != fingerprint:
                        raise DataError(
                            f"{self.path} is the journal of a different review (other files, models or options); "
                            "use another journal"
                        )
                else:
                    self._take(values)
            except (ValueError, KeyError, TypeError) as error:
                raise FormatError(str(self.path), number, "a decision of `weft label`", str(error)) from error
        if len(whole) < len(data):
            # The line being written when the review was killed: its answer was never acknowledged.
            with self.path.open("r+b") as file:
                file.truncate(len(whole))

    def _take(self, values: dict[str, Any]) -> None:
        name = str(values["question"])
        if values.get("undo"):
            self.decisions.pop(name, None)
            self._order = [each for each in self._order if each != name]
        else:
            self.decisions[name] = Decision(bool(values["accept"]), float(values.get("seconds", 0.0)))
            self._order = [*(each for each in self._order if each != name), name]

    def _write(self, values: dict[str, Any]) -> None:
        self._file.write(json.dumps(values, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def record(self, question: str, accept: bool, seconds: float = 0.0) -> None:
        """Record a decision; it is on disk when this returns."""
        values = {"question": question, "accept": accept, "seconds": round(seconds, 3)}
        self._write(values)
        self._take(values)

    def undo(self) -> str | None:
        """Undo the last decision and return it."""
        if not self._order:
            return None
        values = {"question": self._order[-1], "undo": True}
        self._write(values)
        self._take(values)
        return str(values["question"])

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
