"""Trees of a few words by enumeration, and their scores part by part, straight from the definitions.

A tree of n words is a tuple of n heads, 0 = ROOT. A part is a tuple of words with None where there is none: arcs
(h, m), siblings (h, m, s), grand-siblings (g, h, m, s) with g None above ROOT, tri-siblings (h, m, s, t).
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product

import numpy as np
from hypothesis import strategies as st

from weft.infer.trees.arcs import ArcSpace, all_arcs


@lru_cache
def all_trees(n):
    """Every tree over n words: (n + 1) ** (n - 1) of them."""
    return tuple(heads for heads in product(range(n + 1), repeat=n) if all(0 in above(heads, m) for m in words(heads)))


def words(heads):
    return range(1, len(heads) + 1)


def above(heads, m):
    """The words that dominate m, from its head up, until ROOT or a word that was there before."""
    found = []
    while m > 0 and (h := heads[m - 1]) not in found:
        found.append(h)
        m = h
    return found


@lru_cache
def projective_trees(n):
    """Every tree over n words whose heads dominate all words between them and their modifiers."""
    return tuple(tuple(tree[m] for m in range(1, n + 1)) for tree in _forests(0, 1, n))


def _forests(head, low, high):
    """Every way to hang the words low..high on a head outside them: dictionaries from modifiers to heads."""
    if low > high:
        yield {}
        return
    for end in range(low, high + 1):  # the subtree that begins at `low` ends here
        for child in range(low, end + 1):
            for left in _forests(child, low, child - 1):
                for right in _forests(child, child + 1, end):
                    for rest in _forests(head, end + 1, high):
                        yield {child: head, **left, **right, **rest}


def is_projective(heads):
    for m, h in enumerate(heads, start=1):
        for between in range(min(h, m) + 1, max(h, m)):
            if h not in above(heads, between):
                return False
    return True


def inner_sibling(heads, m, h):
    """The child of h next to m on the way from m to h, or None."""
    step = 1 if m < h else -1
    for s in range(m + step, h, step):
        if heads[s - 1] == h:
            return s
    return None


@cache
def tree_parts(heads):
    """Its arcs, sibling parts, grand-sibling parts and tri-sibling parts, each by modifier."""
    arcs, siblings, grands, tris = [], [], [], []
    for m, h in enumerate(heads, start=1):
        s = inner_sibling(heads, m, h)
        t = None if s is None else inner_sibling(heads, s, h)
        g = None if h == 0 else heads[h - 1]
        arcs.append((h, m))
        siblings.append((h, m, s))
        grands.append((g, h, m, s))
        tris.append((h, m, s, t))
    return arcs, siblings, grands, tris


def part_numbers(space, sentence=0):
    """Four dictionaries from the parts of a sentence to their numbers in a space."""
    before = [0, 0, 0, 0]
    for earlier in range(sentence):
        for kind, numbers in enumerate(_own_numbers(space, earlier)):
            before[kind] += len(numbers)
    own = _own_numbers(space, sentence)
    return [{part: before[kind] + i for i, part in enumerate(parts)} for kind, parts in enumerate(own)]


def _own_numbers(space, sentence):
    """The parts of a sentence of each kind, in the order that weft.infer.trees.arcs lays down."""
    n = int(space.offsets[sentence + 1] - space.offsets[sentence])
    there = space.sentence == sentence
    pairs = set(zip(space.head[there].tolist(), space.modifier[there].tolist(), strict=True))
    arcs, siblings, grands, tris = [], [], [], []
    for h in range(n + 1):
        sides = [
            [m for m in range(h - 1, 0, -1) if (h, m) in pairs],
            [m for m in range(h + 1, n + 1) if (h, m) in pairs],
        ]
        own = []
        for side in sides:
            for rank, m in enumerate(side):
                arcs.append((h, m))
                inner = side[:rank]
                own += [(h, m, s) for s in [None, *inner]]
                tris.append((h, m, None, None))
                for j, s in enumerate(inner):
                    tris += [(h, m, s, t) for t in [None, *inner[:j]]]
        siblings += own
        for g in [None] if h == 0 else [g for g in range(n + 1) if (g, h) in pairs]:
            grands += [(g, *part) for part in own]
    return arcs, siblings, grands, tris


def tree_score(heads, numbers, arc, sibling=None, grand=None, tri=None):
    """The sum of the scores of a tree's parts; minus infinity where the space has not all its arcs."""
    total = 0.0
    for parts, number, scores in zip(tree_parts(heads), numbers, (arc, sibling, grand, tri), strict=True):
        if scores is not None:
            for part in parts:
                total += scores[number[part]] if part in number else -np.inf
    return total


@st.composite
def arc_spaces(draw, max_words=5, max_sentences=3):
    """Spaces of a few sentences, in some of which arcs are missing; every sentence keeps a tree: all words on ROOT, or
    a chain."""
    lengths = draw(st.lists(st.integers(0, max_words), min_size=1, max_size=max_sentences))
    space = all_arcs(np.cumsum([0, *lengths]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    mask = rng.random(space.n_arcs) < draw(st.sampled_from([0.3, 0.7, 1.1]))
    mask |= (space.head == 0) if draw(st.booleans()) else (space.head == space.modifier - 1)
    return space.keep(mask)


def random_scores(space: ArcSpace, order: int, seed: int, forbidden: float = 0.0):
    """Scores of a model with arcs (order 1), siblings (2), grand-siblings (3), tri-siblings (4); some forbidden."""
    rng = np.random.default_rng(seed)
    sizes = [space.n_arcs, space.n_siblings, space.n_grands, space.n_tris][:order]
    return [np.where(rng.random(size) < forbidden, -np.inf, rng.normal(size=size)) for size in sizes]
