"""Alignment of two labelled graphs over sequences by similarity and context (Sultan, Bethard and Sumner 2014).

Two sentences are sequences of symbols with kinds, classes and labelled edges. Stages link what earlier ones left free:

    given        links from outside; those marked `before` come even before sequences
    sequences    maximal common runs of two symbols or more with content, longest first
    edges        content of one class by   w sim(i, j) + (1 - w) sum of sim(k, l)   over neighbours k of i and l of j
                 that edges of equal or equivalent relations reach; the neighbours of a link are linked with it
    window       content by the same score, where k and l are content at most `window` positions away, which need none
    functions    function symbols by 1 per neighbour pair that is already linked by edges of the same relation
    sides        function symbols and marks by 1 / (x + y - 1) for symbols x and y positions away, up to `reach`, that
                 are linked, on the same side of both; the beginnings are linked to each other

Scores decide first, then the distance of relative positions, then the positions themselves, smallest first.

Pair s has cells `sizes of source x sizes of target`, the cells of the first source position first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ids, Ints, Rows
from weft.errors import InferenceError
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, check_offsets, check_shape, one_block

Bytes = NDArray[np.uint8]

#: Kinds of symbols.
CONTENT, FUNCTION, MARK = 0, 1, 2
#: Stages as they are noted in cells; 0 is no link.
STAGES = ("", "before", "sequences", "given", "edges", "window", "functions", "sides")
BEFORE, SEQUENCES, GIVEN, EDGES, WINDOW, FUNCTIONS, SIDES = range(1, 8)


@dataclass(frozen=True)
class Side:
    """One side of a batch: symbols, kinds and classes by position; edges (head, dependent, relation)."""

    offsets: Indices
    symbols: Ints
    kinds: Bytes
    classes: Bytes  #: 0: of no class
    edge_offsets: Indices
    edges: Rows

    @classmethod
    def of(
        cls, symbols: list[list[int]], kinds: list[list[int]], classes: list[list[int]],
        edges: list[list[tuple[int, int, int]]] | None = None,
    ) -> Side:  # fmt: skip
        """A side from lists, one per sentence.

        >>> side = Side.of([[5, 6], [7]], [[0, 1], [0]], [[1, 0], [2]], [[(0, 1, 3)], []])
        >>> side.offsets.tolist(), side.edge_offsets.tolist()
        ([0, 2, 3], [0, 1, 1])
        """
        held = edges if edges is not None else [[] for _ in symbols]
        flat = [edge for each in held for edge in each]
        return cls(
            _ends(symbols),
            np.array([x for each in symbols for x in each], dtype=np.int64),
            np.array([x for each in kinds for x in each], dtype=np.uint8),
            np.array([x for each in classes for x in each], dtype=np.uint8),
            _ends(held),
            np.array(flat, dtype=np.int32).reshape(len(flat), 3),
        )

    @property
    def sizes(self) -> Indices:
        """The number of positions of every sentence."""
        return np.diff(self.offsets)

    def check(self) -> None:
        """Raise an error for arrays that do not fit together."""
        check_offsets(self.offsets, len(self.symbols))
        check_offsets(self.edge_offsets, len(self.edges))
        for name, values in (("kinds", self.kinds), ("classes", self.classes)):
            check_shape(values, self.symbols.shape, name)
        if len(self.edge_offsets) != len(self.offsets):
            raise InferenceError("edges need offsets for as many sentences as symbols")
        sizes = np.repeat(self.sizes, np.diff(self.edge_offsets))
        ends = self.edges[:, :2]
        if len(ends) and (ends.min() < 0 or (ends >= sizes[:, None]).any() or self.edges[:, 2].min() < 0):
            raise InferenceError("an edge leads to a position outside its sentence")


@dataclass(frozen=True)
class Equivalences:
    """Relations that count as equal, by classes of head and dependent: `[head, dependent, relation, relation]`.

    `straight` compares edges whose heads correspond, `turned` edges where the head of one corresponds to the dependent
    of the other; the classes are those of the first edge.
    """

    straight: Bytes
    turned: Bytes

    @classmethod
    def none(cls) -> Equivalences:
        """No relation but itself."""
        nothing = np.zeros((1, 1, 1, 1), dtype=np.uint8)
        return cls(nothing, nothing)


@dataclass(frozen=True)
class ContextSettings:
    """The weight of similarity beside context, and which stages are used."""

    similarity_weight: float = 0.9
    window: int = 3
    reach: int = 2  #: how far away neighbours of function symbols may be
    sequences: bool = True
    edges: bool = True
    neighbours: bool = True  #: without them, content needs similarity alone, and so do function symbols
    functions: bool = True

    def check(self) -> None:
        """Raise an error for values out of range."""
        if not 0 < self.similarity_weight <= 1:
            raise InferenceError(f"similarity_weight lies above 0 and up to 1, got {self.similarity_weight}")
        for name in ("window", "reach"):
            if getattr(self, name) < 1:
                raise InferenceError(f"{name} is a number of positions from 1 on, got {getattr(self, name)}")


def align_contexts(
    source: Side,
    target: Side,
    similarity: Floats,
    equivalences: Equivalences | None = None,
    given: Rows | None = None,
    settings: ContextSettings | None = None,
) -> Bytes:
    """The stage that linked each cell, 0 for cells without a link.

    `similarity` has a number per cell, 0 for symbols that cannot correspond. Rows of `given` are (pair, source
    position, target position, 1 if it comes before sequences), ordered by pair.

    >>> one = Side.of([[1, 2, 3]], [[0, 0, 2]], [[1, 1, 0]])
    >>> other = Side.of([[2, 9, 3]], [[0, 0, 2]], [[1, 1, 0]])
    >>> same = (one.symbols[:, None] == other.symbols).astype(float).ravel()
    >>> align_contexts(one, other, same).reshape(3, 3).tolist()
    [[0, 0, 0], [5, 0, 0], [0, 0, 7]]
    """
    used = settings or ContextSettings()
    used.check()
    source.check()
    target.check()
    sizes = source.sizes * target.sizes if len(source.offsets) == len(target.offsets) else None
    if sizes is None:
        raise InferenceError(
            f"{len(source.offsets) - 1} source and {len(target.offsets) - 1} target sentences; a batch has pairs"
        )
    cells_at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    check_shape(similarity, (int(cells_at[-1]),), "similarity, a number per pair of positions,")
    table = equivalences or Equivalences.none()
    rows = np.zeros((0, 4), dtype=np.int32) if given is None else one_block(given, np.int32)
    given_at = np.searchsorted(rows[:, 0], np.arange(len(sizes) + 1)).astype(np.int64)
    stages = np.zeros(len(similarity), dtype=np.uint8)
    longest = int(max(source.sizes.max(initial=0), target.sizes.max(initial=0)))
    flags = np.array([used.sequences, used.edges, used.neighbours, used.functions], dtype=np.uint8)
    _align(
        *_arrays(source), *_arrays(target), one_block(similarity, np.float64), cells_at,
        one_block(table.straight, np.uint8), one_block(table.turned, np.uint8), rows, given_at,
        used.similarity_weight, used.window, used.reach, flags, stages,
        np.zeros(int(sizes.max(initial=0))), np.zeros((2, longest), dtype=np.uint8),
    )  # fmt: skip
    return stages


def _arrays(side: Side) -> tuple[Indices, Ints, Bytes, Bytes, Indices, Rows]:
    return (
        one_block(side.offsets, np.int64), one_block(side.symbols, np.int64), one_block(side.kinds, np.uint8),
        one_block(side.classes, np.uint8), one_block(side.edge_offsets, np.int64), one_block(side.edges, np.int32),
    )  # fmt: skip


def _ends(lists: list[list[int]] | list[list[tuple[int, int, int]]]) -> Indices:
    return np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)


@kernel
def _align(
    s_at: Indices, s_symbols: Ints, s_kinds: Bytes, s_classes: Bytes, s_edges_at: Indices, s_edges: Rows,
    t_at: Indices, t_symbols: Ints, t_kinds: Bytes, t_classes: Bytes, t_edges_at: Indices, t_edges: Rows,
    similarity: Floats, cells_at: Indices, straight: Bytes, turned: Bytes, given: Ids, given_at: Indices,
    weight: float, window: int, reach: int, flags: Bytes, stages: Bytes, scores: Floats, free: Bytes,
) -> None:  # fmt: skip
    for pair in range(len(s_at) - 1):
        n, m = s_at[pair + 1] - s_at[pair], t_at[pair + 1] - t_at[pair]
        at = cells_at[pair]
        sim = similarity[at : at + n * m]
        linked = stages[at : at + n * m]
        left, right = s_at[pair], t_at[pair]
        a_symbols, b_symbols = s_symbols[left : left + n], t_symbols[right : right + m]
        a_kinds, b_kinds = s_kinds[left : left + n], t_kinds[right : right + m]
        a_classes, b_classes = s_classes[left : left + n], t_classes[right : right + m]
        a_edges = s_edges[s_edges_at[pair] : s_edges_at[pair + 1]]
        b_edges = t_edges[t_edges_at[pair] : t_edges_at[pair + 1]]
        free[0, :n] = 1
        free[1, :m] = 1
        for g in range(given_at[pair], given_at[pair + 1]):
            i, j = given[g, 1], given[g, 2]
            if given[g, 3] == 1 and free[0, i] and free[1, j]:
                _link(linked, m, i, j, BEFORE, free)
        if flags[0]:
            _sequences(a_symbols, b_symbols, a_kinds, b_kinds, linked, scores, free)
        _given(given, given_at[pair], given_at[pair + 1], m, linked, free)
        if flags[1]:
            _by_edges(a_classes, b_classes, a_kinds, b_kinds, a_edges, b_edges, sim, straight, turned, weight,
                      linked, scores, free)  # fmt: skip
        _by_window(a_kinds, b_kinds, sim, weight, window, flags[2] != 0, linked, scores, free)
        if flags[3]:
            if flags[1]:
                _functions(a_kinds, b_kinds, a_edges, b_edges, sim, weight, linked, scores, free)
            _sides(a_kinds, b_kinds, sim, weight, flags[2] == 0, reach, linked, scores, free)


@inner_kernel
def _link(linked: Bytes, m: int, i: int, j: int, stage: int, free: Bytes) -> None:
    linked[i * m + j] = stage
    free[0, i] = 0
    free[1, j] = 0


@inner_kernel
def _given(given: Ids, first: int, end: int, m: int, linked: Bytes, free: Bytes) -> None:
    """Links from outside among what is free before all of them: they may link one position to many."""
    for g in range(first, end):
        i, j = given[g, 1], given[g, 2]
        if given[g, 3] == 0 and free[0, i] and free[1, j]:
            linked[i * m + j] = GIVEN
    for g in range(first, end):
        i, j = given[g, 1], given[g, 2]
        if linked[i * m + j] == GIVEN:
            free[0, i] = 0
            free[1, j] = 0


@inner_kernel
def _before(i: int, j: int, k: int, q: int, n: int, m: int) -> bool:
    """Whether cell (i, j) goes before (k, q) at equal scores, the same when source and target are swapped."""
    one, other = abs(i * m - j * n), abs(k * m - q * n)  # distances of relative positions, times n m
    if one != other:
        return one < other
    if i + j != k + q:
        return i + j < k + q
    return min(i, j) < min(k, q)


@inner_kernel
def _sequences(
    a: Ints, b: Ints, a_kinds: Bytes, b_kinds: Bytes, linked: Bytes, scores: Floats, free: Bytes
) -> None:  # fmt: skip
    """Link maximal common runs, the longest first; `scores` holds lengths of runs by their first cell."""
    n, m = len(a), len(b)
    for cell in range(n * m):
        scores[cell] = 0.0
    for i in range(n):
        for j in range(m):
            if a[i] != b[j] or (i and j and a[i - 1] == b[j - 1]):
                continue
            length = 0
            content = False
            while i + length < n and j + length < m and a[i + length] == b[j + length]:
                content = content or a_kinds[i + length] == CONTENT
                length += 1
            if length >= 2 and content:
                scores[i * m + j] = length
    while True:
        x, y = _best(scores, n, m)
        if x < 0:
            return
        length = int(scores[x * m + y])
        scores[x * m + y] = 0.0
        for step in range(length):
            if free[0, x + step] and free[1, y + step]:
                _link(linked, m, x + step, y + step, SEQUENCES, free)


@inner_kernel
def _best(scores: Floats, n: int, m: int) -> tuple[int, int]:
    """The cell with the highest score above 0, (-1, -1) if there is none."""
    x, y = -1, -1
    highest = 0.0
    for i in range(n):
        for j in range(m):
            score = scores[i * m + j]
            if score > highest + 1e-9 or (score > highest - 1e-9 and x >= 0 and _before(i, j, x, y, n, m)):
                highest = max(score, highest)
                x, y = i, j
    return x, y


@inner_kernel
def _corresponds(
    i: int, j: int, e: Ids, f: Ids, a_classes: Bytes, b_classes: Bytes, straight: Bytes, turned: Bytes
) -> bool:
    """Whether edge e of position i corresponds to edge f of position j."""
    i_heads, j_heads = e[0] == i, f[0] == j
    k, q = (e[1] if i_heads else e[0]), (f[1] if j_heads else f[0])
    if a_classes[i] != b_classes[j] or a_classes[k] != b_classes[q] or a_classes[k] == 0:
        return False
    if i_heads == j_heads and e[2] == f[2]:
        return True
    known = straight.shape[2]
    if e[2] >= known or f[2] >= known or max(a_classes[i], a_classes[k]) >= straight.shape[0]:
        return False
    head, dependent = a_classes[e[0]], a_classes[e[1]]
    if i_heads == j_heads:
        return straight[head, dependent, e[2], f[2]] != 0
    return turned[head, dependent, e[2], f[2]] != 0


@inner_kernel
def _by_edges(
    a_classes: Bytes, b_classes: Bytes, a_kinds: Bytes, b_kinds: Bytes, a_edges: Rows, b_edges: Rows, sim: Floats,
    straight: Bytes, turned: Bytes, weight: float, linked: Bytes, scores: Floats, free: Bytes,
) -> None:  # fmt: skip
    n, m = len(a_kinds), len(b_kinds)
    for i in range(n):
        for j in range(m):
            cell = i * m + j
            scores[cell] = 0.0
            if (
                a_kinds[i] != CONTENT or b_kinds[j] != CONTENT or not (free[0, i] and free[1, j])
                or sim[cell] <= 0 or a_classes[i] == 0 or a_classes[i] != b_classes[j]
            ):  # fmt: skip
                continue
            total = 0.0
            for x in range(len(a_edges)):
                e = a_edges[x]
                if e[0] != i and e[1] != i:
                    continue
                k = e[1] if e[0] == i else e[0]
                for y in range(len(b_edges)):
                    f = b_edges[y]
                    if f[0] != j and f[1] != j:
                        continue
                    q = f[1] if f[0] == j else f[0]
                    if sim[k * m + q] > 0 and _corresponds(i, j, e, f, a_classes, b_classes, straight, turned):
                        total += sim[k * m + q]
            if total > 0:
                scores[cell] = weight * sim[cell] + (1 - weight) * total
    while True:
        i, j = _best(scores, n, m)
        if i < 0:
            return
        scores[i * m + j] = 0.0
        if not (free[0, i] and free[1, j]):
            continue
        _link(linked, m, i, j, EDGES, free)
        for x in range(len(a_edges)):
            e = a_edges[x]
            if e[0] != i and e[1] != i:
                continue
            k = e[1] if e[0] == i else e[0]
            for y in range(len(b_edges)):
                f = b_edges[y]
                if f[0] != j and f[1] != j:
                    continue
                q = f[1] if f[0] == j else f[0]
                if (
                    free[0, k] and free[1, q] and sim[k * m + q] > 0
                    and _corresponds(i, j, e, f, a_classes, b_classes, straight, turned)
                ):  # fmt: skip
                    _link(linked, m, k, q, EDGES, free)


@inner_kernel
def _by_window(
    a_kinds: Bytes, b_kinds: Bytes, sim: Floats, weight: float, window: int, context: bool, linked: Bytes,
    scores: Floats, free: Bytes,
) -> None:  # fmt: skip
    n, m = len(a_kinds), len(b_kinds)
    for i in range(n):
        for j in range(m):
            cell = i * m + j
            scores[cell] = 0.0
            if a_kinds[i] != CONTENT or b_kinds[j] != CONTENT or not (free[0, i] and free[1, j]) or sim[cell] <= 0:
                continue
            total = 0.0
            if context:
                for k in range(max(i - window, 0), min(i + window + 1, n)):
                    if k == i or a_kinds[k] != CONTENT:
                        continue
                    for q in range(max(j - window, 0), min(j + window + 1, m)):
                        if q != j and b_kinds[q] == CONTENT:
                            total += sim[k * m + q]
            scores[cell] = weight * sim[cell] + (1 - weight) * total
    _greedy(n, m, WINDOW, linked, scores, free)


@inner_kernel
def _functions(
    a_kinds: Bytes, b_kinds: Bytes, a_edges: Rows, b_edges: Rows, sim: Floats, weight: float, linked: Bytes,
    scores: Floats, free: Bytes,
) -> None:  # fmt: skip
    n, m = len(a_kinds), len(b_kinds)
    for cell in range(n * m):
        scores[cell] = 0.0
    for x in range(len(a_edges)):
        for y in range(len(b_edges)):
            e, f = a_edges[x], b_edges[y]
            if e[2] != f[2]:
                continue
            for end in range(2):
                i, j, k, q = e[end], f[end], e[1 - end], f[1 - end]
                if (
                    a_kinds[i] == FUNCTION and b_kinds[j] == FUNCTION and free[0, i] and free[1, j]
                    and sim[i * m + j] > 0 and linked[k * m + q]
                ):  # fmt: skip
                    if scores[i * m + j] == 0.0:
                        scores[i * m + j] = weight * sim[i * m + j]
                    scores[i * m + j] += 1 - weight
    _greedy(n, m, FUNCTIONS, linked, scores, free)


@inner_kernel
def _sides(
    a_kinds: Bytes, b_kinds: Bytes, sim: Floats, weight: float, freely: bool, reach: int, linked: Bytes, scores: Floats,
    free: Bytes,
) -> None:  # fmt: skip
    """Every new link is evidence for the next one, so that scores are counted anew after each."""
    n, m = len(a_kinds), len(b_kinds)
    while True:
        for i in range(n):
            for j in range(m):
                cell = i * m + j
                scores[cell] = 0.0
                if a_kinds[i] == CONTENT or b_kinds[j] == CONTENT or not (free[0, i] and free[1, j]) or sim[cell] <= 0:
                    continue
                evidence = 0.0
                if not freely:
                    evidence = _linked_around(i, j, n, m, reach, linked)
                if evidence > 0 or freely:
                    scores[cell] = weight * sim[cell] + (1 - weight) * evidence
        i, j = _best(scores, n, m)
        if i < 0:
            return
        _link(linked, m, i, j, SIDES, free)


@inner_kernel
def _linked_around(i: int, j: int, n: int, m: int, reach: int, linked: Bytes) -> float:
    evidence = 1.0 if i == 0 and j == 0 else 0.0  # what comes before both texts is linked
    for x in range(1, reach + 1):
        for y in range(1, reach + 1):
            if i >= x and j >= y and linked[(i - x) * m + j - y]:
                evidence += 1.0 / (x + y - 1)
            if i + x < n and j + y < m and linked[(i + x) * m + j + y]:
                evidence += 1.0 / (x + y - 1)
    return evidence


@inner_kernel
def _greedy(n: int, m: int, stage: int, linked: Bytes, scores: Floats, free: Bytes) -> None:
    """Link cells one-to-one, the highest score first."""
    while True:
        i, j = _best(scores, n, m)
        if i < 0:
            return
        scores[i * m + j] = 0.0
        if free[0, i] and free[1, j]:
            _link(linked, m, i, j, stage, free)
