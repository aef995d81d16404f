"""Line and point charts over one pair of axes as SVG, with a legend below and colours for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#3b6fb6", "#d0723a", "#3f9a68", "#b0508c", "#8a7a2e", "#6b6b6b")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 72, 16, 36, 48


def draw_lines(
    title: str, x: str, y: str, series: Mapping[str, Sequence[tuple[float, float]]],
    bands: Mapping[str, Sequence[tuple[float, float, float]]] | None = None,
) -> str:  # fmt: skip
    """Draw lines: `series` gives the points of each, `x` and `y` label the axes.

    `bands` gives lines an interval: for every x the low and the high end.

    >>> text = draw_lines("Convergence", "calls", "objective", {"L-BFGS": [(1, -10.0), (2, -4.0)]})
    >>> text.startswith("<svg") and "L-BFGS" in text and text.count("<polyline") == 1
    True
    >>> draw_lines("Profit", "day", "$", {"sum": [(0, 1), (1, 2)]}, {"sum": [(0, 0, 2), (1, 1, 4)]}).count("<polygon")
    1
    >>> draw_lines("Speed", "words/s", "LAS", {"greedy": [(9.0, 87.0)], "exact": [(2.0, 88.0)]}).count("<circle")
    2
    """
    bands = bands or {}
    points = [point for line in series.values() for point in line if all(map(math.isfinite, point))]
    points += [(u, end) for band in bands.values() for u, low, high in band for end in (low, high)]
    xs, ys = _range([u for u, _ in points]), _range([v for _, v in points])
    legend = 20 * math.ceil(len(series) / 3)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + legend}" '
        'font-family="sans-serif" font-size="12" fill="#808080">',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x)}</text>',
        f'<text x="14" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2})">{escape(y)}</text>',
    ]
    for tick in _ticks(*xs):
        across = _across(tick, xs)
        parts.append(f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:,.6g}</text>')
        parts.append(f'<path d="M{across:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#80808030"/>')
    for tick in _ticks(*ys):
        down = _down(tick, ys)
        parts.append(f'<text x="{LEFT - 6}" y="{down + 4:.1f}" text-anchor="end">{tick:,.6g}</text>')
        parts.append(f'<path d="M{LEFT} {down:.1f}H{WIDTH - RIGHT}" stroke="#80808030"/>')
    for i, (name, line) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        if band := bands.get(name):
            ends = [(u, high) for u, _, high in band] + [(u, low) for u, low, _ in reversed(band)]
            shape = " ".join(f"{_across(u, xs):.1f},{_down(v, ys):.1f}" for u, v in ends)
            parts.append(f'<polygon points="{shape}" fill="{colour}" fill-opacity="0.18"/>')
        path = " ".join(f"{_across(u, xs):.1f},{_down(v, ys):.1f}" for u, v in line if math.isfinite(v))
        if len(line) == 1:
            parts.append(f'<circle cx="{path.split(",")[0]}" cy="{path.split(",")[-1]}" r="5" fill="{colour}"/>')
        else:
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        left, base = LEFT + 190 * (i % 3), HEIGHT + 14 + 20 * (i // 3)
        parts.append(f'<path d="M{left} {base - 4}h20" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{left + 26}" y="{base}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _range(values: list[float]) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers inside a range."""
    step = 10 ** math.floor(math.log10((high - low) / 5))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    first = math.ceil(low / step)
    return [i * step for i in range(first, math.floor(high / step) + 1)]


def _across(x: float, xs: tuple[float, float]) -> float:
    return LEFT + (x - xs[0]) / (xs[1] - xs[0]) * (WIDTH - LEFT - RIGHT)


def _down(y: float, ys: tuple[float, float]) -> float:
    return HEIGHT - BOTTOM - (y - ys[0]) / (ys[1] - ys[0]) * (HEIGHT - TOP - BOTTOM)
