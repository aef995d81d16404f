"""Sums over all spanning trees:  Z = sum over trees y of  product over words m of w(y_m, m),  w(h, m) = exp arc(h, m).

Z is a determinant (Kirchhoff, Tutte; Koo et al. 2007), here found by eliminating words one after another, which never
subtracts: with  d_v = sum over h of w(h, v),

    Z = d_v Z',   where in Z' word v is gone and   w'(h, m) = w(h, m) + w(h, v) w(v, m) / d_v

(a way from h to m may lead through v), until only ROOT is left. Weights are scaled to a maximum of 1 for each word;
where they still spread too far for doubles, all is computed with their logarithms. Probabilities of arcs are
w dlogZ/dw,  by the same steps backwards; trees are drawn backwards too: every arc of a tree without v led through v
with the probability of its share, and v gets the head of the uppermost arc that did. With a single root the arcs from
ROOT are infinitely light: they count in d_v only where no other arc leads into v, and that word is the root.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats
from weft.infer.trees.arcs import ArcSpace
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States

__all__ = ["draw_trees", "sum_trees"]

#: A d_v below this may have lost something to underflow: its sentence is computed with logarithms.
_SMALLEST = 1e-60


def sum_trees(space: ArcSpace, arc: Floats, single_root: bool, weight: Floats) -> tuple[Floats, Floats]:
    """log Z of every sentence, and the probability of every arc times the weight of its sentence.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> log_partition, marginals = sum_trees(all_arcs([0, 2]), np.zeros(4), False, np.ones(1))
    >>> np.exp(log_partition).round(6).tolist(), marginals.round(6).tolist()  # three trees
    ([3.0], [0.666667, 0.666667, 0.333333, 0.333333])
    """
    total, marginals = np.full(len(space), -np.inf), np.zeros(space.n_arcs)
    _sum(space.offsets, space.first, space.head, space.modifier, arc, single_root, weight, total, marginals)
    return total, marginals


def draw_trees(
    space: ArcSpace, arc: Floats, single_root: bool, n: int, rng: np.random.Generator
) -> tuple[States, Floats]:
    """`n` trees of every sentence as [n, words], each drawn with its probability; and log Z.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> draw_trees(all_arcs([0, 2]), np.array([0.0, -50.0, 0.0, 0.0]), False, 2, np.random.default_rng(1))[0].tolist()
    [[0, 1], [0, 1]]
    """
    heads, total = np.zeros((n, space.n_words), dtype=np.int32), np.full(len(space), -np.inf)
    _draw(space.offsets, space.first, space.head, space.modifier, arc, single_root, rng, heads, total)
    return heads, total


@inner_kernel
def _plus(a: float, b: float, logs: bool) -> float:
    if not logs:
        return a + b
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@inner_kernel
def _minus(a: float, b: float, logs: bool) -> float:
    """The difference of two numbers of which the first is not smaller but for rounding."""
    if not logs:
        return max(a - b, 0.0)
    return a + np.log1p(-np.exp(b - a)) if b < a else -np.inf


@inner_kernel
def _times(a: float, b: float, logs: bool) -> float:
    return a + b if logs else a * b


@inner_kernel
def _over(a: float, b: float, logs: bool) -> float:
    return a - b if logs else a / b


@inner_kernel
def _fill(
    s: int, offsets: Indices, first: Indices, head: States, modifier: States, arc: Floats, single: bool, logs: bool,
    w: Floats, top: Floats,
) -> None:  # fmt: skip
    """w[m, h] of sentence s, scaled; `top` gets the logarithms of the scales of words, and that of ROOT at 0.

    A tree with a single root has one arc from ROOT, so that these may have a scale of their own on top.
    """
    n = offsets[s + 1] - offsets[s]
    begin, end = first[offsets[s] + s], first[offsets[s + 1] + s + 1]
    for m in range(n + 1):
        top[m] = -np.inf
        for h in range(n + 1):
            w[m, h] = -np.inf if logs else 0.0
    for a in range(begin, end):
        if head[a] > 0 or not single:
            top[modifier[a]] = max(top[modifier[a]], arc[a])
    if single:
        for m in range(1, n + 1):
            if top[m] == -np.inf:
                top[m] = 0.0
        for a in range(begin, end):
            if head[a] == 0:
                top[0] = max(top[0], arc[a] - top[modifier[a]])
    if top[0] == -np.inf:
        top[0] = 0.0
    for a in range(begin, end):
        if arc[a] > -np.inf:
            score = arc[a] - top[modifier[a]]
            if single and head[a] == 0:
                score -= top[0]
            w[modifier[a], head[a]] = score if logs else np.exp(score)


@inner_kernel
def _eliminate(n: int, w: Floats, d: Floats, single: bool, logs: bool, root: Indices) -> float:
    """log Z over the scales; minus infinity if there is no tree, NaN if it takes logarithms to know.

    w[v, h] and w[m, v] stay as they are when v goes. `root` gets the word that only ROOT leads into, if single.
    """
    zero = -np.inf if logs else 0.0
    total = 0.0
    root[0] = 0
    for v in range(1, n + 1):
        light = single and root[0] == 0
        d[v] = zero if light else w[v, 0]
        for h in range(v + 1, n + 1):
            d[v] = _plus(d[v], w[v, h], logs)
        if not logs and d[v] < _SMALLEST and not (light and v == n):
            return np.nan
        if light and d[v] == zero:
            root[0] = v
            d[v] = w[v, 0]
            for m in range(v + 1, n + 1):
                w[m, 0] = w[m, v]
            if not logs and d[v] < _SMALLEST:
                return np.nan
        elif d[v] > zero:
            for m in range(v + 1, n + 1):
                share = _over(w[m, v], d[v], logs)
                if share > zero:
                    w[m, 0] = _plus(w[m, 0], _times(share, w[v, 0], logs), logs)
                    for h in range(v + 1, n + 1):
                        w[m, h] = _plus(w[m, h], _times(share, w[v, h], logs), logs)
        if d[v] == zero:
            return -np.inf
        total += d[v] if logs else np.log(d[v])
    return total


@inner_kernel
def _differentiate(
    n: int, w: Floats, d: Floats, single: bool, logs: bool, root: Indices, slope: Floats, through: Floats,
) -> None:  # fmt: skip
    """slope[m, h] = dlogZ/dw(h, m)  by the steps of `_eliminate` backwards."""
    zero, one = (-np.inf, 0.0) if logs else (0.0, 1.0)
    for v in range(n, 0, -1):
        slope[v, v] = zero
        if single and v == root[0]:
            for m in range(v + 1, n + 1):
                slope[m, v], slope[m, 0], slope[v, m] = slope[m, 0], zero, zero
            slope[v, 0] = _over(one, d[v], logs)
            continue
        through[0] = zero
        for h in range(v + 1, n + 1):
            through[h] = zero
        for m in range(v + 1, n + 1):
            if w[m, v] > zero:
                through[0] = _plus(through[0], _times(slope[m, 0], w[m, v], logs), logs)
                for h in range(v + 1, n + 1):
                    through[h] = _plus(through[h], _times(slope[m, h], w[m, v], logs), logs)
        mean = _times(w[v, 0], through[0], logs)
        for h in range(v + 1, n + 1):
            mean = _plus(mean, _times(w[v, h], through[h], logs), logs)
        mean = _over(mean, d[v], logs)
        for m in range(v + 1, n + 1):
            slope[v, m] = _over(_minus(_plus(one, through[m], logs), mean, logs), d[v], logs)
            up = _times(slope[m, 0], w[v, 0], logs)
            for h in range(v + 1, n + 1):
                up = _plus(up, _times(slope[m, h], w[v, h], logs), logs)
            slope[m, v] = _over(up, d[v], logs)
        if single and v < root[0]:
            slope[v, 0] = _over(through[0], d[v], logs)
        else:
            slope[v, 0] = _over(_minus(_plus(one, through[0], logs), mean, logs), d[v], logs)


@kernel
def _sum(
    offsets: Indices, first: Indices, head: States, modifier: States, arc: Floats, single: bool, weight: Floats,
    total: Floats, marginals: Floats,
) -> None:  # fmt: skip
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    w, slope = np.empty((longest + 1, longest + 1)), np.empty((longest + 1, longest + 1))
    top, d, through = np.empty(longest + 1), np.empty(longest + 1), np.empty(longest + 1)
    root = np.zeros(1, np.int64)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        for attempt in range(2):
            logs = attempt == 1
            _fill(s, offsets, first, head, modifier, arc, single, logs, w, top)
            total[s] = _eliminate(n, w, d, single, logs, root)
            if total[s] == -np.inf:
                break
            if np.isnan(total[s]):
                continue
            for m in range(n + 1):
                total[s] += top[m] if m > 0 or (single and n > 0) else 0.0
            _differentiate(n, w, d, single, logs, root, slope, through)
            through[: n + 1] = 0.0
            for a in range(first[offsets[s] + s], first[offsets[s + 1] + s + 1]):
                m, h = modifier[a], head[a]
                marginals[a] = 0.0
                if arc[a] > -np.inf:
                    score = arc[a] - top[m] - (top[0] if single and h == 0 else 0.0)
                    marginals[a] = np.exp(score + slope[m, h]) if logs else np.exp(score) * slope[m, h]
                through[m] += marginals[a]
            sure = True
            for m in range(1, n + 1):
                sure = sure and abs(through[m] - 1.0) < 1e-9
            if sure:
                break
        for a in range(first[offsets[s] + s], first[offsets[s + 1] + s + 1]):
            marginals[a] *= weight[s]


@inner_kernel
def _way(
    h: int, m: int, original: Floats, w: Floats, d: Floats, single: bool, logs: bool, root: int, uniform: float,
) -> int:  # fmt: skip
    """Through which word, of those eliminated before both, the arc from h to m leads: 0 if straight."""
    last = m if h == 0 else min(h, m)
    chosen, begin = 0, 1
    if single and h == 0 and m > root:
        begin = root
    else:
        share = _over(original[m, h], w[m, h], logs)
        uniform -= np.exp(share) if logs else share
    for v in range(begin, last):
        if uniform < 0.0:
            break
        share = w[m, v]
        if not (single and h == 0 and v == root):
            share = _times(share, _over(w[v, h], d[v], logs), logs)
        share = _over(share, w[m, h], logs)
        share = np.exp(share) if logs else share
        if share > 0.0:
            chosen = v
            uniform -= share
    return chosen


@kernel
def _draw(
    offsets: Indices, first: Indices, head: States, modifier: States, arc: Floats, single: bool,
    rng: np.random.Generator, heads: States, total: Floats,
) -> None:  # fmt: skip
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    w, original = np.empty((longest + 1, longest + 1)), np.empty((longest + 1, longest + 1))
    top, d, way = np.empty(longest + 1), np.empty(longest + 1), np.empty(longest + 1, np.int64)
    root = np.zeros(1, np.int64)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        for attempt in range(2):
            logs = attempt == 1
            _fill(s, offsets, first, head, modifier, arc, single, logs, w, top)
            total[s] = _eliminate(n, w, d, single, logs, root)
            if not np.isnan(total[s]):
                break
        if total[s] == -np.inf:
            continue
        _fill(s, offsets, first, head, modifier, arc, single, logs, original, top)
        for i in range(len(heads)):
            tree = heads[i, offsets[s] : offsets[s + 1]]
            for v in range(n, 0, -1):
                light = single and v < root[0]
                up = -1
                for m in range(v + 1, n + 1):
                    if way[m] == v:
                        up = m
                        break
                if single and v == root[0]:
                    tree[v - 1] = 0
                elif up > 0:
                    at = up
                    while at > 0:
                        if way[at] == v:
                            up = at
                        at = tree[at - 1]
                    tree[v - 1] = tree[up - 1]
                else:
                    uniform = rng.random()
                    for at in range(v + 1 if light else v, n + 1):
                        h = 0 if at == v else at
                        share = _over(w[v, h], d[v], logs)
                        share = np.exp(share) if logs else share
                        if share > 0.0 and uniform >= 0.0:
                            tree[v - 1] = h
                            uniform -= share
                for m in range(v + 1, n + 1):
                    if way[m] == v:
                        tree[m - 1] = v
                        way[m] = _way(v, m, original, w, d, single, logs, root[0], rng.random())
                way[v] = _way(tree[v - 1], v, original, w, d, single, logs, root[0], rng.random())
