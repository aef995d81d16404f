"""Declarations of header fields: what the JSON part of a file must hold, checked before anything uses it.

    Record(labels=Many(Text()), order=Whole(0, 2)).check(header)

`weft.declared` does the same for arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, Self

from weft.errors import ModelError

#: Numbers stay within these bounds, so that sums of them neither overflow nor become NaN.
LARGEST = 1e12
#: The largest whole number of a header, unless a field allows less.
MOST = 2**31 - 1
DAMAGED = "the file is damaged"


class Value(Protocol):
    """What a header field must hold."""

    def check(self, value: Any, place: str) -> None:
        """Raise an error that names the place if the value does not fit."""


def _wrong(place: str, expected: str, value: Any) -> ModelError:
    found = {dict: "a table", list: "a list", type(None): "nothing", bool: str(value).lower()}.get(type(value))
    if found is None:
        found = repr(value) if len(repr(value)) < 60 else repr(value)[:60] + "..."
    return ModelError(f"the header's {place} must be {expected}, found {found}: {DAMAGED}")


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`."""

    low: int = 0
    high: int = MOST

    def check(self, value: Any, place: str) -> None:
        if type(value) is not int or not self.low <= value <= self.high:
            raise _wrong(place, f"a whole number from {self.low} to {self.high}", value)


@dataclass(frozen=True)
class Real:
    """A finite number from `low` to `high`."""

    low: float = -LARGEST
    high: float = LARGEST

    def check(self, value: Any, place: str) -> None:
        if type(value) not in (int, float) or not self.low <= value <= self.high:
            raise _wrong(place, f"a number from {self.low:g} to {self.high:g}", value)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def check(self, value: Any, place: str) -> None:
        if type(value) is not bool:
            raise _wrong(place, "true or false", value)


@dataclass(frozen=True)
class Text:
    """A text, one of `choices` if there are any."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any, place: str) -> None:
        if type(value) is not str or (self.choices and value not in self.choices):
            raise _wrong(place, f"one of {', '.join(self.choices)}" if self.choices else "a text", value)


@dataclass(frozen=True)
class Maybe:
    """A value or nothing."""

    value: Value

    def check(self, value: Any, place: str) -> None:
        if value is not None:
            self.value.check(value, place)


@dataclass(frozen=True)
class Many:
    """A list of values that are alike, at least `least` of them."""

    value: Value
    least: int = 0
    distinct: bool = False

    def check(self, value: Any, place: str) -> None:
        if type(value) is not list or len(value) < self.least:
            raise _wrong(place, f"a list of at least {self.least}" if self.least else "a list", value)
        _check_all(self.value, value, place)
        if self.distinct and len(set(value)) < len(value):
            raise _wrong(place, "a list without repetitions", value)


@dataclass(frozen=True)
class Row:
    """A list with one value of each kind, in this order."""

    values: tuple[Value, ...]

    def check(self, value: Any, place: str) -> None:
        if type(value) is not list or len(value) != len(self.values):
            raise _wrong(place, f"a list of {len(self.values)}", value)
        for each, own in zip(value, self.values, strict=True):
            own.check(each, place)


@dataclass(frozen=True)
class Named:
    """A table from names to values that are alike."""

    value: Value

    def check(self, value: Any, place: str) -> None:
        if type(value) is not dict:
            raise _wrong(place, "a table", value)
        _check_all(self.value, value.values(), place)


@dataclass(frozen=True)
class Table:
    """Any table: what it holds is checked by the code that reads it."""

    def check(self, value: Any, place: str) -> None:
        if type(value) is not dict:
            raise _wrong(place, "a table", value)


def _check_all(declared: Value, values: Collection[Any], place: str) -> None:
    """Check many values."""
    if not _all_fit(declared, values):
        for each in values:
            declared.check(each, place)


def _are_texts(values: Iterable[Any]) -> bool:
    try:
        "".join(values)  # faster than looking at every type
    except TypeError:
        return False
    return True


def _all_fit(declared: Value, values: Collection[Any]) -> bool:
    """Whether many values surely fit: thousands are looked at together, by their types and extremes."""
    if isinstance(declared, Text):
        return not declared.choices and _are_texts(values)
    kinds = set(map(type, values))
    if isinstance(declared, Whole):
        return not values or (kinds == {int} and declared.low <= min(values) and max(values) <= declared.high)
    if isinstance(declared, Many):
        alike = kinds <= {list} and not declared.distinct and min(map(len, values), default=0) >= declared.least
        return alike and _all_fit(declared.value, list(chain.from_iterable(values)))
    if isinstance(declared, Named):
        return kinds <= {dict} and all(_all_fit(declared.value, own.values()) for own in values)
    if isinstance(declared, Row):
        if not kinds <= {list} or set(map(len, values)) - {len(declared.values)}:
            return False
        return all(
            _all_fit(own, column) for own, column in zip(declared.values, zip(*values, strict=True), strict=False)
        )
    return False


class Record:
    """A table with known fields; a field whose name ends with `?` in `optional` may be missing.

    >>> fields = Record(labels=Many(Text()), order=Whole(0, 2)).with_optional(bits=Whole(1, 64))
    >>> fields.check({"labels": ["N", "V"], "order": 1})
    >>> fields.check({"labels": ["N", "V"], "order": 3})
    Traceback (most recent call last):
    ...
    weft.errors.ModelError: the header's order must be a whole number from 0 to 2, found 3: the file is damaged
    """

    def __init__(self, **fields: Value) -> None:
        self.fields: dict[str, Value] = fields
        self.optional: dict[str, Value] = {}

    def with_optional(self, **fields: Value) -> Self:
        """The same record with fields that may be missing."""
        record = type(self)(**self.fields)
        record.optional = {**self.optional, **fields}
        return record

    def check(self, value: Any, place: str = "") -> None:
        """Raise an error for the first field that is missing or does not fit; further fields are ignored."""
        if type(value) is not dict:
            raise _wrong(place or "part of a component", "a table", value)
        inside = f"{place}." if place else ""
        for name, declared in self.fields.items():
            if name not in value:
                raise ModelError(f"the header's {inside}{name} is missing: {DAMAGED}")
            declared.check(value[name], inside + name)
        for name, declared in self.optional.items():
            if name in value:
                declared.check(value[name], inside + name)


#: The temperature that scores are divided by to get probabilities.
TEMPERATURE = Real(1e-6, 1e6)


def check_same(name: str, found: Sequence[Any] | int, expected: int) -> None:
    """Raise an error if a header field has another length, or is another number, than the rest of the model."""
    number = found if isinstance(found, int) else len(found)
    if number != expected:
        raise ModelError(f"the header's {name} does not fit: expected {expected}, found {number}; {DAMAGED}")
