"""Products of hidden Markov models against the enumeration of all picks and states."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.product_hmm import ProductHMM, WordChain
from weft.infer.product_hmm.sums import push

#: An enumeration is too slow to repeat it for smaller and smaller examples.
NO_SHRINKING = (Phase.generate,)


def random_lattice(
    seed: int, frames: int = 3, width: int = 2, participants: int = 2, words: int = 3, exclusive: bool = True,
    kept: int = 8_000_000,
) -> ProductHMM:  # fmt: skip
    """A lattice with words of one or two participants and one to three states."""
    rng = np.random.default_rng(seed)
    chains = []
    for number in range(words):
        own = tuple(int(p) for p in rng.permutation(participants)[: 1 + (seed + number) % 2])
        states = 1 if number == 0 else int(rng.integers(1, 4))
        outputs = rng.random((frames, width ** len(own), states))
        chains.append(WordChain(own, rng.dirichlet(np.ones(states)), rng.dirichlet(np.ones(states), states), outputs))
    unary, pair = rng.normal(size=(frames, width)), rng.normal(size=(frames - 1, width, width))
    return ProductHMM(unary, pair, participants, chains, exclusive, kept)


def paths(lattice: ProductHMM):
    """All picks and states with their scores."""
    tuples = list(product(range(lattice.detections), repeat=lattice.participants))
    if lattice.exclusive:
        tuples = list(permutations(range(lattice.detections), lattice.participants))
    joint = list(product(*(range(word.states) for word in lattice.words)))
    for picks in product(tuples, repeat=lattice.frames):
        for states in product(joint, repeat=lattice.frames):
            own, inner = np.array(picks), np.array(states, dtype=int).reshape(lattice.frames, -1)
            yield own, inner, lattice.score(own, inner)


def enumerated(lattice: ProductHMM):
    """The sum, its expected counts and the best path, by enumeration."""
    listed = list(paths(lattice))
    scores = np.array([score for _, _, score in listed])
    total = float(np.logaddexp.reduce(scores))
    frames = np.arange(lattice.frames)
    picks = np.zeros((lattice.frames, lattice.participants, lattice.detections))
    outputs = [np.zeros_like(word.outputs) for word in lattice.words]
    moves = [np.zeros((word.states, word.states)) for word in lattice.words]
    for (own, inner, _), weight in zip(listed, np.exp(scores - total), strict=True):
        for p in range(lattice.participants):
            picks[frames, p, own[:, p]] += weight
        for number, word in enumerate(lattice.words):
            code = np.zeros(lattice.frames, dtype=int)
            for p in word.participants:
                code = code * lattice.detections + own[:, p]
            outputs[number][frames, code, inner[:, number]] += weight
            np.add.at(moves[number], (inner[:-1, number], inner[1:, number]), weight)
    return total, picks, outputs, moves, float(scores.max())


@pytest.mark.must_show("video-grounded-words", 1)
@settings(max_examples=6, deadline=None, phases=NO_SHRINKING)
@given(st.integers(0, 10_000), st.booleans())
def test_sums_and_counts_equal_enumeration(seed, exclusive):
    lattice = random_lattice(seed, exclusive=exclusive)
    total, picks, outputs, moves, _ = enumerated(lattice)
    found = lattice.marginals()
    assert abs(lattice.log_partition() - total) < 1e-10
    assert abs(found.log_partition - total) < 1e-10
    assert np.abs(found.picks - picks).max() < 1e-10
    for mine, theirs in zip(found.outputs, outputs, strict=True):
        assert np.abs(mine - theirs).max() < 1e-10
    for mine, theirs in zip(found.transitions, moves, strict=True):
        assert np.abs(mine - theirs).max() < 1e-10


@pytest.mark.must_show("video-grounded-words", 1)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3), st.booleans())
def test_factored_transitions_equal_dense_ones(seed, words, exclusive):
    lattice = random_lattice(seed, 4, 3, 2, words, exclusive)
    packed = lattice._packed
    dense = np.ones((1, 1))
    for h in range(len(packed.hidden)):
        n = int(packed.states[packed.hidden[h]])
        dense = np.kron(dense, packed.transitions[h, :n, :n])
    emissions = np.ones((lattice.frames, lattice.size)).reshape(lattice.frames, -1, packed.shape[2])
    for t in range(lattice.frames):
        for n in range(packed.shape[2]):
            emissions[t, :, n] *= packed.allowed[n] * packed.unary[t, packed.digits[:, n]].prod()
            for q in range(emissions.shape[1]):
                h = 0
                for number, word in enumerate(lattice.words):
                    state = packed.hidden_digits[h, q] if word.states > 1 else 0
                    h += word.states > 1
                    emissions[t, q, n] *= word.outputs[t, packed.codes[number, n], state]
    emissions = emissions.reshape(lattice.frames, -1)
    alpha, total = np.repeat(packed.initial, packed.shape[2]) * emissions[0], packed.offset
    for t in range(1, lattice.frames):
        step = np.kron(dense, np.kron(packed.pair[t - 1], packed.pair[t - 1]))
        alpha = (alpha @ step) * emissions[t]
    assert abs(np.log(alpha.sum()) + total - lattice.log_partition()) < 1e-10


@pytest.mark.must_show("video-grounded-words", 3)
@settings(max_examples=6, deadline=None, phases=NO_SHRINKING)
@given(st.integers(0, 10_000), st.booleans())
def test_the_best_path_equals_enumeration(seed, exclusive):
    lattice = random_lattice(seed, exclusive=exclusive)
    found = lattice.best()
    assert abs(found.score - enumerated(lattice)[-1]) < 1e-10
    assert abs(lattice.score(found.picks, found.states) - found.score) < 1e-10
    if exclusive:
        assert (found.picks[:, 0] != found.picks[:, 1]).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 12))
def test_recomputed_frames_change_nothing(seed, frames):
    whole, sparse = (random_lattice(seed, frames, 3, 2, 3, True, kept) for kept in (8_000_000, 0))
    one, other = whole.marginals(), sparse.marginals()
    assert one.log_partition == other.log_partition
    assert np.array_equal(one.picks, other.picks)
    assert all(np.array_equal(a, b) for a, b in zip(one.transitions, other.transitions, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(one.outputs, other.outputs, strict=True))


@pytest.mark.must_show("video-grounded-words", 2)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9))
def test_counts_sum_to_the_frames(seed, frames):
    found = random_lattice(seed, frames, 3, 2, 3).marginals()
    assert np.allclose(found.picks.sum(axis=2), 1)
    for number, outputs in enumerate(found.outputs):
        assert np.isclose(outputs.sum(), frames)
        assert np.isclose(found.transitions[number].sum(), frames - 1)
        assert np.allclose(found.states(number).sum(axis=1), 1)


def test_without_words_and_exclusion_the_normalizer_is_a_power():
    lattice = random_lattice(3, 5, 4, 3, 0, exclusive=False)
    single = ProductHMM(lattice.unary, lattice.pair, 1)
    assert np.isclose(lattice.log_normalizer(), 3 * single.log_normalizer())
    assert random_lattice(3, 5, 4, 3, 0).log_normalizer() < lattice.log_normalizer()


def test_a_frame_costs_a_sum_and_no_square():
    source, matrix = np.random.default_rng(0).random(60), np.random.default_rng(1).random((5, 5))
    target = np.zeros(60)
    push(source, 3, 5, 4, matrix, False, target)
    assert np.allclose(target.reshape(3, 5, 4), np.einsum("aic,ik->akc", source.reshape(3, 5, 4), matrix))
    push(source, 3, 5, 4, matrix, True, target)
    assert np.allclose(target.reshape(3, 5, 4), np.einsum("aic,ki->akc", source.reshape(3, 5, 4), matrix))
    for turned, how in ((False, "ai,ik->ak"), (True, "ai,ki->ak")):
        push(source, 12, 5, 1, matrix, turned, target)
        assert np.allclose(target.reshape(12, 5), np.einsum(how, source.reshape(12, 5), matrix))


def test_padded_detections_are_never_picked():
    lattice = random_lattice(5, 4, 3, 2, 2)
    lattice.unary[:, 2] = -np.inf
    again = ProductHMM(lattice.unary, lattice.pair, 2, lattice.words)
    assert again.marginals().picks[:, :, 2].max() == 0
    assert again.best().picks.max() < 2


def test_too_few_detections_are_an_error():
    unary = np.array([[0.0, -np.inf], [0.0, 0.0]])
    lattice = ProductHMM(unary, np.zeros((1, 2, 2)), 2)
    assert lattice.log_partition() == -np.inf
    with pytest.raises(InferenceError, match="fewer detections"):
        lattice.marginals()
    with pytest.raises(InferenceError, match="fewer detections"):
        lattice.best()
    with pytest.raises(InferenceError, match="3 participants cannot pick from 2"):
        ProductHMM(unary, np.zeros((1, 2, 2)), 3)
    with pytest.raises(InferenceError, match="expected"):
        ProductHMM(unary, np.zeros((1, 2, 2)), 1, [WordChain((0,), np.ones(1), np.ones((1, 1)), np.ones((2, 3, 1)))])
