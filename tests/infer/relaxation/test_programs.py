"""Integer programs with names: equal to enumeration, plain about what cannot be."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.relaxation.programs import Program


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_the_best_values_are_those_of_enumeration(data: st.DataObject) -> None:
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 4))
    number = st.integers(-4, 4)
    values = [data.draw(number) for _ in range(n)]
    rows = [([data.draw(number) for _ in range(n)], data.draw(st.integers(-2, 6))) for _ in range(m)]
    program = Program()
    for i, value in enumerate(values):
        program.variable(("x", i), value)
    for r, (weights, high) in enumerate(rows):
        program.row(r, {("x", i): weight for i, weight in enumerate(weights)}, high=high)
    allowed = [x for x in product((0, 1), repeat=n) if all(np.dot(x, weights) <= high for weights, high in rows)]
    if not allowed:
        with pytest.raises(InferenceError, match="no values satisfy"):
            program.maximize()
        return
    solution = program.maximize()
    assert tuple(solution.values[("x", i)] for i in range(n)) in allowed
    assert solution.value == pytest.approx(max(np.dot(x, values) for x in allowed))
    assert solution.proven
    assert program.maximize(relaxed=True).value >= solution.value - 1e-9


def test_rows_bound_from_both_sides_and_variables_may_be_whole_or_not() -> None:
    program = Program()
    program.variable("whole", 1.0, high=10)
    program.variable("part", 1.0, high=10, whole=False)
    program.row("sum", ["whole", "part"], low=2.5, high=2.5)
    program.row("part", {"part": 1.0}, high=0.7)
    solution = program.maximize()
    assert solution.values == {"whole": 2, "part": pytest.approx(0.5)}
    assert isinstance(solution.values["whole"], int)


def test_names_are_checked() -> None:
    program = Program()
    program.variable("a")
    with pytest.raises(InferenceError, match="'a' was added before"):
        program.variable("a")
    program.row("r", ["a"], high=1)
    with pytest.raises(InferenceError, match="'r' was added before"):
        program.row("r", ["a"], high=1)
    with pytest.raises(InferenceError, match="finite value"):
        program.variable("b", float("nan"))


def test_values_without_limit_are_told_and_nothing_is_worth_nothing() -> None:
    program = Program()
    assert program.maximize().value == 0.0
    program.variable("a", 1.0, high=np.inf)
    with pytest.raises(InferenceError, match="without limit"):
        program.maximize()


def test_a_row_that_cannot_be_added_leaves_the_program_as_it_was() -> None:
    program = Program()
    program.variable("a", 1.0)
    with pytest.raises(InferenceError, match="'b', which is no variable"):
        program.row("r", ["a", "b"], high=0)
    assert program.maximize().chosen() == ["a"]
