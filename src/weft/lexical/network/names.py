"""The names of vertices, found by equality or as superstrings of a phrase, on the borders of tokens.

All suffixes of all names, cut after five tokens, are sorted; the names that contain a phrase are then one range of
suffixes, which narrows with each further token:

    mario basler           basler
    mario gomez            gomez
    super mario bros       mario basler | mario bros | mario gomez      <- the range of "mario"

A name belongs to one vertex or several, in the order of their frequency, each with the sense key of that reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from weft.arrays import Ids, Ints
from weft.declared import Array, Arrays, Stored
from weft.errors import ModelError
from weft.graph.strings import Strings
from weft.kernel import kernel
from weft.text.words import word_spans

#: The longest phrase that is looked up, in tokens.
LONGEST = 5
ARRAYS = (
    Array("name_offsets", "int64", ("names+1",), offsets_of="tokens"),
    Array("tokens", "int32", ("tokens",), low=1, below="words"),
    Array("order", "int32", ("tokens",), below="tokens"),
    Array("sense_offsets", "int64", ("names+1",), offsets_of="senses"),
    Array("vertices", "int32", ("senses",), below="vertices"),
)
Senses = Mapping[str, Sequence[tuple[int, str]]]


def tokens_of(name: str) -> list[str]:
    """The tokens of a name, as the index has them: without case, `_` as a space.

    >>> tokens_of("FC_Bayern Munich"), tokens_of("F.C. Bayern")
    (['fc', 'bayern', 'munich'], ['f.c.', 'bayern'])
    """
    text = name.replace("_", " ")
    return [text[start:end].casefold() for start, end in word_spans(text)]


class Found(NamedTuple):
    """Phrases of a text that occur in names: first token, length, and the range of suffixes that begin with them."""

    start: Ints
    length: Ints
    low: Ints
    high: Ints


class NameIndex:
    """Names of one language and the vertices that they may mean.

    >>> index = NameIndex.of({"Mario Gomez": [(0, "")], "Mario": [(2, "")], "striker": [(1, "striker%1:18:00::")]})
    >>> index.exact("mario"), index.containing("mario"), index.exact("STRIKER")
    ([2], [0, 2], [1])
    """

    def __init__(
        self, words: Strings, name_offsets: Ints, tokens: Ids, order: Ids, sense_offsets: Ints, vertices: Ids,
        keys: Strings,
    ) -> None:  # fmt: skip
        self.words, self.name_offsets, self.tokens, self.order = words, name_offsets, tokens, order
        self.sense_offsets, self.vertices, self.keys = sense_offsets, vertices, keys
        self._known: dict[str, int] = {}

    @classmethod
    def of(cls, senses: Senses) -> NameIndex:
        """The index of names with their vertices and sense keys; names that differ in case or spacing are one."""
        merged: dict[tuple[str, ...], dict[int, str]] = {}
        for name, own in senses.items():
            tokens = tuple(tokens_of(name))
            if tokens:
                known = merged.setdefault(tokens, {})
                for vertex, key in own:
                    known.setdefault(vertex, key)
        words: dict[str, int] = {"": 0}  # 0 stands beyond the end of a name
        flat = np.fromiter(
            (words.setdefault(token, len(words)) for tokens in merged for token in tokens), dtype=np.int32
        )
        name_offsets = _offsets(map(len, merged))
        columns = [_shifted(flat, name_offsets, shift) for shift in range(LONGEST)]
        order = np.lexsort(columns[::-1]).astype(np.int32)
        return cls(
            Strings.of(words), name_offsets, flat, order, _offsets(map(len, merged.values())),
            np.fromiter((vertex for own in merged.values() for vertex in own), dtype=np.int32),
            Strings.of(key for own in merged.values() for key in own.values()),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.name_offsets) - 1

    @cached_property
    def _tables(self) -> tuple[Ids, Ids, Ids, Ids]:
        """The suffixes' tokens by column in sorted order, the name of every suffix, and where it begins in it."""
        name = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.name_offsets))
        columns = np.stack([_shifted(self.tokens, self.name_offsets, shift)[self.order] for shift in range(LONGEST)])
        within = np.arange(len(self.tokens)) - self.name_offsets[name]
        sizes = np.diff(self.name_offsets).astype(np.int32)
        return np.ascontiguousarray(columns), name[self.order], within[self.order].astype(np.int32), sizes

    def ids(self, tokens: Iterable[str]) -> Ids:
        """The numbers of tokens, -1 for unknown ones."""
        found = []
        for token in tokens:
            number = self._known.get(token)
            if number is None:
                number = self.words.find(token) if token else -1
                if len(self._known) < 200_000:
                    self._known[token] = number
            found.append(number)
        return np.array(found, dtype=np.int32)

    def phrases(self, tokens: Ids, ends: Ids) -> Found:
        """All phrases of at most five tokens that occur in a name; none goes beyond `ends` of its first token."""
        columns = self._tables[0]
        out = np.empty((4, LONGEST * len(tokens)), dtype=np.int64)
        count = _find(columns, np.ascontiguousarray(tokens), np.ascontiguousarray(ends), out)
        return Found(*out[:, :count])

    def whole(self, low: int, high: int, length: int) -> int:
        """The name that is the phrase of a range, -1 if there is none."""
        _, name, within, sizes = self._tables
        # The suffix that ends with the phrase sorts before all longer ones, so a whole name is near the front.
        for row in range(low, high):
            if sizes[name[row]] - within[row] > length:
                return -1
            if within[row] == 0:
                return int(name[row])
        return -1

    def names_of(self, low: int, high: int) -> Ids:
        """The names of the suffixes of a range, each once."""
        return np.unique(self._tables[1][low:high])

    def senses(self, name: int) -> tuple[list[int], list[str]]:
        """The vertices of a name and their sense keys, most frequent first."""
        first, end = int(self.sense_offsets[name]), int(self.sense_offsets[name + 1])
        return self.vertices[first:end].tolist(), [self.keys[row] for row in range(first, end)]

    def vertices_of(self, names: Ids) -> Ids:
        """The vertices of several names, each once."""
        rows = [self.vertices[self.sense_offsets[name] : self.sense_offsets[name + 1]] for name in names.tolist()]
        return np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int32)

    def _range(self, phrase: str) -> tuple[int, int, int]:
        tokens = self.ids(tokens_of(phrase))
        found = self.phrases(tokens, np.full(len(tokens), len(tokens), dtype=np.int32))
        for start, length, low, high in zip(*(each.tolist() for each in found), strict=True):
            if start == 0 and length == len(tokens):
                return low, high, length
        return 0, 0, len(tokens)

    def exact(self, phrase: str) -> list[int]:
        """The vertices with a name equal to a phrase, most frequent first."""
        name = self.whole(*self._range(phrase))
        return self.senses(name)[0] if name >= 0 else []

    def containing(self, phrase: str) -> list[int]:
        """The vertices with a name that contains a phrase, on the borders of tokens."""
        low, high, _ = self._range(phrase)
        found: list[int] = self.vertices_of(self.names_of(low, high)).tolist()
        return found

    def state(self) -> Arrays:
        """The arrays of a file."""
        arrays: Arrays = {
            "name_offsets": self.name_offsets, "tokens": self.tokens, "order": self.order,
            "sense_offsets": self.sense_offsets, "vertices": self.vertices,
        }  # fmt: skip
        for prefix, strings in (("words", self.words), ("keys", self.keys)):
            arrays |= {f"{prefix}/{name}": array for name, array in strings.state().items()}
        return arrays

    @classmethod
    def from_state(cls, arrays: Arrays, n_vertices: int) -> NameIndex:
        """Restore an index of names of so many vertices."""
        stored = Stored.of(arrays)
        words = Strings.from_state(stored.under("words/"))
        taken = stored.take(*ARRAYS, words=len(words), vertices=n_vertices)
        keys = Strings.from_state(stored.under("keys/"), len(taken["vertices"]))
        if (np.bincount(taken["order"], minlength=len(taken["tokens"])) != 1).any():
            raise ModelError("the array 'order' must hold every position of the names once: the file is damaged")
        return cls(
            words, taken["name_offsets"], taken["tokens"], taken["order"], taken["sense_offsets"], taken["vertices"],
            keys,
        )  # fmt: skip


