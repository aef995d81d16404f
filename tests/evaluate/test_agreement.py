"""Krippendorff's alpha against cases computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate.agreement import krippendorff_alpha, nominal


@pytest.mark.must_show("thyme-clinical-time", 4)
def test_alpha_of_two_annotators_is_that_computed_by_hand():
    # 10 units: 4 of them a a, 3 b b, 2 a b, 1 b c. n = 20 values: a 10, b 9, c 1.
    units = [("a", "a")] * 4 + [("b", "b")] * 3 + [("a", "b")] * 2 + [("b", "c")]
    observed = 2 * 3 / 20
    expected = 2 * (10 * 9 + 10 * 1 + 9 * 1) / (20 * 19)
    assert krippendorff_alpha(units) == pytest.approx(1 - observed / expected)
    assert krippendorff_alpha(units) == pytest.approx(0.477, abs=5e-4)


def test_a_published_case_of_four_annotators_with_missing_values():
    """The example of Krippendorff (2011), nominal: alpha = 0.743."""
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    assert krippendorff_alpha(list(zip(*table, strict=True))) == pytest.approx(0.743, abs=5e-4)
    squares = krippendorff_alpha(list(zip(*table, strict=True)), lambda a, b: float(int(a) - int(b)) ** 2)
    assert squares == pytest.approx(0.849, abs=5e-4)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2))
def test_alpha_is_one_only_without_disagreement_and_does_not_depend_on_the_order_of_annotators(units):
    alpha = krippendorff_alpha(units)
    assert alpha <= 1
    assert (alpha == 1) == all(nominal(a, b) == 0 for a, b in units)
    assert alpha == pytest.approx(krippendorff_alpha([(b, a) for a, b in units]))


def test_without_pairs_of_values_there_is_no_alpha():
    with pytest.raises(WeftError, match="at least two annotators"):
        krippendorff_alpha([("a", None)])
