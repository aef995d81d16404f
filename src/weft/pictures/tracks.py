"""Tracks of the participants of a sentence over frames of a clip, as SVG: boxes with names, and the way so far."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from weft.arrays import Floats
from weft.pictures.lines import COLOURS

#: Width of a frame in the picture, and frames per row.
WIDTH, ROW, GAP = 300, 3, 14


def draw_tracks(
    title: str, names: Sequence[str], boxes: Floats, frames: Sequence[int], others: Floats | None = None, first: int = 1
) -> str:
    """Draw the boxes [frame, participant, corner] of some frames; `others` are the detections that nobody picked.

    >>> import numpy as np
    >>> text = draw_tracks("The cup fell", ["cup"], np.array([[[0.0, 0, 9, 9]], [[0.0, 4, 9, 13]]]), [0, 1])
    >>> text.count("<rect"), "cup" in text, "frame 2" in text
    (4, True, True)
    """
    wide = max(float(boxes[:, :, 2].max()), float(others[:, :, 2].max()) if others is not None else 1.0, 1.0)
    high = max(float(boxes[:, :, 3].max()), float(others[:, :, 3].max()) if others is not None else 1.0, 1.0)
    scale = WIDTH / wide
    height = high * scale
    columns = min(len(frames), ROW)
    rows = -(-len(frames) // ROW)
    size = columns * (WIDTH + GAP) + GAP, 40 + rows * (height + 30)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" '
        'font-family="sans-serif" font-size="12" fill="#808080">',
        f'<text x="{GAP}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for number, frame in enumerate(frames):
        left, top = GAP + (number % ROW) * (WIDTH + GAP), 40 + (number // ROW) * (height + 30)
        parts.append(f'<g transform="translate({left:.0f} {top:.0f})">')
        parts.append(f'<rect width="{WIDTH}" height="{height:.0f}" fill="none" stroke="#80808060"/>')
        parts.append(f'<text x="0" y="{height + 15:.0f}">frame {frame + first}</text>')
        for box in others[frame] if others is not None else ():
            parts.append(_box(box, scale, "#80808050", 1))
        for p, name in enumerate(names):
            colour, box = COLOURS[p % len(COLOURS)], boxes[frame, p]
            way = " ".join(
                f"{scale * (each[0] + each[2]) / 2:.1f},{scale * (each[1] + each[3]) / 2:.1f}"
                for each in boxes[: frame + 1, p]
            )
            parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-opacity="0.5"/>')
            parts.append(_box(box, scale, colour, 2))
            at = max(scale * box[1] - 3, 10.0)
            parts.append(f'<text x="{scale * box[0]:.1f}" y="{at:.1f}" fill="{colour}">{escape(name)}</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _box(box: Floats, scale: float, colour: str, thick: int) -> str:
    left, top, right, bottom = (scale * float(each) for each in box)
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" height="{max(bottom - top, 1):.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="{thick}"/>'
    )
