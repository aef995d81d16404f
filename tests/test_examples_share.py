"""`make check` makes a share of the examples of Hypothesis (`--examples`)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from examples_share import LEAST, take_examples
from hypothesis import given, settings
from hypothesis import strategies as st


def examples_of(most: int, share: float) -> int:
    seen = []

    @settings(max_examples=most, database=None)
    @given(st.integers())
    def test(number: int) -> None:
        seen.append(number)

    take_examples([SimpleNamespace(obj=test), SimpleNamespace(), SimpleNamespace(obj=examples_of)], share)
    test()
    return len(seen)


@pytest.mark.parametrize(("most", "share", "made"), [(40, 1.0, 40), (40, 0.25, 10), (40, 0.01, LEAST), (2, 0.25, 2)])
def test_a_share_of_the_examples_is_made_and_never_less_than_a_few(most: int, share: float, made: int) -> None:
    assert examples_of(most, share) == made
