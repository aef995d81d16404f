"""The same work on fixed parts of the data, round after round: in this process, in several, or on a Dask cluster.

Parts do not depend on how many workers there are, and answers come in the order of the parts, so that sums over them
are the same number for number wherever they are computed.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Any, Self

from weft.errors import WeftError

Work = Callable[[Any, Any], Any]
_parts: list[Any] = []


class Rounds:
    """Calls `work(part, message)` for every part; use it as a context, so that processes end with it.

    >>> with Rounds(max, [3, 8]) as rounds:
    ...     rounds(5), rounds(9)
    ([5, 8], [9, 9])
    """

    def __init__(self, work: Work, parts: Sequence[Any], workers: int = 1, client: Any = None) -> None:
        self.work, self.parts, self.workers, self.client = work, parts, min(workers, len(parts)), client
        self._pool: ProcessPoolExecutor | None = None
        self._sent: list[Any] = []

    def __enter__(self) -> Self:
        if self.client is not None:
            self._sent = [self.client.scatter(part, hash=False) for part in self.parts]
        elif self.workers > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, _keep, (list(self.parts),))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._pool, self._sent = None, []

    def __call__(self, message: Any, first: int | None = None) -> list[Any]:
        """The answers to a message, in the order of the parts: of all, or of the first ones."""
        count = len(self.parts) if first is None else first
        if self.client is not None:
            asked = [self.client.submit(self.work, part, message, pure=False, retries=2) for part in self._sent[:count]]
            try:
                return [future.result() for future in asked]
            except WeftError:
                raise
            except Exception as error:
                raise WeftError(f"the Dask cluster gave up on a part of the data: {error}") from error
        if self._pool is not None:
            running = [self._pool.submit(_answer, self.work, number, message) for number in range(count)]
            try:
                return [future.result() for future in running]
            except BrokenProcessPool as error:
                raise WeftError("a worker process died; it may need more memory than is available") from error
        return [self.work(part, message) for part in self.parts[:count]]


def _keep(parts: list[Any]) -> None:
    """Hold the parts in a worker process."""
    _parts[:] = parts


def _answer(work: Work, number: int, message: Any) -> Any:
    return work(_parts[number], message)