def _offsets(sizes: Iterable[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(np.fromiter(sizes, dtype=np.int64))]).astype(np.int64)


def _shifted(tokens: Ids, offsets: Ints, shift: int) -> Ids:
    """For every position of the names, the token so many places later in the same name, 0 beyond its end."""
    ends = np.repeat(offsets[1:], np.diff(offsets))
    places = np.arange(len(tokens)) + shift
    return np.where(places < ends, tokens[np.minimum(places, max(len(tokens) - 1, 0))], 0).astype(np.int32)


@kernel
def _find(columns: Ids, tokens: Ids, ends: Ids, out: Ints) -> int:
    count = 0
    for start in range(len(tokens)):
        low, high = 0, columns.shape[1]
        for k in range(min(columns.shape[0], ends[start] - start)):
            token = tokens[start + k]
            if token < 1:
                break
            first, last = low, high
            while first < last:
                middle = (first + last) // 2
                if columns[k, middle] < token:
                    first = middle + 1
                else:
                    last = middle
            low = first
            last = high
            while first < last:
                middle = (first + last) // 2
                if columns[k, middle] <= token:
                    first = middle + 1
                else:
                    last = middle
            high = first
            if low == high:
                break
            out[0, count] = start
            out[1, count] = k + 1
            out[2, count] = low
            out[3, count] = high
            count += 1
    return count
