"""The search without pruning finds what enumeration finds; scores add up; pruning only loses."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from decoding_twins import enumerated, ngram_feature, ngrams, random_options, reordering, small_model
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.decoding.decoder import Decoder, SearchSettings
from weft.infer.decoding.forced import ForcedTarget
from weft.infer.decoding.options import Options
from weft.infer.decoding.reordering import Reordering

model = cache(small_model)


def case(seed: int, length: int, more: int):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(5, 6))
    # Some phrase pairs are alike, so that hypotheses recombine.
    table[1], default = table[0], tuple(rng.normal(size=6).tolist())
    features = [ngram_feature(model()), Reordering(table, default)]
    judges = [ngrams(model()), reordering(table, default)]
    options = random_options(rng, length, more, words=5)
    weights = rng.normal(size=len(Decoder(features).names(options)))
    weights[2] = abs(weights[2])
    return options, features, judges, weights, rng.normal(size=6)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 4), st.sampled_from([-1, 0, 1, 2, 3]))
def test_unlimited_search_is_enumeration(seed: int, length: int, more: int, limit: int) -> None:
    options, features, judges, weights, sparse = case(seed, length, more)
    every = enumerated(options, judges, weights, sparse, limit)
    graph = Decoder(features, SearchSettings.exact(limit)).search(options, weights, sparse)
    best = graph.best()
    assert best.score == pytest.approx(every[0].score, abs=1e-9)
    listed = graph.kbest(len(every) + 5)
    assert len(listed) == len(every)
    assert {each.options for each in listed} == {each.options for each in every}
    assert [each.score for each in listed] == pytest.approx([each.score for each in every], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 6), st.integers(0, 12))
def test_scores_on_edges_add_up_to_those_of_the_whole(seed: int, length: int, more: int) -> None:
    options, features, judges, weights, sparse = case(seed, length, more)
    graph = Decoder(features, SearchSettings(beam=5, pops=20)).search(options, weights, sparse)
    anew = np.random.default_rng(seed).normal(size=len(weights))
    other = graph.reweighted(anew, sparse)
    for each in graph.kbest(20):
        scores = np.array([options.scores[o] for o in each.options]).sum(axis=0)
        rest = [float(value) for judge in judges for value in judge(options, each.options)]
        features_of = graph.features(each)
        assert features_of[:2] == pytest.approx(scores, abs=1e-9)
        assert features_of[3:] == pytest.approx(rest, abs=1e-9)
        ids, values = graph.sparse(each)
        fired = float(sparse[ids] @ values)
        assert each.score == pytest.approx(float(features_of @ weights) + fired, abs=1e-9)
        total = sum(other.edge_score[edge] for edge in each.edges)
        assert total == pytest.approx(float(features_of @ anew) + fired, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 4), st.integers(0, 30))
def test_forced_decoding_gives_exactly_the_derivations_of_the_reference(
    seed: int, length: int, more: int, which: int
) -> None:
    options, features, judges, weights, sparse = case(seed, length, more)
    every = enumerated(options, judges, weights, sparse, -1)
    said = [[w for o in each.options for w in options.target(o)] for each in every]
    reference = said[which % len(said)]
    wanted = [each for each, words in zip(every, said, strict=True) if words == reference]
    forced = ForcedTarget(reference)
    usable = forced.usable(options)
    graph = Decoder([*features, forced], SearchSettings.exact()).search(usable, weights, sparse)
    listed = graph.kbest(len(every) + 1)
    assert all(graph.words(each) == reference for each in listed)
    assert [each.score for each in listed] == pytest.approx([each.score for each in wanted], abs=1e-9)


def test_a_reference_that_cannot_be_said_gives_an_empty_graph() -> None:
    options, features, _, weights, _ = case(1, 3, 3)
    graph = Decoder([*features, ForcedTarget([4] * 20)], SearchSettings.exact()).search(options, weights)
    assert graph.is_empty
    with pytest.raises(InferenceError, match="no derivation"):
        graph.best()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**20))
def test_a_wider_beam_never_loses_the_exact_best_and_never_beats_it(seed: int) -> None:
    options, features, _, weights, sparse = case(seed, 6, 10)
    exact = Decoder(features, SearchSettings.exact(3)).search(options, weights, sparse).best().score
    for beam, pops in ((1, 5), (5, 50), (10**6, 0)):
        graph = Decoder(features, SearchSettings(beam, pops, distortion_limit=3)).search(options, weights, sparse)
        if not graph.is_empty:
            assert graph.best().score <= exact + 1e-9
    assert graph.best().score == pytest.approx(exact, abs=1e-9)


def test_hypotheses_recombine() -> None:
    """Two ways to say the same with the same state leave one hypothesis, with an edge for each."""
    options = Options.of(2, [(0, 1, [0]), (0, 1, [0]), (1, 2, [1])], [[1.0], [2.0], [0.0]], ["own"])
    graph = Decoder([ngram_feature(model())], SearchSettings.exact(0)).search(options, np.array([1.0, 1.0, 1.0]))
    assert (graph.n_nodes, len(graph)) == (4, 5)
    assert [graph.features(each)[0] for each in graph.kbest(5)] == [2.0, 1.0]
    assert len(graph.kbest(5, distinct=True)) == 1


def test_sentences_longer_than_a_machine_word_are_translated() -> None:
    rng = np.random.default_rng(0)
    n = 150
    rows = [(i, i + 1, [int(w)]) for i in range(n) for w in rng.integers(0, 4, 2)]
    options = Options.of(n, rows, rng.normal(size=(len(rows), 1)), ["own"])
    features = [ngram_feature(model())]
    graph = Decoder(features, SearchSettings(20, 60, distortion_limit=2)).search(options, np.array([1.0, 1.0, 0.5]))
    best = graph.best()
    assert sorted(options.start[list(best.options)].tolist()) == list(range(n))


def test_an_empty_sentence_has_an_empty_translation() -> None:
    graph = Decoder([ngram_feature(model())]).search(Options.of(0, [], np.zeros((0, 1)), ["own"]), np.ones(3))
    assert graph.words(graph.best()) == []
    assert graph.best().score == pytest.approx(float(model().score([]) * np.log(10)), abs=1e-9)


def test_positions_without_options_give_an_empty_graph() -> None:
    assert Decoder().search(Options.of(2, [(0, 1, [3])]), np.ones(1)).is_empty


def test_wrong_weights_and_settings_are_refused() -> None:
    options = Options.of(1, [(0, 1, [3])], [[1.0]])
    with pytest.raises(InferenceError, match="expected 2 finite weights"):
        Decoder().search(options, np.ones(3))
    with pytest.raises(InferenceError, match="finite"):
        Decoder().search(options, np.array([np.nan, 1.0]))
    with pytest.raises(InferenceError, match="at least 0"):
        SearchSettings(beam=-1)
    with pytest.raises(InferenceError, match="name of its own"):
        Decoder([Reordering(np.zeros((1, 6))), Reordering(np.zeros((1, 6)))])
    with pytest.raises(InferenceError, match="within the 1 source positions"):
        Options.of(1, [(0, 2, [3])])


def test_nothing_is_found_without_options() -> None:
    assert Decoder().search(Options.of(2, []), np.array([1.0])).is_empty
