"""Sums and maxima over the segmentations of sentences, on logarithms.

A segment starts at position i, has d + 1 positions and a label y. With s for segment scores and t for transitions:

    starting_i(y) = log sum over y' of exp(ending_{i-1}(y') + t(y', y)),   0 at the first position
    ending_j(y)   = log sum over d  of exp(starting_{j-d}(y) + s(j-d, d, y))
    onward_i(y)   = log sum over d  of exp(s(i, d, y) + after_{i+d}(y))
    after_j(y')   = log sum over y  of exp(t(y', y) + onward_{j+1}(y)),    0 at the last position
    p(i, d, y)    = exp(starting_i(y) + s(i, d, y) + after_{i+d}(y) - log Z)

Cost: N * L * (D + L). A segmentation is coded as one number per position: y * D + d where a segment starts, else -1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.kernel import kernel
from weft.ragged import Indices, States


@dataclass(frozen=True)
class Lattice:
    """The four sums, one row per position, and log Z, one number per sentence."""

    starting: Floats
    ending: Floats
    onward: Floats
    after: Floats
    log_partition: Floats


def run_lattice(score: Floats, transition: Floats, offsets: Indices) -> Lattice:
    """All sums; log Z is minus infinity where nothing is allowed.

    >>> run_lattice(np.zeros((3, 2, 1)), np.zeros((1, 1)), np.array([0, 3])).log_partition.round(3)  # 1+1+1, 1+2, 2+1
    array([1.099])
    """
    shape = (len(score), score.shape[2])
    starting, ending, onward, after = (np.full(shape, -np.inf) for _ in range(4))
    lattice = Lattice(starting, ending, onward, after, np.zeros(len(offsets) - 1))
    _sums(
        score, transition, offsets,
        lattice.starting, lattice.ending, lattice.onward, lattice.after, lattice.log_partition,
    )  # fmt: skip
    return lattice


@kernel
def _add(total: float, term: float) -> float:
    """log(exp(total) + exp(term))"""
    if term == -np.inf:
        return total
    if total < term:
        return term + np.log1p(np.exp(total - term))
    return total + np.log1p(np.exp(term - total))


@kernel
def _sums(
    score: Floats, transition: Floats, offsets: Indices,
    starting: Floats, ending: Floats, onward: Floats, after: Floats, log_partition: Floats,
) -> None:  # fmt: skip
    longest, labels = score.shape[1], score.shape[2]
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        for i in range(first, end):
            for y in range(labels):
                if i == first:
                    starting[i, y] = 0.0
                else:
                    for before in range(labels):
                        starting[i, y] = _add(starting[i, y], ending[i - 1, before] + transition[before, y])
            for y in range(labels):
                for d in range(min(longest, i - first + 1)):
                    ending[i, y] = _add(ending[i, y], starting[i - d, y] + score[i - d, d, y])
        if end > first:
            log_partition[s] = -np.inf
            for y in range(labels):
                log_partition[s] = _add(log_partition[s], ending[end - 1, y])
        for i in range(end - 1, first - 1, -1):
            for y in range(labels):
                if i == end - 1:
                    after[i, y] = 0.0
                else:
                    for behind in range(labels):
                        after[i, y] = _add(after[i, y], transition[y, behind] + onward[i + 1, behind])
            for y in range(labels):
                for d in range(min(longest, end - i)):
                    onward[i, y] = _add(onward[i, y], score[i, d, y] + after[i + d, y])


@kernel
def segment_marginals(
    score: Floats, transition: Floats, offsets: Indices, weight: Floats,
    starting: Floats, ending: Floats, onward: Floats, after: Floats, log_partition: Floats,
    of_segment: Floats, of_transition: Floats,
) -> None:  # fmt: skip
    """Add weighted probabilities of segments, and of transitions summed over positions."""
    longest, labels = score.shape[1], score.shape[2]
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        for i in range(first, end):
            for d in range(min(longest, end - i)):
                for y in range(labels):
                    log_p = starting[i, y] + score[i, d, y] + after[i + d, y] - log_partition[s]
                    of_segment[i, d, y] += weight[s] * np.exp(log_p)
            if i > first:
                for before in range(labels):
                    for y in range(labels):
                        log_p = ending[i - 1, before] + transition[before, y] + onward[i, y] - log_partition[s]
                        of_transition[before, y] += weight[s] * np.exp(log_p)


@kernel
def segment_covariance(
    score: Floats, transition: Floats, offsets: Indices, weight: Floats,
    starting: Floats, ending: Floats, onward: Floats, after: Floats, log_partition: Floats,
    f_segment: Floats, f_transition: Floats, of_segment: Floats, of_transition: Floats,
) -> None:  # fmt: skip
    """Add  p(r) * (E[F | r] - E[F])  of segments and transitions, from the mean of F on either side of each of them."""
    longest, labels = score.shape[1], score.shape[2]
    f_starting, f_ending = np.zeros(starting.shape), np.zeros(starting.shape)
    f_onward, f_after = np.zeros(starting.shape), np.zeros(starting.shape)
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        for i in range(first, end):
            for y in range(labels):
                if i > first and starting[i, y] > -np.inf:
                    for before in range(labels):
                        p = np.exp(ending[i - 1, before] + transition[before, y] - starting[i, y])
                        f_starting[i, y] += p * (f_ending[i - 1, before] + f_transition[before, y])
                if ending[i, y] > -np.inf:
                    for d in range(min(longest, i - first + 1)):
                        p = np.exp(starting[i - d, y] + score[i - d, d, y] - ending[i, y])
                        f_ending[i, y] += p * (f_starting[i - d, y] + f_segment[i - d, d, y])
        mean = 0.0
        if end > first:
            for y in range(labels):
                mean += np.exp(ending[end - 1, y] - log_partition[s]) * f_ending[end - 1, y]
        for i in range(end - 1, first - 1, -1):
            for y in range(labels):
                if i < end - 1 and after[i, y] > -np.inf:
                    for behind in range(labels):
                        p = np.exp(transition[y, behind] + onward[i + 1, behind] - after[i, y])
                        f_after[i, y] += p * (f_transition[y, behind] + f_onward[i + 1, behind])
            for y in range(labels):
                for d in range(min(longest, end - i)):
                    inside = f_segment[i, d, y] + f_after[i + d, y]
                    if onward[i, y] > -np.inf:
                        f_onward[i, y] += np.exp(score[i, d, y] + after[i + d, y] - onward[i, y]) * inside
                    p = np.exp(starting[i, y] + score[i, d, y] + after[i + d, y] - log_partition[s])
                    of_segment[i, d, y] += weight[s] * p * (f_starting[i, y] + inside - mean)
            if i > first:
                for before in range(labels):
                    for y in range(labels):
                        p = np.exp(ending[i - 1, before] + transition[before, y] + onward[i, y] - log_partition[s])
                        f = f_ending[i - 1, before] + f_transition[before, y] + f_onward[i, y]
                        of_transition[before, y] += weight[s] * p * (f - mean)


@kernel
def draw_segments(
    score: Floats, transition: Floats, offsets: Indices, starting: Floats, ending: Floats, uniform: Floats, out: States
) -> None:
    """One segmentation per row of `uniform` [n, N, 2], drawn from the right."""
    longest, labels = score.shape[1], score.shape[2]
    chance = np.empty(max(longest, labels))
    for sample in range(len(uniform)):
        for s in range(len(offsets) - 1):
            first, i = offsets[s], offsets[s + 1] - 1
            label = -1
            while i >= first:
                for y in range(labels):
                    chance[y] = ending[i, y] + (0.0 if label < 0 else transition[y, label])
                label = _choose(chance[:labels], uniform[sample, i, 0])
                choices = min(longest, i - first + 1)
                for d in range(choices):
                    chance[d] = starting[i - d, label] + score[i - d, d, label]
                d = _choose(chance[:choices], uniform[sample, i, 1])
                out[sample, i - d] = label * longest + d
                i -= d + 1


@kernel
def _choose(log_chance: Floats, uniform: float) -> int:
    """An index, with a chance in proportion to exp(log_chance)."""
    top = log_chance.max()
    left = uniform * np.exp(log_chance - top).sum()
    chosen = 0
    for choice in range(len(log_chance)):
        chance = np.exp(log_chance[choice] - top)
        if chance > 0.0:
            chosen = choice
            left -= chance
            if left < 0.0:
                break
    return chosen


@kernel
def kbest_segments(
    score: Floats, transition: Floats, offsets: Indices, k: int, solutions: States, scores: Floats, count: Indices
) -> None:
    """The k best codes [k, N] and scores [k, S]: k-lists of segments that start, and that end, at each position."""
    size, longest, labels = score.shape
    start_score, end_score = np.full((size, labels, k), -np.inf), np.full((size, labels, k), -np.inf)
    label_before = np.zeros((size, labels, k), dtype=np.int32)
    start_rank, end_rank = np.zeros((size, labels, k), dtype=np.int32), np.zeros((size, labels, k), dtype=np.int32)
    extent = np.zeros((size, labels, k), dtype=np.int32)
    taken = np.zeros(max(longest, labels), dtype=np.int64)
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        if first == end:
            scores[0, s] = 0.0
            count[s] = 1
            continue
        for i in range(first, end):
            for y in range(labels):
                if i == first:
                    start_score[i, y, 0] = 0.0
                else:
                    taken[:] = 0
                    for rank in range(k):
                        top, chosen = -np.inf, -1
                        for before in range(labels):
                            if taken[before] < k:
                                total = end_score[i - 1, before, taken[before]] + transition[before, y]
                                if total > top:
                                    top, chosen = total, before
                        if chosen < 0:
                            break
                        start_score[i, y, rank] = top
                        label_before[i, y, rank] = chosen
                        start_rank[i, y, rank] = taken[chosen]
                        taken[chosen] += 1
                taken[:] = 0
                for rank in range(k):
                    top, chosen = -np.inf, -1
                    for d in range(min(longest, i - first + 1)):
                        if taken[d] < k:
                            total = start_score[i - d, y, taken[d]] + score[i - d, d, y]
                            if total > top:
                                top, chosen = total, d
                    if chosen < 0:
                        break
                    end_score[i, y, rank] = top
                    extent[i, y, rank] = chosen
                    end_rank[i, y, rank] = taken[chosen]
                    taken[chosen] += 1
        taken[:] = 0
        for rank in range(k):
            top, label = -np.inf, -1
            for y in range(labels):
                if taken[y] < k and end_score[end - 1, y, taken[y]] > top:
                    top, label = end_score[end - 1, y, taken[y]], y
            if label < 0:
                break
            scores[rank, s] = top
            count[s] += 1
            i, y, r = end - 1, label, taken[label]
            while i >= first:
                d, r = extent[i, y, r], end_rank[i, y, r]
                i -= d
                solutions[rank, i] = y * longest + d
                y, r = label_before[i, y, r], start_rank[i, y, r]
                i -= 1
            taken[label] += 1
