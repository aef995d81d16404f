"""Chains over lists of labels are chains within a mask."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.chains.chain import Chain
from weft.infer.chains.label_lists import LabelLists


@st.composite
def masked(draw):
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    labels = draw(st.integers(1, 4))
    offsets = np.cumsum([0, *lengths])
    mask = rng.random((offsets[-1], labels)) < 0.5
    mask[np.arange(len(mask)), rng.integers(0, labels, len(mask))] = True
    return mask, offsets, rng.normal(size=mask.shape), rng.normal(size=(labels, labels))


@given(masked())
@settings(max_examples=60, deadline=None)
def test_lists_answer_as_the_chain_within_the_mask_does(case):
    mask, offsets, node, transitions = case
    whole = Chain(node, transitions, offsets, mask)
    lists = LabelLists.from_mask(mask, offsets)
    twice = LabelLists.from_types(np.vstack([mask[:1], mask]), np.arange(len(mask)) + 1, offsets)
    assert twice.labels.tolist() == lists.labels.tolist()
    assert twice.slots.tolist() == lists.slots.tolist()
    chain = lists.chain(lists.at_slots(node), transitions)
    assert lists.labels_of(chain.best()).tolist() == whole.best().tolist()
    assert lists.best_labels(node, transitions).tolist() == whole.best().tolist()
    first = np.arange(mask.shape[1]) * 0.7
    shifted = node.copy()
    shifted[offsets[:-1][np.diff(offsets) > 0]] += first
    assert (
        lists.best_labels(node, transitions, first).tolist()
        == Chain(shifted, transitions, offsets, mask).best().tolist()
    )
    log_z, marginals = chain.log_partition_and_marginals()
    expected_z, expected = whole.log_partition_and_marginals()
    assert log_z == pytest.approx(expected_z)
    assert lists.spread(marginals.node) == pytest.approx(expected.node)
    assert lists.transition_sums(marginals.edge) == pytest.approx(expected.edge)
    path = lists.path_of(whole.best())
    assert path.tolist() == chain.best().tolist()


def test_positions_without_labels_and_labels_that_are_not_listed_are_refused():
    with pytest.raises(InferenceError, match="position 1 may take no label"):
        LabelLists.from_mask([[True, False], [False, False]], [0, 2])
    with pytest.raises(InferenceError, match="position 1 may not take the label 0"):
        LabelLists.from_mask([[True, False], [False, True]], [0, 2]).path_of([0, 0])
    with pytest.raises(InferenceError, match="must be finite"):
        LabelLists.from_mask([[True]], [0, 1]).best_labels(np.zeros((1, 1)), np.full((1, 1), -np.inf))
    with pytest.raises(InferenceError, match="the 1 rows of the mask"):
        LabelLists.from_types([[True]], [1], [0, 1])
    with pytest.raises(InferenceError, match="one row per position"):
        LabelLists.from_mask([True], [0, 1])
