"""Markov chains run side by side: seeds, processes, checkpoints, traces, and whether they have met.

    chain c starts from seed_c and takes `iterations` steps; after `burn_in` every `lag`-th state is a sample

Split R-hat compares the variance between chains, each cut into halves, with that within them; near 1 they have met:

    W = mean of variances,  B = n variance of means,   R-hat = sqrt( ((n - 1) / n W + B / n) / W )

A chain that is stopped goes on from its checkpoint to the same bits as if it had not been.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from weft import storage
from weft.errors import ConfigError, ModelError
from weft.progress import progress
from weft.storage import Arrays


class Chain(Protocol):
    """What the driver asks of a sampler."""

    def step(self) -> None:
        """One iteration."""

    def trace(self) -> dict[str, float]:
        """Figures by which to watch the chain."""

    def sample(self) -> Arrays:
        """What is kept of the present state as a sample."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """All that is needed to go on: a header for JSON, and arrays."""

    def restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Go on from a `state`."""


@dataclass(frozen=True)
class Schedule:
    """How long a chain runs and which of its states are samples.

    >>> [i for i in range(1, 11) if Schedule(iterations=10, burn_in=4, samples=3, lag=2).takes(i)]
    [6, 8, 10]
    """

    iterations: int = 1000
    burn_in: int = 800
    samples: int = 20
    lag: int = 10
    trace_every: int = 1
    checkpoint_every: int = 50

    def __post_init__(self) -> None:
        if (
            min(self.iterations, self.samples, self.lag, self.trace_every, self.checkpoint_every) < 1
            or self.burn_in < 0
        ):
            raise ConfigError("iterations, samples, lag and the other numbers of a schedule must be above 0")
        last = self.burn_in + self.samples * self.lag
        if last > self.iterations:
            raise ConfigError(
                f"{self.samples} samples every {self.lag} iterations after {self.burn_in} need {last} iterations, "
                f"but the schedule has {self.iterations}"
            )

    @classmethod
    def of(cls, iterations: int, samples: int) -> Schedule:
        """A schedule that samples, evenly spread, from the last fifth of its iterations.

        >>> Schedule.of(1000, 20) == Schedule()
        True
        """
        lag = max(1, iterations // (5 * samples)) if samples > 0 else 1
        return cls(iterations, max(0, iterations - samples * lag), samples, lag)

    def takes(self, iteration: int) -> bool:
        """Whether the state after so many iterations is a sample."""
        past = iteration - self.burn_in
        return past > 0 and past % self.lag == 0 and past // self.lag <= self.samples


@dataclass
class ChainResult:
    """One chain: its seed, a row of figures for every iteration traced, its samples."""

    seed: int
    trace: list[dict[str, float]] = field(default_factory=list)
    samples: list[Arrays] = field(default_factory=list)


@dataclass
class ChainsResult:
    """All chains of a run.

    >>> rows = [{"iteration": float(i), "x": float(i % 3)} for i in range(1, 13)]
    >>> run = ChainsResult(Schedule.of(12, 2), [ChainResult(0, rows), ChainResult(1, rows)])
    >>> round(run.r_hat("x"), 2), list(run.lines("x"))
    (0.82, ['chain 1', 'chain 2'])
    """

    schedule: Schedule
    chains: list[ChainResult]

    @property
    def samples(self) -> list[Arrays]:
        """The samples of all chains, chain by chain."""
        return [sample for chain in self.chains for sample in chain.samples]

    def values(self, name: str) -> list[list[tuple[float, float]]]:
        """Iteration and value of a figure, chain by chain."""
        return [[(row["iteration"], row[name]) for row in chain.trace] for chain in self.chains]

    def r_hat(self, name: str) -> float:
        """Split R-hat of a figure over the second half of the run."""
        since = self.schedule.iterations // 2
        return r_hat([[value for i, value in chain if i > since] for chain in self.values(name)])

    def lines(self, name: str) -> dict[str, list[tuple[float, float]]]:
        """The values by the names of their chains, as `weft.pictures.draw_lines` draws them."""
        return {f"chain {c + 1}": points for c, points in enumerate(self.values(name))}


def r_hat(chains: Sequence[ArrayLike]) -> float:
    """Split R-hat of equally long chains of numbers; not a number for fewer than 4 draws.

    >>> round(r_hat([[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 2.0, 1.0]]), 3), r_hat([[1.0] * 4, [2.0] * 4])
    (0.707, inf)
    """
    rows = np.asarray(chains, dtype=np.float64)
    half = rows.shape[1] // 2
    if half < 2:
        return float("nan")
    halves = np.concatenate([rows[:, :half], rows[:, -half:]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else float("inf")
    return float(np.sqrt(((half - 1) / half * within + between) / within))


def run_chains(
    start: Callable[[int], Chain],
    schedule: Schedule,
    chains: int = 4,
    seed: int = 0,
    workers: int = 1,
    checkpoints: str | os.PathLike[str] | None = None,
    describe: str = "sampling",
) -> ChainsResult:
    """Run chains from seeds `seed`, `seed` + 1, ... and gather traces and samples.

    `start` makes a chain from its seed; with several `workers` chains run in processes of their own, and it must be
    something that can be sent there (a function of a module, or `functools.partial` of one). With `checkpoints` every
    chain writes its state to a file in that folder from time to time and begins with what it finds there.
    """
    if chains < 1 or workers < 1:
        raise ConfigError(f"there must be at least one chain and one worker, got {chains} and {workers}")
    tasks = [
        (start, schedule, seed + c, None if checkpoints is None else Path(checkpoints, f"chain-{c + 1}.weft"), describe)
        for c in range(chains)
    ]
    if workers == 1 or chains == 1:
        return ChainsResult(schedule, [_run(*task) for task in tasks])
    from multiprocessing import get_context

    with ProcessPoolExecutor(min(workers, chains), get_context("spawn")) as pool:
        running = [pool.submit(_run, *task) for task in tasks]
        with progress(f"{describe}, {chains} chains", chains, unit="chains") as bar:
            found = []
            for future in running:
                found.append(future.result())
                bar.advance()
    return ChainsResult(schedule, found)


def _run(
    start: Callable[[int], Chain], schedule: Schedule, seed: int, checkpoint: Path | None, describe: str
) -> ChainResult:
    chain = start(seed)
    result, done = ChainResult(seed), 0
    if checkpoint is not None and checkpoint.is_file():
        done = _load(chain, result, schedule, checkpoint)
    with progress(f"{describe}, seed {seed}", schedule.iterations - done, unit="iterations") as bar:
        for iteration in range(done + 1, schedule.iterations + 1):
            chain.step()
            if iteration % schedule.trace_every == 0 or iteration == schedule.iterations:
                result.trace.append({"iteration": float(iteration), **chain.trace()})
            if schedule.takes(iteration):
                result.samples.append(chain.sample())
            last = iteration == schedule.iterations
            if checkpoint is not None and (iteration % schedule.checkpoint_every == 0 or last):
                _save(chain, result, schedule, iteration, checkpoint)
            bar.advance()
    return result


def _save(chain: Chain, result: ChainResult, schedule: Schedule, iteration: int, path: Path) -> None:
    header, arrays = chain.state()
    kept = {f"state.{name}": array for name, array in arrays.items()}
    for s, sample in enumerate(result.samples):
        kept |= {f"sample.{s}.{name}": array for name, array in sample.items()}
    about = {
        "task": "checkpoint of a Markov chain", "seed": result.seed, "schedule": asdict(schedule), "done": iteration,
        "samples": len(result.samples), "chain": header, "trace": result.trace,
    }  # fmt: skip
    storage.save(path, about, kept)


def _load(chain: Chain, result: ChainResult, schedule: Schedule, path: Path) -> int:
    """Restore a chain and its result; how many iterations are done."""
    header, arrays = storage.load(path)
    if header.get("schedule") != json.loads(json.dumps(asdict(schedule))) or header.get("seed") != result.seed:
        raise ModelError(
            f"{path} is the checkpoint of a run with another schedule or seed; give the same ones, or another folder"
        )
    chain.restore(header["chain"], {name[6:]: array for name, array in arrays.items() if name.startswith("state.")})
    result.trace = header["trace"]
    for s in range(header["samples"]):
        start = f"sample.{s}."
        found = {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}
        result.samples.append({name: np.array(array) for name, array in found.items()})
    return int(header["done"])
