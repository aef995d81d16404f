"""The same work on many groups of sentences: in this process, in others, or on a Dask cluster, with the same results.

Work is a callable that can be pickled; groups do not depend on the number of workers, and their results come back in
order, so sums of them are the same to the last bit.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from weft.errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")
_work: Callable[[Any], Any] | None = None


def mapped(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int = 1, client: Any = None
) -> Iterator[Result]:
    """The result of work on every item, in order; `client` is one of Dask, in place of processes.

    >>> list(mapped(len, ["a", "bb"]))
    [1, 2]
    """
    if workers < 1:
        raise ConfigError(f"workers must be at least 1, got {workers}")
    if client is not None:
        shared = client.scatter(work, broadcast=True)
        yield from client.gather([client.submit(_call, shared, item, pure=False) for item in items])
    elif workers == 1 or len(items) < 2:
        yield from map(work, items)
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(workers, len(items)), context, _keep, (work,)) as pool:
            yield from pool.map(_kept, items)


def groups(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Items in groups of one size, the last one smaller.

    >>> groups([1, 2, 3], 2)
    [[1, 2], [3]]
    """
    return [items[start : start + size] for start in range(0, len(items), size)]


def _call(work: Callable[[Item], Result], item: Item) -> Result:
    return work(item)


def _keep(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work


def _kept(item: Any) -> Any:
    assert _work is not None
    return _work(item)
