"""Self-training: in every round a model labels sentences and learns from the labels it is confident of.

    theta_0 = learn(labelled)
    P_i = { (x, y*, p) : x unlabelled, y* = argmax_y p(y | x), p = p(y* | x) } under theta_{i-1}
    F_i = { (x, y*, p) in P_i : p >= threshold }
    theta_i = learn(labelled + F_i), a sentence of F_i weighing p                               by="weight"
              learn(labelled + S_i), S_i with each sentence of F_i by chance p                  by="sample"
              learn(labelled + F_i), every sentence of F_i in full                              by="all"

p(y* | x) = exp(score(y*) - log Z(x)) is the probability of the whole solution, not that of single decisions: from a
threshold of 0.5 on, y* holds most of the mass, and long sentences are kept less often. Weighing and sampling have the
same gradient in expectation. Labels are made and drawn anew in every round, never added to those of earlier ones.

`self_train` knows nothing of models: `learn` and `predict` are the caller's. `self_train_weights` is the same for a
linear model of `weft.learn.protocol`, over any structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.progress import progress

M = TypeVar("M")
#: How a sentence that is sure enough counts.
WAYS = ("weight", "sample", "all")


@dataclass(frozen=True)
class SelfLabels:
    """The model's own labels of all unlabelled sentences; those with weight 0 are not used.

    `labels` is what `predict` gave, `probability` and `weight` hold one number per sentence.
    """

    labels: Any
    probability: Floats
    weight: Floats

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The numbers of the sentences to learn from."""
        return np.flatnonzero(self.weight)


@dataclass(frozen=True)
class Round:
    """What one round learned from; `changed` is the share of sentences with other labels than in the round before."""

    number: int
    sentences: int  # unlabelled ones
    confident: int  # those at or above the threshold
    chosen: int  # those with a weight above 0
    weight: float  # the sum of weights
    probability: float  # the mean over all unlabelled sentences
    changed: float | None = None


@dataclass(frozen=True)
class SelfTraining(Generic[M]):
    """The outcome: the last model, the first (of labelled data alone), the rounds and the labels of the last one."""

    model: M
    first: M
    rounds: list[Round]
    labels: SelfLabels | None


def choose(
    labels: Any,
    probability: ArrayLike,
    threshold: float = 0.5,
    by: str = "weight",
    generator: np.random.Generator | None = None,
) -> SelfLabels:
    """Weights of self-labelled sentences from the probabilities of their labels.

    >>> choose(None, [0.9, 0.4, 0.5]).weight.tolist()
    [0.9, 0.0, 0.5]
    >>> choose(None, [0.9, 0.4, 0.5], by="all").weight.tolist()
    [1.0, 0.0, 1.0]
    >>> choose(None, [0.9, 0.4, 0.5], by="sample", generator=np.random.default_rng(0)).weight.tolist()
    [1.0, 0.0, 1.0]
    """
    sure = np.asarray(probability, dtype=np.float64)
    if sure.ndim != 1 or not ((sure >= 0) & (sure <= 1 + 1e-9)).all():
        raise DataError("self-training needs a probability between 0 and 1 per sentence; check what `predict` returns")
    confident = sure >= threshold
    if by == "weight":
        weight = np.where(confident, sure, 0.0)
    elif by == "sample":
        if generator is None:
            raise ConfigError("sampling needs a random generator: pass generator=np.random.default_rng(seed)")
        weight = (confident & (generator.random(len(sure)) < sure)).astype(np.float64)
    elif by == "all":
        weight = confident.astype(np.float64)
    else:
        raise ConfigError(f"self-labelled sentences count by one of {', '.join(WAYS)}, not by {by!r}")
    return SelfLabels(labels, sure, weight)


def self_train(
    learn: Callable[[M | None, SelfLabels | None], M],
    predict: Callable[[M], tuple[Any, ArrayLike]],
    *,
    rounds: int = 5,
    threshold: float = 0.5,
    by: str = "weight",
    seed: int = 0,
    differs: Callable[[Any, Any], ArrayLike] | None = None,
    after: Callable[[int, M], None] | None = None,
) -> SelfTraining[M]:
    """Train on labelled data, then `rounds` times on it and on the model's own labels.

    `learn(model, chosen)` trains on the labelled data and, unless `chosen` is None, on the chosen self-labelled
    sentences; `model` is that of the round before, to start from, None at first. `predict(model)` gives its labels of
    all unlabelled sentences and one probability per sentence. `differs(old, new)`, if given, says by sentence whether
    labels changed; `after(round, model)` is called with every model, that of round 0 first. Where no sentence is
    chosen, the model of the round is that of labelled data alone, exactly.

    >>> def learn(model, chosen):  # a mean of numbers; the labels of unlabelled ones are the mean before
    ...     labelled = [1.0, 3.0]
    ...     if chosen is None:
    ...         return np.mean(labelled)
    ...     return np.average(labelled + chosen.labels, weights=[1, 1, *chosen.weight])
    >>> outcome = self_train(learn, lambda mean: ([mean + 1, mean + 9], [0.5, 0.1]), rounds=2)
    >>> [round.chosen for round in outcome.rounds], round(float(outcome.model), 3)
    ([1, 1], 2.24)
    """
    if rounds < 0:
        raise ConfigError(f"self-training needs a number of rounds of at least 0, got {rounds}")
    if by not in WAYS:
        raise ConfigError(f"self-labelled sentences count by one of {', '.join(WAYS)}, not by {by!r}")
    if threshold < 0:
        raise ConfigError(f"the threshold must be at least 0, got {threshold}")
    generator = np.random.default_rng(seed)
    model = first = learn(None, None)
    if after is not None:
        after(0, model)
    told: list[Round] = []
    chosen: SelfLabels | None = None
    with progress("self-training", total=rounds, unit="rounds") as bar:
        for number in range(1, rounds + 1):
            before, chosen = chosen, choose(*predict(model), threshold, by, generator)
            model = learn(model, chosen) if len(chosen.chosen) else first
            told.append(_told(number, chosen, before, threshold, differs))
            if after is not None:
                after(number, model)
            bar.advance()
            bar.note(f"{told[-1].chosen:,} of {told[-1].sentences:,} sentences")
    return SelfTraining(model, first, told, chosen)


