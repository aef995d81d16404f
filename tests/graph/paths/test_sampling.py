"""Sampling of facts: counts follow the square root, negatives are at triangular ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.graph.paths.sampling import at_random, keeping, negatives, sampled_sentences, stratified


@pytest.mark.must_show("path-ranking-web-reading", 5)
def test_counts_of_sampled_targets_follow_the_square_root():
    sizes = {900: 4000, 901: 1000, 902: 250, 903: 20, 904: 1}
    queries = {}
    for target, size in sizes.items():
        for _ in range(size):
            queries[len(queries)] = [target]
    kept = [stratified(queries, 100, seed) for seed in range(20)]
    for target, size in sizes.items():
        mean = np.mean([sum(own == [target] for own in each.values()) for each in kept])
        wanted = min(size, np.sqrt(100 + size))
        assert abs(mean - wanted) < 4 * np.sqrt(wanted / 20) + 1e-9
    assert all(own == queries[source] for source, own in kept[0].items())


@pytest.mark.must_show("path-ranking-web-reading", 6)
@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=40, unique=True), st.data())
def test_negatives_stand_at_triangular_ranks_without_known_answers(nodes, data):
    nodes = np.array(sorted(nodes), np.int32)
    scores = np.array(data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.9]), min_size=len(nodes),
                                         max_size=len(nodes))))  # fmt: skip
    known = set(data.draw(st.lists(st.sampled_from(nodes.tolist()))))
    ranking = [n for _, n in sorted(zip(-scores, nodes.tolist(), strict=True)) if n not in known]
    wanted = [ranking[rank] for rank in (0, 1, 3, 6, 10, 15, 21, 28, 36, 45) if rank < len(ranking)]
    assert nodes[negatives(nodes, scores, known)].tolist() == wanted


def test_random_samples_have_the_size_asked_for_and_sentences_stay_if_a_concept_keeps_them():
    queries = {k: [k % 3] for k in range(90)}
    assert sum(map(len, at_random(queries, 20, 1).values())) == 20
    assert sampled_sentences([{1}, {2}, set()]) == [0, 1]
    frequent = [{7} for _ in range(2000)] + [{7, 8}]
    kept = sampled_sentences(frequent, offset=0, seed=3)
    assert 2000 in kept  # 8 is mentioned once and keeps its sentence
    assert 20 < len(kept) < 80
    with pytest.raises(ConfigError, match="at least 1"):
        keeping(0, 1)
