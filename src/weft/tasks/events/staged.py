"""The baseline in two stages: a maximum-entropy classifier of words, then one of roles for every predicted trigger.

Both see the same local features as the joint search. Roles are learned from gold triggers; the classes are the columns
of the role table, so that they may depend on the type of the event, and only those that the table allows compete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Halves, Ints
from weft.infer.slots.problem import Batch, Labels, Roles, Table
from weft.learn.linear.classifiers import LinearClassifier, logistic_regression


@dataclass
class Classifier:
    """A classifier over hashed features."""

    keys: Halves
    linear: LinearClassifier

    @classmethod
    def fit(cls, keys: Halves, offsets: Ints, chosen: Ints, classes: Ints, c: float, rare: int) -> Classifier:
        """Learn the classes of chosen rows; features of `rare` rows or fewer are left out."""
        taken, starts = _rows(keys, offsets, chosen)
        names, counts = np.unique(taken, return_counts=True)
        names = names[(counts > rare) & (names > 0)]
        rows = _matrix(names, taken, starts)
        linear = logistic_regression(rows, classes, c=c, tolerance=1e-3, max_iterations=100)
        return cls(names, linear)

    def scores(self, keys: Halves, offsets: Ints, chosen: Ints) -> NDArray[np.float64]:
        """Scores of the classes for chosen rows."""
        return self.linear.scores(_matrix(self.keys, *_rows(keys, offsets, chosen)))


@dataclass
class StagedModel:
    """Two classifiers."""

    triggers: Classifier
    roles: Classifier | None

    @classmethod
    def fit(
        cls, batch: Batch, table: Table, labels: Labels, roles: Roles, c: float = 1.0, rare: int = 1
    ) -> StagedModel:
        """Learn from gold labels and gold roles."""
        every = np.arange(len(labels))
        triggers = Classifier.fit(batch.label_keys, batch.label_offsets, every, labels.astype(np.int64), c, rare)
        chosen, columns = [], []
        for cell, label, kind in _cells(batch, table, labels):
            chosen.append(cell)
            columns.append(int(table.columns[label, kind, roles[cell]]))
        if len(set(columns)) < 2:
            return cls(triggers, None)
        own = np.array(chosen), np.array(columns)
        return cls(triggers, Classifier.fit(batch.cell_keys, batch.cell_offsets, own[0], own[1], c, rare))

    def predict(self, batch: Batch, table: Table) -> tuple[Labels, Roles]:
        """Labels of all positions and roles of all slots."""
        every = np.arange(int(batch.positions[-1]))
        labels = np.zeros(len(every), np.int16)
        if len(every):
            found = self.triggers.scores(batch.label_keys, batch.label_offsets, every).argmax(axis=1)
            labels = self.triggers.linear.labels[found].astype(np.int16)
        roles = np.zeros(int(batch.cells[-1]), np.int16)
        cells = _cells(batch, table, labels)
        if self.roles is not None and cells:
            scores = self.roles.scores(batch.cell_keys, batch.cell_offsets, np.array([cell for cell, _, _ in cells]))
            place = {int(column): at for at, column in enumerate(self.roles.linear.labels.tolist())}
            for (cell, label, kind), row in zip(cells, scores, strict=True):
                open_ = [(row[place[c]], role) for role, c in enumerate(table.columns[label, kind].tolist())
                         if c in place]  # fmt: skip
                roles[cell] = max(open_)[1] if open_ else 0
        return labels, roles


def _cells(batch: Batch, table: Table, labels: Labels) -> list[tuple[int, int, int]]:
    """The slots of labelled positions that have a choice, with the label and the type of the candidate."""
    found = []
    for number in range(len(batch.positions) - 1):
        first, end = int(batch.positions[number]), int(batch.positions[number + 1])
        m = int(batch.candidates[number + 1] - batch.candidates[number])
        width = m + (end - first if batch.nested else 0)
        for at in (np.flatnonzero(labels[first:end] > 0)).tolist():
            label = int(labels[first + at])
            for k in range(width):
                other = int(labels[first + k - m]) if k >= m else 0
                kind = int(batch.types[int(batch.candidates[number]) + k]) if k < m else table.types + other
                if (k < m or (other > 0 and k - m != at)) and table.columns[label, kind, 0] >= 0:
                    found.append((int(batch.cells[number]) + at * width + k, label, kind))
    return found


def _rows(keys: Halves, offsets: Ints, chosen: Ints) -> tuple[Halves, Ints]:
    lengths = offsets[chosen + 1] - offsets[chosen]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    inside = np.arange(int(starts[-1])) - np.repeat(starts[:-1], lengths)
    return keys[np.repeat(offsets[chosen], lengths) + inside], starts


def _matrix(names: Halves, keys: Halves, starts: Ints) -> Any:
    from scipy.sparse import csr_matrix

    places = np.minimum(np.searchsorted(names, keys), max(0, len(names) - 1))
    known: Bools = names[places] == keys if len(names) else np.zeros(len(keys), np.bool_)
    ends = np.concatenate([[0], np.cumsum(known)])[starts]
    rows = csr_matrix((np.ones(int(known.sum())), places[known], ends), shape=(len(starts) - 1, len(names)))
    rows.sum_duplicates()
    return rows
