"""Heat maps of numeric tables: the larger a cell's value, the darker the cell; the value is printed in it.

    shade(v) = (v - least) / (largest - least)

Cells may be framed, such as the best in each column.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from weft.errors import ConfigError
from weft.pictures.style import clean, svg, text_width

_CELL, _HEIGHT, _MARGIN, _TITLE = 58, 34, 14, 28
#: Colours of the smallest and the largest value; those in between are mixed.
_LIGHT, _DARK = (237, 243, 250), (24, 78, 140)


def draw_heat(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    title: str = "",
    marked: Collection[tuple[str, str]] = (),
    digits: int = 1,
    styled: bool = True,
) -> str:
    """A table of numbers as SVG; `marked` are cells (row, column) to frame.

    >>> picture = draw_heat(["de", "en"], ["de", "en"], [[70.0, 55.0], [58.0, 80.0]], "UAS", [("en", "de")])
    >>> picture.startswith("<svg "), picture.count("<rect"), "58.0" in picture
    (True, 5, True)
    """
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        raise ConfigError(
            f"{len(rows)} rows and {len(columns)} columns are named, but the values have a different shape"
        )
    figures = [value for row in values for value in row if math.isfinite(value)]
    least, largest = min(figures, default=0.0), max(figures, default=1.0)
    left = _MARGIN + max((text_width(name, 13) for name in rows), default=0.0) + 10
    top = _MARGIN + (_TITLE if title else 0) + 18
    parts = []
    if title:
        parts.append(f'<text x="{left + len(columns) * _CELL / 2:.1f}" y="{_MARGIN + 12}">{clean(title)}</text>')
    for c, name in enumerate(columns):
        parts.append(_text(left + (c + 0.5) * _CELL, top - 7, name, "tag", 13))
    for r, (name, row) in enumerate(zip(rows, values, strict=True)):
        parts.append(_text(left - 8 - text_width(name, 13) / 2, top + (r + 0.5) * _HEIGHT + 5, name, "tag", 13))
        for c, value in enumerate(row):
            x, y = left + c * _CELL, top + r * _HEIGHT
            known = math.isfinite(value)
            shade = (value - least) / (largest - least) if known and largest > least else 0.0
            parts.append(
                f'<rect x="{x + 1:.1f}" y="{y + 1}" width="{_CELL - 2}" height="{_HEIGHT - 2}" fill="{_mix(shade)}"/>'
            )
            if (name, columns[c]) in marked:
                parts.append(
                    f'<rect x="{x + 2.5:.1f}" y="{y + 2.5}" width="{_CELL - 5}" height="{_HEIGHT - 5}" fill="none" '
                    'stroke="#d0723a" stroke-width="3"/>'
                )
            ink = "#ffffff" if shade > 0.5 else "#1b1f24"
            shown = f"{value:.{digits}f}" if known else "–"
            parts.append(
                f'<text x="{x + _CELL / 2:.1f}" y="{y + _HEIGHT / 2 + 5:.1f}" style="fill:{ink};font-size:13px" '
                f'fill="{ink}" font-size="13">{shown}</text>'
            )
    width, height = left + len(columns) * _CELL + _MARGIN, top + len(rows) * _HEIGHT + _MARGIN
    return svg(
        "".join(parts), width, height, title or "Table", _in_words(rows, columns, values, digits), "heat", styled
    )


def _text(x: float, y: float, text: str, kind: str, size: int) -> str:
    style = f'class="{kind}" style="font-size:{size}px" font-size="{size}"'
    return f'<text {style} x="{x:.1f}" y="{y:.1f}">{clean(text)}</text>'


def _mix(shade: float) -> str:
    return "#" + "".join(f"{round(a + (b - a) * shade):02x}" for a, b in zip(_LIGHT, _DARK, strict=True))


def _in_words(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], digits: int) -> str:
    """The values row by row as text, for accessibility."""
    lines = []
    for name, row in zip(rows, values, strict=True):
        pairs = zip(columns, row, strict=True)
        cells = (f"{column} {value:.{digits}f}" for column, value in pairs if math.isfinite(value))
        lines.append(f"{name}: {', '.join(cells)}")
    return "; ".join(lines)
