"""Token automata against the enumeration of their paths."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.lexical.growth.automata import TokenAutomaton

START = 100
# Rising tokens behind the start: bigrams always rise, so that the automaton has no cycle.
rising = st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=5).map(sorted), min_size=1, max_size=12)
any_order = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=8)


def induced(strings: list[list[int]]) -> TokenAutomaton:
    return TokenAutomaton.induce([[START, *string] for string in strings])


def all_paths(automaton: TokenAutomaton, longest: int) -> list[tuple[tuple[int, ...], float]]:
    """Every accepted path as states, with its probability: the twin of forward-backward."""
    moves, stops = automaton.probabilities()
    chance = dict(zip(zip(automaton.sources.tolist(), automaton.targets.tolist(), strict=True), moves, strict=True))
    found: list[tuple[tuple[int, ...], float]] = []

    def walk(path: tuple[int, ...], probability: float) -> None:
        if stops[path[-1]] > 0:
            found.append((path, probability * stops[path[-1]]))
        if len(path) < longest:
            for target in automaton.successors(path[-1]).tolist():
                walk((*path, target), probability * chance[path[-1], target])

    walk((automaton.start,), 1.0)
    return found


def enumerated(automaton: TokenAutomaton, longest: int) -> tuple[list[float], list[float]]:
    """Posteriors of transitions and ends by the sum over all paths."""
    paths = all_paths(automaton, longest)
    total = sum(probability for _, probability in paths)
    used: Counter[tuple[int, int]] = Counter()
    ended: Counter[int] = Counter()
    for path, probability in paths:
        for pair in pairwise(path):
            used[pair] += probability / total  # a transition used twice counts twice
        ended[path[-1]] += probability / total
    pairs = zip(automaton.sources.tolist(), automaton.targets.tolist(), strict=True)
    return [used[pair] for pair in pairs], [ended[state] for state in range(automaton.n_states)]


def language(automaton: TokenAutomaton, longest: int) -> set[tuple[int, ...]]:
    return {tuple(automaton.labels[list(path)].tolist()) for path, _ in all_paths(automaton, longest)}


@pytest.mark.must_show("context-pattern-induction", 1)
@settings(max_examples=60, deadline=None)
@given(rising)
def test_posteriors_equal_the_enumeration_of_paths_and_sum_to_one_over_every_cut(strings):
    automaton = induced(strings)
    edges, ends = automaton.edge_posteriors(automaton.n_states)
    expected_edges, expected_ends = enumerated(automaton, automaton.n_states)
    assert edges == pytest.approx(expected_edges, abs=1e-12)
    assert ends == pytest.approx(expected_ends, abs=1e-12)
    # States in topological order (the start, then rising tokens): every prefix of them is a cut.
    order = [automaton.start, *(state for state in range(automaton.n_states) if state != automaton.start)]
    sources, targets = automaton.sources, automaton.targets
    for size in range(1, len(order) + 1):
        inside = np.isin(np.arange(automaton.n_states), order[:size])
        across = edges[inside[sources] & ~inside[targets]].sum() + ends[inside].sum()
        assert across == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(any_order)
def test_with_repeated_tokens_posteriors_equal_the_enumeration_of_bounded_paths(strings):
    automaton = induced(strings)
    for longest in (automaton.longest, automaton.longest + 2):
        expected_edges, expected_ends = enumerated(automaton, longest)
        edges, ends = automaton.edge_posteriors(longest)
        assert edges == pytest.approx(expected_edges, abs=1e-12)
        assert ends == pytest.approx(expected_ends, abs=1e-12)


@pytest.mark.must_show("context-pattern-induction", 1)
@settings(max_examples=60, deadline=None)
@given(rising, st.floats(0.01, 1.0))
def test_pruning_leaves_a_part_of_the_language_and_states_on_accepting_paths(strings, k):
    automaton = induced(strings)
    pruned = automaton.prune(k)
    left = language(pruned, automaton.n_states)
    assert left
    assert left <= language(automaton, automaton.n_states)
    assert all(pruned.accepts(string) and automaton.accepts(string) for string in left)
    assert {token for string in left for token in string} == set(pruned.labels.tolist())


@pytest.mark.must_show("context-pattern-induction", 1)
@settings(max_examples=60, deadline=None)
@given(rising)
def test_a_k_near_zero_prunes_nothing_and_one_keeps_only_the_largest(strings):
    automaton = induced(strings)
    untouched = automaton.prune(1e-12)
    assert np.array_equal(untouched.labels, automaton.labels)
    assert np.array_equal(untouched.targets, automaton.targets)
    assert np.array_equal(untouched.ends, automaton.ends)
    edges, ends = automaton.edge_posteriors()
    largest = {
        state: max([ends[state], *edges[automaton.sources == state].tolist()]) for state in range(automaton.n_states)
    }
    posterior = {(int(automaton.labels[v]), label): edges[i] for i, (v, label, _) in enumerate(automaton.transitions())}
    strictest = automaton.prune(1.0)
    for v, label, _ in strictest.transitions():
        token = int(strictest.labels[v])
        assert posterior[token, label] == pytest.approx(largest[automaton.state(token)])
    for state in np.flatnonzero(strictest.ends).tolist():
        original = automaton.state(int(strictest.labels[state]))
        assert ends[original] == pytest.approx(largest[original])


@pytest.mark.must_show("context-pattern-induction", 2)
def test_a_transition_just_below_a_count_threshold_but_on_the_likely_path_survives():
    # The figure of the paper: `of the -ENT-` is the common path, though `of the` is met 18 times only.
    expression, of, the, an, a, slot, right = 10, 11, 12, 13, 14, 1, 2
    strings = [[expression, of, the, slot, right]] * 18 + [[expression, of, an, slot, right]] * 2
    strings += [[expression, the, slot, right]] * 80 + [[expression, a, slot, right]] * 20
    automaton = TokenAutomaton.induce(strings)
    counts = {(int(automaton.labels[v]), t): int(automaton.counts[i]) for i, (v, t, _) in enumerate(_edges(automaton))}
    assert counts[of, the] == 18
    assert counts[the, slot] == 98
    by_count = automaton.select(automaton.counts >= 20)
    by_posterior = automaton.prune(0.2)
    path = (expression, of, the, slot, right)
    assert automaton.accepts(path)
    assert by_posterior.accepts(path)
    assert not by_count.accepts(path)
    assert not by_posterior.accepts((expression, of, an, slot, right))


def _edges(automaton: TokenAutomaton) -> list[tuple[int, int, int]]:
    return list(automaton.transitions())


@pytest.mark.must_show("context-pattern-induction", 3)
@settings(max_examples=60, deadline=None)
@given(any_order, st.floats(0.05, 1.0))
def test_one_state_a_token_and_deterministic_both_ways(strings, k):
    automaton = induced(strings)
    assert automaton.n_states == len({START, *(token for string in strings for token in string)})
    assert all(automaton.accepts([START, *string]) for string in strings)
    automata = [automaton]
    try:
        automata.append(automaton.prune(k))
    except InferenceError:  # the most probable transitions may run in a circle that no end leaves
        assert k > 0.3
    for each in automata:
        assert is_one_reversible(each)


def is_one_reversible(automaton: TokenAutomaton) -> bool:
    """Angluin's definition: deterministic, and the reversal deterministic when it may look one token ahead."""
    edges = _edges(automaton)
    entering: dict[int, set[int]] = {state: set() for state in range(automaton.n_states)}
    for _, label, target in edges:
        entering[target].add(label)
    entering[automaton.start].add(int(automaton.labels[automaton.start]))  # the first token leads to the start
    forward = len({(source, label) for source, label, _ in edges}) == len(edges)
    finals = np.flatnonzero(automaton.ends).tolist()
    same_step = [
        (a, b)
        for (a, x, to_a), (b, y, to_b) in product(edges, edges)
        if a < b and (x, to_a) == (y, to_b)
    ]  # fmt: skip
    rivals = [*same_step, *((a, b) for a, b in product(finals, finals) if a < b)]
    return forward and not any(entering[a] & entering[b] for a, b in rivals)


def test_the_check_of_reversibility_can_fail():
    broken = TokenAutomaton.induce([[0, 1, 2], [0, 3, 2]])
    object.__setattr__(broken, "labels", np.array([0, 1, 2, 1]))  # two states of one token
    assert not is_one_reversible(broken)


def test_paths_come_most_probable_first_and_no_more_than_asked_for():
    automaton = induced([[1, 9], [1, 9], [1, 8], [2, 8]])
    paths = automaton.paths()
    assert [probability for _, probability in paths] == sorted((p for _, p in paths), reverse=True)
    assert {string for string, _ in paths} == language(automaton, automaton.longest)
    assert automaton.paths(limit=2) == paths[:2]


def test_strings_that_begin_differently_or_are_empty_are_refused():
    with pytest.raises(InferenceError, match="begin with the same token"):
        TokenAutomaton.induce([[1, 2], [3, 2]])
    with pytest.raises(InferenceError, match="no empty strings"):
        TokenAutomaton.induce([])
    with pytest.raises(InferenceError, match="above 0"):
        induced([[1]]).prune(0.0)
    automaton = induced([[1]])
    with pytest.raises(InferenceError, match="no path"):
        automaton.select(np.zeros(automaton.n_edges, dtype=bool))
