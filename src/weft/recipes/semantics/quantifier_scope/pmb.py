"""Negations and noun phrases of the Parallel Meaning Bank, from its clause files.

    b1 NOT b2        % n't [6...9]          the box b2 is negated
    b2 REF x1        % a [10...11]          a referent of the box b2
    b2 boat "n.01" x1  % boat [12...16]     what x1 is

A noun phrase is a referent that some noun describes. It is in the scope of a negation if its box is the negated box or
lies inside it; otherwise it outscopes the negation. A comment gives the word of a clause and its characters.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from weft.errors import DataError
from weft.text.conventions.scope import NEGATION, NP, Node, Scoping

_WORD = re.compile(r"(?<!\S)(\S{1,200}) \[(\d{1,9})\.\.\.(\d{1,9})\]")
_BOX = re.compile(r"b\d+$")
#: Operators that have boxes as arguments.
OPERATORS = ("NOT", "POS", "NEC", "IMP", "DIS", "DUP", "PRP", "REL")


class Clause(NamedTuple):
    """A clause: box, operator or concept, arguments, and the number of its word (-1: none)."""

    box: str
    name: str
    arguments: tuple[str, ...]
    word: int


@dataclass
class ClauseSentence:
    """A sentence: its words with their characters, its clauses, and the line on which it begins."""

    line: int
    words: list[tuple[str, int, int]] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)

    def sorted(self) -> ClauseSentence:
        """The sentence with its words in text order: a clause of two words may name a later one early."""
        ranked = sorted(range(len(self.words)), key=lambda k: self.words[k][1:])
        number = {old: new for new, old in enumerate(ranked)}
        clauses = [clause._replace(word=number.get(clause.word, -1)) for clause in self.clauses]
        return ClauseSentence(self.line, [self.words[k] for k in ranked], clauses)

    @property
    def forms(self) -> list[str]:
        return [form for form, _, _ in self.words]

    def negations(self) -> list[Clause]:
        return [clause for clause in self.clauses if clause.name == "NOT"]

    def within(self, box: str) -> set[str]:
        """A box and all boxes inside it."""
        found, waiting = {box}, [box]
        while waiting:
            outer = waiting.pop()
            for clause in self.clauses:
                boxes = [each for each in clause.arguments if _BOX.match(each)] if clause.box == outer else []
                for inner in boxes:
                    if inner not in found and clause.name in OPERATORS:
                        found.add(inner)
                        waiting.append(inner)
        return found

    def noun_phrases(self) -> list[tuple[Node, str]]:
        """Noun phrases with the boxes of their referents: from the word that introduces one to the last noun."""
        found = []
        for clause in self.clauses:
            if clause.name != "REF" or not clause.arguments[0].startswith("x") or clause.word < 0:
                continue
            referent = clause.arguments[0]
            nouns = [
                other.word
                for other in self.clauses
                if other.arguments[-1:] == (referent,) and len(other.arguments) == 2
                and other.arguments[0].startswith('"n.') and other.word >= 0
            ]  # fmt: skip
            if nouns:
                words = [clause.word, *nouns]
                found.append((Node(min(words), max(words) + 1, NP), clause.box))
        return found

    def scoping(self) -> Scoping | None:
        """The negation of the sentence and its noun phrases; None unless there is exactly one, on a word of its own."""
        negations = self.negations()
        if len(negations) != 1 or negations[0].word < 0:
            return None
        place, inside = negations[0].word, self.within(negations[0].arguments[0])
        nodes: dict[Node, bool] = {}
        for node, box in self.noun_phrases():
            if not node.start <= place < node.end:  # nobody, no one: the negation is part of the phrase
                nodes.setdefault(node, box in inside)
        negation = Node(place, place + 1, NEGATION)
        pairs = [(0, k) if within else (k, 0) for k, within in enumerate(nodes.values(), 1)]
        return Scoping.of([negation, *nodes], pairs) if nodes else None


def read_clauses(path: str | os.PathLike[str]) -> Iterator[ClauseSentence]:
    """The sentences of a clause file, which may be gzipped."""
    opened = gzip.open if Path(path).suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        sentence: ClauseSentence | None = None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                if sentence is not None:
                    yield sentence.sorted()
                sentence = None
                continue
            sentence = sentence or ClauseSentence(number)
            if not line.startswith("%%%"):
                _add(sentence, line.rstrip("\n"), f"{path}, line {number}")
        if sentence is not None:
            yield sentence.sorted()


def _add(sentence: ClauseSentence, line: str, where: str) -> None:
    """Add a clause or a word without one."""
    clause, mark, comment = line.partition("%")
    words = _WORD.findall(comment)
    if mark and comment.strip() and not words:
        raise DataError(f"{where}: expected a word and its characters after %, as in 'dog [4...7]', got {comment!r}")
    for form, start, end in words:
        word = (form, int(start), int(end))
        if int(end) <= int(start):
            raise DataError(f"{where}: the characters of {form!r} end before they begin: {start} to {end}")
        if word not in sentence.words:
            sentence.words.append(word)
    parts = clause.split()
    if not parts:
        return
    if len(parts) < 3 or not _BOX.match(parts[0]):
        raise DataError(f"{where}: expected a box, an operator and its arguments, as in 'b1 REF x1', got {clause!r}")
    places = [(form, int(start), int(end)) for form, start, end in words]
    sentence.clauses.append(
        Clause(parts[0], parts[1], tuple(parts[2:]), sentence.words.index(places[0]) if places else -1)
    )
