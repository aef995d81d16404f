"""Approximate max-margin training of sequence models with label history, by stochastic sub-gradient.

    Q(w) = sum_d c_d [ max_y (w . F(x_d, y) + Hamming(y_d, y)) - w . F(x_d, y_d) ] + l2 ||w||^2 / 2

The maximum is that of a beam search (`weft.infer.chains.beam`), or the gold sequence where that scores higher. Step t,
on one sequence of n, is

    w <- w - r_t ( l2 / n  w  +  c_d (F(x_d, y^) - F(x_d, y_d)) ),      r_t = r_0 / sqrt(t)

(Ratliff et al. 2007). The weights are kept as w = D v, so that shrinking them all is one product; the mean of all w_t
is (A v - late) / t, where A sums all D and late the changes of v times the A before them. A whole epoch is one kernel.
Class weights are the c_d.

Features without history may belong to one label only (`only`): a sentence is one sequence of length 1, where a bias
speaks for one class and everything else for the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Keys
from weft.errors import ConfigError
from weft.infer.chains.beam import History, HistoryChain, Patterns, beam, path_score, pattern_values, slot
from weft.kernel import kernel
from weft.learn.online.loop import OnlineLearner
from weft.learn.training import Arrays
from weft.ragged import Indices, States

Labels = NDArray[np.int8]


@dataclass(frozen=True)
class HistoryData:
    """Sequences with indicator features: those of the input, and those that look back at labels.

    Position i has features `offsets[i]:offsets[i + 1]` of `base`, and of `past_base` likewise; `only` names the one
    label a feature speaks for, -1 for all. `gold` and `weight` (one number per sequence) are for training.
    """

    sentences: Indices
    offsets: Indices
    base: Keys
    only: Labels
    past_offsets: Indices
    past_base: Keys
    past_pattern: NDArray[np.int32]
    patterns: Patterns
    n_labels: int
    size: int  # number of weights
    bits: int = 0
    gold: States | None = None
    weight: Floats | None = None
    legal: Bools | None = None

    def __len__(self) -> int:
        """Number of sequences."""
        return len(self.sentences) - 1

    def chain(self, weights: Floats, width: int = 8) -> HistoryChain:
        """The sequences under weights, ready for search."""
        node = np.zeros((int(self.sentences[-1]), self.n_labels))
        _node_scores(self.offsets, self.base, self.only, weights, 1.0, self.bits, 0, node)
        history = History(self.past_offsets, self.past_base, self.past_pattern, self.patterns, weights, self.bits)
        return HistoryChain(node, self.sentences, history, width, self.legal)

    def follows(self) -> Bools:
        n = self.n_labels
        return np.ones((n + 1, n), dtype=np.bool_) if self.legal is None else self.legal


@dataclass(frozen=True)
class HistoryMargin(OnlineLearner):
    """Options; `rate` is r_0.

    >>> features = np.array([0, 2, 0, 2], dtype=np.uint64)  # two sequences of one position, two features, two labels
    >>> data = HistoryData(np.array([0, 1, 2]), np.array([0, 1, 2]), features[:2], np.full(2, -1, dtype=np.int8),
    ...                    np.zeros(3, dtype=np.int64), features[:0], np.zeros(0, dtype=np.int32), Patterns.of([]),
    ...                    n_labels=2, size=4, gold=np.array([0, 1], dtype=np.int32))
    >>> result = HistoryMargin(epochs=20).train(data)
    >>> data.chain(result.weights).best().tolist()
    [0, 1]
    """

    epochs: int = 10
    l2: float = 1.0
    rate: float = 0.1
    width: int = 8
    cost: float = 1.0
    average: bool = True

    def begin(self, model: Any, batches: Sequence[Any], start: Floats | None) -> HistoryRun:
        if self.l2 < 0 or self.rate <= 0 or self.width < 1 or self.cost < 0:
            raise ConfigError(
                f"HistoryMargin needs l2 and cost of at least 0, a rate above 0 and a width of at least 1, "
                f"got {self.l2}, {self.cost}, {self.rate} and {self.width}."
            )
        if model.gold is None:
            raise ConfigError("HistoryMargin learns from gold labels; the data have none.")
        return HistoryRun(self, model, start)

    def train(self, data: HistoryData, **others: Any) -> Any:
        """Train on data, one kernel call per epoch; further arguments as for `fit`."""
        # The loop hands out groups of sequences: with one group per epoch, one call does it all.
        whole = HistoryMargin(**{**vars(self), "group": max(len(data), 1)})
        return whole.fit(data, range(len(data)), **{"describe": "max margin", **others})


class HistoryRun:
    """A run of the descent."""

    def __init__(self, options: HistoryMargin, data: HistoryData, start: Floats | None) -> None:
        self.options, self.data = options, data
        self.raw = np.zeros(data.size) if start is None else np.array(start, dtype=np.float64)
        self.late = np.zeros(data.size if options.average else 0)
        # factor D, sum of all D, steps
        self.numbers = np.array([1.0, 0.0, 0.0])
        weight = data.weight if data.weight is not None else np.ones(len(data))
        self.weight = np.ascontiguousarray(weight, dtype=np.float64)

    def visit(self, group: list[Any]) -> float:
        data, options = self.data, self.options
        gold = data.gold if data.gold is not None else np.zeros(0, dtype=np.int32)
        return float(
            _epoch(
                np.array(group, dtype=np.int64), data.sentences, data.offsets, data.base, data.only, data.past_offsets,
                data.past_base, data.past_pattern, data.patterns.ranges, data.patterns.starts, data.patterns.reach,
                data.patterns.widest, data.n_labels, data.bits, data.follows(), gold, self.weight,
                options.l2 / max(len(data), 1), options.rate, options.cost, options.width, self.raw, self.late,
                self.numbers,
            )
        )  # fmt: skip

    def weights_now(self) -> Floats:
        factor, factors, steps = self.numbers.tolist()
        if not self.options.average or not steps:
            return factor * self.raw
        return (factors * self.raw - self.late) / steps

    def finished(self, loss: float) -> str:
        return ""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {"raw": self.raw, "late": self.late, "numbers": self.numbers}, {}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        for name in ("raw", "late", "numbers"):
            getattr(self, name)[:] = arrays[name]


def objective(data: HistoryData, weights: Floats, l2: float, width: int = 8, cost: float = 1.0) -> tuple[float, Floats]:
    """Q(w) and its sub-gradient, over all sequences.

    >>> data = HistoryData(np.array([0, 1]), np.array([0, 1]), np.zeros(1, dtype=np.uint64),
    ...                    np.full(1, -1, dtype=np.int8), np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.uint64),
    ...                    np.zeros(0, dtype=np.int32), Patterns.of([]), 2, 2, gold=np.array([0], dtype=np.int32))
    >>> objective(data, np.array([0.25, 0.0]), l2=0.0)
    (0.75, array([-1.,  1.]))
    """
    if data.gold is None:
        raise ConfigError("an objective needs gold labels; the data have none.")
    chain = data.chain(weights, width)
    augmented = chain.augment(chain.hamming(data.gold, cost))
    guess = augmented.best()
    hinge = augmented.score(guess) - chain.score(data.gold)
    active = hinge > 0
    weight = data.weight if data.weight is not None else np.ones(len(data))
    gradient = l2 * weights
    values = np.empty(2 * data.patterns.widest + 1, dtype=np.int64)
    for s in np.flatnonzero(active).tolist():
        for path, sign in ((guess, 1.0), (data.gold, -1.0)):
            _add_path(
                data.sentences[s], data.sentences[s + 1], data.offsets, data.base, data.only, data.past_offsets,
                data.past_base, data.past_pattern, data.patterns.ranges, data.patterns.starts, data.n_labels,
                data.bits, path, sign * float(weight[s]), gradient, values,
            )  # fmt: skip
    return float((weight * np.maximum(hinge, 0.0)).sum()) + 0.5 * l2 * float(weights @ weights), gradient


@kernel
def _node_scores(
    offsets: Indices, base: Keys, only: Labels, weights: Floats, scale: float, bits: int, first: int, node: Floats
) -> None:
    """Scores of the positions from `first` on, as many as `node` has rows."""
    n_labels = node.shape[1]
    for i in range(node.shape[0]):
        for a in range(n_labels):
            node[i, a] = 0.0
        for f in range(offsets[first + i], offsets[first + i + 1]):
            for a in range(n_labels):
                if only[f] < 0 or only[f] == a:
                    place, sign = slot(base[f], 0, a, n_labels, bits)
                    node[i, a] += scale * sign * weights[place]


@kernel
def _add_path(
    first: int, end: int, offsets: Indices, base: Keys, only: Labels, past_offsets: Indices, past_base: Keys,
    past_pattern: NDArray[np.int32], ranges: NDArray[np.int64], starts: Indices, n_labels: int, bits: int, path: States,
    amount: float, into: Floats, values: NDArray[np.int64],
) -> None:  # fmt: skip
    """Add `amount` to the weight of every feature of a labelled sequence."""
    own = path[first:end]
    for i in range(end - first):
        a = own[i]
        for f in range(offsets[first + i], offsets[first + i + 1]):
            if only[f] < 0 or only[f] == a:
                place, sign = slot(base[f], 0, a, n_labels, bits)
                into[place] += sign * amount
        for f in range(past_offsets[first + i], past_offsets[first + i + 1]):
            size = pattern_values(past_pattern[f], ranges, starts, n_labels, own, i, values)
            for k in range(size):
                place, sign = slot(past_base[f], values[k], a, n_labels, bits)
                into[place] += sign * amount


@kernel
def _epoch(
    order: Indices, sentences: Indices, offsets: Indices, base: Keys, only: Labels, past_offsets: Indices,
    past_base: Keys, past_pattern: NDArray[np.int32], ranges: NDArray[np.int64], starts: Indices, reach: int,
    widest: int, n_labels: int, bits: int, legal: Bools, gold: States, weight: Floats, shrink: float, rate: float,
    cost: float, width: int, raw: Floats, late: Floats, numbers: Floats,
) -> float:  # fmt: skip
    """One pass over sequences in an order; gives the sum of the weighted hinges met on the way."""
    longest = 0
    for s in range(len(sentences) - 1):
        longest = max(longest, sentences[s + 1] - sentences[s])
    room = np.zeros((longest, n_labels))
    guess = np.zeros(sentences[-1], dtype=np.int32)
    values = np.empty(2 * widest + 1, dtype=np.int64)
    loss = 0.0
    for s in order:
        first, end = sentences[s], sentences[s + 1]
        node = room[: end - first]
        factor = numbers[0]
        _node_scores(offsets, base, only, raw, factor, bits, first, node)
        right = path_score(
            node, first, past_offsets, past_base, past_pattern, ranges, starts, widest, raw, factor, bits, gold
        )
        for i in range(end - first):
            for a in range(n_labels):
                if a != gold[first + i]:
                    node[i, a] += cost
        hinge = -right + beam(
            node, first, past_offsets, past_base, past_pattern, ranges, starts, reach, widest, raw, factor, bits, legal,
            width, guess,
        )  # fmt: skip
        numbers[2] += 1.0
        step = rate / np.sqrt(numbers[2])
        # A first rate far too large must not turn the decay into a flip of signs.
        factor *= max(1.0 - step * shrink, 1e-3)
        if hinge > 0.0:
            loss += weight[s] * hinge
            amount = step * weight[s] / factor
            for kind in range(2):
                sign = 1.0 if kind == 0 else -1.0
                path = gold if kind == 0 else guess
                _add_path(first, end, offsets, base, only, past_offsets, past_base, past_pattern, ranges, starts,
                          n_labels, bits, path, sign * amount, raw, values)  # fmt: skip
                if len(late) and numbers[1] > 0.0:
                    _add_path(first, end, offsets, base, only, past_offsets, past_base, past_pattern, ranges, starts,
                              n_labels, bits, path, sign * amount * numbers[1], late, values)  # fmt: skip
        numbers[1] += factor
        if factor < 1e-6:
            # The sum of all w so far moves into `late`: carried on as a difference it would lose its digits.
            for j in range(len(raw)):
                if len(late):
                    late[j] -= numbers[1] * raw[j]
                raw[j] *= factor
            numbers[1] = 0.0
            factor = 1.0
        numbers[0] = factor
    return loss
