"""Shared by all learners: results, learning history, early stopping on dev data, checkpoints.

A checkpoint is one safetensors file: arrays as tensors, everything else (epoch, calls, state of the random generator,
history) as JSON in its header. A run that is given the checkpoint of an interrupted one goes on where that stopped and
ends with exactly the same weights. The state of a learner declares what its checkpoint must hold: the same arrays, of
the same types and shapes, and the same values. Anything else is refused as damaged.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from weft.arrays import Floats
from weft.declared import ANY, Array, Stored
from weft.errors import ConfigError, ModelError
from weft.headers import Real, Record, Text, Value, Whole

Arrays = dict[str, np.ndarray[Any, Any]]
VERSION = 1


@dataclass(frozen=True)
class Row:
    """One line of the learning history: an iteration of an optimizer or an epoch of an online learner.

    `calls` counts passes over the data (oracle calls) for optimizers and updates for online learners; `loss` is what
    the learner minimizes; `norm` the length of the gradient; `score` that of early stopping.
    """

    iteration: int
    calls: int
    seconds: float
    loss: float
    norm: float = math.nan
    score: float = math.nan


@dataclass(frozen=True)
class Result:
    """The result of a learner: weights, history and why it stopped."""

    weights: Floats
    loss: float
    calls: int
    iterations: int
    history: list[Row]
    why: str


@dataclass(frozen=True)
class Step:
    """What a callback gets after every iteration; copy `weights` to keep them, since they are the learner's own."""

    row: Row
    weights: Floats


Callback = Callable[[Step], bool | None]


class EarlyStopping:
    """Stop when a score on held-out data has not risen for `patience` looks, and keep the best weights.

    >>> stopper = EarlyStopping(lambda weights: float(weights[0]), patience=1)
    >>> [stopper.see(i, np.array([x])) for i, x in enumerate([1.0, 3.0, 2.0])]
    [False, False, True]
    >>> stopper.best_iteration, stopper.best_score, stopper.best_weights
    (1, 3.0, array([3.]))
    """

    def __init__(self, score: Callable[[Floats], float], patience: int = 3, every: int = 1) -> None:
        if patience < 1 or every < 1:
            raise ConfigError(f"EarlyStopping needs patience and every >= 1, got {patience} and {every}.")
        self.score, self.patience, self.every = score, patience, every
        self.best_weights: Floats | None = None
        self.best_score, self.best_iteration = -math.inf, -1
        self.scores: list[tuple[int, float]] = []

    def see(self, iteration: int, weights: Floats) -> bool:
        """Score the weights; True means stop."""
        if iteration % self.every:
            return False
        score = float(self.score(weights))
        self.scores.append((iteration, score))
        if score > self.best_score:
            self.best_score, self.best_iteration, self.best_weights = score, iteration, weights.copy()
        looks = sum(1 for seen, _ in self.scores if seen > self.best_iteration)
        return looks >= self.patience

    @property
    def latest(self) -> float:
        return self.scores[-1][1] if self.scores else math.nan

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays: Arrays = {} if self.best_weights is None else {"early.best": self.best_weights}
        return arrays, {"best_score": self.best_score, "best_iteration": self.best_iteration, "scores": self.scores}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        self.best_weights = arrays.get("early.best")
        self.best_score, self.best_iteration = values["best_score"], values["best_iteration"]
        self.scores = [(iteration, score) for iteration, score in values["scores"]]


