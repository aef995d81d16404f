"""A trie of paths: paths that begin alike share what a walk along their beginnings finds.

Nodes are numbered so that every node comes before its children and a subtree is a slice (preorder): a walker keeps one
distribution per depth and goes through the trie once. `key` identifies the path to a node, whatever else is in the
trie, so that random draws along a path are the same alone and together with others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from weft.arrays import Ids, Keys
from weft.errors import ConfigError
from weft.graph.paths.steps import Path
from weft.hashing import avalanche


@dataclass(frozen=True)
class Trie:
    """Paths by shared beginnings.

    >>> trie = Trie.of([(0, 2), (0, 3), (4,)])
    >>> trie.step.tolist(), trie.depth.tolist(), trie.leaf.tolist(), trie.end.tolist()
    ([0, 2, 3, 4], [0, 1, 1, 0], [-1, 0, 1, 2], [3, 2, 3, 4])
    """

    paths: tuple[Path, ...]
    step: Ids
    depth: Ids
    leaf: Ids  #: the number of the path that ends here, -1 if none does
    end: Ids  #: the first node after the subtree
    key: Keys

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Trie:
        """The trie of distinct paths, none of them empty."""
        listed = tuple(tuple(path) for path in paths)
        if len(set(listed)) < len(listed) or () in listed:
            raise ConfigError("the paths of a trie must be distinct and have at least one step each")
        numbers = {path: number for number, path in enumerate(listed)}
        nodes = sorted({path[:size] for path in listed for size in range(1, len(path) + 1)})
        end, open_nodes = [0] * len(nodes), [-1] * (max(map(len, nodes), default=0) + 1)
        for number, node in enumerate(nodes):
            for depth in range(len(node), len(open_nodes)):
                if open_nodes[depth] >= 0:
                    end[open_nodes[depth]] = number
                    open_nodes[depth] = -1
            open_nodes[len(node)] = number
        for number in open_nodes:
            if number >= 0:
                end[number] = len(nodes)
        return cls(
            listed, np.array([node[-1] for node in nodes], np.int32),
            np.array([len(node) - 1 for node in nodes], np.int32),
            np.array([numbers.get(node, -1) for node in nodes], np.int32), np.array(end, np.int32),
            np.array([_key(node) for node in nodes], np.uint64),
        )  # fmt: skip

    @property
    def height(self) -> int:
        """The most steps of a path."""
        return int(self.depth.max()) + 1 if len(self.depth) else 0


def _key(path: Path) -> int:
    key = np.array([0x51ED270B], dtype=np.uint64)
    for step in path:
        key[0] = avalanche(key[0] ^ np.uint64(step + 1))
    return int(key[0])
