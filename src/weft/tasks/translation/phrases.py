"""Phrase pairs of an aligned bitext, with all places where each was seen.

Spans [i1, i2) of the source and [j1, j2) of the target are a phrase pair if links lead from one into the other, and
none from one out of the other. Unaligned words at the borders of the target span make further pairs. The places are
kept, so that tables of parts of the bitext come from one extraction, in which a pair has the same number everywhere.

Spans are numbered as nodes of a trie over all n-grams of a side: node 0 is empty, node 1 + w is the word w, and nodes
of k + 1 words are ordered by the node of the first k and the last word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.infer.decoding.reordering import DISCONTINUOUS, MONOTONE, SWAP
from weft.kernel import kernel
from weft.ragged import sentence_of
from weft.text.bitext import Links, check_links

#: The links of a phrase pair are the bits of one number, so phrases have at most seven words.
LONGEST = 7
_BEGINS, _ENDS, _BEGINS_SWAPPED, _ENDS_SWAPPED = 1, 2, 4, 8


class Side(NamedTuple):
    """One side of a bitext as numbers."""

    words: list[str]  #: by number
    text: Ids
    offsets: Ints

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Side:
        """Number the words of sentences in the order in which they occur.

        >>> side = Side.of([["a", "b"], ["b"]])
        >>> side.words, side.text.tolist(), side.offsets.tolist()
        (['a', 'b'], [0, 1, 1], [0, 2, 3])
        """
        numbers: dict[str, int] = {}
        text: list[int] = []
        ends = [0]
        for sentence in sentences:
            text.extend(numbers.setdefault(word, len(numbers)) for word in sentence)
            ends.append(len(text))
        return cls(list(numbers), np.array(text, np.int32), np.array(ends, np.int64))


@dataclass(frozen=True, eq=False)
class Grams:
    """All n-grams of a text up to a length, numbered as a trie.

    >>> grams = Grams.of(Side.of([["a", "b", "a", "b"]]), 2)
    >>> grams.at.tolist(), grams.parent.tolist(), grams.word.tolist()
    ([[1, 2, 1, 2], [3, 4, 3, -1]], [0, 0, 0, 1, 2], [0, 0, 1, 1, 0])
    """

    at: Ids  #: the node of the n-gram of k + 1 words that begins at a position: at[k, position], -1 for none
    parent: Ids  #: of every node
    word: Ids  #: the last word of every node

    @classmethod
    def of(cls, side: Side, longest: int) -> Grams:
        n, n_words = len(side.text), len(side.words)
        rest = np.repeat(side.offsets[1:], np.diff(side.offsets)) - np.arange(n)
        at = np.full((longest, n), -1, np.int32)
        parents, words = [np.zeros(1 + n_words, np.int32)], [np.arange(-1, n_words, dtype=np.int32)]
        words[0][0] = 0
        at[:1] = 1 + side.text
        nodes = 1 + n_words
        for k in range(1, longest):
            places = np.flatnonzero(rest > k)
            keys = at[k - 1, places].astype(np.int64) * n_words + side.text[places + k]
            distinct, inverse = np.unique(keys, return_inverse=True)
            at[k, places] = nodes + inverse.reshape(-1)
            parents.append((distinct // max(1, n_words)).astype(np.int32))
            words.append((distinct % max(1, n_words)).astype(np.int32))
            nodes += len(distinct)
        return cls(at, np.concatenate(parents), np.concatenate(words))

    def closed(self, nodes: Ids) -> Bools:
        """Which nodes are some of these, their beginnings, or words."""
        kept = self.parent == 0
        while len(nodes):
            kept[nodes] = True
            nodes = np.unique(self.parent[nodes])
            nodes = nodes[~kept[nodes]]
        return kept

    def sentences_with(self, offsets: Ints, keep: Bools) -> Ints:
        """In how many of the sentences to keep every node occurs."""
        owner = sentence_of(offsets)
        found = np.zeros(len(self.parent), np.int64)
        for row in self.at:
            places = np.flatnonzero((row >= 0) & keep[owner])
            keys = np.unique(row[places].astype(np.int64) * len(offsets) + owner[places])
            found += np.bincount(keys // len(offsets), minlength=len(found))
        return found


@dataclass(frozen=True, eq=False)
class Extraction:
    """All phrase pairs of a bitext; pair p translates the source node `pair_source[p]` into `pair_target[p]`.

    >>> extraction = extract([["das", "Haus"]], [["the", "house"]], Links.of([[(0, 0), (1, 1)]]))
    >>> [extraction.shown(pair) for pair in range(extraction.n_pairs)]
    [('das', 'the'), ('Haus', 'house'), ('das Haus', 'the house')]
    """

    source: Side
    target: Side
    links: Links
    source_grams: Grams
    target_grams: Grams
    spans: Ids  #: of every place: sentence, i1, i2, j1, j2
    pair: Ids  #: of every place
    inside: Ints  #: of every place: the links of the pair, bit 7 i + j for words i and j of the two phrases
    before: NDArray[np.uint8]  #: of every place: its orientation to the phrase before it
    after: NDArray[np.uint8]  #: and that of the phrase after it
    pair_source: Ids
    pair_target: Ids

    @property
    def n_pairs(self) -> int:
        return len(self.pair_source)

    @property
    def n_sentences(self) -> int:
        return len(self.source.offsets) - 1

    @property
    def sentence(self) -> Ids:
        """The sentence pair of every place."""
        found: Ids = self.spans[:, 0]
        return found

    def shown(self, pair: int) -> tuple[str, str]:
        """The two phrases of a pair as text."""
        return (
            " ".join(self.source.words[word] for word in _words_of(self.source_grams, int(self.pair_source[pair]))),
            " ".join(self.target.words[word] for word in _words_of(self.target_grams, int(self.pair_target[pair]))),
        )


def extract(
    source: Iterable[Sequence[str]], target: Iterable[Sequence[str]], links: Links, longest: int = LONGEST
) -> Extraction:
    """All phrase pairs of up to so many words on each side."""
    if not 1 <= longest <= LONGEST:
        raise ConfigError(f"phrases can have 1 to {LONGEST} words, got {longest}")
    sides = Side.of(source), Side.of(target)
    if len(sides[0].offsets) != len(sides[1].offsets):
        raise DataError(
            f"{len(sides[0].offsets) - 1:,} source and {len(sides[1].offsets) - 1:,} target sentences; "
            "a bitext needs equal numbers"
        )
    check_links(links, sides[0].offsets, sides[1].offsets)
    spans = _spans(sides[0], sides[1], links, longest)
    grams = Grams.of(sides[0], longest), Grams.of(sides[1], longest)
    first = sides[0].offsets[spans[:, 0]] + spans[:, 1], sides[1].offsets[spans[:, 0]] + spans[:, 3]
    nodes = [
        own.at[spans[:, k + 1] - spans[:, k] - 1, at].astype(np.int64)
        for own, at, k in zip(grams, first, (1, 3), strict=True)
    ]
    n_target = len(grams[1].parent)
    distinct, pair = np.unique(nodes[0] * n_target + nodes[1], return_inverse=True)
    inside = np.zeros(len(spans), np.int64)
    before, after = np.zeros(len(spans), np.uint8), np.zeros(len(spans), np.uint8)
    _look_inside(spans, links.offsets, links.source, links.target, inside)
    corners = np.zeros(_cells(sides[0].offsets, sides[1].offsets), np.uint8)
    _orient(spans, sides[0].offsets, sides[1].offsets, corners, before, after)
    return Extraction(
        *sides, links, *grams, spans, pair.reshape(-1).astype(np.int32), inside, before, after,
        (distinct // n_target).astype(np.int32), (distinct % n_target).astype(np.int32),
    )  # fmt: skip


def _words_of(grams: Grams, node: int) -> list[int]:
    found = []
    while node:
        found.append(int(grams.word[node]))
        node = int(grams.parent[node])
    return found[::-1]


def _cells(source: Ints, target: Ints) -> int:
    return int(((np.diff(source) + 1) * (np.diff(target) + 1)).max(initial=1))


def _spans(source: Side, target: Side, links: Links, longest: int) -> Ids:
    """Sentence, i1, i2, j1 and j2 of all places of phrase pairs."""
    widest = [int(np.diff(side.offsets).max(initial=0)) for side in (source, target)]
    room = 4 * (len(source.text) + 16)
    ranges = np.empty((2, 2, max(widest) + 1), np.int32)
    while True:
        rows = np.empty((room, 5), np.int32)
        n = _consistent(
            source.offsets, target.offsets, links.offsets, links.source, links.target, longest, ranges, rows
        )  # fmt: skip
        if n <= room:
            return rows[:n].copy()
        room = n


@kernel
def _consistent(
    source_offsets: Ints, target_offsets: Ints, link_offsets: Ints, link_source: Ids, link_target: Ids, longest: int,
    ranges: Ids, rows: Ids,
) -> int:  # fmt: skip
    """Write the places of phrase pairs, as far as there is room for them; returns their number.

    ranges[0] holds the first and last target word that source words are linked to, ranges[1] the other direction.
    """
    n = 0
    for s in range(len(source_offsets) - 1):
        length = source_offsets[s + 1] - source_offsets[s]
        other = target_offsets[s + 1] - target_offsets[s]
        for i in range(length):
            ranges[0, 0, i], ranges[0, 1, i] = other, -1
        for j in range(other):
            ranges[1, 0, j], ranges[1, 1, j] = length, -1
        for k in range(link_offsets[s], link_offsets[s + 1]):
            i, j = link_source[k], link_target[k]
            ranges[0, 0, i], ranges[0, 1, i] = min(ranges[0, 0, i], j), max(ranges[0, 1, i], j)
            ranges[1, 0, j], ranges[1, 1, j] = min(ranges[1, 0, j], i), max(ranges[1, 1, j], i)
        for i1 in range(length):
            low, high = other, -1
            for i2 in range(i1, min(length, i1 + longest)):
                low, high = min(low, ranges[0, 0, i2]), max(high, ranges[0, 1, i2])
                if high < 0:
                    continue
                if high - low >= longest:
                    break
                leaves = False
                for j in range(low, high + 1):
                    if ranges[1, 1, j] >= 0 and (ranges[1, 0, j] < i1 or ranges[1, 1, j] > i2):
                        leaves = True
                        break
                if leaves:
                    continue
                j1 = low
                while j1 >= 0 and (j1 == low or ranges[1, 1, j1] < 0) and high - j1 < longest:
                    j2 = high
                    while j2 < other and (j2 == high or ranges[1, 1, j2] < 0) and j2 - j1 < longest:
                        if n < len(rows):
                            rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3], rows[n, 4] = s, i1, i2 + 1, j1, j2 + 1
                        n += 1
                        j2 += 1
                    j1 -= 1
    return n


@kernel
def _look_inside(spans: Ids, link_offsets: Ints, link_source: Ids, link_target: Ids, inside: Ints) -> None:
    for row in range(len(spans)):
        s, bits = spans[row, 0], np.int64(0)
        for k in range(link_offsets[s], link_offsets[s + 1]):
            i, j = link_source[k] - spans[row, 1], link_target[k] - spans[row, 3]
            if 0 <= i < spans[row, 2] - spans[row, 1] and 0 <= j < spans[row, 4] - spans[row, 3]:
                bits |= np.int64(1) << (7 * i + j)
        inside[row] = bits


@kernel
def _orient(
    spans: Ids, source_offsets: Ints, target_offsets: Ints, corners: NDArray[np.uint8],
    before: NDArray[np.uint8], after: NDArray[np.uint8],
) -> None:  # fmt: skip
    """The orientations of places to phrases that may stand beside them in the target."""
    begin = 0
    while begin < len(spans):
        s = spans[begin, 0]
        end = begin
        length = source_offsets[s + 1] - source_offsets[s]
        other = target_offsets[s + 1] - target_offsets[s]
        wide = other + 1
        for cell in range((length + 1) * wide):
            corners[cell] = 0
        corners[0] |= _ENDS
        corners[length * wide + other] |= _BEGINS
        while end < len(spans) and spans[end, 0] == s:
            i1, i2, j1, j2 = spans[end, 1], spans[end, 2], spans[end, 3], spans[end, 4]
            corners[i1 * wide + j1] |= _BEGINS
            corners[i2 * wide + j2] |= _ENDS
            corners[i2 * wide + j1] |= _BEGINS_SWAPPED
            corners[i1 * wide + j2] |= _ENDS_SWAPPED
            end += 1
        for row in range(begin, end):
            i1, i2, j1, j2 = spans[row, 1], spans[row, 2], spans[row, 3], spans[row, 4]
            before[row] = after[row] = DISCONTINUOUS
            if corners[i1 * wide + j1] & _ENDS:
                before[row] = MONOTONE
            elif corners[i2 * wide + j1] & _ENDS_SWAPPED:
                before[row] = SWAP
            if corners[i2 * wide + j2] & _BEGINS:
                after[row] = MONOTONE
            elif corners[i1 * wide + j2] & _BEGINS_SWAPPED:
                after[row] = SWAP
        begin = end
