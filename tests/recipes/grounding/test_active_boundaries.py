"""What a person is shown to teach a segmenter: spans within the time, inside sentences, and worth their time."""

from __future__ import annotations

import numpy as np
import pytest

from weft.annotate.plans.costs import FixedCost, segment_features
from weft.recipes.grounding.annotation_cost_utility.active import WAYS, Positions, Segmenter, curve, least_sure

COST = FixedCost()


def texts(seed: int, words: list[str], n: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[words[k] for k in rng.integers(0, len(words), rng.integers(3, 9))] for _ in range(n)]


def seconds(spans: list[tuple[int, int]], doubts: np.ndarray) -> float:
    rows = [(end - start, 1 - float(doubts[start:end].mean())) for start, end in spans]
    return float(COST.seconds(segment_features(*zip(*rows, strict=True))).sum()) if rows else 0.0


@pytest.mark.parametrize("name", list(WAYS))
def test_every_way_keeps_the_time_and_shows_nothing_twice(name: str) -> None:
    rng = np.random.default_rng(3)
    sizes = [7, 1, 12, 30, 4]
    doubts, decided = rng.beta(1, 6, sum(sizes)), rng.random(sum(sizes)) < 0.4
    spans = WAYS[name](doubts, decided, sizes, 40.0, COST, 0)
    assert spans
    assert seconds(spans, doubts) <= 40.0 + 1e-6
    places = [k for start, end in spans for k in range(start, end)]
    assert len(places) == len(set(places))
    sentence = np.repeat(np.arange(len(sizes)), sizes)
    assert all(sentence[start] == sentence[end - 1] for start, end in spans)
    assert WAYS[name](doubts, decided, sizes, 0.0, COST, 0) == []


def test_the_baseline_extends_an_unsure_position_to_predicted_boundaries() -> None:
    doubts = np.array([0.1, 0.1, 0.1, 0.45, 0.1, 0.1, 0.1])
    decided = np.array([False, True, False, False, False, True, False])
    assert least_sure(doubts, decided, [7], 9.0, COST, 0) == [(2, 6)]
    assert least_sure(doubts, decided, [4, 3], 9.0, COST, 0) == [(2, 4)]  # the sentence ends before


def test_labels_of_the_new_domain_help_whoever_chooses_them() -> None:
    old, new = texts(0, ["ab", "c", "def", "a"], 150), texts(1, ["ab", "cd", "xy", "x", "defa"], 260)
    source, held = Positions.of(old[:120]), Positions.of(old[120:])
    pool, test = Positions.of(new[:160]), Positions.of(new[160:])
    found = curve(source, held, pool, test, (2.0,), COST, 0)
    assert set(found) == set(WAYS)
    start = {scores[0] for scores in found.values()}
    assert len(start) == 1
    before = start.pop()
    assert all(scores[1] > before + 0.02 for scores in found.values()), found
    assert found["plan"][1] > before + 0.05


def test_the_mean_confidence_on_held_out_text_is_the_accuracy_there() -> None:
    old = texts(0, ["ab", "c", "def", "a", "ca"], 400)
    source, held = Positions.of(old[:300]), Positions.of(old[300:])
    model = Segmenter.fit([(source.features, source.boundary)], held, 0)
    doubts, decided = model.doubts(held)
    assert np.mean(1 - doubts) == pytest.approx((decided == held.boundary).mean(), abs=1e-3)
