"""The closure of intervals against all weak orders of their end points, contradictions and reductions."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.orders.intervals import RELATIONS, IntervalGraph, Link, conditions_of
from weft.infer.orders.points import close_points

PAIRS = [(x, y) for x in range(3) for y in range(3) if x != y]
LINKS = [Link(x, relation, y) for relation in RELATIONS for x, y in PAIRS]


@cache
def weak_orders(n: int) -> np.ndarray:
    """All weak orders of n points, as the rank of every point: rankings without gaps."""
    rows = [ranks for ranks in product(range(n), repeat=n) if set(ranks) == set(range(max(ranks) + 1))]
    return np.array(rows)


@cache
def models(link: Link) -> int:
    """The weak orders of six points in which every interval has a length and a link holds, as bits of a number."""
    orders = weak_orders(6)
    good = (orders[:, 0::2] < orders[:, 1::2]).all(axis=1)
    for p, q, strict in conditions_of(link):
        good &= orders[:, p] < orders[:, q] if strict else orders[:, p] == orders[:, q]
    return int.from_bytes(np.packbits(good).tobytes(), "big")


def assert_closed_as_enumerated(links: list[Link]) -> None:
    holding = models(Link(0, "SIMULTANEOUS", 0))  # every order in which intervals have a length
    for link in links:
        holding &= models(link)
    graph = IntervalGraph(3, links)
    assert graph.consistent == (holding != 0)
    if holding:
        expected = {link for link in LINKS if models(link) & holding == holding}
        matrices = {relation: graph.matrix(relation) for relation in RELATIONS}
        assert {link for link in LINKS if matrices[link.relation][link.first, link.second]} == expected
        assert all(graph.holds(link) == (link in expected) for link in LINKS[::7])


def test_there_are_4683_weak_orders_of_six_points():
    assert len(weak_orders(6)) == 4683
    assert bin(models(Link(0, "SIMULTANEOUS", 0))).count("1") < 4683


@pytest.mark.must_show("thyme-clinical-time", 1)
def test_the_closure_of_every_two_links_of_three_intervals_has_what_holds_in_all_weak_orders():
    distinct = [link for link in LINKS if link.relation not in ("INCLUDES", "IDENTITY", "DURING", "DURING_INV")]
    for links in combinations(distinct, 2):
        assert_closed_as_enumerated(list(links))


@pytest.mark.must_show("thyme-clinical-time", 1)
@settings(deadline=None, max_examples=400)
@given(st.lists(st.sampled_from(LINKS), max_size=6))
def test_the_closure_of_many_links_has_what_holds_in_all_weak_orders(links):
    assert_closed_as_enumerated(links)


def test_nothing_but_their_own_length_is_known_of_intervals_without_links():
    assert_closed_as_enumerated([])


graphs = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(list(RELATIONS)), st.integers(0, 6)).map(lambda each: Link(*each)),
    max_size=12,
)


@pytest.mark.must_show("thyme-clinical-time", 2)
@settings(deadline=None, max_examples=200)
@given(graphs)
def test_a_reported_cycle_is_a_contradiction_in_which_no_link_can_be_spared(links):
    graph = IntervalGraph(7, links)
    cycle = graph.cycle()
    assert bool(cycle) == (not graph.consistent)
    if cycle:
        assert not IntervalGraph(7, [links[i] for i in cycle]).consistent
        for spared in cycle:
            assert IntervalGraph(7, [links[i] for i in cycle if i != spared]).consistent


@pytest.mark.must_show("thyme-clinical-time", 2)
def test_the_links_of_a_cycle_are_named_in_their_order_around_it():
    links = [Link(0, "BEFORE", 1), Link(4, "CONTAINS", 5), Link(2, "BEFORE", 0), Link(1, "CONTAINS", 2)]
    assert IntervalGraph(6, links).cycle() == [0, 3, 2]


def test_a_link_to_itself_is_a_contradiction_of_one_link():
    assert IntervalGraph(2, [Link(0, "BEFORE", 1), Link(1, "CONTAINS", 1)]).cycle() == [1]
    assert IntervalGraph(1, [Link(0, "BEGINS-ON", 0)]).consistent


@pytest.mark.must_show("thyme-clinical-time", 3)
@settings(deadline=None, max_examples=200)
@given(graphs)
def test_the_reduction_has_the_same_closure_and_no_link_to_spare(links):
    graph = IntervalGraph(7, links)
    kept = graph.reduction()
    reduced = IntervalGraph(7, [links[i] for i in kept])
    assert np.array_equal(reduced.points.less, graph.points.less)
    assert np.array_equal(reduced.points.equal, graph.points.equal)
    for spared in kept:
        fewer = IntervalGraph(7, [links[i] for i in kept if i != spared])
        assert not fewer.holds(links[spared])


def test_of_links_that_follow_from_each_other_the_earlier_one_stays():
    links = [Link(0, "OVERLAP", 1), Link(1, "BEFORE", 2), Link(1, "OVERLAP", 0), Link(2, "AFTER", 1)]
    assert IntervalGraph(3, links).reduction() == [0, 1]


@settings(deadline=None, max_examples=200)
@given(graphs)
def test_links_are_chosen_in_order_unless_they_contradict_those_chosen_before(links):
    chosen: list[int] = []
    for number in range(len(links)):
        if IntervalGraph(7, [links[i] for i in [*chosen, number]]).consistent:
            chosen.append(number)
    assert IntervalGraph(7, links).chosen() == chosen


@settings(deadline=None, max_examples=50)
@given(graphs)
def test_inferred_links_are_those_that_hold_and_are_not_given(links):
    graph = IntervalGraph(7, links)
    found = list(graph.inferred(("CONTAINS", "BEFORE")))
    assert set(found).isdisjoint(links)
    everything = {Link(x, r, y) for r in ("CONTAINS", "BEFORE") for x in range(7) for y in range(7) if x != y}
    assert set(found) == {link for link in everything - set(links) if graph.holds(link)}


def test_classes_beyond_one_word_of_bits_are_closed():
    closed = close_points(200, [(i, i + 1) for i in range(199) if i != 100], [(100, 101)])
    assert closed.consistent
    assert closed.less[0, 199]
    assert closed.equal[100, 101]
    assert not closed.less[100, 101]
    assert closed.ranks()[199] == 198
    assert not close_points(200, [*((i, i + 1) for i in range(199)), (199, 0)]).consistent


@settings(deadline=None, max_examples=100)
@given(graphs, st.lists(st.integers(0, 13)))
def test_ranks_agree_with_the_order_of_all_points_wherever_late_ones_stand(links, late):
    graph = IntervalGraph(7, [links[i] for i in IntervalGraph(7, links).chosen()])
    ranks, early = graph.points.ranks(late), graph.points.ranks()
    assert (ranks[:, None] < ranks[None, :])[graph.points.less].all()
    assert (ranks[:, None] == ranks[None, :])[graph.points.equal].all()
    assert (ranks >= early).all()


def test_unknown_relations_and_numbers_are_errors():
    with pytest.raises(InferenceError, match="unknown relation"):
        IntervalGraph(2, [Link(0, "NEAR", 1)])
    with pytest.raises(InferenceError, match="numbered from 0 to 1"):
        IntervalGraph(2, [Link(0, "BEFORE", 2)])
    with pytest.raises(InferenceError, match="numbered from 0 to 1"):
        close_points(2, [(0, 2)])
    with pytest.raises(InferenceError, match="no ranks"):
        close_points(2, [(0, 1), (1, 0)]).ranks()
