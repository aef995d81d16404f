"""The loop that online learners share: epochs over shuffled batches, one update per batch (or a group of batches).

Batches of one sentence give the classical algorithms. The loop keeps counters and history, scores the weights on
held-out data after every epoch, writes checkpoints, and resumes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.learn.training import (
    Arrays,
    Callback,
    Checkpoint,
    EarlyStopping,
    Progress,
    Result,
    generator_from,
    generator_state,
    groups,
    run_name,
)
from weft.progress import progress

TICK = 64  # updates between two looks at the progress bar


class OnlineRun(Protocol):
    """A run of a learner."""

    def visit(self, group: list[Any]) -> float:
        """One update from a group of batches; gives their loss."""
        ...

    def weights_now(self) -> Floats:
        """The weights a user would get if training ended here (averaged, where the learner averages)."""
        ...

    def finished(self, loss: float) -> str:
        """Why another epoch would change nothing, or an empty string; `loss` is that of the epoch."""
        ...

    def state(self) -> tuple[Arrays, dict[str, Any]]: ...
    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None: ...


@dataclass(frozen=True)
class OnlineLearner(ABC):
    """What online learners have in common: epochs, batches per update, order; and `fit`."""

    epochs: int = 10
    group: int = 1
    shuffle: bool = True
    seed: int = 0

    @abstractmethod
    def begin(self, model: Any, batches: Sequence[Any], start: Floats | None) -> OnlineRun:
        """A run of the learner on a model; options that do not fit are an error."""

    def fit(
        self,
        model: Any,
        batches: Sequence[Any],
        start: Floats | None = None,
        *,
        early: EarlyStopping | None = None,
        checkpoint: Checkpoint | None = None,
        callback: Callback | None = None,
        describe: str = "training",
    ) -> Result:
        """Train a model on batches, one sentence each for the classical algorithms."""
        if not len(batches):
            raise ConfigError("There is nothing to learn from: no batches were given.")
        run = self.begin(model, batches, start)
        return run_epochs(
            run_name(self, model.size),
            run,
            batches,
            self.epochs,
            group=self.group,
            shuffle=self.shuffle,
            seed=self.seed,
            early=early,
            checkpoint=checkpoint,
            callback=callback,
            describe=describe,
        )


def run_epochs(
    learner: str,
    run: OnlineRun,
    batches: Sequence[Any],
    epochs: int,
    *,
    group: int = 1,
    shuffle: bool = True,
    seed: int = 0,
    early: EarlyStopping | None = None,
    checkpoint: Checkpoint | None = None,
    callback: Callback | None = None,
    describe: str = "training",
) -> Result:
    """Train for `epochs` epochs; the learners document the other arguments."""
    if epochs < 1 or group < 1:
        raise ConfigError(f"epochs and group must be at least 1, got {epochs} and {group}.")
    keep = Progress(learner, early, checkpoint, callback)
    generator = np.random.default_rng(seed)
    loss = float("nan")
    saved = keep.resume()
    if saved is not None:
        arrays, values = saved
        with keep.undamaged():
            generator, loss = generator_from(values["generator"]), float(values["loss"])
            keep.hand_over(run, arrays, values["run"])

    def state() -> tuple[Arrays, dict[str, Any]]:
        arrays, values = run.state()
        return arrays, {"generator": generator_state(generator), "loss": loss, "run": values}

    with progress(describe, epochs * len(batches), unit="sentences") as bar:
        bar.advance(keep.iteration * len(batches))
        while not keep.why:
            if keep.iteration >= epochs:
                keep.why = "epoch limit"
                break
            order = generator.permutation(len(batches)).tolist() if shuffle else list(range(len(batches)))
            loss = 0.0
            for number, chosen in enumerate(groups(order, group)):
                loss += run.visit([batches[i] for i in chosen])
                keep.calls += 1
                if number % TICK == TICK - 1:
                    bar.advance(TICK * group)
            keep.iteration += 1
            keep.why = run.finished(loss)
            keep.look(run.weights_now(), loss, state=state)
            bar.note(f"epoch {keep.iteration}, loss {loss:,.1f}")
    return keep.result(run.weights_now(), loss)
