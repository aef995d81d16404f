from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from label_twins import long_text, random_text, texts

from weft.errors import ConfigError
from weft.learn.generative.alternating_em import alternate
from weft.learn.generative.hmm import observed_transitions
from weft.learn.label_cover.cover import cover_labels


@pytest.mark.must_show("dmlc-unsupervised-tagging", 5)
@settings(max_examples=15, deadline=None)
@given(texts(tags=5, types=8, sentences=12, words=8))
def test_phases_never_lose_likelihood_and_end_by_the_rule_of_five_percent(lists):
    found = alternate(lists, cover_labels(lists).labels, most_phases=30, iterations=20)
    for phase in found.phases:
        assert all(b >= a - 1e-8 * abs(a) for a, b in pairwise(phase.log_likelihoods))
    sizes = [phase.labels for phase in found.phases]
    moved = [abs(b - a) / a for a, b in pairwise(sizes)]
    assert all(each > 0.05 for each in moved[:-1])  # it did not go on where it should have stopped
    # A few words may go to and fro between two taggings for ever.
    assert moved[-1] <= 0.05 if "labels changed by" in found.why else found.why == "the phases repeat"
    assert sizes[-1] == observed_transitions(lists, found.tags).sum()


def test_phases_restrict_transitions_and_emissions_in_turn():
    lists = long_text(5, tags=6, types=30, sentences=40)
    cover = cover_labels(lists)
    found = alternate(lists, cover.labels, change=0.0, most_phases=5)
    assert [phase.restricted for phase in found.phases][:3] == ["transitions", "emissions", "transitions"]
    first, second = found.phases[:2]
    assert first.allowed_labels == len(cover)
    assert first.allowed_emissions == len(lists.listed)
    assert second.allowed_labels > first.allowed_labels
    assert second.allowed_emissions < first.allowed_emissions
    assert found.phases[2].allowed_labels == second.labels


def test_pruning_by_share_keeps_a_tag_of_every_type():
    lists = long_text(6, tags=6, types=30, sentences=40)
    found = alternate(lists, cover_labels(lists).labels, prune_below=0.9, most_phases=2, change=0.0)
    assert len(lists.begin) - 1 <= found.phases[1].allowed_emissions < len(lists.listed)


def test_senseless_settings_are_refused():
    lists = random_text(np.random.default_rng(7))
    with pytest.raises(ConfigError, match="shares below 1"):
        alternate(lists, cover_labels(lists).labels, change=1.5)
