"""A model of antecedents: hashed weights of pair features, and projections of properties; how it is trained.

Training is AdaGrad with an L1 penalty, one document per step (Durrett, Hall and Klein 2013). Projections start at, and
are drawn to, 1 where a value is projected to itself and 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats, Ints
from weft.deadline import check
from weft.errors import ConfigError
from weft.learn.online.sparse_l1 import L1AdaGrad
from weft.tasks.coreference.candidates import best_antecedents, log_softmax
from weft.tasks.coreference.features import LEXICAL, PHI, scatter, scores_of
from weft.tasks.coreference.systems import (
    SYSTEMS,
    Gradient,
    Sample,
    basic_gradient,
    believed,
    left_to_right,
    pair_codes,
    transitive_gradient,
)


@dataclass(frozen=True)
class Options:
    """How a model is built and trained."""

    system: str = "basic"
    phi: bool = True  #: whether pair features tell agreement of gender, number, animacy and names
    lexical: bool = False  #: whether pair features tell words, which the paper's do not
    bits: int = 18
    passes: int = 20
    rate: float = 0.1
    penalty: float = 0.001
    projection_rate: float = 0.1
    sweeps: int = 10
    tolerance: float = 1e-4
    seed: int = 0

    def __post_init__(self) -> None:
        if self.system not in SYSTEMS:
            raise ConfigError(f"system must be one of {', '.join(SYSTEMS)}, got {self.system!r}")

    @property
    def groups(self) -> int:
        return (PHI if self.phi else 0) | (LEXICAL if self.lexical else 0)


@dataclass
class AntecedentModel:
    """Weights of features, and one projection matrix per property (TRANSITIVE only)."""

    options: Options
    weights: Floats
    projections: list[Floats] = field(default_factory=list)
    sizes: tuple[int, ...] = ()  #: the number of values of every property

    @classmethod
    def fit(
        cls, samples: Sequence[Sample], options: Options, told: Callable[[int, float], object] | None = None
    ) -> AntecedentModel:
        """Train on documents with gold entities; `told` receives the number of every pass and its objective."""
        sizes = tuple(prior.shape[1] for prior in samples[0].priors) if samples else ()
        learner = L1AdaGrad(1 << options.bits, options.rate, options.penalty)
        transitive = options.system == "transitive"
        centers = [np.eye(size) for size in sizes] if transitive else []
        movers = [L1AdaGrad(own.size, options.projection_rate, options.penalty, own.ravel()) for own in centers]
        gradient = np.zeros(1 << options.bits)
        marks = np.zeros(1 << options.bits, dtype=np.uint8)
        touched = np.zeros(1 << options.bits, dtype=np.int64)
        model = cls(options, learner.weights, [], sizes)
        draw = np.random.default_rng(options.seed)
        for number in range(options.passes):
            total = 0.0
            for place in draw.permutation(len(samples)).tolist():
                check()
                sample = samples[place]
                if not len(sample.table):
                    continue
                model.projections = [
                    mover.weights.reshape(own.shape) for mover, own in zip(movers, centers, strict=True)
                ]
                codes, found = model.gradient(sample)
                total += found.value
                coefficients = np.where(np.abs(found.scores) < 1e-5, 0.0, found.scores)
                count = scatter(
                    sample.table, sample.candidates.offsets, sample.candidates.antecedents, codes, coefficients,
                    options.groups, gradient, touched, marks, 0,
                )  # fmt: skip
                learner.step(touched[:count], gradient)
                gradient[touched[:count]] = 0.0
                marks[touched[:count]] = 0
                for mover, move in zip(movers, found.projections, strict=True):
                    mover.step(np.arange(move.size), move.ravel())
            if told is not None:
                told(number, total)
        learner.settle()
        for mover in movers:
            mover.settle()
        model.projections = [mover.weights.reshape(own.shape) for mover, own in zip(movers, centers, strict=True)]
        return model

    def gradient(self, sample: Sample) -> tuple[Ints, Gradient]:
        """The codes of a document's candidates and the gradient of its objective by their scores."""
        codes = self.codes(sample)
        scores = self.scores(sample, codes)
        if self.options.system == "lefttoright":
            scores, codes, _ = left_to_right(sample, scores, self.weights, self.sizes)
        if self.options.system == "transitive":
            options = self.options
            return codes, transitive_gradient(sample, scores, self.projections, options.sweeps, options.tolerance)
        return codes, basic_gradient(sample, scores)

    def codes(self, sample: Sample) -> Ints:
        """The features that the system adds and that are known beforehand."""
        if self.options.system == "pairproperty" and len(sample.table):
            if sample.codes.shape[1] == 0:
                sample.codes = pair_codes(sample.candidates, sample.modes, self.sizes)
            return sample.codes
        return np.zeros((len(sample.candidates.antecedents), 0), dtype=np.int64)

    def scores(self, sample: Sample, codes: Ints) -> Floats:
        """The scores of all candidates by the weights of their features."""
        candidates = sample.candidates
        return scores_of(
            sample.table, candidates.offsets, candidates.antecedents, codes, self.weights, self.options.groups
        )

    def log_probabilities(self, sample: Sample) -> Floats:
        """The logarithm of every candidate's probability."""
        if not len(sample.table):
            return np.zeros(0)
        scores = self.scores(sample, self.codes(sample))
        if self.options.system == "lefttoright":
            scores, _, _ = left_to_right(sample, scores, self.weights, self.sizes)
        if self.options.system == "transitive":
            found = believed(sample, scores, self.projections, self.options.sweeps, self.options.tolerance)
            return np.log(np.maximum(found.probabilities[: len(scores)], 1e-300))
        return log_softmax(scores, sample.candidates.offsets)[0]

    def antecedents(self, sample: Sample) -> Ints:
        """The most probable antecedent of every mention, -1 for a new entity."""
        return best_antecedents(self.log_probabilities(sample), sample.candidates)
