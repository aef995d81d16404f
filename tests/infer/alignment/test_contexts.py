"""Alignment by similarity and context agrees with the definitions of its stages, written out over sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.alignment.contexts import (
    BEFORE,
    CONTENT,
    EDGES,
    FUNCTION,
    FUNCTIONS,
    GIVEN,
    SEQUENCES,
    SIDES,
    WINDOW,
    ContextSettings,
    Equivalences,
    Side,
    align_contexts,
)

Edge = tuple[int, int, int]
W, REACH, NEAR = 0.9, 2, 3
STRAIGHT, TURNED = (1, 2, 0, 1), (1, 2, 0, 2)


def table() -> Equivalences:
    straight, turned = np.zeros((3, 3, 3, 3), np.uint8), np.zeros((3, 3, 3, 3), np.uint8)
    h, d, x, y = STRAIGHT
    straight[h, d, x, y] = straight[h, d, y, x] = 1
    h, d, x, y = TURNED
    turned[h, d, x, y] = turned[d, h, y, x] = 1
    return Equivalences(straight, turned)


class Slow:
    """One pair, by the definitions."""

    def __init__(self, a: list[tuple[int, int, int]], b: list[tuple[int, int, int]], e: list[Edge], f: list[Edge],
                 sim: dict[tuple[int, int], float], given: list[tuple[int, int, int]]) -> None:  # fmt: skip
        self.a, self.b, self.e, self.f, self.sim = a, b, e, f, sim
        self.links: dict[tuple[int, int], int] = {}
        self.left, self.right = set(range(len(a))), set(range(len(b)))
        for i, j, before in given:
            if before and i in self.left and j in self.right:
                self.link(i, j, BEFORE)
        self.sequences()
        rest = [(i, j) for i, j, before in given if not before and i in self.left and j in self.right]
        for i, j in rest:
            self.links[i, j] = GIVEN
        self.left -= {i for i, _ in rest}
        self.right -= {j for _, j in rest}
        self.edges()
        self.greedy(self.window(), WINDOW)
        self.greedy(self.functions(), FUNCTIONS)
        while scores := self.sides():
            self.link(*self.best(scores), SIDES)

    def link(self, i: int, j: int, stage: int) -> None:
        self.links[i, j] = stage
        self.left.discard(i)
        self.right.discard(j)

    def best(self, scores: dict[tuple[int, int], float]) -> tuple[int, int]:
        n, m = len(self.a), len(self.b)
        top = max(scores.values())
        ties = [cell for cell, score in scores.items() if score > top - 1e-9]
        return min(ties, key=lambda c: (abs(c[0] * m - c[1] * n), c[0] + c[1], min(c), c))

    def greedy(self, scores: dict[tuple[int, int], float], stage: int) -> None:
        while scores:
            cell = self.best(scores)
            del scores[cell]
            if cell[0] in self.left and cell[1] in self.right:
                self.link(*cell, stage)

    def free(self, *kinds: int) -> list[tuple[int, int]]:
        return [(i, j) for i, j in itertools.product(self.left, self.right)
                if self.a[i][1] in kinds and self.b[j][1] in kinds and self.sim[i, j] > 0]  # fmt: skip

    def sequences(self) -> None:
        runs = {}
        for i, j in itertools.product(range(len(self.a)), range(len(self.b))):
            if i and j and self.a[i - 1][0] == self.b[j - 1][0]:
                continue
            size = 0
            while i + size < len(self.a) and j + size < len(self.b) and self.a[i + size][0] == self.b[j + size][0]:
                size += 1
            if size >= 2 and any(self.a[i + k][1] == CONTENT for k in range(size)):
                runs[i, j] = float(size)
        while runs:
            i, j = self.best(runs)
            for k in range(int(runs.pop((i, j)))):
                if i + k in self.left and j + k in self.right:
                    self.link(i + k, j + k, SEQUENCES)

    def context(self, i: int, j: int) -> list[tuple[int, int]]:
        found = []
        equivalent = table()
        for e, f in itertools.product([e for e in self.e if i in e[:2]], [f for f in self.f if j in f[:2]]):
            k, q = e[1] if e[0] == i else e[0], f[1] if f[0] == j else f[0]
            classes = [self.a[i][2], self.b[j][2], self.a[k][2], self.b[q][2]]
            if classes[0] != classes[1] or classes[2] != classes[3] or not classes[2] or self.sim[k, q] <= 0:
                continue
            same_way = (e[0] == i) == (f[0] == j)
            cell = self.a[e[0]][2], self.a[e[1]][2], e[2], f[2]
            known = max(cell) < 3
            if (same_way and e[2] == f[2]) or (
                known and (equivalent.straight if same_way else equivalent.turned)[cell]
            ):
                found.append((k, q))
        return found

    def edges(self) -> None:
        scores, contexts = {}, {}
        for i, j in self.free(CONTENT):
            if not self.a[i][2] or self.a[i][2] != self.b[j][2]:
                continue
            contexts[i, j] = self.context(i, j)
            if contexts[i, j]:
                scores[i, j] = W * self.sim[i, j] + (1 - W) * sum(self.sim[c] for c in contexts[i, j])
        while scores:
            cell = self.best(scores)
            del scores[cell]
            if cell[0] in self.left and cell[1] in self.right:
                self.link(*cell, EDGES)
                for k, q in contexts[cell]:
                    if k in self.left and q in self.right:
                        self.link(k, q, EDGES)

    def window(self) -> dict[tuple[int, int], float]:
        def near(words: list[tuple[int, int, int]], i: int) -> list[int]:
            return [k for k in range(len(words)) if 0 < abs(k - i) <= NEAR and words[k][1] == CONTENT]

        return {
            (i, j): W * self.sim[i, j] + (1 - W) * sum(self.sim[k, q] for k in near(self.a, i) for q in near(self.b, j))
            for i, j in self.free(CONTENT)
        }

    def functions(self) -> dict[tuple[int, int], float]:
        scores = {}
        for i, j in self.free(FUNCTION):
            pairs = sum(
                e[2] == f[2] and e[end] == i and f[end] == j and (e[1 - end], f[1 - end]) in self.links
                for e in self.e for f in self.f for end in range(2)
            )  # fmt: skip
            if pairs:
                scores[i, j] = W * self.sim[i, j] + (1 - W) * pairs
        return scores

    def sides(self) -> dict[tuple[int, int], float]:
        scores = {}
        for i, j in [*self.free(FUNCTION), *self.free(2)]:
            evidence = float(i == j == 0)
            for k, q in self.links:
                if (k - i) * (q - j) > 0 and max(abs(k - i), abs(q - j)) <= REACH:
                    evidence += 1 / (abs(k - i) + abs(q - j) - 1)
            if evidence:
                scores[i, j] = W * self.sim[i, j] + (1 - W) * evidence
        return scores


@st.composite
def pairs(draw: st.DrawFn):  # type: ignore[no-untyped-def]
    sides = []
    for _ in range(2):
        n = draw(st.integers(1, 5))
        kinds = {}
        words = [draw(st.integers(0, 4)) for _ in range(n)]
        for word in words:
            kinds[word] = (0, 0, 0, 1, 2)[word]
        rows = [(word, kinds[word], draw(st.integers(0, 2)) if kinds[word] == 0 else 0) for word in words]
        place = st.integers(0, n - 1)
        edges = draw(st.lists(st.tuples(place, place, st.integers(0, 3)).filter(lambda e: e[0] != e[1]), max_size=5,
                              unique=True)) if n > 1 else []  # fmt: skip
        sides.append((rows, edges))
    (a, e), (b, f) = sides
    sim = {}
    for i, j in itertools.product(range(len(a)), range(len(b))):
        alike = a[i][1] == b[j][1]
        sim[i, j] = (
            1.0 if a[i][0] == b[j][0] else draw(st.sampled_from([0.0, 0.0, 0.7])) if alike and not a[i][1] else 0.0
        )
    given = draw(
        st.lists(st.tuples(st.integers(0, len(a) - 1), st.integers(0, len(b) - 1), st.integers(0, 1)), max_size=2)
    )
    return a, b, e, f, sim, given


@pytest.mark.must_show("monolingual-aligner", 2)
@settings(max_examples=150, deadline=None)
@given(st.lists(pairs(), min_size=1, max_size=3))
def test_stages_agree_with_their_definitions(batch) -> None:  # type: ignore[no-untyped-def]
    sides = [
        Side.of([[w[0] for w in x[k]] for x in batch], [[w[1] for w in x[k]] for x in batch],
                [[w[2] for w in x[k]] for x in batch], [x[k + 2] for x in batch])
        for k in range(2)
    ]  # fmt: skip
    sim = np.array([x[4][i, j] for x in batch for i in range(len(x[0])) for j in range(len(x[1]))])
    rows = np.array([(n, *g) for n, x in enumerate(batch) for g in x[5]], dtype=np.int32).reshape(-1, 4)
    stages = align_contexts(*sides, sim, table(), rows)
    at = 0
    for a, b, e, f, own, links in batch:
        cells = stages[at : at + len(a) * len(b)].reshape(len(a), len(b))
        at += cells.size
        found = {(int(i), int(j)): int(cells[i, j]) for i, j in zip(*np.nonzero(cells), strict=True)}
        assert found == Slow(a, b, e, f, own, links).links


def test_bad_arrays_are_refused() -> None:
    one = Side.of([[1]], [[0]], [[0]])
    with pytest.raises(InferenceError, match="outside its sentence"):
        align_contexts(Side.of([[1]], [[0]], [[0]], [[(0, 1, 0)]]), one, np.ones(1))
    with pytest.raises(InferenceError, match="a batch has pairs"):
        align_contexts(one, Side.of([], [], []), np.ones(1))
    with pytest.raises(InferenceError, match="similarity"):
        align_contexts(one, one, np.ones(2))
    with pytest.raises(InferenceError, match="similarity_weight"):
        align_contexts(one, one, np.ones(1), settings=ContextSettings(0.0))
