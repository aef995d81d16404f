"""What is filled: positions with labels, candidates with roles, and the table of roles that each label allows.

    score(y) = sum_i W[f_i, y_i] + sum_{i, k: y_i > 0} A[f_ik, (y_i, r_ik)] + sum over global features g of y of V[g]

Position i gets a label y_i, 0 for none; candidate k of a labelled position gets a role r_ik, 0 for none. With *nested*
slots the labelled positions j are candidates as well, with slot number m + j after the m candidates of the sentence,
and their type is their label. A role is possible if the table has a column of weights for it.

Features are 32-bit keys, 0 for none. A batch has ragged rows, values plus offsets:

| array | of | what |
|---|---|---|
| `positions`, `candidates` | sentence | where its positions and candidates begin |
| `label_offsets`, `label_keys` | position | features of its label |
| `barred` | position | a label that it must not get, -1 for none |
| `types` | candidate | its type |
| `cells` | sentence | where its slots begin: positions times (candidates, and positions if nested) |
| `cell_offsets`, `cell_keys` | slot | features of its role |
| `squares`, `links`, `alike` | sentence; pairs of positions | contexts of two positions; whether they are alike |
| `blocks`, `joints`, `overlaps` | sentence; pairs of candidates | their contexts; how they overlap, 0: not |

A structure is a row of labels and a matrix of roles, [position, slot]; -1 is a slot that is not filled (yet), or that
has no choice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Halves, Ints
from weft.infer.slots.weights import Rows
from weft.kernel import inlined

Labels = NDArray[np.int16]
Roles = NDArray[np.int16]


class Table(NamedTuple):
    """Which roles candidates of a type may have under a label, as columns of weights, and how labels back off."""

    columns: NDArray[np.int32]  # [label, type, role]: -1 if impossible; types of labels follow those of candidates
    coarse: NDArray[np.int32]  # [label]: the column of its coarse label, -1 for none
    shared: NDArray[np.uint8]  # [role]: whether all labels share its weights
    types: int  # of candidates

    @property
    def labels(self) -> int:
        return int(self.columns.shape[0])

    @property
    def roles(self) -> int:
        return int(self.columns.shape[2])

    @property
    def label_width(self) -> int:
        """Columns of weights of labels."""
        return max(self.labels, int(self.coarse.max()) + 1)

    @property
    def role_width(self) -> int:
        """Columns of weights of roles."""
        return max(2, int(self.columns.max()) + 1)


def make_table(possible: NDArray[np.bool_], coarse: list[int], shared: list[bool]) -> Table:
    """A table from what is possible, [label, type, role], the coarse classes of labels and the shared roles.

    Types are those of candidates, followed by the labels themselves. Column 0 is that of no role, column 1 of any role.

    >>> possible = np.zeros((2, 3, 3), bool)
    >>> possible[1, 0, 1] = possible[1, 0, 2] = True
    >>> make_table(possible, [-1, 0], [False, True, False]).columns[1, 0].tolist()
    [0, 2, 3]
    """
    labels, types, _ = possible.shape
    columns = np.full(possible.shape, -1, np.int32)
    taken: dict[tuple[int, int], int] = {}
    for label, kind, role in zip(*map(list, possible.nonzero()), strict=True):
        if label > 0 and role > 0:
            name = (0, role) if shared[role] else (label, role)
            columns[label, kind, role] = taken.setdefault(name, 2 + len(taken))
            columns[label, kind, 0] = 0
    backing = np.array([labels + each if each >= 0 else -1 for each in coarse], np.int32)
    return Table(columns, backing, np.array(shared, np.uint8), types - labels)


class Batch(NamedTuple):
    """Sentences with the features of their slots."""

    positions: Ints
    candidates: Ints
    label_offsets: Ints
    label_keys: Halves
    barred: Labels  # by position a label that it must not get, -1 for none
    types: NDArray[np.int32]
    cells: Ints
    cell_offsets: Ints
    cell_keys: Halves
    squares: Ints
    links: Halves  # [pair of positions (later, earlier), context]
    alike: NDArray[np.uint8]
    blocks: Ints
    joints: Halves  # [pair of candidates (first, second), context]
    overlaps: NDArray[np.uint8]
    nested: int


class Weights(NamedTuple):
    """Weights of labels, of roles and of global features, and what every label and every role gets besides."""

    labels: Rows
    roles: Rows
    whole: Rows  # one column
    bonus: Floats  # [2]: per label, per role
    use_global: int


class Sentence(NamedTuple):
    """The place of one sentence in its batch."""

    first: int  # position
    size: int  # positions
    candidate: int
    candidates: int
    cell: int
    width: int  # slots of a position
    square: int
    block: int


@inlined
def wide(number: Any) -> Any:
    """A label or role as a number that keys can be made of: those in arrays have 16 bits."""
    return np.int64(number)


def sizes_of(batch: Batch) -> tuple[int, int]:
    """The most positions of a sentence and the most slots of a position, at least 1."""
    positions = int(np.diff(batch.positions).max(initial=1))
    slots = np.diff(batch.candidates) + (np.diff(batch.positions) if batch.nested else 0)
    return max(1, positions), max(1, int(slots.max(initial=1)))


def widths_of(batch: Batch) -> Ints:
    """The slots of a position, by sentence."""
    return np.diff(batch.candidates) + (np.diff(batch.positions) if batch.nested else 0)
