"""Active learning of word boundaries: which positions a person should label for the segmenter that is trained again.

    position      between two characters of a sentence: is there a boundary between two words?
    segmenter     a linear model over the characters around each position, one position at a time
    confidence    sigmoid(t * |margin|),   t such that the mean confidence on held-out text is the accuracy there
    utility       sum of (1 - confidence) over the positions of a span

The segmenter learns on newspaper text and wikis and is to segment a novel. Each way of choosing has the same minutes;
what it shows gets its true labels, and the segmenter is trained on both texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.annotate.plans.costs import CostModel, segment_features
from weft.annotate.plans.planner import Mode, Planner
from weft.arrays import Bools, Floats

#: Characters before and after a position that features see.
WINDOW = 3
#: Slots of hashed features.
BITS = 20
EPOCHS = 8


@dataclass(frozen=True)
class Positions:
    """The positions of sentences: features, whether each is a boundary, and how many each sentence has."""

    features: Any
    boundary: Bools
    sizes: list[int]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Positions:
        """The positions of segmented sentences; a sentence of one character has none.

        >>> found = Positions.of([["ab", "c"], ["d"]])
        >>> found.boundary.tolist(), found.sizes
        ([False, True], [2])
        """
        from sklearn.feature_extraction import FeatureHasher

        boundary: list[bool] = []
        sizes = []
        for words in sentences:
            inside = [k == len(word) for word in words for k in range(1, len(word) + 1)][:-1]
            boundary += inside
            sizes += [len(inside)] if inside else []
        rows = (row for words in sentences for row in _rows("".join(words)))
        hasher = FeatureHasher(1 << BITS, input_type="string", alternate_sign=False, dtype=np.float32)
        return cls(hasher.transform(rows) if boundary else None, np.array(boundary, dtype=bool), sizes)


def _rows(text: str) -> Iterator[list[str]]:
    """The features of the positions of a sentence: characters, pairs and triples around, and their kinds."""
    padded = "\x02" * WINDOW + text + "\x03" * WINDOW
    kinds = "".join(map(_kind, padded))
    for place in range(WINDOW + 1, WINDOW + len(text)):
        around = padded[place - WINDOW : place + WINDOW]
        own = kinds[place - WINDOW : place + WINDOW]
        yield [
            f"{name}{n}.{k}={string[k : k + n]}"
            for name, string in (("c", around), ("t", own))
            for n in (1, 2, 3)
            for k in range(2 * WINDOW - n + 1)
        ]


def _kind(letter: str) -> str:
    return "0" if letter.isdigit() else "a" if letter.isascii() else "#" if not letter.isalnum() else "x"


@dataclass(frozen=True)
class Segmenter:
    """Margins of positions, and how sure they make it."""

    model: Any
    scale: float

    @classmethod
    def fit(cls, parts: Sequence[tuple[Any, Bools]], held: Positions, seed: int) -> Segmenter:
        """Learn from features and labels; the scale of margins from text held out."""
        from scipy.sparse import vstack
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier("log_loss", alpha=1e-6, max_iter=EPOCHS, tol=None, average=True, random_state=seed)
        model.fit(vstack([features for features, _ in parts]), np.concatenate([labels for _, labels in parts]))
        margins = model.decision_function(held.features).astype(np.float64)
        return cls(model, _scale(np.abs(margins), float(((margins > 0) == held.boundary).mean())))

    def doubts(self, positions: Positions) -> tuple[Floats, Bools]:
        """How likely each decision is wrong, and the decisions."""
        margins = self.model.decision_function(positions.features).astype(np.float64)
        doubts: Floats = 1.0 / (1.0 + np.exp(np.minimum(self.scale * np.abs(margins), 500.0)))
        return doubts, margins > 0

    def accuracy(self, positions: Positions) -> float:
        """The share of positions that are decided rightly."""
        return float((self.doubts(positions)[1] == positions.boundary).mean())


def _scale(margins: Floats, accuracy: float) -> float:
    """The factor of margins whose mean confidence is the accuracy, by bisection: confidence rises with it.

    >>> margins = np.array([0.5, 1.0, 2.0])
    >>> float((1 / (1 + np.exp(-_scale(margins, 0.9) * margins))).mean().round(3))
    0.9
    """
    low, high = 1e-6, 1e6
    for _ in range(100):
        middle = float(np.sqrt(low * high))
        sure = float((1.0 / (1.0 + np.exp(-np.minimum(middle * margins, 500.0)))).mean())
        low, high = (middle, high) if sure < accuracy else (low, middle)
    return float(np.sqrt(low * high))


Span = tuple[int, int]


def planned(
    doubts: Floats, decided: Bools, sizes: Sequence[int], seconds: float, cost: CostModel, seed: int
) -> list[Span]:
    """The spans of a plan by cost and utility."""
    work = Planner(doubts, [Mode("check", cost)], list(sizes)).for_seconds(seconds).work
    return [(each.start, each.end) for each in work]


def least_sure(
    doubts: Floats, decided: Bools, sizes: Sequence[int], seconds: float, cost: CostModel, seed: int
) -> list[Span]:
    """The least sure positions, each extended to the nearest boundaries that are predicted, as the paper's baseline."""
    ends = np.cumsum(sizes)
    walls = np.union1d(np.flatnonzero(decided), np.concatenate([ends - 1, [-1]]))

    def unit(place: int) -> Span:
        after = int(np.searchsorted(walls, place))  # the first wall at or behind the position
        return int(walls[after - 1]) + 1, int(walls[after]) + 1

    return _in_time((unit(place) for place in np.argsort(-doubts, kind="stable").tolist()), doubts, seconds, cost)


