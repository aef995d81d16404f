"""The perceptron for transition systems, epoch by epoch: order of sentences, room in the tables, mean weights."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.errors import ConfigError, DataError
from weft.infer.transitions.beam import new_beam
from weft.infer.transitions.model import TransitionParser
from weft.infer.transitions.scoring import Model
from weft.infer.transitions.state import G_WIDTH, Table, new_state
from weft.infer.transitions.weights import (
    CELLS_A_CHANGE,
    LARGEST,
    grow_narrow,
    grow_wide,
    largest_mean,
    mix_narrow,
    mix_wide,
    new_narrow,
    new_wide,
    pack_narrow,
    pack_wide,
)
from weft.learn.transitions.beam import NEEDED, UPDATES, train_with_beam
from weft.learn.transitions.plain import train_plainly
from weft.learn.transitions.training import ORACLES, STEPS, WRONG, train_greedily
from weft.storage import Arrays

#: Finest step of mean weights: they are kept as multiples of this part of one.
FINEST = 64.0


class Treebank(NamedTuple):
    """Sentences to learn from: rows of values of ROOT and the words, offsets, heads and numbers of labels."""

    words: Keys
    sentences: NDArray[np.int64]
    heads: Table
    labels: Table


@dataclass(frozen=True)
class Epoch:
    """Statistics of an epoch."""

    number: int
    steps: int
    wrong: int
    seconds: float
    score: float | None = None  # on held-out data


@dataclass(frozen=True)
class TransitionLearner:
    """Options of training; `k` and `p` are those of exploring: from epoch k + 1 on, with probability p.

    With a `beam` the perceptron learns from whole computations, at the step that `update` says (early, max-violation);
    the oracle then tells which computations are correct, and nothing is explored. With `score`, which is asked after
    every epoch for that of a parser of the mean weights so far, the first of the best parsers is kept, else the last.
    With several `runs`, each in orders of its own, the mean of their weights is kept: linear models that were averaged
    score as their average does, which makes up for the luck of a single order. With a `margin`, training without a beam
    also corrects decisions that are right but close: one such run is about as accurate as the mean of several without.
    """

    epochs: int = 10
    oracle: str = "dynamic"
    k: int = 1
    p: float = 0.9
    seed: int = 0
    single_root: bool = True
    beam: int = 1
    update: str = "max-violation"
    by_mean: bool = False
    prune: float = 0.5  # smaller mean weights, less than half of one correction, are left out
    runs: int = 1
    margin: int = 0  # greedy training also corrects where the best wrong action comes nearer than this

    def fit(
        self,
        parser: TransitionParser,
        treebank: Treebank,
        keep: NDArray[np.int64],
        score: Callable[[TransitionParser], float] | None = None,
        beside: Callable[[int], None] | None = None,
    ) -> tuple[TransitionParser, list[Epoch]]:
        """Learn from the sentences `keep`; the trained parser, and the statistics of its epochs.

        `beside` is called with the number of every sentence right before the parser learns from it: a tagger that
        learns at the same time changes its rows of `words`.
        """
        self.check(parser)
        if not len(keep):
            raise DataError("there is nothing to train on: no sentence with a tree that the parser can build")
        found = [self._run(run, parser, treebank, keep, score, beside) for run in range(self.runs)]
        history = [epoch for _, epochs in found for epoch in epochs]
        return _mixed(parser, [best for best, _ in found], self.prune), history

    def _run(
        self,
        run: int,
        parser: TransitionParser,
        treebank: Treebank,
        keep: NDArray[np.int64],
        score: Callable[[TransitionParser], float] | None,
        beside: Callable[[int], None] | None,
    ) -> tuple[_Means, list[Epoch]]:
        """One run: the mean weights of its best or last epoch, and what the epochs came to."""
        system = parser.system
        longest = int(np.diff(treebank.sentences).max())
        columns = parser.model.labels.lines.shape[1]
        model = parser.model._replace(moves=new_narrow(), labels=new_wide(columns))
        rng = np.random.default_rng((self.seed, run) if run else self.seed)
        random = rng.integers(0, 2**63, 1).astype(np.uint64)
        clock, room = np.zeros(1), parser.new_scratch()
        state, gold = new_state(longest), np.zeros((longest + 2, G_WIDTH), dtype=np.int32)
        cache = parser.new_cache(longest)
        # Training may only meet what it costs nothing to avoid: arc-eager needs its freedom, see `arc_eager`.
        single_root = self.single_root and not system.root_last
        widths = self.beam, 1 if self.oracle == "static" else self.beam
        beams = [new_beam(width, longest, system.most_steps(longest)) for width in widths]
        history: list[Epoch] = []
        highest = -np.inf
        for number in range(1, self.epochs + 1):
            started = time.process_time()
            order, counts, at, told = rng.permutation(keep), np.zeros(3, dtype=np.int64), 0, -1
            while at < len(order):
                if beside is None:
                    part = order
                else:  # one sentence at a time, and again without a word to `beside` if a table was full
                    part = order[: at + 1]
                    if at > told:
                        beside(int(order[at]))
                        told = at
                if self.beam > 1:
                    at = train_with_beam(
                        system.number, model, treebank.words, treebank.sentences, treebank.heads, treebank.labels,
                        part, at, self.oracle == "static", UPDATES[self.update], single_root, self.by_mean,
                        room, beams[0], beams[1], state, gold, counts, clock,
                    )  # fmt: skip
                    if at < len(part):
                        model = _roomier(model, int(counts[NEEDED]))
                    continue
                explore = self.p if number > self.k else 0.0
                if system.plain is not None:
                    at = train_plainly(
                        model, system.plain, treebank.words, treebank.sentences, treebank.heads, treebank.labels,
                        part, at, ORACLES[self.oracle], explore, single_root, random, room, counts, clock,
                    )  # fmt: skip
                    if at < len(part):
                        model = _roomier(model, 16 * len(model.program.seeds))
                    continue
                at = train_greedily(
                    system.number, model, treebank.words, treebank.sentences, treebank.heads, treebank.labels, part,
                    at, ORACLES[self.oracle], system.stays, explore, self.margin, single_root, random,
                    room, state, gold, cache, counts, clock,
                )  # fmt: skip
                if at < len(part):
                    model = _roomier(model, 16 * len(model.program.seeds))
            wrong = int(counts[WRONG])
            seconds = time.process_time() - started
            found = None
            if score is not None or number == self.epochs:
                now = _means(model, float(clock[0]))
                found = None if score is None else score(_mixed(parser, [now], self.prune))
                if found is None or found > highest:
                    best, highest = now, found or 0.0
            history.append(Epoch(number, int(counts[STEPS]), wrong, seconds, found))
        return best, history

    def check(self, parser: TransitionParser) -> None:
        """Reject invalid combinations of options."""
        if self.oracle not in ORACLES:
            raise ConfigError(f"unknown oracle {self.oracle!r}; the oracles are: {', '.join(ORACLES)}")
        if self.update not in UPDATES:
            raise ConfigError(f"unknown update {self.update!r}; the updates are: {', '.join(UPDATES)}")
        parser.check_beam(self.beam)
        if self.prune < 0 or self.runs < 1:
            raise ConfigError(f"prune >= 0 and runs >= 1 needed, got {self.prune} and {self.runs}")
        if self.margin < 0:
            raise ConfigError(f"margin must be at least 0, got {self.margin}")
        if self.epochs < 1 or self.k < 0 or not 0 <= self.p <= 1:
            raise ConfigError(f"epochs >= 1, k >= 0 and 0 <= p <= 1 needed, got {self.epochs}, {self.k} and {self.p}")


def best_epoch(history: list[Epoch]) -> Epoch:
    """The first epoch with the best score."""
    return max(history, key=lambda epoch: -np.inf if epoch.score is None else epoch.score)


def _roomier(model: Model, changes: int) -> Model:
    return model._replace(
        moves=grow_narrow(model.moves, changes),
        labels=grow_wide(model.labels, changes, CELLS_A_CHANGE * changes, changes),
    )


class _Means(NamedTuple):
    """Packed mean weights, as multiples of 1 / scale."""

    moves: Arrays
    labels: Arrays
    scale: float


def _means(model: Model, clock: float) -> _Means:
    scale = min(FINEST, LARGEST / max(1.0, largest_mean(model.moves, model.labels, clock)))
    return _Means(pack_narrow(model.moves, clock, scale), pack_wide(model.labels, clock, scale), scale)


def _mixed(parser: TransitionParser, runs: list[_Means], least: float) -> TransitionParser:
    """The parser with the mean weights of runs."""
    scale = min(run.scale for run in runs)
    for i, run in enumerate(runs):
        if run.scale != scale:
            moves, labels = (
                {**table, "weights": np.rint(table["weights"] * (scale / run.scale)).astype(np.int16)}
                for table in (run.moves, run.labels)
            )
            runs[i] = _Means(moves, labels, scale)
    bound = round(least * scale)
    return parser.with_weights(
        mix_narrow([run.moves for run in runs], bound), mix_wide([run.labels for run in runs], bound)
    )
