"""An HMM fitted to a small set of labels, transitions and emissions pruned in turn (Ravi & Knight 2009).

    phase 1    transitions: the labels given          emissions: all of the dictionary       EM, Viterbi tagging
    phase 2    transitions: all                       emissions: those used in the tagging   EM, Viterbi tagging
    phase 3    transitions: those of the tagging      emissions: all                         ...

Every phase starts from equal probabilities of what it allows. The alternation ends when the number of distinct labels
in the tagging changes by at most 5 % from one phase to the next, or when a phase would start as an earlier one did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats
from weft.errors import ConfigError
from weft.infer.chains.label_lists import LabelLists
from weft.learn.generative.hmm import (
    HMM,
    best_tags,
    expected_counts,
    fit_hmm,
    full_transitions,
    observed_transitions,
    uniform_hmm,
    used_emissions,
)
from weft.ragged import Indices, States

#: The alternation ends when the number of labels changes by this share at most.
CHANGE = 0.05


@dataclass(frozen=True)
class Phase:
    """One run of EM: what was restricted, the labels and words' tags allowed, those in use after it, and how likely the
    text became from round to round."""

    restricted: str  # "transitions", "emissions"
    allowed_labels: int
    allowed_emissions: int
    labels: int
    log_likelihoods: list[float]


@dataclass(frozen=True)
class Alternation:
    """The last model and its tagging, the phases, and why it stopped."""

    hmm: HMM
    tags: States
    phases: list[Phase]
    why: str


def alternate(
    lists: LabelLists,
    labels: Bools,
    *,
    change: float = CHANGE,
    prune_below: float = 0.0,
    most_phases: int = 10,
    iterations: int = 100,
    tolerance: float = 1e-6,
) -> Alternation:
    """Fit an HMM, beginning with the labels of a cover.

    A tag is pruned from a type of words when the tagging does not use it there; with `prune_below`, when its expected
    share of the type's occurrences is below that.

    >>> lists = LabelLists.from_types([[True, False], [True, True], [False, True]], [0, 1, 0, 2, 0, 1], [0, 2, 4, 6])
    >>> from weft.learn.label_cover.cover import cover_labels
    >>> found = alternate(lists, cover_labels(lists).labels)
    >>> found.tags.tolist(), [phase.labels for phase in found.phases], found.why
    ([0, 1, 0, 1, 0, 1], [3, 3], 'labels changed by 0.0 %')
    """
    if not 0 <= change < 1 or not 0 <= prune_below < 1 or most_phases < 1:
        raise ConfigError(
            f"change and prune_below are shares below 1 and phases at least 1, got {change}, {prune_below} and "
            f"{most_phases}"
        )
    everything = full_transitions(lists.n_labels)
    phases: list[Phase] = []
    start, restricted = uniform_hmm(lists, labels), "transitions"
    starts: set[bytes] = set()
    why = "phase limit"
    while True:
        result = fit_hmm(
            lists, start, iterations=iterations, tolerance=tolerance, describe=f"EM, phase {len(phases) + 1}"
        )
        hmm: HMM = result.parameters
        tags = best_tags(lists, hmm)
        observed = observed_transitions(lists, tags)
        phases.append(
            Phase(restricted, int((start.transitions > 0).sum()), int((start.emissions > 0).sum()),
                  int(observed.sum()), result.log_likelihoods)
        )  # fmt: skip
        if len(phases) > 1:
            before = phases[-2].labels
            moved = abs(phases[-1].labels - before) / before
            if moved <= change:
                why = f"labels changed by {100 * moved:.1f} %"
                break
        if len(phases) == most_phases:
            break
        starts.add(_limits(start))
        if restricted == "transitions":
            kept = used_emissions(lists, tags)
            if prune_below:
                kept = _frequent(lists, hmm, prune_below)
            start, restricted = uniform_hmm(lists, everything, kept), "emissions"
        else:
            start, restricted = uniform_hmm(lists, observed), "transitions"
        if _limits(start) in starts:
            why = "the phases repeat"
            break
    return Alternation(hmm, tags, phases, why)


def _limits(start: HMM) -> bytes:
    """What a phase may use."""
    return np.packbits(start.transitions > 0).tobytes() + np.packbits(start.emissions > 0).tobytes()


def _frequent(lists: LabelLists, hmm: HMM, share: float) -> Bools:
    """Tags that make up at least a share of the expected tags of their type, and the commonest of each type."""
    counts = expected_counts(lists, hmm)[0].emissions
    shares = counts / np.repeat(np.maximum(_occurrences(lists), 1), np.diff(lists.begin))
    most: Floats = np.repeat(np.maximum.reduceat(shares, lists.begin[:-1]), np.diff(lists.begin))
    kept: Bools = (shares >= share) | (shares == most)
    return kept


def _occurrences(lists: LabelLists) -> Indices:
    return np.bincount(lists.types, minlength=len(lists.begin) - 1)
