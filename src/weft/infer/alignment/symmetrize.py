"""Combine the alignments of two directions, one of which links every target word, the other every source word.

    intersection          links of both directions
    union                 links of either direction
    grow-diag             the intersection; then, until nothing changes, links of the union that are next to a chosen
                          link (diagonals included) and of whose words one has no link yet
    grow-diag-final       ... and then links of either direction of whose words one has no link yet
    grow-diag-final-and   ... of whose words neither has a link yet

Links are visited in the order of Koehn et al. (2003): source words first to last, then target words; of a link's
neighbours, the straight ones come before the diagonal ones.

Links are cells of one matrix per sentence pair, target word by target word, as in `weft.infer.alignment.links`;
`weft.tasks.bitext.symmetrize` combines the links of texts.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.ragged import Indices

#: Methods to combine two alignments.
METHODS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")


def symmetrize_cells(
    forward: Bools, backward: Bools, source_sizes: Indices, target_sizes: Indices, method: str
) -> Bools:
    """Combine two alignments, given as the cells that are linked.

    >>> forward, backward = np.array([True, True, False, False]), np.array([True, False, False, True])
    >>> symmetrize_cells(forward, backward, np.array([2]), np.array([2]), "grow-diag").tolist()
    [True, True, False, True]
    """
    if method not in METHODS:
        raise ConfigError(f"there is no way {method!r} to symmetrize; there are {', '.join(METHODS)}")
    if method == "union":
        return forward | backward
    chosen = forward & backward
    if method != "intersection":
        final = METHODS.index(method) - METHODS.index("grow-diag")
        _grow_diag(forward, backward, source_sizes, target_sizes, final, chosen)
    return chosen


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
