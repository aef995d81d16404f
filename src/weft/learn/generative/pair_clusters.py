"""Hidden classes of pairs of words, by EM: which nouns fill which roles.

    naive bayes    P(n, r) = sum over c of  P(c) P(n | c) P(r | c)
    conditional    P(n | r) = sum over c of  P(c | r) P(n | c)

n is a noun and r its role with what governs it, such as *subject of arrive* (Durrett, Hall and Klein 2013, who follow
Rooth et al. 1999). Every iteration of EM raises the likelihood of the counted pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError

Kind = Literal["naive bayes", "conditional"]
KINDS: tuple[Kind, ...] = ("naive bayes", "conditional")


@dataclass(frozen=True)
class PairClusters:
    """The distributions of a trained model: nouns by class, roles by class and classes (or classes by role)."""

    kind: Kind
    nouns: Mapping[str, int]
    roles: Mapping[str, int]
    of_noun: Floats  #: P(n | c), classes by nouns
    of_role: Floats  #: P(r | c), or P(c | r), classes by roles
    prior: Floats  #: P(c)
    likelihoods: tuple[float, ...] = ()

    @classmethod
    def fit(
        cls,
        pairs: Mapping[tuple[str, str], int],
        classes: int = 20,
        kind: Kind = "naive bayes",
        iterations: int = 30,
        seed: int = 0,
        smoothing: float = 0.01,
    ) -> PairClusters:
        """Train on pairs of a noun and a role with their counts.

        >>> pairs = {("dog", "subject of bark"): 5, ("cat", "subject of purr"): 5, ("hound", "subject of bark"): 3}
        >>> found = PairClusters.fit(pairs, classes=2, iterations=20)
        >>> best = {noun: int(found.posterior(noun, "").argmax()) for noun in ("dog", "cat", "hound")}
        >>> best["dog"] == best["hound"] != best["cat"]
        True
        """
        if kind not in KINDS or classes < 1 or iterations < 1:
            raise ConfigError(f"classes of pairs need a kind out of {', '.join(KINDS)}, a class and an iteration")
        if not pairs:
            raise DataError("there is nothing to train classes on: no pairs of a noun and a role")
        nouns = {name: k for k, name in enumerate(dict.fromkeys(noun for noun, _ in pairs))}
        roles = {name: k for k, name in enumerate(dict.fromkeys(role for _, role in pairs))}
        n = np.array([nouns[noun] for noun, _ in pairs])
        r = np.array([roles[role] for _, role in pairs])
        counts = np.fromiter(pairs.values(), dtype=np.float64, count=len(pairs))
        posterior = np.random.default_rng(seed).dirichlet(np.ones(classes), size=len(counts)).T
        history = []
        for _ in range(iterations + 1):
            weighted = posterior * counts
            of_noun = _sums(weighted, n, len(nouns)) + smoothing
            of_noun /= of_noun.sum(axis=1, keepdims=True)
            of_role = _sums(weighted, r, len(roles)) + smoothing
            of_role /= of_role.sum(axis=1 if kind == "naive bayes" else 0, keepdims=True)
            prior = weighted.sum(axis=1) / counts.sum()
            joint = of_noun[:, n] * of_role[:, r] * (prior[:, None] if kind == "naive bayes" else 1.0)
            total = joint.sum(axis=0)
            history.append(float((counts * np.log(total)).sum()))
            posterior = joint / total
        return cls(kind, nouns, roles, of_noun, of_role, prior, tuple(history))

    def posterior(self, noun: str, role: str) -> Floats:
        """The distribution of the class of a pair; an unknown noun or role, or "", says nothing."""
        found = self.prior.copy()
        if noun in self.nouns:
            found = found * self.of_noun[:, self.nouns[noun]]
        if role in self.roles:
            own = self.of_role[:, self.roles[role]]
            # P(c | r) takes the place of the prior.
            found = found * own if self.kind == "naive bayes" else found / np.maximum(self.prior, 1e-300) * own
        total = found.sum()
        return found / total if total > 0 else np.full(len(found), 1.0 / len(found))


def _sums(weighted: Floats, index: Ints, size: int) -> Floats:
    return np.stack([np.bincount(index, weights=row, minlength=size) for row in weighted])
