"""Checks of graph-ssl-crf on corpora, in sizes that take seconds (1 to 4 and 7: tests/graph, tests/tasks)."""

from __future__ import annotations

import pytest

from weft.data import root
from weft.errors import DataError
from weft.recipes.framework import RecipeOptions, RecipeResult
from weft.recipes.transfer.graph_ssl_crf import experiment as recipe
from weft.recipes.transfer.graph_ssl_crf.data import Shift, genre, questions
from weft.recipes.transfer.graph_ssl_crf.experiment import GRAPH, POOLED, SUPERVISED


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
    """Two draws of 2,000 labelled sentences."""
    return recipe.compare(airline, 2000, [0, 1], (POOLED, GRAPH), self_train=2)


@pytest.mark.must_show("graph-ssl-crf", 5)
def test_supervised_self_trained_and_graph_follow_in_this_order_and_the_gain_lies_on_words_without_labels(
    runs: recipe.Runs,
) -> None:
    for plain, pooled, graph in zip(*(runs.reports[system] for system in (SUPERVISED, POOLED, GRAPH)), strict=True):
        assert plain.accuracy <= pooled.accuracy <= graph.accuracy
    gain = {group: runs.mean(GRAPH, group) - runs.mean(SUPERVISED, group) for group in ("all", "OOV", "known")}
    assert gain["all"] >= 1.0
    assert gain["OOV"] >= 3.0 * max(gain["known"], 0.0)
    assert runs.p(GRAPH, SUPERVISED) < 0.001  # McNemar, in both draws
    assert runs.compare(GRAPH, POOLED).low > 0.0


@pytest.mark.must_show("graph-ssl-crf", 5)
@pytest.mark.parametrize(("name", "words"), [("reviews", 200_000), ("answers", 0)])
def test_newspaper_to_the_web_gains_and_most_on_words_without_labels(
    options: RecipeOptions, name: str, words: int
) -> None:
    shift = found(genre, options, name, 1500, words)
    runs = recipe.compare(shift, 500, [0], (GRAPH,), self_train=2)
    gain = {group: runs.mean(GRAPH, group) - runs.mean(SUPERVISED, group) for group in ("all", "OOV", "known")}
    assert gain["all"] > 0.0
    assert gain["OOV"] > max(gain["known"], 0.5), gain


@pytest.mark.must_show("graph-ssl-crf", 6)
def test_the_gain_falls_with_the_edges_and_diagnostics_tell_why(airline: Shift, runs: recipe.Runs) -> None:
    shares = (1.0, 0.25, 0.0)  # the first half of the edges may go without harm: see the page
    types = runs.graphs[0]
    thin = recipe.ablation(airline, airline.draw(2000, 0), types, shares[1:], runs.first[0], self_train=2)
    plain = recipe.accuracy(runs.reports[SUPERVISED][0])
    gains = [recipe.accuracy(report) - plain for report in (runs.reports[GRAPH][0], *thin)]
    assert gains == sorted(gains, reverse=True), gains
    assert gains[0] - gains[-1] >= 1.0, gains
    tables = RecipeResult(recipe.SLUG)
    recipe._diagnostics(tables, [(f"questions {share}", types.thin(share)) for share in shares])
    lost = [row.ours["disconnected, %"] for row in tables.tables[0].rows]
    assert lost == sorted(lost)  # type: ignore[type-var]
    assert lost[-1] == 100.0
    paths = [row.ours["mean path"] for row in tables.tables[0].rows]
    assert paths[0] < paths[1]  # type: ignore[operator]
    assert tables.tables[0].rows[0].paper == {"disconnected, %": 12.4, "mean path": 9.4}


def test_tests_sentences_are_not_in_the_raw_text(airline: Shift) -> None:
    raw = {" ".join(words) for words in airline.raw}
    assert not raw & {" ".join(words) for words, _ in airline.test}
