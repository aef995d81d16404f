"""Clustering English novels: time to read, to count word pairs, and to train clusters.

The text is 100 novels, 11 million words, split into words by rule; words that occur at least three times are
clustered. Times are CPU seconds on one core, except in the rows of shards, which have wall-clock seconds with one
thread per shard. `objective` is F per running word under the method's own model: it is comparable only between rows of
the same method.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from weft.data import root
from weft.lexical.clusters.exchange import PredictiveModel
from weft.lexical.clusters.monolingual import class_counts, count_bigrams, exchange, likelihood
from weft.recipes.corpora.clusters import novels
from weft.recipes.framework import RecipeOptions

CLASSES = 256
BROWN_SWEEPS = 2


def run(n_words: int = 20_000_000, n_classes: int = CLASSES, with_brown: bool = True) -> dict[str, Any]:
    """Measure each step on the novels."""
    rows: list[dict[str, Any]] = []

    def add(what: str, seconds: float, rate: str, sweeps: int | None = None, objective: float | None = None) -> None:
        rows.append({"measured": what, "seconds": round(seconds, 1), "rate": rate, "sweeps": sweeps,
                     "objective": None if objective is None else round(objective, 4)})  # fmt: skip

    started = time.process_time()
    text = list(novels(RecipeOptions(data=root()), n_words))
    total = sum(map(len, text))
    seconds = time.process_time() - started
    add("read, split into words", seconds, f"{total / seconds:,.0f} words/s")
    started = time.process_time()
    words, _, bigrams = count_bigrams(text, 3)
    seconds = time.process_time() - started
    add("count pairs", seconds, f"{total / seconds:,.0f} words/s")
    del text
    model = PredictiveModel(bigrams, len(words))
    model.exchange(2, sweeps=1, shards=2)  # compiles
    for shards in (1, 2):
        clock = time.process_time if shards == 1 else time.perf_counter
        started = clock()
        found = model.exchange(n_classes, shards=shards, workers=shards)
        seconds = clock() - started
        name = "predictive, serial" if shards == 1 else f"predictive, {shards} shards on {shards} threads"
        add(name, seconds, f"{seconds / len(found.sweeps):.1f} s/sweep", len(found.sweeps),
            found.sweeps[-1].objective / total)  # fmt: skip
    if with_brown:
        exchange(np.array([[0, 0, 1]]), 1, 1, 1)  # compiles
        started = time.process_time()
        classes = exchange(bigrams, len(words), n_classes, BROWN_SWEEPS)
        seconds = time.process_time() - started
        add("class bigrams (Brown's objective)", seconds, f"{seconds / BROWN_SWEEPS:.1f} s/sweep", BROWN_SWEEPS,
            likelihood(class_counts(bigrams, classes, n_classes + 2)) / total)  # fmt: skip
    return {
        "title": f"Clustering {total / 1e6:.1f} million words into {n_classes} classes",
        "rows": rows,
        "types": len(words),
        "pairs of types": len(bigrams),
    }
