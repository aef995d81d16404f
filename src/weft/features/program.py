"""Templates compiled to integer programs, and the one kernel that runs them all.

A template of atoms a1 ... ak gives, at every position, the keys

    join(... join(join(seed, v1), v2) ..., vk)    for every choice of values v1 ... vk of its atoms,

where a plain atom has one value (none if the word lacks the attribute; a boundary mark outside the sentence), a bag or
set has several, and a real-valued atom multiplies the feature's value instead of entering the key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Keys
from weft.errors import TemplateError
from weft.features.templates import Template
from weft.hashing import avalanche, hash_string, join
from weft.kernel import kernel

SCALAR, BAG, SET, REAL = 0, 1, 2, 3
_ZERO = np.uint64(0)
_EVERYWHERE = np.zeros(0, dtype=np.bool_)


class Features(NamedTuple):
    """Features of positions as a ragged array: position `i` has keys `offsets[i]:offsets[i + 1]`.

    `values` is empty where all features are indicators; `template` is the number of each key's template.
    """

    keys: Keys
    offsets: Ints
    values: Floats
    template: NDArray[np.int16]


@dataclass(frozen=True)
class Inputs:
    """What the kernel reads: sentence boundaries and the values of all atoms at all positions."""

    sentences: Ints  # offsets of sentences
    scalars: Keys  # [position, column]
    set_offsets: Ints  # [set column, position + 1], into set_members
    set_members: Keys
    reals: Floats  # [position, column]

    @classmethod
    def of(cls, sentences: Ints, scalars: Keys) -> Inputs:
        """Inputs without sets and real values."""
        n = len(scalars)
        empty = np.zeros((0, n + 1), dtype=np.int64)
        return cls(sentences, scalars, empty, np.zeros(0, dtype=np.uint64), np.zeros((n, 0)))


class Program:
    """Templates as integers.

    `columns` maps `(field, attribute)` of plain fields to columns of `Inputs.scalars`, `sets` and `reals` map fields to
    rows of `set_offsets` and columns of `reals`. Keys are made from `names`, one a template, if not from templates as
    they are written.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        columns: Mapping[tuple[str, str], int],
        sets: Mapping[str, int] | None = None,
        reals: Mapping[str, int] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.templates = list(templates)
        sets, reals = sets or {}, reals or {}
        rows: list[tuple[int, int, int, int]] = []
        starts = [0]
        for template in self.templates:
            for atom in template.atoms:
                if atom.field in sets:
                    kind, column = SET, sets[atom.field]
                elif atom.field in reals:
                    kind, column = REAL, reals[atom.field]
                elif (atom.field, atom.attribute) in columns:
                    kind, column = (BAG if atom.bag else SCALAR), columns[atom.field, atom.attribute]
                else:
                    known = ", ".join(sorted({*sets, *reals, *(field for field, _ in columns)}))
                    raise TemplateError(f"template {template}: unknown field {atom.field!r}; the fields are: {known}")
                if (kind == REAL and atom.bag) or (kind in (SET, REAL) and atom.attribute != "form"):
                    raise TemplateError(
                        f"template {template}: {atom.field!r} has sets or numbers: write [offset] only, "
                        "or {first..last} for sets"
                    )
                rows.append((kind, column, atom.lo, atom.hi))
            starts.append(len(rows))
        self._atoms = np.array(rows, dtype=np.int64).reshape(-1, 4)
        self._starts = np.array(starts, dtype=np.int64)
        self._seeds = np.array([hash_string(name) for name in names or map(str, self.templates)], dtype=np.uint64)
        self.has_reals = bool((self._atoms[:, 0] == REAL).any())
        # How many features a template has at a position at most, by its bags; and its sets: column, first, last offset.
        self._plain, self._widest = 0, 1
        self._with_sets: list[tuple[int, list[tuple[int, int, int]]]] = []
        for begin, end in pairwise(starts):
            own = rows[begin:end]
            width = math.prod(hi - lo + 1 for kind, _, lo, hi in own if kind == BAG)
            sets_read = [(column, lo, hi) for kind, column, lo, hi in own if kind == SET]
            if sets_read:
                self._with_sets.append((width, sets_read))
            else:
                self._plain, self._widest = self._plain + width, max(self._widest, width)

    def run(self, inputs: Inputs, wanted: NDArray[np.bool_] | None = None) -> Features:
        """The features of every position, or of those that are wanted: the others have none."""
        n = len(inputs.scalars)
        bound = self._bound(inputs)
        keys = np.empty(bound, dtype=np.uint64)
        template = np.empty(bound, dtype=np.int16)
        values = np.empty(bound if self.has_reals else 0)
        offsets = np.zeros(n + 1, dtype=np.int64)
        total = _run(
            self._atoms, self._starts, self._seeds, inputs.sentences, inputs.scalars, inputs.set_offsets,
            inputs.set_members, inputs.reals, _EVERYWHERE if wanted is None else wanted,
            keys, template, values, offsets,
        )  # fmt: skip
        return Features(keys[:total], offsets, values[:total] if self.has_reals else values, template[:total])

    def _bound(self, inputs: Inputs) -> int:
        """An upper bound on the number of features, with room for a template to unfold at the last position."""
        n = len(inputs.scalars)
        total, room = n * self._plain, 2 * self._widest
        if self._with_sets:
            positions, sizes = np.arange(n), np.diff(inputs.sentences)
            firsts, ends = np.repeat(inputs.sentences[:-1], sizes), np.repeat(inputs.sentences[1:], sizes)
        for width, sets in self._with_sets:
            products, unfolded = np.full(n, width), width
            for column, lo, hi in sets:
                offsets = inputs.set_offsets[column]
                begin = np.clip(positions + lo, firsts, ends)
                products *= offsets[np.clip(positions + hi + 1, begin, ends)] - offsets[begin]
                unfolded *= max(1, int(np.diff(offsets).max(initial=0))) * (hi - lo + 1)
            total, room = total + int(products.sum()), max(room, 2 * unfolded)
        return total + room


