"""The journal of a review: one line of JSON per decision, on disk before the next question is asked.

    {"weft-review": 1, "questions": 12, "fingerprint": "..."}
    {"question": "0.3.5-7.GENE", "accept": true, "seconds": 1.2}
    {"question": "0.3.5-7.GENE", "undo": true}

An interrupted review, even a killed one, resumes where it stopped: a truncated last line is dropped, all others count.
A file that is damaged elsewhere, or is no journal at all, is refused with the number of the line and left unchanged.
The fingerprint prevents a journal from being continued with other questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from weft.annotate.mentions import Proposal
from weft.errors import DataError, FormatError
from weft.line_log import LineLog, json_object
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
        self._log = LineLog(path)
        try:
            self._read(fingerprint)
            if not self._log.lines:
                self._log.append({"weft-review": 1, "questions": questions, "fingerprint": fingerprint})
        except BaseException:
            self._log.close()
            raise

    def _read(self, fingerprint: str) -> None:
        for number, line in enumerate(self._log.lines, start=1):
            try:
                values = json_object(line)
                if number == 1:
                    self._check(values, fingerprint)
                else:
                    self._take(values)
            except (ValueError, OverflowError) as error:
                raise self._damage(number, str(error)) from error
        if not self._log.is_cut:
            raise self._damage(len(self._log.lines) + 1, "a line without an end")
        # The line being written when the review was killed: its answer was never acknowledged.
        self._log.drop_rest()

    def _check(self, values: dict[str, Any], fingerprint: str) -> None:
        if "weft-review" not in values:
            raise ValueError("a file that does not begin as a journal does")
        if values["weft-review"] != 1 or values.get("fingerprint") != fingerprint:
            raise DataError(
                f"{self.path} is the journal of a different review (other files, models or options); "
                "use another journal"
            )

    def _damage(self, number: int, found: str) -> FormatError:
        if number == 1:
            return FormatError(str(self.path), 1, "the journal of a review", found, "Use another journal")
        hint = "Delete the line, and its question is asked again; all other answers count"
        return FormatError(str(self.path), number, "a decision of `weft label review`", found, hint)

    def _take(self, values: dict[str, Any]) -> None:
        name, undo, accept, seconds = (values.get(key) for key in ("question", "undo", "accept", "seconds"))
        if not isinstance(name, str):
            raise ValueError("an answer without its question")
        if undo:
            self.decisions.pop(name, None)
            self._order = [each for each in self._order if each != name]
            return
        if not isinstance(accept, bool) or not isinstance(seconds, int | float | None):
            raise ValueError("an answer other than true or false, or a time that is not a number")
        self.decisions[name] = Decision(accept, float(seconds or 0.0))
        self._order = [*(each for each in self._order if each != name), name]

    def record(self, question: str, accept: bool, seconds: float = 0.0) -> None:
        """Record a decision; it is on disk when this returns."""
        values = {"question": question, "accept": accept, "seconds": round(seconds, 3)}
        self._log.append(values)
        self._take(values)

    def undo(self) -> str | None:
        """Undo the last decision and return it."""
        if not self._order:
            return None
        values = {"question": self._order[-1], "undo": True}
        self._log.append(values)
        self._take(values)
        return str(values["question"])

    def close(self) -> None:
        self._log.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
