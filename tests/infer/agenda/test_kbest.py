"""The k best derivations against enumeration, with insertion, skipping, swaps and completion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.agenda.grammar import NO_SWAP, Grammar, Rule
from weft.infer.agenda.kbest import derivations, inserted_derivations
from weft.infer.agenda.lattice import Arc, Lattice
from weft.infer.agenda.search import search

MOST = 2.5
INF = float("inf")


def enumerated(rules, terminals, ended, arcs, skips, goal, most):
    """All derivations of the input up to a cost, by trying everything: sorted (cost, tree as text)."""
    n = len(skips)
    heads = range(6)
    spans = [(i, j) for i in range(n + 1) for j in range(i, n + 1)]
    found = {(symbol, *span): {} for symbol in heads for span in spans}
    for symbol in heads:
        for i, j in spans:
            if i == j and symbol in terminals:
                cost = min(terminals[symbol], ended[symbol]) if i == n else terminals[symbol]
                if cost <= most:
                    found[symbol, i, j][f"+{symbol}"] = cost
    for arc in arcs:
        cost = arc.cost
        for begin in range(arc.begin, -1, -1):
            cost += skips[begin] if begin < arc.begin else 0.0
            if cost <= most:
                found[arc.symbol, begin, arc.end][f"{arc.label}:{begin}"] = cost
    changed = True
    while changed:
        changed = False
        for number, rule in enumerate(rules):
            orders = [(rule.right, rule.weight, "")]
            if rule.swap < NO_SWAP:
                orders.append((rule.right[::-1], rule.weight + rule.swap, "~"))
            for right, weight, mark in orders:
                for i, j in spans:
                    for parts, cost in sequences(right, i, j, found, most - weight):
                        parts = parts[::-1] if mark else parts
                        text = f"{mark}{number}({' '.join(parts)})"
                        if text not in found[rule.left, i, j]:
                            found[rule.left, i, j][text] = cost + weight
                            changed = True
    results = []
    for j in range(1, n + 1):
        trail = sum(skips[j:])
        results += [(cost + trail, text) for text, cost in found[goal, 0, j].items() if cost + trail <= most]
    return sorted(results), found


def sequences(right, i, j, found, most):
    """The ways to cover words [i, j) by symbols in a row; one that covers nothing stands where its neighbour ends."""
    if not right:
        return [((), 0.0)] if i == j else []
    ways = []
    for k in range(i, j + 1):
        for text, cost in found[right[0], i, k].items():
            if cost > most:
                continue
            ways += [((text, *rest), cost + more) for rest, more in sequences(right[1:], k, j, found, most - cost)]
    return [(parts, cost) for parts, cost in ways if cost <= most]


def shown(tree, lattice):
    if tree.arc >= 0:
        arc = lattice.arcs[tree.arc]
        return f"{arc.label}:{arc.begin}"
    if tree.rule < 0:
        return f"+{tree.symbol}"
    return f"{'~' if tree.swapped else ''}{tree.rule}({' '.join(shown(child, lattice) for child in tree.children)})"


COSTS = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def problems(draw):
    """Grammars of nonterminals 0 to 2 and terminals 3 to 5; one symbol alone leads to later symbols only."""
    rules = []
    for _ in range(draw(st.integers(2, 6))):
        left = draw(st.integers(0, 2))
        size = draw(st.integers(1, 3))
        low = left + 1 if size == 1 else 0
        right = tuple(draw(st.integers(low, 5)) for _ in range(size))
        swap = draw(st.sampled_from([NO_SWAP, 0.75])) if size == 2 and right[0] != right[1] else NO_SWAP
        rules.append(Rule(left, right, draw(COSTS), swap))
    rules.append(Rule(0, (3,), 0.5))
    rules = list(dict.fromkeys(rules))
    for middle in (1, 2):  # symbols without rules would be terminals
        if not any(rule.left == middle for rule in rules):
            rules.append(Rule(middle, (draw(st.integers(3, 5)),), draw(COSTS)))
    terminals = {symbol: draw(st.sampled_from([INF, 0.75, 1.5])) for symbol in (3, 4, 5)}
    ended = {symbol: draw(st.sampled_from([INF, 0.5, 1.0])) for symbol in (3, 4, 5)}
    n = draw(st.integers(1, 5))
    skips = [draw(st.sampled_from([0.25, 1.0, INF])) for _ in range(n)]
    arcs = []
    for label in range(draw(st.integers(1, 6))):
        begin = draw(st.integers(0, n - 1))
        end = draw(st.integers(begin + 1, min(n, begin + 2)))
        arcs.append(Arc(draw(st.integers(3, 5)), begin, end, draw(COSTS), label))
    return rules, terminals, ended, arcs, skips


def parsed(problem, margin=0.0, bounds=True):
    rules, terminals, ended, arcs, skips = problem
    grammar = Grammar.of(6, rules)
    costs = [np.array([INF] * 3 + [table[symbol] for symbol in (3, 4, 5)]) for table in (terminals, ended)]
    inserted, last = grammar.inserted(costs[0]), grammar.inserted(np.minimum(*costs))
    return search(grammar, Lattice.of(arcs, skips), 0, inserted, last, margin, bounds=bounds)


@pytest.mark.must_show("graph-search", 2)
@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_k_best_derivations_are_those_of_enumeration(problem):
    rules, terminals, ended, arcs, skips = problem
    expected, _ = enumerated(rules, terminals, ended, arcs, skips, 0, MOST)
    chart = parsed(problem)
    found = []
    for cost, tree in derivations(chart):
        if cost > MOST + 1e-9 or len(found) > 3_000:
            break
        found.append((cost, shown(tree, chart.lattice)))
    if len(found) <= 3_000:
        assert [cost for cost, _ in found] == pytest.approx([cost for cost, _ in expected])
        assert sorted(text for _, text in found) == sorted(text for _, text in expected)


@pytest.mark.must_show("graph-search", 2)
@settings(max_examples=150, deadline=None)
@given(problems())
def test_a_star_finds_the_cost_of_the_exhaustive_chart_with_no_more_items(problem):
    chart, whole = parsed(problem), parsed(problem, bounds=False)
    assert chart.best == pytest.approx(whole.best)
    assert chart.steps <= whole.steps
    both = chart.settled
    assert np.allclose(chart.inside[both], whole.inside[both])


@pytest.mark.must_show("graph-search", 2)
@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_bounds_never_exceed_what_an_item_still_costs(problem):
    lattice = Lattice.of(*problem[3:])
    left, right = lattice.bounds()

    def after(j):
        return min([lattice.trail[j], *(arc.cost + after(arc.end) for arc in lattice.arcs if arc.begin == j)])

    def before(i):
        covers = [before(arc.begin) + arc.cost for arc in lattice.arcs if arc.end == i]
        return 0.0 if i == 0 else min(covers, default=INF)

    assert [before(i) for i in range(lattice.n + 1)] == pytest.approx(left.tolist())
    assert [after(j) for j in range(lattice.n + 1)] == pytest.approx(right.tolist())
    whole = parsed(problem, bounds=False)
    for cost, tree in derivations(whole):
        if cost > MOST:
            break
        for part, begin, end in spans_of(tree, lattice):
            assert left[begin] + right[end] <= cost - part.cost + 1e-9


def spans_of(tree, lattice):
    """The parts of a derivation that cover words, with the words."""
    ends = {}

    def walk(part):
        spans = [walk(child) for child in part.children]
        if part.arc >= 0:
            spans = [(lattice.arcs[part.arc].begin, lattice.arcs[part.arc].end)]
        spans = [span for span in spans if span]
        ends[id(part)] = (min(b for b, _ in spans), max(e for _, e in spans)) if spans else None
        return ends[id(part)]

    def parts(part):
        yield part
        for child in part.children:
            yield from parts(child)

    walk(tree)
    return [(part, *ends[id(part)]) for part in parts(tree) if ends[id(part)]]


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 4))
def test_columns_of_an_earlier_chart_are_those_of_a_new_one(problem, kept):
    rules, terminals, ended, arcs, skips = problem
    n = len(skips)
    kept = min(kept, n)
    before = [arc for arc in arcs if arc.end <= kept] + [Arc(4, kept, kept + 1, 0.25, 99)]
    first = parsed((rules, terminals, ended, before, [*skips[:kept], 0.25]), bounds=False)
    grammar = first.grammar
    lattice = Lattice.of(arcs, skips)
    again = search(grammar, lattice, 0, first.inserted, first.ended, bounds=False, earlier=(first, kept))
    whole = parsed(problem, bounds=False)
    assert (again.settled == whole.settled).all()
    assert np.allclose(again.inside[again.settled], whole.inside[whole.settled])
    assert again.steps <= whole.steps


def test_a_symbol_is_made_of_inserted_terminals_cheapest_first():
    grammar = Grammar.of(4, [Rule(0, (0, 2), 0.25), Rule(0, (1,))])
    costs = np.array([INF, 1.0, 0.5, INF])
    found = inserted_derivations(grammar, 0, costs)
    assert [next(found)[0] for _ in range(3)] == [1.0, 1.75, 2.5]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([Rule(0, ())], "no symbols"),
        ([Rule(0, (1,), -1.0)], "costs of at least 0"),
        ([Rule(0, (9,))], "names a symbol"),
        ([Rule(0, (1, 1, 1), 0.0, 1.0)], "two can change places"),
    ],
)
def test_a_broken_rule_is_named(rules, message):
    with pytest.raises(InferenceError, match=message):
        Grammar.of(3, rules)
