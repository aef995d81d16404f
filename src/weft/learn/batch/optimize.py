"""One interface to all optimizers of smooth functions of many weights.

    minimize(oracle, start, method) -> Result,    oracle(weights) -> (loss, gradient)

The oracle owns its gradient and may overwrite it in the next call (as `Objective` does); a method copies what it keeps.
Methods are small objects with options: `LBFGS`, `ConjugateGradient`, `PreconditionedCG`, `MixedCG`, `IterativeScaling`.
Every iteration leaves a row of history: oracle calls, CPU seconds, loss and length of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.learn.batch.descent import length
from weft.learn.training import Arrays, Callback, Checkpoint, EarlyStopping, Progress, Result, run_name
from weft.progress import progress

Oracle = Callable[[Floats], tuple[float, Floats]]


class Counted:
    """An oracle that counts: passes over the data for the gradient, curvatures and expectations alike."""

    def __init__(self, oracle: Any, calls: int = 0) -> None:
        self.oracle, self.calls = oracle, calls

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        self.calls += 1
        return self.oracle(weights)

    def curvature(self, weights: Floats) -> Floats:
        self.calls += 1
        return self._ask("curvature")(weights)

    def loss_and_expectations(self, weights: Floats) -> tuple[float, Floats]:
        self.calls += 1
        return self._ask("loss_and_expectations")(weights)

    def empirical(self) -> Floats:
        return self._ask("empirical")()

    def most_active(self) -> float:
        return self._ask("most_active")()

    @property
    def l2(self) -> float:
        return self._ask("l2")

    def _ask(self, name: str) -> Any:
        if not hasattr(self.oracle, name):
            raise ConfigError(
                f"This method asks the objective for `{name}`, which {type(self.oracle).__name__} does not have. "
                "Give a weft.learn.Objective, or use LBFGS or ConjugateGradient."
            )
        return getattr(self.oracle, name)


class Run(Protocol):
    """A run of a method: `weights`, `loss` and `norm` (length of the gradient) are those of the last iteration."""

    weights: Floats
    loss: float
    norm: float

    def step(self) -> str:
        """One iteration; a non-empty answer says why it cannot go on."""
        ...

    def state(self) -> tuple[Arrays, dict[str, Any]]: ...
    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None: ...


class Method(Protocol):
    """Options of an optimizer."""

    def begin(self, oracle: Counted, start: Floats, evaluate: bool) -> Any:
        """A `Run` from `start`; `evaluate` is False when a saved state will be restored."""
        ...


def minimize(
    oracle: Any,
    start: Floats,
    method: Method | None = None,
    *,
    tolerance: float = 1e-5,
    change: float = 0.0,
    max_iterations: int = 1000,
    max_calls: int | None = None,
    callback: Callback | None = None,
    early: EarlyStopping | None = None,
    checkpoint: Checkpoint | None = None,
    describe: str = "training",
) -> Result:
    """Minimize a function; the default method is L-BFGS.

    Stops when  ||gradient|| <= tolerance * max(1, ||weights||),  when the loss fell by less than `change`, relative,
    over the last ten iterations, at the limits, when the callback returns True, or on held-out data (`early`). With
    a `checkpoint` the run can be interrupted and goes on to exactly the same result.

    >>> target = np.array([1.0, -2.0])
    >>> result = minimize(lambda w: (float((w - target) @ (w - target)), 2 * (w - target)), np.zeros(2))
    >>> result.weights.round(6), result.why
    (array([ 1., -2.]), 'converged')
    """
    if method is None:
        from weft.learn.batch.lbfgs import LBFGS

        method = LBFGS()
    start = np.array(start, dtype=np.float64)
    keep = Progress(run_name(method, len(start)), early, checkpoint, callback)
    saved = keep.resume()
    counted = Counted(oracle, keep.calls)
    run = method.begin(counted, start, evaluate=saved is None)
    if saved is not None:
        keep.hand_over(run, *saved)
    with progress(describe, max_iterations, unit="iterations") as bar:
        bar.advance(keep.iteration)
        while not keep.why:
            if run.norm <= tolerance * max(1.0, length(run.weights)):
                keep.why = "converged"
            elif _settled(keep, change):
                keep.why = "the loss no longer falls"
            elif keep.iteration >= max_iterations:
                keep.why = "iteration limit"
            elif max_calls is not None and counted.calls >= max_calls:
                keep.why = "call limit"
            else:
                keep.why = run.step()
                if keep.why:
                    break
                keep.iteration, keep.calls = keep.iteration + 1, counted.calls
                keep.look(run.weights, run.loss, run.norm, state=run.state)
                bar.advance()
                bar.note(f"loss {run.loss:,.1f}, gradient {run.norm:.2g}")
    keep.calls = counted.calls
    return keep.result(run.weights, run.loss)


def _settled(keep: Progress, change: float, period: int = 10) -> bool:
    if change <= 0 or len(keep.history) <= period:
        return False
    before, now = keep.history[-1 - period].loss, keep.history[-1].loss
    return before - now <= change * max(abs(now), 1e-300)
