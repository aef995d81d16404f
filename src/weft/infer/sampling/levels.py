"""Annealed search for the best partition, flat or in levels, in rounds that can be stopped and resumed.

    temperature of round r = start (end / start)^(r / (rounds - 1))

Levels are partitions, each a coarsening of the one below, with falling biases: sub-entities, entities and
super-entities in the hierarchical model of Singh et al. (2011), or several thresholds of one run. The items of a level
are the clusters of the level below (`Items.united`), so that whole blocks move at once. A round samples each level in
turn and holds the others fixed: items of a level move between the clusters that the level above keeps together; on the
top level, between the clusters that keys drawn for the round bring together.

All random numbers follow from the seed and the number of the round: a search that resumes from a checkpoint ends in the
same state as one that was never stopped, with any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Ints, Keys
from weft.declared import Array, Stored
from weft.errors import ConfigError, InferenceError
from weft.headers import Many, Named, Real, Record, Whole
from weft.infer.sampling.items import Items, Union, canonical, check_labels
from weft.infer.sampling.placement import random_keys
from weft.infer.sampling.rounds import sample_round

#: The keys of all items for a round: its number and a generator of its own are given.
KeysOf = Callable[[int, np.random.Generator], Keys]
#: The largest score.
_MOST = 1e300
#: The header of a checkpoint.
HEADER = Record(
    round=Whole(), proposals=Whole(0, 2**62), seed=Whole(0, 2**62), items=Whole(), levels=Whole(1, 1000),
    trace=Many(Named(Real(-_MOST, _MOST))), highest=Real(-_MOST, _MOST), scores=Many(Real(-_MOST, _MOST)),
)  # fmt: skip


@dataclass(frozen=True)
class Annealing:
    """How many rounds there are, and how the temperature falls from the first to the last.

    >>> [round(Annealing(rounds=3, start=1.0, end=0.01).temperature(r), 2) for r in range(3)]
    [1.0, 0.1, 0.01]
    """

    rounds: int = 20
    start: float = 1.0
    end: float = 0.01

    def __post_init__(self) -> None:
        if self.rounds < 1 or not 0 < self.end <= self.start:
            raise ConfigError(
                f"annealing needs at least one round and temperatures that fall and stay above 0, got {self.rounds} "
                f"rounds from {self.start} to {self.end}"
            )

    def temperature(self, round: int) -> float:
        """The temperature of a round, counted from 0; later rounds have the last one."""
        if self.rounds == 1:
            return self.end
        return float(self.start * (self.end / self.start) ** (min(round, self.rounds - 1) / (self.rounds - 1)))


@dataclass(frozen=True)
class Level:
    """The bias of a level, and how a cluster of the level below stands for its items."""

    bias: float
    union: Union = "pairs"


@dataclass
class Search:
    """A search over the partitions of items; `step` runs one round, `run` all that are left.

    `labels` has one partition per level, the finest first, and `best` those of the round with the highest score.

    >>> items = Items.from_rows([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> search = Search(items, [Level(0.5)], annealing=Annealing(5))
    >>> search.run()
    >>> search.best[0].tolist(), [round(row["best"], 2) for row in search.trace][-1]
    ([0, 0, 2, 2], 1.6)
    """

    items: Items
    levels: Sequence[Level]
    annealing: Annealing = field(default_factory=Annealing)
    keys: KeysOf | None = None  # all items have one key if not given
    seed: int = 0
    reach: int = 20
    share: float = 0.0
    workers: int = 1
    client: Any = None
    start: Sequence[ArrayLike] | None = None  # every item alone if not given
    round: int = 0
    trace: list[dict[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.items)
        biases = [level.bias for level in self.levels]
        if not biases or any(below < above for below, above in pairwise(biases)):
            raise ConfigError(f"levels need biases that fall from the finest to the coarsest, got {biases}")
        start = [np.arange(n)] * len(biases) if self.start is None else self.start
        self.labels = [canonical(check_labels(each, n)) for each in start]
        check_nested(self.labels)
        self.scores = [self._score(k) for k in range(len(biases))]
        self.best, self.highest = list(self.labels), sum(self.scores)
        self.proposals = 0

    def run(self, watch: Callable[[Search], None] | None = None) -> None:
        """All rounds that are left; `watch` is called after each, for instance to write a checkpoint."""
        while self.round < self.annealing.rounds:
            self.step()
            if watch is not None:
                watch(self)

    def step(self) -> None:
        """One round: each level in turn, the finest first."""
        tau = self.annealing.temperature(self.round)
        accepted, better = 0, False
        for k in range(len(self.levels)):
            accepted += self._sample_level(k, tau)
        for k, level in enumerate(self.levels):
            if level.union == "cosine":
                self.scores[k] = self._score(k)
        score = sum(self.scores)
        if score > self.highest:
            self.best, self.highest, better = list(self.labels), score, True
        if len(self.levels) == 1 and self._flat_best[1] > self.highest:
            self.best, self.highest, better = [self._flat_best[0]], self._flat_best[1], True
        self.round += 1
        self.trace.append({
            "round": self.round, "temperature": tau, "score": score, "best": self.highest, "better": float(better),
            "proposals": self.proposals, "accepted": accepted, "clusters": _count(self.labels[-1]),
        })  # fmt: skip

    def _units(self, k: int) -> tuple[Items, Ints]:
        """The items of a level and, for every item of all, its number among them."""
        if k == 0:
            return self.items, np.arange(len(self.items))
        return self.items.united(self.labels[k - 1], self.levels[k].union)

    def _score(self, k: int) -> float:
        """The score of a level's partition over pairs of items, whatever its units are."""
        return self.items.score(self.labels[k], self.levels[k].bias)

    def _sample_level(self, k: int, tau: float) -> int:
        """Sample one level, the others fixed; the number of accepted proposals."""
        units, number = self._units(k)
        random = np.random.default_rng([self.seed, self.round, k])
        if k + 1 < len(self.levels):
            keys = self.labels[k + 1].astype(np.uint64)
        else:
            keys = np.zeros(len(self.items), dtype=np.uint64) if self.keys is None else self.keys(self.round, random)
        member = np.zeros(len(units), dtype=np.int64)
        order = random.permutation(len(number))
        member[number[order]] = order  # a random item of each unit lends it its key
        done = sample_round(
            units, _of_units(self.labels[k], number), keys[member], self.levels[k].bias, tau,
            seed=int(random.integers(1 << 62)), reach=self.reach, share=self.share, workers=self.workers,
            client=self.client,
        )  # fmt: skip
        if len(self.levels) == 1:
            self._flat_best = done.best, self.scores[0] + done.best_change
        self.labels[k] = canonical(done.labels[number])
        self.scores[k] += done.change
        self.proposals += done.proposals
        return done.accepted

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All that resuming needs: a header for JSON, and arrays."""
        header = {
            "round": self.round, "proposals": self.proposals, "seed": self.seed, "items": len(self.items),
            "levels": len(self.levels), "trace": self.trace, "highest": self.highest, "scores": self.scores,
        }  # fmt: skip
        arrays = {f"labels{k}": each.astype(np.int32) for k, each in enumerate(self.labels)}
        return header, {**arrays, **{f"best{k}": each.astype(np.int32) for k, each in enumerate(self.best)}}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Go on from a `state` of a search with the same items, levels and seed."""
        n, levels = len(self.items), len(self.levels)
        HEADER.check(dict(header))
        if (header["items"], header["levels"], header["seed"]) != (n, levels, self.seed):
            raise InferenceError("the checkpoint belongs to a search with other items, levels or another seed")
        stored = Stored.of(dict(arrays))
        labels, best = ([f"{name}{k}" for k in range(levels)] for name in ("labels", "best"))
        taken = stored.take(*(Array(name, "int32", (n,), below=n) for name in [*labels, *best]))
        stored.refuse_rest()
        self.labels = [_partition(taken[name]) for name in labels]
        self.best = [_partition(taken[name]) for name in best]
        check_nested(self.labels)
        check_nested(self.best)
        self.round, self.proposals = header["round"], header["proposals"]
        self.trace = [dict(row) for row in header["trace"]]
        self.highest, self.scores = float(header["highest"]), [float(score) for score in header["scores"]]


def spread(n: int, groups: int) -> KeysOf:
    """Keys that place every cluster in one of so many groups at random, anew every round.

    >>> sorted(set(spread(100, 3)(0, np.random.default_rng(0)).tolist()))
    [0, 1, 2]
    """
    return lambda round, random: random_keys(n, groups, random)


def check_nested(labels: Sequence[Ints]) -> None:
    """Raise unless every partition is a coarsening of the one before."""
    for fine, coarse in pairwise(labels):
        if np.any(coarse[fine] != coarse):
            raise InferenceError("each level must be a coarsening of the one below: a cluster lies in several clusters")


def _of_units(labels: Ints, number: Ints) -> Ints:
    """A partition of items as one of the units that they are in."""
    first = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    first[number] = labels
    return canonical(first)


def _partition(labels: Any) -> Ints:
    """Labels of a checkpoint, refused unless each is that of the first item of its cluster."""
    array = labels.astype(np.int64)
    if np.any(canonical(array) != array):
        raise InferenceError("the checkpoint does not hold a partition; start the search anew")
    return array


def _count(labels: Ints) -> int:
    return int(np.count_nonzero(labels == np.arange(len(labels))))
