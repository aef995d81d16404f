"""Belief propagation against enumeration: exact on trees, a fixed point elsewhere, the same in every schedule."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.factor_graphs.graph import FactorGraph


class Twin:
    """The same graph by enumeration of all assignments."""

    def __init__(self, sizes, scores):
        self.sizes, self.starts = sizes, np.concatenate([[0], np.cumsum(sizes)])
        self.scores, self.factors = scores, []

    def table(self, variables, log_table):
        self.factors.append(lambda x: log_table[tuple(x[v] for v in variables)])

    def link(self, choice, value, first, second):
        self.factors.append(lambda x: -np.inf if x[choice] == value and x[first] != x[second] else 0.0)

    def sums(self):
        marginals, total = np.zeros(self.starts[-1]), 0.0
        for x in product(*map(range, self.sizes)):
            log = sum(self.scores[self.starts[v] + value] for v, value in enumerate(x))
            weight = np.exp(log + sum(factor(x) for factor in self.factors))
            total += weight
            for v, value in enumerate(x):
                marginals[self.starts[v] + value] += weight
        return marginals / total, np.log(total)


def both(sizes, draw, spread=2.0):
    scores = draw.normal(size=sum(sizes)) * spread
    graph = FactorGraph(sizes)
    graph.set_scores(scores)
    return graph, Twin(sizes, scores)


def link_tree(draw, mentions, values, properties=1):
    """A document in which every mention may only link to one other: its graph is a tree if it has one property."""
    sizes = [2] * mentions + [values] * (mentions * properties)
    graph, twin = both(sizes, draw)
    for i in range(1, mentions):
        j = int(draw.integers(i))
        for k in range(properties):
            own, other = mentions * (k + 1) + i, mentions * (k + 1) + j
            graph.add_links([i], [1], [own], [other])
            twin.link(i, 1, own, other)
    return graph, twin


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 3))
@pytest.mark.must_show("entity-level-coreference", 1)
def test_beliefs_are_exact_on_trees_of_links(seed, mentions, values):
    graph, twin = link_tree(np.random.default_rng(seed), mentions, values)
    for schedule in ("sequential", "parallel"):
        beliefs = graph.run(schedule=schedule)
        marginals, log_z = twin.sums()
        assert beliefs.converged.all()
        np.testing.assert_allclose(beliefs.probabilities, marginals, atol=1e-6)
        assert beliefs.log_partition == pytest.approx(log_z, abs=1e-8)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_beliefs_are_exact_on_trees_of_tables_of_any_arity(seed):
    draw = np.random.default_rng(seed)
    sizes = [2, 3, 2, 2, 3, 1]
    graph, twin = both(sizes, draw)
    for variables in ([0, 1, 2], [2, 3], [4, 1], [3], [5, 3]):
        table = draw.normal(size=[sizes[v] for v in variables]) * 2
        table.flat[0] = -np.inf if table.size > 1 else 0.0
        graph.add_table(variables, table)
        twin.table(variables, table)
    beliefs, (marginals, log_z) = graph.run(), twin.sums()
    np.testing.assert_allclose(beliefs.probabilities, marginals, atol=1e-9)
    assert beliefs.log_partition == pytest.approx(log_z, abs=1e-9)


def random_document(draw, mentions=5, properties=2, values=3):
    """All mentions may link to all earlier ones: loops of every length."""
    sizes = [i + 1 for i in range(mentions)] + [values] * (mentions * properties)
    graph, twin = both(sizes, draw, 1.0)
    for i in range(1, mentions):
        for j in range(i):
            for k in range(properties):
                own, other = mentions + k * mentions + i, mentions + k * mentions + j
                graph.add_links([i], [j + 1], [own], [other])
                twin.link(i, j + 1, own, other)
    return graph, twin


@pytest.mark.must_show("entity-level-coreference", 1)
def test_beliefs_are_close_to_exact_on_random_documents():
    errors, unlinked = [], []
    for seed in range(5):
        graph, twin = random_document(np.random.default_rng(seed), mentions=5, properties=1)
        beliefs = graph.run()
        assert beliefs.converged.all()
        exact = twin.sums()[0]
        apart = FactorGraph(np.diff(graph.starts))
        apart.set_scores(graph.scores)
        errors.append(np.abs(beliefs.probabilities - exact).mean())
        unlinked.append(np.abs(apart.run().probabilities - exact).mean())
    assert np.mean(errors) < 0.05
    assert np.mean(errors) < np.mean(unlinked) / 3  # most of what the factors do is caught


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.must_show("entity-level-coreference", 1)
def test_links_send_the_messages_of_the_table_that_they_stand_for(seed):
    draw = np.random.default_rng(seed)
    n, values = 4, 3
    sizes = [i + 1 for i in range(n)] + [values] * n
    scores = draw.normal(size=sum(sizes))
    links, tables = FactorGraph(sizes), FactorGraph(sizes)
    links.set_scores(scores)
    tables.set_scores(scores)
    for i in range(1, n):
        for j in range(i):
            links.add_links([i], [j + 1], [n + i], [n + j])
            table = np.zeros((i + 1, values, values))
            table[j + 1] = np.where(np.eye(values, dtype=bool), 0.0, -np.inf)
            tables.add_table([i, n + i, n + j], table)
    for sweeps in (1, 2, 5):
        for schedule in ("sequential", "parallel"):
            ours, theirs = (each.run(sweeps=sweeps, tolerance=0, schedule=schedule) for each in (links, tables))
            np.testing.assert_allclose(ours.probabilities, theirs.probabilities, atol=1e-12)
            np.testing.assert_allclose(ours.log_partitions, theirs.log_partitions, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.must_show("entity-level-coreference", 1)
def test_a_choice_sends_the_messages_of_the_table_that_it_stands_for(seed):
    """Values 1 and 2 of the choice link; 0 and 3 do not."""
    draw = np.random.default_rng(seed)
    sizes = [4, 3, 3, 3, 2]
    scores = draw.normal(size=sum(sizes)) * 2
    factor, table = FactorGraph(sizes), FactorGraph(sizes)
    cells = np.zeros(sizes[:4])
    for c, x, y, z in np.ndindex(*sizes[:4]):
        if (c == 1 and x != y) or (c == 2 and x != z):
            cells[c, x, y, z] = -np.inf
    factor.add_choice(0, 1, 1, [2, 3])
    table.add_table([0, 1, 2, 3], cells)
    for graph in (factor, table):
        graph.set_scores(scores)
        graph.add_table([4, 0], np.arange(8).reshape(2, 4) / 4)
        graph.add_table([4, 2], np.arange(6).reshape(2, 3) / 3)
    for sweeps in (1, 2, 5):
        for schedule in ("sequential", "parallel"):
            ours, theirs = (each.run(sweeps=sweeps, tolerance=0, schedule=schedule) for each in (factor, table))
            np.testing.assert_allclose(ours.probabilities, theirs.probabilities, atol=1e-12)
            np.testing.assert_allclose(ours.log_partitions, theirs.log_partitions, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.must_show("entity-level-coreference", 1)
def test_a_mention_with_several_candidates_is_no_loop_if_its_links_are_one_factor(seed):
    draw = np.random.default_rng(seed)
    sizes = [4, 3, 3, 3, 3]  # the choice; the property of the mention and of its three candidates
    graph, twin = both(sizes, draw)
    graph.add_choice(0, 1, 1, [2, 3, 4])
    for j in range(3):
        twin.link(0, j + 1, 1, 2 + j)
    exact, log_z = twin.sums()
    found = graph.run()
    np.testing.assert_allclose(found.probabilities, exact, atol=1e-9)
    assert found.log_partition == pytest.approx(log_z, abs=1e-9)


def test_schedules_and_damping_reach_the_same_fixed_point():
    graph, _ = random_document(np.random.default_rng(1))
    reference = graph.run(tolerance=1e-12, sweeps=300)
    for schedule in ("sequential", "parallel"):
        for damping in (0.0, 0.3, 0.7):
            found = graph.run(tolerance=1e-12, sweeps=600, schedule=schedule, damping=damping)
            assert found.converged.all()
            np.testing.assert_allclose(found.probabilities, reference.probabilities, atol=1e-8)


def test_damping_settles_what_oscillates():
    """Four variables that all want to differ from each other: parallel messages swing back and forth."""
    graph = FactorGraph([2] * 4)
    graph.set_scores([0.3, 0.0] * 4)
    for i in range(4):
        for j in range(i):
            graph.add_table([i, j], np.where(np.eye(2, dtype=bool), -3.0, 0.0))
    assert not graph.run(schedule="parallel", sweeps=200).converged.all()
    assert graph.run(schedule="parallel", sweeps=500, damping=0.6).converged.all()


@pytest.mark.parametrize("tree", [True, False])
def test_derivatives_of_the_log_partition_function_are_the_beliefs(tree):
    """On trees that is the gradient of the exact function; at a fixed point elsewhere, of Bethe's."""
    draw = np.random.default_rng(3)
    graph, _ = link_tree(draw, 4, 3) if tree else random_document(draw, 4)
    scores, h = graph.scores.copy(), 1e-5
    beliefs = graph.run(tolerance=1e-13, sweeps=500)
    for place in range(len(scores)):
        around = []
        for step in (h, -h):
            moved = scores.copy()
            moved[place] += step
            graph.set_scores(moved)
            around.append(graph.run(tolerance=1e-13, sweeps=500).log_partition)
        assert (around[0] - around[1]) / (2 * h) == pytest.approx(beliefs.probabilities[place], abs=1e-7)


