"""Clips: the strongest detections of every frame, with kinds, scores and velocities, in arrays of one width.

A frame with fewer detections is filled up with boxes of other frames nearby, at a lower score: an object that the
detector misses for a moment is still there. What was never detected cannot be filled up and has the score -inf.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import DataError
from weft.formats.detections import Detections, read_mot

#: Detections that are kept per frame.
MOST = 8
#: Score that a box borrowed from a frame nearby loses.
BORROWED = 0.5
#: Endings of files of detections.
ENDINGS = (".mot", ".txt", ".csv")


@dataclass(frozen=True)
class Clip:
    """Detections [t, j] of a clip: corners of boxes, kinds (numbers of `names`), scores, and velocities.

    >>> clip = Clip.from_boxes("still", np.array([[[0.0, 0, 10, 20]], [[2.0, 0, 12, 20]]]), [["cup"], ["cup"]])
    >>> clip.frames, clip.centres[1, 0].tolist(), clip.velocities[0, 0].tolist()
    (2, [7.0, 10.0], [2.0, 0.0])
    """

    name: str
    boxes: Floats  #: left, top, right, bottom
    kinds: Ids
    names: tuple[str, ...]
    scores: Floats
    velocities: Floats
    first: int = 1  #: the number of the first frame

    @property
    def frames(self) -> int:
        """The number of frames."""
        return len(self.boxes)

    @property
    def centres(self) -> Floats:
        """The centres [t, j] of the boxes."""
        found: Floats = (self.boxes[:, :, :2] + self.boxes[:, :, 2:]) / 2
        return found

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of what the boxes cover, from the corner of the picture."""
        there = np.isfinite(self.scores)
        return float(self.boxes[there][:, 2].max()), float(self.boxes[there][:, 3].max())

    @classmethod
    def from_boxes(
        cls, name: str, boxes: Floats, kinds: Sequence[Sequence[str]], scores: Floats | None = None,
        velocities: Floats | None = None, names: Sequence[str] = (),
    ) -> Clip:  # fmt: skip
        """A clip with the same number of boxes in every frame; velocities come from the boxes unless given."""
        known = tuple(names) or tuple(sorted({kind for row in kinds for kind in row}))
        numbers = np.array([[known.index(kind) for kind in row] for row in kinds], dtype=np.int32)
        own = np.ones(numbers.shape) if scores is None else np.asarray(scores, dtype=np.float64)
        corners = np.asarray(boxes, dtype=np.float64)
        moves = np.full((*numbers.shape, 2), np.nan) if velocities is None else np.asarray(velocities)
        return cls(name, corners, numbers, known, own, _known_velocities(corners, numbers, own, moves))

    @classmethod
    def from_detections(
        cls, name: str, found: Detections, most: int = MOST, per_kind: int = 2, names: Sequence[str] = ()
    ) -> Clip:
        """The strongest detections of every frame: the best `per_kind` of each kind, then the best of the others."""
        known = tuple(names) or tuple(sorted(set(found.kinds)))
        numbers = np.array([known.index(kind) for kind in found.kinds], dtype=np.int32)
        first, last = int(found.frames.min()), int(found.frames.max())
        frames = last - first + 1
        shape = (frames, most)
        boxes, kinds = np.zeros((*shape, 4)), np.zeros(shape, dtype=np.int32)
        scores, moves = np.full(shape, -np.inf), np.full((*shape, 2), np.nan)
        starts = np.searchsorted(found.frames, np.arange(first, last + 2))
        for t in range(frames):
            rows = np.arange(starts[t], starts[t + 1])
            rows = rows[_strongest(found.scores[rows], numbers[rows], most, per_kind)]
            n = len(rows)
            boxes[t, :n, :2] = found.boxes[rows, :2]
            boxes[t, :n, 2:] = found.boxes[rows, :2] + found.boxes[rows, 2:]
            kinds[t, :n], scores[t, :n], moves[t, :n] = numbers[rows], found.scores[rows], found.velocities[rows]
        _fill(boxes, kinds, scores, moves)
        width = int(np.isfinite(scores).any(axis=0).sum())
        boxes, kinds, scores, moves = boxes[:, :width], kinds[:, :width], scores[:, :width], moves[:, :width]
        return cls(name, boxes, kinds, known, scores, _known_velocities(boxes, kinds, scores, moves), first)


