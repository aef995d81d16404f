"""Joint tags: every combination of part of speech, language-specific tag and features seen in training.

A joint tag is a triple (UPOS, XPOS, FEATS). Choosing among observed triples keeps the three columns consistent. The
inventory defines the parts of a tag (columns and views, see `weft.learn.chains.candidate_model`) and the tags that a
word may have given its part of speech (`weft.tasks.labelling.candidate_lists`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.headers import Many, Record, Row, Table, Text
from weft.learn.chains.candidate_model import LabelParts
from weft.tasks.labelling.candidate_lists import CandidateLists

#: Agreement is modelled for this many of the most frequent features, and for XPOS if it has at most this many values.
AGREEING, FEW_XPOS = 5, 120


class Tag(NamedTuple):
    """A joint tag; `upos` holds the column that is tagged first, even if it is another column."""

    upos: str
    xpos: str
    feats: str


HEADER = Record(tags=Many(Row((Text(), Text(), Text())), least=1), agreeing=Many(Text()), lists=Table())


class TagInventory:
    """The joint tags of a training set and the candidates of words.

    >>> seen = [("dogs", Tag("NOUN", "NNS", "Number=Plur")), ("dog", Tag("NOUN", "NN", "Number=Sing")),
    ...         ("barks", Tag("VERB", "VBZ", ""))]
    >>> inventory = TagInventory.from_words(seen * 10)
    >>> [inventory.tags[number].xpos for number in inventory.lists.find("dogs", "NOUN")]
    ['NNS']
    >>> [inventory.tags[number].xpos for number in inventory.lists.find("unheard", "NOUN")]
    ['NN', 'NNS']
    """

    def __init__(self, tags: Sequence[Tag], lists: CandidateLists, agreeing: Sequence[str]) -> None:
        self.tags = [Tag(*tag) for tag in tags]
        self.lists, self.agreeing = lists, list(agreeing)
        self.parts, self.column_orders = _parts_of(self.tags, self.agreeing)

    @property
    def upos(self) -> list[str]:
        """The parts of speech."""
        return self.lists.groups

    @classmethod
    def from_words(cls, words: Iterable[tuple[str, Tag]]) -> TagInventory:
        """The inventory of words with their tags."""
        words = list(words)
        counts = Counter(tag for _, tag in words)
        tags = sorted(counts)
        number = {tag: i for i, tag in enumerate(tags)}
        lists = CandidateLists.from_words((form, tag.upos, number[tag]) for form, tag in words)
        return cls(tags, lists, _agreeing(counts))

    def state(self) -> dict[str, Any]:
        """The contents of a model file."""
        return {"tags": [list(tag) for tag in self.tags], "lists": self.lists.state(), "agreeing": self.agreeing}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TagInventory:
        HEADER.check(state, "inventory")
        lists = CandidateLists.from_state(state["lists"], len(state["tags"]))
        return cls(state["tags"], lists, state["agreeing"])


def _agreeing(counts: Counter[Tag]) -> list[str]:
    """The names of the most frequent features."""
    names: Counter[str] = Counter()
    for tag, count in counts.items():
        for feature in tag.feats.split("|"):
            if feature:
                names[feature.partition("=")[0]] += count
    return [name for name, _ in sorted(names.items(), key=lambda item: (-item[1], item[0]))[:AGREEING]]


def _parts_of(tags: Sequence[Tag], agreeing: Sequence[str]) -> tuple[LabelParts, NDArray[np.int8]]:
    """Columns and views of tags, and the order of every column: 0 for parts, 1 for whole tags."""
    several_xpos = len({(tag.upos, tag.xpos) for tag in tags}) > len({tag.upos for tag in tags})
    rows = []
    for tag in tags:
        parts = [f"{tag.upos} {feature}" for feature in tag.feats.split("|")]
        rows.append([*parts, f"{tag.upos} xpos {tag.xpos}"] if several_xpos else parts)
    views: list[list[Any]] = [[(tag.upos, _value(tag.feats, name)) for tag in tags] for name in agreeing]
    if len({tag.xpos for tag in tags}) <= FEW_XPOS:
        views.append([(tag.upos, tag.xpos) for tag in tags])
    return LabelParts.from_names(rows, views)


def _value(feats: str, name: str) -> str:
    for feature in feats.split("|"):
        key, _, value = feature.partition("=")
        if key == name:
            return value
    return ""
