"""Smoothed marginal distribution constraints (Roark, Allauzen and Riley 2013).

Shorter n-grams get the probabilities with which text of the model has them as often as the input says:

    P~(w|h') = sum over histories h of full length that end in h' of P(h, w | h')

where P~ is the input. Solved for the probability b(h'w) of the shorter n-gram, over histories with the longest ones
first (S, A, D and N are sums over full histories; their recursion touches each n-gram once):

    S(s)   = pi(s) + sum of S(h)                        h: histories that back off directly to s; pi: the steady state
    A(s)   = pi(s) + sum of alpha(h) A(h)
    D(s,w) = A(s)  - sum of alpha(h) A(h)               over those h that have an n-gram hw
    N(s,w) = sum of N(h,w) + D(h,w) b(hw)               over the same
    b(sw) ~  max(P~(w|s) S(s) - N(s,w), floor) / D(s,w)

New probabilities add up to what the explicit words of s had before, so backing off keeps its mass. They change
alpha(h), and with it A and D: an inner loop repeats the division. They also change pi: the outer loop starts again from
the input with the steady state of the last model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import ConfigError
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.smoothing import NOTHING, Estimates
from weft.learn.ngrams.steady import steady_state
from weft.learn.ngrams.trie import Trie
from weft.learn.ngrams.vocabulary import BEGIN_ID
from weft.progress import track

#: The least share of A(s) that divides.
_LEAST = 1e-6
DENOMINATORS = ("exact", "constant")


@dataclass(frozen=True)
class ConstraintSettings:
    """How a model is constrained."""

    iterations: int = 5  #: outer iterations, each with a new steady state
    backoff_updates: int = 10  #: at most so many updates of alpha for the n-grams of one length
    backoff_tolerance: float = 1e-4  #: no more updates once alpha changes less
    floor: float = 0.1  #: the least numerator, as a share of P~(w|s) S(s), and the least divisor, as one of A(s)
    denominator: str = "exact"  #: exact, or constant as in Kneser-Ney
    steady_tolerance: float = 1e-8

    def check(self) -> None:
        """Raise an error for values that make no sense."""
        if self.iterations < 1 or self.backoff_updates < 0:
            raise ConfigError("constraining takes at least 1 iteration and 0 updates of backing off")
        if not 0 <= self.floor < 1:
            raise ConfigError(f"the floor is a share from 0 to 1, got {self.floor}")
        if self.denominator not in DENOMINATORS:
            raise ConfigError(f"the denominator must be {' or '.join(DENOMINATORS)}, got {self.denominator!r}")


class Sums(NamedTuple):
    """S and A of every history, D and N of every n-gram."""

    S: Floats
    A: Floats
    D: Floats
    N: Floats


def constrain(model: NgramModel, settings: ConstraintSettings = ConstraintSettings()) -> NgramModel:
    """The model with the same n-grams whose shorter ones occur as often as the input says; not for Kneser-Ney.

    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["san", "francisco"], ["san", "francisco"], ["old", "san"]], order=2)
    >>> model = NgramModel.of(vocabulary, estimate(counts, "absolute"))
    >>> francisco = 1 + vocabulary.ids["francisco"]
    >>> new = constrain(model)
    >>> bool(new.logp[francisco] < model.logp[francisco]), new.counts() == model.counts()
    (True, True)
    """
    settings.check()
    if "kneser-ney" in model.method:
        raise ConfigError(
            f"the model was smoothed by {model.method}, whose shorter n-grams do not tell how often they occur; "
            "constrain a model of another method, such as witten-bell or katz"
        )
    return NgramModel.of(model.vocabulary, constrained(model.estimates(), settings), model.method)


def constrained(given: Estimates, settings: ConstraintSettings = ConstraintSettings()) -> Estimates:
    """As `constrain`, in double precision."""
    current = given
    pi: Floats | None = None
    for _ in track(range(settings.iterations), "constraining", settings.iterations, "iterations"):
        pi = steady_state(current, settings.steady_tolerance, begin=pi)
        current = reestimated(given, pi, settings)
    return current


def reestimated(given: Estimates, pi: Floats, settings: ConstraintSettings = ConstraintSettings()) -> Estimates:
    """One outer iteration: all lengths anew, from the longest histories on, for one steady state."""
    work = _Work(given, pi)
    for length in range(given.trie.order - 1, -1, -1):
        if length < given.trie.order - 1:
            work.solve(length, settings)
        work.accumulate(length)
    return Estimates(given.trie, work.prob, work.alpha)


def sums(estimates: Estimates, pi: Floats) -> Sums:
    """S, A, D and N of a model as it is."""
    work = _Work(estimates, pi)
    for length in range(estimates.trie.order - 1, -1, -1):
        work.accumulate(length)
    return Sums(work.S, work.A, work.D, work.N)


def expected(estimates: Estimates, pi: Floats) -> Floats:
    """How often text of the model has each n-gram: the sum over histories ending in s of pi(h) P(w|h)."""
    found = sums(estimates, pi)
    return found.N + found.D * estimates.prob


class _Work:
    """The arrays of one re-estimation. Histories of one length are independent of each other given the longer ones."""

    def __init__(self, given: Estimates, pi: Floats) -> None:
        trie = given.trie
        self.trie, self.target, self.pi = trie, given.prob, pi
        self.prob, self.alpha = given.prob.copy(), given.alpha.copy()
        self.parents: Ids = trie.parents()
        self.S, self.A = pi.copy(), pi.copy()
        self.D, self.N = np.zeros(len(trie)), np.zeros(len(trie))
        self.rest = 1 - trie.per_history(given.prob)

    def _of(self, length: int) -> tuple[slice, slice, Ints]:
        """Histories of a length, the n-grams that they begin, and the number of each one's history."""
        above, here = self.trie.level(length), self.trie.level(length + 1)
        return above, here, self.parents[here].astype(np.int64) - above.start

    def accumulate(self, length: int) -> None:
        """S, A, D, N of histories of a length and of their n-grams, from those that are longer by one word."""
        here = self.trie.level(length + 1)
        self.gather(length)
        if length + 1 < self.trie.order:
            longer = self.trie.level(length + 2)
            own = self.N[longer] + self.D[longer] * self.prob[longer]
            self.N[here] = _sums(self.trie, longer, here, own)
        self.D[here] = np.maximum(self.D[here], 0.0)

    def gather(self, length: int) -> None:
        """S, A and D of a length."""
        above, here, local = self._of(length)
        if length + 1 < self.trie.order:
            kids = self.trie.level(length + 1)
            longer = self.trie.level(length + 2)
            passed = self.alpha[kids] * self.A[kids]
            self.S[above] = self.pi[above] + _sums(self.trie, kids, above, self.S[kids])
            self.A[above] = self.pi[above] + _sums(self.trie, kids, above, passed)
            has = passed[self.parents[longer] - kids.start]
            self.D[here] = self.A[above][local] - _sums(self.trie, longer, here, has)
        else:
            self.D[here] = self.A[above][local]

    def solve(self, length: int, settings: ConstraintSettings) -> None:
        """New probabilities of the n-grams that histories of a length begin."""
        above, here, local = self._of(length)
        longer = self.trie.level(length + 2)
        self.gather(length)
        produced = self.N[longer] + self.D[longer] * self.prob[longer]
        wanted = self.target[here] * self.S[above][local]
        numerators = np.maximum(wanted - _sums(self.trie, longer, here, produced), settings.floor * wanted)
        if length == 0:
            numerators[BEGIN_ID] = 0.0
        n = above.stop - above.start
        mass = np.bincount(local, weights=self.prob[here], minlength=n)
        active = self._active(length, numerators, local, n)
        for _ in range(1 + settings.backoff_updates):
            divisors = np.ones(len(local))
            if settings.denominator == "exact":
                # Where nearly all histories have an n-gram of their own, hardly anything depends on the shorter one.
                divisors = np.maximum(self.D[here], max(settings.floor, _LEAST) * self.A[above][local])
            with np.errstate(divide="ignore", invalid="ignore"):
                fresh = np.where(numerators > 0, numerators / np.maximum(divisors, 1e-300), 0.0)
                total = np.bincount(local, weights=fresh, minlength=n)
                fresh *= (mass / total)[local]
            self.prob[here] = np.where(active[local], fresh, self.prob[here])
            before = self.alpha[self.trie.level(length + 1)].copy()
            self._back_off(length)
            self.gather(length)
            now = self.alpha[self.trie.level(length + 1)]
            if np.abs(now - before).max(initial=0.0) < settings.backoff_tolerance or settings.denominator != "exact":
                break

    def _active(self, length: int, numerators: Floats, local: Ints, n: int) -> Bools:
        """The histories whose n-grams are estimated anew: longer ones occur that back off to them."""
        above, kids = self.trie.level(length), self.trie.level(length + 1)
        backing = np.bincount(self.trie.suffix[kids] - above.start, minlength=n) > 0
        some: Bools = np.bincount(local, weights=numerators, minlength=n) > 0
        return backing & some

    def _back_off(self, length: int) -> None:
        """The weights of histories that back off to those of a length."""
        kids, longer = self.trie.level(length + 1), self.trie.level(length + 2)
        local = self.parents[longer].astype(np.int64) - kids.start
        lower = np.bincount(local, weights=self.prob[self.trie.suffix[longer]], minlength=kids.stop - kids.start)
        has = np.diff(self.trie.first[kids.start : kids.stop + 1]) > 0
        unseen = 1 - lower
        rest = self.rest[kids]
        weights = np.where(rest > NOTHING, rest / np.maximum(unseen, NOTHING), 0.0)
        self.alpha[kids] = np.where(has, weights, self.alpha[kids])


def _sums(trie: Trie, of: slice, to: slice, values: Floats) -> Floats:
    """Sums of values of n-grams over those that become the same without their oldest word."""
    found = np.bincount(trie.suffix[of] - to.start, weights=values, minlength=to.stop - to.start)
    return found.astype(np.float64)
