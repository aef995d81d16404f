"""The table of types, by exhaustive search, and the first pass of a search with it."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from decoding_twins import enumerated, ngram_feature, ngrams, random_options, small_model
from hypothesis import given, settings
from hypothesis import strategies as st
from shift_reduce_twins import KINDS, form, parses, piece, projective_trees, segmentations
from tree_twins import is_projective

from weft.errors import InferenceError
from weft.infer.decoding.decoder import Decoder, SearchSettings
from weft.infer.decoding.derivations import Derivations
from weft.infer.decoding.options import Options
from weft.infer.decoding.shift_reduce import LEFT_ACTION, RIGHT_ACTION, SHIFT, H, L, R, StackTypes, actions, may_shift
from weft.infer.trees.well_formed import CATEGORIES, category

model = cache(small_model)


@cache
def cases() -> list[tuple[tuple[int, ...], list[tuple[int, int]], list[int]]]:
    """Projective trees of up to five words, cut into well-formed pieces, with the types of these."""
    found = []
    for n in range(1, 6):
        for heads in projective_trees(n):
            for spans in segmentations(n):
                forms = [form(heads, start + 1, end) for start, end in spans]
                if "ill-formed" not in forms:
                    found.append((heads, spans, [KINDS[each] for each in forms]))
    return found


@pytest.mark.must_show("shift-reduce-string-to-dependency", 1)
def test_every_tree_can_be_built_from_fixed_pieces_and_nearly_every_one_from_floating_ones() -> None:
    numbers = {}
    for waits in (False, True):
        built = {True: [0, 0], False: [0, 0]}
        for heads, spans, kinds in cases():
            pieces = [piece(heads, *span, kind) for span, kind in zip(spans, kinds, strict=True)]
            reached = any(tree == heads for tree, _ in parses(pieces, waits))
            fixed = set(kinds) == {H}
            built[fixed][0] += reached
            built[fixed][1] += 1
            if not reached:
                assert stands_between(heads, spans, kinds)
        numbers[waits] = built
    assert numbers[False] == {True: [1098, 1098], False: [242, 259]}
    assert numbers[True] == {True: [1098, 1098], False: [259, 259]}


def stands_between(heads: tuple[int, ...], spans: list[tuple[int, int]], kinds: list[int]) -> bool:
    """Whether a fixed piece stands between a left-floating one and its head."""
    for at, (start, end) in enumerate(spans):
        if kinds[at] == L:
            head = next(h for h in heads[start:end] if h > end)
            after = [k for k in range(at + 1, len(spans)) if spans[k][1] < head]
            if any(kinds[k] == H for k in after):
                return True
    return False


@pytest.mark.must_show("shift-reduce-string-to-dependency", 1)
@pytest.mark.must_show("shift-reduce-string-to-dependency", 2)
def test_whatever_the_table_allows_is_a_projective_tree_with_the_arcs_of_its_pieces_after_2k_minus_1_actions() -> None:
    shapes = [((-1,), H), ((1, -1), H), ((-1, 0), H), ((-1, -1), L), ((-1, -1), R)]
    seen = 0
    for k in range(1, 6):
        for chosen in product(shapes if k < 5 else shapes[:1] + shapes[3:], repeat=k):
            for heads, said in parses(chosen):
                seen += 1
                assert len(said) == 2 * k - 1
                assert said.count(SHIFT) == k
                assert heads.count(0) == 1
                assert is_projective(heads)
                base = 0
                for inner, _ in chosen:
                    assert all(heads[base + m] == base + h + 1 for m, h in enumerate(inner) if h >= 0)
                    base += len(inner)
    assert seen > 1000


@pytest.mark.must_show("shift-reduce-string-to-dependency", 1)
def test_the_table_is_that_of_the_paper() -> None:
    everything = {pair: actions(*pair) for pair in product((-1, H, L, R), repeat=2)}
    allowed = {pair: found for pair, found in everything.items() if found}
    assert allowed == {
        (-1, -1): (SHIFT,), (-1, H): (SHIFT,), (-1, L): (SHIFT,), (H, H): (SHIFT, LEFT_ACTION, RIGHT_ACTION),
        (H, L): (SHIFT,), (H, R): (RIGHT_ACTION,), (L, H): (LEFT_ACTION,), (L, L): (SHIFT,),
    }  # fmt: skip
    assert [may_shift(*pair, R) for pair in ((-1, -1), (-1, H), (H, H), (H, L), (L, H))] == [
        False, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.must_show("shift-reduce-string-to-dependency", 3)
def test_categories_are_those_of_the_definitions() -> None:
    for n in range(1, 6):
        for heads in projective_trees(n):
            for start in range(n):
                for end in range(start + 1, n + 1):
                    assert CATEGORIES[category(heads, start, end)] == form(heads, start + 1, end)


def test_derivations_are_those_that_enumeration_finds() -> None:
    rng = np.random.default_rng(0)
    every = [heads for n in range(2, 6) for heads in projective_trees(n)]
    for at in rng.integers(0, len(every), 60):
        heads = every[at]
        n = len(heads)
        spans = {(k, k + 1) for k in range(n)} | {tuple(sorted(pair)) for pair in rng.integers(0, n + 1, (4, 2))}
        spans = {(int(a), int(b)) for a, b in spans if b > a and b - a < n}
        wanted: set[tuple[tuple[tuple[int, int], ...], int]] = set()
        for cut in segmentations(n):
            forms = [form(heads, start + 1, end) for start, end in cut]
            if set(cut) <= spans and "ill-formed" not in forms:
                pieces = [piece(heads, *span, KINDS[each]) for span, each in zip(cut, forms, strict=True)]
                for tree, said in parses(pieces):
                    if tree == heads:
                        wanted |= decisions(cut, pieces, said)
        found = Derivations(heads, spans, short=False)
        assert set(found.decisions()) == wanted
        assert found.exists
        short = set(Derivations(heads, spans).decisions())
        assert short <= wanted
        left = {stack for stack, action in short if action == LEFT_ACTION}
        assert not any(stack in left for stack, action in short if action == SHIFT)


def decisions(cut, pieces, said):
    """The upper two spans at h on h, and what was done, along one sequence of actions."""
    found, stack, done = set(), [], 0
    for action in said:
        if len(stack) > 1 and stack[-1][1] == H == stack[-2][1]:
            found.add(((stack[-2][0], stack[-1][0]), action))
        if action == SHIFT:
            stack.append((cut[done], pieces[done][1]))
            done += 1
        else:
            top, below = stack.pop(), stack.pop()
            stack.append(((below[0][0], top[0][1]), H))
    return found


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 5), st.integers(0, 3))
@pytest.mark.must_show("shift-reduce-string-to-dependency", 2)
@pytest.mark.must_show("shift-reduce-string-to-dependency", 4)
def test_the_first_pass_finds_what_enumeration_of_options_and_actions_finds(seed: int, length: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    options = random_options(rng, length, min(more, 5 - length + 1), words=5)
    kinds = rng.choice([H, H, L, R], len(options)).astype(np.int32)
    options = options.labelled(np.arange(len(options)))
    decoder = Decoder([ngram_feature(model()), StackTypes(kinds)], SearchSettings.exact())
    weights = rng.normal(size=len(decoder.names(options)))
    wanted = []
    for each in enumerated(options, [ngrams(model())], weights[:-1], None, -1):
        pieces = [((-1,) if kinds[o] == H else (-1, -1), int(kinds[o])) for o in each.options]
        for _, said in parses(pieces):
            wanted.append(each.score + weights[-1] * open_choices(pieces, said) * np.log(1 / 3))
    wanted.sort(reverse=True)
    graph = decoder.search(options, weights)
    listed = [] if graph.is_empty else graph.kbest(300)
    assert [each.score for each in listed] == pytest.approx(wanted[:300], abs=1e-9)
    for each in listed[:5]:
        shifts = [o for o in each.options if o < len(options)]
        assert len(each.options) == 2 * len(shifts) - 1


def open_choices(pieces, said) -> int:
    """How many actions were taken at h on h."""
    stack, done, found = [], 0, 0
    for action in said:
        found += stack[-2:] == [H, H]
        if action == SHIFT:
            stack.append(pieces[done][1])
            done += 1
        else:
            stack[-2:] = [H]
    return found


def test_stacks_of_different_types_do_not_recombine() -> None:
    """Two ways to the same words and coverage: one leaves a floating piece on the stack, the other a fixed one."""
    options = Options.of(2, [(0, 1, [3, 4]), (0, 1, [3, 4]), (1, 2, [5])], [[0.0], [-1.0], [0.0]])
    options = options.labelled([0, 1, 2])
    decoder = Decoder([StackTypes(np.array([R, L, H], np.int32))], SearchSettings.exact(0))
    assert [each.options for each in decoder.search(options, np.ones(3)).kbest(5)] == [(1, 2, 3)]


def test_as_many_types_as_options_are_wanted() -> None:
    with pytest.raises(InferenceError, match="the number of one of 2 pieces"):
        Decoder([StackTypes(np.zeros(2, np.int32))]).search(Options.of(1, [(0, 1, [3])]), np.ones(2))
