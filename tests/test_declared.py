"""Declarations of arrays and header fields: what they let through, and what their errors say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from weft.declared import ANY, PROBABILITIES, Array, Stored
from weft.errors import ModelError
from weft.headers import Flag, Many, Maybe, Named, Real, Record, Row, Text, Whole

STARTS = Array("starts", "uint32", ("rows+1",), offsets_of="labels")
LABELS = Array("labels", "uint8 int8", ("labels",), below="known")


def stored(**arrays: Any) -> Stored:
    return Stored.of(arrays)


def good() -> dict[str, Any]:
    return {"starts": np.array([0, 1, 3], np.uint32), "labels": np.array([2, 0, 1], np.int8)}


def test_arrays_that_fit_are_handed_out() -> None:
    arrays = good()
    taken = stored(**arrays).take(STARTS, LABELS, known=3)
    assert list(taken) == ["starts", "labels"]
    assert taken["labels"] is arrays["labels"]
    empty = {"starts": np.zeros(1, np.uint32), "labels": np.zeros(0, np.uint8)}
    stored(**empty).take(STARTS, LABELS, known=0)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("labels", np.array([2, 0, 3], np.int8), "must hold numbers from 0 to 2, found 3"),
        ("labels", np.array([2, 0, -1], np.int8), "must hold numbers of at least 0, found -1"),
        ("labels", np.array([2, 0, 1], np.int16), "must have the type uint8 or int8, found int16"),
        ("labels", np.array([2, 0, 1], np.float64), "must have the type uint8 or int8, found float64"),
        ("labels", np.array([[2, 0, 1]], np.int8), r"expected the shape \(labels\), found \(1, 3\)"),
        ("labels", np.array(2, np.int8), r"expected the shape \(labels\), found \(\)"),
        ("starts", np.array([0, 2, 1, 3], np.uint32), "must hold offsets that rise from 0 to 3, found 0 to 3"),
        ("starts", np.array([1, 3], np.uint32), "must hold offsets that rise from 0 to 3, found 1 to 3"),
        ("starts", np.array([0, 4], np.uint32), "must hold offsets that rise from 0 to 3, found 0 to 4"),
        ("starts", np.zeros(0, np.uint32), r"expected the shape \(1\), found \(0\)"),
    ],
)
def test_an_array_that_does_not_fit_is_named(name: str, array: Any, message: str) -> None:
    with pytest.raises(ModelError, match=f"the array '{name}' .*{message}"):
        stored(**(good() | {name: array})).take(STARTS, LABELS, known=3)


def test_a_size_is_the_same_in_all_arrays_and_may_be_given() -> None:
    pair = Array("keys", "uint64", ("n",)), Array("values", "float32", ("n", 2))
    keys, values = np.zeros(3, np.uint64), np.zeros((3, 2), np.float32)
    stored(keys=keys, values=values).take(*pair)
    with pytest.raises(ModelError, match=r"'values' does not fit .* expected the shape \(3, 2\), found \(2, 2\)"):
        stored(keys=keys, values=values[:2]).take(*pair)
    with pytest.raises(ModelError, match=r"'keys' does not fit .* expected the shape \(4\), found \(3\)"):
        stored(keys=keys, values=values).take(*pair, n=4)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300])
def test_floats_are_finite_and_of_a_bounded_size(value: float) -> None:
    with pytest.raises(ModelError, match="must hold numbers from -1e\\+12 to 1e\\+12"):
        stored(w=np.array([0.0, value, 1.0])).take(Array("w", "float64", ("n",)))


def test_probabilities_order_and_any_numbers() -> None:
    with pytest.raises(ModelError, match=r"'p' must hold numbers from 0 to 1, found -0\.5"):
        stored(p=np.array([1.0, -0.5])).take(Array("p", "float64", (2,), within=PROBABILITIES))
    with pytest.raises(ModelError, match="'k' must hold rising numbers"):
        stored(k=np.array([1, 2, 2])).take(Array("k", "int64", ("n",), rising=True))
    stored(k=np.array([np.iinfo(np.int64).min])).take(Array("k", "int64", ("n",), low=ANY))


def test_missing_and_undeclared_arrays_are_refused_by_their_full_names() -> None:
    whole = stored(**{f"0/{name}": array for name, array in good().items()}, more=np.zeros(1))
    part = whole.under("0/")
    with pytest.raises(ModelError, match="the array '0/other' is missing"):
        part.take(Array("other", "uint8", ("n",)))
    assert part.take(Array("other", "uint8", ("n",), optional=True)) == {}
    part.take(STARTS, LABELS, known=3)
    part.refuse_rest()
    with pytest.raises(ModelError, match="the array 'more' does not belong"):
        whole.refuse_rest()


FIELDS = Record(
    labels=Many(Text(), least=1, distinct=True), order=Whole(0, 2), scale=Real(0.1, 10), exact=Flag(),
    scheme=Maybe(Text(("IO", "IOB2"))), pairs=Many(Row((Text(), Whole()))), words=Named(Whole(0, 9)),
    inner=Record(name=Text()),
).with_optional(note=Text())  # fmt: skip
HEADER = {
    "labels": ["A", "B"], "order": 1, "scale": 1, "exact": True, "scheme": None, "pairs": [["x", 1]], "words": {"a": 3},
    "inner": {"name": "n"}, "ignored": object(),
}  # fmt: skip


def test_a_header_that_fits_passes() -> None:
    FIELDS.check(HEADER)
    FIELDS.check(HEADER | {"note": "said", "scheme": "IO"})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("labels", [], "labels must be a list of at least 1"),
        ("labels", ["A", 1], "labels must be a text, found 1"),
        ("labels", ["A", "A"], "labels must be a list without repetitions"),
        ("labels", "AB", "labels must be a list"),
        ("order", 3, "order must be a whole number from 0 to 2, found 3"),
        ("order", True, "order must be a whole number from 0 to 2, found true"),
        ("order", 1.0, "order must be a whole number"),
        ("scale", math.nan, "scale must be a number from 0.1 to 10, found nan"),
        ("scale", "1", "scale must be a number"),
        ("exact", 1, "exact must be true or false"),
        ("scheme", "XY", "scheme must be one of IO, IOB2, found 'XY'"),
        ("pairs", [["x"]], "pairs must be a list of 2"),
        ("pairs", [["x", -1]], "pairs must be a whole number"),
        ("words", {"a": 3, "b": 10}, "words must be a whole number from 0 to 9, found 10"),
        ("words", ["a"], "words must be a table, found a list"),
        ("inner", {}, "inner.name is missing"),
        ("inner", None, "inner must be a table, found nothing"),
        ("note", 1, "note must be a text, found 1"),
    ],
)
def test_a_header_field_that_does_not_fit_is_named(field: str, value: Any, message: str) -> None:
    with pytest.raises(ModelError, match=f"the header's {message}"):
        FIELDS.check(HEADER | {field: value})


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ModelError, match="the header's order is missing"):
        FIELDS.check({name: value for name, value in HEADER.items() if name != "order"})
