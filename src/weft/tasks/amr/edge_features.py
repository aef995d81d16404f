"""Scores of the edges between the nodes of a sentence: hashed features of two nodes, alone and with a label.

    score[u, v, l] = sum over k of x_k(u, v) (w[k, key_k(u, v)]  +  w[k, key_k(u, v), l])

for the templates k of the paper: both concepts, the words of both spans, the dependency path between the spans, their
distance, whether a node is the root of its piece, and conjunctions of these. A template has weights without a label,
with one, or both. A conjunction with the distance has the distance as its value.

Keys are 64-bit hashes; their low bits are rows of the weights. The kernels below run the same templates to score all
edges and to list the features of one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ints, Keys
from weft.hashing import hash_strings, join
from weft.kernel import inner_kernel, kernel

#: Templates with weights of their own, those with weights per label, and the most features that an edge has.
N_TEMPLATES = 18
_PLAIN = np.array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0], dtype=np.bool_)
_LABELLED = np.array([1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], dtype=np.bool_)
#: Templates that the paper has; the others are ours: the pair of concepts, and roots of pieces with a label.
N_PAPER = 15
MOST_FEATURES = 2 * N_TEMPLATES
_SEEDS = hash_strings([f"template {k}" for k in range(N_TEMPLATES + 3)])
_SHIFT = np.uint64(0x9E3779B97F4A7C15)


class Nodes(NamedTuple):
    """The nodes of a sentence and the spans they come from.

    Per node: hash of the concept, number of the span, whether it is the root of its piece, whether it is a constant,
    and whether no further edge may touch it. Per span: hash of its words; per pair of spans: hash of the path and
    distance; per span: hash of the path to the root of the tree.
    """

    concept: Keys
    span: Ints
    root: Bools
    constant: Bools
    closed: Bools
    words: Keys
    path: Keys
    distance: Ints
    upward: Keys


def paths_between(starts: Ints, ends: Ints, heads: Ints, relations: Keys, tags: Keys) -> tuple[Keys, Ints, Keys]:
    """Paths and distances between all pairs of spans, and paths from spans to the root, as hashes.

    The path between two spans is the shortest one between their words; the first one if there are several. The
    distance is the number of words in between, plus 1; 0 within a span.

    >>> keys = hash_strings(["nsubj", "root", "obj"])
    >>> path, distance, upward = paths_between(
    ...     np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([2, 0, 2]), keys, keys)
    >>> distance.tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> len(set(path.ravel().tolist())), bool(path[0, 1] == path[1, 0])
    (7, False)
    """
    n = len(starts)
    path, distance, upward = np.zeros((n, n), dtype=np.uint64), np.zeros((n, n), dtype=np.int64), np.zeros(n, np.uint64)
    depth = np.zeros(len(heads), dtype=np.int64)
    _paths(starts, ends, heads, relations, tags, depth, path, distance, upward)
    return path, distance, upward


def edge_scores(nodes: Nodes, labels: Keys, weights: Floats, rich: bool) -> Floats:
    """Scores of all edges and labels, [n, n, labels]; minus infinity for edges that no graph has."""
    n = len(nodes.concept)
    scores = np.full((n, n, len(labels)), -np.inf)
    keys, values = np.zeros(N_TEMPLATES, dtype=np.uint64), np.zeros(N_TEMPLATES)
    _score(*nodes[:8], labels, weights, N_TEMPLATES if rich else N_PAPER, keys, values, scores)
    return scores


def edge_features(nodes: Nodes, u: int, v: int, label: np.uint64, size: int, rich: bool) -> tuple[Ints, Floats]:
    """The rows of weights that an edge has, and their values."""
    rows, values = np.zeros(MOST_FEATURES, dtype=np.int64), np.zeros(MOST_FEATURES)
    keys, numbers = np.zeros(N_TEMPLATES, dtype=np.uint64), np.zeros(N_TEMPLATES)
    count = _list(*nodes[:8], u, v, label, size, N_TEMPLATES if rich else N_PAPER, keys, numbers, rows, values)
    return rows[:count], values[:count]


def focus_rows(nodes: Nodes, size: int) -> Ints:
    """The rows of weights of the edge from the root to each node: its concept, the path to the tree's root, a bias."""
    rows = np.zeros((len(nodes.concept), 3), dtype=np.int64)
    mask = np.uint64(size - 1)
    rows[:, 0] = _SEEDS[N_TEMPLATES] & mask
    with np.errstate(over="ignore"):
        rows[:, 1] = (_joined(_SEEDS[N_TEMPLATES + 1], nodes.concept) & mask).astype(np.int64)
        rows[:, 2] = (_joined(_SEEDS[N_TEMPLATES + 2], nodes.upward[nodes.span]) & mask).astype(np.int64)
    return rows


def _joined(seed: np.uint64, keys: Keys) -> Any:
    mixed = (seed ^ keys) * _SHIFT
    return mixed ^ (mixed >> np.uint64(32))


@inner_kernel
def _climb_hash(word: int, stop: int, heads: Ints, relations: Keys, tags: Keys, h: np.uint64) -> np.uint64:
    """Add tags and relations from a word up to, but not including, another one (-1: beyond the root)."""
    steps = 0
    while word != stop and word >= 0 and steps <= len(heads):
        h = join(join(h, tags[word]), relations[word])
        word = heads[word] - 1
        steps += 1
    return h


