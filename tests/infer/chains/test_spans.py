"""Probabilities of spans against their brute-force twin, which lists all paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.infer.chains.chain import Chain
from weft.infer.chains.spans import span_probabilities
from weft.learn.chains.labels import LabelSpace
from weft.text.schemes import decode, split_label

ENUMERATED = settings(max_examples=40, deadline=None, derandomize=True)
LABELS = {"IO": ["I-X", "I-Y", "O"], "IOB2": ["B-X", "I-X", "O"], "BIOES": ["B-X", "E-X", "I-X", "O", "S-X"]}


def listed_span_probability(chain, space, scheme, first, end, span):
    """The sum over all paths of one sentence that hold the span."""
    total = found = 0.0
    for path in itertools.product(range(space.n_states), repeat=end - first):
        states = np.array(path)
        score = sum(chain.node[first + i, y] for i, y in enumerate(states))
        score += sum(chain.edge[a, b] for a, b in itertools.pairwise(states))
        weight = np.exp(score)
        total += weight
        labels = [space.labels[tag] for tag in space.tags(states.astype(np.int32))]
        if weight > 0 and span in decode(labels, scheme):
            found += weight
    return found / total


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scheme", ["IO", "IOB2", "BIOES"])
@given(seed=st.integers(0, 2**32 - 1), lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3))
@ENUMERATED
def test_span_probabilities_are_sums_over_all_paths_that_hold_the_span(scheme, order, seed, lengths):
    space = LabelSpace(LABELS[scheme], order, scheme)
    if space.n_states ** max(lengths) > 1500:
        lengths = [min(length, 3) for length in lengths]
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    node = rng.normal(size=(int(offsets[-1]), space.n_states))
    edge = rng.normal(size=(space.n_states, space.n_states))
    chain = Chain(node, edge, offsets, space.allowed(offsets), space.legal)
    tags = space.tags(chain.sample(1, seed)[0])
    labels = [space.labels[tag] for tag in tags]
    parts = [split_label(label, scheme == "IO") for label in space.labels]
    goes_on = np.array([[a[0] in "BI" and b[0] in "IE" and a[1] == b[1] for b in parts] for a in parts])
    from_state = space.tags(np.arange(space.n_states, dtype=np.int32))
    spans, wanted = [], []
    for first, end in itertools.pairwise(offsets.tolist()):
        for start, stop, label in decode(labels[first:end], scheme):
            spans.append((first + start, first + stop))
            wanted.append(listed_span_probability(chain, space, scheme, first, end, (start, stop, label)))
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    found = span_probabilities(chain, starts, ends, tags, from_state, goes_on)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
