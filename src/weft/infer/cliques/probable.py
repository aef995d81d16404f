"""Probable cliques: sets of nodes whose edges are probable as a whole (McDonald et al. 2005).

    w(C) = (product over pairs e of C of  p(e)) ^ (1 / number of pairs)            the geometric mean
    C is valid if w(C) >= threshold, that is  sum over pairs of  s(e) >= 0  with  s(e) = log p(e) - log threshold

Returned are the valid consistent cliques that no other valid one contains. Adding a node can lower w and adding one
more can raise it again, so a set is never given up because w is low. It is given up if no completion can be valid:

    sum of s in C  +  sum over kinds of  max(0, best over candidates v of  s(v, C) + 1/2 * best that v adds later)

is below 0; a kind of which several nodes may follow counts all its positive candidates. A set is also given up if it
and all its candidates are part of a clique found before. Sets are completed in an order in which every set comes after
all that contain it, so that whatever is valid and not contained in what was found is a result.

Edges are pruned before the search by the same bound, for the set of their two nodes.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.infer.cliques.maximal import FULL, TOO_LONG
from weft.kernel import inner_kernel

#: Sums of logarithms that differ by less count as equal.
SLACK = 1e-9


@inner_kernel
def _bound(
    s: Floats, kinds: Ints, room: Ints, gain: Floats, nodes: Ints, first: int, end: int, parts: Floats, best: Floats,
) -> float:  # fmt: skip
    """The most that a set can gain by adding some of `nodes[first:end]`; `gain[v]` is what v adds to the set alone."""
    for k in range(len(room)):
        best[k] = 0.0
    for i in range(first, end):
        v = nodes[i]
        for k in range(len(room)):
            parts[k] = 0.0
        for j in range(first, end):
            k, more = kinds[nodes[j]], s[v, nodes[j]]
            if more > 0:
                parts[k] = max(parts[k], more) if room[k] == 1 else parts[k] + more
        later = 0.0
        for k in range(len(room)):
            later += parts[k]
        k, total = kinds[v], gain[v] + 0.5 * later
        if total > 0:
            best[k] = max(best[k], total) if room[k] == 1 else best[k] + total
    most = 0.0
    for k in range(len(room)):
        most += best[k]
    return most


@inner_kernel
def prune_edges(s: Floats, kinds: Ints, room: Ints, gain: Floats, nodes: Ints, parts: Floats, best: Floats) -> int:
    """Forbid the edges that no valid clique can have, and return their number."""
    n, pruned = len(kinds), 0
    for u in range(n):
        for v in range(u + 1, n):
            if s[u, v] == -np.inf or s[u, v] >= 0:  # a pair that is valid by itself stays
                continue
            room[kinds[u]] -= 1
            room[kinds[v]] -= 1
            count = 0
            for w in range(n):
                if w in (u, v) or room[kinds[w]] == 0:
                    continue
                gain[w] = s[u, w] + s[v, w]
                if gain[w] > -np.inf:
                    nodes[count] = w
                    count += 1
            if s[u, v] + _bound(s, kinds, room, gain, nodes, 0, count, parts, best) < -SLACK:
                s[u, v] = s[v, u] = -np.inf
                pruned += 1
            room[kinds[u]] += 1
            room[kinds[v]] += 1
    return pruned


@inner_kernel
def _is_covered(found: Bools, count: int, path: Ints, depth: int, nodes: Ints, end: int) -> bool:
    """Whether one clique found before has all nodes of the set and all its candidates."""
    for row in range(count):
        inside = True
        for d in range(depth):
            inside = inside and found[row, path[d]]
        for i in range(end):
            inside = inside and found[row, nodes[i]]
        if inside:
            return True
    return False


@inner_kernel
def probable_search(
    s: Floats, kinds: Ints, room: Ints, most_steps: int, gain: Floats, nodes: Ints, sizes: Ints, place: Ints,
    total: Floats, path: Ints, parts: Floats, best: Floats, found: Bools,
) -> int:  # fmt: skip
    """Write the valid cliques that no other one contains to `found`, one per row, and return their number.

    `gain` and `nodes` have one row per depth: candidates and what each adds to the set. The rest is scratch space too.
    """
    n, count, depth, steps = len(kinds), 0, 0, 0
    sizes[0], place[0], total[0] = 0, 0, 0.0
    for v in range(n):
        if room[kinds[v]] > 0:
            nodes[0, sizes[0]] = v
            gain[0, v] = 0.0
            sizes[0] += 1
    while depth >= 0:
        if place[depth] < sizes[depth]:
            v = nodes[depth, place[depth]]
            place[depth] += 1
            steps += 1
            if steps > most_steps:
                count = TOO_LONG
                break
            path[depth] = v
            room[kinds[v]] -= 1
            size = 0
            for i in range(place[depth], sizes[depth]):
                w = nodes[depth, i]
                more = gain[depth, w] + s[v, w]
                if room[kinds[w]] > 0 and more > -np.inf:
                    gain[depth + 1, w] = more
                    nodes[depth + 1, size] = w
                    size += 1
            score = total[depth] + gain[depth, v]
            most = score + _bound(s, kinds, room, gain[depth + 1], nodes[depth + 1], 0, size, parts, best)
            if most < -SLACK or _is_covered(found, count, path, depth + 1, nodes[depth + 1], size):
                room[kinds[v]] += 1
                continue
            depth += 1
            sizes[depth], place[depth], total[depth] = size, 0, score
            continue
        # Everything that contains the set has been seen.
        if depth > 1 and total[depth] >= -SLACK and not _is_covered(found, count, path, depth, nodes[depth], 0):
            if count == len(found):
                count = FULL
                break
            for w in range(n):
                found[count, w] = False
            for d in range(depth):
                found[count, path[d]] = True
            count += 1
        depth -= 1
        if depth >= 0:
            room[kinds[path[depth]]] += 1
    while depth > 0:  # after a break
        depth -= 1
        room[kinds[path[depth]]] += 1
    return count
