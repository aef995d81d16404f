"""What the sampler is compared with: equal names, SubSquare, streaming assignment and average linkage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.graph.neighbours import nearest_neighbours
from weft.infer.sampling.items import Items, canonical


def string_match(names: Sequence[str]) -> Ints:
    """Mentions with equal names are one entity.

    >>> string_match(["a", "b", "a"]).tolist()
    [0, 1, 0]
    """
    return canonical(np.unique(np.asarray(names), return_inverse=True)[1])


class SubSquare:
    """The clustering of Bshouty and Long (2010), as the paper describes it: over and over, a random vertex of the
    similarity graph joins the cluster of a random neighbour, if the two share enough of their neighbours.

    >>> items = Items.from_rows([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    >>> SubSquare(items, neighbours=2).clusters(similarity=0.5, overlap=0.5, seed=0).tolist()
    [0, 0, 2, 2]
    """

    def __init__(self, items: Items, neighbours: int = 20) -> None:
        self.ids, cosines = nearest_neighbours(items.matrix(), neighbours, max_df=max(50, len(items) // 10))
        self.similarities = cosines * float(items.norms.max(initial=1.0))

    def clusters(self, similarity: float, overlap: float, seed: int, sweeps: int = 30) -> Ints:
        """Clusters of the graph of pairs above a similarity."""
        n = len(self.ids)
        near = [
            set(ids[(values > similarity) & (ids >= 0)].tolist()) | {v}
            for v, (ids, values) in enumerate(zip(self.ids, self.similarities, strict=True))
        ]
        joins = [
            [u for u in sorted(own - {v}) if len(own & near[u]) >= overlap * len(own | near[u])]
            for v, own in enumerate(near)
        ]
        random = np.random.default_rng(seed)
        labels = np.arange(n)
        for _ in range(sweeps):
            chance = random.random(n)
            for v in random.permutation(n).tolist():
                if joins[v]:
                    labels[v] = labels[joins[v][int(chance[v] * len(joins[v]))]]
        return canonical(labels)


def similarities(items: Items) -> NDArray[np.float32]:
    """The similarity of every pair of items, as a dense table: what the sampler does without."""
    matrix = items.matrix()
    return np.asarray((matrix @ matrix.T).todense(), dtype=np.float32)


def streaming(table: NDArray[np.float32], threshold: float) -> Ints:
    """Every mention, in order, joins the cluster with the highest mean similarity, if it is above the threshold.

    >>> streaming(np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.1], [0.0, 0.1, 1.0]], dtype=np.float32), 0.5).tolist()
    [0, 0, 2]
    """
    n = len(table)
    labels, sizes, count = np.zeros(n, dtype=np.int64), np.zeros(n), 0
    for i in range(n):
        best = -1
        if i:
            means = np.bincount(labels[:i], table[i, :i], count) / sizes[:count]
            best = int(np.argmax(means))
        if best < 0 or means[best] <= threshold:
            best, count = count, count + 1
        labels[i] = best
        sizes[best] += 1
    return canonical(labels)


def average_linkage(table: NDArray[np.float32]) -> Floats:
    """The tree of average linkage, from the table of all pairs; `cut` cuts it."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    distances = np.maximum(1.0 - table, 0.0)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(linkage(squareform((distances + distances.T) / 2, checks=False), "average"), dtype=np.float64)


def cut(tree: Floats, threshold: float) -> Ints:
    """The clusters of a tree whose mean similarity is above a threshold."""
    from scipy.cluster.hierarchy import fcluster

    return canonical(fcluster(tree, 1.0 - threshold, "distance"))
