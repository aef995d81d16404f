"""Networks with known impact, for a real network's numbers of nodes and links (King, Jha and Radev 2014, section 2.1).

I(x)          citations of a random real node of the type, plus a number from 0 to 1, over the maximum
link a - b    drawn with a probability that is proportional to I(a) I(b) (1 - (I(a) - I(b))^2), none twice
citation      citing paper uniform, cited paper in proportion to I
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import DataError
from weft.graph.network import Network, network_of

TYPES = ("paper", "author", "institution", "venue", "term")
#: The types of the ends of links.
LINKS = {
    "writes": ("author", "paper"), "affiliated": ("author", "institution"), "published": ("paper", "venue"),
    "contains": ("paper", "term"),
}  # fmt: skip


@dataclass(frozen=True)
class Counts:
    """The citations of every real node by type, and the numbers of links and citations."""

    citations: Mapping[str, Floats]
    links: Mapping[str, int]
    cites: int


@dataclass(frozen=True)
class Generated:
    """A network: latent impact by type, pairs by link, and citations as citing and cited papers."""

    impact: dict[str, Floats]
    links: dict[str, tuple[Ints, Ints]]
    citing: Ints
    cited: Ints

    def first(self, type: str) -> int:
        """The number of a type's first node."""
        return sum(len(self.impact[before]) for before in TYPES[: TYPES.index(type)])

    @property
    def n_nodes(self) -> int:
        return sum(map(len, self.impact.values()))

    def network(self) -> Network:
        """All types and links as one undirected network."""
        sources, targets = [self.citing], [self.cited]
        for name, (a, b) in self.links.items():
            one, other = LINKS[name]
            sources.append(a + self.first(one))
            targets.append(b + self.first(other))
        return network_of(self.n_nodes, np.concatenate(sources), np.concatenate(targets))

    def of_type(self, values: Floats, type: str) -> Floats:
        """The values of a type's nodes."""
        return values[self.first(type) : self.first(type) + len(self.impact[type])]


def generate(counts: Counts, seed: int) -> Generated:
    """Draw a network."""
    rng = np.random.default_rng(seed)
    impact = {}
    for name in TYPES:
        real = counts.citations[name]
        values = rng.choice(real, size=len(real)) + 1.0 - rng.random(len(real))
        impact[name] = values / values.max()
    links = {}
    for name, (one, other) in LINKS.items():
        links[name] = _links(impact[one], impact[other], counts.links[name], rng)
    papers = impact["paper"]
    share = np.cumsum(papers) / papers.sum()

    def draw(size: int) -> tuple[Ints, Ints]:
        citing, cited = rng.integers(0, len(papers), size), np.searchsorted(share, rng.random(size), side="right")
        other = citing != cited
        return citing[other], cited[other]

    citing, cited = _distinct(draw, counts.cites, len(papers))
    return Generated(impact, links, citing, cited)


def _links(one: Floats, other: Floats, size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    shares = [np.cumsum(values) / values.sum() for values in (one, other)]

    def draw(count: int) -> tuple[Ints, Ints]:
        a, b = (np.searchsorted(share, rng.random(count), side="right") for share in shares)
        kept = rng.random(count) < 1 - (one[a] - other[b]) ** 2
        return a[kept], b[kept]

    return _distinct(draw, size, len(other))


def _distinct(
    draw: Callable[[int], tuple[NDArray[np.int64], NDArray[np.int64]]], size: int, n: int
) -> tuple[Ints, Ints]:
    """The first `size` different pairs of those that are drawn."""
    found = np.zeros(0, dtype=np.int64)
    for _ in range(200):
        a, b = draw(max(1000, 2 * (size - len(found))))
        keys = np.concatenate([found, a * n + b])
        _, first = np.unique(keys, return_index=True)
        found = keys[np.sort(first)][:size]
        if len(found) == size:
            return found // n, found % n
    raise DataError(f"{size} different links could not be drawn: there are too few nodes")
