"""Checks of systems about people that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

import pytest
from recorded import recorded, rows

CROWD = "mturk-language-demographics"


@pytest.mark.must_show(CROWD, 2)
def test_of_500_crowds_spammers_and_copyists_are_found_and_intervals_hold() -> None:
    found = rows(CROWD, "Simulated crowds: who is taken out")
    assert min(found["spam"]["precision"], found["spam"]["recall"]) >= 0.95
    assert min(found["machine"]["precision"], found["machine"]["recall"]) >= 0.9
    assert rows(CROWD, "Simulated crowds: the quality of the language")["without cheats"]["interval holds"] >= 0.93
    assert recorded(CROWD).sizes["crowds"] == 500


@pytest.mark.must_show(CROWD, 8)
def test_ten_million_rows_take_less_than_two_minutes() -> None:
    (row,) = rows(CROWD, "Rows of a crowd").values()
    assert row["rows"] == 10_000_000
    assert row["CPU s"] < 120
