"""The function that batch learners minimize, and its gradient.

    loss(w) = - sum over batches of value(w) + l2 * ||w||^2 / 2,        l2 = 1 / sigma^2
    gradient(w) = - sum over batches of scatter(parts(w)) + l2 * w

`sigma` is the standard deviation of the Gaussian prior. CRFsuite's `c2` charges c2 * ||w||^2, so l2 = 2 * c2; scikit-
learn's `C` multiplies the likelihood, so l2 = 1 / C.

Batches are dealt to the workers in turn, each worker adds into its own gradient, and gradients are summed in the order
of the workers: a result never depends on timing, and on the number of workers only by rounding. Workers are threads
(kernels hold no lock) or those of a Dask cluster; both run the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import fast_kernel
from weft.learn.batch.descent import dot
from weft.learn.signals import Gold, gold_of

# One worker's share: adds into the last argument, returns one row of numbers per batch.
Chunk = Callable[[Any, Sequence[Any], Any, Floats, Floats], list[Any]]


class Objective:
    """Loss and gradient of a model on batches; counts its calls.

    The gradient returned belongs to the objective and is overwritten by the next call.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> model = ChoiceModel(features=2, labels=2)
    >>> batch = model.batch([[1.0, 0.0], [0.0, 1.0]], gold=[0, 1])
    >>> objective = Objective(model, [batch], l2=1.0)
    >>> loss, gradient = objective(np.zeros(model.size))
    >>> round(loss, 4), gradient
    (1.3863, array([-0.5,  0.5,  0.5, -0.5]))
    >>> objective.calls
    1
    """

    def __init__(
        self,
        model: Any,
        batches: Sequence[Any],
        signal: Any = None,
        *,
        l2: float | None = None,
        sigma: float | None = None,
        workers: int = 1,
        cluster: Any = None,
    ) -> None:
        if l2 is not None and sigma is not None:
            raise ConfigError("Objective takes l2 or sigma, not both: l2 = 1 / sigma^2.")
        if sigma is not None:
            if sigma <= 0:
                raise ConfigError(f"sigma must be above 0, got {sigma}.")
            l2 = 1.0 / sigma**2
        if l2 is not None and l2 < 0:
            raise ConfigError(f"l2 must be at least 0, got {l2}.")
        if not batches:
            raise ConfigError("Objective needs at least one batch, got none.")
        if workers < 1:
            raise ConfigError(f"Objective needs at least 1 worker, got {workers}.")
        self.model, self.batches, self.l2 = model, batches, float(l2 or 0.0)
        self.signal = Gold() if signal is None else signal
        self.calls = 0
        self._team: _Threads | _Cluster = (
            _Threads(model, batches, workers) if cluster is None else _Cluster(model, batches, cluster)
        )
        self._gradient: Floats = np.zeros(model.size)

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """Loss and gradient, both for minimization."""
        self.calls += 1
        signal: Any = self.signal
        base = 0.0
        if hasattr(signal, "measure"):
            # Expectations are a function of the whole corpus: a first pass to know them, a second to pull at them.
            total = np.sum(self._team.run(_measure, signal, weights, self._gradient), axis=0)
            base, signal = signal.value(total), _Pull(signal, total)
        self._gradient.fill(0.0)
        value = base + sum(self._team.run(_value_and_gradient, signal, weights, self._gradient))
        squared = _add_prior(self._gradient, weights, self.l2)
        return -value + 0.5 * self.l2 * squared, self._gradient

    def value(self, weights: Floats) -> float:
        """The loss alone (same cost)."""
        return self(weights)[0]

    def empirical(self) -> Floats:
        """Feature sums of the gold solutions."""
        return self._sum(_empirical, np.zeros(self.model.size))

    def expectations(self, weights: Floats) -> Floats:
        """Feature expectations under the weights; costs one call."""
        self.calls += 1
        return self._sum(_expectations, weights)

    def loss_and_expectations(self, weights: Floats) -> tuple[float, Floats]:
        """The loss of the gold signal, and the feature expectations, in one call."""
        self.calls += 1
        into = np.zeros(self.model.size)
        value = sum(self._team.run(_value_and_expectations, self.signal, weights, into))
        return -value + 0.5 * self.l2 * dot(weights, weights), into

    def curvature(self, weights: Floats) -> Floats:
        """Diagonal of the Hessian that ignores covariance between positions, prior included; costs one call."""
        self.calls += 1
        diagonal = self._sum(_curvature, weights)
        diagonal += self.l2
        return diagonal

    def most_active(self) -> float:
        """The largest feature sum of any solution of any sentence."""
        return max(float(self.model.most_active(batch)) for batch in self.batches)

    def _sum(self, chunk: Chunk, weights: Floats) -> Floats:
        into = np.zeros(self.model.size)
        self._team.run(chunk, self.signal, weights, into)
        return into


class TotalObjective:
    """The sum of several objectives over the same weights, e.g. gold sentences and expectations of raw text.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> model = ChoiceModel(features=1, labels=2)
    >>> half = Objective(model, [model.batch([[1.0]], gold=[0])])
    >>> TotalObjective([half, half])(np.zeros(2))[1]
    array([-1.,  1.])
    """

    def __init__(self, objectives: Sequence[Any]) -> None:
        self.objectives = objectives

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        total, gradient = 0.0, np.zeros(len(weights))
        for objective in self.objectives:
            loss, own = objective(weights)
            total += loss
            gradient += own
        return total, gradient


class _Threads:
    """Shares of batches on threads; the first worker adds straight into the result."""

    def __init__(self, model: Any, batches: Sequence[Any], workers: int) -> None:
        self.model, self.batches = model, batches
        self.workers = min(workers, len(batches))
        self._buffers = [np.zeros(model.size) for _ in range(self.workers - 1)]

    def run(self, chunk: Chunk, signal: Any, weights: Floats, into: Floats) -> list[Any]:
        shares = [self.batches[worker :: self.workers] for worker in range(self.workers)]
        if self.workers == 1:
            return chunk(self.model, self.batches, signal, weights, into)
        for buffer in self._buffers:
            buffer.fill(0.0)
        with ThreadPoolExecutor(self.workers) as pool:
            running = [
                pool.submit(chunk, self.model, share, signal, weights, buffer)
                for share, buffer in zip(shares, [into, *self._buffers], strict=True)
            ]
            rows = [future.result() for future in running]
        for buffer in self._buffers:
            into += buffer
        return _interleave(rows, len(self.batches))


class _Cluster:
    """Shares of batches on the workers of a Dask cluster, sent there once."""

    def __init__(self, model: Any, batches: Sequence[Any], client: Any) -> None:
        self.client, self.size = client, len(batches)
        workers = max(1, min(len(client.scheduler_info(n_workers=-1)["workers"]), len(batches)))
        # One share at a time: a single scatter of the list would put all shares on one worker of a small cluster.
        names = sorted(client.scheduler_info(n_workers=-1)["workers"])[:workers]
        self.shares = [
            client.scatter(_Share(list(batches[i::workers])), workers=[names[i]], hash=False) for i in range(workers)
        ]
        self.model = client.scatter(model, broadcast=True, hash=False)

    def run(self, chunk: Chunk, signal: Any, weights: Floats, into: Floats) -> list[Any]:
        here = self.client.scatter(np.array(weights), broadcast=True, hash=False)
        running = [
            self.client.submit(_on_worker, chunk, self.model, share, signal, here, pure=False) for share in self.shares
        ]
        rows = []
        for future in running:
            row, gradient = future.result()
            into += gradient
            rows.append(row)
        return _interleave(rows, self.size)


class _Share:
    """Keeps Dask from looking inside a list of batches."""

    def __init__(self, batches: list[Any]) -> None:
        self.batches = batches


def _on_worker(chunk: Chunk, model: Any, share: _Share, signal: Any, weights: Floats) -> tuple[list[Any], Floats]:
    into = np.zeros(model.size)
    return chunk(model, share.batches, signal, weights, into), into


def _interleave(rows: list[list[Any]], size: int) -> list[Any]:
    """The rows of all batches in the order of the batches."""
    return [rows[i % len(rows)][i // len(rows)] for i in range(size)]


class _Pull:
    """An expectation signal whose totals are known."""

    def __init__(self, signal: Any, total: Floats) -> None:
        self.signal, self.total = signal, total

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        return 0.0, self.signal.pull(structure, batch, self.total)


def _value_and_gradient(model: Any, batches: Sequence[Any], signal: Any, weights: Floats, into: Floats) -> list[float]:
    values = []
    for batch in batches:
        value, parts = signal(model.score(batch, weights), batch)
        model.scatter(batch, parts, into)
        values.append(value)
    return values


def _value_and_expectations(
    model: Any, batches: Sequence[Any], signal: Any, weights: Floats, into: Floats
) -> list[float]:
    values = []
    for batch in batches:
        structure = model.score(batch, weights)
        log_z, marginals = structure.log_partition_and_marginals(batch.weight)
        model.scatter(batch, marginals, into)
        values.append(float(batch.weight @ (structure.score(gold_of(batch, "Iterative scaling")) - log_z)))
    return values


def _measure(model: Any, batches: Sequence[Any], signal: Any, weights: Floats, into: Floats) -> list[Floats]:
    return [signal.measure(model.score(batch, weights), batch) for batch in batches]


def _expectations(model: Any, batches: Sequence[Any], signal: Any, weights: Floats, into: Floats) -> list[float]:
    for batch in batches:
        model.scatter(batch, model.score(batch, weights).marginals(batch.weight), into)
    return [0.0] * len(batches)


def _empirical(model: Any, batches: Sequence[Any], signal: Any, weights: Floats, into: Floats) -> list[float]:
    for batch in batches:
        structure = model.score(batch, weights)
        model.scatter(batch, structure.parts(gold_of(batch, "Objective.empirical"), batch.weight), into)
    return [0.0] * len(batches)


def _curvature(model: Any, batches: Sequence[Any], signal: Any, weights: Floats, into: Floats) -> list[float]:
    for batch in batches:
        model.curvature(batch, model.score(batch, weights), into)
    return [0.0] * len(batches)


@fast_kernel
def _add_prior(gradient: Floats, weights: Floats, l2: float) -> float:
    """gradient <- l2 * weights - gradient, and the squared length of the weights, in one pass."""
    squared = 0.0
    for i in range(gradient.shape[0]):
        gradient[i] = l2 * weights[i] - gradient[i]
        squared += weights[i] * weights[i]
    return squared
