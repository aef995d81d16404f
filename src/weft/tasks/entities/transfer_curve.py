"""How many labelled words of a language match the quality of transfer from other languages.

For growing samples of labelled target sentences, counted in words, five systems are trained and scored:

    target                  labelled target sentences alone
    single, multi           with the first source language; with all of them
    single+self, multi+self the same, self-trained with native clusters

The crossing point is the number of words at which `target` reaches the best system without labelled target words.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.evaluate.counts import Counts
from weft.evaluate.curves import CurveRow, curve_points, size_to_reach
from weft.evaluate.labels.spans import conlleval
from weft.progress import progress
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.entities.transfer_data import TransferData
from weft.text.doc import Doc

SYSTEMS = ("target", "single", "multi", "single+self", "multi+self")


@dataclass(frozen=True)
class TransferCurve:
    """Runs of all systems by the number of labelled words, and the point where labels alone match transfer."""

    rows: dict[str, list[CurveRow]]
    best: str  # the best system without labels
    best_score: float
    crossing: float | None  # in words; None: beyond the sizes tried
    counts: dict[str, dict[int, list[Counts]]] = field(default_factory=dict)  # by system and size, one per seed

    def as_dict(self) -> dict[str, object]:
        """Plain values: mean F1 by system and number of words."""
        curves = {
            name: {str(point.size): point.mean for point in curve_points(rows)} for name, rows in self.rows.items()
        }
        return {"f1": curves, "best": self.best, "best_f1": self.best_score, "crossing": self.crossing}

    def __str__(self) -> str:
        sizes = sorted({row.size for rows in self.rows.values() for row in rows})
        lines = ["  words" + "".join(f"{name:>13}" for name in self.rows)]
        means = {name: {point.size: point.mean for point in curve_points(rows)} for name, rows in self.rows.items()}
        for size in sizes:
            shown = [f"{100 * curve[size]:>13.2f}" if size in curve else " " * 13 for curve in means.values()]
            lines.append(f"{size:>7,}" + "".join(shown))
        reach = (
            "not reached with the words given" if self.crossing is None else f"reached with {self.crossing:,.0f} words"
        )
        lines.append(f"{self.best} without labelled words ({100 * self.best_score:.2f}): {reach}")
        return "\n".join(lines)


def transfer_curve(
    data: TransferData,
    test: Sequence[Doc],
    sizes: Sequence[int],
    seeds: Sequence[int] = (0,),
    systems: Sequence[str] = SYSTEMS,
    rounds: int | None = None,
) -> TransferCurve:
    """Train all systems on samples of the labelled sentences with about these numbers of words; 0 is always included.

    Sentences are shuffled once per seed, so smaller samples are contained in larger ones. A self-trained system
    continues from the plain system on the same sentences if both are requested; its time covers self-training alone.
    """
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise ConfigError(f"there is no system {unknown[0]!r}; there are {', '.join(SYSTEMS)}")
    if not data.labelled:
        raise DataError("a learning curve needs labelled sentences of the target language")
    if min(sizes, default=0) < 0:
        raise ConfigError(f"sizes are numbers of words and must be at least 0, got {min(sizes)}")
    lengths = np.diff(data.batch("").sentences)
    steps = sorted({0, *(min(size, int(lengths.sum())) for size in sizes)})
    rows: dict[str, list[CurveRow]] = {name: [] for name in systems}
    counts: dict[str, dict[int, list[Counts]]] = {name: {} for name in systems}
    with progress("learning curve", total=len(seeds) * len(steps) * len(systems), unit="runs") as bar:
        for seed in seeds:
            order = np.random.default_rng(seed).permutation(len(lengths))
            ends = np.cumsum(lengths[order])
            for step in steps:
                chosen = np.sort(order[: int(np.searchsorted(ends, step, side="left")) + 1] if step else order[:0])
                plain: dict[str, Floats] = {}
                for name in systems:
                    if step or name != "target":
                        started = time.perf_counter()
                        run = _run(data, test, name, chosen.tolist(), seed, rounds, plain)
                        counts[name].setdefault(step, []).append(run)
                        rows[name].append(CurveRow(step, seed, run.total().f1, time.perf_counter() - started))
                    bar.advance()
    free = {name: curve_points(run)[0].mean for name, run in rows.items() if name != "target"}
    best = max(free, key=lambda name: free[name]) if free else ""
    crossing = size_to_reach(rows["target"], free[best]) if free and rows.get("target") else None
    return TransferCurve(rows, best, free.get(best, 0.0), crossing, counts)


def score_labels(data: TransferData, weights: Floats, test: Sequence[Doc], native: bool = True) -> Counts:
    """Counts of correct, predicted and gold names of the kept types per sentence of test documents, as conlleval counts
    them."""
    gold_of = EntityRecognizer(EntitySettings(layer=data.settings.layer, scheme="IO"))
    known = {f"I-{kept}" for kept in data.types.types}
    gold = [label if label in known else "O" for doc in test for label in gold_of.gold(doc)]
    predicted, _ = data.predict(weights, test, native)
    ends = np.cumsum([len(labels) for labels in predicted]).tolist()
    return conlleval([gold[end - len(own) : end] for own, end in zip(predicted, ends, strict=True)], predicted).counts


def _run(
    data: TransferData,
    test: Sequence[Doc],
    name: str,
    chosen: list[int],
    seed: int,
    rounds: int | None,
    plain: dict[str, Floats],
) -> Counts:
    """Train and score one system; `plain` caches the weights before self-training."""
    kind, _, adapted = name.partition("+")
    sources = {"target": [], "single": list(data.sources)[:1], "multi": list(data.sources)}[kind]
    outcome = data.train(sources, labelled=chosen, rounds=rounds if adapted else 0, seed=seed, first=plain.get(kind))
    plain[kind] = outcome.first
    return score_labels(data, outcome.model, test)
