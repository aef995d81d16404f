"""Checks of systems for meaning that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

import pytest
from recorded import rows


@pytest.mark.must_show(
    "quantifier-scope", 5, weaker="F on explicit noun phrases is level, not higher, with the other nodes: half a point"
)
def test_rich_features_lead_by_ten_points_and_negations_are_hardest_on_generated_commands():
    slug = "quantifier-scope"
    for title in ("Generated commands, 3,500", "Generated commands, 350"):
        found = {name.partition(",")[0]: row["F"] for name, row in rows(slug, title).items() if "none" not in name}
        assert found["rich"] >= found["ma11"] + 10
        assert found["rich"] > found["ma11+det"]
    kinds = rows(slug, "F by kind of pairs")
    assert kinds["rich"]["negation"] < min(kinds["rich"]["explicit"], kinds["rich"]["implicit"])
    assert kinds["rich"]["explicit"] >= kinds["rich, explicit noun phrases alone"]["explicit"] - 0.5


@pytest.mark.must_show("quantifier-scope", 6)
def test_greedy_search_took_less_than_a_millisecond_and_a_hundredth_of_the_program():
    found = rows("quantifier-scope", "Search on uniform preferences")
    assert found["20 nodes"]["greedy ms"] < 1
    assert found["10 nodes"]["exact ms"] > 100 * found["10 nodes"]["greedy ms"]
