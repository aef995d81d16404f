"""Arc-eager (Nivre 2003) in plain Python: a transition system of one's own.

start     ([], w1 ... wn ROOT)          end  ([], ROOT)
SHIFT     (S,   b|B) -> (S|b,   B)                  b is not ROOT
RIGHT     (S|s, b|B) -> (S|s|b, B) + s -> b         b is not ROOT
LEFT      (S|s, b|B) -> (S,   b|B) + b -> s         s has no head
REDUCE    (S|s,   B) -> (S,     B)                  s has a head
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.infer.transitions.plain import Configuration, PlainSystem


class ArcEager(PlainSystem):
    """Every definition of the system, and nothing about its oracle, which is found by search."""

    name = "plain-arc-eager"
    moves = ("left", "right", "reduce", "shift")
    like = "arc-eager"
    root_last = True

    def start(self, n: int) -> Configuration:
        return Configuration.of(n, stack=(), buffer=(*range(1, n + 1), 0))

    def finished(self, c: Configuration) -> bool:
        return not c.stack and c.buffer == (0,)

    def legal(self, c: Configuration, single_root: bool) -> Iterator[str]:
        if c.stack:
            yield "reduce" if c.has_head(c.top) else "left"
        if c.front == 0:
            return
        last = single_root and c.buffer[1] == 0
        headless = sum(not c.has_head(node) for node in c.stack)
        if c.stack and (not last or headless == 1):
            yield "right"
        if not last or headless == 0:
            yield "shift"

    def apply(self, c: Configuration, move: str) -> Configuration:
        if move == "shift":
            return c.shift()
        if move == "right":
            return c.attach(c.top, c.front).shift()
        return c.attach(c.front, c.top).pop() if move == "left" else c.pop()

    def can_build(self, c: Configuration, head: int, dependent: int) -> bool:
        """Not needed, but it makes search short: two nodes that are both on the stack never meet again."""
        return (head in c.buffer or dependent in c.buffer) and super().can_build(c, head, dependent)
