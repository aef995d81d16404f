"""EM for the models of words: from several random starts, the best of them carried on, over clips in parallel.

A start that confuses two nouns stays at a local maximum with a lower likelihood. So several starts run a few rounds on
the sentences with the fewest participants, which cost little and tell nouns apart; only the likeliest go on with all
sentences, and of these, the likeliest is kept.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from weft import storage
from weft.declared import PROBABILITIES, Array, Stored
from weft.errors import ConfigError, InferenceError
from weft.learn.generative.rounds import Rounds
from weft.learn.generative.word_hmms import (
    Expected,
    Sample,
    WordClass,
    WordLexicon,
    WordModel,
    expect,
    maximize,
)
from weft.progress import progress
from weft.storage import Arrays

#: Samples per part of a round.
PART = 8
#: Of ordered states: how much less likely each later one is at the start, and ways back.
_EARLIER, _BACK = 0.2, 1e-3
_TASK = "checkpoint of words"


@dataclass(frozen=True)
class WordSchedule:
    """How words are learned: `trials` short rounds for every start, then up to `rounds` of all for the `finalists`."""

    starts: int = 12
    trials: int = 6
    finalists: int = 2
    rounds: int = 12
    tolerance: float = 1e-4
    floor: float = 1e-3
    stay: float = 0.8
    noise: float = 0.3
    ordered: bool = False
    seed: int = 0

    def check(self) -> None:
        """Raise an error for what cannot be."""
        for name in ("starts", "trials", "finalists", "rounds"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")


@dataclass
class Start:
    """A start with the log-likelihoods before every round: of the short sentences, and of all data."""

    number: int
    lexicon: WordLexicon
    trials: list[float] = field(default_factory=list)
    log_likelihoods: list[float] = field(default_factory=list)


@dataclass
class Learned:
    """The likeliest lexicon, and all starts, the likeliest first."""

    lexicon: WordLexicon
    starts: list[Start]


def random_lexicon(
    classes: Sequence[WordClass], seed: int, *, stay: float = 0.8, noise: float = 0.3, ordered: bool = False,
    exclusive: bool = True,
) -> WordLexicon:  # fmt: skip
    """Nearly uniform models; a state of several stays with probability `stay`, and if they are `ordered`, it leads to
    later states only, so that states become phases of an event.

    >>> random_lexicon([WordClass("noun", 1, 1, (4,))], seed=0).models[0].outputs[0].shape
    (1, 4)
    """
    rng = np.random.default_rng(seed)

    def perturbed(values: Any) -> Any:
        rough = values * np.exp(noise * rng.normal(size=values.shape))
        return rough / rough.sum(axis=-1, keepdims=True)

    models = []
    for kind in classes:
        plain, i = WordModel.uniform(kind), kind.states
        moves, initial = np.ones((1, 1)), plain.initial
        if i > 1:
            moves = np.full((i, i), (1 - stay) / (i - 1))
            np.fill_diagonal(moves, stay)
            if ordered:
                moves, initial = np.triu(moves), initial * _EARLIER ** np.arange(i)
                moves[np.tril_indices(i, -1)] = _BACK
        moves, initial = moves / moves.sum(axis=1, keepdims=True), initial / initial.sum()
        models.append(WordModel(initial, moves, tuple(perturbed(each) for each in plain.outputs)))
    return WordLexicon(list(classes), models, exclusive)


def learn_words(
    samples: Sequence[Sample], classes: Sequence[WordClass], schedule: WordSchedule | None = None, *,
    exclusive: bool = True, workers: int = 1, client: Any = None, checkpoint: str | os.PathLike[str] | None = None,
    start: WordLexicon | None = None,
) -> Learned:  # fmt: skip
    """Learn the models of words from scenes with sentences; `classes` has the class of every entry.

    `client` is a Dask client; the result is the same with processes, on a cluster or in this process. With
    `checkpoint`, every start is written to that file after each round, and an interrupted run goes on from it. With
    `start`, EM runs from that lexicon alone.
    """
    schedule = schedule or WordSchedule()
    schedule.check()
    if not samples:
        raise ConfigError("there is nothing to learn from: give clips with sentences")
    least = min(sample.participants for sample in samples)
    short = [sample for sample in samples if sample.participants == least]
    parts = _parts(short)
    few = len(parts)
    parts += _parts([sample for sample in samples if sample.participants > least])
    runs = [Start(0, start)] if start is not None else [
        Start(k, random_lexicon(
            classes, schedule.seed + 1000 * k, stay=schedule.stay, noise=schedule.noise, ordered=schedule.ordered,
            exclusive=exclusive,
        ))
        for k in range(schedule.starts)
    ]  # fmt: skip
    place = None if checkpoint is None else Path(checkpoint)
    if place is not None and place.is_file():
        _load(runs, schedule, place)
    total = len(runs) * schedule.trials + min(schedule.finalists, len(runs)) * schedule.rounds
    with Rounds(expect, parts, workers, client) as ask, progress("learning words", total, "rounds") as bar:

        def advance(run: Start, values: list[float], most: int, first: int | None) -> None:
            while len(values) < most and not _settled(values, schedule):
                _round(run, values, ask(run.lexicon, first), schedule)
                bar.advance(1)
                if place is not None:
                    _save(runs, schedule, place)

        for run in runs if len(runs) > schedule.finalists else ():
            if not run.log_likelihoods:
                advance(run, run.trials, schedule.trials, few)
        for run in sorted(runs, key=_likelihood, reverse=True)[: schedule.finalists]:
            advance(run, run.log_likelihoods, schedule.rounds, None)
    runs.sort(key=_likelihood, reverse=True)
    return Learned(runs[0].lexicon, runs)


def _parts(samples: Sequence[Sample]) -> list[list[Sample]]:
    return [list(samples[k : k + PART]) for k in range(0, len(samples), PART)]


def _likelihood(run: Start) -> tuple[bool, float]:
    """Finalists are above all others."""
    values = run.log_likelihoods or run.trials
    return bool(run.log_likelihoods), values[-1] if values else -np.inf


def _round(run: Start, values: list[float], parts: Sequence[Expected], schedule: WordSchedule) -> None:
    """Score the data and re-estimate."""
    together = Expected.none()
    for part in parts:
        together.add(part)
    value = float(sum(together.log_likelihoods))
    before = values[-1] if values else -np.inf
    if value < before - 1e-6 * abs(before):
        raise InferenceError(f"the log-likelihood of the data fell from {before} to {value}")
    values.append(value)
    run.lexicon = maximize(together, run.lexicon, schedule.floor)


def _settled(values: Sequence[float], schedule: WordSchedule) -> bool:
    """Whether the last round gained next to nothing."""
    return len(values) > 1 and values[-1] - values[-2] < schedule.tolerance * abs(values[-1])


def _save(runs: Sequence[Start], schedule: WordSchedule, path: Path) -> None:
    arrays: dict[str, Any] = {}
    for run in runs:
        arrays |= {f"{run.number}.{name}": each for name, each in to_arrays(run.lexicon).items()}
        arrays[f"{run.number}.trials"] = np.array(run.trials, dtype=np.float64)
        arrays[f"{run.number}.log_likelihoods"] = np.array(run.log_likelihoods, dtype=np.float64)
    storage.save(path, {"task": _TASK, "schedule": asdict(schedule), "starts": len(runs)}, arrays)


def _load(runs: Sequence[Start], schedule: WordSchedule, path: Path) -> None:
    header, arrays = storage.load(path)
    if header.get("task") != _TASK or header.get("schedule") != asdict(schedule) or header["starts"] != len(runs):
        raise ConfigError(f"{path} is no checkpoint of this training; remove it, or give the options it was begun with")
    for run in runs:
        own = {name.partition(".")[2]: each for name, each in arrays.items() if name.startswith(f"{run.number}.")}
        run.trials = [float(each) for each in own.pop("trials")]
        run.log_likelihoods = [float(each) for each in own.pop("log_likelihoods")]
        run.lexicon = from_arrays(own, run.lexicon.classes, run.lexicon.exclusive)


def to_arrays(lexicon: WordLexicon) -> dict[str, Any]:
    """The models as arrays of a model file."""
    arrays: dict[str, Any] = {}
    for entry, model in enumerate(lexicon.models):
        arrays[f"{entry}.initial"], arrays[f"{entry}.moves"] = model.initial, model.transition
        for n, each in enumerate(model.outputs):
            arrays[f"{entry}.{n}"] = each
    return arrays


def from_arrays(arrays: Arrays, classes: Sequence[WordClass], exclusive: bool = True) -> WordLexicon:
    """Restore a lexicon from arrays, whose shapes must be those of its classes."""
    stored, models = Stored.of(arrays), []
    for entry, kind in enumerate(classes):
        shapes = [
            Array(f"{entry}.initial", "float64", (kind.states,), within=PROBABILITIES),
            Array(f"{entry}.moves", "float64", (kind.states, kind.states), within=PROBABILITIES),
            *(
                Array(f"{entry}.{n}", "float64", (kind.states, z), within=PROBABILITIES)
                for n, z in enumerate(kind.bins)
            ),
        ]
        initial, moves, *outputs = stored.take(*shapes).values()
        models.append(WordModel(initial, moves, tuple(outputs)))
    return WordLexicon(list(classes), models, exclusive)
