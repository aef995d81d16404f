"""Restrictions: their trees against truth tables, and what is read and refused."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import DataError
from weft.lexical.resources.restrictions import Restriction

TYPES = ("animate", "concrete", "region")
BITS = {name: 1 << number for number, name in enumerate(TYPES)}
LITERALS = st.builds(str.__add__, st.sampled_from("+-"), st.sampled_from((*TYPES, "unlisted")))
TREES = st.recursive(
    st.builds(lambda literal: Restriction((literal,)), LITERALS),
    lambda inner: st.builds(
        Restriction, st.lists(LITERALS | inner, min_size=0, max_size=3).map(tuple), st.booleans()
    ),
    max_leaves=8,
)  # fmt: skip


def formula(restriction: Restriction) -> str:
    """A restriction as an expression of Python over names of types; what has no bit restricts nothing."""
    if not restriction.parts:
        return "True"
    parts = []
    for part in restriction.parts:
        if isinstance(part, Restriction):
            parts.append(f"({formula(part)})")
        elif part[1:] not in TYPES:
            parts.append("True")
        else:
            parts.append(f"{'not ' * (part[0] == '-')}{part[1:]}")
    return (" or " if restriction.any_of else " and ").join(parts)


@pytest.mark.must_show("david-preference-violations", 3)
@given(TREES)
def test_restrictions_equal_their_truth_tables(restriction):
    expression = compile(formula(restriction), "table", "eval")
    for row in product((False, True), repeat=len(TYPES)):
        has = sum(BITS[name] for name, value in zip(TYPES, row, strict=True) if value)
        assert restriction.holds(BITS, has) == eval(expression, dict(zip(TYPES, row, strict=True)))


@given(TREES, st.sampled_from(range(8)), st.sampled_from(range(8)))
def test_what_is_not_known_cannot_break_what_holds_when_it_is_known(restriction, has, known):
    if restriction.holds(BITS, has):
        assert restriction.holds(BITS, has, known)
    assert restriction.holds(BITS, has, 0)


@given(TREES)
def test_what_is_written_is_read_again(restriction):
    again = Restriction.parse(str(restriction)) if "()" not in str(restriction) else None
    if again is not None:
        assert str(again) == str(restriction)
        assert all(again.holds(BITS, has) == restriction.holds(BITS, has) for has in range(8))


@pytest.mark.parametrize(
    "text",
    ["animate", "+", "+animate |", "| +animate", "+animate +region", "+a | +b & +c", "(+a", "+a)", "()", "+a | ()"],
)  # fmt: skip
def test_other_text_is_refused(text):
    with pytest.raises(DataError, match="expected restrictions as in"):
        Restriction.parse(text)


def test_long_and_deep_text_is_read_or_refused_at_once():
    assert len(Restriction.parse(" | ".join(["+animate"] * 5000)).parts) == 5000
    with pytest.raises(DataError, match="expected restrictions"):
        Restriction.parse("(" * 100_000)