def test_forbidden_values_have_no_probability():
    graph = FactorGraph([3, 2, 2])
    graph.set_scores([0.0, -np.inf, 0.0, -np.inf, 0.0, 0.0, -np.inf])
    graph.add_links([0], [2], [1], [2])
    beliefs = graph.run()
    assert beliefs.marginals(0).round(12).tolist() == [1.0, 0.0, 0.0]
    assert beliefs.best().tolist() == [0, 1, 0]


def test_a_batch_gives_every_graph_what_it_has_alone():
    graphs = [random_document(np.random.default_rng(seed), mentions=3 + seed)[0] for seed in range(3)]
    joined = FactorGraph.batch([FactorGraph.batch(graphs[:2]), graphs[2]]).run()
    alone = [graph.run() for graph in graphs]
    np.testing.assert_array_equal(joined.probabilities, np.concatenate([each.probabilities for each in alone]))
    assert joined.sweeps.tolist() == [int(each.sweeps[0]) for each in alone]
    np.testing.assert_array_equal(joined.log_partitions, [each.log_partition for each in alone])


def test_tables_keep_their_cells_in_a_batch():
    pair = FactorGraph([2, 2])
    pair.add_table([0, 1], [[0.0, -np.inf], [-np.inf, 0.0]])
    other = FactorGraph([2, 2])
    other.set_scores([1.0, 0.0, 0.0, 0.0])
    other.add_table([0, 1], [[0.0, -np.inf], [-np.inf, 0.0]])
    beliefs = FactorGraph.batch([pair, other]).run()
    assert beliefs.marginals(3)[0] == pytest.approx(1 / (1 + np.exp(-1)))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda g: FactorGraph([2, 0]), "at least one value"),
        (lambda g: g.set_scores([0.0]), "must have the shape"),
        (lambda g: g.set_scores([-np.inf, -np.inf, 0.0, 0.0, 0.0, 0.0]), "no value that is allowed"),
        (lambda g: g.set_scores([np.nan] * 6), "NaN"),
        (lambda g: g.add_table([0, 0], np.zeros((2, 2))), "differ"),
        (lambda g: g.add_table([0, 3], np.zeros((2, 2))), "not one of the 3"),
        (lambda g: g.add_table([0], np.full(2, -np.inf)), "forbids every"),
        (lambda g: g.add_links([0], [2], [1], [2]), "value"),
        (lambda g: g.add_links([0], [1], [1], [1]), "differ"),
        (lambda g: g.add_choice(0, 1, 1, [2, 2]), "value"),
        (lambda g: g.add_choice(0, 0, 1, [2, 2]), "differ"),
        (lambda g: FactorGraph([2, 2, 3]).add_choice(0, 1, 1, [2]), "same values"),
        (lambda g: g.run(sweeps=0), "needs a sweep"),
        (lambda g: g.run(damping=1.0), "damping"),
        (lambda g: g.run(schedule="random"), "no schedule"),
    ],
)  # fmt: skip
def test_bad_graphs_are_refused_in_plain_words(action, message):
    with pytest.raises(InferenceError, match=message):
        action(FactorGraph([2, 2, 2]))


def test_a_graph_without_factors_gives_its_scores_back():
    graph = FactorGraph([2])
    graph.set_scores(np.log([0.25, 0.75]))
    assert graph.run().marginals(0).round(9).tolist() == [0.25, 0.75]
    assert len(FactorGraph.batch([]).run().probabilities) == 0
