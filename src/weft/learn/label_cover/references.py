"""What a greedy label cover is measured against: the smallest one, by integer programming, and a greedy search in two
stages that forgets the taggings.

Exact (Ravi & Knight 2009). Tokens with one tag cut the text into *runs* of ambiguous ones; labels between tokens with
one tag are forced, runs that forced labels lead through cost nothing, equal runs count once. For the others

    minimize  sum over labels l of y_l     flow x through every run from left to right,   x_{p, (a, b)} <= y_{(a, b)}

with x and y of 0 and 1, solved by HiGHS.

Min-greedy (Ravi, Vaswani, Knight & Chiang 2010). Stage one is plain set cover: labels are added by the number of
neighbouring tokens they could cover until each pair has one, though they need not fit together. Stage two looks for the
path of every run with the fewest labels that are missing, adds the label that most of these paths lack, and repeats
until every run has a whole path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weft.arrays import Bools
from weft.errors import ConfigError, InferenceError
from weft.infer.chains.label_lists import LabelLists
from weft.kernel import kernel
from weft.learn.label_cover.shards import TagSets, padded
from weft.ragged import Indices, States


@dataclass(frozen=True)
class ExactCover:
    """The labels of the best solution found, a bound that no solution is below, and whether the two are equal."""

    labels: Bools
    bound: float
    optimal: bool

    def __len__(self) -> int:
        return int(self.labels.sum())


@dataclass(frozen=True)
class Runs:
    """Runs of ambiguous tokens with the fixed tokens at both ends, equal ones once; run r is sets
    `tokens[offsets[r]:offsets[r + 1]]` and occurs `count[r]` times."""

    sets: TagSets
    tokens: States
    offsets: Indices
    count: Indices
    forced: Bools

    @classmethod
    def from_lists(cls, lists: LabelLists) -> Runs:
        """The runs of a text.

        >>> lists = LabelLists.from_types([[True, True], [True, False]], [0, 1, 1, 0, 1], [0, 3, 5])
        >>> runs = Runs.from_lists(lists)  # one run, at the beginning of both sentences
        >>> runs.tokens.tolist(), runs.count.tolist()
        ([2, 4, 0], [2])
        """
        sets, of_type = TagSets.from_lists(lists)
        tokens = padded(lists, of_type)
        size = sets.n_tags
        open_ = np.flatnonzero(tokens >= size)
        breaks = np.flatnonzero(np.diff(open_) > 1) + 1
        seen: dict[bytes, int] = {}
        for run in np.split(open_, breaks) if len(open_) else []:
            key = tokens[run[0] - 1 : run[-1] + 2].tobytes()
            seen[key] = seen.get(key, 0) + 1
        pieces = [np.frombuffer(key, dtype=np.int32) for key in seen]
        left, right = tokens[:-1], tokens[1:]
        fixed = (left < size) & (right < size) & (left != size - 1)
        forced = np.zeros((size, size), dtype=np.bool_)
        forced[left[fixed], right[fixed]] = True
        return cls(
            sets,
            np.concatenate([np.zeros(0, dtype=np.int32), *pieces]),
            np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64),
            np.array(list(seen.values()), dtype=np.int64),
            forced,
        )

    def missing(self, labels: Bools) -> tuple[Indices, Indices]:
        """How many labels the best path of every run lacks, and how often each label is lacking on these paths."""
        lacks = np.zeros(len(self.count), dtype=np.int64)
        often = np.zeros(labels.shape, dtype=np.int64)
        _missing(self.sets.begin, self.sets.listed, self.tokens, self.offsets, self.count, labels, lacks, often)
        return lacks, often


def exact_cover(lists: LabelLists, *, seconds: float = 60.0, most_variables: int = 400_000) -> ExactCover:
    """The smallest label cover; where time runs out, the best one found and a bound.

    >>> lists = LabelLists.from_types([[True, True], [True, False]], [0, 1, 1, 0], [0, 3, 4])
    >>> found = exact_cover(lists)
    >>> len(found), found.optimal  # (start, 0), (0, 0), (0, end)
    (3, True)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    runs = Runs.from_lists(lists)
    labels = runs.forced.copy()
    lacks, _ = runs.missing(labels)
    if not lacks.any():
        return ExactCover(labels, float(labels.sum()), True)
    edges = _edges(runs, np.flatnonzero(lacks))
    number, y_of = np.unique(edges.label[~labels.ravel()[edges.label]], return_inverse=True)
    n_edges, n_labels = len(edges.label), len(number)
    if n_edges + n_labels > most_variables:
        raise ConfigError(
            f"an exact cover of this text has {n_edges + n_labels:,} variables, more than {most_variables:,}: take "
            "less text, or cover_labels"
        )
    # Flow: what enters a node leaves it; the two ends of a run send and take one unit.
    inside = np.concatenate([edges.before, edges.after])
    sign = np.repeat([-1.0, 1.0], n_edges)
    flow = coo_array((sign, (inside, np.tile(np.arange(n_edges), 2))), shape=(edges.n_nodes, n_edges + n_labels))
    supply = np.zeros(edges.n_nodes)
    supply[edges.source], supply[edges.sink] = -1.0, 1.0
    dear = np.flatnonzero(~labels.ravel()[edges.label])
    rows = np.arange(len(dear))
    cover = coo_array(
        (
            np.repeat([1.0, -1.0], len(dear)),
            (np.tile(rows, 2), np.concatenate([dear, n_edges + y_of])),
        ),
        shape=(len(dear), n_edges + n_labels),
    )
    cost = np.concatenate([np.zeros(n_edges), np.ones(n_labels)])
    found: Any = milp(
        cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(flow.tocsr(), supply, supply), LinearConstraint(cover.tocsr(), -np.inf, 0.0)],
        options={"time_limit": seconds},
    )
    if found.x is None:
        raise InferenceError(f"HiGHS found no label cover within {seconds:g} seconds: give it more, or take less text")
    labels.ravel()[number[found.x[n_edges:] > 0.5]] = True
    forced = float(runs.forced.sum())
    bound = forced + (found.fun if found.mip_dual_bound is None else float(np.ceil(found.mip_dual_bound - 1e-6)))
    return ExactCover(labels, bound, bool(found.status == 0))


