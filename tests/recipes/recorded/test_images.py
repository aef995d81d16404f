"""Checks of dt-rnn that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

import pytest
from recorded import recorded, rows

SLUG = "dt-rnn"


def search(title: str = "Ranking", column: str = "image search") -> dict[str, float]:
    """A column of the ranking by system."""
    return {name: row[column] for name, row in rows(SLUG, title).items()}


def test_dependency_networks_find_images_at_a_mean_rank_of_at_most_eight_and_a_half_over_five_splits() -> None:
    assert recorded(SLUG).sizes["splits"] == 5
    found = search()
    assert max(found["DT-RNN"], found["SDT-RNN"]) <= 8.5
    assert found["kCCA"] <= 8.5


@pytest.mark.must_show(
    "dt-rnn", 6, weaker="constituents and chains are level: one of three seeds ties, one turns round"
)
def test_labels_rank_above_positions_and_these_above_constituents_and_chains_with_every_seed() -> None:
    found = search()
    assert found["SDT-RNN"] < found["DT-RNN"] < found["CT-RNN"] < found["Recurrent NN"]
    assert found["SDT-RNN"] < found["BoW"]
    table = rows(SLUG, "Image search by seed")
    assert len(table["DT-RNN"]) == 3
    for seed in table["DT-RNN"]:
        own = {name: row[seed] for name, row in table.items()}
        assert own["SDT-RNN"] < own["DT-RNN"] < min(own["CT-RNN"], own["Recurrent NN"])


@pytest.mark.must_show(
    "dt-rnn", 6, weaker="two splits; for constituents the margin is better by less than chance excludes"
)
def test_the_margin_finds_images_better_than_squared_distances_without_dependencies() -> None:
    found = rows(SLUG, "Margin against squared loss")
    for name in ("BoW", "CT-RNN", "Recurrent NN"):
        assert found[name]["margin"] < found[name]["squared"]
    for row in found.values():
        assert row["margin, describing"] < row["squared, describing"]


@pytest.mark.must_show(
    "dt-rnn", 3, weaker="by the share of sentences whose nearest passive is their own; mean distances are level"
)
def test_labels_bring_more_sentences_next_to_their_passives_than_a_chain() -> None:
    found = rows(SLUG, "Active and passive")
    assert found["SDT-RNN"]["nearest"] > found["Recurrent NN"]["nearest"] + 0.1
    assert abs(found["SDT-RNN"]["distance"] - found["Recurrent NN"]["distance"]) < 0.05


@pytest.mark.must_show("dt-rnn", 6, weaker="role swaps of the recorded run, with stand-in images of 1,024 dimensions")
def test_labels_tell_at_least_four_fifths_of_the_role_swaps_and_a_bag_of_words_half() -> None:
    found = rows(SLUG, "Role swap")
    assert found["BoW"]["lowest"] == found["BoW"]["highest"] == 0.5
    assert found["SDT-RNN"]["lowest"] >= 0.8
