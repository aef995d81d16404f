"""Combine the links of two alignment directions; the methods are those of `weft.infer.alignment.symmetrize`."""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools, Floats
from weft.errors import WeftError
from weft.infer.alignment.symmetrize import symmetrize_cells
from weft.ragged import Indices
from weft.text.bitext import Links


def symmetrize(forward: Links, backward: Links, method: str = "grow-diag-final-and") -> Links:
    """Combine two alignments, both source first; a link's score is the lower one, 0 if one lacks the link.

    >>> forward, backward = Links.of([[(0, 0), (1, 1), (1, 2)]]), Links.of([[(0, 0), (1, 1), (2, 2)]])
    >>> [symmetrize(forward, backward, method).pairs()[0] for method in ("intersection", "grow-diag")]
    [[(0, 0), (1, 1)], [(0, 0), (1, 1), (1, 2), (2, 2)]]
    """
    if forward.n_pairs != backward.n_pairs:
        raise WeftError(
            f"the alignments have {forward.n_pairs} and {backward.n_pairs} sentence pairs; expected as many in both"
        )
    sizes = np.zeros((2, forward.n_pairs), dtype=np.int64)
    for links in (forward, backward):
        np.maximum.at(sizes[0], links.sentence(), links.source + 1)
        np.maximum.at(sizes[1], links.sentence(), links.target + 1)
    cell_offsets = np.concatenate([[0], np.cumsum(sizes[0] * sizes[1])])
    masks, scores = [], []
    for links in (forward, backward):
        at = links.sentence()
        cells = cell_offsets[at] + links.target * sizes[0][at] + links.source
        score = np.zeros(cell_offsets[-1])
        mask = np.zeros(cell_offsets[-1], dtype=np.bool_)
        score[cells], mask[cells] = links.score, True
        masks.append(mask)
        scores.append(score)
    chosen = symmetrize_cells(masks[0], masks[1], sizes[0], sizes[1], method)
    return links_of_cells(chosen, np.minimum(*scores), sizes[0], sizes[1])


def links_of_cells(chosen: Bools, score: Floats, source_sizes: Indices, target_sizes: Indices) -> Links:
    """The chosen cells as links, ordered by source word.

    >>> cells = np.array([True, False, True, True])
    >>> links_of_cells(cells, np.array([0.5, 0.1, 0.7, 0.9]), np.array([2]), np.array([2])).pairs()
    [[(0, 0), (0, 1), (1, 1)]]
    """
    n_cells = source_sizes * target_sizes
    cell_offsets = np.concatenate([[0], np.cumsum(n_cells)])
    cells = np.flatnonzero(chosen)
    at = np.searchsorted(cell_offsets, cells, side="right") - 1
    target, source = np.divmod(cells - cell_offsets[at], source_sizes[at])
    order = np.lexsort((target, source, at))
    ends = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(n_cells)))])
    # Rounding may leave a sum of probabilities slightly above 1.
    return Links(ends, source[order], target[order], np.clip(score[cells[order]], 0, 1))
