"""Segments as labels: a sentence has any set of typed segments, each any non-empty set of its words.

    score(t, i_1 < ... < i_m) = start[i_1, t] + sum_a link[i_a, i_{a+1}, t] + end[i_m, t]

The score is a sum over *consecutive selected words*, however far apart, so that the k best of the T (2^n - 1) segments
are found by dynamic programming: every word keeps its k best beginnings, merged lazily from those of the words before,
in O(n (g + k log g) T) for gaps bounded by g. A set of segments scores the sum of its members; the best set holds those
of the k best that score above a threshold. Restrictions (no overlap, no embedding) are met as in McDonald, Crammer and
Pereira (2005): going down the list of the k best, a segment that conflicts with one already accepted is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, InferenceError
from weft.kernel import kernel


class Segment(NamedTuple):
    """A type (by number) and the rising numbers of its words in the sentence."""

    type: int
    words: tuple[int, ...]


#: For every sentence of a batch its segments.
SegmentSets = list[list[Segment]]


@dataclass(frozen=True)
class Restrictions:
    """Restrictions on the segments of one sentence.

    `gap`: consecutive words of a segment are at most so far apart (1: contiguous only, 0: any distance). Without
    `overlap` no word is in two segments; without `embedding` no segment's words are all in another.

    >>> Restrictions.read("contiguous no-overlap")
    Restrictions(gap=1, overlap=False, embedding=True)
    >>> Restrictions(embedding=False).accept([Segment(0, (1, 2)), Segment(0, (2,)), Segment(0, (2, 3))])
    [0, 2]
    """

    gap: int = 0
    overlap: bool = True
    embedding: bool = True

    @classmethod
    def read(cls, text: str, gap: int = 0) -> Restrictions:
        """Restrictions from their names: contiguous, no-overlap, no-embedding, none."""
        names = set(text.replace(",", " ").split()) - {"none"}
        unknown = names - {"contiguous", "no-overlap", "no-embedding"}
        if unknown or gap < 0:
            wrong = f"{', '.join(sorted(unknown))}" if unknown else f"a gap of {gap}"
            raise ConfigError(f"restrictions are contiguous, no-overlap, no-embedding or none, and a gap >= 0: {wrong}")
        return cls(1 if "contiguous" in names else gap, "no-overlap" not in names, "no-embedding" not in names)

    def reach(self, segment: Segment) -> bool:
        """Whether the gap bound lets a segment exist."""
        return not self.gap or all(i - j <= self.gap for j, i in pairwise(segment.words))

    def accept(self, segments: Sequence[Segment]) -> list[int]:
        """Which segments stay when the list is gone down and those in conflict with an accepted one are dropped."""
        if self.overlap and self.embedding:
            return list(range(len(segments)))
        kept: list[int] = []
        masks: list[int] = []
        covered = 0
        for number, segment in enumerate(segments):
            mask = 0
            for word in segment.words:
                mask |= 1 << word
            if not self.overlap:
                if mask & covered:
                    continue
            elif any(mask & other in (mask, other) for other in masks):
                continue
            kept.append(number)
            masks.append(mask)
            covered |= mask
        return kept


class SegmentScores(NamedTuple):
    """Scores of one sentence's edges: `start[word, type]`, `end[word, type]`, `link[from, to, type]`."""

    start: Floats
    end: Floats
    link: Floats


class SegmentParts:
    """A number for some edges of a batch: parallel arrays of sentence, type, from (-1: start), to (n: end), value."""

    __slots__ = ("edges", "values")

    def __init__(self, edges: Ints, values: Floats) -> None:
        self.edges, self.values = edges, values

    def __add__(self, other: SegmentParts) -> SegmentParts:
        return SegmentParts(np.concatenate([self.edges, other.edges]), np.concatenate([self.values, other.values]))

    def __sub__(self, other: SegmentParts) -> SegmentParts:
        return self + other.scale(-1.0)

    def scale(self, factor: float) -> SegmentParts:
        return SegmentParts(self.edges, self.values * factor)

    def inner(self, other: SegmentParts) -> float:
        mine, theirs = self.sums(), other.sums()
        return sum(value * theirs[edge] for edge, value in mine.items() if edge in theirs)

    def sums(self) -> dict[tuple[int, ...], float]:
        """The number of every edge that has one."""
        found: dict[tuple[int, ...], float] = {}
        for edge, value in zip(map(tuple, self.edges.tolist()), self.values.tolist(), strict=True):
            found[edge] = found.get(edge, 0.0) + value
        return found


