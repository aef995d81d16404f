"""Checks of metaphor-knowledge that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

import pytest
from recorded import rows

SLUG = "metaphor-knowledge"


@pytest.mark.must_show("metaphor-knowledge", 5)
def test_knowledge_beats_preferences_and_the_taxonomy_in_the_generated_world():
    clauses = rows(SLUG, "Types 2 and 3, generated world")
    assert clauses["ours"]["F"] > max(clauses["SA"]["F"], clauses["CP"]["F"])
    copulas = rows(SLUG, "Type 1, generated world")
    for measure in ("P", "accuracy"):
        assert copulas["ours"][measure] > copulas["KZ (taxonomy)"][measure]
    for name in ("MOH-X", "TroFi-X", "TroFi"):  # reported
        assert {"SA", "CP", "ours"} <= rows(SLUG, f"Types 2 and 3, {name}").keys()
    trofi = rows(SLUG, "Types 2 and 3, TroFi")["ours"]
    assert trofi["P"] > 4 * trofi["R"]


@pytest.mark.must_show("metaphor-knowledge", 6)
def test_more_text_brings_pairs_and_recall_at_about_the_same_precision():
    world = list(rows(SLUG, "More text, generated world").values())
    for key in ("pairs", "type 1 R", "types 2/3 R"):
        grown = [row[key] for row in world]
        assert grown == sorted(grown), key
    for key in ("type 1 P", "types 2/3 P"):
        assert world[-1][key] > world[0][key] - 5, key
    assert [row["pairs"] for row in rows(SLUG, "More text, novels").values()] == sorted(
        row["pairs"] for row in rows(SLUG, "More text, novels").values()
    )
