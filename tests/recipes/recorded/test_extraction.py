"""Checks of systems for extraction that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

import pytest
from recorded import recorded, rows

SLUG = "thyme-clinical-time"


@pytest.mark.must_show(
    "thyme-clinical-time",
    7,
    weaker="training in the domain recovers four fifths of the loss on EVENT, not all of it; containers alone lead all "
    "relations by 6 points of plain F, but by closure they are 2.5 points behind",
)
def test_events_of_clinical_text_are_lost_by_a_model_of_news_and_recovered_by_training_in_the_domain():
    found = rows(SLUG, "Transfer")
    home, moved = found["news to news"]["EVENT"], found["news to clinical"]["EVENT"]
    trained = found["clinical to clinical"]["EVENT"]
    assert home - moved > 20
    assert trained > (home + moved) / 2
    linking = rows(SLUG, "Links of given events and times")
    containers, everything = linking["containers"], linking["all relations"]
    assert containers["plain F"] > everything["plain F"] + 3
    assert abs(containers["closure F"] - everything["closure F"]) < 5
    assert all(row["contradictions"] == 0 for row in linking.values())


@pytest.mark.must_show("thyme-clinical-time", 6)
def test_all_files_of_the_recorded_run_were_written_back_and_contradictory_notes_kept():
    found = rows(SLUG, "Annotation of THYME")
    assert sum(row["files"] for row in found.values()) == 591
    assert all(row["identical"] == row["files"] for row in found.values())
    assert sum(row["notes"] for row in found.values()) == 417
    assert sum(row["contradictory"] for row in found.values()) == 113
    assert recorded(SLUG).slug == SLUG
