"""The recorded results: every outcome follows from its figures, and every run is that of its recipe."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from weft.recipes import record
from weft.recipes.catalogue import system
from weft.recipes.claims import student_interval
from weft.recipes.framework import RecipeResult, load_results

RESULTS = Path(__file__).parents[2] / "results"
RECORDED = load_results(RESULTS)


def _slug(result: RecipeResult) -> str:
    return result.slug


def _texts(slug: str) -> list[re.Pattern[str]]:
    """The strings in the source of a recipe, as patterns: what an f-string fills in may be anything."""
    place = RESULTS.parent / "src" / Path(*system(slug).module.split("."))
    found = []
    for path in place.glob("*.py") if place.is_dir() else [place.with_suffix(".py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [re.escape(each.value) if isinstance(each, ast.Constant) else ".+" for each in node.values]
                found += ["".join(map(str, parts))] if sum(map(len, parts)) > 12 else []
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(re.escape(node.value))
    return [re.compile(each) for each in found]


def test_every_system_with_a_result_is_there() -> None:
    assert len(RECORDED) >= 32


@pytest.mark.parametrize("result", RECORDED, ids=_slug)
def test_outcomes_and_sentences_follow_from_the_figures(result: RecipeResult) -> None:
    written = json.loads((RESULTS / f"{result.slug}.json").read_text(encoding="utf-8"))["claims"]
    assert [claim["outcome"] for claim in written] == [claim.outcome for claim in result.claims]
    assert [claim["sentence"] for claim in written] == [claim.sentence for claim in result.claims]


@pytest.mark.parametrize("result", RECORDED, ids=_slug)
def test_figures_are_those_of_the_cells_and_settings_that_they_name(result: RecipeResult) -> None:
    for claim in result.claims:
        for figure in claim.figures:
            if figure.cells:
                first, *rest = (result.cell(*cell) for cell in figure.cells)
                assert figure.value == pytest.approx(first - sum(rest)), claim.sentence
            if figure.settings:
                values = list(figure.settings.values())
                assert figure.value == pytest.approx(sum(values) / len(values)), claim.sentence
                assert figure.interval == pytest.approx(student_interval(values)), claim.sentence
            if figure.interval is not None:
                assert figure.interval[0] <= figure.value <= figure.interval[1], claim.sentence


@pytest.mark.parametrize("result", RECORDED, ids=_slug)
def test_every_claim_stands_once_and_has_figures(result: RecipeResult) -> None:
    sentences = [claim.sentence for claim in result.claims]
    assert len(set(sentences)) == len(sentences)
    assert any(claim.paper for claim in result.claims)
    assert all(claim.figures for claim in result.claims)


@pytest.mark.parametrize("result", RECORDED, ids=_slug)
def test_every_recorded_claim_is_one_that_the_recipe_makes(result: RecipeResult) -> None:
    texts = _texts(result.slug)
    assert [claim.text for claim in result.claims if not any(each.fullmatch(claim.text) for each in texts)] == []


@pytest.mark.parametrize("result", RECORDED, ids=_slug)
def test_no_required_claim_fails(result: RecipeResult) -> None:
    assert [claim.sentence for claim in result.failed] == []


@pytest.mark.parametrize("result", RECORDED, ids=_slug)
def test_a_recorded_run_has_the_sizes_and_the_seed_of_the_recipe(result: RecipeResult) -> None:
    assert result.sizes == record.sizes(system(result.slug).module)
    assert not result.quick
    assert result.command.removesuffix(" --workers 2") == f"weft reproduce {result.slug} --seed 0"
