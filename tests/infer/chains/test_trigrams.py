"""Best paths of trigrams of labels against all paths."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.chains.trigrams import best_trigrams


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_best_paths_are_the_best_of_all(seed: int, lengths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    tags = 4
    transitions = rng.normal(size=(tags + 1,) * 3)
    lists = [np.sort(rng.permutation(tags)[: rng.integers(1, tags + 1)]) for _ in range(sum(lengths))]
    slots = np.concatenate([[0], np.cumsum([len(own) for own in lists], dtype=np.int64)])
    labels = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
    node = rng.normal(size=len(labels))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    path, score = best_trigrams(labels, node, slots, offsets, transitions)
    for s, (first, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        totals = {}
        for slot_path in product(*(range(slots[i], slots[i + 1]) for i in range(first, end))):
            own = [tags, tags, *labels[list(slot_path)], tags] if slot_path else [tags, tags, tags]
            total = node[list(slot_path)].sum() if slot_path else 0.0
            total += sum(transitions[own[i], own[i + 1], own[i + 2]] for i in range(len(own) - 2))
            totals[tuple(labels[list(slot_path)].tolist() if slot_path else [])] = total
        best = max(totals, key=totals.__getitem__)
        assert score[s] == pytest.approx(totals[best])
        assert totals[tuple(path[first:end].tolist())] == pytest.approx(totals[best])


def test_lists_that_do_not_fit_are_refused() -> None:
    table = np.zeros((3, 3, 3))
    with pytest.raises(InferenceError, match="do not fit together"):
        best_trigrams(np.array([0]), np.zeros(2), np.array([0, 2]), np.array([0, 1]), table)
    with pytest.raises(InferenceError, match="position 1 may have no label"):
        best_trigrams(np.array([0]), np.zeros(1), np.array([0, 1, 1]), np.array([0, 2]), table)
