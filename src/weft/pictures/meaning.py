"""AMRs as pictures: the top above, every concept below the one it is met from, with its role on the line between them.

Concepts that are met again are joined by dashed lines. The words a node comes from stand below its concept. Nothing
here is recursive.
"""

from __future__ import annotations

from weft.pictures.style import clean, svg, text_width
from weft.text.conventions.amr import Amr, Edge, inverted
from weft.text.views import Sentence

_GAP, _LEVEL, _MARGIN = 26, 74, 20


def draw_amr(sentence: Sentence, amr: Amr, styled: bool = True) -> str:
    """The AMR of a sentence as SVG.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["Boys", "sleep"]])
    >>> picture = draw_amr(doc.sentences[0], Amr(["sleep-01", "boy"], ["s", "b"], [Edge(0, 1, "ARG0")], [(1,), (0,)]))
    >>> picture.startswith("<svg "), picture.count("<path"), ">ARG0<" in picture, ">Boys<" in picture
    (True, 1, True, True)
    """
    children, roles, others = _spread(amr)
    forms = [word.form for word in sentence.words]
    texts = [" ".join(forms[word] for word in words if word < len(forms)) for words in amr.words]
    order, depth = [0], [0] * len(amr)
    for node in order:
        for child in children[node]:
            depth[child] = depth[node] + 1
            order.append(child)
    own = [
        max(text_width(amr.labels[i], 15), text_width(texts[i], 11), text_width(roles[i], 11)) for i in range(len(amr))
    ]
    widths = [0.0] * len(amr)
    for node in reversed(order):
        widths[node] = max(own[node] + _GAP, sum(widths[child] for child in children[node]))
    left, centre = [float(_MARGIN)] * len(amr), [0.0] * len(amr)
    for node in order:
        centre[node] = left[node] + widths[node] / 2
        at = left[node] + (widths[node] - sum(widths[child] for child in children[node])) / 2
        for child in children[node]:
            left[child] = at
            at += widths[child]

    def y(node: int) -> float:
        return _MARGIN + 14 + _LEVEL * depth[node]

    lines, labels = [], []
    for node in order:
        for child in children[node]:
            lines.append(_line(centre[node], y(node) + (20 if texts[node] else 6), centre[child], y(child) - 15))
            middle = (centre[node] + 3 * centre[child]) / 4, (y(node) + 3 * y(child)) / 4 - 4
            labels.append(_role(*middle, roles[child]))
    for source, target, role in others:
        lines.append(_line(centre[source], y(source) + 6, centre[target], y(target) - 15, dashed=True))
        labels.append(_role((centre[source] + centre[target]) / 2, (y(source) + y(target)) / 2, role))
    for node in order:
        colour = "#57626d" if amr.is_constant(node) else "#1f5fae"
        place = f'x="{centre[node]:.1f}" y="{y(node) + 15:.0f}"'
        below = f'<text class="tag" {place} font-size="11">{clean(texts[node])}</text>'
        labels.append(
            f'<g class="concept"><text class="phrase" x="{centre[node]:.1f}" y="{y(node):.0f}" fill="{colour}">'
            f"{clean(amr.labels[node])}</text>{below if texts[node] else ''}</g>"
        )
    height = _MARGIN + 14 + _LEVEL * max(depth) + 20 + _MARGIN
    description = "; ".join(f"{amr.labels[s]} {role} {amr.labels[t]}" for s, t, role in amr.edges) or amr.labels[0]
    title = f"Meaning of: {sentence.text}"
    return svg("".join(lines + labels), widths[0] + 2 * _MARGIN, height, title, description, "amr", styled)


def _line(x: float, y: float, to_x: float, to_y: float, dashed: bool = False) -> str:
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path class="line" fill="none" stroke="#8793a0"{dash} d="M{x:.1f},{y:.0f} L{to_x:.1f},{to_y:.0f}"/>'


def _role(x: float, y: float, role: str) -> str:
    return f'<text class="label" x="{x:.1f}" y="{y:.0f}" fill="#57626d" font-size="11">{clean(role)}</text>'


def _spread(amr: Amr) -> tuple[list[list[int]], list[str], list[Edge]]:
    """Children of every node in the tree from the top, the role above each node, and all other edges."""
    near: list[list[tuple[int, str, int]]] = [[] for _ in amr.labels]
    for number, (source, target, role) in enumerate(amr.edges):
        near[source].append((target, role, number))
        near[target].append((source, inverted(role), number))
    children: list[list[int]] = [[] for _ in amr.labels]
    roles, seen, used, waiting = [""] * len(amr), {0}, set(), [0]
    while waiting:
        node = waiting.pop(0)
        for other, role, number in near[node]:
            if other not in seen:
                seen.add(other)
                used.add(number)
                children[node].append(other)
                roles[other] = role
                waiting.append(other)
    others = [edge for number, edge in enumerate(amr.edges) if number not in used and {*edge[:2]} <= seen]
    return children, roles, others
