"""Second-order chains as first-order chains over pairs:  state_i = (tag_{i-1}, tag_i).

A pair (a, b) is followed by (c, d) only where b = c. Pairs are sorted by previous tag, then current tag, so that what
may follow a pair is one range of states. The pair that opens a sentence needs a tag before the first: a real tag that
stands there by agreement (`boundary`, such as O for chunks), or one made up for the purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.ragged import Indices, States, check_shape, first_positions, sentence_of


@dataclass(frozen=True)
class PairStates:
    """The pairs of a tag set. Tag `n_tags` stands for the made-up tag before a sentence where there is one.

    `legal[s, t]` says whether pair t may follow pair s, `start[s]` whether pair s may open a sentence, and
    `index[a, b]` is the number of the pair (a, b), or -1.
    """

    n_tags: int
    boundary: int
    previous: States
    current: States
    legal: Bools
    start: Bools
    index: States

    def __len__(self) -> int:
        return len(self.current)

    def fold(self, path: States) -> States:
        """The tags of a path of pairs."""
        return self.current[path]

    def unfold(self, tags: ArrayLike, offsets: Indices) -> States:
        """The path of pairs of a batch of tags; the opposite of `fold`.

        >>> pairs = pair_states(2, boundary=1)
        >>> pairs.unfold([0, 0, 1], np.array([0, 2, 3])).tolist()
        [2, 0, 3]
        """
        tag = np.asarray(tags, dtype=np.int64)
        if tag.size and not (tag.min() >= 0 and tag.max() < self.n_tags):
            raise InferenceError(f"tags must lie between 0 and {self.n_tags - 1}; given: {tag.min()} to {tag.max()}")
        before = np.roll(tag, 1)
        opening = first_positions(offsets)
        before[opening] = self.boundary
        path = self.index[before, tag]
        bad = path < 0
        bad[opening] |= ~self.start[path[opening]]
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            sentence = int(sentence_of(offsets)[at])
            raise InferenceError(
                f"sentence {sentence}, position {at - int(offsets[sentence])}: tag {tag[at]} cannot follow "
                f"tag {before[at]}; fix the tags or allow the pair"
            )
        return path

    def opening(self, offsets: Indices) -> Bools:
        """Mask [N, L] that leaves only opening pairs at the first positions of sentences."""
        allowed = np.ones((int(offsets[-1]), len(self)), dtype=np.bool_)
        allowed[first_positions(offsets)] = self.start
        return allowed

    def node_scores(self, tag_scores: Floats) -> Floats:
        """Scores of tags [N, T] as scores of pairs [N, L]."""
        return np.ascontiguousarray(tag_scores[:, self.current])

    def tag_sums(self, node: Floats) -> Floats:
        """Sums over pairs with the same current tag: [N, L] marginals of pairs to [N, T] marginals of tags."""
        return node @ np.eye(self.n_tags)[self.current]

    def edge_scores(self, scores: Floats) -> Floats:
        """Scores of tag pairs [T, T] or triples [T, T, T] as scores of transitions [L, L], illegal ones -inf.

        With a made-up tag before sentences the first axis of triples has one entry more for it.

        >>> pairs = pair_states(2, boundary=0)
        >>> pairs.edge_scores(np.arange(8.0).reshape(2, 2, 2))
        array([[  0.,   1., -inf, -inf],
               [-inf, -inf,   2.,   3.],
               [  4.,   5., -inf, -inf],
               [-inf, -inf,   6.,   7.]])
        """
        array = np.asarray(scores, dtype=np.float64)
        rows, columns = np.nonzero(self.legal)
        edge = np.full(self.legal.shape, -np.inf)
        if array.ndim == 2:
            check_shape(array, (self.n_tags, self.n_tags), "scores of tag pairs")
            edge[rows, columns] = array[self.current[rows], self.current[columns]]
        else:
            check_shape(array, (len(self.index), self.n_tags, self.n_tags), "scores of tag triples")
            edge[rows, columns] = array[self.previous[rows], self.current[rows], self.current[columns]]
        return edge


def pair_states(
    n_tags: int, legal: ArrayLike | None = None, start: ArrayLike | None = None, boundary: int | None = None
) -> PairStates:
    """The pairs that a tag set needs.

    `legal[a, b]` says whether tag b may follow tag a (all may by default), `start[b]` whether tag b may open a sentence
    (by default those that may follow `boundary`). `boundary` is the tag that stands before every sentence; without one,
    a made-up tag does, at the cost of `n_tags` more pairs.

    Chunk tags B, I, O, where I may not follow O and O stands before a sentence, need eight pairs:

    >>> legal = [[True, True, True], [True, True, True], [True, False, True]]
    >>> pairs = pair_states(3, legal, boundary=2)
    >>> ["BIO"[a] + "BIO"[b] for a, b in zip(pairs.previous, pairs.current)]
    ['BB', 'BI', 'BO', 'IB', 'II', 'IO', 'OB', 'OO']
    >>> pairs.start.tolist()
    [False, False, False, False, False, False, True, True]
    """
    tag_legal = _mask(legal, (n_tags, n_tags), "legal")
    before = n_tags if boundary is None else boundary
    if not 0 <= before <= n_tags or (boundary is not None and boundary == n_tags):
        raise InferenceError(f"boundary must be one of the tags 0 to {n_tags - 1}, or None; given: {boundary}")
    follows = np.vstack([tag_legal, np.zeros((1 if boundary is None else 0, n_tags), dtype=np.bool_)])
    opens = _mask(start, (n_tags,), "start") if start is not None or boundary is None else tag_legal[before].copy()
    present = follows.copy()
    present[before] |= opens
    previous, current = np.nonzero(present)
    index = np.full(present.shape, -1, dtype=np.int32)
    index[previous, current] = np.arange(len(current))
    pair_legal = (current[:, None] == previous[None, :]) & follows[previous, current][None, :]
    return PairStates(
        n_tags, before, previous.astype(np.int32), current.astype(np.int32), pair_legal,
        (previous == before) & opens[current], index,
    )  # fmt: skip


def _mask(given: ArrayLike | None, shape: tuple[int, ...], name: str) -> NDArray[np.bool_]:
    mask = np.ones(shape, dtype=np.bool_) if given is None else np.asarray(given, dtype=np.bool_)
    check_shape(mask, shape, name)
    return mask
