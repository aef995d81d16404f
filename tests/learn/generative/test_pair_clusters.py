"""Classes of nouns and roles: EM climbs, and finds classes that were planted."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.learn.generative.pair_clusters import PairClusters


def planted(seed=0):
    """Three classes of nouns, each with roles of its own."""
    draw = np.random.default_rng(seed)
    pairs = {}
    for _ in range(600):
        own = int(draw.integers(3))
        key = (f"n{own}{draw.integers(4)}", f"r{own}{draw.integers(5)}")
        pairs[key] = pairs.get(key, 0) + 1
    return pairs


@pytest.mark.parametrize("kind", ["naive bayes", "conditional"])
def test_the_likelihood_never_falls(kind):
    found = PairClusters.fit(planted(), 4, kind, iterations=25, smoothing=0.0)
    assert (np.diff(found.likelihoods) >= -1e-6).all()


@pytest.mark.parametrize("kind", ["naive bayes", "conditional"])
def test_planted_classes_are_found(kind):
    found = max((PairClusters.fit(planted(), 3, kind, 60, seed) for seed in range(5)), key=lambda m: m.likelihoods[-1])
    best = {noun: int(found.posterior(noun, "").argmax()) for noun in found.nouns}
    assert len({(noun[1], own) for noun, own in best.items()}) == 3 == len(set(best.values()))


def test_pronouns_get_their_class_from_the_role_alone():
    found = PairClusters.fit(planted(), 3, iterations=60, seed=1)
    roles = {int(found.posterior("", f"r0{k}").argmax()) for k in range(5)}
    assert roles == {int(found.posterior("n01", "").argmax())}
    assert found.posterior("", "").sum() == pytest.approx(1)
    assert found.posterior("?", "?").sum() == pytest.approx(1)


def test_bad_options_are_refused():
    with pytest.raises(ConfigError, match="kind"):
        PairClusters.fit(planted(), 3, "other")
    with pytest.raises(DataError, match="nothing to train"):
        PairClusters.fit({})
