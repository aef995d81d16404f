"""Random AMRs for tests."""

from __future__ import annotations

import numpy as np

from weft.text.conventions.amr import Amr, Edge, fresh_names

CONCEPTS = ("want-01", "boy", "go-01", "city", "name", "and")
ROLES = ("ARG0", "ARG1", "mod", "op1", "consist-of", "time")


def random_amr(seed: int, most: int = 6, constants: bool = True) -> Amr:
    """A connected graph with re-entrancies, inverse roles and constants."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, most + 1))
    labels = [str(random.choice(CONCEPTS)) for _ in range(n)]
    names = fresh_names(labels)
    edges = []
    for node in range(1, n):
        role = str(random.choice(ROLES)) + ("-of" if random.random() < 0.3 else "")
        edges.append(Edge(int(random.integers(node)), node, role))
    if n > 2 and random.random() < 0.5:
        source, target = (int(node) for node in random.choice(n, 2, replace=False))
        edges.append(Edge(source, target, "purpose"))
    if constants and random.random() < 0.5:
        labels.append(str(random.choice(["-", "6", '"New York"'])))
        names.append("")
        edges.append(Edge(int(random.integers(n)), n, "polarity"))
    return Amr(labels, names, edges)


def shuffled(amr: Amr, seed: int) -> Amr:
    """The same graph with other variables, nodes and edges in another order."""
    random = np.random.default_rng(seed)
    order = [0, *(int(node) for node in random.permutation(np.arange(1, len(amr))))]
    new = {old: number for number, old in enumerate(order)}
    edges = [Edge(new[source], new[target], role) for source, target, role in amr.edges]
    edges = [edges[number] for number in random.permutation(len(edges))]
    names = [f"z{number}" if amr.names[old] else "" for number, old in enumerate(order)]
    return Amr([amr.labels[old] for old in order], names, edges, [amr.words[old] for old in order])
