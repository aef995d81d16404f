"""A second pass: features that are too fine for the search, over the hypergraph that it left.

Every node of the hypergraph gets items, one per combined state of the new features, at most `beam` of them; an item of
a node is an edge to it after an item of the edge's tail. The result is a hypergraph of items with the scores of both
passes, so its k best derivations are exact with the new features as long as no beam cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import InferenceError
from weft.infer.decoding.features import Batch, Feature, Scorer
from weft.infer.decoding.hypergraph import Hypergraph
from weft.infer.decoding.recombination import number_rows, table_size
from weft.kernel import kernel

#: Items that there is room for at first.
_ROOM = 1 << 12


def rescored(
    graph: Hypergraph,
    features: Sequence[Feature],
    weights: Floats,
    sparse: Floats | None = None,
    beam: int = 0,
    pops: int = 0,
) -> Hypergraph:
    """The hypergraph with more features; weights are for `graph.names` and then the features' names.

    Per node at most `pops` items are scored, the best by what is known without the new features, and `beam` are kept;
    0 for all.
    """
    names = (*graph.names, *(name for feature in features for name in feature.names))
    weights = np.asarray(weights, np.float64)
    if len(weights) != len(names) or len(set(names)) < len(names):
        raise InferenceError(f"expected {len(names)} weights for different names, {', '.join(names)}")
    return _Pass(graph, features, names, weights, sparse, beam, pops).graph()


class _Pass:
    def __init__(
        self,
        graph: Hypergraph,
        features: Sequence[Feature],
        names: tuple[str, ...],
        weights: Floats,
        sparse: Floats | None,
        beam: int,
        pops: int,
    ) -> None:
        self.old, self.names, self.beam, self.pops = graph, names, beam, pops
        self.scorers: list[Scorer] = [feature.bind(graph.options) for feature in features]
        self.weights = weights[len(graph.names) :]
        self.known = graph.reweighted(weights[: len(graph.names)], sparse).edge_score
        ends = np.cumsum([0, *(len(each.start) for each in self.scorers)])
        self.columns = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
        # Items so far: node, score, states; and for every node where its items begin and end.
        self.first, self.last = np.zeros(graph.n_nodes, np.int64), np.zeros(graph.n_nodes, np.int64)
        self.head = np.repeat(np.arange(graph.n_nodes), np.diff(graph.first))
        width = self.columns[-1][1] if self.columns else 0
        self.score, self.node = np.empty(_ROOM), np.empty(_ROOM, np.int64)
        self.states = np.empty((_ROOM, width), np.int32)
        self.made: list[tuple[Ints, Ints, Ints, Floats, Floats]] = []
        self.n = 0

    def graph(self) -> Hypergraph:
        level = np.empty(self.old.n_nodes, np.int64)
        _levels(self.old.first, self.old.tail, level)
        order = np.argsort(level, kind="stable")
        cuts = np.searchsorted(level[order], np.arange(level.max() + 2))
        start = np.concatenate([np.zeros(0, np.int32), *(each.start for each in self.scorers)])
        self._keep(np.zeros(1, np.int64), np.zeros(1), start.astype(np.int32)[None])
        self.made.append(_nothing(len(self.weights)))
        for k in range(1, len(cuts) - 1):
            self._level(np.sort(order[cuts[k] : cuts[k + 1]]))
        return self._result()

    def _level(self, nodes: Ints) -> None:
        """Make the items of nodes that do not depend on each other."""
        edges = _ranges(self.old.first[nodes], self.old.first[nodes + 1])
        tail = self.old.tail[edges]
        sizes = self.last[tail] - self.first[tail]
        edge, before = np.repeat(edges, sizes), _ranges(self.first[tail], self.last[tail])
        head, known = self.head[edge], self.score[before] + self.known[edge]
        if self.pops:
            chosen = _best_of(head, known, self.pops)
            edge, before, head, known = edge[chosen], before[chosen], head[chosen], known[chosen]
        own, after = self._score(edge, self.states[before])
        with np.errstate(invalid="ignore"):  # a weight of 0 for what is forbidden
            reached = known + own @ self.weights
        finite = np.isfinite(reached)
        if not finite.all():
            keep = np.flatnonzero(finite)
            edge, before, head = edge[keep], before[keep], head[keep]
            own, after, reached = own[keep], after[keep], reached[keep]
        keys = np.empty((len(edge), 1 + after.shape[1]), np.int64)
        keys[:, 0], keys[:, 1:] = head, after
        number = np.empty(len(keys), np.int32)
        found = number_rows(keys, np.full(table_size(len(keys)), -1, np.int32), number)
        best, item = np.empty(found, np.int64), np.empty(found, np.int64)
        n = _keep_best(head, number, reached, self.beam, best, item)
        best, item = best[:n], item[number]
        rows = np.flatnonzero(item >= 0)
        rows = rows[np.argsort(item[rows], kind="stable")]
        self.made.append((item[rows] + self.n, before[rows], edge[rows], own[rows], self.known[edge[rows]]))
        self._keep(head[best], reached[best], after[best])

    def _score(self, edge: Ints, states: Ids) -> tuple[Floats, Ids]:
        """What the features say of edges after items, and their states then."""
        old, after = self.old, states.copy()
        scores = np.zeros((len(edge), len(self.weights)))
        ends = old.option[edge] < 0
        inner, last = np.flatnonzero(~ends), np.flatnonzero(ends)
        heads = self.head[edge[inner]]
        batch = Batch(
            old.options, old.option[edge[inner]], old.end[old.tail[edge[inner]]], old.complete[heads],
            len(old.options) - old.n_moves,
        )  # fmt: skip
        at = 0
        for scorer, (low, high) in zip(self.scorers, self.columns, strict=True):
            width = scorer.estimate.shape[1]
            if len(inner):
                found, after[inner, low:high] = scorer.expand(batch, np.ascontiguousarray(states[inner, low:high]))
                scores[inner, at : at + width] = found
            if len(last):
                scores[last, at : at + width] = scorer.finish(np.ascontiguousarray(states[last, low:high]))
                after[last, low:high] = 0
            at += width
        return scores, after

    def _keep(self, node: Ints, score: Floats, states: Ids) -> None:
        """Add items, those of one node one after the other."""
        begin, self.n = self.n, self.n + len(node)
        if self.n > len(self.score):
            room = 2 * self.n
            self.score, self.node = np.resize(self.score, room), np.resize(self.node, room)
            self.states = np.resize(self.states, (room, self.states.shape[1]))
        here = slice(begin, self.n)
        self.score[here], self.node[here], self.states[here] = score, node, states
        if len(node):
            bounds = np.flatnonzero(node[1:] != node[:-1]) + 1
            starts = np.concatenate([[0], bounds])
            self.first[node[starts]] = begin + starts
            self.last[node[starts]] = begin + np.append(bounds, len(node))

    def _result(self) -> Hypergraph:
        head, before, edge, own, known = (np.concatenate(parts) for parts in zip(*self.made, strict=True))
        node, old = self.node[: self.n], self.old
        if not len(node) or node[-1] != old.n_nodes - 1:
            node = np.append(node, old.n_nodes - 1)  # a goal that nothing leads to
        counts = np.bincount(head, minlength=len(node))
        counts[0] = 1
        minus = np.array([-1], np.int32)
        scores = np.hstack([old.scores[edge], own])
        return replace(
            old, names=self.names, first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            tail=np.concatenate([minus, before]).astype(np.int32),
            option=np.concatenate([minus, old.option[edge]]).astype(np.int32),
            scores=np.concatenate([np.zeros((1, scores.shape[1])), scores]),
            edge_score=np.concatenate([[0.0], known + own @ self.weights]),
            end=old.end[node], complete=old.complete[node],
        )  # fmt: skip


def _nothing(width: int) -> tuple[Ints, Ints, Ints, Floats, Floats]:
    none = np.zeros(0, np.int64)
    return none, none, none, np.zeros((0, width)), np.zeros(0)


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """The numbers from every start to its end, one range after the other.

    >>> _ranges(np.array([3, 0]), np.array([5, 1])).tolist()
    [3, 4, 0]
    """
    sizes = ends - starts
    offsets = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts - offsets, sizes)


def _best_of(group: Ints, value: Floats, most: int) -> Ints:
    """The rows with the highest values of every group, at most so many, 0 for all.

    >>> _best_of(np.array([1, 1, 1, 2]), np.array([0.5, 2.0, 1.0, 0.0]), 2).tolist()
    [1, 2, 3]
    """
    if most == 0:
        return np.arange(len(group))
    order = np.lexsort((-value, group))
    begin = np.searchsorted(group[order], group[order], "left")
    return order[np.arange(len(order)) - begin < most]


@kernel
def _levels(first: Ints, tail: Ids, level: Ints) -> None:
    """The longest way to every node; nodes of one level do not depend on each other."""
    for v in range(len(first) - 1):
        level[v] = 0
        for e in range(first[v], first[v + 1]):
            if tail[e] >= 0:
                level[v] = max(level[v], level[tail[e]] + 1)


@kernel
def _keep_best(head: Ints, number: Ids, reached: Floats, beam: int, best: Ints, item: Ints) -> int:
    """Find the best row of every distinct state, and keep the `beam` best states of every node, 0 for all.

    Rows are sorted by node, so distinct states are, too. `best` receives the rows of kept states, `item` the place of
    each state among them, -1 if it is not kept; returns how many are.
    """
    for s in range(len(item)):
        best[s] = -1
    for row in range(len(number)):
        s = number[row]
        if best[s] < 0 or reached[row] > reached[best[s]]:
            best[s] = row
    kept, begin = 0, 0
    while begin < len(item):
        end = begin
        while end < len(item) and head[best[end]] == head[best[begin]]:
            end += 1
        for s in range(begin, end):
            better = 0
            for other in range(begin, end):
                ahead = reached[best[other]] - reached[best[s]]
                better += 1 if ahead > 0 or (ahead == 0 and other < s) else 0
            item[s] = kept + better if beam == 0 or better < beam else -1
        own = min(beam, end - begin) if beam > 0 else end - begin
        kept += own
        begin = end
    # Put the rows where their states are.
    rows = best.copy()
    for s in range(len(item)):
        if item[s] >= 0:
            best[item[s]] = rows[s]
    return kept
