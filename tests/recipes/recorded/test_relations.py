"""Checks of complex-relations that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from recorded import curve, rows

SLUG = "complex-relations"
THRESHOLDS = ("PC 0.3", "PC 0.4", "PC 0.5", "PC 0.6", "PC 0.7")


def correct(row: dict[str, Any], column: str) -> int:
    """The last of gold:predicted:correct."""
    return int(row[column].split(":")[2])


@pytest.mark.must_show("complex-relations", 5)
def test_enumeration_is_below_maximal_and_these_below_probable_cliques_whose_gain_is_in_large_tuples() -> None:
    found = rows(SLUG, "CASIE: tuples, with other mentions")
    assert found["NE"]["F"] < found["MC"]["F"] < found["PC 0.5"]["F"]
    gains = {
        column: correct(found["PC 0.5"], column) - correct(found["MC"], column) for column in ("2-ary", "5-ary", "6+")
    }
    assert gains["5-ary"] + gains["6+"] > 0 > gains["2-ary"]
    drugs = rows(SLUG, "Drugs: tuples, with other mentions")
    assert drugs["NE"]["F"] < drugs["MC"]["F"]
    times = rows(SLUG, "Time, CPU seconds")
    assert times["training, naive enumeration"]["seconds"] >= 3 * times["training, pairs"]["seconds"]


@pytest.mark.must_show(
    "complex-relations",
    6,
    weaker="on both corpora the number of tuples rises as the threshold falls; it falls where the mentions of a "
    "sentence make up one tuple",
)
def test_a_lower_threshold_makes_larger_tuples_on_corpora_too() -> None:
    for corpus in ("CASIE", "Drugs"):
        found = rows(SLUG, f"{corpus}: tuples, features of the paper")
        arity = [found[name]["mean arity"] for name in THRESHOLDS]
        assert all(low >= high for low, high in pairwise(arity))
        assert found["PC 0.3"]["predicted"] > found["PC 0.7"]["predicted"]
    counts = [y for _, y in curve(SLUG, "Tuples by threshold").series["one tuple of four slots"]]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.must_show("complex-relations", 7)
def test_the_cliques_of_ten_thousand_sentences_took_seconds() -> None:
    [found] = [
        row for name, row in rows(SLUG, "Time, CPU seconds").items() if name.startswith("probable cliques of 10,000")
    ]
    assert found["mentions per sentence"] >= 12
    assert found["seconds"] < 10


def test_gold_pairs_give_back_gold_tuples() -> None:
    assert rows(SLUG, "CASIE: tuples, features of the paper")["MC, gold pairs"]["F"] >= 97
    assert rows(SLUG, "Drugs: tuples, features of the paper")["MC, gold pairs"]["F"] >= 99


def test_probabilities_of_pairs_are_calibrated() -> None:
    for name, row in rows(SLUG, "Pairs of mentions").items():
        assert row["calibration error"] < (0.06 if name.startswith("CASIE") else 0.12), name
