"""The agenda against enumeration of all strings of all units."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.graph.denotations.agenda import Agenda
from weft.graph.denotations.closure import acyclic, inherited
from weft.graph.denotations.units import Rule, Unit, Units

String = tuple[int, ...]


def derivations(unit: Unit) -> tuple[set[int], set[tuple[int, int, int]]]:
    """All states of a unit, and its expansions (state, state, kind), without any agenda."""
    states, work, steps = set(unit.roots), list(unit.roots), set()
    while work:
        state = work.pop()
        for rule in unit.rules:
            child = rule.applied(state)
            if child < 0 or child == state:
                continue
            steps.add((state, child, rule.kind))
            if child not in states:
                states.add(child)
                work.append(child)
    return states, steps


def enumerated(units: list[Unit], sources: list[int]) -> tuple[dict[String, set[int]], set[tuple[String, String, int]]]:
    """All strings with their sources, and all edges: everything, singletons included."""
    found: dict[String, set[int]] = defaultdict(set)
    edges = set()
    for unit, source in zip(units, sources, strict=True):
        states, steps = derivations(unit)
        for state in states:
            found[unit.string(state)].add(source)
        edges |= {(unit.string(a), unit.string(b), kind) for a, b, kind in steps if unit.string(a) != unit.string(b)}
    return found, edges


def least(units: list[Unit], sources: list[int]) -> tuple[dict[String, set[int]], set[tuple[String, String, int]]]:
    """The least set of states that has all roots, and the children of every state whose string has two sources."""
    reached = {(u, root) for u, unit in enumerate(units) for root in unit.roots}
    while True:
        found: dict[String, set[int]] = defaultdict(set)
        for u, state in reached:
            found[units[u].string(state)].add(sources[u])
        more, edges = set(reached), set()
        for u, state in reached:
            string = units[u].string(state)
            if len(found[string]) < 2:
                continue
            for rule in units[u].rules:
                child = rule.applied(state)
                if child >= 0 and child != state:
                    more.add((u, child))
                    if units[u].string(child) != string:
                        edges.add((string, units[u].string(child), rule.kind))
        if more == reached:
            return dict(found), edges
        reached = more


def of_agenda(agenda: Agenda) -> tuple[dict[String, set[int]], set[tuple[String, String, int]]]:
    strings = [agenda.string(node) for node in range(agenda.n_nodes)]
    found: dict[String, set[int]] = defaultdict(set)
    for node, source in zip(*agenda.incidences(), strict=True):
        found[strings[node]].add(int(source))
    edges = {(strings[a], strings[b], int(k)) for a, b, k in zip(*agenda.edges(), strict=True)}
    return dict(found), edges


#: Units whose rules depend on their strings alone: subsets of symbols in one order, each with a chain of generic forms.
@st.composite
def lattices(draw: st.DrawFn) -> Unit:
    words = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True))
    slots, rules, atom = [], [], 0
    forms = []
    for word in sorted(words):  # symbols 10 * word + level: level 0 is the most generic one
        levels = draw(st.integers(1, 3))
        forms.append([atom + k for k in range(levels)])
        slots += [(10 * word + k, atom + k) for k in range(levels)]
        atom += levels
    for own in forms:
        every = sum(1 << a for a in own)
        rules.append(Rule(0, every, 0, 1 << own[0], 1))
        rules += [Rule(1 << low, 0, 1 << low, 1 << high, 2) for low, high in pairwise(own)]
    return Unit(slots, [1 << own[0] for own in forms], rules)


@st.composite
def wild(draw: st.DrawFn) -> Unit:
    """Units with rules of any kind."""
    bits = st.integers(0, 31)
    slots = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=6))
    rules = draw(st.lists(st.builds(Rule, bits, bits, bits, bits, st.integers(0, 2)), max_size=6))
    return Unit(slots, draw(st.lists(st.integers(1, 31), min_size=1, max_size=3)), rules)


def with_sources(units: st.SearchStrategy[Unit]) -> st.SearchStrategy[list[tuple[Unit, int]]]:
    return st.lists(st.tuples(units, st.integers(0, 4)), min_size=1, max_size=8)


@pytest.mark.must_show("visual-denotations", 2)
@settings(max_examples=100, deadline=None)
@given(with_sources(lattices()))
def test_the_agenda_keeps_strings_of_two_sources_and_their_children(given_):
    units, sources = [unit for unit, _ in given_], [source for _, source in given_]
    found, edges = enumerated(units, sources)
    several = {string for string, own in found.items() if len(own) > 1}
    roots = {unit.string(root) for unit in units for root in unit.roots}
    kept = roots | several | {b for a, b, _ in edges if a in several}
    agenda = Agenda()
    agenda.add(Units.of(units, sources))
    own, own_edges = of_agenda(agenda)
    assert own == {string: found[string] for string in kept}
    assert own_edges == {edge for edge in edges if edge[0] in several}


@settings(max_examples=100, deadline=None)
@given(with_sources(wild()))
def test_whatever_the_rules_states_are_those_that_nodes_of_two_sources_reach(given_):
    units, sources = [unit for unit, _ in given_], [source for _, source in given_]
    agenda = Agenda()
    agenda.add(Units.of(units, sources))
    assert of_agenda(agenda) == least(units, sources)


@pytest.mark.must_show("visual-denotations", 8)
@settings(max_examples=60, deadline=None)
@given(with_sources(wild()), st.integers(0, 8))
def test_units_that_come_later_give_the_graph_of_all(given_, cut):
    units, sources = [unit for unit, _ in given_], [source for _, source in given_]
    agenda = Agenda()
    agenda.add(Units.of(units[:cut], sources[:cut]))
    agenda.add(Units.of(units[cut:], sources[cut:]))
    assert of_agenda(agenda) == least(units, sources)


@settings(max_examples=60, deadline=None)
@given(with_sources(wild()), st.integers(0, 5))
def test_units_that_get_more_rules_later_give_the_graph_of_all_rules(given_, kept):
    units, sources = [unit for unit, _ in given_], [source for _, source in given_]
    fewer = [Unit(unit.slots, unit.roots, unit.rules[:kept]) for unit in units]
    agenda = Agenda()
    agenda.add(Units.of(fewer, sources))
    agenda.replace_rules(Units.of(units, sources), np.arange(len(units)))
    assert of_agenda(agenda) == least(units, sources)


def test_a_string_of_one_source_is_not_expanded():
    long = Unit([(k, k) for k in range(30)], [1], [Rule(0, 0, 0, 1 << k) for k in range(30)])
    agenda = Agenda()
    agenda.add(Units.of([long, Unit([(0, 0)], [1], [])], [0, 1]))
    assert agenda.n_nodes == 30  # the root and its children, not 2 ** 29 subsets
    alone = Agenda()
    alone.add(Units.of([long, long], [3, 3]))
    assert alone.n_nodes == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12), st.data())
def test_what_children_have_their_parents_have(edges, data):
    n = 7
    pairs = data.draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=8, unique=True))
    own = {node: {s for k, s in pairs if k == node} for node in range(n)}
    for _ in range(n * 4):
        for parent, child in edges:
            own[parent] |= own[child]
    arrays = [np.array([pair[k] for pair in pairs], np.int32) for k in range(2)]
    links = [np.array([edge[k] for edge in edges], np.int32) for k in range(2)]
    nodes, sources = inherited(arrays[0], arrays[1], links[0], links[1], n)
    assert list(zip(nodes.tolist(), sources.tolist(), strict=True)) == sorted(
        (node, s) for node in own for s in own[node]
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14))
def test_no_kept_edge_closes_a_cycle_and_edges_outside_cycles_stay(edges):
    parents, children = (np.array([edge[k] for edge in edges], np.int32) for k in range(2))
    lengths = np.array([1, 1, 2, 2, 3, 3])
    kept = acyclic(parents, children, 6, lengths)
    reach = np.eye(6, dtype=bool)
    for a, b in edges:
        reach[a, b] = True
    for k in range(6):
        reach |= reach[:, k : k + 1] & reach[k : k + 1]
    for (a, b), stays in zip(edges, kept, strict=True):
        assert stays or (reach[b, a] and lengths[b] <= lengths[a])
    after = [(a, b) for (a, b), stays in zip(edges, kept, strict=True) if stays]
    order = dict.fromkeys(range(6), 0)
    for _ in range(7):
        for a, b in after:
            order[b] = max(order[b], order[a] + 1)
    assert all(depth < 7 for depth in order.values())


def test_too_many_atoms_or_kinds_are_refused():
    with pytest.raises(ConfigError, match="63 atoms"):
        Units.of([Unit([(0, 63)], [1], [])], [0])
    with pytest.raises(ConfigError, match="1024 kinds"):
        Agenda().add(Units.of([Unit([(0, 0)], [1], [Rule(1, 0, 0, 2, 1024)])], [0]))
    with pytest.raises(ConfigError, match="every unit has a source"):
        Units.of([Unit([(0, 0)], [1], [])], [])
