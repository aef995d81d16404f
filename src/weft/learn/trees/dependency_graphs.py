"""The linear model over dependency graphs, in which words may have several heads (McDonald & Pereira 2006).

    score(y, x) = sum over the edges (h, m) of y of  w . f(h, m, x) + w . f(h, m, s, x)

s the next child of h between h and m: the features of trees of second order, over graphs without cycles that
`weft.infer.trees.rearrange.DependencyGraphs` grows from the best projective tree. With MIRA of one solution the same
search finds the graph to learn from, and its loss is the number of edges too many and too few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Keys, Mask
from weft.features.tree_templates import TreeProgram
from weft.infer.trees.arcs import ArcSpace, TreeParts
from weft.infer.trees.rearrange import DependencyGraphs
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel


@dataclass(frozen=True)
class GraphBatch:
    """Sentences ready for a `DependencyGraphModel`: a batch of trees, and `gold`, a mask over the arcs of its space."""

    trees: TreeBatch
    gold: Mask | None

    def __len__(self) -> int:
        return len(self.trees)

    @property
    def weight(self) -> Floats:
        return self.trees.weight

    @property
    def words(self) -> TreeWords:
        return self.trees.words

    @property
    def arc_space(self) -> ArcSpace:
        return self.trees.arc_space

    @property
    def arc_marks(self) -> Keys:
        return self.trees.arc_marks


class DependencyGraphModel(TreeModel):
    """Weights to graphs and back.

    >>> from weft.features.tree_templates import compile_tree_templates
    >>> program = compile_tree_templates("arc: h.t|m.t sibling: s.t|m.t", ["t"])
    >>> words = TreeWords(np.array([[1], [2], [3]], np.uint64), np.zeros(4, np.int64), np.zeros(0, np.uint64))
    >>> trees = TreeBatch(np.array([0, 2]), words, None, np.ones(1))
    >>> batch = GraphBatch(trees, arcs_of_edges(trees.arc_space, np.array([0, 1, 1]), np.array([0, 0, 1])))
    >>> model = DependencyGraphModel(program, single_root=False, bits=8)
    >>> weights = np.zeros(model.size)
    >>> model.scatter(batch, model.score(batch, weights).parts(batch.gold), weights)
    >>> model.score(batch, weights).best().tolist() == batch.gold.tolist() == [True, True, True, False]
    True
    """

    def __init__(self, program: TreeProgram, single_root: bool = True, bits: int = 22) -> None:
        super().__init__(program, 2, "nonprojective", single_root, bits)

    def structure(self, space: ArcSpace, parts: TreeParts) -> DependencyGraphs:
        """The graphs of a space, given the scores of all parts."""
        return DependencyGraphs(space, parts.arc, parts.sibling, single_root=self.single_root)


def arcs_of_edges(space: ArcSpace, word: NDArray[np.int64], head: NDArray[Any]) -> Mask:
    """Edges, as words of the batch and their heads in the sentence, as a mask over the arcs of a space.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> arcs_of_edges(all_arcs([0, 2]), np.array([0, 1, 1]), np.array([2, 0, 1])).tolist()
    [False, True, True, True]
    """
    width = int(np.diff(space.offsets).max(initial=0)) + 1
    found: Mask = np.isin(space.word * width + space.head, word * width + head)
    return found
