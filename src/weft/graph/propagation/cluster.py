"""Rounds on a Dask cluster: every worker holds a block of rows; a round moves only the rows that other blocks read."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.graph.propagation.sweeps import Rows, State, Watch


def sweeps_on_cluster(
    rows: Rows, state: State, iterations: int, tolerance: float, client: Any, watch: Watch | None
) -> State:
    """The state after so many rounds, in which all vertices are updated together."""
    n = len(state[0])
    names = sorted(client.scheduler_info(n_workers=-1)["workers"])
    bounds = np.linspace(0, n, min(len(names), max(1, n)) + 1).astype(np.int64)
    spans = list(pairwise(bounds.tolist()))
    blocks, pieces, wanted = [], [], []
    for (lo, hi), name in zip(spans, names, strict=False):
        block, outside = rows.part(lo, hi)
        blocks.append(client.scatter(block, workers=[name], hash=False))
        pieces.append(client.scatter(tuple(array[lo:hi] for array in state), workers=[name], hash=False))
        wanted.append([outside[(outside >= a) & (outside < b)] - a for a, b in spans])
    for done in range(iterations):
        swept = [
            client.submit(
                _sweep_part, block, pieces[i],
                *[client.submit(_read, pieces[j], read, pure=False) for j, read in enumerate(wanted[i])],
                workers=[names[i]], pure=False,
            )
            for i, block in enumerate(blocks)
        ]  # fmt: skip
        pieces = [
            client.submit(_first, each, workers=[name], pure=False) for each, name in zip(swept, names, strict=False)
        ]
        if watch is not None:
            now = _joined(client.gather(pieces))
            watch(done, now[0] if len(now) == 1 else now)
        if tolerance > 0:
            changes = client.gather([client.submit(_second, each, pure=False) for each in swept])
            if max(changes) <= tolerance:
                break
    return _joined(client.gather(pieces)) if iterations else state


def _joined(pieces: list[State]) -> State:
    return tuple(np.concatenate(arrays) for arrays in zip(*pieces, strict=True))


def _read(piece: State, rows: Ids) -> State:
    return tuple(array[rows] for array in piece)


def _first(pair: tuple[State, float]) -> State:
    return pair[0]


def _second(pair: tuple[State, float]) -> float:
    return pair[1]


def _sweep_part(block: Rows, piece: State, *outside: State) -> tuple[State, float]:
    # What comes over the wire may be read-only, for which the kernel would be compiled anew.
    arrays = {each.name: getattr(block, each.name) for each in fields(block)}
    own: dict[str, Any] = {name: _writable(part) for name, part in arrays.items() if isinstance(part, np.ndarray)}
    into = tuple(np.empty_like(array) for array in piece)
    read = tuple(_writable(np.concatenate(parts)) for parts in zip(piece, *outside, strict=True))
    change = replace(block, **own).update(np.arange(len(piece[0]), dtype=np.int32), read, into)
    return into, change


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    return np.require(array, requirements=["C", "W"])
