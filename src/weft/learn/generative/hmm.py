"""Hidden Markov models of tags and words, learned from words and a tag dictionary by expectation maximization.

    P(w, t) = prod_j P(t_j | t_{j-1}) P(w_j | t_j),      t_0 = start, one transition more to the end,  t_j in T(w_j)

(Merialdo 1994). The lattice is a `LabelLists` over types of words: a word may have the tags of its type only, one that
is unknown all. Emissions are one number per type and tag it may have: what the dictionary excludes is not even stored;
transitions may be limited to some pairs of tags, and what has probability 0 at the start keeps it. With a smoothing of
m, every parameter that is not excluded counts m occurrences more, and EM raises

    log P(words) + m sum over parameters of log theta
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats
from weft.errors import ConfigError, DataError
from weft.infer.chains.label_lists import LabelLists
from weft.infer.chains.listed_sums import run_expected, run_most_probable
from weft.learn.generative.dirichlet import estimate_rows
from weft.learn.generative.em import EMResult, expectation_maximization
from weft.ragged import States, check_shape


@dataclass(frozen=True)
class HMM:
    """Probabilities of transitions `[T + 2, T + 2]`, row T being the start and column T + 1 the end, and of the words
    of a `LabelLists`: one per type and tag, as `LabelLists.listed` has them."""

    transitions: Floats
    emissions: Floats

    @property
    def n_tags(self) -> int:
        return len(self.transitions) - 2


class Counts(NamedTuple):
    """Expected occurrences, in the shapes of an `HMM`."""

    transitions: Floats
    emissions: Floats


def full_transitions(n_tags: int) -> Bools:
    """All pairs of tags: start before every tag, the end after every tag.

    >>> full_transitions(1).astype(int).tolist()
    [[1, 0, 1], [1, 0, 0], [0, 0, 0]]
    """
    allowed = np.zeros((n_tags + 2, n_tags + 2), dtype=np.bool_)
    allowed[: n_tags + 1, :n_tags] = True
    allowed[:n_tags, n_tags + 1] = True
    return allowed


def uniform_hmm(lists: LabelLists, transitions: Bools | None = None, emissions: Bools | None = None) -> HMM:
    """Equal probabilities of all transitions and emissions that are allowed; without masks, of all there are.

    >>> lists = LabelLists.from_types([[True, False], [True, True]], [0, 1], [0, 2])
    >>> hmm = uniform_hmm(lists)
    >>> hmm.emissions.tolist(), hmm.transitions[2].tolist()
    ([0.5, 0.5, 1.0], [0.5, 0.5, 0.0, 0.0])
    """
    allowed = full_transitions(lists.n_labels) if transitions is None else transitions
    check_shape(allowed, (lists.n_labels + 2, lists.n_labels + 2), "transitions")
    kept = np.ones(len(lists.listed), dtype=np.bool_) if emissions is None else emissions
    check_shape(kept, (len(lists.listed),), "emissions")
    return maximize(lists, Counts(allowed.astype(np.float64), kept.astype(np.float64)))


def expected_counts(lists: LabelLists, hmm: HMM) -> tuple[Counts, float]:
    """How often transitions and emissions are expected in the text, and the logarithm of its probability.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> counts, log_likelihood = expected_counts(lists, uniform_hmm(lists))
    >>> counts.emissions.tolist(), round(float(np.exp(log_likelihood)), 4)  # four paths of 1/2 1/3 1/3
    ([1.0, 1.0], 0.2222)
    """
    sums = run_expected(lists, hmm.transitions, hmm.emissions)
    if sums.impossible >= 0:
        raise DataError(_impossible(sums.impossible))
    return Counts(sums.transitions, sums.emissions), sums.log_probability


def maximize(lists: LabelLists, counts: Counts, smoothing: float = 0.0, allowed: HMM | None = None) -> HMM:
    """The parameters of counts; with `smoothing`, what `allowed` gives any probability counts so much more.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> maximize(lists, expected_counts(lists, uniform_hmm(lists))[0]).transitions[2].tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    pairs, words = counts
    if smoothing and allowed is not None:
        pairs = pairs + smoothing * (allowed.transitions > 0)
        words = words + smoothing * (allowed.emissions > 0)
    size = len(pairs)
    before = np.repeat(np.arange(size, dtype=np.int32), size)
    return HMM(
        estimate_rows(pairs.ravel(), before, size, 0.0).weight.reshape(size, size),
        estimate_rows(words, lists.listed, lists.n_labels, 0.0).weight,
    )


