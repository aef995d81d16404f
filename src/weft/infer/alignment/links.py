"""Alignments: every target word j of a sentence pair comes from one source word a_j, or from none.

With t[j, i] the probability of target word j given source word i, n[j] its probability given no word, and c[d] the
weight of a jump over d words, alignments of I source words have the probability

    p(target, a) = prod over j of   p0 n[j]                                        where a_j is none
                                    (1 - p0) c[a_j - b_j] / Z_I(b_j) t[j, a_j]     elsewhere,   Z_I(b) = sum_i c[i - b]

where b_j is the source word of the last target word before j that has one, -1 at the beginning: an HMM over source
positions whose empty state remembers where it came from (Vogel et al. 1996, Och and Ney 2003). Jumps further than the
table reaches have the weight of its ends. Without a table of jumps all source words are alike, 1 / I: that is IBM
model 1, whose target words are independent of each other.

Pair s has rows `target_offsets[s]:target_offsets[s + 1]` of target words, and J x I cells from `cell_offsets[s]` on,
the I cells of the first target word first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States, check_offsets, check_shape, one_block


@dataclass(frozen=True, slots=True)
class AlignmentMarginals:
    """Expectations of a batch: `link` per cell, `null` per target word, sums of jumps and of their origins.

    `jumps[d]` counts jumps by distance as the table of jumps does; `departures[I, b + 1]` counts jumps from source word
    b in sentences of I words. `log_partition` is one number per pair.
    """

    link: Floats
    null: Floats
    jumps: Floats
    departures: Floats
    log_partition: Floats


class Alignments:
    """A batch of sentence pairs with the probabilities of their words.

    >>> pairs = Alignments([0.9, 0.1, 0.2, 0.7], [0.1, 0.1], [2], [0, 2], p_null=0.1)  # model 1
    >>> pairs.best()
    array([0, 1], dtype=int32)
    >>> pairs.marginals().link.round(2).tolist()
    [0.88, 0.1, 0.22, 0.76]
    >>> ahead = Alignments([0.5, 0.5, 0.5, 0.5], [0.1, 0.1], [2], [0, 2], jumps=[0.1, 0.2, 0.7], p_null=0.1)
    >>> ahead.best(), ahead.marginals().link.round(2).tolist()
    (array([0, 1], dtype=int32), [0.49, 0.49, 0.28, 0.7])
    """

    def __init__(
        self,
        translation: ArrayLike,
        null: ArrayLike,
        source_sizes: ArrayLike,
        target_offsets: ArrayLike,
        *,
        jumps: ArrayLike | None = None,
        p_null: float = 0.2,
    ) -> None:
        self.translation = one_block(translation, np.float64).reshape(-1)
        self.null = one_block(null, np.float64)
        self.source_sizes = one_block(source_sizes, np.int64)
        self.target_offsets = check_offsets(target_offsets, len(self.null))
        self.jumps = one_block([] if jumps is None else jumps, np.float64)
        self.p_null = p_null
        if len(self.source_sizes) != len(self.target_offsets) - 1 or self.source_sizes.min(initial=0) < 0:
            raise InferenceError(f"expected the source length of each of {len(self.target_offsets) - 1} sentence pairs")
        check_shape(self.translation, (int(self.cell_offsets[-1]),), "translation, a number for each pair of words,")
        if not 0 < p_null < 1:
            raise InferenceError(f"p_null is the probability of a word from nowhere, between 0 and 1; given: {p_null}")
        if jumps is not None and (len(self.jumps) % 2 == 0 or not self.jumps.min() > 0):
            raise InferenceError("jumps must hold 2 r + 1 positive weights, of distances from -r to r")
        for name, values in (("translation", self.translation), ("null", self.null)):
            if values.size and not (values.min() >= 0 and values.max() < np.inf):
                raise InferenceError(f"{name} holds probabilities; a negative number, infinity or NaN was given")

    @cached_property
    def cell_offsets(self) -> Indices:
        """Where the cells of every pair begin."""
        return np.concatenate([[0], np.cumsum(self.source_sizes * np.diff(self.target_offsets))])

    def marginals(self) -> AlignmentMarginals:
        """Posterior probabilities of all links and of no link, expected jumps, and the log-probability of each pair."""
        longest = int(self.source_sizes.max(initial=0))
        found = AlignmentMarginals(
            np.empty_like(self.translation),
            np.empty_like(self.null),
            np.zeros_like(self.jumps),
            np.zeros((longest + 1, longest + 1)),
            np.zeros(len(self.source_sizes)),
        )
        given = (self.translation, self.null, self.cell_offsets, self.target_offsets, self.source_sizes)
        if len(self.jumps):
            _hmm_marginals(
                *given, self.jumps, self.p_null,
                found.link, found.null, found.jumps, found.departures, found.log_partition,
            )  # fmt: skip
        else:
            _model1_marginals(*given, self.p_null, found.link, found.null, found.log_partition)
        bad = np.flatnonzero(~np.isfinite(found.log_partition))
        if len(bad):
            raise InferenceError(
                f"pair {bad[0]} of the batch has a target word that no source word and no empty word can give; "
                "every target word needs one probability above 0"
            )
        return found

    def log_partition(self) -> Floats:
        """The log-probability of every target sentence."""
        return self.marginals().log_partition

    def best(self) -> States:
        """The source word of every target word in the most probable alignment, -1 for none."""
        found = np.empty(len(self.null), dtype=np.int32)
        given = (self.translation, self.null, self.cell_offsets, self.target_offsets, self.source_sizes)
        if len(self.jumps):
            _hmm_best(*given, self.jumps, self.p_null, found)
        else:
            _model1_best(*given, self.p_null, found)
        return found


def turned_cells(source_sizes: Indices, target_sizes: Indices) -> Indices:
    """For every cell, target word by target word, its place where cells stand source word by source word.

    >>> turned_cells(np.array([2]), np.array([3])).tolist()
    [0, 3, 1, 4, 2, 5]
    """
    n_cells = source_sizes * target_sizes
    starts = np.concatenate([[0], np.cumsum(n_cells)])[:-1]
    start, size, length = (np.repeat(values, n_cells) for values in (starts, source_sizes, target_sizes))
    target, source = np.divmod(np.arange(len(start)) - start, size)
    return start + source * length + target


@kernel
def _model1_marginals(
    translation: Floats, null: Floats, cell_offsets: Indices, target_offsets: Indices, source_sizes: Indices,
    p_null: float, link: Floats, null_link: Floats, log_z: Floats,
) -> None:  # fmt: skip
    for s in range(len(source_sizes)):
        size = source_sizes[s]
        cell = cell_offsets[s]
        for j in range(target_offsets[s], target_offsets[s + 1]):
            nothing = p_null * null[j]
            total = nothing
            for i in range(size):
                link[cell + i] = (1.0 - p_null) / size * translation[cell + i]
                total += link[cell + i]
            for i in range(size):
                link[cell + i] /= total
            null_link[j] = nothing / total
            log_z[s] += math.log(total)
            cell += size


@kernel
def _model1_best(
    translation: Floats, null: Floats, cell_offsets: Indices, target_offsets: Indices, source_sizes: Indices,
    p_null: float, found: States,
) -> None:  # fmt: skip
    for s in range(len(source_sizes)):
        size = source_sizes[s]
        cell = cell_offsets[s]
        for j in range(target_offsets[s], target_offsets[s + 1]):
            most = p_null * null[j]
            found[j] = -1
            for i in range(size):
                weight = (1.0 - p_null) / size * translation[cell + i]
                if weight > most:
                    most = weight
                    found[j] = i
            cell += size


@inner_kernel
def jump_steps(jumps: Floats, size: int, p_null: float, step: Floats) -> None:
    """Fill `step[b + 1, i]`, the probability of a jump from source word b (-1: the beginning) to i, among `size`."""
    reach = (len(jumps) - 1) // 2
    for b in range(-1, size):
        total = 0.0
        for i in range(size):
            step[b + 1, i] = jumps[min(max(i - b, -reach), reach) + reach]
            total += step[b + 1, i]
        for i in range(size):
            step[b + 1, i] *= (1.0 - p_null) / total


@kernel
def _hmm_marginals(
    translation: Floats, null: Floats, cell_offsets: Indices, target_offsets: Indices, source_sizes: Indices,
    jumps: Floats, p_null: float,
    link: Floats, null_link: Floats, jump_sums: Floats, departures: Floats, log_z: Floats,
) -> None:  # fmt: skip
    longest, most = 0, 0
    for s in range(len(source_sizes)):
        longest = max(longest, source_sizes[s])
        most = max(most, target_offsets[s + 1] - target_offsets[s])
    reach = (len(jumps) - 1) // 2
    step = np.empty((longest + 1, longest))
    back = np.empty((longest, longest + 1))  # step, turned
    reached = np.empty((most + 1, longest + 1))  # forward sums: the last source word used is b, at [b + 1]
    scale = np.empty(most)
    onward = np.empty(longest + 1)
    onward_before = np.empty(longest + 1)
    arrival = np.empty(longest)
    uses = np.empty((longest + 1, longest))
    for s in range(len(source_sizes)):
        size = source_sizes[s]
        first = target_offsets[s]
        length = target_offsets[s + 1] - first
        if length == 0:
            continue
        jump_steps(jumps, size, p_null, step)
        for b in range(size + 1):
            for i in range(size):
                back[i, b] = step[b, i]
                uses[b, i] = 0.0
            reached[0, b] = 0.0
        reached[0, 0] = 1.0
        for j in range(length):
            cell = cell_offsets[s] + j * size
            for i in range(size):
                link[cell + i] = 0.0
            for b in range(size + 1):
                weight = reached[j, b]
                for i in range(size):
                    link[cell + i] += weight * step[b, i]
            nothing = p_null * null[first + j]
            total = 0.0
            for b in range(size + 1):
                reached[j + 1, b] = nothing * reached[j, b]
            for i in range(size):
                link[cell + i] *= translation[cell + i]
                reached[j + 1, i + 1] += link[cell + i]
            for b in range(size + 1):
                total += reached[j + 1, b]
            scale[j] = total
            log_z[s] += math.log(total)
            for b in range(size + 1):
                reached[j + 1, b] /= total
        for b in range(size + 1):
            onward[b] = 1.0
        for j in range(length - 1, -1, -1):
            cell = cell_offsets[s] + j * size
            nothing = p_null * null[first + j] / scale[j]
            stay = 0.0
            for b in range(size + 1):
                onward_before[b] = nothing * onward[b]
                stay += reached[j, b] * onward_before[b]
            null_link[first + j] = stay
            for i in range(size):
                arrival[i] = translation[cell + i] * onward[i + 1] / scale[j]
                link[cell + i] *= onward[i + 1] / scale[j]
                weight = arrival[i]
                for b in range(size + 1):
                    onward_before[b] += weight * back[i, b]
            for b in range(size + 1):
                weight = reached[j, b]
                for i in range(size):
                    uses[b, i] += weight * arrival[i]
                onward[b] = onward_before[b]
        for b in range(size + 1):
            total = 0.0
            for i in range(size):
                used = uses[b, i] * step[b, i]
                total += used
                jump_sums[min(max(i + 1 - b, -reach), reach) + reach] += used
            departures[size, b] += total


@kernel
def _hmm_best(
    translation: Floats, null: Floats, cell_offsets: Indices, target_offsets: Indices, source_sizes: Indices,
    jumps: Floats, p_null: float, found: States,
) -> None:  # fmt: skip
    longest, most = 0, 0
    for s in range(len(source_sizes)):
        longest = max(longest, source_sizes[s])
        most = max(most, target_offsets[s + 1] - target_offsets[s])
    step = np.empty((longest + 1, longest))
    best = np.empty(longest + 1)
    before = np.empty(longest + 1)
    came_from = np.empty((most, longest + 1), np.int32)
    was_null = np.empty((most, longest + 1), np.bool_)
    for s in range(len(source_sizes)):
        size = source_sizes[s]
        first = target_offsets[s]
        length = target_offsets[s + 1] - first
        jump_steps(jumps, size, p_null, step)
        for b in range(size + 1):
            before[b] = 0.0
        before[0] = 1.0
        for j in range(length):
            cell = cell_offsets[s] + j * size
            for b in range(size + 1):
                best[b] = p_null * null[first + j] * before[b]
                came_from[j, b] = b
                was_null[j, b] = True
            for i in range(size):
                top, place = -1.0, 0
                for b in range(size + 1):
                    weight = before[b] * step[b, i]
                    if weight > top:
                        top, place = weight, b
                if top * translation[cell + i] > best[i + 1]:
                    best[i + 1] = top * translation[cell + i]
                    came_from[j, i + 1] = place
                    was_null[j, i + 1] = False
            # Probabilities of long sentences would come to nothing: only their ratios matter.
            total = 0.0
            for b in range(size + 1):
                total += best[b]
            for b in range(size + 1):
                before[b] = best[b] / total
        place = 0
        for b in range(size + 1):
            if before[b] > before[place]:
                place = b
        for j in range(length - 1, -1, -1):
            found[first + j] = -1 if was_null[j, place] else place - 1
            place = came_from[j, place]
