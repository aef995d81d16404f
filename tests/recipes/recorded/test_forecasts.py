"""Checks of reading-the-markets that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

from itertools import pairwise

import pytest
from recorded import recorded, rows

SLUG = "reading-the-markets"
BEST, MAJORITY = "best of 3 days", "weighted majority"


@pytest.mark.must_show("reading-the-markets", 6)
def test_profit_on_ten_generated_markets_rises_with_every_representation() -> None:
    sizes = recorded(SLUG).sizes
    assert (sizes["seeds"], sizes["generated_days"]) == (10, 400)
    found = rows(SLUG, "Generated market, profit in % of omniscience")
    profits = [found[name][BEST] for name in ("history", "words", "focus", "entity", "dependency")]
    assert all(low < high for low, high in pairwise(profits)), profits
    assert found["dependency"][MAJORITY] < found["dependency"][BEST]
    assert found["dependency"]["news"] < found["dependency"][BEST]
