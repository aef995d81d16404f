"""Sentences as structures of one of five networks, with the words and matrices that training knows.

sdt   dependency trees, a matrix per label          ct    binary trees
dt    dependency trees, a matrix per position       rnn   chains
bow   bags of words: nothing but the map of images is learned
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import ConfigError
from weft.features.representations.ppmi import WordTable
from weft.learn.neural.forests import Structures
from weft.learn.neural.networks import RecursiveNetwork
from weft.learn.neural.structures import (
    bag_structures,
    binarized,
    binary_structures,
    chain_structures,
    dependency_structures,
    positions,
)
from weft.tasks.images.trees import CaptionTree

NETWORKS = ("dt", "sdt", "ct", "rnn", "bow")
#: Networks over dependency trees.
DEPENDENCY = ("dt", "sdt")
#: Matrices of binary trees and chains.
_FIXED = {"ct": ("left", "right"), "rnn": ("before",), "bow": ()}


@dataclass
class SentenceEncoder:
    """Makes structures of captions; `matrices` names those that a network learns.

    >>> import numpy as np
    >>> table = WordTable.of(["dogs", "bark"], np.eye(2))
    >>> tree = CaptionTree(("Dogs", "bark"), np.array([2, 0]), ("nsubj", "root"))
    >>> encoder = SentenceEncoder.fit("sdt", table, [tree], least=1)
    >>> encoder.matrices, encoder.structures([tree]).matrices.tolist()
    (['nsubj'], [0, -1])
    """

    network: str
    table: WordTable
    matrices: list[str]
    weighted: bool = True

    @classmethod
    def fit(
        cls, network: str, table: WordTable, trees: Sequence[CaptionTree], least: int = 5, weighted: bool = True
    ) -> SentenceEncoder:
        """Choose the matrices: all positions of training captions, or the labels that occur `least` times."""
        if network not in NETWORKS:
            raise ConfigError(f"the network must be one of {', '.join(NETWORKS)}, got {network!r}")
        if network not in DEPENDENCY:
            return cls(network, table, list(_FIXED[network]), weighted)
        encoder = cls(network, table, [], weighted)
        counts = Counter(mark for mark in encoder._marks(trees) if mark)
        encoder.matrices = sorted(mark for mark, count in counts.items() if network == "dt" or count >= least)
        return encoder

    def new_network(
        self, activation: str = "tanh", noise: float = 0.01, seed: int = 0, size: int = 0
    ) -> RecursiveNetwork:
        """An untrained network for these structures; networks that pass words on have the size of the word vectors."""
        width = self.table.vectors.shape[1]
        passes = self.network in ("ct", "bow")
        return RecursiveNetwork.new(
            width if passes else size or width, 0 if passes else width, len(self.matrices),
            "identity" if self.network == "bow" else activation, noise, seed,
        )  # fmt: skip

    def structures(self, trees: Sequence[CaptionTree]) -> Structures:
        """The structures of captions."""
        rows = self.table.rows(word for tree in trees for word in tree.words)
        lengths = [len(tree.words) for tree in trees]
        if self.network in DEPENDENCY:
            known = {name: number for number, name in enumerate(self.matrices)}
            return dependency_structures([tree.heads for tree in trees], rows, self._marks(trees), known, self.weighted)
        if self.network == "ct":
            return binary_structures([binarized(tree.heads) for tree in trees], lengths, rows)
        return chain_structures(lengths, rows) if self.network == "rnn" else bag_structures(lengths, rows)

    def _marks(self, trees: Sequence[CaptionTree]) -> list[str]:
        """What chooses the matrix of every word's edge; "" for roots."""
        if self.network == "dt":
            return positions([tree.heads for tree in trees])
        return [
            "" if head == 0 else label
            for tree in trees
            for head, label in zip(tree.heads.tolist(), tree.labels, strict=True)
        ]
