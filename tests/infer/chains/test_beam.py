"""Beam search over sequences with label history, against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.chains.beam import History, HistoryChain, Patterns, slot

PATTERNS = [((-1, -1),), ((-2, -1),), ((-2, -2), (-1, -1)), ((-3, -1), (-1, -1)), ((-4, -4),)]


def values(pattern, before, n_labels):
    """The values of a pattern by its definition: one label a range, as digits."""
    sets = [
        {before[len(before) + offset] if len(before) + offset >= 0 else n_labels for offset in range(lo, hi + 1)}
        for lo, hi in pattern
    ]
    found = []
    for choice in product(*sets):
        number = 0
        for label in choice:
            number = number * (n_labels + 1) + label
        found.append(number)
    return found


def score(chain, labels, patterns):
    """The score of one sentence by its definition."""
    history, total = chain.history, 0.0
    for i, label in enumerate(labels):
        total += chain.node[i, label]
        for f in range(history.offsets[i], history.offsets[i + 1]):
            for value in values(patterns[history.pattern[f]], labels[:i], chain.n_labels):
                at, sign = slot(history.base[f], value, label, chain.n_labels, history.bits)
                total += sign * history.weights[at]
    return total


@st.composite
def chains(draw):
    n, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    chosen = draw(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    patterns = Patterns.of(chosen)
    sizes = patterns.sizes(n_labels) * n_labels
    counts = rng.integers(0, 3, n)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    pattern = rng.integers(0, len(chosen), offsets[-1]).astype(np.int32)
    bits = draw(st.sampled_from([0, 6]))
    if bits:
        base, size = rng.integers(0, 2**63, offsets[-1]).astype(np.uint64), 64 * n_labels
    else:
        ends = np.cumsum(sizes[pattern]) if len(pattern) else np.zeros(0, dtype=np.int64)
        base = (ends - sizes[pattern]).astype(np.uint64)
        size = int(ends[-1]) if len(ends) else 1
    history = History(offsets, base, pattern, patterns, rng.normal(size=size), bits)
    legal = None
    if draw(st.booleans()):
        legal = rng.random((n_labels + 1, n_labels)) < 0.7
        legal[:, 0] = True
    chain = HistoryChain(rng.normal(size=(n, n_labels)), np.array([0, n]), history, 3 ** (n + 1), legal)
    gold = rng.integers(0, n_labels, n)
    return chain, chosen, gold


@pytest.mark.must_show("uncertainty-detection", 1)
@given(chains())
@settings(max_examples=60, deadline=None)
def test_an_unlimited_beam_finds_the_best_of_all_sequences_with_costs_too(case):
    chain, patterns, gold = case
    for each in (chain, chain.augment(chain.hamming(gold))):
        n, n_labels = each.node.shape
        legal = np.ones((n_labels + 1, n_labels), dtype=bool) if each.legal is None else each.legal
        everything = [
            labels
            for labels in product(range(n_labels), repeat=n)
            if all(legal[a, b] for a, b in zip((n_labels, *labels), labels, strict=False))
        ]
        scores = [score(each, labels, patterns) for labels in everything]
        best = everything[int(np.argmax(scores))]
        assert each.best().tolist() == list(best)
        assert each.score(best)[0] == pytest.approx(max(scores))


@given(chains())
@settings(max_examples=40, deadline=None)
def test_a_beam_as_wide_as_the_labels_in_reach_is_already_exact(case):
    chain, _, _ = case
    enough = HistoryChain(
        chain.node, chain.sentences, chain.history, chain.n_labels**chain.history.patterns.reach, chain.legal
    )
    assert enough.best().tolist() == chain.best().tolist()


@given(chains(), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_narrow_beam_gives_a_legal_sequence_and_its_own_score(case, width):
    chain, patterns, _ = case
    narrow = HistoryChain(chain.node, chain.sentences, chain.history, width, chain.legal)
    labels = narrow.best()
    assert narrow.score(labels)[0] == pytest.approx(score(chain, tuple(labels.tolist()), patterns))
    assert narrow.score(labels)[0] <= chain.score(chain.best())[0] + 1e-9
    if chain.legal is not None:
        assert all(chain.legal[a, b] for a, b in zip([chain.n_labels, *labels], labels, strict=False))


def test_sentences_of_a_batch_do_not_see_each_other():
    history = History(
        np.arange(5), np.zeros(4, dtype=np.uint64), np.zeros(4, dtype=np.int32), Patterns.of([((-1, -1),)]),
        np.array([0.0, 5.0, 0.0, 0.0, 0.0, 0.0]),
    )  # fmt: skip
    node = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    assert HistoryChain(node, np.array([0, 2, 4]), history).best().tolist() == [0, 1, 0, 1]
    assert HistoryChain(node, np.array([0, 2, 2, 4])).best().tolist() == [0, 0, 0, 0]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InferenceError, match="labels before its own"):
        Patterns.of([((-1, 0),)])
    with pytest.raises(InferenceError, match="width of at least 1"):
        HistoryChain(np.zeros((1, 2)), np.array([0, 1]), width=0)
    with pytest.raises(InferenceError, match="expected 3 rows"):
        HistoryChain(np.zeros((1, 2)), np.array([0, 3]))