class MultilabelSegments:
    """Scores of a batch of sentences; satisfies `weft.learn.protocol.Structure` where sets of segments can.

    A solution is a list of segments a sentence. `kbest` gives the best single segments, each as a set of one.
    `size` is how many of the best segments are looked at in a decision (0: as many as the sentence has words).

    >>> scores = SegmentScores(np.zeros((3, 1)), np.zeros((3, 1)), np.array([[[0.], [-1.], [2.]]] + [[[-1.]] * 3] * 2))
    >>> segments = MultilabelSegments([scores], threshold=0.5)
    >>> segments.best()
    [[Segment(type=0, words=(0, 2))]]
    >>> [(segment.words, score) for segment, score in segments.ranked(3)[0]]
    [((0, 2), 2.0), ((0,), 0.0), ((1,), 0.0)]
    """

    __slots__ = ("restrictions", "sentences", "size", "threshold")

    def __init__(
        self,
        sentences: Sequence[SegmentScores],
        restrictions: Restrictions | None = None,
        threshold: float = 0.0,
        size: int = 0,
    ) -> None:
        self.sentences = [_checked(scores) for scores in sentences]
        self.restrictions = restrictions if restrictions is not None else Restrictions()
        self.threshold = threshold
        self.size = size

    def __len__(self) -> int:
        return len(self.sentences)

    def top(self, k: int = 0) -> list[list[tuple[Segment, float]]]:
        """The k best segments of every sentence (0: as many as it has words), best first, whatever conflicts."""
        return [_top(scores, self.restrictions.gap, k or len(scores.start)) for scores in self.sentences]

    def ranked(self, k: int = 0) -> list[list[tuple[Segment, float]]]:
        """Those of the k best segments that the restrictions let stand; a threshold cuts this list, nothing more."""
        return [
            [found[number] for number in self.restrictions.accept([segment for segment, _ in found])]
            for found in self.top(k)
        ]

    def best(self) -> SegmentSets:
        """The segments above the threshold."""
        return [[segment for segment, score in found if score > self.threshold] for found in self.ranked(self.size)]

    def kbest(self, k: int) -> list[list[SegmentSets]]:
        return [[[[segment]] for segment, _ in found] for found in self.ranked(k)]

    def members(self, solution: SegmentSets) -> list[list[SegmentSets]]:
        """The segments of a solution one by one, those that the gap bound lets exist."""
        return [[[[each]] for each in found if self.restrictions.reach(each)] for found in solution]

    def score(self, solution: SegmentSets) -> Floats:
        pairs = zip(self.sentences, solution, strict=True)
        return np.array([sum(segment_score(scores, each) for each in found) for scores, found in pairs], dtype=float)

    def parts(self, solution: SegmentSets, weight: Floats | None = None) -> SegmentParts:
        edges: list[tuple[int, int, int, int]] = []
        for number, (scores, found) in enumerate(zip(self.sentences, solution, strict=True)):
            n = len(scores.start)
            edges += [(number, segment.type, j, i) for segment in found for j, i in pairwise([-1, *segment.words, n])]
        table = np.array(edges, dtype=np.int64).reshape(-1, 4)
        values = np.ones(len(table)) if weight is None else weight[table[:, 0]].astype(np.float64)
        return SegmentParts(table, values)

    def augment(self, parts: SegmentParts) -> MultilabelSegments:
        changed = [SegmentScores(*(array.copy() for array in scores)) for scores in self.sentences]
        for (number, kind, j, i), value in zip(parts.edges.tolist(), parts.values.tolist(), strict=True):
            scores = changed[number]
            if j < 0:
                scores.start[i, kind] += value
            elif i == len(scores.end):
                scores.end[j, kind] += value
            else:
                scores.link[j, i, kind] += value
        return MultilabelSegments(changed, self.restrictions, self.threshold, self.size)

    def restrict(self, allowed: Sequence[tuple[NDArray[np.bool_], ...]]) -> MultilabelSegments:
        """The same with edges forbidden: masks of start, end and link for every sentence."""
        masked = [
            SegmentScores(*(np.where(mask, array, -np.inf) for array, mask in zip(scores, masks, strict=True)))
            for scores, masks in zip(self.sentences, allowed, strict=True)
        ]
        return MultilabelSegments(masked, self.restrictions, self.threshold, self.size)

    def differs(self, one: SegmentSets, other: SegmentSets) -> Floats:
        """Segments that are in one set and not in the other."""
        return np.array([len(set(a) ^ set(b)) for a, b in zip(one, other, strict=True)], dtype=np.float64)


def segment_score(scores: SegmentScores, segment: Segment) -> float:
    """The score of a segment of one sentence."""
    start, end, link = scores
    kind, words = segment
    inner = sum(link[j, i, kind] for j, i in pairwise(words))
    return float(start[words[0], kind] + inner + end[words[-1], kind])


