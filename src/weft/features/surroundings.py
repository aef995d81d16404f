"""What the rest of a document says about a word: a name is often recognized by its other mentions.

For every word with a capital letter, its other occurrences nearby (the same letters, at most `window` words and `reach`
occurrences away on either side, in the same document) give members of a set-valued feature:

    the word before and the word behind each occurrence with a capital letter, in lower case
    that it occurs without a capital, and that it occurs with one where a sentence does not begin
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from weft.arrays import Bools, Ints, Keys
from weft.errors import ConfigError
from weft.features.lexicon import Lexicon
from weft.hashing import hash_strings, join
from weft.kernel import kernel

if TYPE_CHECKING:
    from weft.text.doc import Doc


_BEFORE, _BEHIND, _EDGE, _SMALL, _LARGE = hash_strings(["before", "behind", "edge", "small", "large"])
_TITLE, _UPPER, _MIXED = hash_strings(["title", "upper", "mixed"])  # kinds of casing


@dataclass(frozen=True)
class Surroundings:
    """The other occurrences of words; a field bound to it is set-valued.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["Mr", "Hill", "left"], ["Hill", "slept"], ["A", "hill"]])
    >>> offsets, members = Surroundings().members([doc])
    >>> np.diff(offsets).tolist()  # Hill, twice: two neighbours, it is small elsewhere; the second: large elsewhere
    [0, 3, 0, 4, 0, 0, 0]
    """

    window: int = 600
    reach: int = 6
    _lexicon: Lexicon = field(default_factory=lambda: Lexicon(["lower", "kind"]), repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.window < 1 or self.reach < 1:
            raise ConfigError(f"surroundings need a window and a reach of at least 1, got {self.window}, {self.reach}")

    def members(self, docs: Sequence[Doc]) -> tuple[Ints, Keys]:
        """Members of every word of documents that share a string table, as a ragged array: offsets and keys."""
        sizes = np.array([doc.n_words for doc in docs], dtype=np.int64)
        n = int(sizes.sum())
        if not n:
            return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint64)
        rows, values = self._lexicon.lookup(docs[0].strings, np.concatenate([doc.columns["form"] for doc in docs]))
        lower, kind = values[rows, 0], values[rows, 1]
        capital = (kind == _TITLE) | (kind == _UPPER) | (kind == _MIXED)
        begins = np.zeros(n + 1, dtype=np.bool_)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        for first, doc in zip(starts.tolist(), docs, strict=False):
            begins[first + doc.sentence_offsets] = True
        # Where a sentence begins and in a line of capitals, a capital letter says nothing.
        telling = capital & ~begins[:-1] & (kind != _UPPER)
        last, after = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        _link(lower, starts, np.full(1 << (2 * n).bit_length(), -1, dtype=np.int64), last, after)
        offsets = np.zeros(n + 1, dtype=np.int64)
        members = np.empty(int(capital.sum()) * (4 * self.reach + 2), dtype=np.uint64)
        total = _members(
            np.ascontiguousarray(lower),
            capital,
            telling,
            begins,
            last,
            after,
            self.window,
            self.reach,
            offsets,
            members,
        )
        return offsets, members[:total]

    def names(self, doc: Doc, column: str) -> dict[int, str]:
        """The members that may occur in a document, by their keys."""
        words = sorted({form.lower() for form in doc.column(column)})
        keys = [int(key) for key in hash_strings(words)]
        named = {int(_SMALL): "small elsewhere", int(_LARGE): "large elsewhere"}
        for side, mark in ((_BEFORE, "before"), (_BEHIND, "after")):
            named[int(join(side, _EDGE))] = f"{mark} elsewhere: the edge of a sentence"
            named |= {
                int(join(side, np.uint64(key))): f"{mark} elsewhere: {w}" for key, w in zip(keys, words, strict=True)
            }
        return named


@kernel
def _link(words: Keys, starts: Ints, slots: Ints, last: Ints, after: Ints) -> None:
    """Link every word to the last and the next one that is the same in its document; `slots` are all -1."""
    mask = len(slots) - 1
    for d in range(len(starts) - 1):
        for i in range(starts[d], starts[d + 1]):
            slot = np.int64(join(words[i], np.uint64(d)) >> np.uint64(1)) & mask
            # A slot holds the last place of a word; those of earlier documents stay taken.
            while slots[slot] >= 0 and (slots[slot] < starts[d] or words[slots[slot]] != words[i]):
                slot = (slot + 1) & mask
            if slots[slot] >= 0:
                last[i] = slots[slot]
                after[slots[slot]] = i
            slots[slot] = i


@kernel
def _members(
    lower: Keys,
    capital: Bools,
    telling: Bools,
    begins: Bools,
    last: Ints,
    after: Ints,
    window: int,
    reach: int,
    offsets: Ints,
    members: Keys,
) -> int:
    """Fill the members of every word, each once; `last` and `after` link the occurrences of a word."""
    out = 0
    for i in range(len(lower)):
        if capital[i]:
            begin = out
            for side in range(2):
                j = i
                for _ in range(reach):
                    j = last[j] if side == 0 else after[j]
                    if j < 0 or abs(j - i) > window:
                        break
                    if not capital[j]:
                        out = _put(members, begin, out, _SMALL)
                        continue
                    if telling[j]:
                        out = _put(members, begin, out, _LARGE)
                    out = _put(members, begin, out, join(_BEFORE, _EDGE if begins[j] else lower[j - 1]))
                    out = _put(members, begin, out, join(_BEHIND, _EDGE if begins[j + 1] else lower[j + 1]))
        offsets[i + 1] = out
    return out


@kernel
def _put(members: Keys, begin: int, end: int, key: np.uint64) -> int:
    """Add a key to members[begin:end] unless it is there; the new end."""
    for k in range(begin, end):
        if members[k] == key:
            return end
    members[end] = key
    return end + 1
