"""What words see of the detections that their participants pick: kinds, speeds, directions, distances, in a few bins.

    V = speed and direction of both, distance, ratio of sizes     N = kind of object        ADV = speed
    PM = speed of the first, distance                             P = difference in x       VI = speed and direction

Features depend on the part of speech, never on the word. Edges between bins are those of k-means in one dimension on
the training clips.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ids
from weft.learn.generative.word_hmms import Scene, WordClass
from weft.tasks.grounding.clips import Clip

#: Bins of the features whose edges are learned.
LEARNED = {"speed": 5, "distance": 3, "size": 2, "x": 2}
DIRECTIONS = ("left", "up", "right", "down")
#: Participants, states and features of the parts of speech; a number tells whose speed or direction.
PARTS_OF_SPEECH: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "N": (1, 1, ("kind",)),
    "V": (2, 3, ("speed 1", "direction 1", "speed 2", "direction 2", "distance", "size")),
    "VI": (1, 3, ("speed 1", "direction 1")),
    "P": (2, 1, ("x",)),
    "ADV": (1, 3, ("speed 1",)),
    "PM": (2, 3, ("speed 1", "distance")),
}
#: Pixels in a picture 640 wide by which a step may miss what the velocity foretells, and the most that it may cost.
STEP, COST = 8.0, 4.0
_SAMPLE = 200_000


@dataclass(frozen=True)
class Bins:
    """The edges between the bins of the learned features, and how many kinds of objects there are."""

    edges: Mapping[str, Floats]
    kinds: int

    @classmethod
    def learn(cls, clips: Iterable[Clip]) -> Bins:
        """Edges by k-means on what detections of clips show."""
        gathered: dict[str, list[Floats]] = {name: [] for name in LEARNED}
        kinds = 0
        for clip in clips:
            there = np.isfinite(clip.scores)
            both = there[:, :, None] & there[:, None, :] & ~np.eye(there.shape[1], dtype=np.bool_)[None]
            kinds = max(kinds, len(clip.names))
            for name, values in measured(clip).items():
                gathered[name].append(values[there if values.ndim == 2 else both])
        edges = {name: kmeans_edges(np.concatenate(values), LEARNED[name]) for name, values in gathered.items()}
        return cls(edges, kinds)

    def classes(self) -> dict[str, WordClass]:
        """The parts of speech with the numbers of their bins."""
        sizes = {"kind": self.kinds, "direction": len(DIRECTIONS), **LEARNED}
        return {
            name: WordClass(name, arity, states, tuple(sizes[each.split()[0]] for each in features))
            for name, (arity, states, features) in PARTS_OF_SPEECH.items()
        }

    def binned(self, clip: Clip) -> dict[str, Ids]:
        """The features of a clip in bins: [t, j] of one detection, [t, j, k] of two."""
        found = {
            name: np.searchsorted(self.edges[name], values).astype(np.int32) for name, values in measured(clip).items()
        }
        found["kind"] = clip.kinds
        angles = np.arctan2(clip.velocities[:, :, 1], clip.velocities[:, :, 0])  # y points down
        found["direction"] = (np.round(angles / (np.pi / 2)).astype(np.int32) + 2) % 4
        return found

    def scene(self, clip: Clip) -> Scene:
        """A clip as the learner sees it."""
        binned, classes = self.binned(clip), self.classes()
        frames, width = clip.scores.shape
        codes = {}
        for name, (arity, _, features) in PARTS_OF_SPEECH.items():
            shape = (frames, width) if arity == 1 else (frames, width, width)
            code = np.zeros(shape, dtype=np.int32)
            for feature, size in zip(features, classes[name].bins, strict=True):
                kind, _, whose = feature.partition(" ")
                values = binned[kind]
                if arity == 2 and values.ndim == 2:
                    values = values[:, :, None] if whose == "1" else values[:, None, :]
                code = code * size + values
            codes[name] = np.ascontiguousarray(code.reshape(frames, -1), dtype=np.int32)
        return Scene(clip.scores, steps(clip), codes)


def measured(clip: Clip) -> dict[str, Floats]:
    """Speeds, distances, logarithms of the ratio of sizes, and differences in x of the detections of a clip."""
    centres, velocities = clip.centres, clip.velocities
    ways = centres[:, :, None] - centres[:, None, :]
    areas = np.log(np.maximum(np.prod(clip.boxes[:, :, 2:] - clip.boxes[:, :, :2], axis=2), 1e-9))
    return {
        "speed": np.hypot(velocities[:, :, 0], velocities[:, :, 1]),
        "distance": np.hypot(ways[..., 0], ways[..., 1]),
        "size": areas[:, :, None] - areas[:, None, :],
        "x": ways[..., 0],
    }


def steps(clip: Clip) -> Floats:
    """The scores [t, i, j] of steps: how far the next box is from where the velocity takes this one."""
    foretold = clip.centres[:-1] + clip.velocities[:-1]
    ways = clip.centres[1:, None, :] - foretold[:, :, None]
    scale = STEP * max(clip.extent[0], 1.0) / 640
    found: Floats = -np.minimum((ways**2).sum(axis=3) / (2 * scale**2), COST)
    return found


def kmeans_edges(values: Floats, bins: int, rounds: int = 100) -> Floats:
    """The edges between the clusters of k-means in one dimension, from quantiles on.

    >>> kmeans_edges(np.array([0.0, 1.0, 10.0, 11.0, 12.0]), 2).tolist()
    [5.75]
    """
    ordered = np.sort(values)
    if len(ordered) > _SAMPLE:
        ordered = ordered[:: len(ordered) // _SAMPLE + 1]
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    centres = np.quantile(ordered, (np.arange(bins) + 0.5) / bins)
    for _ in range(rounds):
        edges = (centres[1:] + centres[:-1]) / 2
        ends = np.concatenate([[0], np.searchsorted(ordered, edges), [len(ordered)]])
        sizes = np.diff(ends)
        new = np.where(sizes > 0, np.diff(sums[ends]) / np.maximum(sizes, 1), centres)
        if np.allclose(new, centres):
            break
        centres = np.sort(new)
    found: Floats = (centres[1:] + centres[:-1]) / 2
    return found
