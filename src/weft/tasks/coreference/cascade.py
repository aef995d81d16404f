"""Two passes: a BASIC model prunes candidates, and the model of any system chooses among those that are left.

The second model is trained from scratch on pruned candidates. Training documents are pruned by a model that was not
trained on them (two halves prune each other), so that they are pruned as hard as new documents will be; the paper
prunes them by the model of all. A mention that loses all candidates that gold allows teaches nothing: keeping one of
them nevertheless would teach that what the first model finds improbable is right, and costs 5 points of CoNLL F1
where gamma is -2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from weft.arrays import Ints
from weft.tasks.coreference.candidates import GAMMA, LOSS, best_antecedents
from weft.tasks.coreference.model import AntecedentModel, Options
from weft.tasks.coreference.systems import Sample

Loss = tuple[float, float, float]


class Pruning(NamedTuple):
    """What pruning did: mentions, those that still have a candidate that gold allows, links before and after."""

    mentions: int
    solvable: int
    before: int
    after: int

    @property
    def share_solvable(self) -> float:
        return self.solvable / self.mentions if self.mentions else 1.0

    @property
    def share_cut(self) -> float:
        return 1.0 - self.after / self.before if self.before else 0.0

    def __add__(self, other: object) -> Pruning:
        assert isinstance(other, Pruning)
        return Pruning(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass
class Cascade:
    """A model that prunes and one that decides."""

    coarse: AntecedentModel
    fine: AntecedentModel
    gamma: float = GAMMA

    @classmethod
    def fit(
        cls,
        samples: Sequence[Sample],
        options: Options,
        gamma: float = GAMMA,
        loss: Loss = LOSS,
        told: Callable[[str, int, float], object] | None = None,
        pruned: Pruned | None = None,
    ) -> Cascade:
        """Train both models on documents with gold entities; `pruned` saves the first pass if it is known."""
        first = pruned or prune_training(samples, options, gamma, loss, told)
        kept = [with_loss(sample, loss) for sample in first.samples]
        fine = AntecedentModel.fit(kept, options, None if told is None else lambda k, value: told("fine", k, value))
        return cls(first.coarse, fine, gamma)

    def prune(self, sample: Sample) -> Sample:
        """A document with the candidates that are left."""
        return pruned_by(self.coarse, sample, self.gamma)

    def antecedents(self, sample: Sample) -> Ints:
        """The most probable antecedent of every mention, -1 for a new entity."""
        return self.fine.antecedents(self.prune(sample))

    def decide(self, sample: Sample) -> tuple[Ints, list[float]]:
        """Antecedents and their probabilities."""
        left = self.prune(sample)
        logs = self.fine.log_probabilities(left)
        bounds = left.candidates.offsets
        best = [float(np.exp(logs[low:high].max())) for low, high in itertools.pairwise(bounds)]
        return best_antecedents(logs, left.candidates), best


class Pruned(NamedTuple):
    """The first pass: its model, the training documents pruned, and what pruning did to them."""

    coarse: AntecedentModel
    samples: list[Sample]
    statistics: Pruning


def pruning_options(options: Options) -> Options:
    """The options of the model that prunes: BASIC with the features of the paper, whatever the second model has."""
    return replace(options, system="basic", lexical=False)


def prune_training(
    samples: Sequence[Sample],
    options: Options,
    gamma: float = GAMMA,
    loss: Loss = LOSS,
    told: Callable[[str, int, float], object] | None = None,
) -> Pruned:
    """Train the model that prunes, and prune every training document by a model of the other half."""
    basic = pruning_options(options)
    weighted = [with_loss(sample, loss) for sample in samples]
    coarse = AntecedentModel.fit(weighted, basic, None if told is None else lambda k, value: told("coarse", k, value))
    result: list[Sample] = list(weighted)
    total = Pruning(0, 0, 0, 0)
    judged = _judged(weighted, basic) if len(weighted) > 1 else iter([(0, coarse)])
    for place, judge in judged:
        total = total + pruning_of(judge, weighted[place], gamma)
        result[place] = pruned_by(judge, weighted[place], gamma)
    return Pruned(coarse, result, total)


def _judged(weighted: Sequence[Sample], basic: Options) -> Iterator[tuple[int, AntecedentModel]]:
    """The place of every training document, with a model of the half that it is not in."""
    for half in range(2):
        judge = AntecedentModel.fit([sample for place, sample in enumerate(weighted) if place % 2 != half], basic)
        yield from ((place, judge) for place in range(half, len(weighted), 2))


def training_pruning(
    samples: Sequence[Sample], options: Options, gammas: Sequence[float], loss: Loss = LOSS
) -> dict[float, Pruning]:
    """What pruning does to training documents, each judged by a model of the other half, for several gammas."""
    weighted = [with_loss(sample, loss) for sample in samples]
    found = dict.fromkeys(gammas, Pruning(0, 0, 0, 0))
    for place, judge in _judged(weighted, pruning_options(options)):
        for gamma in gammas:
            found[gamma] = found[gamma] + pruning_of(judge, weighted[place], gamma)
    return found


def largest_gamma(found: Mapping[float, Pruning], solvable: float) -> float:
    """The gamma that prunes most of those that keep a share of the mentions solvable; the smallest if none does.

    >>> largest_gamma({-2.0: Pruning(100, 93, 900, 20), -4.0: Pruning(100, 98, 900, 60)}, 0.97)
    -4.0
    """
    return max((gamma for gamma, each in found.items() if each.share_solvable >= solvable), default=min(found))


def pruned_by(model: AntecedentModel, sample: Sample, gamma: float) -> Sample:
    """A document with the candidates that a model keeps; what cannot be solved any more is open."""
    keep = sample.candidates.kept(model.log_probabilities(sample), gamma)
    left = sample.candidates.only(keep)
    if sample.allowed is None or not len(keep):
        return Sample(sample.table, left, sample.priors, sample.entity)
    allowed = sample.allowed[keep]
    solved = np.logical_or.reduceat(allowed, left.offsets[:-1])
    allowed = allowed | ~solved[left.mentions]
    return Sample(sample.table, left, sample.priors, sample.entity, allowed, open=~solved)


def pruning_of(model: AntecedentModel, sample: Sample, gamma: float = GAMMA) -> Pruning:
    """What pruning does to a document with gold entities."""
    assert sample.allowed is not None
    if not len(sample.table):
        return Pruning(0, 0, 0, 0)
    keep = sample.candidates.kept(model.log_probabilities(sample), gamma)
    solved = np.logical_or.reduceat(keep & sample.allowed, sample.candidates.offsets[:-1])
    return Pruning(len(solved), int(solved.sum()), sample.candidates.links, sample.candidates.only(keep).links)


def with_loss(sample: Sample, loss: Loss) -> Sample:
    """A document with gold entities, whose errors cost what is given."""
    assert sample.entity is not None
    allowed = sample.allowed if sample.allowed is not None else sample.candidates.allowed(sample.entity)
    return replace(sample, allowed=allowed, losses=sample.candidates.losses(allowed, loss), graph=None)
