"""Why a transition parser attached a word: the templates that fired when it did, against the next best action.

    score(t; c) - score(t'; c) = sum over templates of  w[f, t] - w[f, t']

where c is the configuration in which the arc was built, and t' the best other action that was legal there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weft.features.attributes import attribute
from weft.infer.transitions.constraints import constrain
from weft.infer.transitions.model import TransitionParser
from weft.infer.transitions.state import MOVES
from weft.infer.transitions.templates import place_of, template_names
from weft.infer.transitions.trace import Trace, trace
from weft.infer.transitions.weights import NARROW
from weft.pipeline.explanation import Explanation, Reason
from weft.storage import Arrays
from weft.text.doc import Doc
from weft.text.views import Sentence

if TYPE_CHECKING:
    from weft.tasks.parsing.transitions.parser import Parser

Weights = NDArray[np.int64]


def explain_head(parser: Parser, trained: TransitionParser, doc: Doc, word: int) -> Explanation:
    """Explain the head and the relation of a word.

    >>> from weft.tasks.parsing.transitions.parser import Parser
    >>> train = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
    ...                    deprel=[["nsubj", "root"]] * 2)
    >>> parser = Parser()
    >>> report = parser.fit([train])
    >>> found = explain_head(parser, parser.parser, Doc.from_words([["birds", "sing"]], upos=[["NOUN", "VERB"]]), 0)
    >>> found.decision
    'nsubj of sing (left)'
    """
    sentence = doc[word].sentence
    alone = doc.subset([sentence.index])
    words, offsets = parser.words_of([alone])
    beam = parser.settings.beam
    heads, labels = trained.parse(words, offsets, parser.settings.single_root, None, beam)
    fixed = None if beam == 1 else constrain(offsets, heads)
    found = trace(trained, words, parser.settings.single_root, fixed)
    node = word - sentence.first + 1
    if parser.settings.reverse:
        node = len(sentence) + 1 - node
    step = found.attaching(node)
    names = _Names(parser, trained, alone.sentences[0], labels)
    if step < 0 or heads[node - 1] != found.steps[step, 2]:
        head = int(heads[node - 1])
        decision = names.arc(int(labels[node - 1]), head) if head >= 0 else "root"
        return Explanation.of(parser.task, word, doc[word].form, decision, "", [])
    move, label = trained.actions[int(found.steps[step, 0])][0], int(labels[node - 1])
    action = trained.actions.index((move, label))
    second = _runner_up(trained, found, step, action)
    chosen = names.action(found, step, action)
    if second is None:
        return Explanation.of(parser.task, word, doc[word].form, chosen, "", [])
    reasons = _reasons(trained, found, step, action, second, names)
    return Explanation.of(parser.task, word, doc[word].form, chosen, names.action(found, step, second), reasons)


def _runner_up(trained: TransitionParser, found: Trace, step: int, action: int) -> int | None:
    """The best other action whose move was legal."""
    legal = int(found.steps[step, 1])
    others = [a for a, (move, _) in enumerate(trained.actions) if (legal >> move) & 1 and a != action]
    return max(others, key=lambda a: int(found.scores[step, a]), default=None)


def _reasons(
    trained: TransitionParser, found: Trace, step: int, action: int, second: int, names: _Names
) -> list[Reason]:
    """What every template adds to two actions; weights are whole numbers."""
    arrays = trained.arrays or {}
    program = trained.model.program
    reasons = []
    for t, (name, key) in enumerate(zip(names.templates, found.keys[step].tolist(), strict=True)):
        if key:
            table = "moves" if t < program.moves_end else "labels"
            row = _row(arrays, table, key >> 32, NARROW + len(trained.actions))
            weights = [float(row[trained.actions[a][0]] + row[NARROW + a]) for a in (action, second)]
            reasons.append(Reason(name, names.value(name, found.nodes[step]), *weights))
    return reasons


def _row(arrays: Arrays, table: str, half: int, width: int) -> Weights:
    """The weights of a feature: of moves first, then of actions."""
    row = np.zeros(width, dtype=np.int64)
    place = np.flatnonzero(arrays[f"{table}/features"] == half)
    if not len(place):
        return row
    if table == "moves":
        row[:NARROW] = arrays["moves/weights"][place[0]]
        return row
    counts = arrays["labels/counts"].astype(np.int64)
    first = int(counts[: place[0]].sum())
    own = slice(first, first + int(counts[place[0]]))
    row[arrays["labels/columns"][own]] = arrays["labels/weights"][own]
    return row


class _Names:
    """Actions, nodes and values of templates as text, for one sentence with its parse."""

    def __init__(
        self, parser: Parser, trained: TransitionParser, sentence: Sentence, labels: NDArray[np.int32]
    ) -> None:
        self.parser, self.trained, self.labels = parser, trained, labels
        self.words = list(sentence)[::-1] if parser.settings.reverse else list(sentence)
        self.templates = template_names(trained.templates)
        plain = trained.system.plain
        own = {} if plain is None else {number: name for name, number in plain.numbers().items()}
        self.moves = {**dict(enumerate(MOVES)), **own}

    def arc(self, label: int, head: int) -> str:
        """A relation and its head."""
        name = self.parser.labels[label] if label >= 0 else "attached"
        return f"{name} of {self.form(head)}" if head > 0 else name

    def form(self, node: int) -> str:
        return "ROOT" if node == 0 else self.words[node - 1].form

    def action(self, found: Trace, step: int, action: int) -> str:
        """An action in words; the one that was taken with its head."""
        move, label = self.trained.actions[action]
        if move == self.trained.actions[int(found.steps[step, 0])][0]:
            return f"{self.arc(label, int(found.steps[step, 2]))} ({self.moves[move]})"
        return f"{self.moves[move]} {self.parser.labels[label] if label >= 0 else ''}".strip()

    def value(self, template: str, nodes: NDArray[np.int32]) -> str:
        """What a template read: the fields of words, and the words themselves for anything else."""
        return "|".join(self._atom(atom, nodes) for atom in template.split("|"))

    def _atom(self, atom: str, nodes: NDArray[np.int32]) -> str:
        place, _, field = atom.partition(".")
        read = [self._node(name, nodes) for name in re.split(r"[~^]|==?", place)]
        if len(read) == 1 and read[0] > 0 and (field == "L" or field in self.parser.fields):
            return self._field(field, read[0])
        return " ".join("none" if node < 0 else self.form(node) for node in read)

    def _node(self, name: str, nodes: NDArray[np.int32]) -> int:
        return int(nodes[place_of(name, self.trained.model.program, self.trained.system)])

    def _field(self, field: str, node: int) -> str:
        if field == "L":
            label = int(self.labels[node - 1])
            return self.parser.labels[label] if label >= 0 else "none"
        column, _, name = self.parser.fields[field].partition(".")
        read = attribute(name or "form", self.parser.clusters, self.parser.native)
        return read(self.words[node - 1].get(column)) or "none"
