"""Instances: all lines of one speaker in one thread of a conversation, with the words of every line.

An instance is what gets a label. Its features are binary, word by word, but it remembers the lines that every word
comes from: rules (`weft.tasks.phenomena.rules`) suppress lines, and a word leaves the vector only if all of its lines
are suppressed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.errors import ConfigError
from weft.text.conventions.conversations import LAYER, Turn, turns_of
from weft.text.doc import Doc

#: Words, clitics and punctuation of chat; `'s` and `n't` are words of their own, runs of one mark are one mark.
_TOKEN = re.compile(r"\w+?(?=n't\b)|n't\b|'\w{1,3}\b|\w+|([^\w\s])\1*")
#: Where windows of two lines are counted: in the lines of the instance, or in those of the whole conversation.
WINDOWS = ("instance", "chat")


def chat_tokens(line: str) -> list[str]:
    """The lower-cased words, clitics and marks of a line.

    >>> chat_tokens("It's FINE, I don't mind!!")
    ['it', "'s", 'fine', ',', 'i', 'do', "n't", 'mind', '!']
    """
    found = (match[0] for match in _TOKEN.finditer(line.lower().replace("’", "'")))
    return [word if word[0].isalnum() or len(word) < 2 or word[1].isalnum() else word[0] for word in found]


class Instance(NamedTuple):
    """The lines of one speaker: their texts, their places in the conversation, who spoke where, and the label."""

    conversation: str
    speaker: str
    thread: str
    texts: tuple[str, ...]
    places: tuple[int, ...]
    label: str = ""
    turns: tuple[int, ...] = ()  #: numbers of the turns in the document


def instances_of(docs: Iterable[Doc], block: int = 0, order: Mapping[str, int] | None = None) -> list[Instance]:
    """The instances of documents, in the order of their first lines.

    `block` cuts the lines of a speaker into instances of at most that many lines (0: does not). The label of an
    instance is that of its lines; where lines have different ones, `order` (the rarest first) decides.

    >>> doc = Doc("A: my scan is tomorrow\\nB: good luck!\\nA: i am nervous")
    >>> [(each.speaker, each.texts) for each in instances_of([doc])]
    [('A', ('my scan is tomorrow', 'i am nervous')), ('B', ('good luck!',))]
    """
    found: list[Instance] = []
    for number, doc in enumerate(docs):
        groups: dict[tuple[str, str, int], list[tuple[int, Turn]]] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for place, turn in enumerate(turns_of(doc)):
            key = (turn.speaker, turn.thread)
            groups.setdefault((*key, counts[key] // block if block else 0), []).append((place, turn))
            counts[key] += 1
        for (speaker, thread, _), lines in groups.items():
            said = [turn.label for _, turn in lines if turn.label]
            label = min(said, key=lambda each: (order or {}).get(each, 0)) if said else ""
            found.append(Instance(
                doc.id or str(number), speaker, thread, tuple(turn.text for _, turn in lines),
                tuple(place for place, _ in lines), label, tuple(place for place, _ in lines),
            ))  # fmt: skip
    return found


def rarest_first(labels: Iterable[str]) -> dict[str, int]:
    """The rank of every label, the rarest first; equally rare ones by name.

    >>> rarest_first(["NA", "NA", "POS", "NA", "NEG", "POS"])
    {'NEG': 0, 'POS': 1, 'NA': 2}
    """
    counts = Counter(label for label in labels if label)
    return {label: rank for rank, label in enumerate(sorted(counts, key=lambda each: (counts[each], each)))}


@dataclass(frozen=True)
class Lines:
    """The words of the lines of instances as numbers.

    Instance i has the lines `first[i]` to `first[i + 1]`; line l has the place `places[l]` and the words
    `words[starts[l] : starts[l + 1]]`, each once, rising.
    """

    first: NDArray[np.int64]
    places: NDArray[np.int64]
    starts: NDArray[np.int64]
    words: Ids
    size: int  #: of the vocabulary

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def of(cls, instances: Sequence[Instance], vocabulary: Mapping[str, int], window: str = "instance") -> Lines:
        """The lines of instances; words that the vocabulary does not have are left out."""
        if window not in WINDOWS:
            raise ConfigError(f"window must be one of {', '.join(WINDOWS)}, got {window!r}")
        first, places, starts, words = [0], [], [0], []
        for instance in instances:
            for number, (text, place) in enumerate(zip(instance.texts, instance.places, strict=True)):
                places.append(place if window == "chat" else number)
                words += sorted({vocabulary[word] for word in chat_tokens(text) if word in vocabulary})
                starts.append(len(words))
            first.append(len(places))
        return cls(
            np.array(first, dtype=np.int64), np.array(places, dtype=np.int64), np.array(starts, dtype=np.int64),
            np.array(words, dtype=np.int32), len(vocabulary),
        )  # fmt: skip

    def subset(self, chosen: NDArray[np.int64]) -> Lines:
        """The lines of some instances."""
        rows = [np.arange(self.first[i], self.first[i + 1]) for i in chosen]
        lines = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        words = [self.words[self.starts[line] : self.starts[line + 1]] for line in lines]
        sizes = np.array([len(each) for each in words], dtype=np.int64)
        return Lines(
            np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64),
            self.places[lines], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate(words).astype(np.int32) if len(words) else np.zeros(0, dtype=np.int32), self.size,
        )  # fmt: skip

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of lines of every instance."""
        return np.diff(self.first)


def vocabulary_of(instances: Iterable[Instance]) -> dict[str, int]:
    """Numbers of all words of instances, in the order of the alphabet."""
    words = {word for instance in instances for text in instance.texts for word in chat_tokens(text)}
    return {word: number for number, word in enumerate(sorted(words))}


__all__ = ["LAYER", "WINDOWS", "Instance", "Lines", "chat_tokens", "instances_of", "rarest_first", "vocabulary_of"]
