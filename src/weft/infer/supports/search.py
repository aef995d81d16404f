"""The best supported graph by branch and bound: the same answer as the integer program, in microseconds.

Small graphs are searched edge by edge, as follows; a graph that takes long so goes to a branch and bound over flows
(`weft.infer.supports.flows`), and what is hard for both to the integer program.

Edges are labelled one after the other, or left unlabelled. With d edges decided and v the value so far, a branch is
given up if

    v  +  sum of the k largest best(e), e >= d, and of all others above 0  +  sum of positive pair scores to come

is not above the best value known, k being the number of edges that still have to be labelled; best(e) is the best score
that an edge can have with what is decided: evidence that tells of another label is closed, and what is used costs.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import InferenceError
from weft.infer.supports.flows import best_by_flows, fits_flows
from weft.infer.supports.problem import Demands, Scores, Supported, SupportGraph
from weft.infer.supports.program import solve_program
from weft.kernel import kernel

#: After so many branches a graph is left to the search over flows, or to the integer program if that cannot have it.
MOST_STEPS, MOST_STEPS_ALONE = 5_000, 200_000
_TOO_LONG, _NONE = -2, -1


def best_graph(graph: SupportGraph, scores: Scores, demands: Demands, most_steps: int = 0) -> Supported:
    """The best graph that satisfies all constraints; raises an `InferenceError` if there is none.

    >>> graph = SupportGraph.of([(0, 0), (0, 1), (1, 1)], [[0, 1], [0, 1]], 2)
    >>> scores = Scores.of(graph, [[1, 0], [2, 0], [0, 3]])
    >>> best_graph(graph, scores, Demands())
    Supported(rows=array([0, 2]), labels=array([0, 1]), value=4.0)
    """
    n = graph.n_edges
    most_steps = most_steps or (MOST_STEPS if fits_flows(demands) else MOST_STEPS_ALONE)
    rows, labels, value = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.zeros(1)
    status = _search(
        graph.evidence, graph.first, graph.allowed, graph.alternatives, graph.pairs, scores.rows, scores.pairs,
        float(demands.reuse), int(demands.least), int(demands.marked), int(demands.least_marked), bool(demands.once),
        int(graph.n_evidence), most_steps, rows, labels, value,
    )  # fmt: skip
    if status == _TOO_LONG:
        known = Supported(rows, labels, float(value[0])) if value[0] > -np.inf else None
        found = best_by_flows(graph, scores, demands, known)
        if found is None:
            return solve_program(graph, scores, demands)
        if found.value == -np.inf:
            status = _NONE
        else:
            return found
    if status == _NONE:
        raise InferenceError(f"no labelling of the {n} edges satisfies all constraints")
    return Supported(rows, labels, float(value[0]))


@kernel
def _search(
    evidence: Ints, first: Ints, allowed: Ints, alternatives: Ints, pairs: Ints, row_scores: Floats,
    pair_scores: Floats, reuse: float, least: int, marked: int, least_marked: int, once: bool, n_evidence: int,
    most_steps: int, best_rows: Ints, best_labels: Ints, best_value: Floats,
) -> int:  # fmt: skip
    n, n_labels = len(allowed), row_scores.shape[1]
    # The options of every edge, the best one first.
    total = len(evidence) * n_labels
    option_row, option_label = np.zeros(total, np.int64), np.zeros(total, np.int64)
    option_score = np.zeros(total)
    start = np.zeros(n + 1, np.int64)
    filled = 0
    for e in range(n):
        start[e] = filled
        for r in range(first[e], first[e + 1]):
            for l in range(n_labels):  # noqa: E741
                if allowed[e] >> l & 1:
                    score, k = row_scores[r, l], filled
                    while k > start[e] and option_score[k - 1] < score:
                        option_score[k], option_row[k] = option_score[k - 1], option_row[k - 1]
                        option_label[k] = option_label[k - 1]
                        k -= 1
                    option_score[k], option_row[k], option_label[k] = score, r, l
                    filled += 1
    start[n] = filled
    ranked = np.zeros(n + 1)
    later = np.zeros(n + 1)
    for p in range(len(pairs)):
        most = 0.0
        for a in range(n_labels):
            for b in range(n_labels):
                most = max(most, pair_scores[p, a, b])
        later[pairs[p, 1]] += most
    for d in range(n - 1, -1, -1):
        later[d] += later[d + 1]
    # What an edge rules out: the edges of the other sides of its alternatives.
    rivals = np.zeros(n, np.int64)
    for a in range(len(alternatives)):
        for e in range(n):
            for side in range(2):
                if alternatives[a, side] >> e & 1:
                    rivals[e] |= alternatives[a, 1 - side]
    uses, told = np.zeros(n_evidence + 1, np.int64), np.full(n_evidence + 1, -1, np.int64)
    rows, labels = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    cursor = np.zeros(n + 1, np.int64)
    value = np.zeros(n + 1)
    done, done_marked = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    chosen = np.zeros(n + 1, np.int64)
    best, known, steps, d = -np.inf, False, 0, 0
    cursor[0] = 0
    while d >= 0:
        if d < n and rows[d] >= 0:  # take back the last choice for this edge
            c = evidence[rows[d]]
            uses[c] -= 1
            if uses[c] == 0:
                told[c] = -1
            rows[d], labels[d] = -1, -1
        steps += 1
        if steps > most_steps:
            best_value[0] = best
            return _TOO_LONG
        if d == n:
            fits = done[n] >= least and done_marked[n] >= least_marked
            for a in range(len(alternatives)):
                if not chosen[n] & (alternatives[a, 0] | alternatives[a, 1]):
                    fits = False
            if fits and (not known or value[n] > best):
                best, known = value[n], True
                for e in range(n):
                    best_rows[e], best_labels[e] = rows[e], labels[e]
            d -= 1
            continue
        options = start[d + 1] - start[d]
        k = cursor[d]
        if k == 0:
            need, held = max(0, least - done[d]), 0
            for e in range(d, n):
                if chosen[d] & rivals[e]:
                    continue
                top = -np.inf
                for o in range(start[e], start[e + 1]):
                    if option_score[o] <= top:
                        break
                    c = evidence[option_row[o]]
                    if uses[c] == 0:
                        top = option_score[o]
                    elif not once and told[c] == option_label[o]:
                        top = max(top, option_score[o] - reuse)
                if top == -np.inf:
                    continue
                j = held
                while j > 0 and ranked[j - 1] < top:
                    ranked[j] = ranked[j - 1]
                    j -= 1
                ranked[j] = top
                held += 1
            if held < need or least_marked - done_marked[d] > held:
                d -= 1
                continue
            hope = value[d] + later[d]
            for j in range(held):
                if j < need or ranked[j] > 0:
                    hope += ranked[j]
            if known and hope <= best + 1e-12:
                d -= 1
                continue
        if k > options:
            d -= 1
            continue
        cursor[d] = k + 1
        if k == options:  # no label
            value[d + 1], done[d + 1], done_marked[d + 1] = value[d], done[d], done_marked[d]
            chosen[d + 1] = chosen[d]
            d += 1
            cursor[d] = 0
            continue
        o = start[d] + k
        row, label, score = option_row[o], option_label[o], option_score[o]
        c = evidence[row]
        if chosen[d] & rivals[d] or (uses[c] > 0 and (once or told[c] != label)):
            continue
        gained = score - (reuse if uses[c] > 0 else 0.0)
        for p in range(len(pairs)):
            if pairs[p, 1] == d and labels[pairs[p, 0]] >= 0:
                gained += pair_scores[p, labels[pairs[p, 0]], label]
        uses[c] += 1
        told[c] = label
        rows[d], labels[d] = row, label
        value[d + 1] = value[d] + gained
        done[d + 1] = done[d] + 1
        done_marked[d + 1] = done_marked[d] + (marked >> label & 1)
        chosen[d + 1] = chosen[d] | (1 << d)
        d += 1
        cursor[d] = 0
    if not known:
        return _NONE
    best_value[0] = best
    return 0
