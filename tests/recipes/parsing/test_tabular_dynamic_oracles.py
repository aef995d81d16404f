"""Checks 5 to 7 of the sheet of tabular-dynamic-oracles, in sizes that take seconds (1 to 4: tests/infer)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from steps import steps_of

from weft.data import have
from weft.infer.transitions import systems
from weft.infer.transitions.state import DYNAMIC, HEAD, NONDET, Table, gold_table, new_state
from weft.infer.transitions.systems import system_named
from weft.recipes.corpora.parsing import WSJ, Treebank, legal_moves, train, trees, ud, wsj
from weft.recipes.framework import RecipeOptions
from weft.recipes.parsing import tabular_dynamic_oracles as recipe

CHINESE = "treebanks/ud/Chinese-GSD/train.conllu.gz"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not (have(WSJ) and have(CHINESE)),
        reason="the newspaper sample or UD_Chinese-GSD is not at hand: set WEFT_DATA (see `weft data list`)",
    ),
]


@pytest.fixture(scope="module")
def newspaper() -> Treebank:
    return wsj(RecipeOptions(), train=1000, dev=100, test=1)


@pytest.mark.must_show("tabular-dynamic-oracles", 4)
@pytest.mark.parametrize("name", list(recipe.SYSTEMS.values()))
def test_both_oracles_allow_the_same_moves_along_random_gold_paths_of_a_treebank(name, newspaper):
    number, rng = system_named(name).number, np.random.default_rng(0)
    for heads in trees(newspaper.train, 500):
        n = len(heads)
        gold, state = gold_table(heads, np.zeros(n, np.int32)), new_state(n)
        systems.start(number, state, n)
        while not systems.finished(number, state):
            allowed = free_moves(number, state, gold, NONDET)
            assert allowed == free_moves(number, state, gold, DYNAMIC) != []
            systems.apply(number, state, *allowed[int(rng.integers(len(allowed)))], 0)
        assert (state[1 : n + 1, HEAD] == heads).all()


def free_moves(number: int, state: Table, gold: Table, oracle: int) -> list[tuple[int, int]]:
    """The moves of cost 0."""
    systems.price(number, state, gold, oracle)
    return [
        (candidate, move)
        for candidate, move in legal_moves(number, state)
        if systems.cost(number, state, gold, candidate, move) == 0
    ]


@pytest.mark.must_show("tabular-dynamic-oracles", 7)
def test_cells_of_the_spine_table_grow_linearly(newspaper):
    walks = recipe.walk_tables(trees(newspaper.train, 200), mistakes=0.2)
    largest = {d: int(top) for d, top in enumerate(walks.largest) if top}
    assert max(largest) > 10
    assert all(top <= 4 * (d + 1) for d, top in largest.items()), largest


@pytest.mark.must_show("tabular-dynamic-oracles", 3)
def test_the_loss_foretold_half_way_is_found_at_the_end_of_treebank_sentences(newspaper):
    walks = recipe.walk_tables(trees(newspaper.train, 100), mistakes=0.3, seed=1)
    assert all(foretold == found for foretold, found in walks.losses)
    assert sum(found for _, found in walks.losses) > 100


@pytest.mark.must_show("tabular-dynamic-oracles", 6)
@pytest.mark.parametrize("short", ["std", "lrs"])
def test_exploring_takes_few_more_steps_than_the_static_oracle(short):
    few = wsj(RecipeOptions(), train=8, dev=1, test=1)
    steps = {
        oracle: steps_of(lambda oracle=oracle: train(few, recipe.SYSTEMS[short], oracle, 1))
        for oracle in ("static", "dynamic")
    }
    assert steps["dynamic"] < recipe.SLOWEST[short] * steps["static"], steps


@pytest.mark.timing
@pytest.mark.must_show("tabular-dynamic-oracles", 6)
@pytest.mark.parametrize("short", ["std", "lrs"])
def test_exploring_takes_little_longer_than_the_static_oracle(short, newspaper):
    few = replace(newspaper, train=newspaper.train[:1])
    seconds = {}
    for oracle in ("static", "dynamic"):
        train(few, recipe.SYSTEMS[short], oracle, 1)  # compiles
        seconds[oracle] = train(newspaper, recipe.SYSTEMS[short], oracle, 2).cpu_seconds
    assert seconds["dynamic"] / seconds["static"] < recipe.SLOWEST[short], seconds


@pytest.mark.must_show(
    "tabular-dynamic-oracles", 5, weaker="static and exploring LR-spine on one treebank with two seeds"
)
def test_exploring_is_better_than_the_static_oracle_for_lr_spine():
    chinese = ud(RecipeOptions(), "Chinese-GSD", train=1500, dev=400, test=1)
    chinese = replace(chinese, test=chinese.dev)
    uas = {
        oracle: np.mean([train(chinese, "lr-spine", oracle, 3, seed).scores.uas for seed in (0, 1)])
        for oracle in ("static", "dynamic")
    }
    assert uas["dynamic"] > uas["static"], uas


def test_the_recipe_gives_all_rows_and_says_what_it_rests_on():
    size = recipe.Size(("wsj",), 60, 30, 1, 1, 1, predicted_tags=False, walks=10)
    options = RecipeOptions(quick=True)
    result = recipe.run_size(options, size)
    assert options.files == [WSJ]
    table = next(table for table in result.tables if table.title.startswith("UAS"))
    assert [row.name for row in table.rows] == list(recipe.PAPER_UAS)
    assert all(0 < row.ours["wsj"] < 100 for row in table.rows)
    assert result.curves[0].series["lrs"]
    assert not [claim for claim in result.failed if not claim.paper]
