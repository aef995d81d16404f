"""The committee of parsers: four transition systems, each in both directions, and their blend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.evaluate.counts import Counts
from weft.evaluate.trees.ud import evaluate_ud
from weft.infer.trees.projectivity import is_tree
from weft.recipes.corpora.parsing import copy_of
from weft.tasks.parsing.blend import Blender
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.doc import Doc

SYSTEMS = {
    "arc-standard": "encode-path", "arc-eager": "encode-path", "covington-projective": "lift", "covington": "lift",
}  # fmt: skip
#: The parsers by name: system and direction.
PARSERS = {
    f"{system}, {direction}": (system, direction == "right to left")
    for system in SYSTEMS
    for direction in ("left to right", "right to left")
}


def train_parser(train: Sequence[Doc], name: str, epochs: int, seed: int = 0) -> Parser:
    """A parser of the committee; systems that build projective trees only restore crossing arcs by head and path."""
    system, reverse = PARSERS[name]
    parser = Parser(
        ParserSettings(system=system, reverse=reverse, nonprojective=SYSTEMS[system], epochs=epochs, seed=seed)
    )
    parser.fit(train)
    return parser


def parsed(parser: Parser, docs: Sequence[Doc]) -> list[Doc]:
    """Copies of documents with the trees of a parser."""
    found = [copy_of(doc) for doc in docs]
    parser(found)
    return found


def las(gold: Sequence[Doc], system: Sequence[Doc]) -> Counts:
    """Labelled attachments per sentence."""
    return evaluate_ud(gold, system).counts["LAS"]


@dataclass
class Majority:
    """The head that most parsers give each word, without regard to the rest of the sentence."""

    accuracy: float
    broken: int  # sentences whose majority heads are no tree
    sentences: int


def majority(gold: Sequence[Doc], parses: Sequence[Sequence[Doc]]) -> Majority:
    """Majority of heads and relations, the first parser's of several: what a blend by words would be.

    >>> def tree(heads):
    ...     return [Doc.from_words([["a", "b", "c"]], head=[heads], deprel=[["x"] * 3])]
    >>> majority(tree([2, 0, 2]), [tree([2, 0, 2]), tree([2, 3, 0]), tree([0, 3, 2])]).broken
    1
    """
    right = words = broken = sentences = 0
    for docs in zip(gold, *parses, strict=True):
        own = [list(zip(_heads(doc), _relations(doc), strict=True)) for doc in docs]
        chosen = [Counter(votes).most_common(1)[0][0] for votes in zip(*own[1:], strict=True)]
        right += sum(one == other for one, other in zip(chosen, own[0], strict=True))
        words += len(chosen)
        for sentence in docs[0].sentences:
            heads = np.array([head for head, _ in chosen[sentence.first : sentence.end]], np.int32)
            broken += not is_tree(heads)
            sentences += 1
    return Majority(right / max(words, 1), broken, sentences)


def _heads(doc: Doc) -> list[int]:
    return [] if doc.head is None else doc.head.tolist()


def _relations(doc: Doc) -> list[str]:
    return [name.split(":")[0] for name in doc.column("deprel")]


@dataclass
class Blends:
    """Blends of the same parses, by name, with weights from other documents."""

    weights: dict[str, Blender]

    @classmethod
    def learn(cls, gold: Sequence[Doc], parses: Sequence[Sequence[Doc]]) -> Blends:
        """One vote each, labelled accuracy by tag, and weights learned from there."""
        return cls(
            {
                "one vote each": Blender.equal(len(parses)),
                "LAS weights": Blender.learn(gold, parses, rounds=0),
                "learned weights": Blender.learn(gold, parses),
            }
        )

    def blend(self, parses: Sequence[Sequence[Doc]]) -> dict[str, list[Doc]]:
        return {name: blender.blend(parses) for name, blender in self.weights.items()}

    def with_joint(self, parses: Sequence[Sequence[Doc]], joint: Sequence[Doc], sure: Floats) -> list[Doc]:
        """The learned blend with a ninth input, whose votes count as much as their confidence."""
        return self.weights["learned weights"].blend([*parses, joint], confidences=sure)
