"""Maximum spanning arborescences:  argmax over trees y of  sum over words m of arc(y_m, m),  and the k best.

Chu-Liu-Edmonds for dense graphs in O(n^2), after Tarjan (1977): from each word a path grows backwards over the best
arcs into it. A path that runs into itself closes a cycle, which is contracted to one node; the arcs into the cycle are
then worth what they add to the arc they replace,  arc(h, m) - arc(a(m), m).  Every node, contracted or not, owns one
row: the best arc into it from every word. Merging rows costs O(n) a node that goes under, so that all contractions
together cost O(n^2). With a single root, arcs from ROOT count as worse than all others: one is taken only into a node
that nothing else leads into, and two such nodes mean that there is no tree.

The k best follow Camerini, Fratta & Maffioli (1980): the second best tree swaps one arc of the best at some stage of
the contractions, which one run finds; trees with and trees without that arc are then searched apart. O(k n^2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats
from weft.infer.trees.arcs import ArcSpace
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States

__all__ = ["best_arborescences", "k_best_arborescences"]

#: Rows of `nodes`: the node that holds a word, the row of a node, the node above, its state, the words its arc leads
#: from and to, the path, and of the known tree which words are below a word and all words after their heads. Words are
#: nodes 1..n, contracted ones n+1..2n.
HOLDER, ROW, ABOVE, STATE, SOURCE, ENTRY, PATH, BELOW, ORDER = range(9)
NEW, ON_PATH, JOINED = range(3)


class _Rows(NamedTuple):
    """The best arc from every word into every node: its gain and the word it leads to; and the second best, since the
    best may be the one that is swapped. The latter are empty where only the best tree is wanted."""

    weight: Floats
    target: States
    spare: Floats
    spare_target: States


class _Known(NamedTuple):
    """The best tree where it is known, the words whose arcs must stay, and how far apart ties may be."""

    heads: States
    fixed: Bools
    slack: float


def best_arborescences(space: ArcSpace, arc: Floats, single_root: bool) -> tuple[States, Bools]:
    """The best tree of every sentence, and which sentences have one.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> best_arborescences(all_arcs([0, 2]), np.array([1.0, 1.0, 3.0, 4.0]), False)
    (array([2, 0], dtype=int32), array([ True]))
    """
    heads, found = np.zeros(space.n_words, dtype=np.int32), np.zeros(len(space), dtype=np.bool_)
    _best(space.offsets, space.first, space.head, space.modifier, arc, single_root, heads, found)
    return heads, found


def k_best_arborescences(space: ArcSpace, arc: Floats, single_root: bool, k: int) -> tuple[States, Floats, Indices]:
    """Trees as [k, words] and their scores as [k, sentences], best first, and how many every sentence has.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> trees, scores, count = k_best_arborescences(all_arcs([0, 2]), np.array([1.0, 1.0, 3.0, 4.0]), False, 4)
    >>> trees[: count[0]].tolist(), scores[: count[0], 0].tolist()
    ([[2, 0], [0, 1], [0, 0]], [5.0, 4.0, 2.0])
    """
    heads, scores = np.zeros((k, space.n_words), dtype=np.int32), np.full((k, len(space)), -np.inf)
    count = np.zeros(len(space), dtype=np.int64)
    _k_best(space.offsets, space.first, space.head, space.modifier, arc, single_root, heads, scores, count)
    return heads, scores, count


@inner_kernel
def _fill(
    s: int, offsets: Indices, first: Indices, head: States, modifier: States, arc: Floats, weight: Floats,
) -> None:  # fmt: skip
    """weight[m, h] of sentence s."""
    n = offsets[s + 1] - offsets[s]
    for m in range(n + 1):
        for h in range(n + 1):
            weight[m, h] = -np.inf
    for a in range(first[offsets[s] + s], first[offsets[s + 1] + s + 1]):
        weight[modifier[a], head[a]] = arc[a]


@inner_kernel
def _gain(r: int, h: int, rows: _Rows, known: _Known) -> float:
    """What the best arc from h into row r is worth; an arc of the known tree goes before those it ties with."""
    favoured = known.slack > 0.0 and known.heads[rows.target[r, h] - 1] == h
    return rows.weight[r, h] + (known.slack if favoured else 0.0)


@inner_kernel
def _best_source(n: int, r: int, single: bool, rows: _Rows, known: _Known) -> int:
    """The word from which the best arc into row r leads, -1 if there is none."""
    top, source = -np.inf, -1
    for h in range(1, n + 1):
        gain = _gain(r, h, rows, known)
        if gain > top:
            top, source = gain, h
    if (source < 0 or not single) and _gain(r, 0, rows, known) > top:
        source = 0
    return source


@inner_kernel
def _put(to: int, h: int, gain: float, word: int, rows: _Rows, known: _Known) -> None:
    """Enter an arc from h to a word among the two best from h into row `to`."""
    favoured = known.slack > 0.0 and known.heads[word - 1] == h
    if gain + (known.slack if favoured else 0.0) > _gain(to, h, rows, known):
        rows.spare[to, h], rows.spare_target[to, h] = rows.weight[to, h], rows.target[to, h]
        rows.weight[to, h], rows.target[to, h] = gain, word
    elif gain > rows.spare[to, h]:
        rows.spare[to, h], rows.spare_target[to, h] = gain, word


@inner_kernel
def _join(n: int, x: int, to: int, nodes: States, value: Floats, rows: _Rows, known: _Known) -> None:
    """Merge the row of node x, which goes under in a cycle, into row `to`."""
    r = nodes[ROW, x]
    if len(rows.spare) == 0:
        for h in range(n + 1):
            gain = rows.weight[r, h] - value[x]
            if gain > rows.weight[to, h]:
                rows.weight[to, h], rows.target[to, h] = gain, rows.target[r, h]
        return
    for h in range(n + 1):
        _put(to, h, rows.weight[r, h] - value[x], rows.target[r, h], rows, known)
        _put(to, h, rows.spare[r, h] - value[x], rows.spare_target[r, h], rows, known)


@inner_kernel
def _close_cycle(
    n: int, total: int, node: int, depth: int, nodes: States, value: Floats, rows: _Rows, known: _Known
) -> int:
    """Contract the end of the path from `node` on to the new node `total`; gives the depth of the path after it."""
    holder, above, path, r = nodes[HOLDER], nodes[ABOVE], nodes[PATH], nodes[ROW, node]
    for h in range(n + 1):
        rows.weight[r, h] -= value[node]
        if len(rows.spare) > 0:
            rows.spare[r, h] -= value[node]
    above[node] = total
    depth -= 1
    while path[depth] != node:
        above[path[depth]] = total
        _join(n, path[depth], r, nodes, value, rows, known)
        depth -= 1
    for h in range(1, n + 1):
        if above[holder[h]] == total:
            holder[h] = total
            rows.weight[r, h] = -np.inf
            if len(rows.spare) > 0:
                rows.spare[r, h] = -np.inf
    nodes[ROW, total], above[total], nodes[STATE, total], path[depth] = r, 0, ON_PATH, total
    return depth + 1


@inner_kernel
def _contract(
    n: int, single: bool, nodes: States, value: Floats, rows: _Rows, known: _Known
) -> tuple[int, int, float]:  # fmt: skip
    """Contract cycles until an arc leads into every node, `rows.weight` being used up; gives the number of nodes.

    It is -1 if there is no tree. Where a tree is known, the contractions are those that lead to it: where its arc ties
    with another, it is taken. Then come the word whose arc the second best tree swaps, -1 if there is no second, and
    what the swap loses.
    """
    holder, state, path = nodes[HOLDER], nodes[STATE], nodes[PATH]
    for v in range(n + 1):
        holder[v], nodes[ROW, v], nodes[ABOVE, v], state[v] = v, v, 0, NEW
        for h in range(n + 1):
            rows.target[v, h] = v
            if len(rows.spare) > 0:
                rows.spare[v, h], rows.spare_target[v, h] = -np.inf, v
    state[0] = JOINED
    total, rooted, swapped, lost = n, False, -1, np.inf
    for start in range(1, n + 1):
        if state[holder[start]] != NEW:
            continue
        path[0], depth = holder[start], 1
        state[path[0]] = ON_PATH
        while depth > 0:
            c = path[depth - 1]
            r = nodes[ROW, c]
            source = _best_source(n, r, single, rows, known)
            if source < 0 or (single and source == 0 and rooted):
                return -1, -1, np.inf
            rooted = rooted or source == 0
            nodes[SOURCE, c], nodes[ENTRY, c], value[c] = source, rows.target[r, source], rows.weight[r, source]
            if len(rows.spare) > 0:
                loss = value[c] - _swap(n, c, r, single, nodes, rows, known)
                if loss < lost:
                    swapped, lost = nodes[ENTRY, c] - 1, loss
            other = holder[source]
            if state[other] == JOINED:
                for i in range(depth):
                    state[path[i]] = JOINED
                depth = 0
            elif state[other] == NEW:
                state[other] = ON_PATH
                path[depth] = other
                depth += 1
            else:
                total += 1
                depth = _close_cycle(n, total, other, depth, nodes, value, rows, known)
    return total, swapped, lost


@inner_kernel
def _best_tree(
    n: int, single: bool, nodes: States, value: Floats, rows: _Rows, nothing: _Known, heads: States
) -> bool:  # fmt: skip
    """Write the best tree over `rows.weight`, which is used up; False if there is none."""
    total, _, _ = _contract(n, single, nodes, value, rows, nothing)
    above, source, entry = nodes[ABOVE], nodes[SOURCE], nodes[ENTRY]
    for c in range(total, n, -1):
        x = entry[c]
        while above[x] != c:
            x = above[x]
        source[x], entry[x] = source[c], entry[c]
    for m in range(1, n + 1):
        heads[m - 1] = source[m]
    return total >= 0


@inner_kernel
def _order_words(n: int, nodes: States, heads: States) -> None:
    """Words after their heads, so that one pass finds all words below a word."""
    below, order, path = nodes[BELOW], nodes[ORDER], nodes[PATH]
    for v in range(n + 1):
        below[v] = 0
    filled, below[0] = 0, 1
    for m in range(1, n + 1):
        depth, at = 0, m
        while below[at] == 0:
            path[depth] = at
            below[at] = 1
            depth += 1
            at = heads[at - 1]
        while depth > 0:
            depth -= 1
            order[filled] = path[depth]
            filled += 1


@inner_kernel
def _swap(n: int, c: int, r: int, single: bool, nodes: States, rows: _Rows, known: _Known) -> float:
    """What the best arc into node c that could replace its own is worth; minus infinity where that arc stays."""
    source, entry, below, order = nodes[SOURCE, c], nodes[ENTRY, c], nodes[BELOW], nodes[ORDER]
    if known.heads[entry - 1] != source or known.fixed[entry - 1]:
        return -np.inf
    below[0] = 0
    for i in range(n):
        m = order[i]
        below[m] = 1 if m == entry else below[known.heads[m - 1]]
    best = rows.spare[r, source]
    for h in range(1 if single else 0, n + 1):
        if below[h] == 0 and h != source and rows.weight[r, h] > best:
            best = rows.weight[r, h]
    return best


@kernel
def _best(
    offsets: Indices, first: Indices, head: States, modifier: States, arc: Floats, single: bool, heads: States,
    found: Bools,
) -> None:  # fmt: skip
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    side = longest + 1
    rows = _Rows(np.empty((side, side)), np.empty((side, side), np.int32), np.empty((0, 0)), np.empty((0, 0), np.int32))
    nothing = _Known(heads[:0], found[:0], 0.0)
    nodes, value = np.empty((9, 2 * longest + 1), np.int32), np.empty(2 * longest + 1)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        _fill(s, offsets, first, head, modifier, arc, rows.weight)
        found[s] = _best_tree(n, single, nodes, value, rows, nothing, heads[offsets[s] : offsets[s + 1]])


@inner_kernel
def _narrow(n: int, node: int, splits: Indices, weight: Floats, fixed: Bools) -> None:
    """Forbid what a set of trees leaves out: rows of `splits` are the set above, and an arc that is kept or dropped."""
    for m in range(n):
        fixed[m] = False
    while node > 0:
        m, h = splits[node, 1], splits[node, 2]
        if splits[node, 3] == 1:
            fixed[m - 1] = True
            for other in range(n + 1):
                if other != h:
                    weight[m, other] = -np.inf
        else:
            weight[m, h] = -np.inf
        node = splits[node, 0]


@kernel
def _k_best(
    offsets: Indices, first: Indices, head: States, modifier: States, arc: Floats, single: bool, heads: States,
    scores: Floats, count: Indices,
) -> None:  # fmt: skip
    k = len(heads)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    side = longest + 1
    weight, spare = np.empty((side, side)), np.empty((side, side))
    target, spare_target = np.empty((side, side), np.int32), np.empty((side, side), np.int32)
    rows, best_rows = _Rows(weight, target, spare, spare_target), _Rows(weight, target, spare[:0], spare_target[:0])
    nodes, value = np.empty((9, 2 * longest + 1), np.int32), np.empty(2 * longest + 1)
    fixed = np.empty(longest, np.bool_)
    nothing = _Known(heads[0, :0], fixed[:0], 0.0)
    # Sets of trees: number 0 holds all. `best` is the rank of a set's best tree, `swap` the word whose arc the second
    # best swaps, `bound` the score of that.
    splits, best = np.zeros((2 * k, 4), np.int64), np.zeros(2 * k, np.int64)
    swap, bound = np.zeros(2 * k, np.int64), np.empty(2 * k)
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        n = end - begin
        _fill(s, offsets, first, head, modifier, arc, weight)
        slack = 0.0
        for a in range(first[begin + s], first[end + s + 1]):
            if arc[a] > -np.inf:
                slack = max(slack, 1e-12 * abs(arc[a]))
        if not _best_tree(n, single, nodes, value, best_rows, nothing, heads[0, begin:end]):
            continue
        sets, fresh, rank = 1, 0, 0
        while True:
            _fill(s, offsets, first, head, modifier, arc, weight)
            scores[rank, s] = 0.0
            for m in range(1, n + 1):
                scores[rank, s] += weight[m, heads[rank, begin + m - 1]]
            count[s] = rank + 1
            if rank + 1 == k:
                break
            for i in range(fresh, sets):
                _fill(s, offsets, first, head, modifier, arc, weight)
                _narrow(n, i, splits, weight, fixed)
                tree = heads[best[i], begin:end]
                _order_words(n, nodes, tree)
                _, swap[i], lost = _contract(n, single, nodes, value, rows, _Known(tree, fixed, slack))
                bound[i] = scores[best[i], s] - lost
            chosen = 0
            for i in range(sets):
                if bound[i] > bound[chosen]:
                    chosen = i
            if bound[chosen] == -np.inf:
                break
            bound[chosen] = -np.inf
            rank += 1
            fresh = sets
            for keeps in range(2):
                m = swap[chosen]
                splits[sets, 0], splits[sets, 1], splits[sets, 3] = chosen, m + 1, keeps
                splits[sets, 2] = heads[best[chosen], begin + m]
                best[sets] = best[chosen] if keeps else rank
                sets += 1
            _fill(s, offsets, first, head, modifier, arc, weight)
            _narrow(n, fresh, splits, weight, fixed)
            _best_tree(n, single, nodes, value, best_rows, nothing, heads[rank, begin:end])
