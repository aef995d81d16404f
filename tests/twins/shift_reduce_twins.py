"""Shift-reduce parsing of pieces by enumeration, on lists of words and arcs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import tree_twins

from weft.infer.decoding.shift_reduce import LEFT_ACTION, SHIFT, H, L, R, actions, may_shift

#: Heads of a piece's words, -1 for its roots, and its type.
Piece = tuple[tuple[int, ...], int]


def projective_trees(n: int) -> Iterator[tuple[int, ...]]:
    """All projective trees of n words with one root; heads count from 1."""
    return (heads for heads in tree_twins.projective_trees(n) if heads.count(0) == 1)


def form(heads: Sequence[int], start: int, end: int) -> str:
    """The category of a span, word for word as the definitions have it; words count from 1, the span is closed."""
    inside = range(start, end + 1)
    outside = [k for k in range(1, len(heads) + 1) if k not in inside]
    d = [None, *heads]

    def fixed(h: int) -> bool:
        return (
            d[h] not in inside
            and all(d[k] in inside for k in inside if k != h)
            and all(d[k] == h or d[k] not in inside for k in outside)
        )

    if any(fixed(h) for h in inside):
        return "fixed"
    roots = [k for k in inside if d[k] not in inside]
    shared = {d[k] for k in roots}
    if len(roots) < 2 or len(shared) > 1 or shared == {0} or any(d[k] in inside for k in outside):
        return "ill-formed"
    return "left floating" if min(shared) > end else "right floating"


def segmentations(n: int) -> Iterator[list[tuple[int, int]]]:
    """All ways to cut n words into spans."""
    for cuts in product([False, True], repeat=n - 1):
        ends = [k + 1 for k, cut in enumerate(cuts) if cut] + [n]
        yield list(zip([0, *ends[:-1]], ends, strict=True))


def piece(heads: Sequence[int], start: int, end: int, kind: int) -> Piece:
    return tuple(h - 1 - start if start < h <= end else -1 for h in heads[start:end]), kind


def parses(pieces: Sequence[Piece], waits: bool = False) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """All trees that the table of types allows, with the actions that lead to them; heads count from 1."""
    sizes = [len(heads) for heads, _ in pieces]

    def grow(done: int, stack: list[tuple[int, list[int]]], arcs: dict[int, int], said: list[int]):
        types = [-1, -1, *(kind for kind, _ in stack)]
        if done == len(pieces) and len(stack) == 1 and stack[0][0] == H:
            yield tuple(arcs.get(k, -1) + 1 for k in range(sum(sizes))), said
        for action in actions(types[-2], types[-1], waits):
            if action == SHIFT:
                if done < len(pieces) and may_shift(types[-2], types[-1], pieces[done][1], waits):
                    base, (heads, kind) = sum(sizes[:done]), pieces[done]
                    inner = {base + k: base + h for k, h in enumerate(heads) if h >= 0}
                    roots = [base + k for k, h in enumerate(heads) if h < 0]
                    yield from grow(done + 1, [*stack, (kind, roots)], {**arcs, **inner}, [*said, SHIFT])
                continue
            (_, below), (_, top) = stack[-2:]
            head, roots = (top, below) if action == LEFT_ACTION else (below, top)
            yield from grow(done, [*stack[:-2], (H, head)], {**arcs, **dict.fromkeys(roots, head[0])}, [*said, action])

    yield from grow(0, [], {}, [])


KINDS = {"fixed": H, "left floating": L, "right floating": R}

#: English sentences with heads and tags, and a source with the verb last.
TEXTS = [
    ("the man sees a dog", [2, 3, 0, 5, 3], "D N V D N", "d man e hund s", [0, 1, 4, 2, 3]),
    ("the dog sees a man", [2, 3, 0, 5, 3], "D N V D N", "d hund e man s", [0, 1, 4, 2, 3]),
    ("a man sleeps", [2, 3, 0], "D N V", "e man p", [0, 1, 2]),
    ("the dog sleeps", [2, 3, 0], "D N V", "d hund p", [0, 1, 2]),
    ("the man will see a dog", [2, 4, 4, 0, 6, 4], "D N X V D N", "d man w e hund s", [0, 1, 2, 5, 3, 4]),
]
