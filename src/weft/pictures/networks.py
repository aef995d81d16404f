"""A few nodes of a graph and the edges between them as a picture: columns from left to right, relations on the lines.

Nodes of one column are ordered by the places of those they are joined to in the column before, so that few lines cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import hypot
from typing import NamedTuple

from weft.pictures.style import clean, hue, svg, text_width

_ROW, _BOX, _MARGIN, _PADDING, _LONGEST = 46, 28, 16, 24, 32
#: The least space between two columns, beside the longest relation that is written there.
_BETWEEN = 40


class Node(NamedTuple):
    """A node: its name, its type, and the column that it stands in."""

    name: str
    kind: str
    column: int


def draw_network(nodes: Sequence[Node], edges: Sequence[tuple[str, int, int]], title: str, styled: bool = True) -> str:
    """Nodes and edges (relation, source, target; numbers of nodes) as SVG.

    >>> nodes = [Node("Mara", "person", 0), Node("Bergen", "city", 1)]
    >>> picture = draw_network(nodes, [("lives in", 0, 1)], "people who live in Bergen")
    >>> picture.startswith("<svg "), picture.count("<rect"), ">lives in<" in picture, picture.count("<script")
    (True, 2, True, 0)
    """
    columns = _ordered(nodes, edges)
    names = [_short(node.name) for node in nodes]
    half = [
        max((text_width(names[number], 13) for number in column), default=0.0) / 2 + _PADDING / 2 for column in columns
    ]
    x: list[float] = []
    at = float(_MARGIN)
    for place, width in enumerate(half):
        x.append(at + width)
        at += 2 * width
        if place + 1 < len(columns):
            labels = [relation for relation, u, v in edges if {nodes[u].column, nodes[v].column} == {place, place + 1}]
            at += _BETWEEN + max((text_width(_short(relation), 11) for relation in labels), default=0.0)
    tallest = max(map(len, columns), default=0)
    place_of: dict[int, tuple[float, float]] = {}
    for column, members in enumerate(columns):
        top = _MARGIN + _BOX / 2 + (tallest - len(members)) * _ROW / 2
        for row, number in enumerate(members):
            place_of[number] = (x[column], top + row * _ROW)
    inside = any(nodes[u].column == nodes[v].column for _, u, v in edges)
    lines, labels_drawn = [], []
    for relation, source, target in edges:
        path, tip, where = _line(
            place_of[source], place_of[target], half[nodes[source].column], half[nodes[target].column]
        )
        lines.append(
            f'<path class="line" fill="none" stroke="#8793a0" d="{path}"/><path class="tip" fill="#8793a0" d="{tip}"/>'
        )
        labels_drawn.append(
            f'<text class="label" x="{where[0]:.1f}" y="{where[1]:.1f}" fill="#1f5fae" font-size="11">'
            f"{clean(_short(relation))}</text>"
        )
    boxes = [_box(names[k], nodes[k], *place_of[k], half[nodes[k].column]) for k in place_of]
    height = 2 * _MARGIN + _BOX + max(tallest - 1, 0) * _ROW
    description = "; ".join(f"{nodes[u].name} {relation} {nodes[v].name}" for relation, u, v in edges)
    width = at + _MARGIN + (_BETWEEN + 60 if inside else 0)
    body = "".join([*lines, *boxes, *labels_drawn])
    return svg(body, width, height, title, description or title, "network", styled)


def _ordered(nodes: Sequence[Node], edges: Sequence[tuple[str, int, int]]) -> list[list[int]]:
    """The nodes of every column from top to bottom; the first column as given."""
    columns: list[list[int]] = [[] for _ in range(max((node.column for node in nodes), default=-1) + 1)]
    for number, node in enumerate(nodes):
        columns[node.column].append(number)
    joined: dict[int, list[int]] = {}
    for _, source, target in edges:
        joined.setdefault(source, []).append(target)
        joined.setdefault(target, []).append(source)
    for before, column in pairwise(columns):
        rank = {number: place for place, number in enumerate(before)}

        def mean(number: int, rank: dict[int, int] = rank) -> float:
            places = [rank[other] for other in joined.get(number, []) if other in rank]
            return sum(places) / len(places) if places else float(len(rank))

        column.sort(key=mean)
    return columns


def _line(
    one: tuple[float, float], other: tuple[float, float], half: float, far: float
) -> tuple[str, str, tuple[float, float]]:
    """The path of an edge, its tip and the place of its label; edges within a column bend to the right of it."""
    (x, y), (to_x, to_y) = one, other
    if x == to_x:
        right, end = x + half, to_y if y != to_y else to_y + 8
        bend = right + _BETWEEN
        middle = (right + 3 * bend) / 4 + 4, (y + to_y) / 2 + (4 if y != to_y else -6)
        path = f"M{right:.1f},{y:.1f} C{bend:.1f},{y:.1f} {bend:.1f},{end:.1f} {right:.1f},{end:.1f}"
        return path, _tip(right, end, -1.0, 0.0), middle
    way = 1 if to_x > x else -1
    start, stop = x + way * half, to_x - way * far
    length = hypot(stop - start, to_y - y)
    tip = _tip(stop, to_y, (stop - start) / length, (to_y - y) / length)
    return f"M{start:.1f},{y:.1f} L{stop:.1f},{to_y:.1f}", tip, ((start + stop) / 2, (y + to_y) / 2 - 5)


def _tip(x: float, y: float, dx: float, dy: float) -> str:
    """A triangle that ends at a point, in a direction of length 1."""
    left, right = (x - 8 * dx - 4 * dy, y - 8 * dy + 4 * dx), (x - 8 * dx + 4 * dy, y - 8 * dy - 4 * dx)
    return f"M{x:.1f},{y:.1f} L{left[0]:.1f},{left[1]:.1f} L{right[0]:.1f},{right[1]:.1f} Z"


def _box(name: str, node: Node, x: float, y: float, half: float) -> str:
    told = f"{node.name}: {node.kind}" if node.kind else node.name
    # Without support for variables, boxes are plain.
    return (
        f'<g class="node {hue(node.kind)}"><title>{clean(told)}</title>'
        f'<rect class="bar" x="{x - half:.1f}" y="{y - _BOX / 2:.1f}" width="{2 * half:.1f}" height="{_BOX}" rx="6" '
        f'fill="#ffffff" stroke="#8793a0"/>'
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" font-size="13" fill="#1b1f24">{clean(name)}</text></g>'
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
