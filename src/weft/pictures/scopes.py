"""Quantifier scope as nested boxes: what stands inside a box is in the scope of its quantifier.

    +-- the file ------------------------+
    |  +-- every line ----------------+  |
    |  |  [ a blank line ]            |  |
    |  +------------------------------+  |
    +------------------------------------+

A node that several incomparable ones outscope stands in the box of the one with the longest chain above it, and says
which others it is in the scope of. Boxes side by side are incomparable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Bools
from weft.pictures.style import clean, hue, svg, text_width
from weft.text.conventions.scope import COLLECTION, DISTRIBUTIVE, NEGATION, Scope

_MARGIN, _PAD, _TITLE, _GAP = 18.0, 10.0, 24.0, 10.0
_NOTES = {COLLECTION: "together", DISTRIBUTIVE: "each of", NEGATION: "negation"}


class _Box(NamedTuple):
    """A box: its title, and its children."""

    title: str
    note: str
    kind: str
    children: list[int]


def draw_scope(scope: Scope, styled: bool = True) -> str:
    """The scopes of a sentence as SVG.

    >>> from weft.text.doc import Doc
    >>> from weft.text.conventions.scope import Node, Scoping, set_scopings
    >>> doc = Doc.from_words([["Mark", "each", "line", "in", "the", "file"]])
    >>> set_scopings(doc, [Scoping.of([Node(1, 3), Node(4, 6)], [(1, 0)])])
    >>> picture = draw_scope(doc.scope[0])
    >>> picture.startswith("<svg "), picture.count("<rect"), "<desc>2&gt;1</desc>" in picture
    (True, 2, True)
    """
    boxes, tops = _boxes(scope)
    widths, heights = [0.0] * len(boxes), [0.0] * len(boxes)
    parts: list[str] = []

    def measure(i: int) -> None:
        box = boxes[i]
        for child in box.children:
            measure(child)
        inner = sum(widths[child] for child in box.children) + _GAP * max(0, len(box.children) - 1)
        own = text_width(box.title, 14) + text_width(box.note, 11) + 10
        widths[i] = max(own, inner) + 2 * _PAD
        heights[i] = _TITLE + (max((heights[child] for child in box.children), default=-_PAD / 2) + _PAD) + 2

    def place(i: int, x: float, y: float) -> None:
        box = boxes[i]
        parts.append(
            f'<rect class="bar {hue(box.kind)}" fill="none" stroke="#8793a0" x="{x:.1f}" y="{y:.1f}" '
            f'width="{widths[i]:.1f}" height="{heights[i]:.1f}" rx="5"/>'
            f'<text x="{x + _PAD:.1f}" y="{y + 17:.1f}" font-size="14" text-anchor="start">{clean(box.title)}'
            f'<tspan class="caption" dx="6" font-size="11" fill="#57626d">{clean(box.note)}</tspan></text>'
        )
        at = x + _PAD
        for child in box.children:
            place(child, at, y + _TITLE)
            at += widths[child] + _GAP

    at = _MARGIN
    for top in tops:
        measure(top)
        place(top, at, _MARGIN)
        at += widths[top] + _GAP
    height = max((heights[top] for top in tops), default=0.0) + 2 * _MARGIN
    title = f"Quantifier scope of: {scope.sentence.text}"
    return svg("".join(parts), at - _GAP + _MARGIN, height, title, str(scope), "scopes", styled)


def _boxes(scope: Scope) -> tuple[list[_Box], list[int]]:
    """The boxes of all nodes, and the numbers of the outermost ones."""
    order, nodes = scope.scoping.order, scope.nodes
    numbers = order.astype(np.int64)
    direct: Bools = order & ~(numbers @ numbers > 0)
    depth = _depths(order)
    boxes = [_Box(f"{node.name} {node.text}", "", node.kind, []) for node in nodes]
    tops: list[int] = []
    for v, node in enumerate(nodes):
        above = sorted(np.flatnonzero(direct[:, v]).tolist(), key=lambda u: (-depth[u], u))
        (boxes[above[0]].children if above else tops).append(v)
        notes = [_NOTES[node.kind]] if node.kind in _NOTES else []
        notes += [f"also in {', '.join(nodes[u].name for u in above[1:])}"] if len(above) > 1 else []
        boxes[v] = boxes[v]._replace(note="; ".join(notes))
    return boxes, tops


def _depths(order: Bools) -> list[int]:
    """The length of the longest chain above every node."""
    depths = [0] * len(order)
    for v in sorted(range(len(order)), key=lambda v: int(order[:, v].sum())):
        depths[v] = max((depths[u] + 1 for u in np.flatnonzero(order[:, v]).tolist()), default=0)
    return depths
