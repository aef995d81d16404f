"""Generated tables: classes of instances, columns of mixed purity, values that occur everywhere, and attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Ints
from weft.graph.csr import Graph


@dataclass(frozen=True)
class Blocks:
    """A graph whose first vertices are instances, with their classes."""

    graph: Graph
    labels: Ints

    @property
    def n_instances(self) -> int:
        return len(self.labels)


def generated_blocks(
    classes: int, instances: int, degree: float, seed: int, cells: int = 20, purity: tuple[float, float] = (0.9, 0.6),
    hubs: float = 0.01, spread: float = 0.3,
) -> Blocks:  # fmt: skip
    """Instances that stand in `degree` columns each, on average; of every second column the share of its main class is
    the first purity, of the others the second. A share `hubs` of further values stands in a share `spread` of all
    columns.

    >>> blocks = generated_blocks(4, 25, 3, seed=1)
    >>> blocks.n_instances, round(float(blocks.graph.degrees[:100].mean()), 1)
    (100, 2.9)
    """
    rng = np.random.default_rng(seed)
    n = classes * instances
    labels = np.repeat(np.arange(classes), instances)
    columns = max(classes, round(n * degree / cells))
    extra = max(1, round(hubs * n))
    u, v = [], []
    for column in range(columns):
        main = column % classes
        pure = purity[(column // classes) % 2]
        inside = int(rng.binomial(cells, pure))
        own = main * instances + rng.choice(instances, min(inside, instances), replace=False)
        other = rng.choice(n, cells - len(own), replace=False)
        values = np.unique(np.concatenate([own, other, n + np.flatnonzero(rng.random(extra) < spread)]))
        u.append(values)
        v.append(np.full(len(values), n + extra + column))
    graph = Graph.from_edges(n + extra + columns, np.concatenate(u), np.concatenate(v))
    return Blocks(graph, labels)


def with_attributes(blocks: Blocks, per_class: int, share: float, seed: int, shuffled: bool = False) -> Blocks:
    """The same with attributes that a share of the instances of one class has, or as many instances of any.

    >>> blocks = generated_blocks(4, 25, 3, seed=1)
    >>> with_attributes(blocks, 2, 0.4, 1).graph.n_edges - blocks.graph.n_edges
    80
    """
    rng = np.random.default_rng(seed)
    u, v, w = blocks.graph.edges()
    more, ends = [], []
    classes = int(blocks.labels.max()) + 1
    n = blocks.graph.n_vertices
    for number in range(classes * per_class):
        own = np.flatnonzero(blocks.labels == number % classes)
        count = round(share * len(own))
        chosen = rng.choice(blocks.n_instances if shuffled else own, count, replace=False)
        more.append(chosen)
        ends.append(np.full(count, n + number))
    joined = [np.concatenate(parts) for parts in ([u, *more], [v, *ends])]
    weights = np.concatenate([w, np.ones(len(joined[0]) - len(w))])
    return Blocks(Graph.from_edges(n + classes * per_class, joined[0], joined[1], weights), blocks.labels)


def with_noise(blocks: Blocks, degree: float, seed: int, size: int = 200) -> Blocks:
    """The same with columns of so many instances drawn from all, until instances have that degree.

    >>> blocks = generated_blocks(4, 25, 3, seed=1)
    >>> round(float(with_noise(blocks, 8, 1, size=50).graph.degrees[:100].mean()), 1)
    7.9
    """
    rng = np.random.default_rng(seed)
    n = blocks.graph.n_vertices
    now = float(blocks.graph.degrees[: blocks.n_instances].mean())
    u, v, w = blocks.graph.edges()
    count = max(0, round((degree - now) * blocks.n_instances / size))
    more = [rng.choice(blocks.n_instances, size, replace=False) for _ in range(count)]
    ends = [np.full(size, n + column) for column in range(count)]
    joined = [np.concatenate([u, *more]), np.concatenate([v, *ends])]
    weights = np.concatenate([w, np.ones(len(joined[0]) - len(w))])
    return Blocks(Graph.from_edges(n + count, joined[0], joined[1], weights), blocks.labels)
