"""A timeline: every event and time as a bar from its start to its end, contents below their container.

    |------------- December 19 -------------|
       |-- MRI --|
                    |------ surgery -------|
                       |- tachycardia -|

The horizontal axis is an order, not a scale: bars whose order is known never stand the other way round. Times are
drawn dark, events light; a dashed bar is in its container by inference, not because somebody said so. The time of the
document is a band behind all bars.
"""

from __future__ import annotations

from weft.pictures.style import clean, hue, svg, text_width
from weft.text.doc import Doc

_MARGIN, _ROW, _STEP, _SIZE, _INDENT = 18.0, 26.0, 26.0, 13, 12.0
#: More bars than these are left out, and counted.
MOST = 300


def draw_timeline(doc: Doc, styled: bool = True) -> str:
    """The timeline of a document as SVG.

    >>> from weft.text import SpanLayer
    >>> doc = Doc.from_words([["surgery", "on", "Monday"]])
    >>> doc.spans["timeline"] = SpanLayer.of(doc.strings, [(0, 1, "EVENT"), (2, 3, "TIMEX3")])
    >>> picture = draw_timeline(doc)
    >>> picture.startswith("<svg "), picture.count("<rect")
    (True, 2)
    """
    timeline = doc.timeline()
    rows = timeline.rows()
    now = len(timeline.intervals) - 1
    shown = [(depth, i) for depth, i in rows if i != now][:MOST]
    has_now = any(i == now for _, i in rows)
    places = {rank: k for k, rank in enumerate(sorted({rank for _, i in rows for rank in timeline.ranks[i]}))}
    labels = [f"{timeline.intervals[i]}" for _, i in shown]
    widths = [text_width(text, _SIZE) + depth * _INDENT for (depth, _), text in zip(shown, labels, strict=True)]
    left = _MARGIN + max(widths, default=0.0) + 14
    width = left + max(1, len(places) - 1) * _STEP + _MARGIN
    top = _MARGIN + (20 if has_now else 0)
    height = top + len(shown) * _ROW + _MARGIN
    parts: list[str] = []
    if has_now:
        start, end = (left + places[rank] * _STEP for rank in timeline.ranks[now])
        name = timeline.intervals[now].text or "DOCTIME"
        parts.append(
            f'<rect class="band" fill="#8793a0" fill-opacity="0.15" x="{start:.1f}" y="{top - 6:.1f}" '
            f'width="{end - start:.1f}" height="{height - top:.1f}"/>'
            f'<text class="caption" font-size="11" fill="#57626d" text-anchor="start" x="{start:.1f}" '
            f'y="{_MARGIN + 8:.1f}">{clean(name)}</text>'
        )
        width = max(width, start + text_width(name, 12) + _MARGIN)
    for number, ((depth, i), text) in enumerate(zip(shown, labels, strict=True)):
        interval = timeline.intervals[i]
        start, end = (left + places[rank] * _STEP for rank in timeline.ranks[i])
        y = top + number * _ROW
        dashed = ' stroke-dasharray="4 3"' if timeline.is_inferred_container(i) else ""
        filled = "0.55" if interval.kind != "EVENT" else "0.25"
        parts.append(
            f'<text class="entry" x="{_MARGIN + depth * _INDENT:.1f}" y="{y + 14:.1f}" font-size="{_SIZE}" '
            f'text-anchor="start">{clean(text)}</text>'
            f'<rect class="bar {hue(interval.kind)}" fill="currentColor" fill-opacity="{filled}" stroke="#8793a0"'
            f'{dashed} x="{start:.1f}" y="{y + 3:.1f}" width="{end - start:.1f}" height="14" rx="4"/>'
        )
    notes = [f"{len(rows) - has_now - len(shown):,} more"] if len(rows) - has_now > len(shown) else []
    left_out = len(timeline.left_out)
    notes += [f"{left_out} link{'s' if left_out > 1 else ''} left out: they contradict others"] if left_out else []
    if notes:
        parts.append(
            f'<text class="caption" font-size="11" fill="#57626d" text-anchor="start" x="{_MARGIN:.1f}" '
            f'y="{height:.1f}">{clean("; ".join(notes))}</text>'
        )
        height += 16
        width = max(width, text_width("; ".join(notes), 11) + 2 * _MARGIN)
    title = f"Timeline of {doc.id}" if doc.id else "Timeline"
    described = "; ".join(str(link) for link in timeline.links[:50])
    return svg("".join(parts), width, height, title, described, "timeline", styled)