def _strongest(scores: Floats, kinds: Ids, most: int, per_kind: int) -> Ints:
    """The rows to keep, strongest of every kind first."""
    order = np.argsort(-scores, kind="stable")
    rank, seen = np.zeros(len(order), dtype=np.int64), dict[int, int]()
    for row in order.tolist():
        kind = int(kinds[row])
        rank[row] = seen.get(kind, 0)
        seen[kind] = rank[row] + 1
    chosen = np.concatenate([order[rank[order] < per_kind], order[rank[order] >= per_kind]])
    found: Ints = chosen[:most]
    return found


def _fill(boxes: Floats, kinds: Ids, scores: Floats, moves: Floats) -> None:
    """Fill up frames from the nearest frame with boxes that overlap none of their own."""
    frames, width = scores.shape
    there = np.isfinite(scores)
    counts = there.sum(axis=1)
    wanted = min(int(counts.max()), width)
    for t in range(frames):
        for distance in range(1, frames):
            if there[t].sum() >= wanted:
                break
            for source in (t - distance, t + distance):
                if not 0 <= source < frames:
                    continue
                for j in range(counts[source]):
                    n = int(there[t].sum())
                    if n >= wanted:
                        break
                    if not n or float(overlap(boxes[source, j], boxes[t, :n]).max()) < 0.3:
                        boxes[t, n], kinds[t, n], there[t, n] = boxes[source, j], kinds[source, j], True
                        scores[t, n], moves[t, n] = scores[source, j] - BORROWED, np.nan


def overlap(box: Floats, others: Floats) -> Floats:
    """Intersection over union of a box with others.

    >>> overlap(np.array([0.0, 0, 2, 2]), np.array([[1.0, 0, 3, 2]])).round(2).tolist()
    [0.33]
    """
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    both = np.prod(np.maximum(high - low, 0.0), axis=1)
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1) + np.prod(box[2:] - box[:2])
    found: Floats = both / np.maximum(areas - both, 1e-9)
    return found


def _known_velocities(boxes: Floats, kinds: Ids, scores: Floats, moves: Floats) -> Floats:
    """Velocities that are not known: the way to the nearest box of the same kind in the next frame (the one before, at
    the end), zero if it is further away than the box is large."""
    found = moves.copy()
    centres = (boxes[:, :, :2] + boxes[:, :, 2:]) / 2
    sizes = (boxes[:, :, 2:] - boxes[:, :, :2]).max(axis=2)
    for t in range(len(boxes)):
        missing = ~np.isfinite(found[t]).all(axis=1)
        if not missing.any():
            continue
        other, sign = (t + 1, 1.0) if t + 1 < len(boxes) else (t - 1, -1.0)
        if other < 0:
            found[t, missing] = 0.0
            continue
        ways = centres[other][None, :] - centres[t][:, None]
        lengths = np.hypot(ways[:, :, 0], ways[:, :, 1])
        lengths[(kinds[t][:, None] != kinds[other][None, :]) | ~np.isfinite(scores[other])[None, :]] = np.inf
        nearest = lengths.argmin(axis=1)
        rows = np.arange(len(nearest))
        near = lengths[rows, nearest] < sizes[t]
        guess = np.where(near[:, None], sign * ways[rows, nearest], 0.0)
        found[t, missing] = guess[missing]
    return found


def read_clip(path: str | os.PathLike[str], most: int = MOST, per_kind: int = 2, names: Sequence[str] = ()) -> Clip:
    """The clip of a file of detections (`weft.formats.detections.mot`); its name is that of the file."""
    place = Path(path)
    found = read_mot(place)
    if names and (unknown := sorted(set(found.kinds) - set(names))):
        raise DataError(
            f"{place}: the kind {unknown[0]!r} is not one of those that the model knows: {', '.join(names)}"
        )
    return Clip.from_detections(place.stem, found, most, per_kind, names)


def clip_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files of detections of a folder, or the one file that was given."""
    place = Path(path)
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise DataError(f"there is no file or folder {place}; give a folder of files of detections (.mot)")
    files = sorted(each for each in place.iterdir() if each.suffix in ENDINGS)
    if not files:
        raise DataError(f"{place} has no files of detections ({', '.join(ENDINGS)})")
    return files


def read_clips(
    path: str | os.PathLike[str], most: int = MOST, per_kind: int = 2, names: Sequence[str] = ()
) -> dict[str, Clip]:
    """The clips of a folder by name; all have the same kinds of objects."""
    files = clip_files(path)
    if not names:
        names = sorted({kind for file in files for kind in read_mot(file).kinds})
    return {file.stem: read_clip(file, most, per_kind, names) for file in files}
