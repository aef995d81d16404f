"""Labels of clusters against the rule applied over and over by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.lexical.instances.coherent import coherent_labels, labelled_instances


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 1.0]), st.integers(1, 3))
def test_every_label_is_coherent_and_specific_when_it_is_given(seed: int, coherent: float, specific: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(12)]
    clusters = [rng.choice(names, rng.integers(1, 5), replace=False).tolist() for _ in range(5)]
    labels = {name: [f"l{i}" for i in range(4) if rng.random() < 0.3] for name in names}
    found = coherent_labels(clusters, labels, coherent, specific)
    left = set(range(5))

    def fits(number: int, label: str) -> bool:
        have = [name for name in clusters[number] if label in labels[name]]
        others = [o for o in left - {number} if any(label in labels[name] for name in clusters[o])]
        return len(have) > 0 and len(have) >= coherent * len(clusters[number]) and len(others) < specific

    for number, label in found:
        assert number in left
        assert fits(number, label)
        left.discard(number)
    assert not any(fits(number, f"l{i}") for number in left for i in range(4))


def test_taking_a_cluster_away_makes_its_labels_more_specific_for_others() -> None:
    labels = {"a": ["x", "y"], "b": ["y"]}
    # "y" is known to both clusters; once the first is taken for "x", it is specific to the second.
    assert coherent_labels([["a"], ["b"]], labels, 1.0, 1) == [(0, "x"), (1, "y")]


def test_members_without_the_label_are_no_instances() -> None:
    assert labelled_instances([["a", "b", "c"]], {"a": ["x"], "b": ["x"]}, 0.5, 1) == [("a", "x", 1.0), ("b", "x", 1.0)]


def test_bad_parameters_are_refused() -> None:
    for coherent, specific in ((0.0, 1), (1.5, 1), (0.5, 0)):
        with pytest.raises(ConfigError):
            coherent_labels([["a"]], {}, coherent, specific)