@inner_kernel
def _meeting(a: int, b: int, heads: Ints, depth: Ints) -> int:
    """The lowest word above both, -1 if only the root is."""
    steps = 0
    while a != b and steps <= 2 * len(heads):
        steps += 1
        if a < 0 or b < 0:
            return -1
        if depth[a] >= depth[b]:
            a = heads[a] - 1
        else:
            b = heads[b] - 1
    return a if a == b else -1


@kernel
def _paths(
    starts: Ints, ends: Ints, heads: Ints, relations: Keys, tags: Keys,
    depth: Ints, path: Keys, distance: Ints, upward: Keys,
) -> None:  # fmt: skip
    n = len(heads)
    for word in range(n):
        at, steps = word, 0
        while heads[at] > 0 and steps <= n:
            at, steps = heads[at] - 1, steps + 1
        depth[word] = steps
    for f in range(len(starts)):
        top = starts[f]
        for word in range(starts[f], ends[f]):
            if depth[word] < depth[top]:
                top = word
        upward[f] = _climb_hash(top, -1, heads, relations, tags, _SEEDS[0])
        for g in range(len(starts)):
            if f == g:
                continue
            distance[f, g] = starts[g] - ends[f] + 1 if starts[g] >= ends[f] else starts[f] - ends[g] + 1
            shortest, tail, head, above = 2 * n + 2, starts[f], starts[g], -1
            for a in range(starts[f], ends[f]):
                for b in range(starts[g], ends[g]):
                    meet = _meeting(a, b, heads, depth)
                    length = depth[a] + depth[b] - 2 * (depth[meet] if meet >= 0 else -1)
                    if length < shortest:
                        shortest, tail, head, above = length, a, b, meet
            up = _climb_hash(tail, above, heads, relations, tags, _SEEDS[1])
            down = _climb_hash(head, above, heads, relations, tags, _SEEDS[2])
            middle = tags[above] if above >= 0 else np.uint64(0)
            path[f, g] = join(join(up, middle), down)


@inner_kernel
def _templates(
    concept: Keys, span: Ints, root: Bools, words: Keys, path: Keys, distance: Ints, u: int, v: int,
    count: int, keys: Keys, values: Floats,
) -> None:  # fmt: skip
    """The keys and values of all templates for the edge from u (tail) to v (head)."""
    f, g = span[u], span[v]
    way, far = path[f, g], distance[f, g]
    for k in range(count):
        keys[k], values[k] = _SEEDS[k], 1.0
    values[1] = 1.0 if f == g else 0.0
    values[2] = 1.0 if root[u] else 0.0
    values[3] = 1.0 if root[v] else 0.0
    keys[4] = join(keys[4], way)
    values[5] = float(far)
    keys[6] = join(keys[6], np.uint64(far))
    values[7] = np.log(far + 1.0)
    keys[8] = join(keys[8], concept[u])
    keys[9] = join(keys[9], concept[v])
    keys[10] = join(join(keys[10], way), concept[v])
    keys[11] = join(join(keys[11], way), concept[u])
    keys[12] = join(join(keys[12], way), words[g])
    keys[13] = join(join(keys[13], way), words[f])
    keys[14] = join(keys[14], way)
    values[14] = float(far)
    if count > 15:
        keys[15] = join(join(keys[15], concept[u]), concept[v])
        keys[16] = join(keys[16], np.uint64(4 * root[u] + 2 * root[v] + (f == g)))
        keys[17] = join(join(keys[17], concept[v]), np.uint64(_side(span[u], span[v])))


@inner_kernel
def _side(f: int, g: int) -> int:
    """0, 1 or 2: the second span is the first, stands before it, or after it; numbers go from left to right."""
    if f == g:
        return 0
    return 1 if g < f else 2


@kernel
def _score(
    concept: Keys, span: Ints, root: Bools, constant: Bools, closed: Bools, words: Keys, path: Keys, distance: Ints,
    labels: Keys, weights: Floats, count: int, keys: Keys, values: Floats, scores: Floats,
) -> None:  # fmt: skip
    mask = np.uint64(len(weights) - 1)
    n = len(concept)
    for u in range(n):
        for v in range(n):
            if u == v or constant[u] or closed[u] or closed[v]:
                continue
            _templates(concept, span, root, words, path, distance, u, v, count, keys, values)
            shared = 0.0
            for k in range(count):
                if _PLAIN[k] and values[k] != 0.0:
                    shared += values[k] * weights[keys[k] & mask]
            for label in range(len(labels)):
                scores[u, v, label] = shared
            for k in range(count):
                if _LABELLED[k] and values[k] != 0.0:
                    for label in range(len(labels)):
                        scores[u, v, label] += values[k] * weights[join(keys[k], labels[label]) & mask]


@kernel
def _list(
    concept: Keys, span: Ints, root: Bools, constant: Bools, closed: Bools, words: Keys, path: Keys, distance: Ints,
    u: int, v: int, label: np.uint64, size: int, templates: int, keys: Keys, numbers: Floats, rows: Ints,
    values: Floats,
) -> int:  # fmt: skip
    mask = np.uint64(size - 1)
    _templates(concept, span, root, words, path, distance, u, v, templates, keys, numbers)
    count = 0
    for k in range(templates):
        if numbers[k] == 0.0:
            continue
        if _PLAIN[k]:
            rows[count], values[count] = keys[k] & mask, numbers[k]
            count += 1
        if _LABELLED[k]:
            rows[count], values[count] = join(keys[k], label) & mask, numbers[k]
            count += 1
    return count
