"""Tables of placement: derivatives by differences, ascent, projection, and which way finds the true table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from weft.errors import ConfigError
from weft.infer.alignment.fertility import Choices
from weft.learn.batch.simplex import project_simplex
from weft.learn.bitext.distortion import FLOOR, estimate_placement, placement_gradient, placement_value


def made_choices(seed: int, rows: int = 3, columns: int = 8, noise: float = 0.0) -> tuple[np.ndarray, Choices]:
    """A table, and choices among random sets that it explains best."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(columns, 0.8), rows) * 0.99 + 0.01 / columns
    counts, first, weight, starts, column = np.zeros((rows, columns)), [0], [], [0], []
    for row in range(rows):
        for _ in range(40):
            chosen = np.sort(rng.choice(columns, rng.integers(2, columns), replace=False))
            weight.append(rng.random() * 3)
            starts.append(starts[-1] + len(chosen))
            column += chosen.tolist()
            p = table[row, chosen] * np.exp(noise * rng.standard_normal(len(chosen)))
            counts[row, chosen] += weight[-1] * p / p.sum()
        first.append(len(weight))
    sets = np.array(starts), np.array(column, np.int16)
    return table, Choices(counts, np.array(first), np.array(weight), *sets)


@pytest.mark.must_show("nondeficient-ibm", 3)
def test_the_gradient_is_that_of_finite_differences() -> None:
    for seed in range(5):
        table, choices = made_choices(seed, noise=1.0)
        table = np.random.default_rng(seed + 50).dirichlet(np.ones(table.shape[1]), len(table)) + 0.01
        gradient = placement_gradient(table, choices)
        for cell in np.ndindex(*table.shape):
            step = 1e-6
            high, low = table.copy(), table.copy()
            high[cell] += step
            low[cell] -= step
            slope = (placement_value(high, choices) - placement_value(low, choices)) / (2 * step)
            assert abs(slope - gradient[cell]) <= 1e-6 * max(1.0, abs(gradient[cell]))


@pytest.mark.must_show("nondeficient-ibm", 3)
@pytest.mark.parametrize("way", ["gradient", "minorize"])
def test_no_ascent_ever_falls_and_more_of_it_rises_further(way: str) -> None:
    for seed in range(6):
        table, choices = made_choices(seed, noise=1.0)
        present = np.full_like(table, 1 / table.shape[1])
        values = [placement_value(present, choices)]
        for _ in range(8):
            present = estimate_placement(present, choices, way, 1)
            assert np.allclose(present.sum(axis=1), 1)
            assert present.min() >= FLOOR * (1 - 1e-9)
            values.append(placement_value(present, choices))
        assert all(b >= a - 1e-9 for a, b in pairwise(values))
        assert values[-1] > placement_value(estimate_placement(table, choices, "counts"), choices)


@pytest.mark.must_show("nondeficient-ibm", 3)
def test_the_projection_is_that_of_a_quadratic_program() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        given = rng.standard_normal(6)
        solved = minimize(
            lambda x, v=given: ((x - v) ** 2).sum(), np.full(6, 1 / 6), jac=lambda x, v=given: 2 * (x - v),
            bounds=[(0, None)] * 6, constraints={"type": "eq", "fun": lambda x: x.sum() - 1}, method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        assert np.allclose(project_simplex(given, [0, 6], 1.0, equal=True), solved.x, atol=1e-5)


@pytest.mark.parametrize("way", ["gradient", "minorize"])
def test_ascent_finds_the_table_that_made_the_choices_and_division_does_not(way: str) -> None:
    table, choices = made_choices(1)
    uniform = np.full_like(table, 1 / table.shape[1])
    error = abs(estimate_placement(uniform, choices, way, 2000) - table).max()
    assert error < {"minorize": 0.005, "gradient": 0.05}[way]
    assert abs(estimate_placement(uniform, choices, "counts") - table).max() > 2 * error


def test_an_unknown_way_is_refused() -> None:
    table, choices = made_choices(0)
    with pytest.raises(ConfigError, match="gradient, minorize, counts"):
        estimate_placement(table, choices, "newton")


@pytest.mark.parametrize("way", ["gradient", "minorize", "counts"])
def test_what_was_chosen_among_all_columns_is_divided(way: str) -> None:
    nothing = np.zeros(0), np.zeros(1, np.int64), np.zeros(0, np.int16)
    choices = Choices(np.array([[3.0, 1.0, 0.0]]), np.array([0, 0]), *nothing)
    found = estimate_placement(np.full((1, 3), 1 / 3), choices, way, prior=np.array([[0.0, 0.0, 1.0]]))
    assert np.allclose(found, [[0.6, 0.2, 0.2]], atol=1e-4)
