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

import numpy as np

from weft.arrays import Bools, Floats
from weft.infer.trees.arcs import ArcSpace
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States

__all__ = ["best_arborescences", "k_best_arborescences"]

#: The best arc from every word into every node, and the second best: their gains and the words they lead to.
Rows = tuple[Floats, States, Floats, States]


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
def _contract(
    n: int, weight: Floats, target: States, single: bool, nodes: States, value: Floats, heads: States,
) -> bool:  # fmt: skip
    """Write the best tree over `weight`, which is used up; False if there is none.

    Rows of `nodes`: the node that holds a word, the row of a node, the node above, its state (0 new, 1 on the path, 2
    joined to ROOT), the words its arc leads from and to, and the path. Words are nodes 1..n, contracted ones n+1..2n.
    """
    holder, row, above, state = nodes[0], nodes[1], nodes[2], nodes[3]
    source, entry, path = nodes[4], nodes[5], nodes[6]
    for v in range(n + 1):
        holder[v], row[v], above[v], state[v] = v, v, 0, 0
        for h in range(n + 1):
            target[v, h] = v
    state[0] = 2
    total, rooted = n, False
    for start in range(1, n + 1):
        if state[holder[start]] != 0:
            continue
        depth = 1
        path[0] = holder[start]
        state[path[0]] = 1
        while depth > 0:
            c = path[depth - 1]
            r = row[c]
            top, src = -np.inf, -1
            for h in range(1, n + 1):
                if weight[r, h] > top:
                    top, src = weight[r, h], h
            if weight[r, 0] > top and (src < 0 or not single):
                top, src = weight[r, 0], 0
            if src < 0 or (single and src == 0 and rooted):
                return False
            rooted = rooted or src == 0
            source[c], entry[c], value[c] = src, target[r, src], top
            other = holder[src]
            if state[other] == 2:
                for i in range(depth):
                    state[path[i]] = 2
                depth = 0
            elif state[other] == 0:
                state[other] = 1
                path[depth] = other
                depth += 1
            else:
                total += 1
                r = row[other]
                for h in range(n + 1):
                    weight[r, h] -= value[other]
                above[other] = total
                depth -= 1
                while path[depth] != other:
                    x = path[depth]
                    above[x] = total
                    for h in range(n + 1):
                        gain = weight[row[x], h] - value[x]
                        if gain > weight[r, h]:
                            weight[r, h], target[r, h] = gain, target[row[x], h]
                    depth -= 1
                for h in range(1, n + 1):
                    if above[holder[h]] == total:
                        holder[h] = total
                        weight[r, h] = -np.inf
                row[total], above[total], state[total] = r, 0, 1
                path[depth] = total
                depth += 1
    for c in range(total, n, -1):
        x = entry[c]
        while above[x] != c:
            x = above[x]
        source[x], entry[x] = source[c], entry[c]
    for m in range(1, n + 1):
        heads[m - 1] = source[m]
    return True


@kernel
def _best(
    offsets: Indices, first: Indices, head: States, modifier: States, arc: Floats, single: bool, heads: States,
    found: Bools,
) -> None:  # fmt: skip
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    weight, target = np.empty((longest + 1, longest + 1)), np.empty((longest + 1, longest + 1), np.int32)
    nodes, value = np.empty((7, 2 * longest + 1), np.int32), np.empty(2 * longest + 1)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        _fill(s, offsets, first, head, modifier, arc, weight)
        found[s] = _contract(n, weight, target, single, nodes, value, heads[offsets[s] : offsets[s + 1]])


@inner_kernel
def _put(at: Rows, to: int, h: int, gain: float, dst: int, heads: States, slack: float) -> None:
    """Enter an arc among the two best from h into row `to`; the tree's own arc goes before those it ties with."""
    weight, target, spare, spare_target = at
    own = slack if heads[dst - 1] == h else 0.0
    first = weight[to, h] + (slack if heads[target[to, h] - 1] == h else 0.0)
    if gain + own > first:
        spare[to, h], spare_target[to, h] = weight[to, h], target[to, h]
        weight[to, h], target[to, h] = gain, dst
    elif gain > spare[to, h]:
        spare[to, h], spare_target[to, h] = gain, dst


