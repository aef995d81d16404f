"""The best supported graph by branch and bound over flows: for graphs with many edges and little evidence.

Without the rule that evidence tells of one label, and with pair scores divided between their two edges, the problem is
a flow from edges to evidence, of which only the first use of every piece is free:

    maximize  sum over labelled edges of  w(e, c(e))  +  reuse * |evidence used|,      at least so many edges labelled
    w(e, c)  =  max over labels of both   score(e, l, c) - reuse + share(e, l)
    share(e, l)  =  1/2 sum over pairs of e   max over labels of the other edge, or none, of the pair score

Longest augmenting paths solve it exactly; that value bounds a branch. A solution that breaks a rule says where to
branch: on the side of an alternative, on the label that evidence tells of, or on the label of an edge in a pair.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ints
from weft.infer.supports.problem import Demands, Scores, Supported, SupportGraph
from weft.kernel import kernel

#: After so many branches a graph is left to the integer program.
MOST_BRANCHES = 20_000
#: Branches that wait; a branch of two leaves one waiting per level.
_WAITING = 600
_TOO_LONG, _NONE = -2, -1
_CLOSE = 1e-10


def fits_flows(demands: Demands) -> bool:
    """Whether flows can have a problem: marked labels and evidence used once are not theirs."""
    return not demands.once and demands.least_marked <= 0


def best_by_flows(
    graph: SupportGraph, scores: Scores, demands: Demands, known: Supported | None = None,
    most_branches: int = MOST_BRANCHES,
) -> Supported | None:  # fmt: skip
    """The best graph; None if that takes too long, or the demands concern marked labels or evidence used once.

    `known` is a solution to begin with. Where there is no solution, the value is minus infinity.

    >>> graph = SupportGraph.of([(0, 0), (0, 1), (1, 1)], [[0, 1], [0, 1]], 2)
    >>> best_by_flows(graph, Scores.of(graph, [[1, 0], [2, 0], [0, 3]]), Demands())
    Supported(rows=array([0, 2]), labels=array([0, 1]), value=4.0)
    """
    if not fits_flows(demands):
        return None
    n, c, n_labels = graph.n_edges, graph.n_evidence, graph.n_labels
    rows, labels, value = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.full(1, -np.inf)
    if known is not None:
        rows[:], labels[:], value[0] = known.rows, known.labels, known.value
    none = 1 << n_labels
    domains = np.empty((_WAITING, n + c + 1), dtype=np.int64)
    domains[0, :n] = graph.allowed | none
    domains[0, n : n + c] = none - 1
    domains[0, n + c] = 0  # alternatives whose side is chosen
    status = _branch(
        graph.evidence, graph.first, graph.alternatives, graph.pairs, scores.rows, scores.pairs, float(demands.reuse),
        int(demands.least), c, most_branches, domains, np.empty((n, n_labels + 1)), np.empty((n, c)),
        np.empty((n, c), dtype=np.int64), np.empty((c, c)), np.empty((c, c), dtype=np.int64), np.empty(c),
        np.empty((6, max(n, c, 1)), dtype=np.int64), rows, labels, value,
    )  # fmt: skip
    return None if status == _TOO_LONG else Supported(rows, labels, float(value[0]))


@kernel
def _branch(
    evidence: Ints, first: Ints, alternatives: Ints, pairs: Ints, row_scores: Floats, pair_scores: Floats,
    reuse: float, least: int, n_evidence: int, most: int, domains: Ints, share: Floats, gain: Floats, best_option: Ints,
    move: Floats, mover: Ints, reach: Floats, work: Ints, best_rows: Ints, best_labels: Ints, best_value: Floats,
) -> int:  # fmt: skip
    n, n_labels = len(first) - 1, row_scores.shape[1]
    none = 1 << n_labels
    place, label, uses, row = work[0], work[1], work[2], work[5]
    waiting, branches = 1, 0
    while waiting > 0:
        branches += 1
        if branches > most or waiting + 2 > len(domains):
            return _TOO_LONG
        waiting -= 1
        own = domains[waiting]
        bound = _relaxed(
            evidence, first, pairs, row_scores, pair_scores, reuse, least, n_evidence, own, share, gain, best_option,
            move, mover, reach, work,
        )  # fmt: skip
        if bound <= best_value[0] + _CLOSE:
            continue
        # Sides first: which edges may be labelled at all decides most.
        a = 0
        while a < len(alternatives) and own[n + n_evidence] >> a & 1:
            a += 1
        if a < len(alternatives):
            own[n + n_evidence] |= 1 << a
            side = 0  # the one that the relaxation labels, which is tried first
            for e in range(n):
                if place[e] >= 0 and alternatives[a, 1] >> e & 1:
                    side = 1
            for k in range(len(own)):
                domains[waiting + 1, k] = own[k]
            for e in range(n):
                if alternatives[a, side] >> e & 1:
                    domains[waiting, e] &= none
                if alternatives[a, 1 - side] >> e & 1:
                    domains[waiting + 1, e] &= none
            waiting += 2
            continue
        split, keep = -1, 0  # a domain, and what the first of two branches keeps of it
        for a in range(len(alternatives)):
            edges = alternatives[a, 0] | alternatives[a, 1]
            active, able = False, -1
            for e in range(n):
                if edges >> e & 1:
                    if place[e] >= 0:
                        active = True
                    elif able < 0 and own[e] & (none - 1) and own[e] & none:
                        able = e
            if not active:
                split, keep = (able, none - 1) if able >= 0 else (-2, 0)
                break
        if split == -2:
            continue
        if split < 0:  # evidence that tells of several labels
            for e in range(n):
                if place[e] < 0:
                    continue
                for other in range(e):
                    if place[other] == place[e] and label[other] != label[e]:
                        split = n + place[e]
                if split >= 0:
                    users = 0
                    for l in range(n_labels):  # noqa: E741
                        own_users = 0
                        for other in range(n):
                            own_users += place[other] == place[e] and label[other] == l
                        if own_users > users:
                            users, keep = own_users, 1 << l
                    break
        if split < 0:
            value, worst = 0.0, _CLOSE
            for c in range(n_evidence):
                uses[c] = 0
            for e in range(n):
                if place[e] >= 0:
                    value += row_scores[row[e], label[e]] - (reuse if uses[place[e]] else 0.0)
                    uses[place[e]] = 1
            for p in range(len(pairs)):
                one, other = pairs[p, 0], pairs[p, 1]
                score = 0.0
                if place[one] >= 0 and place[other] >= 0:
                    score = pair_scores[p, label[one], label[other]]
                value += score
                x = label[one] if place[one] >= 0 else n_labels
                y = label[other] if place[other] >= 0 else n_labels
                gap = _most(pair_scores, p, own[one], own[other], x, -1) / 2
                gap += _most(pair_scores, p, own[one], own[other], -1, y) / 2
                gap -= score
                if gap > worst:
                    # One of the two is not decided yet, else there were no gap.
                    edge, at = (one, x) if own[one] & (own[one] - 1) else (other, y)
                    if own[edge] & (own[edge] - 1):
                        worst, split, keep = gap, edge, 1 << at
            if value > best_value[0]:
                best_value[0] = value
                for e in range(n):
                    best_rows[e], best_labels[e] = row[e], label[e]
            if split < 0 or bound <= best_value[0] + _CLOSE:
                continue
        for k in range(len(own)):
            domains[waiting + 1, k] = own[k]
        domains[waiting, split] &= ~keep
        domains[waiting + 1, split] &= keep
        waiting += 2
    return 0 if best_value[0] > -np.inf else _NONE


@kernel
def _most(pair_scores: Floats, p: int, one: int, other: int, x: int, y: int) -> float:
    """The most that a pair can add with labels of two domains, one of which may be given; none adds 0."""
    n_labels = pair_scores.shape[1]
    most = -np.inf
    for a in range(n_labels + 1):
        if not one >> a & 1 or (x >= 0 and a != x):
            continue
        for b in range(n_labels + 1):
            if not other >> b & 1 or (y >= 0 and b != y):
                continue
            score = 0.0 if a == n_labels or b == n_labels else pair_scores[p, a, b]
            most = max(most, score)
    return most


@kernel
def _relaxed(
    evidence: Ints, first: Ints, pairs: Ints, row_scores: Floats, pair_scores: Floats, reuse: float, least: int,
    n_evidence: int, own: Ints, share: Floats, gain: Floats, best_option: Ints, move: Floats, mover: Ints,
    reach: Floats, work: Ints,
) -> float:  # fmt: skip
    """The value of the flow under domains, minus infinity if there is none; its places and labels go to `work`."""
    n, n_labels = len(first) - 1, row_scores.shape[1]
    place, label, uses, back, source, row = work[0], work[1], work[2], work[3], work[4], work[5]
    for e in range(n):
        place[e], label[e], row[e] = -1, -1, -1
        for l in range(n_labels + 1):  # noqa: E741
            share[e, l] = 0.0
    for p in range(len(pairs)):
        one, other = pairs[p, 0], pairs[p, 1]
        for l in range(n_labels + 1):  # noqa: E741
            if own[one] >> l & 1:
                share[one, l] += _most(pair_scores, p, own[one], own[other], l, -1) / 2
            if own[other] >> l & 1:
                share[other, l] += _most(pair_scores, p, own[one], own[other], -1, l) / 2
    total, forced, done = 0.0, 0, 0
    for e in range(n):
        # What the edge is worth without a label counts from the start; with one, what it adds to that.
        idle = share[e, n_labels] if own[e] >> n_labels & 1 else 0.0
        total += idle
        forced += not own[e] >> n_labels & 1
        for c in range(n_evidence):
            gain[e, c] = -np.inf
        for r in range(first[e], first[e + 1]):
            c = evidence[r]
            for l in range(n_labels):  # noqa: E741
                if own[e] >> l & own[n + c] >> l & 1:
                    worth = row_scores[r, l] - reuse + share[e, l] - idle
                    if worth > gain[e, c]:
                        gain[e, c], best_option[e, c] = worth, r * n_labels + l
    for c in range(n_evidence):
        uses[c] = 0
    while True:
        for c in range(n_evidence):
            reach[c], back[c] = -np.inf, -1
            for d in range(n_evidence):
                move[c, d] = -np.inf
        for e in range(n):
            c = place[e]
            if c < 0:
                if done < forced and own[e] >> n_labels & 1:
                    continue
                for d in range(n_evidence):
                    if gain[e, d] > reach[d]:
                        reach[d], source[d] = gain[e, d], e
            else:
                for d in range(n_evidence):
                    if d != c and gain[e, d] - gain[e, c] > move[c, d]:
                        move[c, d], mover[c, d] = gain[e, d] - gain[e, c], e
        changed, rounds = True, 0
        while changed and rounds < n_evidence:
            changed, rounds = False, rounds + 1
            for c in range(n_evidence):
                if reach[c] == -np.inf:
                    continue
                for d in range(n_evidence):
                    if reach[c] + move[c, d] > reach[d] + 1e-13:
                        reach[d], back[d] = reach[c] + move[c, d], c
                        changed = True
        top, last = -np.inf, -1
        for c in range(n_evidence):
            worth = reach[c] + (reuse if uses[c] == 0 else 0.0)
            if worth > top:
                top, last = worth, c
        if last < 0:
            if done < forced or done < least:
                return -np.inf
            break
        if top <= 0.0 and done >= forced and done >= least:
            break
        total += top
        done += 1
        uses[last] += 1
        while back[last] >= 0:
            e = mover[back[last], last]
            place[e] = last
            last = back[last]
        place[source[last]] = last
    for e in range(n):
        if place[e] >= 0:
            row[e] = best_option[e, place[e]] // n_labels
            label[e] = best_option[e, place[e]] % n_labels
    return total
