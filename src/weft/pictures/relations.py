"""Relations of a sentence as a table: its mentions in text order as columns, and a row with dots for every tuple.

             Ada       editor     Quill
employment    o----------o----------o
            person      job      company
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.pictures.style import clean, hue, is_right_to_left, svg, text_width
from weft.text.conventions.tuples import RelationTuple
from weft.text.views import Sentence

_MARGIN, _GAP, _ROW, _TOP = 18.0, 18.0, 46.0, 40.0


def draw_relations(sentence: Sentence, tuples: Sequence[RelationTuple], styled: bool = True) -> str:
    """The tuples of a sentence as SVG.

    >>> from weft.text.conventions.tuples import TupleRow, set_tuples
    >>> from weft.text.doc import Doc
    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Ada", "runs", "Quill"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person"), (2, 3, "company")])
    >>> set_tuples(doc, [TupleRow("work", (("person", 0), ("company", 1)))])
    >>> picture = draw_relations(doc.sentences[0], doc.tuples)
    >>> picture.startswith("<svg "), picture.count("<circle"), "work: person Ada, company Quill" in picture
    (True, 2, True)
    """
    names = {number: (span.text, span.label) for each in tuples for (_, span), (_, number) in
             zip(each.members, each.row.members, strict=True)}  # fmt: skip
    layer = sentence.doc.spans[tuples[0].mentions] if tuples else None
    order = sorted(names, key=lambda number: layer[number].pieces if layer is not None else ())
    slots = {number: [slot for each in tuples for slot, own in each.row.members if own == number] for number in order}
    labels = [_named(each) for each in tuples]
    at = _MARGIN + max((text_width(label, 13) for label in labels), default=0.0) + _GAP
    places: dict[int, float] = {}
    parts: list[str] = []
    for number in order:
        text, kind = names[number]
        width = max(text_width(text, 15), *(text_width(slot, 12) for slot in slots[number]))
        places[number] = at + width / 2
        parts.append(
            f'<text class="{hue(kind)}" x="{places[number]:.1f}" y="{_MARGIN + 8:.0f}" font-size="15" '
            f'text-anchor="middle">{clean(text)}</text>'
        )
        at += width + _GAP
    for row, each in enumerate(tuples):
        y = _TOP + _ROW * row + 12
        ends = [places[number] for _, number in each.row.members]
        parts.append(
            f'<text class="entry" x="{_MARGIN:.0f}" y="{y + 4:.0f}" font-size="13" '
            f'text-anchor="start">{clean(labels[row])}</text>'
            f'<line class="line" stroke="#8793a0" x1="{min(ends):.1f}" x2="{max(ends):.1f}" y1="{y:.0f}" y2="{y:.0f}"/>'
        )
        for slot, number in each.row.members:
            x = places[number]
            parts.append(
                f'<circle class="bar {hue(names[number][1])}" stroke="#8793a0" cx="{x:.1f}" cy="{y:.0f}" r="5"/>'
                f'<text class="caption middle" x="{x:.1f}" y="{y + 19:.0f}" font-size="12" fill="#57626d" '
                f'text-anchor="middle">{clean(slot)}</text>'
            )
    height = _TOP + _ROW * len(tuples) + _MARGIN / 2
    said = "; ".join(
        f"{each.label}: {', '.join(f'{slot} {span.text}' for slot, span in each.members)}" for each in tuples
    )
    title = f"Relations of: {sentence.text}"
    return svg(
        "".join(parts), at - _GAP + _MARGIN, height, title, said, "relations", styled,
        mirrored=is_right_to_left(sentence.text),
    )  # fmt: skip


def _named(each: RelationTuple) -> str:
    p = each.probability
    return each.label if p is None else f"{each.label} {p:.2f}"
