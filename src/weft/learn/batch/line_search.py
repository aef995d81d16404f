"""A step along a descent direction that satisfies the strong Wolfe conditions.

    f(t) <= f(0) + sufficient * t * f'(0)    and    |f'(t)| <= - curvature * f'(0)

The interval that must hold such a step is bracketed and narrowed by cubic interpolation of values and slopes, with
bisection as the safeguard. Near the optimum, where values differ by rounding only, slopes alone decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Point = tuple[float, float, float]  # step, value, slope


@dataclass(frozen=True)
class Found:
    """A point of the search; `ok` is False where no acceptable step was found. It is always the point last tried."""

    step: float
    value: float
    slope: float
    ok: bool


def search(
    evaluate: Callable[[float], tuple[float, float]],
    value: float,
    slope: float,
    first: float,
    sufficient: float = 1e-4,
    curvature: float = 0.9,
    max_calls: int = 20,
) -> Found:
    """Find an acceptable step; `evaluate(step)` gives value and slope there, `value` and `slope` are those at 0.

    >>> found = search(lambda t: ((t - 3) ** 2, 2 * (t - 3)), 9.0, -6.0, first=1.0, curvature=0.1)
    >>> found.ok, round(found.step, 3)
    (True, 3.0)
    """
    noise = 1e-12 * abs(value)
    low: Point = (0.0, value, slope)
    high: Point | None = None
    step = first
    for _ in range(max_calls):
        before = low
        f, g = evaluate(step)
        if math.isfinite(f) and math.isfinite(g):
            enough = f <= value + sufficient * step * slope or abs(f - value) <= noise
            if enough and abs(g) <= -curvature * slope:
                return Found(step, f, g, True)
            if not enough or (low[0] > 0 and f >= low[1]):
                high = (step, f, g)
            elif high is None:
                if g >= 0:
                    high, low = low, (step, f, g)
                else:
                    low = (step, f, g)
            else:
                if g * (high[0] - low[0]) >= 0:
                    high = low
                low = (step, f, g)
        else:
            high = (step, math.inf, math.nan)
        if high is None:
            step = _extend(before, low)
        else:
            step = _between(low, high)
            if abs(high[0] - low[0]) <= 1e-14 * max(1.0, abs(step)):
                break
    if low[0] > 0 and low[1] < value:
        f, g = evaluate(low[0])
        return Found(low[0], f, g, True)
    f, g = evaluate(0.0)
    return Found(0.0, f, g, False)


def _extend(before: Point, now: Point) -> float:
    """A longer step: where the slope vanishes if it goes on changing as so far, at most ten times as long."""
    (a, _, ga), (b, _, gb) = before, now
    guess = b + (b - a) * gb / (ga - gb) if gb > ga else math.inf
    return min(max(guess, 1.2 * b), 10.0 * b)


def _between(low: Point, high: Point) -> float:
    """The minimum of the cubic through both ends, kept away from the ends."""
    a, fa, ga = low
    b, fb, gb = high
    width = b - a
    if math.isfinite(fb) and math.isfinite(gb):
        d1 = ga + gb - 3 * (fa - fb) / (a - b)
        inside = d1 * d1 - ga * gb
        if inside >= 0:
            d2 = math.copysign(math.sqrt(inside), width)
            below = gb - ga + 2 * d2
            if below != 0:
                guess = b - width * (gb + d2 - d1) / below
                share = (guess - a) / width
                if math.isfinite(share):
                    return a + width * min(max(share, 0.05), 0.95)
    return a + 0.5 * width
