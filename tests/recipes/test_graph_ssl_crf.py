"""Checks of graph-ssl-crf on corpora, in sizes that take seconds (1 to 4 and 7: tests/graph, tests/tasks)."""

from __future__ import annotations

import pytest

from weft.data import root
from weft.errors import DataError
from weft.recipes import graph_ssl_crf as recipe
from weft.recipes.framework import RecipeOptions, RecipeResult
from weft.recipes.graph_material import Shift, genre, questions
from weft.recipes.graph_ssl_crf import GRAPH, POOLED, SUPERVISED


@pytest.fixture(scope="module")
def options() -> RecipeOptions:
    return RecipeOptions(data=root(), quick=True)


def found(make, *given: object) -> Shift:  # type: ignore[no-untyped-def]
    try:
        return make(*given)
    except DataError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def airline(options: RecipeOptions) -> Shift:
    shift = found(questions, options)
    shift.raw = shift.raw[:1500]
    return shift


@pytest.fixture(scope="module")
def runs(airline: Shift) -> recipe.Runs:
    return recipe.compare(airline, 300, [0], (POOLED, GRAPH), rounds=2)


@pytest.mark.must_show("graph-ssl-crf", 5)
def test_the_graph_gains_over_self_training_and_most_on_words_without_labels(runs: recipe.Runs) -> None:
    score = {system: runs.mean(system) for system in runs.reports}
    assert score[GRAPH] > score[SUPERVISED] + 0.5
    assert score[GRAPH] > score[POOLED]
    assert score[POOLED] > score[SUPERVISED] - 1.0  # likely above it, not safe: see the recipe
    gain = {group: runs.mean(GRAPH, group) - runs.mean(SUPERVISED, group) for group in ("OOV", "known")}
    assert gain["OOV"] > max(gain["known"], 0.0)


@pytest.mark.must_show("graph-ssl-crf", 5)
def test_newspaper_to_reviews_loses_nothing_and_gains_on_words_without_labels(options: RecipeOptions) -> None:
    shift = found(genre, options, "reviews", 300, 20_000)
    runs = recipe.compare(shift, 200, [0], (GRAPH,), rounds=2)
    assert runs.mean(GRAPH) > runs.mean(SUPERVISED) - 0.3
    assert runs.mean(GRAPH, "OOV") > runs.mean(SUPERVISED, "OOV")


@pytest.mark.must_show("graph-ssl-crf", 6)
def test_without_edges_the_gain_is_gone_and_diagnostics_tell_why(airline: Shift, runs: recipe.Runs) -> None:
    types = runs.graphs[0]
    labelled = airline.draw(300, 0)
    half, none = recipe.ablation(airline, labelled, types, (0.25, 0.0), rounds=2)
    gains = [recipe.accuracy(report) - runs.mean(SUPERVISED) for report in (runs.reports[GRAPH][0], half, none)]
    assert gains[0] > gains[2]
    assert gains[0] > gains[1] - 0.3 > gains[2] - 0.6
    tables = RecipeResult(recipe.SLUG)
    recipe._diagnostics(tables, [(f"questions {share}", types.thin(share)) for share in (1.0, 0.25, 0.0)])
    lost = [row.ours["disconnected, %"] for row in tables.tables[0].rows]
    assert lost[0] < lost[1] < lost[2] == 100.0  # type: ignore[operator]
    paths = [row.ours["mean path"] for row in tables.tables[0].rows]
    assert paths[0] < paths[1]  # type: ignore[operator]
    assert tables.tables[0].rows[0].paper == {"disconnected, %": 12.4, "mean path": 9.4}


def test_tests_sentences_are_not_in_the_raw_text(airline: Shift) -> None:
    raw = {" ".join(words) for words in airline.raw}
    assert not raw & {" ".join(words) for words, _ in airline.test}
