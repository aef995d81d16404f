"""Checks of metaphor-knowledge that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

import pytest
from recorded import recorded, rows

from weft.recipes.claims import student_interval

SLUG = "metaphor-knowledge"


@pytest.mark.must_show(
    "metaphor-knowledge",
    5,
    fails="the order in the world holds; on TroFi, with a base of 556 pairs and a threshold chosen for F, precision "
    "is not far above recall (43.7 and 36.7)",
)
def test_knowledge_leads_preferences_and_the_taxonomy_beyond_chance_over_seeds():
    clauses = rows(SLUG, "Types 2 and 3, generated world")
    for name in ("SA", "CP"):
        assert clauses["ours"]["F"] > clauses[name]["F"]
    (order,) = [claim for claim in recorded(SLUG).claims if claim.text.startswith("types 2 and 3: F is above")]
    for figure in order.figures:
        low, _ = student_interval(list(figure.settings.values()))
        assert len(figure.settings) == 5
        assert low > 0
    assert clauses["ours"]["F"] > clauses["VH (net of properties)"]["F"] + 10
    copulas = rows(SLUG, "Type 1, generated world")
    for measure in ("P", "accuracy"):
        assert copulas["ours"][measure] > copulas["KZ (taxonomy)"][measure]
    for name in ("MOH-X", "TroFi-X", "TroFi"):  # reported
        assert {"SA", "CP", "ours"} <= rows(SLUG, f"Types 2 and 3, {name}").keys()
    trofi = rows(SLUG, "Types 2 and 3, TroFi")["ours"]
    assert trofi["R"] < trofi["P"] < 2 * trofi["R"]


@pytest.mark.must_show("metaphor-knowledge", 6)
def test_more_text_brings_pairs_and_recall_at_the_same_precision():
    world = list(rows(SLUG, "More text, generated world").values())
    assert len(world) == 3
    for key in ("pairs", "type 1 R", "types 2/3 R"):
        grown = [row[key] for row in world]
        assert grown == sorted(set(grown)), key
    for key in ("type 1 P", "types 2/3 P"):
        precisions = [row[key] for row in world]
        assert max(precisions) - min(precisions) < 2, key
    novels = [row["pairs"] for row in rows(SLUG, "More text, novels").values()]
    assert novels == sorted(novels)
