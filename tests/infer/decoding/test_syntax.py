"""The second pass of translation with a shift-reduce parser, and what it computes on the way."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from decoding_twins import enumerated, ngram_feature, ngrams, random_options, small_model
from hypothesis import given, settings
from hypothesis import strategies as st
from shift_reduce_twins import parses, projective_trees

from weft.infer.decoding.decoder import Decoder, SearchSettings
from weft.infer.decoding.options import Options
from weft.infer.decoding.pieces import Pieces
from weft.infer.decoding.rescoring import rescored
from weft.infer.decoding.shift_reduce import SHIFT, H, L, R, StackTypes
from weft.infer.decoding.siblings import tree_events
from weft.infer.decoding.syntax import Reductions, Syntax
from weft.infer.decoding.trimming import trimmed, worths
from weft.learn.ngrams.dependencies import DependencyModel
from weft.learn.ngrams.vocabulary import BEGIN_ID, END_ID

model = cache(small_model)


@cache
def dependencies(stops: bool = False) -> DependencyModel:
    """A dependency model of ten words."""
    rng = np.random.default_rng(1)
    trees = [heads for n in range(2, 6) for heads in projective_trees(n)]
    return DependencyModel.fit(
        (
            ([str(word) for word in rng.integers(0, 10, len(heads))], heads)
            for heads in (trees[k] for k in rng.integers(0, len(trees), 80))
        ),
        stops=stops,
    )


def conditional(side: str, sibling: str | None, head: str | None, child: str | None, stops: bool = False) -> float:
    """log P(child | sibling, head) by the model of a side; no child: the end."""
    model = dependencies(stops)
    ids = model.vocabulary.ids
    own = model.left if side == "left" else model.right
    row = [
        BEGIN_ID if sibling is None else ids[sibling],
        END_ID if head is None else ids[head],
        END_ID if child is None else ids[child],
    ]
    state = np.array([own.empty], np.int32)
    total = 0.0
    for word in row:
        score, state = own.step(state, np.array([word], np.int32))
        total = float(score[0])
    return total * float(np.log(10))


def tree_score(words: list[str], heads: list[int], stops: bool = False) -> float:
    """The formula of the dependency model: every child given its head and the sibling nearer to it."""
    total = 0.0
    for h, word in enumerate(words, start=1):
        left = [words[m - 1] for m in range(h - 1, 0, -1) if heads[m - 1] == h]
        right = [words[m - 1] for m in range(h + 1, len(words) + 1) if heads[m - 1] == h]
        for side, own in (("left", left), ("right", right)):
            for sibling, child in pairwise([None, *own]):
                total += conditional(side, sibling, word, child, stops)
            if stops:
                total += conditional(side, own[-1] if own else None, word, None, stops)
        if heads[h - 1] == 0:
            total += conditional("left", None, None, word, stops)
    return total


def random_pieces(rng: np.random.Generator, options: Options) -> Pieces:
    """A random piece for every option; its tokens are words 0 to 9 with tags 0 to 2, numbered 3 w + t."""
    rows = []
    for size in options.sizes().tolist():
        kind = int(rng.choice([H, H, H, L, R])) if size > 1 else H
        tokens = rng.integers(0, 30, size).tolist()
        trees = list(projective_trees(size))
        heads = [h - 1 for h in trees[rng.integers(0, len(trees))]]
        rows.append((tokens, heads if kind == H else [-1] * size, kind, False))
    return Pieces.of(rows)


def reductions(rng: np.random.Generator) -> Reductions:
    words = np.array([dependencies().vocabulary.ids[str(token // 3)] for token in range(30)], np.int32)
    return Reductions(rng.normal(size=(256, 3)).astype(np.float32), words, np.arange(30, dtype=np.int32) % 3)


def whole(
    pieces: Pieces, chosen: tuple[int, ...], said: list[int], own: Reductions, stops: bool
) -> tuple[float, float]:
    """Scores of a derivation from its finished tree, and from its stacks as lists."""
    tokens: list[int] = []
    stack: list[tuple[int, int, int, int]] = []  # first word, last word, root, type
    heads: list[int] = []
    done, actions = 0, 0.0
    for action in said:
        if len(stack) > 1 and stack[-1][3] == H == stack[-2][3]:
            full = done == len(chosen) and action != SHIFT
            (_, t1, t, _), (s0, _, s, _) = stack[-2:]
            outer = [max((m for m in range(t + 1, t1) if heads[m] == t + 1), default=-1)]
            outer.append(min((m for m in range(s0, s) if heads[m] == s + 1), default=-1))
            row = [int(full)]
            for k in (t, outer[0], s, outer[1]):
                row += [int(own.word[tokens[k]]), int(own.tag[tokens[k]])] if k >= 0 else [-1, -1]
            actions += float(np.log(own.probabilities(np.array([row], np.int32))[0, action]))
        if action == SHIFT:
            o = chosen[done]
            base, inner = len(tokens), pieces.heads_of(o)
            tokens += pieces.tokens[pieces.offsets[o] : pieces.offsets[o + 1]].tolist()
            heads += [base + h + 1 if h >= 0 else 0 for h in inner]
            stack.append((base, len(tokens), base + inner.index(-1), int(pieces.kind[o])))
            done += 1
            continue
        top, below = stack.pop(), stack.pop()
        head, child = (top, below) if action == 1 else (below, top)
        for m in range(child[0], child[1]):
            if heads[m] == 0:
                heads[m] = head[2] + 1
        stack.append((below[0], top[1], head[2], H))
    words = [str(token // 3) for token in tokens]
    return tree_score(words, heads, stops), actions


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 2), st.booleans())
@pytest.mark.must_show("shift-reduce-string-to-dependency", 2)
@pytest.mark.must_show("shift-reduce-string-to-dependency", 4)
def test_the_second_pass_finds_what_enumeration_with_all_features_finds(
    seed: int, length: int, more: int, stops: bool
) -> None:
    rng = np.random.default_rng(seed)
    options = random_options(rng, length, more, words=5)
    options = options.take(options.sizes() > 0)
    options = options.labelled(np.arange(len(options)))
    pieces, own = random_pieces(rng, options), reductions(rng)
    automata = dependencies(stops).automata
    syntax = Syntax(pieces, pieces.inner_scores(own.word, *automata, stops), *automata, own, stops=stops)
    first = Decoder([ngram_feature(model()), StackTypes(pieces.kind)], SearchSettings.exact())
    n = len(first.names(options))
    weights = rng.normal(size=n + 2)
    wanted = []
    for each in enumerated(options, [ngrams(model())], weights[: n - 1], None, -1):
        rows = [(tuple(pieces.heads_of(o)), int(pieces.kind[o])) for o in each.options]
        for _, said in parses(rows):
            dlm, actions = whole(pieces, each.options, said, own, stops)
            choices = decisions(rows, said)
            total = each.score + weights[n - 1] * choices * np.log(1 / 3) + weights[n] * dlm + weights[n + 1] * actions
            wanted.append(total)
    wanted.sort(reverse=True)
    graph = first.search(options, weights[:n])
    if not wanted:
        assert graph.is_empty
        return
    again = rescored(trimmed(graph), [syntax], weights)
    listed = again.kbest(100)
    assert [each.score for each in listed] == pytest.approx(wanted[:100], abs=1e-9)
    best = again.best()
    heads = pieces.tree(best.options, len(options), options.label)
    tokens = [
        t for o in best.options if o < len(options) for t in pieces.tokens[pieces.offsets[o] : pieces.offsets[o + 1]]
    ]
    scored = tree_score([str(token // 3) for token in tokens], heads, stops)
    assert again.features(best)[-2] == pytest.approx(scored, abs=1e-9)
    assert dependencies(stops).score([str(token // 3) for token in tokens], heads) == pytest.approx(scored, abs=1e-9)


def decisions(rows, said) -> int:
    stack, done, found = [], 0, 0
    for action in said:
        found += stack[-2:] == [H, H]
        if action == SHIFT:
            stack.append(rows[done][1])
            done += 1
        else:
            stack[-2:] = [H]
    return found


@pytest.mark.must_show("shift-reduce-string-to-dependency", 2)
def test_probabilities_of_children_sum_to_one_and_a_known_sibling_matters() -> None:
    own = dependencies()
    for automaton in (own.left, own.right):
        for sibling in (BEGIN_ID, 3, 7):
            state = np.array([automaton.empty], np.int32)
            for word in (sibling, 4):
                _, state = automaton.step(state, np.array([word], np.int32))
            words = np.arange(len(own.vocabulary), dtype=np.int32)
            words = words[words != BEGIN_ID]
            scores, _ = automaton.step(np.repeat(state, len(words)), words)
            assert (10**scores).sum() == pytest.approx(1, abs=1e-5)
    near = {conditional("left", sibling, "4", "5") for sibling in (None, *"0123456789")}
    assert len(near) > 2


def test_events_are_those_of_the_tree() -> None:
    left, right = tree_events(np.arange(10, 16), np.array([3, 3, 0, 6, 6, 3]))
    assert sorted(map(tuple, left.tolist())) == [
        (BEGIN_ID, END_ID, 12), (BEGIN_ID, 12, 11), (BEGIN_ID, 15, 14), (11, 12, 10), (14, 15, 13),
    ]  # fmt: skip
    assert right.tolist() == [[BEGIN_ID, 12, 15]]


def test_when_all_is_translated_nothing_is_shifted() -> None:
    own = reductions(np.random.default_rng(0))
    events = np.array([[c, 3, 0, -1, -1, 4, 1, -1, -1] for c in (0, 1)], np.int32)
    found = own.probabilities(events)
    assert found.sum(axis=1) == pytest.approx([1, 1])
    assert found[1, SHIFT] == 0 < found[0, SHIFT]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 4))
def test_trimming_keeps_the_best_derivations(seed: int, length: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    options = random_options(rng, length, more, words=5).labelled(np.zeros(length + more))
    decoder = Decoder([ngram_feature(model()), StackTypes(np.array([H], np.int32))], SearchSettings(20, 40))
    graph = decoder.search(options, rng.normal(size=len(decoder.names(options))))
    if graph.is_empty:
        assert trimmed(graph) is graph
        return
    wanted = graph.kbest(10**4)
    edges: dict[int, float] = {}
    for each in wanted:
        for edge in each.edges:
            edges[edge] = max(each.score, edges.get(edge, -np.inf))
    worth = worths(graph)
    assert {e: pytest.approx(value) for e, value in edges.items()} == {e: worth[e] for e in edges}
    assert [each.score for each in trimmed(graph).kbest(10**4)] == pytest.approx([each.score for each in wanted])
    most = int(rng.integers(1, len(graph)))
    small = trimmed(graph, most)
    assert small.best().score == pytest.approx(wanted[0].score)
    assert len(small) <= int((worth >= np.sort(worth)[-most] - 1e-6).sum())  # what is worth as much stays
