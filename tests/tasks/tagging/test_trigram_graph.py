"""From tokens to types and back: pooling, spreading, and the search for tags, against loops over words."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.infer.chains.chain import Chain
from weft.tasks.tagging.trigram_graph import TypeGraph, interpolated_tags
from weft.text.doc import Doc

WORDS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=4)


def build(
    labelled: list[list[str]], raw: list[list[str]], seed: int = 0, n_tags: int = 3, **options: object
) -> TypeGraph:
    rng = np.random.default_rng(seed)
    tags = rng.integers(0, n_tags, sum(map(len, labelled)))
    return TypeGraph.build([Doc.from_words(labelled)], tags, [Doc.from_words(raw)], n_tags=n_tags, **options)  # type: ignore[arg-type]


def type_names(sentences: list[list[str]]) -> list[tuple[str, str, str]]:
    found = []
    for words in sentences:
        padded = ["<", *words, ">"]
        found += [tuple(padded[i : i + 3]) for i in range(len(words))]
    return found  # type: ignore[return-value]


@settings(max_examples=30, deadline=None)
@given(WORDS, WORDS, st.integers(0, 10**6))
def test_types_pool_their_tokens_and_labelled_ones_their_tags(
    labelled: list[list[str]], raw: list[list[str]], seed: int
) -> None:
    types = build(labelled, raw, seed)
    names = type_names(labelled + raw)
    rng = np.random.default_rng(seed)
    tags = rng.integers(0, 3, sum(map(len, labelled)))
    posteriors = rng.dirichlet(np.ones(3), size=len(names))
    pooled = types.pool(posteriors)
    for token, name in enumerate(names):
        same = [i for i, other in enumerate(names) if other == name]
        assert {int(types.of_token[i]) for i in same} == {int(types.of_token[token])}
        assert pooled[types.of_token[token]] == pytest.approx(posteriors[same].mean(axis=0))
    known = type_names(labelled)
    assert {int(types.of_token[i]) for i in range(len(known))} == set(types.labelled.tolist())
    for vertex, target in zip(types.labelled, types.targets, strict=True):
        own = [i for i in range(len(known)) if types.of_token[i] == vertex]
        assert target == pytest.approx(np.bincount(tags[own], minlength=3) / len(own))


def test_sure_tokens_count_more_when_pooled_by_entropy() -> None:
    types = build([["a"]], [["b"], ["b"]])
    posteriors = np.array([[1.0, 0, 0], [1.0, 0, 0], [0.2, 0.4, 0.4]])
    mean, by_entropy = types.pool(posteriors)[1], types.pool(posteriors, "entropy")[1]
    assert mean == pytest.approx([0.6, 0.2, 0.2])
    assert by_entropy[0] > 0.9
    assert by_entropy.sum() == pytest.approx(1.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0, 1))
def test_the_search_finds_the_best_sequence_of_all(seed: int, n: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(3), size=(2, n))
    transitions = rng.normal(size=(3, 3))
    mixed = np.log(alpha * p + (1 - alpha) * q)

    def value(path: tuple[int, ...]) -> float:
        steps = sum(transitions[a, b] for a, b in pairwise(path))
        return float(sum(mixed[j, y] for j, y in enumerate(path)) + steps)

    found = interpolated_tags(p, q, alpha, transitions, np.array([0, n]))
    assert value(tuple(found.tolist())) == pytest.approx(max(map(value, product(range(3), repeat=n))))


@pytest.mark.must_show("graph-ssl-crf", 4)
@settings(max_examples=30, deadline=None)
@given(WORDS, WORDS, st.integers(0, 10**6), st.integers(1, 4), st.floats(0.01, 3), st.floats(0.001, 1))
def test_with_alpha_1_the_graph_says_nothing_and_without_sweeps_types_keep_what_was_pooled(
    labelled: list[list[str]], raw: list[list[str]], seed: int, k: int, mu: float, nu: float
) -> None:
    rng = np.random.default_rng(seed)
    first, second = build(labelled, raw, seed), build(labelled, raw, seed, k=k)
    n = len(first.of_token)
    posteriors, transitions = rng.dirichlet(np.ones(3), size=n), rng.normal(size=(3, 3))
    sentences = np.cumsum([0, *map(len, labelled + raw)])
    tags = [
        interpolated_tags(posteriors, types.spread(posteriors, *pulls)[types.of_token], 1.0, transitions, sentences)
        for types, pulls in ((first, (0.5, 0.01)), (second, (mu, nu)))
    ]
    assert np.array_equal(*tags)
    assert np.array_equal(second.spread(posteriors, mu, nu, sweeps=0), first.pool(posteriors))


def test_diagnostics_count_types_without_a_path_to_labelled_ones() -> None:
    types = build([["a", "b"], ["a", "c"]], [["a", "d"], ["x", "y", "z"]])
    found = types.diagnostics()
    assert (found.vertices, found.labelled) == (9, 4)
    lengths = types.graph.path_lengths(types.labelled)[types.graph.n_vertices - 5 :]
    assert found.disconnected == pytest.approx(float((lengths < 0).mean()))
    bare = types.thin(0.0).diagnostics()
    assert (bare.edges, bare.disconnected, bare.path_length) == (0, 1.0, 0.0)


def test_bad_input_is_refused_in_plain_words() -> None:
    with pytest.raises(DataError, match="one tag per word"):
        TypeGraph.build([Doc.from_words([["a"]])], [0, 1], [], n_tags=2)
    with pytest.raises(ConfigError, match="mean, entropy"):
        build([["a"]], [["b"]]).pool(np.ones((2, 3)) / 3, "median")


@pytest.mark.parametrize("seed", range(5))
def test_marginals_leave_nothing_for_bigrams_to_add(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.arange(0, 31, 5)
    chain = Chain(rng.normal(size=(30, 4)), rng.normal(scale=2.0, size=(4, 4)), offsets)
    p = chain.node_marginals()

    def expected(transitions: np.ndarray) -> float:
        tags = interpolated_tags(p, p, 0.6, transitions, offsets)
        return float(p[np.arange(30), tags].sum())

    alone = expected(np.zeros((4, 4)))
    assert expected(chain.edge) < alone
    assert expected(0.5 * chain.edge) <= alone
