"""1-endpoint-crossing trees and their parts, straight from the definitions; trees and parts as in `tree_twins`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from tree_twins import all_trees, inner_sibling, part_numbers, words

from weft.infer.crossing.parts import KINDS
from weft.infer.crossing.trees import CrossingTrees


def cross(one, other):
    (a, b), (c, d) = sorted(one), sorted(other)
    return a < c < b < d or c < a < d < b


def crossing_edges(heads, m):
    """The edges that cross the edge into m."""
    edges = [(heads[w - 1], w) for w in words(heads)]
    return [edge for edge in edges if cross(edge, (heads[m - 1], m))]


def is_crossed(heads, m):
    return bool(crossing_edges(heads, m))


def is_one_endpoint_crossing(heads):
    return all(
        set.intersection(*map(set, edges)) for edges in (crossing_edges(heads, m) for m in words(heads)) if edges
    )


@lru_cache
def crossing_trees(n):
    return tuple(tree for tree in all_trees(n) if is_one_endpoint_crossing(tree))


def edge_part(heads, m):
    """The kind and the part of the edge into m."""
    h = heads[m - 1]
    if is_crossed(heads, m):
        return "crossed", (h, m)
    g = heads[h - 1] if h > 0 else -1
    s = inner_sibling(heads, m, h)
    inner = [o for o in words(heads) if heads[o - 1] == h and min(g, h) < o < max(g, h)]
    inner.sort(key=lambda o: abs(o - h))
    away = [o for o in words(heads) if heads[o - 1] == h and (o > h) == (h > g) and o not in inner]
    away.sort(key=lambda o: abs(o - h))
    beyond = [o for o in words(heads) if heads[o - 1] == h and o not in inner and o not in away]
    group = inner if m in inner else away + beyond
    later = group[group.index(m) + 1 :]
    projective = (h == 0 or not is_crossed(heads, h)) and not any(is_crossed(heads, o) for o in later)
    above = None if h == 0 else g
    if s is not None and is_crossed(heads, s):
        return ("grand_arc", (above, h, m)) if projective else ("arc", (h, m))
    return ("grand", (above, h, m, s)) if projective else ("sibling", (h, m, s))


@lru_cache
def tree_parts(heads):
    return tuple(edge_part(heads, m) for m in words(heads))


def numbers_of(space):
    """For every kind a dictionary from the parts of the one sentence of a space to their numbers."""
    arcs, siblings, grands, _ = part_numbers(space)
    grand_arcs = {}
    for g, h, m, s in grands:
        if s is None:
            grand_arcs[g, h, m] = len(grand_arcs)
    return {"crossed": arcs, "arc": arcs, "sibling": siblings, "grand_arc": grand_arcs, "grand": grands}


def part_matrix(space, trees):
    """One row a tree: the numbers of its parts, counted on over all kinds; trees outside the space are left out."""
    numbers, first = numbers_of(space), {}
    for kind in KINDS:
        first[kind] = sum(len(numbers[earlier]) for earlier in KINDS[: KINDS.index(kind)])
    kept = [tree for tree in trees if all((h, m) in numbers["arc"] for m, h in enumerate(tree, start=1))]
    rows = [[first[kind] + numbers[kind][part] for kind, part in tree_parts(tree)] for tree in kept]
    return kept, np.array(rows, dtype=np.int64), first


def structure(space, scores, **options):
    """The structure of scores that stand one after the other, by kinds."""
    sizes = [space.n_arcs, space.n_arcs, space.n_siblings, space.n_grand_arcs, space.n_grands]
    return CrossingTrees(space, *np.split(scores, np.cumsum(sizes)[:-1]), **options)
