"""Tuning a translator: decode, improve the weights on the k best lists, and decode again.

    mert, pro, mira      dense weights, on held-out sentence pairs
    hols                 dense weights and one weight per phrase pair; these move along one line at a time
                         (`weft.learn.tuning.held_out`), whose gradient comes from training sentences translated without
                         what they themselves taught

Lists of all rounds are kept. The result has the weights of the round whose decoded translations had the highest BLEU;
the weights at the start are a round too, so tuning never lowers BLEU on the sentences it tunes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.errors import ConfigError, DataError
from weft.learn.tuning.held_out import Line
from weft.learn.tuning.lists import Lists
from weft.learn.tuning.mert import MertSettings, mert
from weft.learn.tuning.mira import MiraSettings, mira
from weft.learn.tuning.parallel import groups, mapped
from weft.learn.tuning.pro import ProSettings, pro
from weft.learn.tuning.ramp import COST, SparseGradient, added, dense_gradient, sparse_gradient
from weft.tasks.translation.kbest import GROUP, Gradients, KBest, Pair, feature_names
from weft.tasks.translation.translator import FIXED, Translator

TUNERS = ("mert", "pro", "mira", "hols")
#: Told after every round: its number, and BLEU of what was decoded.
Watch = Callable[[int, float], None]


@dataclass(frozen=True)
class TuneSettings:
    """How a translator is tuned."""

    tuner: str = "mert"
    k: int = 100
    rounds: int = 6  #: decodings at most
    restarts: int = 5  #: random starts of MERT
    rate: float = 0.01  #: of MIRA
    cost: float = COST
    condition: bool = True  #: whether HOLS divides gradients by the number of lists in which a feature occurs
    fixed: tuple[str, ...] = FIXED  #: names of weights that stay as they are
    seed: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        if self.tuner not in TUNERS:
            raise ConfigError(f"tune must be one of {', '.join(TUNERS)}, got {self.tuner!r}")
        if self.k < 2 or self.rounds < 1:
            raise ConfigError("k must be at least 2, rounds at least 1")


@dataclass
class Tuned:
    """The outcome of tuning."""

    weights: Floats  #: dense weights, and those of a line behind them
    bleu: float  #: of the best round, as decoded (0 to 1)
    before: float  #: of the weights at the start
    rounds: list[float] = field(default_factory=list)
    lists: Lists | None = None


def tune(
    models: Sequence[Translator],
    pairs: Sequence[Pair],
    settings: TuneSettings,
    start: Floats | None = None,
    line: Line | None = None,
    client: Any = None,
    watch: Watch = lambda number, bleu: None,
) -> Tuned:
    """Dense weights that give sentence pairs a high BLEU; the translators end up with them.

    With a line, the weights of its two features are found too, and translators end up with the sparse weights there.
    """
    if not pairs:
        raise DataError("there are no sentence pairs to tune on")
    names = feature_names(models[0])
    fixed = np.array([name in settings.fixed for name in names])
    weights = models[0].vector(names) if start is None else np.asarray(start, np.float64)
    if line is not None:
        fixed = np.append(fixed, [False, False])
        weights = line.start(weights)
    tuned = Tuned(weights, -1.0, -1.0)
    for number in range(settings.rounds):
        set_weights(models, names, weights, line)
        parts = list(mapped(KBest(models, settings.k, line), groups(pairs, GROUP), settings.workers, client))
        lists = Lists.chained(parts)
        bleu = lists.bleu(weights)
        tuned.rounds.append(bleu)
        watch(number, bleu)
        if number == 0:
            tuned.before = bleu
        if bleu > tuned.bleu:
            tuned.bleu, tuned.weights = bleu, weights
        known = tuned.lists
        tuned.lists = lists if known is None else known.merged(lists)
        if known is not None and tuned.lists.n_rows == known.n_rows:
            break
        if number + 1 < settings.rounds:
            # From the best weights so far: those of the last round may have led into a region of bad translations.
            new = scaled(_improved(tuned.lists, tuned.weights, fixed, settings, number), fixed)
            if np.allclose(new, weights, atol=1e-6):
                break
            weights = new
    set_weights(models, names, tuned.weights, line)
    return tuned


def _improved(lists: Lists, weights: Floats, fixed: Bools, settings: TuneSettings, number: int) -> Floats:
    seed = settings.seed + 1000 * number
    if settings.tuner == "pro":
        return pro(lists, weights, ProSettings(seed=seed, interpolation=1.0 if number == 0 else 0.5), fixed)
    if settings.tuner == "mira":
        return mira(lists, weights, MiraSettings(settings.rate, seed=seed), fixed)
    # Lists of one decoding say nothing of weights that are far away.
    return mert(lists, weights, MertSettings(settings.restarts if number else 0, seed=seed), fixed)[0]


def scaled(weights: Floats, fixed: Bools) -> Floats:
    """Weights whose free ones have absolute values of 0.25 on average: scale means nothing for the best translation."""
    free = ~fixed
    size = float(np.abs(weights[free]).mean())
    found = np.array(weights, np.float64)
    if size > 0:
        found[free] *= 0.25 / size
    return found


def set_weights(models: Sequence[Translator], names: Sequence[str], weights: Floats, line: Line | None = None) -> None:
    """Give translators weights, and with a line the sparse weights there."""
    dense, sparse = (weights, None) if line is None else line.at(weights)
    for model in models:
        model.weights.update(zip(names, map(float, dense), strict=True))
        if sparse is not None:
            model.sparse = sparse


def gradient(
    models: Sequence[Translator], pairs: Sequence[Pair], settings: TuneSettings, client: Any = None
) -> SparseGradient:
    """The gradient of the loss of sentence pairs for the weights of phrase pairs."""
    by_model = sorted(pairs, key=lambda pair: pair.model)
    parts: list[Sequence[Pair]] = []
    for number in sorted({pair.model for pair in by_model}):
        parts.extend(groups([pair for pair in by_model if pair.model == number], GROUP))
    return added(mapped(Gradients(models, settings.k, settings.cost), parts, settings.workers, client))


@dataclass
class Step:
    """One step of held-out line search."""

    gradient: SparseGradient
    tuned: Tuned
    line: Line

    @property
    def epsilon(self) -> float:
        return float(self.tuned.weights[-1])


def held_out_step(
    models: Sequence[Translator],
    pairs: Sequence[Pair],
    judges: Sequence[Translator],
    held_out: Sequence[Pair],
    settings: TuneSettings,
    client: Any = None,
    known: SparseGradient | None = None,
    watch: Watch = lambda number, bleu: None,
) -> Step:
    """One step: a gradient from sentence pairs, and a line search on others; all translators end up with the weights.

    `models` translate the pairs, `judges` the held-out ones; both have the same sparse weights. A known gradient is
    taken as it is.
    """
    found = gradient(models, pairs, settings, client) if known is None else known
    used = found.conditioned() if settings.condition else found
    sparse = models[0].sparse
    assert sparse is not None
    direction = used.vector(len(sparse))
    # One unit along the direction changes the score of a derivation about as much as one of a dense feature.
    size = float(np.sqrt(np.mean(used.values**2))) if len(used.values) else 1.0
    line = Line(sparse, direction / (size or 1.0))
    tuned = tune(judges, held_out, settings, None, line, client, watch)
    names = feature_names(judges[0])
    set_weights([*models, *judges], names, tuned.weights, line)
    return Step(found, tuned, line)


def ramp_descent(
    models: Sequence[Translator], pairs: Sequence[Pair], settings: TuneSettings, used: Ints, rate: float = 1.0,
    l2: float = 0.001,
) -> None:  # fmt: skip
    """Stochastic gradient descent on soft ramp 3 in one pass, dense weights too: what held-out line search improves on.

    The step of a phrase pair is divided by `used`, how often it was extracted, that of a dense weight by the number of
    sentences. Sentences of one group are decoded with the same weights; the translators end up with the last ones.
    """
    names = feature_names(models[0])
    free = np.array([name not in settings.fixed for name in names])
    dense, sparse = models[0].vector(names), np.array(models[0].sparse, np.float64)
    steps = np.maximum(1, used)
    for group in groups(pairs, GROUP):
        for model in models:
            model.sparse = sparse
            model.weights.update(zip(names, dense.tolist(), strict=True))
        lists = KBest(models, settings.k, sparse=True)(group)
        found = sparse_gradient(lists, dense, sparse, settings.cost)
        slope = dense_gradient(lists, dense, sparse, settings.cost)
        sparse = sparse * (1 - rate * l2 * len(group) / len(pairs))
        sparse[found.ids] -= rate * found.values / steps[found.ids]
        dense = dense - np.where(free, rate * (slope / len(pairs) + l2 * dense * len(group) / len(pairs)), 0.0)
    for model in models:
        model.sparse = sparse
        model.weights.update(zip(names, dense.tolist(), strict=True))