def min_greedy(lists: LabelLists) -> Bools:
    """The labels that the search in two stages finds, `[T + 2, T + 2]`.

    >>> lists = LabelLists.from_types([[True, True], [True, False]], [0, 1, 1, 0], [0, 3, 4])
    >>> np.argwhere(min_greedy(lists)).tolist()
    [[0, 0], [0, 3], [2, 0]]
    """
    runs = Runs.from_lists(lists)
    labels = runs.forced.copy()
    size = runs.sets.n_tags
    member = runs.sets.members()
    place = np.delete(np.arange(len(runs.tokens)), runs.offsets[:-1])
    run = np.searchsorted(runs.offsets, place, side="right") - 1
    pairs = np.stack([runs.tokens[place - 1], runs.tokens[place]], axis=1)
    kinds, of_place = np.unique(pairs, axis=0, return_inverse=True) if len(pairs) else (pairs, run)
    count = np.bincount(of_place.ravel(), runs.count[run], len(kinds)).astype(np.int64)
    covered = np.array(
        [(labels & np.outer(member[a], member[b])).any() for a, b in kinds.tolist()], dtype=np.bool_
    ).reshape(len(kinds))
    gains = np.zeros((size, size), dtype=np.int64)
    for (a, b), n in zip(kinds[~covered].tolist(), count[~covered].tolist(), strict=True):
        gains[np.ix_(member[a], member[b])] += n
    while gains.any():
        one, other = divmod(int(gains.argmax()), size)
        labels[one, other] = True
        now = ~covered & member[kinds[:, 0], one] & member[kinds[:, 1], other]
        for (a, b), n in zip(kinds[now].tolist(), count[now].tolist(), strict=True):
            gains[np.ix_(member[a], member[b])] -= n
        covered |= now
    while True:
        lacks, often = runs.missing(labels)
        if not lacks.any():
            return labels
        labels.ravel()[int(often.argmax())] = True


@dataclass(frozen=True)
class _Edges:
    """The graph of some runs: edges between nodes (a token with a tag), and the nodes that paths begin and end at."""

    label: Indices
    before: Indices
    after: Indices
    n_nodes: int
    source: Indices
    sink: Indices


def _edges(runs: Runs, chosen: Indices) -> _Edges:
    begin, listed, size = runs.sets.begin, runs.sets.listed, runs.sets.n_tags
    label: list[Indices] = []
    before: list[Indices] = []
    after: list[Indices] = []
    source, sink, nodes = [], [], 0
    for r in chosen.tolist():
        tokens = runs.tokens[runs.offsets[r] : runs.offsets[r + 1]].tolist()
        source.append(nodes)
        for one, other in pairwise(tokens):
            a, b = listed[begin[one] : begin[one + 1]].astype(np.int64), listed[begin[other] : begin[other + 1]]
            label.append((a[:, None] * size + b).ravel())
            before.append(np.repeat(nodes + np.arange(len(a)), len(b)))
            after.append(np.tile(nodes + len(a) + np.arange(len(b)), len(a)))
            nodes += len(a)
        sink.append(nodes)
        nodes += 1
    return _Edges(
        np.concatenate(label), np.concatenate(before), np.concatenate(after), nodes, np.array(source), np.array(sink)
    )


@kernel
def _missing(
    begin: Indices, listed: States, tokens: States, offsets: Indices, count: Indices, labels: Bools, lacks: Indices,
    often: Indices,
) -> None:  # fmt: skip
    longest, widest = 1, 1
    for r in range(len(offsets) - 1):
        longest = max(longest, offsets[r + 1] - offsets[r])
    for s in range(len(begin) - 1):
        widest = max(widest, begin[s + 1] - begin[s])
    cost, back = np.zeros((longest, widest), dtype=np.int64), np.zeros((longest, widest), dtype=np.int64)
    for r in range(len(offsets) - 1):
        first, length = offsets[r], offsets[r + 1] - offsets[r]
        cost[0, 0] = 0
        for j in range(1, length):
            one, other = tokens[first + j - 1], tokens[first + j]
            for b in range(begin[other + 1] - begin[other]):
                tag = listed[begin[other] + b]
                least, chosen = np.int64(1 << 40), 0
                for a in range(begin[one + 1] - begin[one]):
                    value = cost[j - 1, a] + (0 if labels[listed[begin[one] + a], tag] else 1)
                    if value < least:
                        least, chosen = value, a
                cost[j, b], back[j, b] = least, chosen
        lacks[r] = cost[length - 1, 0]
        if lacks[r] > 0:
            b = 0
            for j in range(length - 1, 0, -1):
                a = back[j, b]
                one, other = listed[begin[tokens[first + j - 1]] + a], listed[begin[tokens[first + j]] + b]
                if not labels[one, other]:
                    often[one, other] += count[r]
                b = a