@dataclass(frozen=True)
class Checkpoint:
    """A file that a learner rewrites every few iterations and resumes from when it exists.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(Path(folder) / "run.safetensors")
    ...     checkpoint.load("demo") is None
    ...     checkpoint.save("demo", {"weights": np.ones(2)}, {"epoch": 3})
    ...     arrays, values = checkpoint.load("demo")
    True
    >>> arrays["weights"], values
    (array([1., 1.]), {'epoch': 3})
    """

    path: str | Path
    every: int = 1
    resume: bool = True

    def due(self, iteration: int) -> bool:
        return iteration % self.every == 0

    def save(self, learner: str, arrays: Arrays, values: dict[str, Any]) -> None:
        """Write atomically: a run that dies while writing leaves the previous checkpoint intact."""
        from safetensors.numpy import save_file

        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"weft": json.dumps({"version": VERSION, "learner": learner, "values": values})}
        beside = path.with_name(path.name + ".part")
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, beside, metadata=header)
        os.replace(beside, path)

    def load(self, learner: str) -> tuple[Arrays, dict[str, Any]] | None:
        """The saved state, or None where there is nothing to resume."""
        path = Path(self.path)
        if not self.resume or not path.exists():
            return None
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as stored:
                header = json.loads((stored.metadata() or {})["weft"])
                arrays = {name: np.array(stored.get_tensor(name)) for name in stored.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, KeyError, ValueError) as error:
            raise ModelError(f"{path} is not a checkpoint of weft ({error}). Delete it to start anew.") from error
        if not _is_header(header):
            raise ModelError(f"{path} is not a checkpoint of weft (its header is damaged). Delete it to start anew.")
        if header["version"] > VERSION:
            raise ModelError(f"{path} was written by a newer weft (version {header['version']}). Update, or delete it.")
        if header["learner"] != learner:
            raise ConfigError(
                f"{path} is the checkpoint of another run ({header['learner']}), this one is {learner}. "
                "Delete it, or choose another path."
            )
        return arrays, header["values"]


def _is_header(header: Any) -> bool:
    kinds = {"version": int, "learner": str, "values": dict}
    return isinstance(header, dict) and all(type(header.get(name)) is kind for name, kind in kinds.items())


class Run(Protocol):
    """A learner at work, whose state a checkpoint keeps."""

    def state(self) -> tuple[Arrays, dict[str, Any]]: ...
    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None: ...


#: What a checkpoint keeps of every run.
_SHARED = Record(iteration=Whole(), calls=Whole(), seconds=Real(0.0), why=Text())


def _value_like(value: float) -> Value:
    """The declaration of a value like one of the learner's own."""
    return Whole() if isinstance(value, int) else Real(-math.inf, math.inf)


def _like(name: str, array: np.ndarray[Any, Any]) -> Array:
    """The declaration of an array like one of the learner's own, with any values."""
    return Array(name, array.dtype.name, array.shape, low=ANY, within=(-math.inf, math.inf))


