"""Predicates of documents as arrays: where they stand, their lemmas, senses and gold arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Ints
from weft.features.predicates import TreeWords
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, frame_rows, head_of_span

#: What joins several roles of one word for one predicate into one label.
JOINT = "|"


@dataclass
class Predicates:
    """The predicates of a batch; words are numbered over all its documents.

    `arguments[i]` maps the words of predicate i to their labels; several roles of a word are one label: `ACT|PAT`.
    """

    words: TreeWords
    places: Ints
    lemmas: list[str]
    tags: list[str]
    senses: list[str] = field(default_factory=list)
    arguments: list[dict[int, str]] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)  # the number of every predicate's document

    def __len__(self) -> int:
        return len(self.places)

    @classmethod
    def of(cls, docs: Sequence[Doc], layer: str, marked: Sequence[Ints | None] | None = None) -> Predicates:
        """The predicates in the frames of documents, or at the words given for a document."""
        words = TreeWords.of(docs)
        places: list[int] = []
        found = cls(words, np.zeros(0, dtype=np.int64), [], [])
        for number, (doc, first) in enumerate(zip(docs, words.firsts, strict=False)):
            given = marked[number] if marked is not None else None
            frames = frame_rows(doc, layer) if given is None else [FrameRow(int(word), "") for word in given]
            if not frames:
                continue
            lemmas, tags = lemmas_of(doc), tags_of(doc)
            for frame in frames:
                places.append(first + frame.predicate)
                found.lemmas.append(lemmas[frame.predicate])
                found.tags.append(tags[frame.predicate])
                found.senses.append(frame.sense)
                found.arguments.append({first + word: label for word, label in joined_roles(doc, frame.roles).items()})
                found.documents.append(number)
        found.places = np.array(places, dtype=np.int64)
        return found


def lemmas_of(doc: Doc) -> list[str]:
    """The lemmas of a document in small letters, forms where it has none.

    >>> lemmas_of(Doc.from_words([["Dogs", "bark"]], lemma=[["Dog", ""]]))
    ['dog', 'bark']
    """
    forms = doc.column("form")
    if not doc.has("lemma"):
        return [form.lower() for form in forms]
    return [(lemma or form).lower() for lemma, form in zip(doc.column("lemma"), forms, strict=True)]


def tags_of(doc: Doc) -> list[str]:
    """Universal tags, or those of the language where there are none."""
    return doc.column("upos" if doc.has("upos") else "xpos")


def joined_roles(doc: Doc, roles: Sequence[Role]) -> dict[int, str]:
    """The label of every argument's head word; several labels of one word become one.

    >>> joined_roles(Doc.from_words([["a", "b"]]), [Role("PAT", 0, 1), Role("ACT", 0, 1)])
    {0: 'ACT|PAT'}
    """
    labels: dict[int, set[str]] = {}
    for label, start, end in roles:
        labels.setdefault(head_of_span(doc, start, end)[0], set()).add(label)
    return {word: JOINT.join(sorted(own)) for word, own in labels.items()}


class Groups:
    """Which model a predicate belongs to: groups of prefixes of tags, separated by commas; `*` takes the rest.

    >>> groups = Groups("V AUX,*")
    >>> groups.numbers(["VERB", "NOUN", "AUX"]).tolist(), len(groups)
    ([0, 1, 0], 2)
    """

    def __init__(self, text: str) -> None:
        self.prefixes = [tuple(part.split()) for part in text.split(",")]

    def __len__(self) -> int:
        return len(self.prefixes)

    def numbers(self, tags: Sequence[str]) -> Ints:
        """The group of every tag; tags that no group has belong to the last one."""
        known = {tag: self._number(tag) for tag in set(tags)}
        return np.array([known[tag] for tag in tags], dtype=np.int64)

    def _number(self, tag: str) -> int:
        for number, own in enumerate(self.prefixes):
            if "*" in own or tag.startswith(own):
                return number
        return len(self.prefixes) - 1