def self_train_weights(
    model: Any,
    labelled: Sequence[Any],
    unlabelled: Sequence[Any],
    fit: Callable[[Sequence[Any], Floats], Floats],
    *,
    start: Floats | None = None,
    rounds: int = 5,
    threshold: float = 0.5,
    by: str = "weight",
    seed: int = 0,
    after: Callable[[int, Floats], None] | None = None,
) -> SelfTraining[Floats]:
    """Self-train the weights of a linear model; every round starts from the weights of the one before.

    `fit(batches, start)` trains weights with any learner, from `start` on. Batches are dataclasses with `gold` and
    `weight`, as those of chains and trees; their features are made once and serve all rounds.

    >>> from weft.learn import ChoiceModel, Objective, minimize
    >>> choice = ChoiceModel(features=2, labels=2)
    >>> labelled = choice.batch([[1.0, 0.0], [-1.0, 0.0]], gold=[0, 1])
    >>> unlabelled = choice.batch([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.1]], gold=None)
    >>> def fit(batches, start):
    ...     return minimize(Objective(choice, batches, l2=0.1), start).weights
    >>> outcome = self_train_weights(choice, [labelled], [unlabelled], fit, rounds=2, threshold=0.7)
    >>> outcome.rounds[0].chosen, outcome.first.round(1).tolist(), outcome.model.round(1).tolist()
    (2, [1.3, -1.3, 0.0, 0.0], [1.5, -1.5, 0.4, -0.4])
    """
    origin = np.zeros(model.size) if start is None else start
    bounds = np.cumsum([0, *(len(batch) for batch in unlabelled)])

    def learn(weights: Floats | None, chosen: SelfLabels | None) -> Floats:
        batches = list(labelled)
        if chosen is not None:
            for batch, gold, first in zip(unlabelled, chosen.labels, bounds[:-1], strict=True):
                weight = chosen.weight[first : first + len(batch)]
                if weight.any():
                    batches.append(replace(batch, gold=gold, weight=batch.weight * weight))
        return fit(batches, origin if weights is None else weights)

    before: list[Any] | None = None
    changed = np.zeros(0)

    def predict(weights: Floats) -> tuple[list[Any], Floats]:
        nonlocal changed, before
        before, sure, changed = best_labels(model, unlabelled, weights, before)
        return before, sure

    return self_train(
        learn,
        predict,
        rounds=rounds,
        threshold=threshold,
        by=by,
        seed=seed,
        differs=lambda old, new: changed,  # known from the moment of labelling, where the structures are at hand
        after=after,
    )


def best_labels(
    model: Any, batches: Sequence[Any], weights: Floats, before: Sequence[Any] | None = None
) -> tuple[list[Any], Floats, Floats]:
    """The best solution of every batch, one probability p(y* | x) = exp(score(y*) - log Z(x)) per sentence, and one
    number of decisions that differ from the solutions `before`, 0 without any.

    >>> from weft.learn import ChoiceModel
    >>> choice = ChoiceModel(features=1, labels=2)
    >>> batch = choice.batch([[1.0], [0.0]], gold=None)
    >>> labels, probability, _ = best_labels(choice, [batch], np.log([1.0, 4.0]))
    >>> labels[0].tolist(), probability.round(2).tolist()
    ([1, 0], [0.8, 0.5])
    """
    solutions, sure, differing = [], [np.zeros(0)], [np.zeros(0)]
    for k, batch in enumerate(batches):
        structure = model.score(batch, weights)
        best = structure.best()
        solutions.append(best)
        # Rounding may lift a sure sentence a hair above 1.
        sure.append(np.minimum(np.exp(structure.score(best) - structure.log_partition()), 1.0))
        differing.append(np.zeros(len(batch)) if before is None else structure.differs(before[k], best))
    return solutions, np.concatenate(sure), np.concatenate(differing)


def _told(
    number: int,
    chosen: SelfLabels,
    before: SelfLabels | None,
    threshold: float,
    differs: Callable[[Any, Any], ArrayLike] | None,
) -> Round:
    sure = chosen.probability
    changed = None
    if differs is not None and before is not None and len(sure):
        changed = float(np.mean(np.asarray(differs(before.labels, chosen.labels)) > 0))
    return Round(
        number,
        len(sure),
        int((sure >= threshold).sum()),
        len(chosen.chosen),
        float(chosen.weight.sum()),
        float(sure.mean()) if len(sure) else 0.0,
        changed,
    )