@dataclass
class Progress:
    """The part of a run's state that all learners keep: counters, history, early stopping, the file."""

    learner: str
    early: EarlyStopping | None = None
    checkpoint: Checkpoint | None = None
    callback: Callback | None = None
    iteration: int = 0
    calls: int = 0
    history: list[Row] = field(default_factory=list)
    why: str = ""
    _earlier: float = 0.0
    _started: float = field(default_factory=time.process_time)

    @property
    def seconds(self) -> float:
        """CPU seconds of the run, including those before an interruption."""
        return max(0.0, self._earlier + time.process_time() - self._started)

    def look(
        self,
        weights: Floats,
        loss: float,
        norm: float = math.nan,
        *,
        state: Callable[[], tuple[Arrays, dict[str, Any]]],
    ) -> None:
        """Record a finished iteration, write the checkpoint when due, and set `why` if the run must stop."""
        if self.early is not None and self.early.see(self.iteration, weights):
            self.why = "no better on held-out data"
        score = math.nan if self.early is None else self.early.latest
        row = Row(self.iteration, self.calls, self.seconds, float(loss), float(norm), score)
        self.history.append(row)
        if self.checkpoint is not None and self.checkpoint.due(self.iteration):
            self._save(self.checkpoint, *state())
        if not self.why and self.callback is not None and self.callback(Step(row, weights)):
            # After the checkpoint: a run that its user stops can be resumed.
            self.why = "stopped by the callback"

    def _save(self, checkpoint: Checkpoint, arrays: Arrays, values: dict[str, Any]) -> None:
        held, early = ({}, None) if self.early is None else self.early.state()
        rows = [asdict(row) for row in self.history]
        shared = {"iteration": self.iteration, "calls": self.calls, "seconds": self.seconds, "why": self.why}
        everything = {"own": values, "shared": shared, "history": rows, "early": early}
        checkpoint.save(self.learner, {**arrays, **held}, everything)

    def resume(self) -> tuple[Arrays, dict[str, Any]] | None:
        """Take over the state of the checkpoint, where there is one, and give the learner its own."""
        found = None if self.checkpoint is None else self.checkpoint.load(self.learner)
        if found is None:
            return None
        arrays, values = found
        with self.undamaged():
            _SHARED.check(values["shared"])
            shared = values["shared"]
            self.iteration, self.calls, self._earlier = shared["iteration"], shared["calls"], shared["seconds"]
            self.why = shared["why"]
            self.history = [Row(**row) for row in values["history"]]
            if self.early is not None and values["early"] is not None:
                self.early.restore(arrays, values["early"])
            return arrays, dict(values["own"])

    def hand_over(self, run: Run, arrays: Arrays, values: dict[str, Any]) -> None:
        """Restore a learner that has just begun, if what is saved is like its own state."""
        own, fields = run.state()
        with self.undamaged():
            stored = Stored(arrays)
            stored.take(*(_like(name, array) for name, array in own.items()))
            if "early.best" in stored:
                stored.take(Array("early.best", "float64", own.get("weights", next(iter(own.values()))).shape))
            stored.refuse_rest()
            Record(**{name: _value_like(value) for name, value in fields.items()}).check(values)
            run.restore(arrays, {name: values[name] for name in fields})

    @contextmanager
    def undamaged(self) -> Iterator[None]:
        """Turn whatever a damaged checkpoint causes into one plain error."""
        path = None if self.checkpoint is None else self.checkpoint.path
        try:
            yield
        except (ModelError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = error if isinstance(error, ModelError) else repr(error)
            raise ModelError(f"{path} is a damaged checkpoint ({reason}). Delete it to start anew.") from error

    def result(self, weights: Floats, loss: float) -> Result:
        """The outcome: the best weights on held-out data where those were watched, else the last."""
        if self.early is not None and self.early.best_weights is not None:
            weights = self.early.best_weights
        return Result(weights, float(loss), self.calls, self.iteration, self.history, self.why)


def run_name(options: Any, size: int) -> str:
    """What a checkpoint must agree on with the run that resumes it: all options but the number of epochs.

    >>> from weft.learn.online.perceptron import Perceptron
    >>> run_name(Perceptron(epochs=3), 10)
    'Perceptron(group=1, shuffle=True, seed=0, cost=0.0, average=True) on 10 weights'
    """
    kept = (f"{part.name}={getattr(options, part.name)!r}" for part in fields(options) if part.name != "epochs")
    return f"{type(options).__name__}({', '.join(kept)}) on {size} weights"


def generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """The state of a random generator as plain numbers.

    >>> one = np.random.default_rng(3)
    >>> other = generator_from(json.loads(json.dumps(generator_state(one))))
    >>> bool(one.random() == other.random())
    True
    """
    state = generator.bit_generator.state
    return {"name": state["bit_generator"], **{key: state[key] for key in ("state", "has_uint32", "uinteger")}}


def generator_from(state: dict[str, Any]) -> np.random.Generator:
    """The random generator in a saved state."""
    generator = np.random.default_rng()
    generator.bit_generator.state = {"bit_generator": state["name"], **{k: v for k, v in state.items() if k != "name"}}
    return generator


def groups(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Consecutive groups of at most `size`.

    >>> list(groups([3, 1, 2], 2))
    [[3, 1], [2]]
    """
    for begin in range(0, len(order), size):
        yield order[begin : begin + size]
