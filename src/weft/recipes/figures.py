"""Curves of recipes as SVG."""

from __future__ import annotations

from weft.pictures.lines import draw_lines
from weft.recipes.framework import Curve


def svg(curve: Curve) -> str:
    """Draw a curve.

    >>> text = svg(Curve("Convergence", "calls", "objective", {"L-BFGS": [(1, -10.0), (2, -4.0)]}))
    >>> text.startswith("<svg") and "L-BFGS" in text and text.count("<polyline") == 1
    True
    """
    return draw_lines(curve.title, curve.x, curve.y, curve.series)