def sentences(
    doubts: Floats, decided: Bools, sizes: Sequence[int], seconds: float, cost: CostModel, seed: int
) -> list[Span]:
    """Whole sentences, the least sure first."""
    units = _sentences(sizes)
    means = [-float(doubts[start:end].mean()) for start, end in units]
    return _in_time((units[k] for k in np.argsort(means, kind="stable").tolist()), doubts, seconds, cost)


def at_random(
    doubts: Floats, decided: Bools, sizes: Sequence[int], seconds: float, cost: CostModel, seed: int
) -> list[Span]:
    """Whole sentences in any order."""
    units = _sentences(sizes)
    order = np.random.default_rng(seed).permutation(len(units)).tolist()
    return _in_time((units[k] for k in order), doubts, seconds, cost)


def _sentences(sizes: Sequence[int]) -> list[Span]:
    ends = np.cumsum(sizes).tolist()
    return [(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def _in_time(units: Iterator[Span], doubts: Floats, seconds: float, cost: CostModel) -> list[Span]:
    """The first units that fit into the time; what is covered already is not shown twice."""
    covered = np.zeros(len(doubts), dtype=bool)
    found = []
    for start, end in units:
        if covered[start:end].any():
            continue
        spent = float(cost.seconds(segment_features([end - start], [1 - float(doubts[start:end].mean())]))[0])
        if spent > seconds:
            break
        seconds -= spent
        covered[start:end] = True
        found.append((start, end))
    return found


WAYS: dict[str, Callable[[Floats, Bools, Sequence[int], float, CostModel, int], list[Span]]] = {
    "plan": planned, "least sure positions with their words": least_sure, "least sure sentences": sentences,
    "random sentences": at_random,
}  # fmt: skip


def curve(
    source: Positions, held: Positions, pool: Positions, test: Positions, minutes: Sequence[float], cost: CostModel,
    seed: int,
) -> dict[str, list[float]]:  # fmt: skip
    """The accuracy on test text by way of choosing, before any work and after so many minutes."""
    before = Segmenter.fit([(source.features, source.boundary)], held, seed)
    doubts, decided = before.doubts(pool)
    found = {}
    for name, way in WAYS.items():
        scores = [before.accuracy(test)]
        for each in minutes:
            places = [
                k for start, end in way(doubts, decided, pool.sizes, 60 * each, cost, seed) for k in range(start, end)
            ]
            labelled = (pool.features[places], pool.boundary[places])
            parts = [(source.features, source.boundary), *([labelled] if places else [])]
            scores.append(Segmenter.fit(parts, held, seed).accuracy(test))
        found[name] = scores
    return found