def positions(pieces: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """The words of half-open pieces.

    >>> positions([(2, 4), (6, 7)])
    (2, 3, 6)
    """
    return tuple(sorted({word for start, end in pieces for word in range(start, end)}))


def pieces(words: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Rising word numbers as half-open pieces.

    >>> pieces((2, 3, 6))
    ((2, 4), (6, 7))
    """
    found: list[tuple[int, int]] = []
    for word in words:
        if found and found[-1][1] == word:
            found[-1] = (found[-1][0], word + 1)
        else:
            found.append((word, word + 1))
    return tuple(found)


def _checked(scores: SegmentScores) -> SegmentScores:
    start, end, link = (np.ascontiguousarray(array, dtype=np.float64) for array in scores)
    n, types = start.shape
    if end.shape != (n, types) or link.shape != (n, n, types):
        raise InferenceError(
            f"scores of {n} words and {types} types need end {(n, types)} and link {(n, n, types)}, "
            f"got {end.shape} and {link.shape}"
        )
    return SegmentScores(start, end, link)


def _top(scores: SegmentScores, gap: int, k: int) -> list[tuple[Segment, float]]:
    n = len(scores.start)
    if not n or not scores.start.shape[1]:
        return []
    types, values, sizes, words = _kbest(scores.start, scores.end, scores.link, gap or n, k)
    table = words.tolist()
    return [
        (Segment(kind, tuple(row[n - size :])), value)
        for kind, value, size, row in zip(types.tolist(), values.tolist(), sizes.tolist(), table, strict=True)
    ]


@kernel
def _sift(heap: Floats, of: Ints, size: int, at: int) -> None:
    """Let the candidate at a place of the heap sink; ties go to the lower candidate."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        right = child + 1
        if right < size and (heap[right] > heap[child] or (heap[right] == heap[child] and of[right] < of[child])):
            child = right
        if heap[at] > heap[child] or (heap[at] == heap[child] and of[at] <= of[child]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        of[at], of[child] = of[child], of[at]
        at = child


@kernel
def _kbest(start: Floats, end: Floats, link: Floats, gap: int, k: int) -> tuple[Ints, Floats, Ints, NDArray[np.int64]]:
    n, n_types = start.shape
    # Beginnings of segments that end at a word, best first: score, the word before (-1: none) and its rank there.
    value = np.empty((n_types, n, k))
    before = np.empty((n_types, n, k), dtype=np.int64)
    rank = np.empty((n_types, n, k), dtype=np.int64)
    count = np.zeros((n_types, n), dtype=np.int64)
    heap = np.empty(n_types * n + 1)
    of = np.empty(n_types * n + 1, dtype=np.int64)
    taken = np.zeros(n_types * n + 1, dtype=np.int64)
    for t in range(n_types):
        for i in range(n):
            size = 0
            # A candidate is the word before, -1 for the start; the heap holds the next beginning of each.
            if start[i, t] > -np.inf:
                heap[size], of[size] = start[i, t], -1
                size += 1
            for j in range(max(0, i - gap), i):
                taken[j] = 0
                if count[t, j] > 0 and link[j, i, t] > -np.inf:
                    heap[size], of[size] = value[t, j, 0] + link[j, i, t], j
                    size += 1
            for at in range(size // 2 - 1, -1, -1):
                _sift(heap, of, size, at)
            found = 0
            while found < k and size > 0:
                j = of[0]
                value[t, i, found] = heap[0]
                before[t, i, found] = j
                rank[t, i, found] = taken[j] if j >= 0 else 0
                found += 1
                if j >= 0:
                    taken[j] += 1
                if j >= 0 and taken[j] < count[t, j]:
                    heap[0] = value[t, j, taken[j]] + link[j, i, t]
                else:
                    size -= 1
                    heap[0], of[0] = heap[size], of[size]
                _sift(heap, of, size, 0)
            count[t, i] = found
    size = 0
    for t in range(n_types):
        for j in range(n):
            taken[t * n + j] = 0
            if count[t, j] > 0 and end[j, t] > -np.inf:
                heap[size], of[size] = value[t, j, 0] + end[j, t], t * n + j
                size += 1
    for at in range(size // 2 - 1, -1, -1):
        _sift(heap, of, size, at)
    types = np.empty(k, dtype=np.int64)
    scores = np.empty(k)
    sizes = np.empty(k, dtype=np.int64)
    words = np.zeros((k, n), dtype=np.int64)
    found = 0
    while found < k and size > 0:
        last = of[0]
        t, j = last // n, last % n
        types[found], scores[found] = t, heap[0]
        r = taken[last]
        at = n
        while j >= 0:
            at -= 1
            words[found, at] = j
            j, r = before[t, j, r], rank[t, j, r]
        sizes[found] = n - at
        found += 1
        taken[last] += 1
        j = last % n
        if taken[last] < count[t, j]:
            heap[0] = value[t, j, taken[last]] + end[j, t]
        else:
            size -= 1
            heap[0], of[0] = heap[size], of[size]
        _sift(heap, of, size, 0)
    return types[:found], scores[:found], sizes[:found], words[:found]
