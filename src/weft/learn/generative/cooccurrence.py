"""Which words stand together in sentence pairs: a number for each pair of types, and the number of each cell.

A *cell* is a source word and a target word of one sentence pair; an *entry* is a source type and a target type with at
least one cell. A table of translation probabilities is one weight per entry, whichever direction it goes, so that
probabilities of cells are looked up by `weight[entry_of_cell]` and expectations of cells are added up the same way.
Entries are numbered by source type. Cells stand target word by target word, as in `weft.infer.alignment.links`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import WeftError
from weft.kernel import kernel
from weft.ragged import Indices, check_offsets, one_block, sentence_of

Types = NDArray[np.int32]
_MOST_CELLS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Cooccurrences:
    """The entries and cells of a bitext whose words are numbered by type on each side."""

    source: Types
    target: Types
    source_offsets: Indices
    target_offsets: Indices
    n_source_types: int
    n_target_types: int
    cell_offsets: Indices
    entry_of_cell: Types
    entry_source: Types
    entry_target: Types

    @classmethod
    def of(
        cls, source: ArrayLike, source_offsets: ArrayLike, target: ArrayLike, target_offsets: ArrayLike
    ) -> Cooccurrences:
        """Number the entries and cells of a bitext.

        >>> found = Cooccurrences.of([0, 1, 0], [0, 2, 3], [0, 1, 1], [0, 2, 3])
        >>> list(zip(found.entry_source.tolist(), found.entry_target.tolist()))
        [(0, 0), (0, 1), (1, 0), (1, 1)]
        >>> found.entry_of_cell.tolist()
        [0, 2, 1, 3, 1]
        """
        words = one_block(source, np.int32)
        others = one_block(target, np.int32)
        starts, other_starts = check_offsets(source_offsets, len(words)), check_offsets(target_offsets, len(others))
        if len(starts) != len(other_starts):
            raise WeftError(
                f"a bitext has as many source as target sentences; given: {len(starts) - 1} and {len(other_starts) - 1}"
            )
        cell_offsets = np.concatenate([[0], np.cumsum(np.diff(starts) * np.diff(other_starts))])
        n_cells = int(cell_offsets[-1])
        if n_cells > _MOST_CELLS:
            raise WeftError(f"the bitext has {n_cells:,} pairs of words in all; train on a part of it")
        n_types, n_other = int(words.max(initial=-1)) + 1, int(others.max(initial=-1)) + 1
        order = np.argsort(words, kind="stable")
        # Memory that is never written to is never taken: there are far fewer entries than cells.
        entry_source, entry_target = np.empty(n_cells, np.int32), np.empty(n_cells, np.int32)
        cells = np.empty(n_cells, np.int32)
        n_entries = _number(
            order, words, others, sentence_of(starts), starts, other_starts, cell_offsets, n_other,
            cells, entry_source, entry_target,
        )  # fmt: skip
        return cls(
            words, others, starts, other_starts, n_types, n_other,
            cell_offsets, cells, entry_source[:n_entries].copy(), entry_target[:n_entries].copy(),
        )  # fmt: skip

    @property
    def n_entries(self) -> int:
        return len(self.entry_source)

    @property
    def n_pairs(self) -> int:
        return len(self.source_offsets) - 1

    def batches(self, n_cells: int = 100_000) -> Iterator[tuple[int, int]]:
        """Runs of sentence pairs `first, end` of at least `n_cells` cells (the last: fewer)."""
        first = 0
        while first < self.n_pairs:
            wanted = self.cell_offsets[first] + n_cells
            end = min(int(np.searchsorted(self.cell_offsets, wanted)), self.n_pairs)
            yield first, max(end, first + 1)
            first = max(end, first + 1)

    def look_up(self, weights: Floats, first: int, end: int, turned: bool = False) -> Floats:
        """The weights of the cells of some sentence pairs; `turned`: source word by source word.

        >>> found = Cooccurrences.of([0, 1], [0, 2], [0, 1], [0, 2])
        >>> weights = np.array([0.1, 0.2, 0.3, 0.4])
        >>> found.look_up(weights, 0, 1).tolist(), found.look_up(weights, 0, 1, turned=True).tolist()
        ([0.1, 0.3, 0.2, 0.4], [0.1, 0.2, 0.3, 0.4])
        """
        cells = self.entry_of_cell[self.cell_offsets[first] : self.cell_offsets[end]]
        if not turned:
            return weights[cells]
        found = np.empty(len(cells))
        _look_up_turned(weights, self.entry_of_cell, *self._sizes(first, end), found)
        return found

    def add_up(self, sums: Floats, values: Floats, first: int, end: int, turned: bool = False) -> None:
        """Add one number per cell of some sentence pairs to the sums of entries."""
        _add_up(sums, values, self.entry_of_cell, *self._sizes(first, end), turned)

    def _sizes(self, first: int, end: int) -> tuple[Indices, Indices, Indices]:
        rows = slice(first, end + 1)
        return self.cell_offsets[rows], np.diff(self.source_offsets[rows]), np.diff(self.target_offsets[rows])


@kernel
def _number(
    order: Indices,
    source: Types,
    target: Types,
    sentence: Indices,
    source_offsets: Indices,
    target_offsets: Indices,
    cell_offsets: Indices,
    n_target_types: int,
    cells: Types,
    entry_source: Types,
    entry_target: Types,
) -> int:
    """Number the entries, source type by source type (`order`), and write the entry of every cell."""
    seen_with = np.full(n_target_types, -1, np.int32)
    entry = np.empty(n_target_types, np.int32)
    count = 0
    for word in order:
        kind = source[word]
        s = sentence[word]
        i = word - source_offsets[s]
        size = source_offsets[s + 1] - source_offsets[s]
        for j in range(target_offsets[s + 1] - target_offsets[s]):
            other = target[target_offsets[s] + j]
            if seen_with[other] != kind:
                seen_with[other] = kind
                entry[other] = count
                entry_source[count] = kind
                entry_target[count] = other
                count += 1
            cells[cell_offsets[s] + j * size + i] = entry[other]
    return count


@kernel
def _look_up_turned(
    weights: Floats, cells: Types, cell_offsets: Indices, source_sizes: Indices, target_sizes: Indices, found: Floats
) -> None:
    at = 0
    for s in range(len(source_sizes)):
        first = cell_offsets[s]
        for i in range(source_sizes[s]):
            for j in range(target_sizes[s]):
                found[at] = weights[cells[first + j * source_sizes[s] + i]]
                at += 1


@kernel
def _add_up(
    sums: Floats,
    values: Floats,
    cells: Types,
    cell_offsets: Indices,
    source_sizes: Indices,
    target_sizes: Indices,
    turned: bool,
) -> None:
    at = 0
    for s in range(len(source_sizes)):
        first = cell_offsets[s]
        if turned:
            for i in range(source_sizes[s]):
                for j in range(target_sizes[s]):
                    sums[cells[first + j * source_sizes[s] + i]] += values[at]
                    at += 1
        else:
            for cell in range(first, first + source_sizes[s] * target_sizes[s]):
                sums[cells[cell]] += values[at]
                at += 1
