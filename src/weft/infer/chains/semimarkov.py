"""Semi-Markov chains:  p(segmentation) = exp score / Z,  score = sum of s(start, length, y) + t(y before, y).

A `SemiMarkov` holds the scores of a batch of sentences, each to be cut into labelled segments of at most D positions.
`score[i, d, y]` belongs to the segment that *starts* at position i of the batch, has d + 1 positions and the label y;
`transition[y', y]` to every two neighbouring segments. Segments that would leave their sentence are ignored.

A solution is an int32 array with one number per position: y * D + d where a segment starts, -1 inside a segment.
`segments` and `encode` translate it to rows (sentence, start, end, label) and back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.infer.chains.segment_lattice import (
    Lattice,
    draw_segments,
    kbest_segments,
    run_lattice,
    segment_covariance,
    segment_marginals,
)
from weft.infer.parts import ArrayParts
from weft.ragged import (
    Indices,
    States,
    check_offsets,
    check_scores,
    check_shape,
    first_positions,
    one_block,
    sentence_of,
    sentence_weights,
    sum_by_sentence,
)

__all__ = ["SemiMarkov", "SemiMarkovParts"]


@dataclass(frozen=True, slots=True)
class SemiMarkovParts(ArrayParts):
    """One number per part: `segment[N, D, L]`, and `transition[L, L]`, in results summed over all uses in the batch."""

    numbers = ("segment", "transition")

    segment: Floats
    transition: Floats
    offsets: Indices


class SemiMarkov:
    """A batch of semi-Markov chains.

    `allowed[N, D, L]` forbids segments, `allowed[N, L]` labels at positions, `legal[L, L]` transitions; a score of
    minus infinity does the same.

    >>> score = np.zeros((3, 2, 2))
    >>> score[1, 1, 1] = 4.0
    >>> model = SemiMarkov(score, np.zeros((2, 2)), [0, 3], legal=[[True, True], [True, False]])
    >>> model.segments(model.best()).tolist()
    [[0, 0, 1, 0], [0, 1, 3, 1]]
    >>> model.labels(model.best()).tolist()
    [0, 1, 1]
    >>> model.marginals().segment[1, 1].round(3).tolist()
    [0.031, 0.845]
    """

    def __init__(
        self,
        score: ArrayLike,
        transition: ArrayLike,
        offsets: ArrayLike,
        allowed: ArrayLike | None = None,
        legal: ArrayLike | None = None,
    ) -> None:
        scores = check_scores(score, "segment scores")
        if scores.ndim != 3 or 0 in scores.shape[1:]:
            raise InferenceError(
                f"segment scores must be [positions, longest segment, labels]; given: an array of shape {scores.shape}"
            )
        self.offsets = check_offsets(offsets, len(scores))
        self.longest, self.n_labels = scores.shape[1:]
        room = np.repeat(self.offsets[1:], np.diff(self.offsets)) - np.arange(len(scores))
        fits = np.arange(self.longest)[None, :] < room[:, None]
        self.segment_scores = np.where(fits[:, :, None], scores, -np.inf)
        if allowed is not None:
            self.segment_scores = self._masked(allowed)
        self.transition = check_scores(transition, "transition scores")
        check_shape(self.transition, (self.n_labels, self.n_labels), "transition scores")
        if legal is not None:
            mask = np.asarray(legal, dtype=np.bool_)
            check_shape(mask, self.transition.shape, "legal")
            self.transition = np.where(mask, self.transition, -np.inf)

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    def best(self) -> States:
        """The highest-scoring segmentation of every sentence; ties go to the lower last label, then shorter segment."""
        return self._kbest(1)[0][0]

    def best_scores(self) -> Floats:
        """The score of the best segmentation of every sentence."""
        return self._kbest(1)[1][0]

    def kbest(self, k: int) -> list[list[States]]:
        """For every sentence its k best segmentations, best first, all different; fewer where no more are allowed."""
        return [[solution for solution, _ in solutions] for solutions in self.kbest_scored(k)]

    def kbest_scored(self, k: int) -> list[list[tuple[States, float]]]:
        """The k best segmentations of every sentence with their scores."""
        solutions, scores, count = self._kbest(k)
        return [
            [(solutions[rank, first:end], float(scores[rank, s])) for rank in range(count[s])]
            for s, (first, end) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True))
        ]

    def _kbest(self, k: int) -> tuple[States, Floats, Indices]:
        if k < 1:
            raise InferenceError(f"k must be at least 1; given: {k}")
        solutions = np.full((k, len(self.segment_scores)), -1, dtype=np.int32)
        scores = np.full((k, self.n_sentences), -np.inf)
        count = np.zeros(self.n_sentences, dtype=np.int64)
        kbest_segments(self.segment_scores, self.transition, self.offsets, k, solutions, scores, count)
        self._check_possible(scores[0])
        return solutions, scores, count

    def score(self, solution: ArrayLike) -> Floats:
        """The score of a segmentation, one number per sentence; minus infinity where it uses what is forbidden."""
        starts, label, extent, follows = self._taken_apart(solution)
        total = np.zeros(len(self.segment_scores))
        total[starts] = self.segment_scores[starts, extent, label]
        total[starts[follows]] += self.transition[label[follows - 1], label[follows]]
        return sum_by_sentence(total, self.offsets)

    def parts(self, solution: ArrayLike, weight: Floats | None = None) -> SemiMarkovParts:
        """A segmentation as indicators of its parts, times the weight of each sentence if weights are given."""
        starts, label, extent, follows = self._taken_apart(solution)
        each = sentence_weights(weight, self.offsets)[sentence_of(self.offsets)][starts]
        parts = self._zeros()
        parts.segment[starts, extent, label] = each
        np.add.at(parts.transition, (label[follows - 1], label[follows]), each[follows])
        return parts

    def log_partition(self) -> Floats:
        """log Z of every sentence."""
        return self._lattice().log_partition

    def marginals(self, weight: Floats | None = None) -> SemiMarkovParts:
        """Probabilities of all segments, and of transitions summed over the batch, times the weights of sentences."""
        return self.log_partition_and_marginals(weight)[1]

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, SemiMarkovParts]:
        """Both at the cost of one; the weights do not affect log Z."""
        lattice, parts = self._lattice(), self._zeros()
        segment_marginals(
            self.segment_scores, self.transition, self.offsets, sentence_weights(weight, self.offsets),
            lattice.starting, lattice.ending, lattice.onward, lattice.after, lattice.log_partition,
            parts.segment, parts.transition,
        )  # fmt: skip
        return lattice.log_partition, parts

    def log_probability(self, solution: ArrayLike) -> Floats:
        """log p of a segmentation, one number per sentence."""
        return self.score(solution) - self.log_partition()

    def sample(self, n: int, seed: int | np.random.Generator) -> States:
        """`n` independent segmentations of the batch as [n, N], each drawn with its probability."""
        lattice = self._lattice()
        uniform = np.random.default_rng(seed).random((n, len(self.segment_scores), 2))
        out = np.full(uniform.shape[:2], -1, dtype=np.int32)
        draw_segments(
            self.segment_scores, self.transition, self.offsets, lattice.starting, lattice.ending, uniform, out
        )
        return out

    def covariance(self, function: SemiMarkovParts, weight: Floats | None = None) -> SemiMarkovParts:
        """Cov(1[r], F) of every part r with  F = sum of `function` over the parts of a segmentation.

        A sentence's covariances come times its weight, those of transitions summed over the batch.
        """
        self._check_parts(function)
        if not (np.isfinite(function.segment).all() and np.isfinite(function.transition).all()):
            raise InferenceError("the function of covariance() must be finite; give 0 to parts that are forbidden")
        lattice, parts = self._lattice(), self._zeros()
        segment_covariance(
            self.segment_scores, self.transition, self.offsets, sentence_weights(weight, self.offsets),
            lattice.starting, lattice.ending, lattice.onward, lattice.after, lattice.log_partition,
            one_block(function.segment, np.float64), one_block(function.transition, np.float64),
            parts.segment, parts.transition,
        )  # fmt: skip
        return parts

    def augment(self, parts: SemiMarkovParts) -> SemiMarkov:
        """The same chains with numbers added to their scores."""
        self._check_parts(parts)
        return SemiMarkov(self.segment_scores + parts.segment, self.transition + parts.transition, self.offsets)

    def restrict(self, allowed: ArrayLike) -> SemiMarkov:
        """The same chains with only the segments of a mask [N, D, L], or the labels at positions of a mask [N, L]."""
        return SemiMarkov(self._masked(allowed), self.transition, self.offsets)

    def hamming(self, solution: ArrayLike, weight: float = 1.0) -> SemiMarkovParts:
        """Parts that charge `weight` for every position whose label, or whose being a start, differs."""
        label, begins = self._position_view(solution)
        size = len(label)
        same = label[:, None] == np.arange(self.n_labels)[None, :]
        parts = self._zeros()
        cost = 1.0 - (same & begins[:, None])
        for d in range(self.longest):
            if d:
                cost[: max(size - d, 0)] += 1.0 - (same & ~begins[:, None])[d:]
            parts.segment[:, d] = weight * cost
        return parts

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """At how many positions the label, or being a start, differs, one number per sentence."""
        label, begins = self._position_view(one)
        other_label, other_begins = self._position_view(other)
        return sum_by_sentence(((label != other_label) | (begins != other_begins)).astype(np.float64), self.offsets)

    def segments(self, solution: ArrayLike) -> States:
        """The segments of a solution: rows (sentence, start, end, label), counted inside the sentence."""
        starts, label, extent, _ = self._taken_apart(solution)
        sentence = sentence_of(self.offsets)[starts]
        start = starts - self.offsets[sentence]
        return np.stack([sentence, start, start + extent + 1, label], axis=1).astype(np.int32)

    def encode(self, segments: ArrayLike) -> States:
        """The solution that has these segments, given as rows (sentence, start, end, label); they must leave no gap.

        >>> SemiMarkov(np.zeros((3, 2, 2)), np.zeros((2, 2)), [0, 1, 3]).encode([[0, 0, 1, 1], [1, 0, 2, 0]]).tolist()
        [2, 1, -1]
        """
        rows = np.asarray(segments, dtype=np.int64).reshape(-1, 4)
        sentence, start, end, label = rows.T
        if rows.size and (sentence.min() < 0 or sentence.max() >= self.n_sentences):
            raise InferenceError(f"sentences are 0 to {self.n_sentences - 1}; given: {sentence.min()}-{sentence.max()}")
        long = (end - start > self.longest) | (end <= start)
        if long.any():
            raise InferenceError(f"segments have 1 to {self.longest} positions; given: {rows[long][0].tolist()}")
        solution = np.full(len(self.segment_scores), -1, dtype=np.int32)
        solution[self.offsets[sentence] + start] = label * self.longest + (end - start - 1)
        self._taken_apart(solution)
        return solution

    def labels(self, solution: ArrayLike) -> States:
        """The label of every position."""
        return self._position_view(solution)[0]

    def _position_view(self, solution: ArrayLike) -> tuple[States, Bools]:
        starts, label, extent, _ = self._taken_apart(solution)
        begins = np.zeros(len(self.segment_scores), dtype=np.bool_)
        begins[starts] = True
        return np.repeat(label, extent + 1).astype(np.int32), begins

    def _taken_apart(self, solution: ArrayLike) -> tuple[Indices, Indices, Indices, Indices]:
        """Start positions, labels and lengths less one of all segments; which segments follow one of their sentence."""
        code = np.asarray(solution)
        check_shape(code, (len(self.segment_scores),), "solution")
        starts = np.flatnonzero(code >= 0)
        label, extent = np.divmod(code[starts].astype(np.int64), self.longest)
        opens = first_positions(self.offsets)
        tiles = np.array_equal(starts + extent + 1, np.append(starts[1:], [len(code)][: len(starts)]))
        if not tiles or (code[opens] < 0).any() or (label >= self.n_labels).any():
            raise InferenceError(
                f"a solution is a row of segments without gaps or overlaps inside each sentence, coded as "
                f"label * {self.longest} + length - 1 where a segment starts and -1 elsewhere, with {self.n_labels} "
                "labels; build it with encode()"
            )
        return starts, label, extent, np.flatnonzero(~np.isin(starts, opens))

    def _masked(self, allowed: ArrayLike) -> Floats:
        mask = np.asarray(allowed, dtype=np.bool_)
        if mask.ndim == 2:
            check_shape(mask, (len(self.segment_scores), self.n_labels), "allowed")
            mask = self._label_mask(mask)
        check_shape(mask, self.segment_scores.shape, "allowed")
        return np.where(mask, self.segment_scores, -np.inf)

    def _label_mask(self, allowed: Bools) -> Bools:
        """Segments all of whose positions allow their label."""
        mask = np.ones(self.segment_scores.shape, dtype=np.bool_)
        so_far = allowed.copy()
        for d in range(self.longest):
            if d:
                so_far[: max(len(allowed) - d, 0)] &= allowed[d:]
            mask[:, d] = so_far
        return mask

    def _zeros(self) -> SemiMarkovParts:
        return SemiMarkovParts(np.zeros(self.segment_scores.shape), np.zeros(self.transition.shape), self.offsets)

    def _check_parts(self, parts: SemiMarkovParts) -> None:
        check_shape(parts.segment, self.segment_scores.shape, "segment parts")
        check_shape(parts.transition, self.transition.shape, "transition parts")

    def _lattice(self) -> Lattice:
        lattice = run_lattice(self.segment_scores, self.transition, self.offsets)
        self._check_possible(lattice.log_partition)
        return lattice

    def _check_possible(self, score: Floats) -> None:
        if np.isneginf(score).any():
            sentence = int(np.flatnonzero(np.isneginf(score))[0])
            length = int(self.offsets[sentence + 1] - self.offsets[sentence])
            raise InferenceError(
                f"sentence {sentence} (counting from 0) of {length} positions has no segmentation: the masks leave no "
                f"row of segments of at most {self.longest} positions; allow more segments, labels or transitions"
            )
