"""Random problems of propagation, and the rules written out with dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.csr import Graph
from weft.graph.propagation.seeds import Seeds


def problem(seed: int, n: int = 40, labels: int = 3, directed: bool = False, edges: int | None = None) -> Any:
    """A graph with isolated vertices and parallel weights, and seeds on some of it."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, max(2, (9 * n) // 10), (2, 3 * n if edges is None else edges))
    w = rng.random(len(u)) + 0.05
    apart = u != v
    graph = from_directed(n, u, v, w) if directed else Graph.from_edges(n, u[apart], v[apart], w[apart])
    count = int(rng.integers(1, max(2, n // 4)))
    at = rng.choice(n, count, replace=False)
    more = rng.choice(at, count // 3)
    of = rng.integers(0, labels, count + len(more))
    seeds = Seeds.of(n, [*at, *more], of, rng.random(len(of)) + 0.1, labels).normalized()
    return graph, seeds


def from_directed(n: int, u: Any, v: Any, w: Any) -> Graph:
    """A directed graph, with edges from vertices to themselves."""
    dense: dict[tuple[int, int], float] = {}
    for a, b, weight in zip(u.tolist(), v.tolist(), w.tolist(), strict=True):
        dense[a, b] = dense.get((a, b), 0.0) + weight
    pairs = sorted(dense)
    offsets = np.zeros(n + 1, dtype=np.int64)
    for a, _ in pairs:
        offsets[a + 1] += 1
    return Graph(np.cumsum(offsets), np.array([b for _, b in pairs], np.int32), [dense[pair] for pair in pairs])


def dense_probabilities(w: Any, seeded: Any, beta: float = 2.0, bits: bool = False) -> tuple[Any, Any, Any]:
    """p_inj, p_cont and p_abnd, vertex by vertex as the sheet writes them."""
    inject, go_on, abandon = [], [], []
    for v in range(len(w)):
        total = w[:, v].sum()
        if total == 0:
            inject.append(0.99 if seeded[v] else 0.0)
            go_on.append(0.0)
            abandon.append(1 - inject[-1])
            continue
        p = [x / total for x in w[:, v] if x > 0]
        h = -sum(x * np.log(x) for x in p)
        if len(p) == 1:
            h = 0.0
        if bits:
            h /= np.log(2)
            c = np.log(beta) / np.log(beta + h)
        else:
            c = np.log(beta) / np.log(beta + np.exp(h))
        j = (1 - c) * np.sqrt(h) if seeded[v] else 0.0
        z = max(c + j, 1.0)
        if seeded[v] and h == 0:
            c, j, z = 0.01, 0.99, 1.0
        inject.append(j / z)
        go_on.append(c / z)
        abandon.append(1 - j / z - c / z)
    return np.array(inject), np.array(go_on), np.array(abandon)


def dense_rounds(rule: str, graph: Graph, seeds: Seeds, rounds: int, mu: Any = (1.0, 0.01, 0.01)) -> Any:
    """Rounds of a rule with loops over dense matrices."""
    w = graph.matrix().toarray().astype(float)
    n, m = len(w), seeds.n_labels
    y = np.hstack([seeds.dense(), np.zeros((n, 1))])
    seeded = seeds.seeded
    top = np.eye(m + 1)[m]
    inject, go_on, abandon = dense_probabilities(w, seeded)
    x = y.copy()
    if rule != "mad":
        x[~seeded] = top
    for _ in range(rounds):
        new = np.zeros_like(x)
        for v in range(n):
            total = w[:, v].sum()
            mean = w[:, v] @ x / total if total else np.zeros(m + 1)
            if rule == "lp":
                new[v] = y[v] if seeded[v] else mean if total else top
            elif rule == "adsorption":
                new[v] = inject[v] * y[v] + go_on[v] * mean + abandon[v] * top
            else:
                both = go_on[v] * w[v] + go_on * w[:, v]
                both[v] = 0
                whole = mu[0] * inject[v] + mu[1] * both.sum() + mu[2]
                new[v] = (mu[0] * inject[v] * y[v] + mu[1] * both @ x + mu[2] * abandon[v] * top) / whole
        x = new
    return x
