"""Expectation maximization as a loop over two functions, and a third between them where posteriors are constrained.

    statistics, log-likelihood <- expect(parameters);    parameters <- maximize(statistics)
    statistics, bound <- project(parameters, statistics, log-likelihood, bound before)

The log-likelihood (or whatever bound `expect` or `project` reports) must not fall; a fall beyond rounding is an error
in one of the steps and is reported as such. A projection (`weft.learn.generative.posterior_regularization`) is told the
bound of the iteration before, which maximization has not lowered: it need not be exact, only good enough not to fall
below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from weft.errors import ConfigError
from weft.progress import progress

Parameters = TypeVar("Parameters")


@dataclass(frozen=True)
class EMResult:
    """Parameters, the log-likelihood before every maximization, and why it stopped."""

    parameters: Any
    log_likelihoods: list[float]
    why: str


def expectation_maximization(
    expect: Callable[[Parameters], tuple[Any, float]],
    maximize: Callable[[Any], Parameters],
    start: Parameters,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    project: Callable[[Parameters, Any, float, float], tuple[Any, float]] | None = None,
    monotone: bool = True,
    slack: float = 1e-8,
    callback: Callable[[int, Parameters, float], bool | None] | None = None,
    describe: str = "EM",
) -> EMResult:
    """Alternate the two steps until the log-likelihood gains less than `tolerance`, relative.

    `monotone=False` is for approximate steps (sampling, online updates), where a fall is no error.

    >>> heads = [9, 1, 8]  # of ten tosses each; which of two coins was tossed is not known
    >>> def expect(p):
    ...     like = [[q**h * (1 - q) ** (10 - h) / 2 for q in p] for h in heads]
    ...     return [[x / sum(row) for x in row] for row in like], sum(math.log(sum(row)) for row in like)
    >>> def maximize(r):
    ...     return [sum(row[c] * h for row, h in zip(r, heads)) / sum(10 * row[c] for row in r) for c in (0, 1)]
    >>> [round(p, 2) for p in expectation_maximization(expect, maximize, [0.6, 0.4]).parameters]
    [0.85, 0.1]
    """
    parameters = start
    seen: list[float] = []
    why = "iteration limit"
    with progress(describe, max_iterations, unit="iterations") as bar:
        for iteration in range(max_iterations):
            statistics, value = expect(parameters)
            if project is not None:
                statistics, value = project(parameters, statistics, value, seen[-1] if seen else -math.inf)
            if math.isnan(value):
                raise ConfigError(f"{describe}: the log-likelihood of iteration {iteration} is not a number.")
            seen.append(value)
            gain = value - seen[-2] if iteration else math.inf
            if monotone and gain < -slack * max(1.0, abs(value)):
                raise ConfigError(
                    f"{describe}: the log-likelihood fell from {seen[-2]:.10g} to {value:.10g} in iteration "
                    f"{iteration}: the two steps do not fit together. Pass monotone=False for approximate steps only."
                )
            if callback is not None and callback(iteration, parameters, value):
                why = "stopped by the callback"
                break
            if abs(gain) <= tolerance * max(1.0, abs(value)):
                why = "converged"
                break
            parameters = maximize(statistics)
            bar.advance()
            bar.note(f"log-likelihood {value:,.2f}")
    return EMResult(parameters, seen, why)
