"""The dependency model with valence as probabilities of tags: parameters, their start, and their estimation.

    p(x, y) = root(r) * product over arcs h -> m  of   go(h, d, v) child(m | h, d, v)
                      * product over words, sides of   1 - go(h, d, v)

for a projective tree y over the tags x; d is the side of m and v the number of dependents that h has there already, of
which `stop` distinguishes V_s cases and `child` V_c (Klein & Manning 2004: 2 and 1; Headden et al. 2009). Extended
models mix two distributions of children,

    child(m | h, d, v) = l * full(m | h, d, v) + (1 - l) * backed_off(m | d, v),     l = 1/3

and each expected child is shared between them as they share its probability. Counts are normalized as they are, or
under a Dirichlet prior (`weft.learn.generative.dirichlet`), where tables need not sum to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.infer.trees.dmv import LEFT, RIGHT, ValenceParts, ValenceTrees, squares_of
from weft.learn.generative.dirichlet import estimate_rows
from weft.ragged import Indices, States, check_offsets, one_block

#: What every probability is raised by before trees are searched: nothing is impossible in new sentences.
SMALL = float(np.exp(-10.0))
MIXTURE = 1 / 3
GO, STOP = 0, 1


@dataclass(frozen=True, slots=True)
class ValenceModel:
    """Tables over T tags: `root[T]`, `stop[T, side, V_s, go on or stop]`, `child[T, side, V_c, T]` of heads first, and
    in extended models `backed_off[side, V_c, T]`. `log_prior` is what a prior says of them."""

    root: Floats
    stop: Floats
    child: Floats
    backed_off: Floats | None = None
    mixture: float = MIXTURE
    log_prior: float = 0.0

    @property
    def n_tags(self) -> int:
        return len(self.root)

    @property
    def n_valences(self) -> int:
        """How many valences the trees have to tell apart."""
        return max(self.stop.shape[2], self.child.shape[2])

    def children(self) -> Floats:
        """The distributions of children, mixed in extended models."""
        if self.backed_off is None:
            return self.child
        return self.mixture * self.child + (1 - self.mixture) * self.backed_off

    def smoothed(self, amount: float = SMALL, unknown: int = 0) -> ValenceModel:
        """Probabilities smoothed and normalized again; `unknown` adds tags that were never seen.

        >>> model = ValenceModel(np.array([1.0, 0.0]), np.full((2, 2, 2, 2), 0.5), np.full((2, 2, 1, 2), 0.5))
        >>> model.smoothed(0.25).root.round(3).tolist()
        [0.833, 0.167]
        >>> model.smoothed(unknown=1).child.shape
        (3, 2, 1, 3)
        """
        wide = (0, unknown)
        children = np.pad(self.children(), (wide, (0, 0), (0, 0), wide))
        stop = np.pad(self.stop, (wide, (0, 0), (0, 0), (0, 0)))
        root, stop, children = (table + amount for table in (np.pad(self.root, wide), stop, children))
        return ValenceModel(
            root / root.sum(), stop / stop.sum(axis=3, keepdims=True), children / children.sum(axis=3, keepdims=True)
        )


class TagBatch:
    """Sentences of tags, and the cell of the tables that each of their arcs reads.

    `head` and `child` are the words of an arc, counted through all sentences, the same word for an arc from ROOT. `row`
    numbers, for the arcs of `weft.infer.trees.dmv`, (head, side, child), with ROOT's children behind all others;
    `pair` the pair (child, head), with ROOT as the last head.
    """

    __slots__ = ("child", "head", "n_tags", "offsets", "pair", "row", "squares", "tags")

    def __init__(self, tags: NDArray[np.integer], offsets: Indices, n_tags: int) -> None:
        self.tags: States = one_block(tags, np.int32)
        self.offsets, self.n_tags = check_offsets(offsets, len(self.tags)), n_tags
        if len(self.tags) and not 0 <= self.tags.min() <= self.tags.max() < n_tags:
            raise DataError(f"tags are numbers from 0 to {n_tags - 1}; given: {self.tags.min()} to {self.tags.max()}")
        self.squares = squares_of(self.offsets)
        lengths = np.diff(self.offsets)
        sentence = np.repeat(np.arange(len(lengths)), lengths**2)
        place = np.arange(self.squares[-1]) - self.squares[sentence]
        n = lengths[sentence]
        head, child = place // np.maximum(n, 1), place % np.maximum(n, 1)
        self.head, self.child = self.offsets[sentence] + head, self.offsets[sentence] + child
        of_head, of_child = (self.tags[word].astype(np.int64) for word in (self.head, self.child))
        root = head == child
        side = np.where(child > head, RIGHT, LEFT)
        self.row = np.where(root, 2 * n_tags * n_tags + of_child, (of_head * 2 + side) * n_tags + of_child)
        self.pair = of_child * (n_tags + 1) + np.where(root, n_tags, of_head)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def trees(self, model: ValenceModel, penalty: Floats | None = None) -> ValenceTrees:
        """The trees of all sentences with their log-probabilities, less a penalty on each arc."""
        n_tags, n_valences = model.n_tags, model.n_valences
        if n_tags != self.n_tags:
            raise ConfigError(f"the model is of {n_tags} tags, the sentences have {self.n_tags}")
        with np.errstate(divide="ignore"):
            stop, child, root = np.log(model.stop), np.log(model.children()), np.log(model.root)
        of_stop, of_child = (np.minimum(np.arange(n_valences), table.shape[2] - 1) for table in (stop, child))
        rows = np.full((2 * n_tags * n_tags + n_tags, n_valences), -np.inf)
        table = stop[:, :, of_stop, GO][..., None] + child[:, :, of_child]
        rows[: 2 * n_tags * n_tags] = np.moveaxis(table, 3, 2).reshape(-1, n_valences)
        rows[2 * n_tags * n_tags :, 0] = root
        arc = rows[self.row]
        if penalty is not None:
            arc -= penalty[:, None]
        return ValenceTrees(self.offsets, arc, stop[:, :, of_stop, STOP][self.tags])

    def counts(self, parts: ValenceParts, model: ValenceModel) -> Counts:
        """Expected counts, from the probabilities of parts, in the shape of a model's tables."""
        n_tags, n_valences = self.n_tags, model.n_valences
        arcs = np.stack(
            [tally(self.row, parts.arc[:, v], 2 * n_tags * n_tags + n_tags) for v in range(n_valences)], axis=1
        )
        root = arcs[2 * n_tags * n_tags :, 0].copy()
        of_arcs = np.moveaxis(arcs[: 2 * n_tags * n_tags].reshape(n_tags, 2, n_tags, n_valences), 3, 2)
        ends = np.zeros((n_tags, 2, n_valences))
        for side in (LEFT, RIGHT):
            for v in range(n_valences):
                ends[:, side, v] = tally(self.tags, parts.stop[:, side, v], n_tags)
        stop = np.stack([_cut(of_arcs.sum(axis=3), model.stop.shape[2]), _cut(ends, model.stop.shape[2])], axis=3)
        child = _cut(of_arcs, model.child.shape[2])
        return Counts(root, stop, child, *_shared(child, model))


