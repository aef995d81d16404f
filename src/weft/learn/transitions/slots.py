"""The averaged perceptron on the beam over slots (Collins and Roark 2004; Huang, Fayong and Guo 2012).

    w <- w + f(x, gold[1:j]) - f(x, z[1:j])

*early*: at the first slot j at which gold falls off the beam. *violation*: where the best beginning z is farthest above
gold. *standard*: at the end, even if gold fell off on the way. An update is **invalid** if gold already scores higher
than z: there is no violation to mend. Early and largest-violation updates are never invalid; the trainer counts all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Halves, Ints
from weft.deadline import check
from weft.infer.slots.beam import _search, structure_score
from weft.infer.slots.features import room_for, sentence_at
from weft.infer.slots.problem import Batch, Labels, Roles, Table, Weights, sizes_of
from weft.infer.slots.weights import averaged, grown, new_rows, rows_of
from weft.kernel import kernel

UPDATES = ("early", "violation", "standard")
Averages = list[tuple[Halves, NDArray[np.float32]]]


@dataclass
class EpochReport:
    """Updates of an epoch, how many were invalid, and how many sentences are right without one."""

    updates: int = 0
    invalid: int = 0
    right: int = 0

    @property
    def rate(self) -> float:
        """The share of updates that were invalid."""
        return self.invalid / max(1, self.updates)


@dataclass
class SlotTrainer:
    """Trains weights on a batch with gold structures.

    After every epoch `after` gets its number and may return False to stop.
    """

    width: int = 4
    update: str = "early"
    epochs: int = 20
    use_global: bool = True
    seed: int = 0
    reports: list[EpochReport] = field(default_factory=list)

    def fit(
        self, batch: Batch, table: Table, gold_labels: Labels, gold_roles: Roles,
        after: Callable[[int, Weights], bool] | None = None,
    ) -> Weights:  # fmt: skip
        """Weights to score with, the means over all steps; `after` sees those of every epoch."""
        count = len(batch.positions) - 1
        weights = Weights(
            new_rows(table.label_width), new_rows(table.role_width), new_rows(1), np.zeros(2), int(self.use_global)
        )
        random = np.random.default_rng(self.seed)
        order = np.arange(count)
        clock = np.ones(1)
        self.reports = []
        for epoch in range(self.epochs):
            random.shuffle(order)
            counts = np.zeros(3, np.int64)
            done = 0
            needs = np.zeros(3, np.int64)
            while True:
                check()
                end = min(count, done + 500)
                done = _train(
                    batch, table, weights, gold_labels, gold_roles, order, done, end, self.width,
                    UPDATES.index(self.update), *sizes_of(batch), clock, counts, needs,
                )  # fmt: skip
                if done >= count:
                    break
                if done < end:
                    weights = weights._replace(
                        labels=grown(weights.labels, int(needs[0])),
                        roles=grown(weights.roles, int(needs[1])),
                        whole=grown(weights.whole, int(needs[2])),
                    )
            self.reports.append(EpochReport(*counts.tolist()))
            mean = self._mean(weights, float(clock[0])) if after is not None else None
            if after is not None and mean is not None and not after(epoch, mean):
                return mean
            if self.reports[-1].updates == 0:
                break
        return self._mean(weights, float(clock[0]))

    def _mean(self, weights: Weights, clock: float) -> Weights:
        parts = [rows_of(*averaged(rows, clock)) for rows in (weights.labels, weights.roles, weights.whole)]
        return weights._replace(labels=parts[0], roles=parts[1], whole=parts[2])


@kernel
def _needs(
    batch: Batch, table: Table, number: int, labels: Labels, roles: Roles, gold_labels: Labels, gold_roles: Roles,
    needs: Ints,
) -> None:  # fmt: skip
    """How many rows an update may add to each table, at most."""
    at = sentence_at(batch, number)
    filled = 0
    for i in range(at.size):
        filled += (1 if labels[i] > 0 else 0) + (1 if gold_labels[i] > 0 else 0)
        for k in range(at.width):
            filled += (1 if roles[i, k] > 0 else 0) + (1 if gold_roles[i, k] > 0 else 0)
    contexts = batch.links.shape[1] + batch.joints.shape[1]
    needs[0] = batch.label_offsets[at.first + at.size] - batch.label_offsets[at.first]
    needs[1] = batch.cell_offsets[at.cell + at.size * at.width] - batch.cell_offsets[at.cell]
    needs[2] = filled * room_for(at.size, at.width, contexts, table.columns.shape[2])


@kernel
def _train(
    batch: Batch, table: Table, weights: Weights, gold_labels: Labels, gold_roles: Roles, order: Ints, first: int,
    end: int, width: int, mode: int, positions: int, slots: int, clock: Floats, counts: Ints, needs: Ints,
) -> int:  # fmt: skip
    """Train on sentences in order; gives the first that was not done, because a table is full."""
    labels = np.zeros((2, width + 1, positions), np.int16)
    roles = np.zeros((2, width + 1, positions, slots), np.int16)
    scores, told = np.zeros((2, width + 1)), np.zeros(4)
    gold, gold_cells = np.zeros(positions, np.int16), np.zeros((positions, slots), np.int16)
    mine, theirs = np.zeros(positions, np.int16), np.zeros((positions, slots), np.int16)
    part, part_cells = np.zeros(positions, np.int16), np.zeros((positions, slots), np.int16)
    for place in range(first, end):
        number = order[place]
        at = sentence_at(batch, number)
        for i in range(at.size):
            gold[i] = gold_labels[at.first + i]
            for k in range(at.width):
                gold_cells[i, k] = gold_roles[at.cell + i * at.width + k]
        _search(
            batch, number, table, weights, width, gold, gold_cells, mode, labels, roles, scores, mine, theirs, part,
            part_cells, told,
        )  # fmt: skip
        if told[3] > 0.0:
            counts[2] += 1
        else:
            _needs(batch, table, number, mine, theirs, part, part_cells, needs)
            if (
                weights.labels.size[0] + needs[0] > len(weights.labels.values)
                or weights.roles.size[0] + needs[1] > len(weights.roles.values)
                or weights.whole.size[0] + needs[2] > len(weights.whole.values)
            ):
                return place
            counts[0] += 1
            counts[1] += 1 if told[1] > told[0] else 0
            structure_score(batch, number, table, weights, part, part_cells, 1.0, clock[0])
            structure_score(batch, number, table, weights, mine, theirs, -1.0, clock[0])
        clock[0] += 1.0
    return end
