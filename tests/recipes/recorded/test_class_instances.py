"""Checks of class instances that take longer than a test may, from the recorded runs."""

from __future__ import annotations

import pytest
from recorded import rows


@pytest.mark.must_show(
    "adsorption-class-instances", 7, weaker="2.5 million edges; the test that measures time and the benchmark take 20"
)
def test_time_is_linear_and_at_its_speed_twenty_million_edges_take_minutes() -> None:
    found = rows("adsorption-class-instances", "Time of 10 rounds, 40 labels")
    by_edges = sorted((row["edges"], row["CPU s"]) for row in found.values())
    assert by_edges[-1][0] > 2_400_000
    assert by_edges[-1][1] * 20_000_000 / by_edges[-1][0] < 300
    assert by_edges[-1][1] / by_edges[0][1] < 1.25 * by_edges[-1][0] / by_edges[0][0]


@pytest.mark.must_show("adsorption-class-instances", 5, weaker="not above text alone within Adsorption")
def test_five_seeds_and_more_are_above_both_own_labels_in_the_recorded_run() -> None:
    found = rows("adsorption-class-instances", "Label recall")
    full = [found[f"Adsorption, {count} seed{'s' if count > 1 else ''}"]["MRR full"] for count in (1, 5, 10, 25)]
    own = max(found[name]["MRR full"] for name in ("text, its own labels", "tables, their own labels"))
    assert full == sorted(full)
    assert min(full[1:]) > own


@pytest.mark.must_show(
    "mad-class-instances", 8, weaker="per edge from 1 to 10 million; 100,000 edges fit into the cache of the processor"
)
def test_time_per_round_is_linear_up_to_ten_million_edges() -> None:
    found = sorted(rows("mad-class-instances", "Time of a round").values(), key=lambda row: row["edges"])
    assert found[-1]["edges"] > 9_900_000
    for rule in ("LP-ZGL", "Adsorption", "MAD"):
        times = [row[f"{rule}, s per round"] / row["edges"] for row in found]
        assert times[2] < 3 * times[1]


@pytest.mark.must_show("mad-class-instances", 7, weaker="against shuffled attributes, by class")
def test_true_attributes_are_above_shuffled_ones_in_the_recorded_run() -> None:
    found = rows("mad-class-instances", "Professions of people")
    for count in (2, 10):
        for rule in ("LP-ZGL", "Adsorption", "MAD"):
            true, shuffled = (found[f"values + {kind}relations, {count} seeds"] for kind in ("", "shuffled "))
            assert true[f"{rule}, by class"] > shuffled[f"{rule}, by class"]
