"""Recursive networks against a recursion node by node, and their gradients against differences."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neural_twins import compose, random_binary, random_heads, relative, slope

from weft.errors import ConfigError, DataError
from weft.learn.neural.networks import ACTIVATIONS, RecursiveNetwork
from weft.learn.neural.structures import (
    bag_structures,
    binarized,
    binary_structures,
    chain_structures,
    dependency_structures,
    positions,
)

LABELS = ("nsubj", "obj", "det")


def material(seed, kind, count=4, longest=9, weighted=True, types=12):
    """Random structures of a kind and how many matrices they have."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, longest + 1, count).tolist()
    words = random.integers(0, types, sum(lengths)).astype(np.int32)
    heads = [random_heads(random, length) for length in lengths]
    if kind == "chain":
        return chain_structures(lengths, words), 1
    if kind == "bag":
        return bag_structures(lengths, words), 0
    if kind == "binary":
        return binary_structures([random_binary(random, length) for length in lengths], lengths, words), 2
    marks = positions(heads) if kind == "dt" else [LABELS[k] for k in random.integers(0, 3, len(words))]
    known = {mark: k for k, mark in enumerate(["r1", "l1", "r2"] if kind == "dt" else ["nsubj", "obj"])}
    return dependency_structures(heads, words, marks, known, weighted), len(known)


def network_of(structures, matrices, activation, seed=0, n=5, d=4):
    passes = structures.passes
    return RecursiveNetwork.new(d if passes else n, 0 if passes else d, matrices, activation, noise=0.3, seed=seed)


KINDS = ("dt", "sdt", "binary", "chain", "bag")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.sampled_from(sorted(ACTIVATIONS)), st.booleans())
def test_levels_compose_what_a_recursion_composes(seed, kind, activation, weighted):
    structures, matrices = material(seed, kind, weighted=weighted)
    network = network_of(structures, matrices, activation, seed)
    vectors = np.random.default_rng(seed).standard_normal((12, 4))
    found = network.encode(structures.batch(), vectors)
    assert np.abs(found - compose(structures, vectors, network.parameters, activation)).max() < 1e-10
    chosen = np.random.default_rng(seed).permutation(len(structures))[:2]
    assert np.allclose(network.encode(structures.batch(chosen), vectors), found[chosen], atol=1e-12)


@pytest.mark.must_show("dt-rnn", 1)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS[:4]), st.sampled_from(["tanh", "identity", "sigmoid"]))
def test_gradients_agree_with_central_differences_for_every_matrix(seed, kind, activation):
    structures, matrices = material(seed, kind, count=3)
    network = network_of(structures, matrices, activation, seed)
    random = np.random.default_rng(seed)
    vectors, batch = random.standard_normal((12, 4)), structures.batch()
    upstream = random.standard_normal((len(structures), network.size))
    network.encode(batch, vectors)
    gradients = network.gradients(batch, upstream)
    assert set(gradients) == set(network.parameters)
    for name, table in network.parameters.items():
        for flat in random.choice(table.size, min(table.size, 25), replace=False).tolist():
            index = np.unravel_index(flat, table.shape)
            numeric = slope(lambda: float((network.encode(batch, vectors) * upstream).sum()), table, index)
            assert relative(numeric, gradients[name][index]) < 1e-6


@pytest.mark.must_show("dt-rnn", 2)
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["dt", "sdt"]))
def test_identities_make_the_vector_of_a_tree_the_mean_of_its_words(seed, kind):
    structures, matrices = material(seed, kind)
    network = RecursiveNetwork.new(4, 4, matrices, "identity", noise=0.0)
    vectors = np.random.default_rng(seed).standard_normal((12, 4))
    found = network.encode(structures.batch(), vectors)
    for k, (first, end) in enumerate(zip(structures.offsets[:-1], structures.offsets[1:], strict=True)):
        assert found[k] == pytest.approx(vectors[structures.words[first:end]].mean(axis=0), abs=1e-12)


def test_without_weights_it_is_the_sum_of_the_words_instead():
    structures = dependency_structures(
        [np.array([2, 0, 2])], np.arange(3, dtype=np.int32), [""] * 3, {}, weighted=False
    )
    network = RecursiveNetwork.new(3, 3, 0, "identity", noise=0.0)
    assert network.encode(structures.batch(), np.eye(3)).tolist() == [[1.0, 1.0, 1.0]]


