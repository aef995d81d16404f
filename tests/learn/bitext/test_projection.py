"""Projection over links: the arrays say what loops over the links say."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.learn.bitext.projection import project_counts, project_labels, project_posteriors, project_scores
from weft.text.bitext import Links

N_LABELS, N_TYPES = 3, 4


@st.composite
def bitexts(draw):
    """Links with scores in eighths, so that sums are exact, and the offsets of both texts."""
    pairs, sizes = [], []
    for _ in range(draw(st.integers(1, 4))):
        m, n = draw(st.integers(0, 4)), draw(st.integers(0, 4))
        cells = [(i, j) for i in range(m) for j in range(n)]
        chosen = draw(st.lists(st.sampled_from(cells), unique=True, max_size=6)) if cells else []
        pairs.append([(i, j, draw(st.integers(0, 8)) / 8) for i, j in chosen])
        sizes.append((m, n))
    source, target = (np.cumsum([0, *side]) for side in zip(*sizes, strict=True))
    seed = draw(st.integers(0, 1000))
    return pairs, source, target, np.random.default_rng(seed)


def links_of_words(pairs, source, target):
    for s, links in enumerate(pairs):
        for i, j, score in links:
            yield source[s] + i, target[s] + j, score


@given(bitexts())
@settings(max_examples=80, deadline=None)
def test_labels_are_the_vote_of_the_links(bitext):
    pairs, source, target, rng = bitext
    labels = rng.integers(-1, N_LABELS, source[-1])
    votes = defaultdict(lambda: defaultdict(float))
    for i, j, score in links_of_words(pairs, source, target):
        if labels[i] >= 0:
            votes[j][labels[i]] += score
    expected = [min(votes[j], key=lambda y: (-votes[j][y], y)) if votes[j] else -1 for j in range(target[-1])]
    assert project_labels(Links.of(pairs), labels, source, target).tolist() == expected


@given(bitexts())
@settings(max_examples=60, deadline=None)
def test_posteriors_are_the_mean_of_the_linked_ones_and_unlinked_words_are_unconstrained(bitext):
    pairs, source, target, rng = bitext
    posteriors = rng.dirichlet(np.ones(N_LABELS), source[-1])
    linked = defaultdict(list)
    for i, j, _ in links_of_words(pairs, source, target):
        linked[j].append(posteriors[i])
    mean, constrained = project_posteriors(Links.of(pairs), posteriors, source, target)
    assert constrained.tolist() == [j in linked for j in range(target[-1])]
    for j in range(target[-1]):
        np.testing.assert_allclose(mean[j], np.mean(linked[j], axis=0) if j in linked else 0, atol=1e-12)


@given(bitexts())
@settings(max_examples=60, deadline=None)
def test_counts_sum_the_scores_by_type_and_label(bitext):
    pairs, source, target, rng = bitext
    labels = rng.integers(-1, N_LABELS, source[-1])
    types = rng.integers(-1, N_TYPES, target[-1])
    expected = np.zeros((N_TYPES, N_LABELS))
    for i, j, score in links_of_words(pairs, source, target):
        if labels[i] >= 0 and types[j] >= 0:
            expected[types[j], labels[i]] += score
    sizes = {"n_types": N_TYPES, "n_labels": N_LABELS}
    links = Links.of(pairs)
    np.testing.assert_allclose(project_counts(links, labels, types, source, target, **sizes), expected)
    one_hot = (labels[:, None] == np.arange(N_LABELS)).astype(float)
    np.testing.assert_allclose(project_counts(links, one_hot, types, source, target, n_types=N_TYPES), expected)


def test_the_score_of_a_word_is_that_of_its_best_link():
    links = Links.of([[(0, 0, 0.5), (1, 0, 0.75)], [(0, 1, 0.25)]])
    assert project_scores(links, [0, 2, 3], [0, 1, 3]).tolist() == [0.75, 0.0, 0.25]


def test_arrays_that_do_not_fit_the_texts_are_refused():
    links = Links.of([[(0, 0)]])
    with pytest.raises(WeftError, match="one label per source word, 1"):
        project_labels(links, [0, 1], [0, 1], [0, 1])
    with pytest.raises(WeftError, match="a row of label probabilities for each of 1 source words"):
        project_posteriors(links, [0.5], [0, 1], [0, 1])
    with pytest.raises(WeftError, match="one type a target word, 1"):
        project_counts(links, [0], [0, 0], [0, 1], [0, 1])
