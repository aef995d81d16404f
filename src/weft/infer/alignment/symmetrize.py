"""One alignment out of two: every target word chose a source word, every source word a target word.

    intersection          links of both
    union                 links of either
    grow-diag             the intersection; then, again and again, links of the union beside a link that is there, also
                          across a corner, where one of the two words has no link yet
    grow-diag-final       ... and then links of either direction where one of the two words has no link yet
    grow-diag-final-and   ... where neither of the two words has a link yet

Links are visited in the order of Koehn et al. (2003): source words first to last, then target words, and of a link's
neighbours the straight ones before the corners.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools
from weft.errors import ConfigError, WeftError
from weft.kernel import kernel
from weft.ragged import Indices
from weft.text.bitext import Links

#: Ways to make one alignment out of two.
METHODS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")


def symmetrize(forward: Links, backward: Links, method: str = "grow-diag-final-and") -> Links:
    """One alignment out of two, both written source first; a link's score is the lower one, 0 where one lacks it.

    >>> forward, backward = Links.of([[(0, 0), (1, 1), (1, 2)]]), Links.of([[(0, 0), (1, 1), (2, 2)]])
    >>> [symmetrize(forward, backward, method).pairs()[0] for method in ("intersection", "grow-diag")]
    [[(0, 0), (1, 1)], [(0, 0), (1, 1), (1, 2), (2, 2)]]
    """
    if forward.n_pairs != backward.n_pairs:
        raise WeftError(f"alignments of {forward.n_pairs} and of {backward.n_pairs} sentence pairs cannot be joined")
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


def symmetrize_cells(
    forward: Bools, backward: Bools, source_sizes: Indices, target_sizes: Indices, method: str
) -> Bools:
    """Like `symmetrize`, over cells as in `weft.infer.alignment.links`, target word by target word."""
    if method not in METHODS:
        raise ConfigError(f"there is no way {method!r} to symmetrize; there are {', '.join(METHODS)}")
    if method == "union":
        return forward | backward
    chosen = forward & backward
    if method != "intersection":
        final = METHODS.index(method) - METHODS.index("grow-diag")
        _grow_diag(forward, backward, source_sizes, target_sizes, final, chosen)
    return chosen


def links_of_cells(
    chosen: Bools, score: np.ndarray[tuple[int], np.dtype[np.float64]], source_sizes: Indices, target_sizes: Indices
) -> Links:
    """The chosen cells as links, source word by source word.

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
    # Rounding may leave a sum of probabilities a hair above 1.
    return Links(ends, source[order], target[order], np.clip(score[cells[order]], 0, 1))


@kernel
def _grow_diag(
    forward: Bools, backward: Bools, source_sizes: Indices, target_sizes: Indices, final: int, chosen: Bools
) -> None:
    """Grow `chosen`, at first the intersection; `final` 1 adds what one free word allows, 2 what two free words do."""
    most_source, most_target = 0, 0
    for s in range(len(source_sizes)):
        most_source = max(most_source, source_sizes[s])
        most_target = max(most_target, target_sizes[s])
    source_used = np.empty(most_source, np.bool_)
    target_used = np.empty(most_target, np.bool_)
    first = 0
    for s in range(len(source_sizes)):
        size, length = source_sizes[s], target_sizes[s]
        source_used[:size] = False
        target_used[:length] = False
        for j in range(length):
            for i in range(size):
                if chosen[first + j * size + i]:
                    source_used[i] = True
                    target_used[j] = True
        grew = True
        while grew:
            grew = False
            for i in range(size):
                for j in range(length):
                    if not chosen[first + j * size + i]:
                        continue
                    for n in range(8):
                        if n < 4:
                            i_new, j_new = i + (n == 2) - (n == 0), j + (n == 3) - (n == 1)
                        else:
                            i_new, j_new = i + 2 * (n >= 6) - 1, j + 2 * (n % 2) - 1
                        if not (0 <= i_new < size and 0 <= j_new < length):
                            continue
                        cell = first + j_new * size + i_new
                        if chosen[cell] or not (forward[cell] or backward[cell]):
                            continue
                        if not (source_used[i_new] and target_used[j_new]):
                            chosen[cell] = True
                            source_used[i_new] = True
                            target_used[j_new] = True
                            grew = True
        if final:
            for direction in range(2):
                for i in range(size):
                    for j in range(length):
                        cell = first + j * size + i
                        if not (forward[cell] if direction == 0 else backward[cell]):
                            continue
                        taken = int(source_used[i]) + int(target_used[j])
                        if taken < (2 if final == 1 else 1):
                            chosen[cell] = True
                            source_used[i] = True
                            target_used[j] = True
        first += size * length
