"""All ways in which a shift-reduce parser can build the tree of a sentence from pieces of it, and what it decides then.

For a sentence with a tree and the spans of phrases that may be shifted, states are the stacks of spans that can be
reached from the empty one and from which the tree can still be built. A reduction is valid if the tree has its arcs and
the piece that becomes a dependent has all its children. Where h stands on h, every valid action is an event for a
classifier; but where a reduction to the left is valid nothing is shifted, which keeps stacks short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from weft.arrays import Ids
from weft.errors import InferenceError
from weft.infer.decoding.shift_reduce import LEFT_ACTION, RIGHT_ACTION, SHIFT, H, L, R, may_shift
from weft.infer.trees.well_formed import FIXED, ILL_FORMED, LEFT, category, roots_of

Span = tuple[int, int]
Stack = tuple[Span, ...]


class Derivations:
    """The derivations of a tree, whose heads count from 1, from spans of phrases.

    >>> derivations = Derivations([2, 3, 0], [(0, 1), (1, 2), (2, 3), (0, 2)])
    >>> derivations.exists
    True
    >>> derivations.decisions()
    [(((0, 2), (2, 3)), 1), (((0, 1), (1, 2)), 1)]
    """

    def __init__(
        self, heads: Sequence[int], spans: Iterable[Span], waits: bool = False, most: int = 20_000, short: bool = True
    ) -> None:
        self.heads = [int(head) for head in heads]
        self.waits, self._most, self._short = waits, most, short
        self._kind: dict[Span, int] = {}
        self._roots: dict[Span, list[int]] = {}
        n = len(self.heads)
        self._first, self._last = list(range(n)), list(range(n))  # where the children of every word reach
        for child, head in enumerate(self.heads):
            if head:
                self._first[head - 1] = min(self._first[head - 1], child)
                self._last[head - 1] = max(self._last[head - 1], child)
        self._next: dict[int, list[Span]] = {}
        for span in sorted(set(spans)):
            if category(self.heads, *span) != ILL_FORMED:
                self._next.setdefault(span[0], []).append(span)
        self._reaches: dict[tuple[int, Stack], bool] = {}
        self._decided: dict[tuple[int, Stack], list[int]] = {}
        self.exists = self._solve(0, ())

    def decisions(self) -> list[tuple[Stack, int]]:
        """The upper two spans of every state with h on h, and each valid action."""
        return [(stack[-2:], action) for (_, stack), valid in self._decided.items() for action in valid]

    def kind(self, span: Span) -> int:
        """The type of a piece."""
        found = self._kind.get(span)
        if found is None:
            form = category(self.heads, *span)
            found = self._kind[span] = -1 if form == ILL_FORMED else H if form == FIXED else L if form == LEFT else R
        return found

    def roots(self, span: Span) -> list[int]:
        """The roots of a piece."""
        found = self._roots.get(span)
        if found is None:
            found = self._roots[span] = roots_of(self.heads, *span)
        return found

    def _depends(self, span: Span, other: Span) -> bool:
        """Whether a piece is complete and its roots depend on the root of another."""
        root = self.roots(other)
        return len(root) == 1 and all(
            self.heads[k] == root[0] + 1 and self._first[k] >= span[0] and self._last[k] < span[1]
            for k in self.roots(span)
        )

    def _solve(self, n: int, stack: Stack) -> bool:
        key = (n, stack)
        if key in self._reaches:
            return self._reaches[key]
        if len(self._reaches) >= self._most:
            raise InferenceError(f"a tree has more than {self._most:,} states from the phrases given")
        self._reaches[key] = False
        below = self.kind(stack[-2]) if len(stack) > 1 else -1
        top = self.kind(stack[-1]) if stack else -1
        valid = []
        if below >= 0:
            merged = (*stack[:-2], (stack[-2][0], stack[-1][1]))
            if top == H and below != R and self._depends(stack[-2], stack[-1]) and self._solve(n, merged):
                valid.append(LEFT_ACTION)
            if below == H and top != L and self._depends(stack[-1], stack[-2]) and self._solve(n, merged):
                valid.append(RIGHT_ACTION)
        shifted = False
        if not (self._short and LEFT_ACTION in valid):
            for span in self._next.get(n, []):
                if may_shift(below, top, self.kind(span), self.waits) and self._may_wait(stack, span):
                    shifted |= self._solve(span[1], (*stack, span))
        if shifted:
            valid.insert(0, SHIFT)
        if valid and (below, top) == (H, H):
            self._decided[key] = valid
        done = n == len(self.heads) and len(stack) == 1 and top == H
        self._reaches[key] = done or bool(valid)
        return self._reaches[key]

    def _may_wait(self, stack: Stack, span: Span) -> bool:
        """Whether what is on top can still be attached once something is shifted: its head or a child is ahead."""
        if not stack:
            return True
        top, n = stack[-1], span[0]
        return any(self.heads[k] > n or self._last[k] >= n for k in self.roots(top))


def event_rows(derivations: Derivations, words: Sequence[int] | Ids, tags: Sequence[int] | Ids) -> tuple[Ids, Ids]:
    """The events of a sentence: what `weft.infer.decoding.syntax.write_keys` takes, and the actions."""
    heads, n = derivations.heads, len(derivations.heads)
    rows, labels = [], []
    for (below, top), action in derivations.decisions():
        t, s = derivations.roots(below)[0], derivations.roots(top)[0]
        right = max((k for k in range(t + 1, below[1]) if heads[k] == t + 1), default=-1)
        left = min((k for k in range(top[0], s) if heads[k] == s + 1), default=-1)
        places = (t, right, s, left)
        found = [value for k in places for value in ((int(words[k]), int(tags[k])) if k >= 0 else (-1, -1))]
        rows.append([int(top[1] == n), *found])
        labels.append(action)
    return np.array(rows, np.int32).reshape(-1, 9), np.array(labels, np.int32)
