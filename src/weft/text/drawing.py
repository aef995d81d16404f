"""Trees as pictures: words in a row, arcs from heads to dependents above them, as one SVG text.

An arc stands one level above the highest arc between its ends, so that arcs of a projective tree never touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from weft.text.views import Sentence

_CHARACTER, _GAP, _LEVEL, _MARGIN = 8.5, 22, 26, 20
_STYLE = (
    "text{font-family:sans-serif;text-anchor:middle}.form{font-size:15px}.tag{font-size:11px;fill:#666}"
    ".label{font-size:11px;fill:#225}path{fill:none;stroke:#558;stroke-width:1.2}.tip{fill:#558;stroke:none}"
)


def draw_tree(sentence: Sentence) -> str:
    """A sentence with its tree as SVG; words without a head stand alone.

    >>> from weft.text import Doc
    >>> doc = Doc.of_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> picture = draw_tree(doc.sentences[0])
    >>> picture.startswith("<svg "), picture.count("<path"), "nsubj" in picture
    (True, 4, True)
    """
    words = sentence.words
    forms, tags = [word.form for word in words], [word.upos or word.xpos for word in words]
    labels = [word.deprel for word in words]
    heads = [0 if word.is_root else word.head.number if word.head else -1 for word in words]
    widths = [
        _CHARACTER * max(len(form), 0.75 * len(tag), 0.75 * len(label)) + _GAP
        for form, tag, label in zip(forms, tags, labels, strict=True)
    ]
    centres, right = [], float(_MARGIN)
    for width in widths:
        centres.append(right + width / 2)
        right += width
    levels = _levels(heads)
    ground = _MARGIN + _LEVEL * (max(levels, default=0) + 1)
    parts = [_arc(i, heads, labels, centres, levels, ground) for i in range(len(words)) if heads[i] >= 0]
    for centre, form, tag in zip(centres, forms, tags, strict=True):
        parts.append(f'<text class="form" x="{centre:.1f}" y="{ground + 20}">{escape(form)}</text>')
        parts.append(f'<text class="tag" x="{centre:.1f}" y="{ground + 36}">{escape(tag)}</text>')
    width, height = right + _MARGIN, ground + 36 + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}"><style>{_STYLE}</style>{"".join(parts)}</svg>\n'
    )


def _levels(heads: Sequence[int]) -> list[int]:
    """How high the arc of every word stands: above all arcs inside it; roots above everything."""
    spans = {i: tuple(sorted((i, head - 1))) for i, head in enumerate(heads) if head > 0}
    levels = [0] * len(heads)
    for i in sorted(spans, key=lambda i: spans[i][1] - spans[i][0]):
        low, high = spans[i]
        inside = [levels[j] for j, (a, b) in spans.items() if j != i and low <= a and b <= high and levels[j]]
        levels[i] = 1 + max(inside, default=0)
    top = max(levels, default=0) + 1
    return [top if head == 0 else level for head, level in zip(heads, levels, strict=True)]


def _arc(
    i: int, heads: Sequence[int], labels: Sequence[str], centres: Sequence[float], levels: Sequence[int], ground: int
) -> str:
    label, end, y = escape(labels[i]), centres[i], ground - _LEVEL * levels[i]
    tip = f'<path class="tip" d="M{end - 3:.1f},{ground - 7} h6 l-3,7 z"/>'
    if heads[i] == 0:
        return f'<path d="M{end:.1f},{y} V{ground}"/>{tip}<text class="label" x="{end:.1f}" y="{y - 4}">{label}</text>'
    # Arcs of one head leave it side by side.
    begin = centres[heads[i] - 1] + (4 if heads[i] - 1 < i else -4)
    middle = (begin + end) / 2
    path = f"M{begin:.1f},{ground} V{y + 6} Q{begin:.1f},{y} {begin + (6 if end > begin else -6):.1f},{y} "
    path += f"H{end + (-6 if end > begin else 6):.1f} Q{end:.1f},{y} {end:.1f},{y + 6} V{ground}"
    return f'<path d="{path}"/>{tip}<text class="label" x="{middle:.1f}" y="{y - 4}">{label}</text>'
