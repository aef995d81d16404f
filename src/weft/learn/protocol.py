"""The interface between learners, models and structures: all that they know of each other.

All linear learning moves weights by  sum over parts r of (target(r) - model(r)) * features(r).  A *structure* holds the
scores of a batch of sentences and answers with *parts*: arrays over its parts (tags, tag pairs, arcs ...) holding
indicators, probabilities or covariances. A *model* turns weights into structures and scatters parts back into weights.
Learners see only this page: the same perceptron trains chains and trees.

Sentence weights are applied inside the structure (`weight`, one number per sentence), because parts may be shared: a
chain with one transition matrix for the whole batch gives one sum over sentences for it. Values a sentence (`score`,
`log_partition`, `differs`) are never weighted.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats

Indices = NDArray[np.int64]
P = TypeVar("P", bound="Parts")


class Parts(Protocol):
    """One number per part of a batch; linear, so that learners can combine them."""

    def __add__(self: P, other: P) -> P: ...
    def __sub__(self: P, other: P) -> P: ...
    def scale(self: P, factor: float) -> P:
        """Every number times `factor`."""
        ...

    def inner(self: P, other: P) -> float:
        """Inner product over the whole batch; of a function with marginals: the function's expectation."""
        ...


class Structure(Protocol):
    """Scores of a batch of sentences, ready for inference. A *solution* is opaque to learners."""

    def best(self) -> Any:
        """The highest-scoring solution of every sentence."""
        ...

    def kbest(self, k: int) -> list[list[Any]]:
        """For every sentence its k best solutions (fewer where there are no more), best first, each as a solution of
        a batch of that one sentence."""
        ...

    def score(self, solution: Any) -> Floats:
        """The score of a solution, one number per sentence."""
        ...

    def parts(self, solution: Any, weight: Floats | None = None) -> Any:
        """The solution as indicators of its parts, each sentence's times its weight."""
        ...

    def log_partition(self) -> Floats:
        """One number per sentence."""
        ...

    def marginals(self, weight: Floats | None = None) -> Any:
        """Probabilities of all parts, each sentence's times its weight."""
        ...

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, Any]:
        """Both at the cost of one; the weight applies to the marginals only."""
        ...

    def covariance(self, function: Any, weight: Floats | None = None) -> Any:
        """Covariance of every part's indicator with a linear function of parts, given as parts; each sentence's times
        its weight."""
        ...

    def augment(self, parts: Any) -> Structure:
        """The same structure with an array added to its scores: costs, penalties, messages."""
        ...

    def restrict(self, allowed: Any) -> Structure:
        """The same structure within a mask, and within those it already has."""
        ...

    def hamming(self, solution: Any, weight: float = 1.0) -> Any:
        """Parts that charge `weight` for every decision that differs from a solution."""
        ...

    def differs(self, one: Any, other: Any) -> Floats:
        """How many decisions of two solutions differ, one number per sentence."""
        ...


class Decisions(Protocol):
    """The single decisions of a batch whose score is a sum over them: the heads of words, say. Each decision is for one
    of several alternatives; a structure that has them offers `decisions(solution)`, None where it scores more."""

    @property
    def decision(self) -> Indices:
        """The decision that every alternative belongs to."""
        ...

    @property
    def score(self) -> Floats:
        """The score of every alternative."""
        ...

    @property
    def gold(self) -> Indices:
        """The alternative that the solution has, of every decision."""
        ...

    def exchange(self, alternative: Any) -> Any:
        """Parts that are 1 for what the solution has in place of an alternative, and -1 for the alternative."""
        ...


@runtime_checkable
class Batch(Protocol):
    """Sentences with their features. `gold` is a solution or None; `weight` one number per sentence.

    Signals other than gold find what they need under fixed names: `allowed` and optionally `space` (masks) for partial
    supervision, `constraints` (see `weft.learn.signals.Constraints`) for expectations.
    """

    gold: Any
    weight: Floats

    def __len__(self) -> int:
        """Number of sentences."""
        ...


class Model(Protocol):
    """A linear model: weights to scores, parts to gradients. Weights are always passed, never hidden."""

    @property
    def size(self) -> int:
        """Number of weights."""
        ...

    def score(self, batch: Any, weights: Floats) -> Any:
        """The structure of a batch under the weights."""
        ...

    def scatter(self, batch: Any, parts: Any, into: Floats) -> None:
        """Add  sum over parts of number * features  to `into`."""
        ...

    def sparse(self, batch: Any, parts: Any) -> tuple[Indices, Floats]:
        """The same sum as sorted distinct indices and values, zeros left out."""
        ...

    def active(self, batch: Any) -> Indices:
        """Indices of all weights that `score` reads for this batch, in any order, repeats allowed: what a learner with
        delayed penalties must bring up to date first."""
        ...

    def curvature(self, batch: Any, structure: Any, into: Floats) -> None:
        """Add the sum of local feature variances, the diagonal of the Hessian that ignores covariance between
        positions, to `into`; each sentence's times its weight. `structure` is what `score` gave."""
        ...

    def most_active(self, batch: Any) -> float:
        """The largest sum of feature values that any solution of any sentence can have (the C of iterative scaling)."""
        ...