@inner_kernel
def _second(
    n: int, rows: Rows, single: bool, nodes: States, value: Floats, heads: States, fixed: Bools, slack: float,
) -> tuple[int, float]:  # fmt: skip
    """The word whose arc the second best tree swaps, -1 if there is no second, and what the swap loses.

    The contractions are those that lead to `heads`, the best tree: where its arc ties with another, it is taken. Rows
    keep the two best arcs from every word, since the best may be the one that is swapped.
    """
    weight, target, spare, spare_target = rows
    holder, row, above, state = nodes[0], nodes[1], nodes[2], nodes[3]
    path, below, order = nodes[6], nodes[7], nodes[8]
    for v in range(n + 1):
        holder[v], row[v], above[v], state[v], below[v] = v, v, 0, 0, 0
        for h in range(n + 1):
            target[v, h], spare[v, h], spare_target[v, h] = v, -np.inf, v
    # Words after their heads, so that one pass finds all words below a word.
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
    state[0] = 2
    total, lost, word = n, np.inf, -1
    for start in range(1, n + 1):
        if state[holder[start]] != 0:
            continue
        depth = 1
        path[0] = holder[start]
        state[path[0]] = 1
        while depth > 0:
            c = path[depth - 1]
            r = row[c]
            top, src = -np.inf, -1
            for h in range(1, n + 1):
                gain = weight[r, h] + (slack if heads[target[r, h] - 1] == h else 0.0)
                if gain > top:
                    top, src = gain, h
            if src < 0 or not single:
                gain = weight[r, 0] + (slack if heads[target[r, 0] - 1] == 0 else 0.0)
                if gain > top:
                    src = 0
            value[c] = weight[r, src]
            entry = target[r, src]
            if heads[entry - 1] == src and not fixed[entry - 1]:
                below[0] = 0
                for i in range(n):
                    m = order[i]
                    below[m] = 1 if m == entry else below[heads[m - 1]]
                swap = spare[r, src]
                for h in range(1 if single else 0, n + 1):
                    if below[h] == 0 and h != src and weight[r, h] > swap:
                        swap = weight[r, h]
                if value[c] - swap < lost:
                    lost, word = value[c] - swap, entry - 1
            other = holder[src]
            if state[other] == 2:
                for i in range(depth):
                    state[path[i]] = 2
                depth = 0
            elif state[other] == 0:
                state[other] = 1
                path[depth] = other
                depth += 1
            else:
                total += 1
                r = row[other]
                for h in range(n + 1):
                    weight[r, h] -= value[other]
                    spare[r, h] -= value[other]
                above[other] = total
                depth -= 1
                while path[depth] != other:
                    x = path[depth]
                    above[x] = total
                    for h in range(n + 1):
                        _put(rows, r, h, weight[row[x], h] - value[x], target[row[x], h], heads, slack)
                        _put(rows, r, h, spare[row[x], h] - value[x], spare_target[row[x], h], heads, slack)
                    depth -= 1
                for h in range(1, n + 1):
                    if above[holder[h]] == total:
                        holder[h] = total
                        weight[r, h] = -np.inf
                        spare[r, h] = -np.inf
                row[total], above[total], state[total] = r, 0, 1
                path[depth] = total
                depth += 1
    return word, lost


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
    rows = (weight, target, spare, spare_target)
    nodes, value = np.empty((9, 2 * longest + 1), np.int32), np.empty(2 * longest + 1)
    fixed = np.empty(longest, np.bool_)
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
        if not _contract(n, weight, target, single, nodes, value, heads[0, begin:end]):
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
                swap[i], lost = _second(n, rows, single, nodes, value, tree, fixed, slack)
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
            _contract(n, weight, target, single, nodes, value, heads[rank, begin:end])
