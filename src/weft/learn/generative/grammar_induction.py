"""Learning a dependency model with valence from tags alone: EM, with a Dirichlet prior, or with sparse posteriors.

    em      max  L(theta)
    dd      max  the bound of variational Bayes with Dirichlet(alpha) on every distribution: discounted counts
    pr-s    max  L(theta) - min over q of  KL(q || p_theta) + sigma * sum over (c, p) of  max over i of  E_q[phi_cpi]

The penalty of posterior regularization stands for the number of pairs of tags, child c and parent p, in use
(Gillenwater et al. 2010). The maximum is over the whole corpus: over all arcs from a p to a c (pr-s), or over all words
c, with phi_cpi the probability that the i-th of them has any p as its parent (pr-as). ROOT is a parent with a tag of
its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.trees.dmv import ValenceParts
from weft.learn.batch.simplex import Groups
from weft.learn.generative.dmv_model import Counts, TagBatch, ValenceModel, estimate, tally
from weft.learn.generative.em import expectation_maximization
from weft.learn.generative.posterior_regularization import Projection, project_posterior
from weft.ragged import Indices

METHODS = ("em", "dd", "pr-s", "pr-as")


@dataclass(frozen=True, slots=True)
class PairFeatures:
    """Features that are sums of probabilities of arcs: `of_arc` tells each arc's (-1: none), `groups` their pairs."""

    of_arc: Indices
    groups: Groups

    @property
    def size(self) -> int:
        return len(self.groups.order)

    def expectations(self, arc: Floats) -> Floats:
        """Of features, from probabilities of arcs."""
        own = self.of_arc >= 0
        return tally(self.of_arc[own], arc[own], self.size)

    def penalties(self, multipliers: Floats) -> Floats:
        """Of arcs, from multipliers of features."""
        return np.append(multipliers, 0.0)[self.of_arc]


def pair_features(batch: TagBatch, symmetric: bool, root: bool = True) -> PairFeatures:
    """The features of pairs of tags: one per arc, or one per word and tag of its parent; `root` counts those of ROOT.

    >>> batch = TagBatch(np.array([0, 1, 1]), np.array([0, 3]), 2)
    >>> pair_features(batch, symmetric=True).size, pair_features(batch, symmetric=False).size
    (9, 8)
    >>> len(pair_features(batch, symmetric=True).groups)  # 0-1, 0-ROOT, 1-0, 1-1, 1-ROOT
    5
    """
    wanted = (batch.head != batch.child) | root
    key = (
        np.arange(len(batch.pair)) if symmetric else batch.child * (batch.n_tags + 1) + batch.pair % (batch.n_tags + 1)
    )
    of_arc = np.full(len(key), -1, dtype=np.int64)
    _, first, inverse = np.unique(key[wanted], return_index=True, return_inverse=True)
    of_arc[wanted] = inverse
    return PairFeatures(of_arc, Groups.of(batch.pair[wanted][first]))


@dataclass(frozen=True, slots=True)
class Induced:
    """A model, the objective before every maximization, the last projection, and how often all trees were summed."""

    model: ValenceModel
    objective: list[float]
    projection: Projection | None
    passes: int
    why: str


def sparse_posterior(
    batch: TagBatch,
    model: ValenceModel,
    features: PairFeatures,
    strength: float,
    *,
    start: Floats | None = None,
    log_partition: float | None = None,
    max_steps: int = 10,
    tolerance: float = 1e-3,
    enough: Callable[[Projection], bool] | None = None,
) -> Projection:
    """The nearest distribution of trees to the model's with few pairs in use; its statistics are `ValenceParts`."""

    def expect(multipliers: Floats) -> tuple[float, Floats, ValenceParts]:
        trees = batch.trees(model, features.penalties(multipliers))
        log_z, parts = trees.log_partition_and_marginals()
        return float(log_z.sum()), features.expectations(parts.arc.sum(axis=1)), parts

    return project_posterior(
        expect, features.groups, strength, log_partition=log_partition, start=start, max_steps=max_steps,
        tolerance=tolerance, enough=enough,
    )  # fmt: skip


def induce(
    batch: TagBatch,
    start: ValenceModel,
    method: str = "pr-as",
    *,
    strength: float = 140.0,
    alpha: float = 0.25,
    root: bool = True,
    iterations: int = 100,
    steps: int = 10,
    tolerance: float = 1e-6,
    callback: Callable[[int, ValenceModel, float], bool | None] | None = None,
) -> Induced:
    """Climb from a start; `strength` is that of sparse posteriors, `alpha` the parameter of the Dirichlet prior.

    `steps` are those of a projection; more are taken where the objective would fall otherwise.
    """
    if method not in METHODS:
        raise ConfigError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    passes, last = 0, None
    features = pair_features(batch, method == "pr-s", root) if method.startswith("pr") else None

    def expect(model: ValenceModel) -> tuple[Counts, float]:
        nonlocal passes
        passes += 1
        log_z, parts = batch.trees(model).log_partition_and_marginals()
        return batch.counts(parts, model), float(log_z.sum()) + model.log_prior

    def project(model: ValenceModel, counts: Counts, value: float, before: float) -> tuple[Counts, float]:
        nonlocal passes, last
        assert features is not None
        found = sparse_posterior(
            batch, model, features, strength, start=None if last is None else last.multipliers, log_partition=value,
            max_steps=steps, enough=lambda found: value - found.cost >= before,
        )  # fmt: skip
        passes += found.evaluations
        if last is not None and value - found.cost < before:
            # Too rough to gain: the distribution before, whose objective maximization has not lowered, is kept.
            return batch.counts(last.statistics, model), before
        last = found
        return batch.counts(found.statistics, model), value - found.cost

    if method == "dd":  # what the prior says is known of tables that were estimated under it only
        start = estimate(expect(start)[0], start, alpha)
    found = expectation_maximization(
        expect,
        lambda counts: estimate(counts, start, alpha if method == "dd" else 0.0),
        start,
        tolerance=tolerance,
        max_iterations=iterations,
        project=project if features is not None and strength > 0 else None,
        callback=callback,
        describe=f"grammar by {method}",
    )
    return Induced(found.parameters, found.log_likelihoods, last, passes, found.why)
