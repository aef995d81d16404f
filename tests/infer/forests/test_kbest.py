"""k-best lists against the enumeration of all derivations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.forests.kbest import LEFT, OWN, RIGHT, Leaves, Scores, TypedGrammar, kbest

TYPES, TOPS = 4, 6
#: 0 x 0 -> 0 (exclusive), 1 absorbed by 0 on either side, 2 applied to 0 gives 3, which may also stand alone as 0.
GRAMMAR = TypedGrammar.of(
    TYPES, TOPS,
    [(0, 0, 0, 0, OWN, 4, 1), (1, 0, 0, 1, RIGHT, 0, 0), (0, 1, 0, 1, LEFT, 0, 0), (2, 0, 3, 2, LEFT, 0, 0)],
    [(3, 0, 5)], [0],
)  # fmt: skip


def enumerated(length: int, leaves: Leaves, scores: Scores) -> list[tuple[float, object]]:
    """All derivations of the roots: (score, tree), best first."""

    def items(i: int, j: int) -> list[tuple[int, int, int, int, float, object]]:
        columns = (leaves.type, leaves.top, leaves.bits, leaves.row)
        here = [k for k in range(len(leaves.start)) if leaves.start[k] == i and leaves.end[k] == j]
        found = [(*(int(column[k]) for column in columns), float(leaves.score[k]), k) for k in here]
        for split in range(i + 1, j):
            for left, right in product(items(i, split), items(split, j)):
                for rule, (a, b, parent, function, origin, top, exclusive) in enumerate(GRAMMAR.binary.tolist()):
                    if (left[0], right[0]) != (a, b) or (exclusive and left[2] & right[2]):
                        continue
                    score = left[4] + right[4] + scores.rules[rule] + scores.pairs[function, left[1], right[1]]
                    if left[3] >= 0:
                        score += scores.rows[left[3], right[1]] + scores.types[left[3], right[0]]
                    if right[3] >= 0:
                        score += scores.rows[right[3], left[1]] + scores.types[right[3], left[0]]
                    own = {OWN: top, LEFT: left[1], RIGHT: right[1]}[origin]
                    found.append((parent, own, left[2] | right[2], -1, score, (rule, left[5], right[5])))
        for u, (child, parent, top) in enumerate(GRAMMAR.unary.tolist()):
            found += [(parent, top, each[2], -1, each[4], (-2 - u, each[5])) for each in found if each[0] == child]
        return found

    roots = [(each[4], each[5]) for each in items(0, length) if each[0] in GRAMMAR.roots.tolist()]
    return sorted(roots, key=lambda each: -each[0])


def drawn(seed: int, length: int) -> tuple[Leaves, Scores]:
    random = np.random.default_rng(seed)
    rows: list[tuple[int, ...]] = []
    nils = 0
    for i in range(length):
        for j in range(i + 1, min(i + 2, length) + 1):
            for _ in range(int(random.integers(1, 4))):
                kind = int(random.integers(0, 3))
                row = -1
                if kind == 1:
                    row, nils = nils, nils + 1
                rows.append((i, j, kind, int(random.integers(0, 4)), int(random.integers(0, 4)), row))
    table = np.array(rows, dtype=np.int64)
    columns = [np.ascontiguousarray(table[:, c]) for c in range(6)]
    leaves = Leaves(*columns, random.normal(size=len(rows)))
    scores = Scores(
        random.normal(size=len(GRAMMAR.binary)), random.normal(size=(GRAMMAR.functions, TOPS, TOPS)),
        random.normal(size=(max(nils, 1), TOPS)), random.normal(size=(max(nils, 1), TYPES)),
    )  # fmt: skip
    return leaves, scores


@pytest.mark.must_show("temporal-expression-parser", 2)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_list_equals_enumeration_if_k_is_large(seed, length):
    leaves, scores = drawn(seed, length)
    expected = enumerated(length, leaves, scores)
    found = kbest(GRAMMAR, length, leaves, scores, 5000)
    assert len(found) == len(expected)
    assert np.allclose(found.scores(), [score for score, _ in expected])
    assert {found.tree(root) for root in found.roots.tolist()} == {tree for _, tree in expected}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 8))
def test_a_short_list_holds_true_derivations_in_order_and_none_better_than_the_best(seed, length, k):
    leaves, scores = drawn(seed, length)
    expected = {tree: score for score, tree in enumerated(length, leaves, scores)}
    found = kbest(GRAMMAR, length, leaves, scores, k)
    own = [expected[found.tree(root)] for root in found.roots.tolist()]
    assert len(found) <= k
    assert np.allclose(found.scores(), own)
    assert own == sorted(own, reverse=True)


def test_cube_pruning_visits_few_of_many_pairs():
    """Two lists of 60 items: the five best pairs are right although 3,600 exist."""
    n = 60
    ints = np.zeros(2 * n, dtype=np.int64)
    start = np.repeat([0, 1], n).astype(np.int64)
    score = np.concatenate([-np.arange(n), -np.arange(n)]).astype(float)
    leaves = Leaves(start, start + 1, ints, ints, ints, ints - 1, score)
    scores = Scores(np.zeros(4), np.zeros((3, TOPS, TOPS)), np.zeros((1, TOPS)), np.zeros((1, TYPES)))
    assert kbest(GRAMMAR, 2, leaves, scores, 6).scores().tolist() == [0, -1, -1, -2, -2, -2]


def test_coefficients_of_derivations_reach_all_their_items():
    leaves, scores = drawn(3, 3)
    found = kbest(GRAMMAR, 3, leaves, scores, 50)
    coefficients = np.arange(1.0, len(found) + 1)
    spread = found.spread(coefficients)

    def items(item: int) -> list[int]:
        rule = int(found.rule[item])
        if rule == -1:
            return [item]
        below = items(int(found.left[item]))
        return [item, *below, *(items(int(found.right[item])) if rule >= 0 else [])]

    expected = np.zeros(len(found.rule))
    for root, amount in zip(found.roots.tolist(), coefficients.tolist(), strict=True):
        for item in items(root):
            expected[item] += amount
    assert np.allclose(spread, expected)


def test_wrong_grammars_and_sizes_are_refused():
    with pytest.raises(InferenceError, match="unary"):
        TypedGrammar.of(3, 1, [], [(0, 1, 0), (1, 2, 0)], [2])
    with pytest.raises(InferenceError, match="type or top"):
        TypedGrammar.of(1, 1, [(0, 0, 1, 0, OWN, 0, 0)], [], [0])
    leaves, scores = drawn(0, 1)
    with pytest.raises(InferenceError, match="k must be"):
        kbest(GRAMMAR, 1, leaves, scores, 0)