@kernel
def _run(
    atoms: Ints,
    starts: Ints,
    seeds: Keys,
    sentences: Ints,
    scalars: Keys,
    set_offsets: Ints,
    set_members: Keys,
    reals: Floats,
    wanted: NDArray[np.bool_],
    keys: Keys,
    template: NDArray[np.int16],
    values: Floats,
    offsets: Ints,
) -> int:
    out = 0
    for s in range(len(sentences) - 1):
        first, end = sentences[s], sentences[s + 1]
        for i in range(first, end):
            if len(wanted) and not wanted[i]:
                offsets[i + 1] = out
                continue
            for t in range(len(starts) - 1):
                # The keys of this template at this position grow in place, atom by atom, in keys[begin:out].
                begin = out
                keys[out] = seeds[t]
                size = 1
                value = 1.0
                for a in range(starts[t], starts[t + 1]):
                    kind, column, lo, hi = atoms[a, 0], atoms[a, 1], atoms[a, 2], atoms[a, 3]
                    j = i + lo
                    if kind == SCALAR:
                        if j < first:
                            v = avalanche(np.uint64(2 * (first - j)))
                        elif j >= end:
                            v = avalanche(np.uint64(2 * (j - end) + 1))
                        else:
                            v = scalars[j, column]
                        if v == _ZERO:
                            size = 0
                        for k in range(begin, begin + size):
                            keys[k] = join(keys[k], v)
                    elif kind == REAL:
                        if j < first or j >= end:
                            size = 0
                        else:
                            value *= reals[j, column]
                    else:
                        members = 0
                        if kind == BAG:
                            for j in range(max(i + lo, first), min(i + hi + 1, end)):
                                v = scalars[j, column]
                                if v != _ZERO:
                                    members += 1
                                    for k in range(begin, begin + size):
                                        keys[k + members * size] = join(keys[k], v)
                        else:
                            for j in range(max(i + lo, first), min(i + hi + 1, end)):
                                for m in range(set_offsets[column, j], set_offsets[column, j + 1]):
                                    members += 1
                                    for k in range(begin, begin + size):
                                        keys[k + members * size] = join(keys[k], set_members[m])
                        for k in range(begin, begin + members * size):
                            keys[k] = keys[k + size]
                        size *= members
                    if size == 0:
                        break
                for k in range(begin, begin + size):
                    template[k] = t
                    if len(values):
                        values[k] = value
                out = begin + size
            offsets[i + 1] = out
    return out
