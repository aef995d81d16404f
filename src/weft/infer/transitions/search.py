"""An oracle for any transition system, by search.

    loss(c) = the fewest gold arcs that a tree reachable from c lacks
    cost(move; c) = loss(move(c)) - loss(c)

Best-first search over configurations: what is lost already, and what the system says can no longer be built, never
exceeds the loss, so the first final configuration that is reached has the least. Losses of what lies ahead are kept for
all configurations on the way and shared by all that agree in the system's `key`.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from weft.errors import ConfigError
from weft.infer.transitions.plain import Configuration, PlainSystem

#: Configurations that one search may look at.
MOST = 200_000


class SearchOracle:
    """The costs of moves in one sentence; `heads` are the gold heads of its words, -1 where not known.

    A search that would look at more than `most` configurations is an error: the system can make it shorter by a
    `can_build` that says more.
    """

    def __init__(self, system: PlainSystem, heads: Sequence[int], single_root: bool = False, most: int = MOST) -> None:
        self.system, self.single_root, self.most = system, single_root, most
        self.gold = [(head, word) for word, head in enumerate(heads, 1) if head >= 0]
        self._ahead: dict[Any, int] = {}

    def costs(self, c: Configuration) -> dict[str, int]:
        """The cost of every legal move that leads to a tree."""
        now = self.loss(c)
        after = {move: self.system.apply(c, move) for move in self.system.legal(c, self.single_root)}
        losses = {move: self._loss(each) for move, each in after.items()}
        return {move: loss - now for move, loss in losses.items() if loss is not None}

    def loss(self, c: Configuration) -> int:
        """The fewest gold arcs that a tree reachable from a configuration lacks."""
        found = self._loss(c)
        if found is None:
            raise ConfigError(f"{self.system.name}: no final configuration can be reached from {c}")
        return found

    def _lost(self, c: Configuration) -> int:
        """Gold arcs whose dependents have other heads."""
        return sum(c.heads[word] not in (-1, head) for head, word in self.gold)

    def _least_ahead(self, c: Configuration) -> int:
        """Gold arcs that are not built and cannot be built any more."""
        final = self.system.finished(c)
        return sum(
            c.heads[word] < 0 and (final or not self.system.can_build(c, head, word)) for head, word in self.gold
        )

    def _loss(self, c: Configuration) -> int | None:
        system, key = self.system, self.system.key(c)
        if key in self._ahead:
            return self._lost(c) + self._ahead[key]
        order = count(1)  # later configurations are nearer to the end
        start = self._lost(c)
        waiting: list[tuple[int, int, Configuration, int, tuple[Any, ...]]] = []
        heappush(waiting, (start + self._least_ahead(c), 0, c, start, ()))
        seen: dict[Any, int] = {}
        while waiting:
            bound, _, now, lost, path = heappop(waiting)
            here = system.key(now)
            known = self._ahead.get(here)
            if known is not None and lost + known > bound:  # its place in the queue was too good
                heappush(waiting, (lost + known, -next(order), now, lost, path))
                continue
            if known is not None or system.finished(now):
                total = lost + (self._least_ahead(now) if known is None else known)
                for earlier, lost_then in ((here, lost), *_steps(path)):
                    self._ahead[earlier] = total - lost_then
                return total
            if seen.get(here, lost + 1) <= lost:
                continue
            seen[here] = lost
            if len(seen) > self.most:
                raise ConfigError(
                    f"the oracle of {system.name} looked at {self.most:,} configurations of one sentence; define "
                    "can_build to say when an arc can no longer be built, or leave out long sentences"
                )
            for move in system.legal(now, self.single_root):
                after = system.apply(now, move)
                lost_after = self._lost(after)
                least = lost_after + self._least_ahead(after)
                heappush(waiting, (least, -next(order), after, lost_after, (here, lost, path)))
        return None


def _steps(path: tuple[Any, ...]) -> list[tuple[Any, int]]:
    """The keys on the way to a configuration, with what was lost there."""
    steps = []
    while path:
        key, lost, path = path
        steps.append((key, lost))
    return steps
