"""What the user knows of trees beforehand: heads that are fixed, arcs that are forbidden.

Fixed heads are a gold tree known in part. A move that costs nothing against it keeps all of its arcs within reach
(`weft.infer.transitions.systems.cost`), so that only such moves are allowed; where none is legal, those that cost least.
A forbidden arc is built only where nothing else is legal.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError
from weft.infer.transitions.state import G_WIDTH, MOVES, Table, fill_gold
from weft.infer.transitions.systems import System, arc, cost, following, legal
from weft.kernel import kernel

_N_MOVES = len(MOVES)


class Constraints(NamedTuple):
    """Constraints of a batch."""

    fixed: Table  # gold tables of the sentences, one below the other: rows offset + sentence number on
    row_of: NDArray[np.int64]  # for every word offset of a sentence the row where its table begins
    starts: NDArray[np.int64]  # forbidden heads of word i: heads[starts[i]:starts[i + 1]]
    heads: Table


def constrain(
    sentences: NDArray[np.int64],
    heads: NDArray[np.int32] | None = None,
    forbidden: Iterable[tuple[int, int, int]] = (),
) -> Constraints:
    """Constraints of a batch: `heads` of its words (-1: free), `forbidden` arcs as (sentence, head, dependent).

    >>> found = constrain(np.array([0, 2]), np.array([2, -1], np.int32), [(0, 0, 1)])
    >>> found.fixed[1:3, 0].tolist(), found.heads.tolist()
    ([2, -1], [0])
    """
    n = int(sentences[-1])
    free = np.full(n, -1, dtype=np.int32)
    known = free if heads is None else np.ascontiguousarray(heads, dtype=np.int32)
    lengths = np.diff(sentences)
    if len(known) != n or (known > np.repeat(lengths, lengths)).any() or (known < -1).any():
        raise ConfigError(f"fixed heads must be {n} numbers from -1 (free) to the length of their sentence")
    rows = sentences[:-1] + np.arange(len(sentences) - 1)
    fixed = np.zeros((n + len(sentences), G_WIDTH), dtype=np.int32)
    row_of = np.zeros(n + 1, dtype=np.int64)
    for offset, row, length in zip(sentences[:-1].tolist(), rows.tolist(), lengths.tolist(), strict=True):
        if length:
            row_of[offset] = row
            fill_gold(known, free, offset, length, fixed[row:])
    ruled_out: list[tuple[int, int]] = []
    for sentence, head, dependent in forbidden:
        if not (0 <= sentence < len(lengths) and 0 <= head <= lengths[sentence] >= dependent >= 1):
            raise ConfigError(f"forbidden arc {(sentence, head, dependent)}: no such sentence or no such words in it")
        ruled_out.append((int(sentences[sentence]) + dependent - 1, head))
    ruled_out.sort()
    counts = np.bincount([word for word, _ in ruled_out], minlength=n) if n else np.zeros(0, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Constraints(fixed, row_of, starts, np.array([head for _, head in ruled_out], dtype=np.int32))


@kernel
def allowed_moves(
    system: System, state: Table, candidate: int, single_root: bool, constraints: Constraints | None, offset: int
) -> int:
    """The moves of a candidate that are legal and keep to the constraints as well as any move of the configuration.

    With None for constraints, what prices moves is not even compiled.
    """
    moves = legal(system, state, candidate, single_root)
    if constraints is None:
        return moves
    least = 1 << 30
    other = 0
    while other >= 0:
        known = legal(system, state, other, single_root)
        for move in range(_N_MOVES):
            if (known >> move) & 1:
                least = min(least, _violations(system, state, other, move, constraints, offset))
        other = following(system, state, other)
    kept = 0
    for move in range(_N_MOVES):
        if (moves >> move) & 1 and _violations(system, state, candidate, move, constraints, offset) == least:
            kept |= 1 << move
    return kept


@kernel
def _violations(system: System, state: Table, candidate: int, move: int, constraints: Constraints, offset: int) -> int:
    """Fixed heads that a move puts out of reach, and one for building a forbidden arc."""
    count = 1024 * cost(system, state, constraints.fixed[constraints.row_of[offset] :], candidate, move)
    head, dependent = arc(system, state, candidate, move)
    if dependent > 0:
        word = offset + dependent - 1
        for k in range(constraints.starts[word], constraints.starts[word + 1]):
            if constraints.heads[k] == head:
                count += 1
    return count
