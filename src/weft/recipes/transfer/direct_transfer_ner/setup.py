"""Shared by the direct-transfer experiments: sizes, corpora with clusters, and counts over several samples.

F1 of a cell = mean over samples,   its interval: samples and test sentences are resampled (`weft.evaluate.runs`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Ints
from weft.evaluate.counts import Counts, f1
from weft.evaluate.runs import interval_over_runs, mean_over_runs
from weft.evaluate.significance import Comparison
from weft.lexical.clusters.pivot import SharedClusters
from weft.recipes.corpora.names import names, native_clusters, raw_text, sample, shared_clusters
from weft.recipes.framework import RecipeOptions, Table
from weft.tasks.entities.transfer_data import Languages, TransferData, TransferSettings
from weft.text.doc import Doc

LANGUAGES = ("en", "es", "nl", "de", "pt")
#: Languages whose corpora have MISC, too; English has no test file here.
WITH_MISC = ("en", "es", "nl")


@dataclass(frozen=True)
class Sizes:
    """Data sizes: sentences of every source, of the target text, of the test file; words of labelled text."""

    source: int = 4000
    text: int = 2000
    test: int | None = None  # all of them
    seeds: int = 3  # samples
    rounds: int = 3
    pairs: int = 4000
    targets: tuple[str, ...] = ("de", "es", "pt")
    apart: tuple[str, ...] = ("nl",)
    misc: tuple[str, ...] = ("es", "nl")  # targets with four types of names
    curve: tuple[str, ...] = ("es", "de")
    curve_source: int = 2000  # sentences of a source, and of the target's text, in learning curves
    curve_text: int = 1000
    words: tuple[int, ...] = (500, 2000, 8000, 16_000, 64_000)
    labelled: int = 2500  # sentences that labelled words are taken from
    supervised: int = 2000


QUICK = Sizes(source=200, text=150, test=200, seeds=1, rounds=2, pairs=0, targets=("es",), apart=(), misc=("es",),
              curve=("es",), curve_source=200, curve_text=150, words=(500, 4000), labelled=550,
              supervised=200)  # fmt: skip


@dataclass
class Material:
    """Corpora by language, English first, and clusters: shared by all, and native."""

    train: dict[str, Doc]
    clusters: SharedClusters
    native: dict[str, dict[str, str]]


def settings_of(sizes: Sizes) -> TransferSettings:
    """AdaGrad, two passes over the data at first and one per round.

    On dev files L-BFGS is 0.6 F1 better (`python bench/run.py choices`), but it takes three times as long.
    """
    return TransferSettings(learner="adagrad", self_train=sizes.rounds, epochs=2, retrain_epochs=1)


def load(options: RecipeOptions, sizes: Sizes) -> Material:
    """All training files, and the clusters."""
    texts = {code: raw_text(options, code) for code in LANGUAGES}
    clusters = shared_clusters(options, texts, sizes.pairs)
    wanted = {*sizes.targets, *sizes.apart, *sizes.misc, *sizes.curve}
    native = {code: native_clusters(texts[code]) for code in LANGUAGES if code in wanted}
    return Material({code: names(options, code, "train") for code in LANGUAGES}, clusters, native)


def data_of(
    material: Material, sizes: Sizes, target: str, seed: int, test: Doc, labelled: Doc | None = None,
    settings: TransferSettings | None = None,
) -> TransferData:  # fmt: skip
    """Samples of all sources and of the target text, under one index; English comes first."""
    sources = {code: [sample(doc, sizes.source, seed)] for code, doc in material.train.items() if code != target}
    text = sample(material.train[target], sizes.text, 1000 + seed, [test])
    own = [] if labelled is None else [labelled]
    languages = Languages(sources, [text], target, own, material.clusters.paths, material.native[target])
    return TransferData(settings or settings_of(sizes), languages)


@dataclass
class Samples:
    """Predicted, correct and gold names per test sentence, for every row and column of a table and every sample.

    >>> found = Samples(seed=0)
    >>> for right in ([1, 1], [1, 0]):
    ...     found.add("SINGLE", "es", Counts.of([1, 1], [1, 1], right))
    >>> found.mean("SINGLE", ["es"]), round(found.spread("SINGLE")["es"], 1)
    (75.0, 35.4)
    """

    seed: int
    counts: dict[str, dict[str, list[Counts]]] = field(default_factory=dict)

    def add(self, row: str, column: str, counts: Counts) -> None:
        """Add one sample."""
        self.counts.setdefault(row, {}).setdefault(column, []).append(counts)

    def mean(self, row: str, columns: Sequence[str]) -> float:
        """F1 in percent, the mean over samples and columns."""
        return float(np.mean([np.mean(self._f1(row, column)) for column in columns]))

    def spread(self, row: str) -> dict[str, float]:
        """The standard deviation of F1 over samples by column, if there are several."""
        found = {column: self._f1(row, column) for column in self.counts[row]}
        return {column: float(np.std(f1s, ddof=1)) for column, f1s in found.items() if len(f1s) > 1}

    def fill(self, table: Table, row: str, paper: dict[str, float], average: Sequence[str] = ()) -> None:
        """Add a row to a table, with intervals, the paper's numbers and the mean of some columns."""
        own = self.counts[row]
        ours = {column: self.mean(row, [column]) for column in own}
        if average and all(column in own for column in average):
            ours["average"] = self.mean(row, average)
        intervals = {}
        for column in own:
            around = interval_over_runs(self._rows(row, column), measure=f1, seed=self.seed)
            intervals[column] = (100 * around.low, 100 * around.high)
        table.add(row, ours, {c: value for c, value in paper.items() if c in table.columns}, intervals)

    def gain(self, one: str, other: str, columns: Sequence[str]) -> Comparison:
        """The gain of the first row, the mean over columns."""
        pairs = [(self._rows(one, column), self._rows(other, column)) for column in columns]
        return mean_over_runs(pairs, measure=f1, seed=self.seed)

    def _f1(self, row: str, column: str) -> list[float]:
        return [100 * counts.total().f1 for counts in self.counts[row][column]]

    def _rows(self, row: str, column: str) -> Ints:
        return np.stack([counts.rows for counts in self.counts[row][column]])
