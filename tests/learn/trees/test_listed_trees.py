"""Features that are kept must be those that are made anew."""

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.features.tree_templates import compile_tree_templates
from weft.infer.trees.arcs import TreeParts
from weft.learn.trees.features import TreeWords
from weft.learn.trees.listed_trees import ListedTrees, kept_features
from weft.learn.trees.model import TreeBatch, TreeModel

PROGRAM = compile_tree_templates("arc: h.t|m.t h.t m.t h.t|b.t|m.t", ["t"])


def batch_of(sizes, seed):
    rng = np.random.default_rng(seed)
    n = int(sum(sizes))
    words = TreeWords(rng.integers(1, 5, size=(n + 1, 1)).astype(np.uint64), np.zeros(n + 2, np.int64),
                      np.zeros(0, np.uint64))  # fmt: skip
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return TreeBatch(offsets, words, None, np.ones(len(sizes)))


@pytest.mark.parametrize("seed", range(5))
def test_scores_and_gradients_are_those_of_the_model_that_makes_features_anew(seed):
    rng = np.random.default_rng(seed)
    batches = [batch_of(rng.integers(1, 9, size=4), seed), batch_of(rng.integers(1, 9, size=3), seed + 100)]
    model = TreeModel(PROGRAM, bits=8)
    listed = ListedTrees(model, batches)
    weights = rng.normal(size=model.size)
    for batch in batches:
        one, other = model.score(batch, weights), listed.score(batch, weights)
        assert (one.best() == other.best()).all()
        (log_z, parts), (same, more) = (trees.log_partition_and_marginals(batch.weight) for trees in (one, other))
        np.testing.assert_allclose(log_z, same)
        gradients = np.zeros(model.size), np.zeros(model.size)
        model.scatter(batch, TreeParts(parts.arc), gradients[0])
        listed.scatter(batch, TreeParts(more.arc), gradients[1])
        np.testing.assert_allclose(*gradients, atol=1e-10)


def test_features_are_kept_where_they_are_few_and_of_single_arcs():
    batch = batch_of([3, 4], 0)
    model = TreeModel(PROGRAM, bits=8)
    assert isinstance(kept_features(model, [batch]), ListedTrees)
    assert kept_features(model, [batch], most=24) is model
    nonprojective = TreeModel(PROGRAM, shape="nonprojective", bits=8)
    assert kept_features(nonprojective, [batch]) is nonprojective
    with pytest.raises(ConfigError, match="first-order projective"):
        ListedTrees(nonprojective, [batch])