@dataclass(frozen=True, slots=True)
class Counts:
    """Expected counts in the shape of a model's tables; `full` is the share of `child` of the full distributions."""

    root: Floats
    stop: Floats
    child: Floats
    full: Floats
    backed_off: Floats | None


def estimate(counts: Counts, like: ValenceModel, alpha: float = 0.0) -> ValenceModel:
    """Tables from expected counts, normalized or, with `alpha`, under a Dirichlet prior.

    >>> start = ValenceModel(np.array([0.5, 0.5]), np.full((2, 2, 2, 2), 0.5), np.full((2, 2, 1, 2), 0.5))
    >>> batch = TagBatch(np.array([0, 1]), np.array([0, 2]), 2)
    >>> counts = batch.counts(batch.trees(start).marginals(), start)
    >>> estimate(counts, start).child[0, RIGHT, 0].tolist()
    [0.0, 1.0]
    """
    tables: list[Floats | None] = []
    log_prior = 0.0
    for own in (counts.root, counts.stop, counts.full, counts.backed_off):
        if own is None:
            tables.append(None)
            continue
        n_rows = own.size // own.shape[-1]
        row = np.repeat(np.arange(n_rows, dtype=np.int32), own.shape[-1])
        rows = estimate_rows(own.ravel(), row, n_rows, alpha)
        tables.append(rows.weight.reshape(own.shape))
        log_prior += rows.log_prior
    root, stop, child, backed_off = tables
    assert root is not None
    assert stop is not None
    assert child is not None
    return replace(like, root=root, stop=stop, child=child, backed_off=backed_off, log_prior=log_prior)


