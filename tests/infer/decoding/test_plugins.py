"""Features written in Python: states of their own, moves, control of what follows what, and second passes."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from decoding_twins import Derived, enumerated, ngram_feature, ngrams, random_options, small_model
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.decoding.decoder import Decoder, SearchSettings
from weft.infer.decoding.features import Batch, Control
from weft.infer.decoding.options import Options
from weft.infer.decoding.rescoring import rescored

model = cache(small_model)


class Alternation:
    """Counts options that have as many words as the one before, and the parity of their number at the end."""

    names = ("alike", "odd")

    def bind(self, options: Options):
        sizes = options.sizes()

        class Bound:
            start = np.array([-1, 0], np.int32)
            estimate = np.zeros((len(options), 2))
            control = None

            def expand(self, batch: Batch, states):
                size = sizes[batch.option]
                scores = np.zeros((len(batch), 2))
                scores[:, 0] = states[:, 0] == size
                return scores, np.stack([size, 1 - states[:, 1]], axis=1).astype(np.int32)

            def finish(self, states):
                return np.stack([np.zeros(len(states)), states[:, 1]], axis=1)

        return Bound()


def alternation(options: Options, chosen: tuple[int, ...]) -> list[float]:
    sizes = [len(options.target(o)) for o in chosen]
    return [float(sum(a == b for a, b in pairwise(sizes))), float(len(sizes) % 2)]


class Brackets:
    """Every option is put on a stack; a move takes the top two off and puts one back, and pays for the depth.

    The state is the depth of the stack, at most 3. A derivation ends with one thing on the stack.
    """

    names = ("depth",)

    def bind(self, options: Options):
        control = Control(
            class_of=lambda states: states[:, 0],
            option_class=np.zeros(len(options), np.int32),
            allowed=np.array([[True], [True], [True], [False]]),
            final=np.array([False, True, False, False]),
            moves=np.array([[False], [False], [True], [True]]),
        )

        class Bound:
            start = np.array([0], np.int32)
            estimate = np.zeros((len(options), 1))

            def expand(self, batch: Batch, states):
                move = batch.option >= batch.n_options
                depth = states[:, 0] + np.where(move, -1, 1)
                return (-states * move[:, None]).astype(float), depth.astype(np.int32)[:, None]

            def finish(self, states):
                return np.zeros((len(states), 1))

        Bound.control = control
        return Bound()


def bracketings(n: int) -> list[tuple[str, float]]:
    """All sequences of n shifts and n - 1 reductions within depth 3, with their scores."""
    found = []

    def grow(said: str, depth: int, score: float) -> None:
        if said.count("s") == n and depth == 1:
            found.append((said, score))
        if said.count("s") < n and depth < 3:
            grow(said + "s", depth + 1, score)
        if depth >= 2:
            grow(said + "r", depth - 1, score - depth)

    grow("", 0, 0.0)
    return found


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 3))
def test_a_feature_in_python_is_scored_as_the_whole_says(seed: int, length: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    options = random_options(rng, length, more, words=5)
    decoder = Decoder([Alternation(), ngram_feature(model())], SearchSettings.exact())
    weights = rng.normal(size=len(decoder.names(options)))
    every = enumerated(options, [alternation, ngrams(model())], weights, None, -1)
    listed = decoder.search(options, weights).kbest(len(every) + 1)
    assert [each.score for each in listed] == pytest.approx([each.score for each in every], abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 3))
def test_moves_make_every_sequence_of_actions(seed: int, length: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    options = random_options(rng, length, more, words=5)
    decoder = Decoder([ngram_feature(model()), Brackets()], SearchSettings.exact())
    weights = rng.normal(size=len(decoder.names(options)))
    every: list[Derived] = enumerated(options, [ngrams(model())], weights[:-1], None, -1)
    wanted = sorted(
        (each.score + weights[-1] * own for each in every for _, own in bracketings(len(each.options))), reverse=True
    )
    graph = decoder.search(options, weights)
    listed = graph.kbest(len(wanted) + 1)
    assert [each.score for each in listed] == pytest.approx(wanted, abs=1e-9)
    for each in listed[:5]:
        shifts = [o for o in each.options if o < len(options)]
        assert len(each.options) == 2 * len(shifts) - 1
        assert each.score == pytest.approx(float(graph.features(each) @ weights), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 4))
def test_a_second_pass_finds_what_one_pass_with_all_features_finds(seed: int, length: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    options = random_options(rng, length, more, words=5)
    language, brackets, last = ngram_feature(model()), Brackets(), Alternation()
    exact = SearchSettings.exact()
    both = Decoder([language, brackets, last], exact)
    weights = rng.normal(size=len(both.names(options)))
    wanted = both.search(options, weights).kbest(200)
    graph = Decoder([language, brackets], exact).search(options, weights[:-2])
    again = rescored(graph, [last], weights)
    listed = again.kbest(200)
    assert again.names == both.names(options)
    assert [each.score for each in listed] == pytest.approx([each.score for each in wanted], abs=1e-9)
    for each in listed[:5]:
        assert float(again.features(each) @ weights) == pytest.approx(each.score, abs=1e-9)
    narrow = rescored(graph, [last], weights, beam=1, pops=3)
    assert narrow.best().score <= wanted[0].score + 1e-9


def test_two_controls_are_refused() -> None:
    class Other(Brackets):
        names = ("other",)

    options = Options.of(1, [(0, 1, [3])])
    with pytest.raises(InferenceError, match="at most one feature"):
        Decoder([Brackets(), Other()]).search(options, np.ones(3))


def test_what_is_forbidden_stays_forbidden_under_any_weight() -> None:
    class Never:
        names = ("never",)

        def bind(self, options: Options):
            class Bound:
                start = np.zeros(0, np.int32)
                estimate = np.zeros((len(options), 1))
                control = None

                def expand(self, batch: Batch, states):
                    return np.where(batch.option == 0, -np.inf, 1.0)[:, None], states

                def finish(self, states):
                    return np.zeros((len(states), 1))

            return Bound()

    options = Options.of(1, [(0, 1, [3]), (0, 1, [4])], [[5.0], [0.0]])
    for weight in (1.0, 0.0, -1.0):
        best = Decoder([Never()]).search(options, np.array([1.0, 1.0, weight])).best()
        assert best.options == (1,)