def fit_hmm(
    lists: LabelLists,
    start: HMM | None = None,
    *,
    smoothing: float = 0.0,
    iterations: int = 50,
    tolerance: float = 1e-5,
    describe: str = "EM",
) -> EMResult:
    """Learn an HMM from text; what `start` (all that is allowed, uniform) gives probability 0 keeps it.

    >>> lists = LabelLists.from_types([[True, False], [True, True], [False, True]], [0, 1, 0, 2, 0, 1], [0, 2, 4, 6])
    >>> result = fit_hmm(lists)  # after the first type the third has tag 1, and so, it seems, has the second
    >>> best_tags(lists, result.parameters).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    if smoothing < 0 or iterations < 1:
        raise ConfigError(f"smoothing must be at least 0 and iterations at least 1, got {smoothing} and {iterations}")
    begin = uniform_hmm(lists) if start is None else start
    _check(lists, begin)

    def expect(hmm: HMM) -> tuple[Counts, float]:
        counts, value = expected_counts(lists, hmm)
        if smoothing:
            value += smoothing * sum(
                float(np.log(now[first > 0]).sum())
                for now, first in ((hmm.transitions, begin.transitions), (hmm.emissions, begin.emissions))
            )
        return counts, value

    return expectation_maximization(
        expect,
        lambda counts: maximize(lists, counts, smoothing, begin),
        begin,
        tolerance=tolerance,
        max_iterations=iterations,
        describe=describe,
    )


def best_tags(lists: LabelLists, hmm: HMM) -> States:
    """The most probable tags of the text; of equally probable ones, those of lower numbers from the right.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> best_tags(lists, HMM(np.array([[0, 0.9, 0, 0.1], [0.5, 0, 0, 0.5], [1, 0, 0, 0], [0.0] * 4]),
    ...                      np.ones(2))).tolist()
    [0, 1]
    """
    tags, impossible = run_most_probable(lists, hmm.transitions, hmm.emissions)
    if impossible >= 0:
        raise DataError(_impossible(impossible))
    return tags


def observed_transitions(lists: LabelLists, tags: States) -> Bools:
    """The pairs of neighbouring tags in a tagging, those with start and end included.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> np.argwhere(observed_transitions(lists, np.array([0, 1]))).tolist()  # 2 is the start, 3 the end
    [[0, 1], [1, 3], [2, 0]]
    """
    n = lists.n_labels
    seen = np.zeros((n + 2, n + 2), dtype=np.bool_)
    full = np.diff(lists.offsets) > 0
    first, last = lists.offsets[:-1][full], lists.offsets[1:][full] - 1
    seen[n, tags[first]] = True
    seen[tags[last], n + 1] = True
    inside = np.ones(len(tags), dtype=np.bool_)
    inside[first] = False
    here = np.flatnonzero(inside)
    seen[tags[here - 1], tags[here]] = True
    return seen


def used_emissions(lists: LabelLists, tags: States) -> Bools:
    """Which types of words have which of their tags in a tagging, as `LabelLists.listed` has them.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> used_emissions(lists, np.array([1, 1])).tolist()
    [False, True]
    """
    used = np.zeros(len(lists.listed), dtype=np.bool_)
    # Lists are in ascending order: a type and tag stand where their common number would.
    keys = np.repeat(np.arange(len(lists.begin) - 1), np.diff(lists.begin)) * lists.n_labels + lists.listed
    used[np.searchsorted(keys, lists.types * lists.n_labels + tags)] = True
    return used


def _check(lists: LabelLists, hmm: HMM) -> None:
    check_shape(hmm.transitions, (lists.n_labels + 2, lists.n_labels + 2), "transitions")
    check_shape(hmm.emissions, (len(lists.listed),), "emissions")


def _impossible(sentence: int) -> str:
    return (
        f"sentence {sentence + 1} has no tagging with a probability above 0: no allowed transitions lead through the "
        "tags of its words. Allow more transitions, or smooth them"
    )
