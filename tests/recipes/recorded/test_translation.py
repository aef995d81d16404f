"""Checks of systems for translation and pairs of texts, recomputed from the tables of the recorded runs."""

from __future__ import annotations

import pytest
from recorded import rows

ALIGNER = "monolingual-aligner"


@pytest.mark.must_show("monolingual-aligner", 3)
def test_links_reach_the_published_accuracy_on_both_corpora_with_both_parses() -> None:
    for parses in ("Stanford", "our"):
        name = f"this aligner, {parses} parses"
        msr, edinburgh = rows(ALIGNER, "MSR test: links")[name], rows(ALIGNER, "Edinburgh++ test: links")[name]
        assert msr["F1"] >= 91
        assert edinburgh["F1"] >= 86
        assert min(msr["P"], edinburgh["P"]) >= 92


@pytest.mark.must_show("monolingual-aligner", 3)
def test_baselines_are_worse() -> None:
    for corpus in ("MSR", "Edinburgh++"):
        found = rows(ALIGNER, f"{corpus} test: links")
        for baseline in ("difflib", "equal words"):
            assert found["this aligner, our parses"]["F1"] > found[baseline]["F1"] + 2


@pytest.mark.must_show("monolingual-aligner", 4)
def test_parts_matter_in_the_order_of_the_paper() -> None:
    found = rows(ALIGNER, "MSR test: without parts")
    full = found["full"]
    lost = {name: full["F1"] - row["F1"] for name, row in found.items() if name != "full"}
    assert max(lost, key=lambda name: lost[name]) == "- context"
    assert 0 < lost["- dependencies"] < 1
    part = found["- text neighbourhood"]
    assert full["P"] - part["P"] > 5 > abs(full["R"] - part["R"])
    part = found["- word similarity"]
    assert full["R"] - part["R"] > 2
    assert part["P"] > full["P"]


@pytest.mark.must_show("monolingual-aligner", 5)
def test_the_settings_of_the_paper_are_nearly_the_best_of_the_grid() -> None:
    found = rows(ALIGNER, "MSR dev: F1 by similarity")
    assert len(found) == 10
    best = max(value for row in found.values() for value in row.values())
    assert best - found["ppdb 0.9"]["w 0.9"] <= 0.3


@pytest.mark.must_show("monolingual-aligner", 6)
def test_similarity_correlates_with_people_and_beats_lemma_overlap() -> None:
    found = rows(ALIGNER, "Semantic textual similarity")
    assert found["all"]["aligner"] >= 65
    assert found["all"]["gain"] >= 2
    assert found["2013"]["aligner"] >= 65


@pytest.mark.must_show("monolingual-aligner", 7)
def test_a_core_aligns_a_thousand_parsed_pairs_per_second() -> None:
    assert all(row["pairs/s"] >= 1000 for row in rows(ALIGNER, "Speed on one core").values())
