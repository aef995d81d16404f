"""Sets of plausible heads, to learn trees from where no tree is given (Täckström, McDonald & Nivre 2013).

    A(m)  = the most probable heads of word m, in falling order of p(h -> m), until their mass reaches sigma
    y~    = all projective trees with every head in its A(m)

`weft.learn.signals.Partial` maximizes  log of the sum over y in y~ of p(y). What is in a set counts the same, whatever
its probability was. A set system is a mask over the arcs of a space; the arcs of a best tree are added, so that y~ is
never empty, and so may those of other parsers and those that a user knows to be right: systems are united by `|`.

    sigma = 0   the best tree alone: Viterbi self-training
    sigma = 1   all arcs: nothing is learned
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Heads, Mask
from weft.errors import ConfigError, InferenceError
from weft.infer.trees.arcs import ArcSpace
from weft.infer.trees.projective import ProjectiveTrees
from weft.ragged import check_shape


def tree_sets(space: ArcSpace, heads: ArrayLike) -> Mask:
    """Sets of one head each, those of trees; words whose head is below 0 have an empty set.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> tree_sets(all_arcs([0, 2]), [2, 0]).tolist()  # of the arcs 0-1, 0-2, 1-2, 2-1
    [False, True, False, True]
    """
    given = np.asarray(heads, dtype=np.int32)
    arcs = space.arcs_of(given)
    if np.any((arcs < 0) & (given >= 0)):
        word = int(np.argmax((arcs < 0) & (given >= 0)))
        raise InferenceError(f"word {word} of the batch (counting from 0) has a head that the space does not allow")
    mask = np.zeros(space.n_arcs, dtype=np.bool_)
    mask[arcs[arcs >= 0]] = True
    return mask


def probable_sets(space: ArcSpace, marginals: NDArray[np.float64], sigma: float) -> Mask:
    """The most probable heads of every word, as many as it takes to hold the mass `sigma`.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> arcs = all_arcs([0, 2])
    >>> [probable_sets(arcs, np.array([0.3, 0.7, 0.3, 0.7]), sigma).tolist() for sigma in (0.5, 0.9)]
    [[False, True, False, True], [True, True, True, True]]
    """
    if not 0.0 <= sigma <= 1.0:
        raise ConfigError(f"sigma is the mass that a set of heads holds, from 0 to 1; got {sigma}")
    check_shape(marginals, (space.n_arcs,), "marginals, one per arc,")
    if sigma == 1.0:
        return np.ones(space.n_arcs, dtype=np.bool_)
    word = space.word
    order = np.lexsort((-marginals, word))
    mass = np.cumsum(marginals[order])
    counts = np.bincount(word, minlength=space.n_words)
    firsts = (np.cumsum(counts) - counts)[counts > 0]
    before = np.concatenate([[0.0], mass])[:-1]
    before -= np.repeat(before[firsts], counts[counts > 0])
    mask = np.zeros(space.n_arcs, dtype=np.bool_)
    mask[order] = before < sigma
    return mask


def ambiguous_sets(trees: ProjectiveTrees, sigma: float) -> Mask:
    """The probable heads of every word, and the head it has in the best tree.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> trees = ProjectiveTrees(all_arcs([0, 2]), [1.5, 2, 0.5, 1], single_root=True)
    >>> ambiguous_sets(trees, 0.0).tolist(), ambiguous_sets(trees, 0.95).tolist()
    ([False, True, False, True], [True, True, True, True])
    """
    return probable_sets(trees.space, trees.marginals().arc, sigma) | tree_sets(trees.space, trees.best())


def nearest_trees(space: ArcSpace, sets: Mask, gold: ArrayLike, single_root: bool = True) -> Heads:
    """Of the projective trees within sets the one with most heads right: what the sets leave to be learned at best.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> nearest_trees(all_arcs([0, 2]), np.array([True, False, True, False]), [2, 0]).tolist()
    [0, 1]
    """
    right = (space.head == np.asarray(gold, dtype=np.int32)[space.word]).astype(np.float64)
    return ProjectiveTrees(space, right, single_root=single_root).restrict(sets).best()


@dataclass(frozen=True)
class SetReport:
    """How ambiguous sets are and, where gold heads are known, what they hold of them."""

    words: int
    heads: float  # a word
    single: float  # share of words with one head
    covered: float | None = None  # share of words whose right head is in the set
    oracle: float | None = None  # share of right heads in the nearest tree within the sets


def report_sets(space: ArcSpace, sets: Mask, gold: ArrayLike | None = None, single_root: bool = True) -> SetReport:
    """Sizes of sets, and with gold heads their coverage and their oracle attachment score.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> report_sets(all_arcs([0, 2]), np.array([True, True, False, True]), [0, 1])
    SetReport(words=2, heads=1.5, single=0.5, covered=0.5, oracle=0.0)
    """
    sizes = np.bincount(space.word[sets], minlength=space.n_words)
    own = SetReport(space.n_words, float(sizes.mean()), float((sizes == 1).mean()))
    if gold is None:
        return own
    heads = np.asarray(gold, dtype=np.int32)
    arcs = space.arcs_of(heads)
    covered = float(np.where(arcs >= 0, sets[arcs], False).mean())
    oracle = float((nearest_trees(space, sets, heads, single_root) == heads).mean())
    return SetReport(own.words, own.heads, own.single, covered, oracle)
