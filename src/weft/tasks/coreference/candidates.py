"""Candidate antecedents of mentions, which of them gold allows, and what errors cost.

Mention i chooses an earlier mention or begins a new entity (-1). Gold allows every earlier mention of its entity, or a
new entity if there is none (*latent antecedents*). A choice costs c1 if it links what begins an entity (false anaphor),
c2 if it begins an entity with what should be linked (false new), c3 if it links to a wrong mention.

Pruning keeps the candidates whose probability under a simple model is within a factor exp(gamma) of the most probable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints
from weft.ragged import sentence_of

#: The weights of false anaphors, false new entities and wrong links in the paper.
LOSS = (0.15, 2.5, 1.0)
FARTHEST = 100
GAMMA = -2.0


@dataclass(frozen=True)
class Candidates:
    """The candidates of mention i are `antecedents[offsets[i]:offsets[i + 1]]`, a new entity (-1) first."""

    offsets: Ints
    antecedents: Ints

    @classmethod
    def within(cls, n: int, farthest: int = FARTHEST) -> Candidates:
        """All mentions up to a distance in mentions, the nearest first.

        >>> Candidates.within(4, 2).antecedents.tolist()
        [-1, -1, 0, -1, 1, 0, -1, 2, 1]
        """
        sizes = np.minimum(np.arange(n), farthest) + 1
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        mention = sentence_of(offsets)
        place = np.arange(offsets[-1]) - offsets[:-1][mention]
        return cls(offsets, np.where(place == 0, -1, mention - place).astype(np.int64))

    @property
    def mentions(self) -> Ints:
        """The mention that every candidate belongs to."""
        return sentence_of(self.offsets)

    @property
    def links(self) -> int:
        """How many candidates are mentions."""
        return int((self.antecedents >= 0).sum())

    def allowed(self, entity: Ints) -> Bools:
        """Which candidates gold allows; an antecedent that is out of reach counts as none.

        >>> Candidates.within(3).allowed(np.array([5, -1, 5])).tolist()
        [True, True, False, False, False, True]
        """
        own = entity[self.mentions]
        linked = (self.antecedents >= 0) & (own >= 0) & (own == entity[self.antecedents])
        anaphoric = np.logical_or.reduceat(linked, self.offsets[:-1]) if len(linked) else linked
        return linked | ((self.antecedents < 0) & ~anaphoric[self.mentions])

    def losses(self, allowed: Bools, weights: tuple[float, float, float] = LOSS) -> Floats:
        """What every candidate costs."""
        anaphoric = ~allowed[self.offsets[:-1]] if len(allowed) else np.zeros(0, dtype=np.bool_)
        anaphoric = anaphoric[self.mentions]
        new = self.antecedents < 0
        false_anaphor, false_new, wrong = weights
        cost = np.where(new, np.where(anaphoric, false_new, 0.0), np.where(anaphoric, wrong, false_anaphor))
        return np.where(allowed, 0.0, cost)

    def kept(self, log_probabilities: Floats, gamma: float = GAMMA) -> Bools:
        """Which candidates pruning keeps."""
        best = np.maximum.reduceat(log_probabilities, self.offsets[:-1]) if len(self.antecedents) else log_probabilities
        return np.asarray(log_probabilities >= best[self.mentions] + gamma)

    def only(self, keep: Bools) -> Candidates:
        """The candidates that are kept."""
        counts = np.add.reduceat(keep.astype(np.int64), self.offsets[:-1]) if len(keep) else np.zeros(0, dtype=np.int64)
        return Candidates(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), self.antecedents[keep])


def log_softmax(scores: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """Logarithms of the probabilities of every mention's candidates, and of their normalizers.

    >>> log_softmax(np.log([1.0, 3.0, 2.0]), np.array([0, 2, 3]))[0].round(4).tolist()
    [-1.3863, -0.2877, 0.0]
    """
    if not len(scores):
        return scores, np.zeros(0)
    mention = sentence_of(offsets)
    top = np.maximum.reduceat(scores, offsets[:-1])
    with np.errstate(divide="ignore"):
        mass = np.log(np.add.reduceat(np.exp(scores - top[mention]), offsets[:-1])) + top
    return scores - mass[mention], mass


def clusters_of(chosen: NDArray[np.int64]) -> Ints:
    """The entity of every mention from its antecedent: the transitive closure of links.

    >>> clusters_of(np.array([-1, 0, -1, 1])).tolist()
    [0, 0, 2, 0]
    """
    entity = np.arange(len(chosen))
    for i, j in enumerate(chosen.tolist()):
        if j >= 0:
            entity[i] = entity[j]
    return entity


def best_antecedents(scores: Floats, candidates: Candidates) -> Ints:
    """The best candidate of every mention, -1 for a new entity."""
    pairs = zip(candidates.offsets[:-1].tolist(), candidates.offsets[1:].tolist(), strict=True)
    places = [low + int(scores[low:high].argmax()) for low, high in pairs]
    return candidates.antecedents[np.array(places, dtype=np.int64)]
