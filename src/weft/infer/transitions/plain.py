"""Transition systems of one's own, in plain Python: slow, but complete, and known by name once they are registered.

A system says how a computation starts, which moves are legal, and what each of them does; everything else is shared
with the compiled systems: templates, weights, training, model files, `weft train parser --system NAME`. Its oracle is
found by search (`weft.infer.transitions.search`), so that nothing about costs has to be derived.

A package registers a system as an entry point:

    [project.entry-points."weft.transition_systems"]
    plain-arc-eager = "arc_eager:ArcEager"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from weft.errors import ConfigError
from weft.infer.transitions.state import MOVES

#: The group of entry points that register systems.
GROUP = "weft.transition_systems"
#: The most moves of a system: as many as tables of weights have columns for moves.
MOST_MOVES = len(MOVES)
NODES = ("S0", "S1", "S2", "S3", "N0", "N1", "N2", "N3")


@dataclass(frozen=True)
class Configuration:
    """A stack (its top is last), a buffer (its front is first), and the heads of nodes: 0 is ROOT, -1 is no head.

    >>> c = Configuration.of(3, stack=(1,), buffer=(2, 3, 0)).attach(2, 1)
    >>> c.heads, c.has_head(1), c.top, c.front
    ((-1, 2, -1, -1), True, 1, 2)
    """

    stack: tuple[int, ...]
    buffer: tuple[int, ...]
    heads: tuple[int, ...]

    @classmethod
    def of(cls, n: int, stack: Sequence[int], buffer: Sequence[int]) -> Configuration:
        """A configuration of n words without arcs."""
        return cls(tuple(stack), tuple(buffer), (-1,) * (n + 1))

    @property
    def top(self) -> int:
        """The top of the stack, -1 if it is empty."""
        return self.stack[-1] if self.stack else -1

    @property
    def front(self) -> int:
        """The front of the buffer, -1 if it is empty."""
        return self.buffer[0] if self.buffer else -1

    def has_head(self, node: int) -> bool:
        """Whether a node has a head."""
        return self.heads[node] >= 0

    def attach(self, head: int, dependent: int) -> Configuration:
        """The configuration with one more arc."""
        return replace(self, heads=(*self.heads[:dependent], head, *self.heads[dependent + 1 :]))

    def shift(self) -> Configuration:
        """The front of the buffer goes onto the stack."""
        return replace(self, stack=(*self.stack, self.buffer[0]), buffer=self.buffer[1:])

    def pop(self) -> Configuration:
        """The top of the stack is taken away."""
        return replace(self, stack=self.stack[:-1])


class PlainSystem:
    """The base of transition systems in plain Python; `examples/systems/arc_eager.py` is a complete one.

    `moves` are named in the order in which a static oracle prefers them; those in `arcs` add an arc with a label.
    """

    name: str
    moves: tuple[str, ...]
    arcs: tuple[str, ...] = ("left", "right")
    like: str = "arc-hybrid"  #: the compiled system whose feature templates are used where none are given
    root_last: bool = False  #: whether ROOT stands after the last word, so that its arcs are left arcs
    projective: bool = True  #: whether only trees without crossing arcs can be built

    def start(self, n: int) -> Configuration:
        """The first configuration of a sentence of n words."""
        raise NotImplementedError

    def finished(self, c: Configuration) -> bool:
        """Whether a configuration is final."""
        raise NotImplementedError

    def legal(self, c: Configuration, single_root: bool) -> Iterable[str]:
        """The moves that a configuration allows; with `single_root`, none may lead to a tree with several roots."""
        raise NotImplementedError

    def apply(self, c: Configuration, move: str) -> Configuration:
        """The configuration after a move, with at most one more arc."""
        raise NotImplementedError

    def can_build(self, c: Configuration, head: int, dependent: int) -> bool:
        """Whether an arc may still be built. Search is exact if no "no" is wrong, and shorter with more of them.

        By default, both nodes must be on the stack or in the buffer, and the dependent without a head.
        """
        return not c.has_head(dependent) and all(node in c.stack or node in c.buffer for node in (head, dependent))

    def key(self, c: Configuration) -> Any:
        """What further moves depend on: by default the stack, the buffer, and which of their nodes have heads."""
        return c.stack, c.buffer, tuple(c.has_head(node) for node in (*c.stack, *c.buffer))

    def nodes(self, c: Configuration) -> Sequence[int]:
        """The nodes that templates start from, S0 to S3 and N0 to N3; -1 for none."""
        stack, buffer = c.stack[:-5:-1], c.buffer[:4]
        return [*stack, *[-1] * (4 - len(stack)), *buffer, *[-1] * (4 - len(buffer))]

    def arc(self, before: Configuration, after: Configuration) -> tuple[int, int]:
        """Head and dependent of the arc that a move has added, -1 and -1 for none."""
        for node, (old, new) in enumerate(zip(before.heads, after.heads, strict=True)):
            if old != new:
                return new, node
        return -1, -1

    def numbers(self) -> dict[str, int]:
        """The number of every move in tables of weights: that of the compiled move of the same name, or a free one.

        >>> class Swapping(PlainSystem):
        ...     name, moves = "swapping", ("left", "right", "swap", "shift")
        >>> Swapping().numbers()
        {'left': 1, 'right': 2, 'swap': 3, 'shift': 0}
        """
        free = [number for number, name in enumerate(MOVES) if name not in self.moves]
        return {move: MOVES.index(move) if move in MOVES else free.pop(0) for move in self.moves}


def registered() -> dict[str, EntryPoint]:
    """The systems that installed packages register, by name."""
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def plain_system(point: EntryPoint) -> PlainSystem:
    """The system that an entry point refers to: a subclass of `PlainSystem` or its instance."""
    try:
        found = point.load()
        system = found() if isinstance(found, type) else found
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the transition system {point.name} cannot be loaded from {point.value}: {error}") from error
    if not isinstance(system, PlainSystem):
        raise ConfigError(f"the transition system {point.name} ({point.value}) must be a weft PlainSystem")
    if not 0 < len(system.moves) <= MOST_MOVES:
        raise ConfigError(f"{point.name} has {len(system.moves)} moves; a system has 1 to {MOST_MOVES}")
    if not set(system.arcs) <= set(system.moves):
        raise ConfigError(
            f"{point.name} names arcs that are no moves: {', '.join(set(system.arcs) - set(system.moves))}"
        )
    return system