@pytest.mark.must_show("dt-rnn", 3, weaker="the order of siblings; pairs of active and passive are a test of their own")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_order_of_siblings_on_a_side_matters_to_positions_but_not_to_labels(seed):
    """Word 0 has three leaves on its right; two of them change places."""
    random = np.random.default_rng(seed)
    heads, vectors = np.array([0, 1, 1, 1]), random.standard_normal((4, 4))
    words, labels = [0, 1, 2, 3], ["root", "obj", "det", "nsubj"]
    one, other = int(random.integers(1, 4)), int(random.integers(1, 4))
    swapped, moved = words.copy(), labels.copy()
    for each in (swapped, moved):
        each[one], each[other] = each[other], each[one]
    rows = [np.array(each, dtype=np.int32) for each in (words, swapped)]
    by_label = [
        dependency_structures([heads], row, marks, {"obj": 0, "det": 1, "nsubj": 2})
        for row, marks in zip(rows, (labels, moved), strict=True)
    ]
    by_place = [dependency_structures([heads], row, positions([heads]), {"r1": 0, "r2": 1, "r3": 2}) for row in rows]
    network = RecursiveNetwork.new(4, 4, 3, noise=0.5, seed=seed)
    same = [network.encode(each.batch(), vectors) for each in by_label]
    assert np.abs(same[0] - same[1]).max() < 1e-12
    if one != other:
        differ = [network.encode(each.batch(), vectors) for each in by_place]
        assert np.abs(differ[0] - differ[1]).max() > 1e-6


def test_positions_count_from_the_head_outwards():
    heads = np.array([3, 3, 0, 3, 3, 5])
    assert positions([heads, heads[:3]]) == ["l2", "l1", "", "r1", "r2", "r1", "l2", "l1", ""]


def test_unknown_labels_and_positions_get_the_identity():
    heads, words = [np.array([2, 0])], np.arange(2, dtype=np.int32)
    vectors = np.random.default_rng(0).standard_normal((2, 3))
    known = dependency_structures(heads, words, ["nsubj", ""], {"nsubj": 0})
    unknown = dependency_structures(heads, words, ["vocative", ""], {"nsubj": 0})
    network = RecursiveNetwork.new(3, 3, 1, "identity", noise=0.0)
    network.parameters["edges"][0] = 0.0
    assert network.encode(known.batch(), vectors)[0] == pytest.approx(vectors[1] / 2)
    assert network.encode(unknown.batch(), vectors)[0] == pytest.approx(vectors.mean(axis=0))


def test_several_roots_are_one_tree_and_cycles_are_none():
    structures = dependency_structures([np.array([0, 1, 0])], np.arange(3, dtype=np.int32), [""] * 3, {})
    assert structures.parents.tolist() == [-1, 0, 0]
    for heads in ([2, 1], [0, 5], [1, 1], [0, -1]):
        with pytest.raises(DataError, match="sentence 1 is not a tree"):
            dependency_structures([np.array(heads)], np.arange(2, dtype=np.int32), [""] * 2, {})


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_binary_trees_join_the_subtrees_of_every_word(seed, length):
    heads = random_heads(np.random.default_rng(seed), length)
    pairs = binarized(heads)
    assert len(pairs) == length - 1
    spans = [{k} for k in range(length)]
    for left, right in pairs:
        spans.append(spans[left] | spans[right])
    assert spans[-1] == set(range(length))
    for word in range(length):
        below = {word}
        while more := {k for k in range(length) if heads[k] - 1 in below} - below:
            below |= more
        assert below in spans


def test_equal_bags_have_equal_vectors_to_the_bit():
    random = np.random.default_rng(0)
    words = random.integers(0, 50, 9).astype(np.int32)
    structures = bag_structures([9, 9], np.concatenate([words, random.permutation(words)]))
    network = RecursiveNetwork.new(7, 0, 0, "identity")
    one, other = network.encode(structures.batch(), random.standard_normal((50, 7)))
    assert (one == other).all()


def test_an_unknown_activation_is_an_error():
    with pytest.raises(ConfigError, match="tanh, identity"):
        RecursiveNetwork.new(2, 2, 0, "cosine")


@pytest.mark.must_show("dt-rnn", 7)
@pytest.mark.timing
def test_levels_are_ten_times_as_fast_as_nodes_on_five_thousand_captions():
    structures, matrices = material(3, "sdt", count=5000, longest=20, types=3000)
    network = network_of(structures, matrices, "tanh", n=50, d=50)
    vectors = np.random.default_rng(0).standard_normal((3000, 50))
    times = []
    for _ in range(4):
        start = time.process_time()
        found = network.encode(structures.batch(), vectors)
        times.append(time.process_time() - start)
    start = time.process_time()
    wanted = compose(structures, vectors, network.parameters, "tanh")
    nodes = time.process_time() - start
    assert np.abs(found - wanted).max() < 1e-10
    assert nodes > 10 * min(times)
