"""A generated world of moving boxes: clips with known events, noisy detections, and the truth of every sentence.

Four kinds of objects on a ground of 640 x 480 pixels; one or two events per clip over different objects (approach,
carry, pick up, put down), quick, slow or neither; third objects that the mover walks towards or away from. Detections
have noise, wrong kinds, misses and false boxes. A sentence is true if the geometry without noise says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from weft.arrays import Floats
from weft.tasks.grounding.clips import Clip
from weft.tasks.grounding.sentences import Grammar, Used

KINDS = ("backpack", "chair", "person", "trash-can")
_GRAMMAR = Grammar()
WIDTH, HEIGHT = 640.0, 480.0
#: Widths and heights of the kinds, each between two numbers.
SIZES = {
    "person": ((60, 80), (140, 170)), "backpack": ((40, 50), (45, 60)), "chair": ((60, 75), (75, 95)),
    "trash-can": ((45, 55), (60, 75)),
}  # fmt: skip
EVENTS = ("approached", "carried", "picked up", "put down")
#: Pixels per frame.
SPEEDS = {"quickly": (9.0, 14.0), "slowly": (2.0, 4.0), "": (5.0, 8.0)}


@dataclass(frozen=True)
class Noise:
    """What is wrong with detections."""

    frames: int = 40
    per_kind: int = 1
    most: int = 5  #: detections per frame
    confused: float = 0.1
    missed: float = 0.1
    false: int = 2  #: false boxes per kind and frame, before the best are chosen
    extra: float = 0.0  #: share of frames and kinds with one more strong false box
    shown: float = 0.3  #: probability of each kind that no event needs


@dataclass(frozen=True)
class World:
    """A clip with the objects that are really in it: centres [t, kind] and sizes [kind] by kind."""

    clip: Clip
    present: frozenset[str]
    centres: Floats
    sizes: Floats

    def place(self, kind: str) -> Floats:
        """Where an object is in every frame."""
        found: Floats = self.centres[:, KINDS.index(kind)]
        return found


def generate(seed: int, noise: Noise | None = None, name: str = "") -> World:
    """A clip with one or two events.

    >>> world = generate(3)
    >>> world.clip.frames, world.clip.boxes.shape[1], len(world.present) >= 2
    (40, 5, True)
    """
    noise = noise or Noise()
    rng = np.random.Generator(np.random.PCG64(seed))
    sizes = np.array([[rng.uniform(*SIZES[kind][side]) for side in (0, 1)] for kind in KINDS])
    for _ in range(200):
        found = _scene(rng, noise, sizes)
        if found is not None:
            break
    else:
        raise AssertionError("no scene fits into the picture")
    present, centres = found
    boxes, kinds, scores, moves = _detect(rng, noise, present, centres, sizes)
    names = [[KINDS[k] for k in row] for row in kinds]
    clip = Clip.from_boxes(name or f"clip-{seed:04d}", boxes, names, scores, moves, KINDS)
    return World(clip, frozenset(present), centres, sizes)


def _scene(rng: np.random.Generator, noise: Noise, sizes: Floats) -> tuple[set[str], Floats] | None:
    """Objects and their centres; None if they would leave the picture or stand too near at the start."""
    frames, count = noise.frames, int(rng.integers(1, 3))
    free, events = list(KINDS), []
    for _ in range(count):
        agent = "person" if "person" in free and rng.random() < 0.7 else free[int(rng.integers(len(free)))]
        free.remove(agent)
        other = free[int(rng.integers(len(free)))]
        free.remove(other)
        events.append((EVENTS[int(rng.integers(len(EVENTS)))], agent, other))
    present = {kind for _, *both in events for kind in both} | {kind for kind in free if rng.random() < noise.shown}
    bottoms = rng.uniform(330, 430, len(KINDS))
    starts = np.stack([rng.uniform(60, WIDTH - 60, len(KINDS)), bottoms - sizes[:, 1] / 2], axis=1)
    centres = np.repeat(starts[None], frames, axis=0)
    joined = set()
    for event, agent, other in events:
        speed = rng.uniform(*list(SPEEDS.values())[int(rng.integers(3))])
        _act(rng, event, KINDS.index(agent), KINDS.index(other), speed, centres)
        if event in ("carried", "put down"):
            joined.add(frozenset((agent, other)))
    here = [KINDS.index(kind) for kind in sorted(present)]
    low, high = centres[:, here] - sizes[here] / 2, centres[:, here] + sizes[here] / 2
    if low.min() < 0 or high[..., 0].max() > WIDTH or high[..., 1].max() > HEIGHT:
        return None
    for k, one in enumerate(here):
        for other_kind in here[:k]:
            pair = frozenset((KINDS[one], KINDS[other_kind]))
            if pair not in joined and abs(centres[0, one, 0] - centres[0, other_kind, 0]) < 90:
                return None
    return present, centres


def _act(rng: np.random.Generator, event: str, a: int, b: int, speed: float, centres: Floats) -> None:
    """Move the two objects of an event; both stand still before and after."""
    frames = len(centres)
    side = 1.0 if rng.random() < 0.5 else -1.0
    lift = rng.uniform(50, 80)
    lifting = max(4, round(frames * 0.2))
    near = side * rng.uniform(30, 50)

    def travel(low: float, high: float, most: int) -> tuple[float, int]:
        way = min(rng.uniform(low, high), speed * most)
        return way, max(round(way / speed), 1)

    def ramp(start: int, length: int) -> Floats:
        found: Floats = np.clip((np.arange(frames) - start) / length, 0.0, 1.0)
        return found

    if event == "approached":
        way, length = travel(100, 320, round(0.9 * frames))
        start = int(rng.integers(0, frames - length + 1))
        centres[:, a, 0] = centres[0, b, 0] + near + side * way * (1 - ramp(start, length))
    elif event == "carried":
        way, length = travel(150, 350, round(0.9 * frames))
        start = int(rng.integers(0, frames - length + 1))
        held = rng.uniform(8, 25) * side
        centres[:, b, 1] = centres[0, a, 1] + rng.uniform(-10, 10)
        centres[:, a, 0] += -side * way * ramp(start, length)
        centres[:, b, 0] = centres[:, a, 0] + held
    elif event == "picked up":
        way, length = travel(60, 250, frames - lifting - 4)
        start = int(rng.integers(0, frames - length - lifting))
        reach = side * rng.uniform(30, 45)
        centres[:, a, 0] = centres[0, b, 0] + reach + side * way * (1 - ramp(start, length))
        rising = ramp(start + length, lifting)
        centres[:, b, 1] -= lift * rising
        centres[:, b, 0] += reach / 2 * rising
    else:
        way, length = travel(60, 250, frames - lifting - 4)
        start = int(rng.integers(0, frames - length - lifting))
        reach = side * rng.uniform(30, 45)
        centres[:, a, 0] = centres[0, b, 0] + reach + side * way * ramp(start + lifting, length)
        high = 1 - ramp(start, lifting)
        centres[:, b, 1] -= lift * high
        centres[:, b, 0] += reach / 2 * high


def _detect(
    rng: np.random.Generator, noise: Noise, present: set[str], centres: Floats, sizes: Floats
) -> tuple[Floats, list[list[int]], Floats, Floats]:
    """The best detections of every frame: `per_kind` of each kind, then the best of the others."""
    here = [KINDS.index(kind) for kind in sorted(present)]
    boxes, kinds, scores, moves = [], [], [], []
    for t in range(len(centres)):
        rows: list[tuple[float, int, Floats, Floats]] = []
        for kind in here:
            if rng.random() < noise.missed:
                continue
            middle, half = centres[t, kind], sizes[kind] / 2
            box = np.concatenate([middle - half, middle + half]) + rng.normal(0, 3, 4)
            label = kind
            if rng.random() < noise.confused:
                label = int(rng.choice([k for k in range(len(KINDS)) if k != kind]))
            after = min(t + 1, len(centres) - 1)
            before = after - 1
            flow = centres[after, kind] - centres[before, kind] + rng.normal(0, 1, 2)
            rows.append((rng.normal(1, 0.3), label, box, flow))
        for kind in range(len(KINDS)):
            extra = int(rng.random() < noise.extra)
            for number in range(noise.false + extra):
                half = sizes[kind] / 2
                middle = rng.uniform((half[0], 200), (WIDTH - half[0], HEIGHT - half[1] / 2))
                level = 1.0 if number >= noise.false else 0.0
                box = np.concatenate([middle - half, middle + half])
                rows.append((rng.normal(level, 0.3), kind, box, rng.normal(0, 1, 2)))
        rows.sort(key=lambda row: -row[0])
        seen = np.zeros(len(KINDS), dtype=np.int64)
        best: list[tuple[float, int, Floats, Floats]] = []
        others: list[tuple[float, int, Floats, Floats]] = []
        for row in rows:
            (best if seen[row[1]] < noise.per_kind else others).append(row)
            seen[row[1]] += 1
        chosen = [*best, *others][: noise.most]
        scores.append([row[0] for row in chosen])
        kinds.append([row[1] for row in chosen])
        boxes.append([row[2] for row in chosen])
        moves.append([row[3] for row in chosen])
    return np.array(boxes), kinds, np.array(scores), np.array(moves)


def is_true(world: World, sentence: str) -> bool:
    """Whether a sentence is true of a clip, by the geometry of its objects.

    >>> from weft.tasks.grounding.sentences import every_sentence
    >>> world = generate(3)
    >>> any(is_true(world, sentence) for sentence in every_sentence(Grammar(), ("N", "V")))
    True
    """
    words, objects = _said(sentence)
    return world.present.issuperset(objects) and all(
        _holds(word, [world.place(objects[p]) for p in own]) for word, own in words
    )


@cache
def _said(sentence: str) -> tuple[list[Used], list[str]]:
    """The words of a sentence but its nouns, and the objects that take part."""
    parsed, nouns = _GRAMMAR.parse(sentence), set(KINDS)
    objects = [parsed.name(p, nouns) for p in range(parsed.participants)]
    return [used for used in parsed.words if used.word not in nouns], objects


def _holds(word: str, places: Sequence[Floats]) -> bool:
    one = places[0]
    moved = np.hypot(*(one[-1] - one[0]))
    if word in ("quickly", "slowly"):
        speeds = np.hypot(*np.diff(one, axis=0).T)
        moving = speeds[speeds > 0.5]
        mean = float(moving.mean()) if len(moving) else 0.0
        return mean > 8 if word == "quickly" else 0 < mean < 4.5
    other = places[1]
    distances = np.hypot(*(one - other).T)
    if word in ("approached", "towards"):
        still = word == "towards" or np.hypot(*(other[-1] - other[0])) < 20
        return bool(distances[0] - distances[-1] >= 80 and distances[-1] < 120 and moved > 20 and still)
    if word == "away from":
        return bool(distances[-1] - distances[0] >= 80 and moved > 20)
    if word == "carried":
        return bool(moved > 100 and np.hypot(*(other[-1] - other[0])) > 100 and distances.max() < 60)
    if word in ("picked up", "put down"):
        change = other[:-1, 1] - other[1:, 1] if word == "picked up" else other[1:, 1] - other[:-1, 1]
        close = abs(one[1:, 0] - other[1:, 0]) < 60
        return bool(np.where(close, change, 0.0).sum() >= 40)
    middle = float((one[:, 0] - other[:, 0]).mean())
    return middle < -40 if word == "to the left of" else middle > 40


def true_sentences(world: World, sentences: Sequence[str]) -> list[str]:
    """The sentences that are true of a clip."""
    return [sentence for sentence in sentences if is_true(world, sentence)]
