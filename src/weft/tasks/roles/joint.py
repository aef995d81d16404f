"""Trees and roles at once (Samuelsson et al. 2008): one parse per predicate, with labels of two parts.

    label of a word's arc = relation / role of the word for this predicate         nsubj/A0, det/_

A sentence with m predicates is parsed m times. Where an argument attaches is not asked: there is one predicate. The
trees are merged word by word: the head and relation that most parses have, the first of several; the share of parses
that have it is a confidence, which a blend of parsers can use. A merged parse has one head per word, but may be no
tree. Tags tell the parser which word is the predicate and which words stand before and after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Heads
from weft.deadline import check
from weft.errors import DataError
from weft.headers import Record, Table
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, checked_settings, option
from weft.storage import Arrays
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.doc import Doc
from weft.text.frames import LAYER, FrameRow, Role, frame_rows, frames_by_sentence, set_frames

HEADER = Record(settings=Table(), parser=Table())
#: Stands between the two parts of a label, and stands for no role.
SEPARATOR, NOTHING = "/", "_"
_ROLES = "|"
#: Longer sentences are labelled in windows: every predicate takes a parse of the whole sentence.
LONGEST = 150


@dataclass
class JointSettings(Settings):
    """Options of a joint labeller."""

    layer: str = option(LAYER, "Layer of frames to learn and to write.")
    epochs: int = option(6, "Passes over the trees.")
    seed: int = option(0, "Random seed.")

    def check(self) -> None:
        if self.epochs < 1:
            raise DataError(f"epochs must be at least 1, got {self.epochs}")


class JointLabeller(Trainable):
    """Labels the arguments of given predicates with trees of its own.

    >>> doc = Doc.from_words([["Dogs", "bark"]] * 3, upos=[["NOUN", "VERB"]] * 3, head=[[2, 0]] * 3,
    ...                      deprel=[["nsubj", "root"]] * 3)
    >>> set_frames(doc, [FrameRow(2 * k + 1, "bark.01", (Role("A0", 2 * k, 2 * k + 1),)) for k in range(3)])
    >>> labeller = JointLabeller()
    >>> report = labeller.fit([doc])
    >>> new = Doc.from_words([["Cats", "bark"]], upos=[["NOUN", "VERB"]])
    >>> set_frames(new, [FrameRow(1, "bark.01")])
    >>> labeller([new])
    >>> [(frame.sense, frame.arguments) for frame in new.frames]
    [('bark.01', [Argument('Cats', 'A0')])]
    """

    task = "roles-joint"
    settings_class = JointSettings
    settings: JointSettings

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        layer = self.settings.layer
        self.requires = ("tokens", "sentences", f"spans/{layer}")
        self.provides = (f"spans/{layer}", f"relations/{layer}")
        self.parser: Parser | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        watch = Stopwatch()
        layer = self.settings.layer
        docs = [doc for doc in training_docs(train) if layer in doc.spans and doc.head is not None]
        copies = [copy for doc in docs for copy, _ in _copies(doc, layer, gold=True)]
        if not copies:
            raise DataError(f"there are no sentences to train on: documents need trees and the layer {layer!r}")
        settings = ParserSettings(epochs=self.settings.epochs, seed=self.settings.seed, p=1.0)
        self.parser = Parser(settings)
        report = self.parser.fit(copies)
        facts = {"parses": len(copies), "labels": report["training"]["relations"]}
        return {"scores": {}, "training": {**facts, **watch.seconds()}}

    def parse(self, doc: Doc) -> tuple[list[FrameRow], Heads, list[str], Floats]:
        """Frames of a document's predicates; and heads, relations and confidences of the merged parse."""
        layer = self.settings.layer
        copies = list(_copies(doc, layer, gold=False))
        self.trained(self.parser).parse([copy for copy, _ in copies])
        votes: list[Counter[tuple[int, str]]] = [Counter() for _ in range(doc.n_words)]
        frames = []
        for copy, (first, frame) in copies:
            assert copy.head is not None
            roles: list[Role] = []
            for k, (head, label) in enumerate(zip(copy.head.tolist(), copy.column("deprel"), strict=True)):
                relation, own = split_label(label)
                votes[first + k][head, relation] += 1
                roles += [Role(name, first + k, first + k + 1) for name in own]
            if frame is not None:
                frames.append(frame._replace(roles=tuple(roles)))
        best = [counts.most_common(1)[0] for counts in votes]
        heads = np.array([head for (head, _), _ in best], dtype=np.int32)
        sure = np.array([count / counts.total() for (_, count), counts in zip(best, votes, strict=True)])
        return frames, heads, [relation for (_, relation), _ in best], sure

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            check()
            if doc.n_words:
                set_frames(doc, self.parse(doc)[0], self.settings.layer)

    def state(self) -> State:
        header, arrays = self.trained(self.parser).state()
        return {"settings": self.saved_settings(), "parser": header}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> JointLabeller:
        HEADER.check(header)
        labeller = cls(JointSettings(**checked_settings(JointSettings, header["settings"])))
        labeller.parser = Parser.from_state(header["parser"], arrays)
        return labeller


def joint_label(relation: str, roles: Sequence[str]) -> str:
    """One label for a relation and roles.

    >>> joint_label("nsubj", ["A0"]), joint_label("det", []), joint_label("obj", ["A2", "A1"])
    ('nsubj/A0', 'det/_', 'obj/A1|A2')
    """
    return relation + SEPARATOR + (_ROLES.join(sorted(roles)) or NOTHING)


def split_label(label: str) -> tuple[str, list[str]]:
    """The relation and the roles of a label; a label without roles is a relation.

    >>> split_label("nsubj:pass/A1|A2"), split_label("det/_"), split_label("det")
    (('nsubj:pass', ['A1', 'A2']), ('det', []), ('det', []))
    """
    relation, separator, roles = label.rpartition(SEPARATOR)
    if not separator:
        return label, []
    return relation, [] if roles == NOTHING else roles.split(_ROLES)


def _copies(doc: Doc, layer: str, gold: bool) -> Iterable[tuple[Doc, tuple[int, FrameRow | None]]]:
    """Every sentence once per predicate, once if it has none, with tags that show the predicate; and its first word."""
    heads = doc.head.tolist() if doc.head is not None else []
    upos, forms = doc.column("upos" if doc.has("upos") else "xpos"), doc.column("form")
    lemmas = doc.column("lemma") if doc.has("lemma") else forms
    relations = doc.column("deprel") if gold else []
    by_sentence = frames_by_sentence(doc, frame_rows(doc, layer))
    for sentence, frames in zip(doc.sentences, by_sentence, strict=True):
        own = slice(sentence.first, sentence.end)
        given: list[FrameRow | None] = list(frames) or [None]
        for frame in given:
            place = -1 if frame is None else frame.predicate - sentence.first
            marked = [_marked(tag, k, place) for k, tag in enumerate(upos[own])]
            columns: dict[str, Any] = {"upos": [upos[own]], "lemma": [lemmas[own]], "xpos": [marked]}
            if gold:
                roles: dict[int, list[str]] = {}
                for label, start, _ in frame.roles if frame is not None else ():
                    roles.setdefault(start - sentence.first, []).append(label)
                columns["head"] = [heads[own]]
                columns["deprel"] = [[joint_label(name, roles.get(k, [])) for k, name in enumerate(relations[own])]]
            yield Doc.from_words([forms[own]], **columns), (sentence.first, frame)


def _marked(tag: str, place: int, predicate: int) -> str:
    if predicate < 0:
        return tag
    return f"{tag}{'=' if place == predicate else '<' if place < predicate else '>'}"
