"""One round of sampling: groups are drawn, shared out among workers, sampled, and put together again.

The random numbers of a group follow from the seed of the round and the group's key, and groups do not depend on each
other; so a round ends in the same state with any number of threads, and on the workers of a Dask cluster.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints, Keys
from weft.errors import InferenceError
from weft.hashing import avalanche, join
from weft.infer.sampling.items import Items
from weft.infer.sampling.moves import Vectors, board, sample_groups
from weft.infer.sampling.placement import Groups, place
from weft.kernel import kernel

#: Shares per worker: more even out what one share takes longer than another.
SHARES = 4


@dataclass
class Round:
    """What a round does: labels at its end and of the best moments of all groups, and by how much log p changed."""

    labels: Ints
    best: Ints
    change: float
    best_change: float
    proposals: int
    accepted: int


def sample_round(
    items: Items,
    labels: Ints,
    keys: Keys,
    bias: float,
    tau: float = 1.0,
    *,
    seed: int = 0,
    reach: int = 20,
    share: float = 0.0,
    workers: int = 1,
    client: Any = None,
) -> Round:
    """Draw groups by keys and sample each of them: `reach` proposals per item, a `share` of them splits and merges.

    Labels must be canonical (`weft.infer.sampling.items.canonical`). `workers` are threads of this process; with the
    `client` of a Dask cluster, shares go to its workers instead.

    >>> items = Items.from_rows([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> done = sample_round(items, np.arange(3), np.zeros(3, dtype=np.uint64), bias=0.5, tau=0.01)
    >>> done.labels.tolist(), done.change
    ([0, 0, 2], 1.0)
    """
    if tau <= 0:
        raise InferenceError(f"a temperature must be above 0, got {tau}")
    groups = place(labels, keys, np.random.default_rng(seed))
    seeds = np.zeros(len(groups), dtype=np.uint64)
    _seed_groups(groups.keys, np.uint64(seed), seeds)
    count = SHARES * (workers if client is None else max(1, sum(client.nthreads().values())))
    after, best = labels.copy(), labels.copy()
    vectors = vectors_of(items)
    parts, at = groups.shares(count, reach), 0
    calls: list[tuple[Groups, Keys]] = []
    for part in parts:
        calls.append((part, seeds[at : at + len(part)]))
        at += len(part)

    def here(call: tuple[Groups, Keys]) -> Floats:
        return _sample(vectors, *call, after, best, bias, tau, reach, share)

    if client is not None:
        rows = _on_cluster(client, items, calls, labels, after, best, (bias, tau, reach, share))
    elif workers == 1 or len(calls) < 2:
        rows = [here(call) for call in calls]
    else:
        with ThreadPoolExecutor(workers) as pool:
            rows = list(pool.map(here, calls))
    # One sum over all groups: the same bits however they were shared out.
    change, best_change, proposals, accepted = np.concatenate([np.zeros((1, 4)), *rows]).sum(axis=0).tolist()
    return Round(after, best, change, best_change, int(proposals), int(accepted))


def vectors_of(items: Items) -> Vectors:
    """The arrays of items, as kernels take them."""
    return Vectors(items.offsets, items.columns, items.values, items.mass, items.norms)


def _sample(
    vectors: Vectors, groups: Groups, seeds: Keys, labels: Ints, best: Ints, bias: float, tau: float, reach: int,
    share: float,
) -> Floats:  # fmt: skip
    """Sample groups on a board of their own; they write to their own rows of labels alone."""
    figures = np.zeros((len(groups), 4))
    if not len(groups):
        return figures
    ends = np.concatenate([[0], np.cumsum(vectors.offsets[groups.rows + 1] - vectors.offsets[groups.rows])])
    entries = int(np.diff(ends[groups.offsets]).max())
    space = board(int(np.diff(groups.offsets).max()), entries)
    sample_groups(
        vectors, groups.rows, groups.offsets, groups.anchored, labels, best, seeds, float(bias), float(tau), reach,
        float(share), space, np.zeros(1, dtype=np.uint64), figures,
    )  # fmt: skip
    return figures


def _on_cluster(
    client: Any, items: Items, calls: list[tuple[Groups, Keys]], labels: Ints, after: Ints, best: Ints,
    settings: tuple[float, float, int, float],
) -> list[Floats]:  # fmt: skip
    """Send every share with the vectors of its items to a worker, and take the labels that come back."""
    futures = []
    for groups, seeds in calls:
        rows = np.sort(groups.rows)
        local = np.searchsorted(rows, groups.rows)
        sent = Groups(local, groups.offsets, groups.anchored, groups.keys)
        part = client.submit(
            _sample_elsewhere, items.take(rows), np.searchsorted(rows, labels[rows]), sent, seeds, settings, pure=False
        )
        futures.append((rows, part))
    figures = []
    for rows, part in futures:
        its_labels, its_best, counted = part.result()
        after[rows], best[rows] = rows[its_labels], rows[its_best]
        figures.append(counted)
    return figures


def _sample_elsewhere(
    items: Items, labels: Ints, groups: Groups, seeds: Keys, settings: tuple[float, float, int, float]
) -> tuple[Ints, Ints, Floats]:
    best = labels.copy()
    figures = _sample(vectors_of(items), groups, seeds, labels, best, *settings)
    return labels, best, figures


@kernel
def _seed_groups(keys: Keys, seed: np.uint64, seeds: Keys) -> None:
    start = avalanche(seed)
    for k in range(len(keys)):
        seeds[k] = avalanche(join(start, keys[k]))