def harmonic_start(
    batch: TagBatch, stop_valences: int = 2, child_valences: int = 1, mixed: bool = False
) -> ValenceModel:
    """Klein and Manning's start: words attach to near words, in inverse proportion to their distance.

    Of n words each is the root with 1 / n. A head with e > 0 dependents expected on a side has one at least with a
    probability that is the same everywhere: nine tenths of the largest for which all counts of going on are positive.

    >>> model = harmonic_start(TagBatch(np.array([0, 1, 1]), np.array([0, 3]), 2))
    >>> model.root.round(2).tolist(), model.child[0, RIGHT, 0].round(2).tolist()
    ([0.33, 0.67], [0.0, 1.0])
    """
    lengths = np.diff(batch.offsets)
    n, head, child = np.repeat(lengths, lengths**2), batch.head, batch.child
    near = np.where(head == child, 0.0, 1.0 / np.maximum(np.abs(head - child), 1))
    total = tally(child, near, len(batch.tags))[child]
    weight = np.where(head == child, 1.0 / n, near * (n - 1) / n / np.maximum(total, 1e-300))
    n_tags = batch.n_tags
    arcs = tally(batch.row, weight, 2 * n_tags * n_tags + n_tags)
    root, pairs = arcs[2 * n_tags * n_tags :], arcs[: 2 * n_tags * n_tags].reshape(n_tags, 2, n_tags)
    stop = np.zeros((n_tags, 2, 2, 2))
    expected = np.zeros((len(batch.tags), 2))
    for side in (LEFT, RIGHT):
        own = (head != child) & ((child > head) == (side == RIGHT))
        expected[:, side] = tally(head[own], weight[own], len(batch.tags))
    sums, heads, words = (np.zeros((n_tags, 2)) for _ in range(3))
    for side in (LEFT, RIGHT):
        sums[:, side] = tally(batch.tags, expected[:, side], n_tags)
        heads[:, side] = tally(batch.tags, (expected[:, side] > 0).astype(np.float64), n_tags)
        words[:, side] = tally(batch.tags, np.ones(len(batch.tags)), n_tags)
    some = heads > 0
    rho = 0.9 * min(1.0, float((sums[some] / heads[some]).min())) if some.any() else 0.9
    stop[:, :, 0, GO], stop[:, :, 0, STOP] = rho * heads, words - rho * heads
    stop[:, :, 1, GO], stop[:, :, 1, STOP] = sums - rho * heads, rho * heads
    if stop_valences == 1:
        stop = stop.sum(axis=2, keepdims=True)
    else:
        stop = stop[:, :, np.minimum(np.arange(stop_valences), 1)]
    children = np.repeat(pairs[:, :, None, :], child_valences, axis=2)
    blank = ValenceModel(root, stop, children, children.sum(axis=0) if mixed else None)
    return estimate(Counts(root, stop, children, children, blank.backed_off), blank)


def random_start(
    batch: TagBatch, seed: int, stop_valences: int = 2, child_valences: int = 1, mixed: bool = False
) -> ValenceModel:
    """A random start: every distribution is drawn uniformly from the simplex."""
    rng, n_tags = np.random.default_rng(seed), batch.n_tags
    return ValenceModel(
        rng.dirichlet(np.ones(n_tags)),
        rng.dirichlet(np.ones(2), size=(n_tags, 2, stop_valences)),
        rng.dirichlet(np.ones(n_tags), size=(n_tags, 2, child_valences)),
        rng.dirichlet(np.ones(n_tags), size=(2, child_valences)) if mixed else None,
    )


def tally(index: NDArray[np.integer], weight: Floats, size: int) -> Floats:
    """Sums of weights by index.

    >>> tally(np.array([1, 0, 1]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [2.0, 4.0, 0.0]
    """
    return np.bincount(index, weight, size).astype(np.float64, copy=False)


def _cut(table: Floats, n_valences: int) -> Floats:
    """Counts by valence with those of the last ones in one."""
    if n_valences == table.shape[2]:
        return table
    last = table[:, :, n_valences - 1 :].sum(axis=2, keepdims=True)
    return np.concatenate([table[:, :, : n_valences - 1], last], axis=2)


def _shared(child: Floats, model: ValenceModel) -> tuple[Floats, Floats | None]:
    """Counts of children shared between the two distributions that are mixed."""
    if model.backed_off is None:
        return child, None
    mixed = model.children()
    full = child * np.divide(model.mixture * model.child, mixed, out=np.zeros_like(mixed), where=mixed > 0)
    return full, (child - full).sum(axis=0)
