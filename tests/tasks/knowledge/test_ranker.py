"""Path ranking: features, training, and files of models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft import storage
from weft.errors import ConfigError, DataError, ModelError
from weft.graph.paths.steps import StepGraph
from weft.graph.paths.walk import EXACT, Walking, probabilities
from weft.graph.store import Builder
from weft.tasks.knowledge.model import load_ranker, save_ranker
from weft.tasks.knowledge.ranker import PathRanker, RankerSettings, _fitted, targets_of
from weft.tasks.knowledge.table import PathTable, reciprocal_ranks


def towns(people: int = 60, known: int = 50) -> StepGraph:
    builder = Builder()
    for number in range(people):
        town = f"town {number % 12}"
        builder.add_all([
            (f"p{number}", "born in", town), (f"p{number}", "friend", f"p{number * 7 % people}"),
            (town, "in", f"land {number % 12 % 5}"),
        ])  # fmt: skip
        if number < known:
            builder.add(f"p{number}", "citizen", f"land {number % 12 % 5 if number % 10 else 0}")
    return StepGraph.of([builder.graph()])


def test_a_table_holds_the_probability_of_every_path_and_candidate() -> None:
    graph = towns()
    paths = [graph.path(path) for path in (("born in", "in"), ("friend", "citizen"), ("friend", "friend⁻¹", "citizen"))]
    known = graph.answers("citizen")
    sources = sorted(known)[:20]
    table = PathTable.of(graph, paths, sources, relation="citizen", candidates=targets_of(graph, known), walking=EXACT)
    for q, source in enumerate(sources):
        wanted = {
            (node, column): value
            for column, path in enumerate(paths)
            for node, value in probabilities(graph, path, source, "citizen").items()
        }
        own = slice(table.offsets[q], table.offsets[q + 1])
        dense = table.values[own].toarray()
        assert {
            (int(node), column): dense[row, column]
            for row, node in enumerate(table.nodes[own])
            for column in np.flatnonzero(dense[row])
        } == wanted
    assert (table.binary().values.data == 1).all()
    parallel = PathTable.of(graph, paths, sources, relation="citizen", candidates=targets_of(graph, known),
                            walking=EXACT, workers=3)  # fmt: skip
    assert (parallel.values != table.values).nnz == 0


def test_examples_are_sampled_facts_and_negatives_by_rank() -> None:
    graph = towns()
    known = graph.answers("citizen")
    sources = sorted(known)
    table = PathTable.of(graph, [graph.path(("friend", "citizen")), graph.path(("born in", "in"))], sources,
                         relation="citizen", candidates=targets_of(graph, known))  # fmt: skip
    positive = {source: known[source] for source in sources[:30]}
    rows, labels = table.examples(positive, known)
    queries = table.queries
    for row, label in zip(rows, labels, strict=True):
        source = sources[queries[row]]
        assert source in positive
        assert (int(table.nodes[row]) in known[source]) == label


def test_reciprocal_ranks_count_ties_by_half_and_what_nothing_reaches_as_zero() -> None:
    graph = towns()
    known = graph.answers("citizen")
    path = graph.path(("friend", "friend⁻¹", "born in", "in"))
    table = PathTable.of(graph, [path], sorted(known)[:5], relation="citizen")
    right = np.zeros(len(table.nodes), dtype=bool)
    assert reciprocal_ranks(table, np.zeros(len(right)), right).tolist() == [0.0] * 5
    for low, high in zip(table.offsets[:-1], table.offsets[1:], strict=True):
        right[low] = high > low
    sizes = np.diff(table.offsets)
    found = reciprocal_ranks(table, np.zeros(len(right)), right)
    assert np.allclose(found[sizes > 0], 1 / (1 + (sizes[sizes > 0] - 1) / 2))


@pytest.mark.must_show("path-ranking-web-reading", 3)
def test_the_relation_itself_would_answer_every_training_query_and_is_never_walked() -> None:
    """Random answers: the only path that could rank them first is the edge in question."""
    draw = np.random.default_rng(0)
    builder = Builder()
    for number in range(120):
        builder.add(f"p{number}", "of", f"c{draw.integers(30)}")
        builder.add(f"p{number}", "near", f"p{draw.integers(120)}")
    graph = StepGraph.of([builder.graph()])
    known = graph.answers("of")
    itself = PathTable.of(graph, [graph.path(["of"])], sorted(known), candidates=targets_of(graph, known))
    assert reciprocal_ranks(itself, np.ones(len(itself.nodes)), itself.right(known)).mean() == 1.0
    hidden = PathTable.of(graph, [graph.path(["of"])], sorted(known), relation="of")
    assert len(hidden.nodes) == 0
    ranker = PathRanker.fit(graph, "of", known, RankerSettings(length=3, sampling="all"))
    assert graph.path(["of"]) not in ranker.paths
    table = ranker.table(graph, sorted(known), targets_of(graph, known))
    assert reciprocal_ranks(table, ranker.scores(table), table.right(known)).mean() < 0.5


def test_the_model_is_the_mean_of_its_folds_and_depends_on_the_seed_alone() -> None:
    graph = towns()
    known = graph.answers("citizen")
    settings = RankerSettings(length=3, cap=2, seed=3)
    one, other = (PathRanker.fit(graph, "citizen", known, settings, workers=workers) for workers in (1, 3))
    assert one.paths == other.paths
    assert one.theta.tolist() == other.theta.tolist()
    assert PathRanker.fit(graph, "citizen", known, RankerSettings(length=3, cap=2, seed=4)).theta.tolist() != (
        one.theta.tolist()
    )
    paths = [graph.path(path) for path in (("born in", "in"), ("friend", "citizen"))]
    table = PathTable.of(graph, paths, sorted(known), relation="citizen", candidates=targets_of(graph, known))
    single = RankerSettings(active=(0,), hits=(0.0,), l1=(1e-3,), l2=(1e-3,), folds=2)
    mean, report = _fitted(table, known, known, single)
    assert (report["active"], report["l1"]) == (0, 1e-3)
    folds = np.random.default_rng(single.seed + 1).permutation(len(table.sources)) % 2
    from weft.tasks.knowledge.ranker import _one

    rows, labels = table.examples(known, known)
    parts = [
        _one(table, rows[used], labels[used], np.arange(2), 1e-3, 1e-3, None)[0]
        for used in ((folds != fold)[table.queries[rows]] for fold in range(2))
    ]
    assert np.allclose(mean, np.mean(parts, axis=0), atol=1e-6)


def test_filters_are_applied_to_the_queries_of_each_fold() -> None:
    graph = towns()
    known = graph.answers("citizen")
    paths = [graph.path(path) for path in (("born in", "in"), ("friend", "friend", "friend", "citizen"))]
    table = PathTable.of(graph, paths, sorted(known), relation="citizen", candidates=targets_of(graph, known))
    both, _ = _fitted(table, known, known, RankerSettings(active=(0,), hits=(0.0,), l1=(0.0,), l2=(1e-3,)))
    hits, _ = _fitted(table, known, known, RankerSettings(active=(0,), hits=(0.5,), l1=(0.0,), l2=(1e-3,)))
    none, _ = _fitted(table, known, known, RankerSettings(active=(10_000,), hits=(0.0,), l1=(0.0,), l2=(1e-3,)))
    assert (both[:-1] != 0).tolist() == [True, True]
    assert (hits[:-1] != 0).tolist() == [True, False]
    assert (none[:-1] != 0).tolist() == [False, False]


def test_a_model_file_is_restored_on_the_graph_it_is_used_on(tmp_path: Path) -> None:
    graph = towns()
    known = graph.answers("citizen")
    ranker = PathRanker.fit(graph, "citizen", known, RankerSettings(length=2))
    save_ranker(ranker, graph, tmp_path / "m.weft")
    again = load_ranker(tmp_path / "m.weft", graph)
    assert (again.paths, again.theta.tolist(), again.settings) == (ranker.paths, ranker.theta.tolist(), ranker.settings)
    builder = Builder()
    builder.add_all([("x", "born in", "y"), ("y", "in", "z")])
    other = StepGraph.of([builder.graph()])
    found = load_ranker(tmp_path / "m.weft", other)
    assert [other.told(path) for path in found.paths] == ["⟨born in, in⟩"]
    assert len(found.theta) == 2
    builder = Builder()
    builder.add("x", "eats", "y")
    with pytest.raises(DataError, match="another graph"):
        load_ranker(tmp_path / "m.weft", StepGraph.of([builder.graph()]))


@pytest.mark.parametrize(
    ("field", "value"),
    [("kind", "tagger"), ("relation", 3), ("paths", [["a", 2]]), ("paths", "all"), ("settings", {"length": 1})],
)
def test_hostile_headers_are_refused(tmp_path: Path, field: str, value: object) -> None:
    graph = towns()
    save_ranker(PathRanker("citizen", [(0,)], np.ones(2)), graph, tmp_path / "m.weft")
    header, arrays = storage.load(tmp_path / "m.weft")
    header.pop("checksums")
    storage.save(tmp_path / "bad.weft", {**header, field: value}, arrays)
    with pytest.raises(ModelError):
        load_ranker(tmp_path / "bad.weft", graph)
    storage.save(tmp_path / "bad.weft", header, {"theta": np.ones(5)})
    with pytest.raises(ModelError):
        load_ranker(tmp_path / "bad.weft", graph)
    storage.save(tmp_path / "bad.weft", header, {**arrays, "more": np.ones(5)})
    with pytest.raises(ModelError, match="does not belong"):
        load_ranker(tmp_path / "bad.weft", graph)


def test_what_cannot_be_learned_is_said() -> None:
    graph = towns()
    known = graph.answers("citizen")
    with pytest.raises(DataError, match="at least 3 are needed"):
        PathRanker.fit(graph, "citizen", dict(list(known.items())[:2]))
    with pytest.raises(DataError, match="no path of up to 1 step"):
        PathRanker.fit(graph, "citizen", known, RankerSettings(length=1))
    with pytest.raises(ConfigError, match="stratified, random, all"):
        PathRanker.fit(graph, "citizen", known, RankerSettings(sampling="some"))
    assert Walking().cap == 100
