"""Minimum label cover of a text in shards, held by processes of this machine or by workers of a Dask cluster.

Each round sends a few labels to all shards and adds up the counts that come back, then sends the label that won; shards
send the labels that are forced by it. What goes over the wire does not grow with the text, and the labels chosen are
those of `weft.learn.label_cover.cover.cover_labels`, in the same order.
"""

from __future__ import annotations

import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from weft.errors import ConfigError, WeftError
from weft.infer.chains.label_lists import LabelLists
from weft.learn.label_cover.cover import BATCH, LabelCover, greedy_cover
from weft.learn.label_cover.shards import LabelShard, TagSets, cut, padded
from weft.ragged import Indices, States


def cover_labels_in_shards(
    lists: LabelLists,
    shards: int,
    *,
    client: Any = None,
    weights: ArrayLike | None = None,
    seed: int = 0,
) -> LabelCover:
    """The label cover of a text cut into that many shards: a process each, or actors on workers of a Dask `client`."""
    if shards < 1:
        raise ConfigError(f"a text is cut into at least 1 shard, got {shards}")
    sets, of_type = TagSets.from_lists(lists)
    pieces = cut(padded(lists, of_type), sets.n_tags - 1, shards)
    with ProcessShards(sets, pieces) if client is None else DaskShards(sets, pieces, client) as text:
        return greedy_cover(text, weights=weights, seed=seed, batch=BATCH)


class _Shards(ABC):
    """Adds up what shards say; `ask` sends one call to all of them, and gives their answers in their order."""

    def __init__(self, size: int) -> None:
        self.size = size

    @abstractmethod
    def ask(self, name: str, *arguments: Any) -> list[Any]: ...

    def forced_labels(self) -> Indices:
        return _united(self.ask("forced_labels"))

    def all_counts(self) -> Indices:
        return _added(self.ask("all_counts"), self.size**2)

    def count(self, labels: Indices) -> Indices:
        return _added(self.ask("count", labels), len(labels))

    def apply(self, label: int, round: int, seed: int) -> Indices:
        return _united(self.ask("apply", label, round, seed))

    def tags(self) -> States:
        return np.concatenate([np.zeros(0, dtype=np.int32), *self.ask("tags")])


class ProcessShards(_Shards):
    """Shards in processes of this machine, which live as long as the block."""

    def __init__(self, sets: TagSets, pieces: Sequence[tuple[int, States]]) -> None:
        super().__init__(sets.n_tags)
        context = multiprocessing.get_context("spawn")
        self._workers: list[tuple[Any, Connection]] = []
        for first, tokens in pieces:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            ours.send((sets, tokens, first))
            self._workers.append((process, ours))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process, connection in self._workers:
            connection.close()
            process.join(5)
            if process.is_alive():
                process.terminate()

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        for _, connection in self._workers:
            connection.send((name, arguments))
        return [self._answer(connection) for _, connection in self._workers]

    @staticmethod
    def _answer(connection: Connection) -> Any:
        try:
            return connection.recv()
        except (EOFError, OSError):
            raise WeftError(
                "a process that held a shard of the text has died; it may need more memory than there is: use more "
                "shards on more machines (a Dask cluster), or less text"
            ) from None


class DaskShards(_Shards):
    """Shards as actors on the workers of a Dask cluster, shared out in turn; they go with the block."""

    def __init__(self, sets: TagSets, pieces: Sequence[tuple[int, States]], client: Any) -> None:
        super().__init__(sets.n_tags)
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise ConfigError("the Dask cluster has no workers to hold shards of the text")
        self._actors = [
            client.submit(LabelShard, sets, tokens, first, actor=True, pure=False, workers=[workers[k % len(workers)]])
            for k, (first, tokens) in enumerate(pieces)
        ]

    def __enter__(self) -> Self:
        self._actors = [future.result() for future in self._actors]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._actors = []

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        sent = [getattr(actor, name)(*arguments) for actor in self._actors]
        return [each.result() for each in sent]


def _serve(connection: Connection) -> None:
    """The life of a process: a shard in, then calls in and answers out until the other side goes."""
    try:
        shard = LabelShard(*connection.recv())
        while True:
            name, arguments = connection.recv()
            connection.send(getattr(shard, name)(*arguments))
    except (EOFError, OSError):
        return


def _added(parts: list[Indices], size: int) -> Indices:
    total: Indices = np.sum([np.zeros(size, dtype=np.int64), *parts], axis=0)
    return total


def _united(parts: list[Indices]) -> Indices:
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
