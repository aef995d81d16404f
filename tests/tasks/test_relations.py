from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from weft.features.morphology import Morphology
from weft.infer.projectivity import is_projective, is_tree
from weft.infer.sibling_labels import check_trees, pair_keys
from weft.tasks.relation_features import RELATION_FIELDS
from weft.tasks.relations import RelationLabeller, RelationSettings

SLUG = "two-stage-multilingual-parser"
Heads = NDArray[np.int32]


def random_tree(rng: np.random.Generator, n: int) -> Heads:
    """A tree of any shape: every word hangs on ROOT or on a word that was hung before it, in a random order."""
    order = rng.permutation(n) + 1
    heads = np.zeros(n, np.int32)
    for k, word in enumerate(order):
        heads[word - 1] = 0 if k == 0 else rng.choice([0, *order[:k]])
    return heads


def random_batch(rng: np.random.Generator, lengths: Sequence[int], fields: int = 8) -> tuple[Any, ...]:
    """Words with few different values, morphological features, sentences, heads."""
    n = sum(lengths)
    words = rng.integers(0, 4, (n + 1, fields)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    sizes = rng.integers(0, 3, n)
    names = rng.integers(1, 4, sizes.sum()).astype(np.uint64)
    values = names * np.uint64(10) + rng.integers(0, 2, sizes.sum()).astype(np.uint64)
    members = Morphology(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), values, names)
    sentences = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    heads = np.concatenate([np.zeros(0, np.int32), *(random_tree(rng, length) for length in lengths)]).astype(np.int32)
    return words, members, sentences, heads


def random_labeller(
    rng: np.random.Generator, batch: tuple[Any, ...], n_labels: int, **options: Any
) -> RelationLabeller:
    """A labeller with random weights in a small array, so that every row of them overlaps with others."""
    labeller = RelationLabeller(RELATION_FIELDS, RelationSettings(bits=12, epochs=1, **options))
    labels = rng.integers(0, n_labels, len(batch[3])).astype(np.int32)
    labeller.fit(*batch, labels, n_labels)
    assert labeller.model is not None
    weights = rng.integers(-1000, 1000, len(labeller.model.weights)).astype(np.int16)
    labeller.model = labeller.model._replace(weights=weights)
    return labeller


@pytest.mark.must_show("two-stage-multilingual-parser", 1)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_best_labels_are_those_of_all_sequences_with_the_start_factor(
    seed: int, n: int, n_labels: int, sequence: bool, morphology: bool
) -> None:
    rng = np.random.default_rng(seed)
    batch = random_batch(rng, [n])
    labeller = random_labeller(rng, batch, n_labels, restrict=False, sequence=sequence, morphology=morphology)
    found = labeller.label(*batch)
    everything = product(range(n_labels), repeat=n)
    scores = {y: float(labeller.scores(*batch, np.array(y, np.int32))[0]) for y in everything}
    assert scores[tuple(found.tolist())] == max(scores.values())


@pytest.mark.must_show("two-stage-multilingual-parser", 1)
@given(st.integers(0, 2**32), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_restricted_labels_are_the_best_of_the_sequences_allowed(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    seen, batch = random_batch(rng, [30]), random_batch(rng, [n])
    labeller = random_labeller(rng, seen, 4)
    assert labeller.model is not None
    labels = rng.integers(0, 4, 30).astype(np.int32)
    trained = labeller.model._replace(allowed=labeller._allowed(check_trees(*seen), labeller.model.columns, labels, 4))
    labeller.model = trained
    whole_seen, alone_seen = pair_keys(check_trees(*seen), trained.columns)
    options = []
    for whole, alone in zip(*pair_keys(check_trees(*batch), trained.columns), strict=True):
        with_both, with_tag = labels[whole_seen == whole], labels[alone_seen == alone]
        options.append(sorted(set(with_both.tolist()) or set(with_tag.tolist()) or set(range(4))))
    found = labeller.label(*batch)
    assert all(label in allowed for label, allowed in zip(found.tolist(), options, strict=True))
    best = max(float(labeller.scores(*batch, np.array(y, np.int32))[0]) for y in product(*options))
    assert float(labeller.scores(*batch, found)[0]) == best


@pytest.mark.must_show("two-stage-multilingual-parser", 2)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 12), min_size=1, max_size=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_arc_gets_one_label_and_heads_stay_in_trees_of_any_shape(
    seed: int, lengths: list[int], sequence: bool
) -> None:
    rng = np.random.default_rng(seed)
    batch = random_batch(rng, lengths)
    labeller = random_labeller(rng, random_batch(rng, [12, 9]), 6, sequence=sequence)
    before = batch[3].copy()
    found = labeller.label(*batch)
    assert found.dtype == np.int32
    assert found.shape == before.shape
    assert ((found >= 0) & (found < 6)).all()
    assert (batch[3] == before).all()
    for s, length in enumerate(lengths):  # a batch is its sentences
        first, end = batch[2][s], batch[2][s + 1]
        words = np.concatenate([batch[0][:1], batch[0][first + 1 : end + 1]])
        offsets = batch[1].offsets[first : end + 1]
        members = Morphology(offsets - offsets[0], *(part[offsets[0] : offsets[-1]] for part in batch[1][1:]))
        alone = labeller.label(words, members, np.array([0, length]), before[first:end])
        assert (alone == found[first:end]).all()


def test_random_trees_are_also_non_projective_and_have_several_roots() -> None:
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, 8) for _ in range(50)]
    assert all(is_tree(tree) for tree in trees)
    assert sum(not is_projective(tree) for tree in trees) > 10
    assert sum((tree == 0).sum() > 1 for tree in trees) > 10
