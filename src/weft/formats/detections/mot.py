"""Detections of objects in the format of the MOT challenge: one line per box, numbers separated by commas.

    frame, track, left, top, width, height, score, kind, vx, vy

Frames are counted from 1. The first six numbers are needed; a score that is missing is 1. The kind of object is a
number or a name; -1 or nothing stands for one kind for all. The last two are how the box moves, in pixels per frame
(the mean optical flow inside it, for instance); -1, -1 stands for not known. Tracks are kept but not used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import DataError, FormatError
from weft.formats.streams import numbered_lines

_NAMES = ("frame", "track", "left", "top", "width", "height", "score", "kind", "vx", "vy")
#: The kind of detections without one.
OBJECT = "object"


@dataclass(frozen=True)
class Detections:
    """Boxes of a clip, one row each; velocities that are not known are NaN."""

    frames: Ints
    tracks: Ints
    boxes: Floats  #: left, top, width, height
    scores: Floats
    kinds: list[str]
    velocities: Floats

    def __len__(self) -> int:
        return len(self.frames)


def read_mot(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Detections:
    """The detections of a file.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.mot").write_text("1,-1,10,20,30,40,0.9,chair,-1,-1\\n2,-1,12,20,30,40\\n")
    ...     found = read_mot(f"{folder}/a.mot")
    >>> found.kinds, found.scores.tolist(), found.boxes[1].tolist()
    (['chair', 'object'], [0.9, 1.0], [12.0, 20.0, 30.0, 40.0])
    """
    rows, kinds = [], []
    for numbers, kind in _rows(os.fspath(path), encoding):
        rows.append(numbers)
        kinds.append(kind)
    if not rows:
        raise DataError(f"{os.fspath(path)} has no detections")
    table = np.array(rows)
    order = np.argsort(table[:, 0], kind="stable")
    table = table[order]
    return Detections(
        table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2:6].copy(), table[:, 6].copy(),
        [kinds[k] for k in order.tolist()], table[:, 7:9].copy(),
    )  # fmt: skip


def _rows(path: str, encoding: str) -> Iterator[tuple[list[float], str]]:
    for number, text in numbered_lines(path, encoding):
        line = text.strip()
        if not line or line.startswith("#") or (number == 1 and line.lower().startswith("frame")):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) < 6:
            raise FormatError(path, number, "frame,track,left,top,width,height[,score,kind,vx,vy]", line[:60])
        values = []
        for name, cell in zip(_NAMES[:7], cells, strict=False):
            try:
                values.append(float(cell))
            except ValueError:
                raise FormatError(path, number, f"a number as {name}", repr(cell)) from None
            if not np.isfinite(values[-1]):
                raise FormatError(path, number, f"a finite number as {name}", repr(cell))
        if values[0] < 1 or values[0] != int(values[0]):
            raise FormatError(path, number, "a frame counted from 1", cells[0])
        if values[4] <= 0 or values[5] <= 0:
            raise FormatError(path, number, "a box with a width and a height above 0", ",".join(cells[2:6]))
        kind = cells[7] if len(cells) > 7 else ""
        kind = kind if kind not in ("", "-1") else OBJECT
        yield [*values, *([1.0] if len(values) < 7 else []), *_velocity(path, number, cells[8:10])], kind


def _velocity(path: str, number: int, cells: list[str]) -> list[float]:
    if len(cells) < 2 or cells == ["-1", "-1"] or cells == ["", ""]:
        return [np.nan, np.nan]
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        raise FormatError(path, number, "numbers as vx and vy", ",".join(cells)) from None


def write_mot(path: str | os.PathLike[str], detections: Detections) -> None:
    """Write the detections of a clip.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> one = np.ones(1)
    >>> boxes = Detections(one.astype(int), -one.astype(int), np.array([[1.0, 2, 3, 4.5]]), one, ["cup"],
    ...                    np.array([[0.5, np.nan]]))
    >>> with TemporaryDirectory() as folder:
    ...     write_mot(f"{folder}/a.mot", boxes)
    ...     Path(folder, "a.mot").read_text()
    '1,-1,1,2,3,4.5,1,cup,-1,-1\\n'
    """
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for k in range(len(detections)):
            velocity = detections.velocities[k]
            moves = velocity.tolist() if np.isfinite(velocity).all() else [-1, -1]
            if moves == [-1.0, -1.0]:
                moves = [-1, -1]
            values = [*detections.boxes[k].tolist(), detections.scores[k]]
            own = [f"{value:.6g}" for value in values]
            rest = [f"{value:.6g}" for value in moves]
            frame, track = int(detections.frames[k]), int(detections.tracks[k])
            file.write(",".join([str(frame), str(track), *own, detections.kinds[k], *rest]) + "\n")
