"""Declarations of what files hold: every array once, checked before anything uses it.

A structure declares its arrays beside the code that writes them, and takes them out of a file by these declarations:

    Array("starts", "uint32", ("rows+1",), offsets_of="weights")      starts at 0, never falls, ends at the size
    Array("columns", "uint8 uint16", ("weights",), below="columns")   numbers from 0 to columns - 1

The sizes in a shape are numbers or names. A name stands for the same number in all declarations that are taken
together: it is given by the caller, or else set by the first array that has it. Kernels index without checks, so an
array that nobody declared is never handed out, and one that nobody took is refused: `Stored.refuse_rest`.

Headers are declared the same way, by `weft.headers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import ModelError
from weft.headers import DAMAGED, LARGEST

Arrays = dict[str, NDArray[Any]]
#: As the lowest value of an array: any number of its type.
ANY = -(2**63)
#: The range of probabilities, with room for rounding.
PROBABILITIES = (0.0, 1.0 + 1e-6)


@dataclass(frozen=True)
class Array:
    """An array of a file: its type (one of several, separated by spaces), its shape, and the range of its values."""

    name: str
    dtypes: str
    shape: tuple[int | str, ...]
    low: int = 0  #: the smallest whole number
    below: int | str = ""  #: whole numbers are less than this size
    offsets_of: int | str = ""  #: offsets into something of this size, any size if it is not known
    rising: bool = False  #: every value is larger than the one before
    within: tuple[float, float] = (-LARGEST, LARGEST)  #: the smallest and the largest float
    optional: bool = False


class Stored(dict[str, NDArray[Any]]):
    """The arrays of a file, or those under a prefix; only `take` hands them out.

    >>> stored = Stored({"starts": np.array([0, 2, 3], np.uint32), "labels": np.array([4, 0, 9], np.uint8)})
    >>> starts = Array("starts", "uint32", ("rows+1",), offsets_of="labels")
    >>> labels = Array("labels", "uint8", ("labels",), below="known")
    >>> stored.take(starts, labels, known=10)["labels"].tolist()
    [4, 0, 9]
    >>> stored.take(starts, labels, known=9)
    Traceback (most recent call last):
    ...
    weft.errors.ModelError: the array 'labels' must hold numbers from 0 to 8, found 9: the file is damaged
    """

    prefix = ""
    taken: set[str]

    @classmethod
    def of(cls, arrays: Arrays) -> Stored:
        """Arrays as they come from a file, or from `state`."""
        if isinstance(arrays, Stored):
            return arrays
        stored = cls(arrays)
        stored.taken = set()
        return stored

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().__init__(arrays)
        self.taken = set()

    def under(self, prefix: str) -> Stored:
        """The arrays whose names start with a prefix, without it."""
        inner = Stored({name.removeprefix(prefix): array for name, array in self.items() if name.startswith(prefix)})
        inner.prefix, inner.taken = self.prefix + prefix, self.taken
        return inner

    def take(self, *declared: Array, **sizes: int) -> Arrays:
        """The declared arrays, after checking them; `sizes` gives the numbers behind named sizes."""
        for each in declared:
            if each.name not in self and not each.optional:
                raise ModelError(f"the array {self.prefix + each.name!r} is missing: {DAMAGED}")
        there = [each for each in declared if each.name in self]
        for each in there:
            self._check_shape(each, self[each.name], sizes)
        for each in there:
            self._check_values(each, self[each.name], sizes)
        self.taken.update(self.prefix + each.name for each in there)
        return {each.name: self[each.name] for each in there}

    def refuse_rest(self) -> None:
        """Raise an error if there are arrays that were never taken: nothing declares them."""
        rest = sorted(self.prefix + name for name in self if self.prefix + name not in self.taken)
        if rest:
            raise ModelError(f"the array {rest[0]!r} does not belong to this kind of model: {DAMAGED}")

    def _check_shape(self, declared: Array, array: NDArray[Any], sizes: dict[str, int]) -> None:
        if array.dtype.name not in declared.dtypes.split():
            expected = " or ".join(declared.dtypes.split())
            raise self._fault(declared, f"must have the type {expected}, found {array.dtype.name}")
        wanted: tuple[int | str, ...] = declared.shape
        if len(wanted) == array.ndim:
            wanted = tuple(_length(size, length, sizes) for size, length in zip(wanted, array.shape, strict=True))
        if wanted != array.shape:
            shapes = f"expected the shape {_shown(wanted)}, found {_shown(array.shape)}"
            raise self._fault(declared, f"does not fit together with the rest, sizes are inconsistent: {shapes}")

    def _check_values(self, declared: Array, array: NDArray[Any], sizes: dict[str, int]) -> None:
        if array.dtype.kind == "f":
            self._check_floats(declared, array)
        elif array.dtype.kind in "iu":
            self._check_range(declared, array, sizes)
        if declared.rising and not bool((array[1:] > array[:-1]).all()):
            raise self._fault(declared, "must hold rising numbers")

    def _check_floats(self, declared: Array, array: NDArray[Any]) -> None:
        if not array.size:
            return
        low, high = declared.within
        least, most = float(array.min()), float(array.max())  # NaN if any is
        if not (low <= least and most <= high):
            found = least if low <= most <= high else most
            raise self._fault(declared, f"must hold numbers from {low:g} to {high:g}, found {found:g}")

    def _check_range(self, declared: Array, array: NDArray[Any], sizes: dict[str, int]) -> None:
        if declared.offsets_of != "":
            own = {str(declared.offsets_of): int(array[-1])} if len(array) else {}
            self._check_offsets(declared, array, _value(declared.offsets_of, {**own, **sizes}))
            return
        if declared.low > np.iinfo(array.dtype).min and array.size and (least := int(array.min())) < declared.low:
            raise self._fault(declared, f"must hold numbers of at least {declared.low}, found {least}")
        if declared.below != "" and array.size:
            end, most = _value(declared.below, sizes), int(array.max())
            if most >= end:
                raise self._fault(declared, f"must hold numbers from {declared.low} to {end - 1}, found {most}")

    def _check_offsets(self, declared: Array, array: NDArray[Any], size: int) -> None:
        ends = (int(array[0]), int(array[-1])) if len(array) else (0, 0)
        if ends != (0, size) or not bool((array[1:] >= array[:-1]).all()):
            raise self._fault(declared, f"must hold offsets that rise from 0 to {size}, found {ends[0]} to {ends[1]}")

    def _fault(self, declared: Array, message: str) -> ModelError:
        return ModelError(f"the array {self.prefix + declared.name!r} {message}: {DAMAGED}")


def _length(size: int | str, length: int, sizes: dict[str, int]) -> int:
    """The length that a declared size stands for; an unknown name is set by the length that is found."""
    if isinstance(size, int):
        return size
    if size == "*":
        return length
    name, _, more = size.partition("+")
    extra = int(more or 0)
    return sizes.setdefault(name, max(0, length - extra)) + extra


def _value(size: int | str, sizes: dict[str, int]) -> int:
    return size if isinstance(size, int) else sizes[size]


def _shown(shape: Iterable[int | str]) -> str:
    return f"({', '.join(map(str, shape))})"
