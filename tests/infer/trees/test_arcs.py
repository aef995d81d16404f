"""The numbers of parts, and the parts of trees, are those of the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_twins import all_trees, arc_spaces, is_projective, part_numbers, projective_trees, tree_parts

from weft.errors import InferenceError
from weft.infer.trees.arcs import ArcSpace, all_arcs


@pytest.mark.parametrize("n", range(6))
def test_enumerations_agree(n):
    assert len(all_trees(n)) == (n + 1) ** (n - 1)
    assert sorted(tree for tree in all_trees(n) if is_projective(tree)) == sorted(projective_trees(n))


@settings(max_examples=60, deadline=None)
@given(arc_spaces(max_words=4), st.integers(0, 2**16))
def test_parts_have_the_numbers_of_the_definition(space, seed):
    chosen = []
    expected = [[], [], [], []]
    for s, n in enumerate(np.diff(space.offsets)):
        numbers = part_numbers(space, s)
        trees = [tree for tree in all_trees(int(n)) if all(part in numbers[0] for part in tree_parts(tree)[0])]
        tree = trees[seed % len(trees)]
        chosen += tree
        for kind, parts in enumerate(tree_parts(tree)):
            expected[kind] += [numbers[kind][part] for part in parts]
    for found, want in zip(space.parts_of(np.array(chosen, dtype=np.int32)), expected, strict=True):
        assert found.tolist() == want
    totals = [sum(sizes) for sizes in zip(*(map(len, part_numbers(space, s)) for s in range(len(space))), strict=True)]
    assert [space.n_arcs, space.n_siblings, space.n_grands, space.n_tris] == totals


@settings(max_examples=30, deadline=None)
@given(arc_spaces(max_words=4), st.integers(0, 2**16))
def test_arcs_in_any_order_give_the_same_space(space, seed):
    order = np.random.default_rng(seed).permutation(space.n_arcs)
    other = ArcSpace(space.offsets, space.head[order], space.modifier[order], space.sentence[order])
    for name in ArcSpace.__slots__:
        np.testing.assert_array_equal(getattr(other, name), getattr(space, name))


@settings(max_examples=30, deadline=None)
@given(arc_spaces(max_words=4))
def test_cut_sentences_are_spaces_of_their_own(space):
    for s in range(len(space)):
        own, arcs = space.cut(s, s + 1)
        assert (space.sentence[arcs] == s).all()
        assert own.n_arcs == (space.sentence == s).sum()
        assert part_numbers(own)[0].keys() == part_numbers(space, s)[0].keys()


def test_arcs_that_cannot_be_are_refused():
    for head, modifier, reason in ([1], [1], "another word"), ([0], [3], "another word"), ([0, 0], [1, 1], "twice"):
        with pytest.raises(InferenceError, match=reason):
            ArcSpace([0, 2], head, modifier)
    with pytest.raises(InferenceError, match="does not allow"):
        all_arcs([0, 2]).keep([True, True, False, False]).parts_of([2, 0])
