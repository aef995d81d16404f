"""Process bundles of shards on a Dask cluster: the same work as on this machine, sent to its workers.

Workers must have Weft installed and see models, inputs and the output folder under the same paths, as on a shared disk.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

from weft.errors import ConfigError, DataError
from weft.scale.job import WrongModel
from weft.scale.pool import TRIES, Bundle, Work, attempted
from weft.scale.work import Done

#: The number of bundles queued at the scheduler per thread of the cluster.
AHEAD = 3
#: Seconds to wait for the next event before looking for finished bundles.
PAUSE = 0.05


def on_cluster(work: Work, bundles: Iterable[Bundle], address: str) -> Iterator[Done]:
    """Distribute bundles among the workers of the cluster at this address; results come shard by shard: workers tell of
    each as an event, and the result of a bundle has those whose events were lost.

    If a worker dies, Dask gives its bundle to another one. If the scheduler dies, the run ends with an error and can be
    resumed.
    """
    with _quiet():
        client = _client(address)
        try:
            yield from _distribute(client, work, iter(bundles))
        except _lost_connection() as error:
            raise DataError(
                f"lost the Dask scheduler at {address} ({type(error).__name__}); finished files are in place: start "
                "the scheduler again, then run the same command again to resume"
            ) from error
        finally:
            client.close()


def _distribute(client: Any, work: Work, source: Iterator[Bundle]) -> Iterator[Done]:
    from distributed import as_completed

    owners: dict[str, Bundle] = {}
    reported: set[str] = set()
    events: SimpleQueue[Any] = SimpleQueue()
    topic = f"weft-{uuid.uuid4().hex}"
    client.subscribe_topic(topic, events.put)

    def submit(count: int) -> list[Any]:
        futures = []
        for bundle in islice(source, count):
            future = client.submit(_all_results, work, bundle, topic, pure=False, retries=TRIES)
            owners[future.key] = bundle
            futures.append(future)
        return futures

    def new(results: Iterable[Done]) -> Iterator[Done]:
        # A bundle is done anew if its worker dies: what was reported before is the same again.
        for done in results:
            if done.output not in reported:
                reported.add(done.output)
                yield done

    queue = as_completed(submit(AHEAD * max(sum(client.nthreads().values()), 1)), loop=client.loop)
    while owners:
        yield from new(_told(events))
        for future in queue.next_batch(block=False):
            bundle = owners.pop(future.key)
            error = None if future.cancelled() else future.exception()
            if error is None:
                yield from new(future.result())  # raises an error if the scheduler has cancelled it
            elif isinstance(error, WrongModel):
                raise error
            else:
                given_up = f"the cluster gave up on it: {error}"
                yield from new(Done(shard.output, error=given_up) for shard in bundle)
            future.release()
            queue.update(submit(1))
    client.unsubscribe_topic(topic)


def _told(events: SimpleQueue[Any]) -> Iterator[Done]:
    """What workers have told of since the last call; waits a moment if there is nothing."""
    wait = PAUSE
    while True:
        try:
            _, told = events.get(timeout=wait) if wait else events.get_nowait()
        except Empty:
            return
        yield Done(**told["done"])
        wait = 0.0


def _all_results(work: Work, bundle: Bundle, topic: str) -> list[Done]:
    """The results of a bundle; each is also told as soon as it is ready, except errors, which a retry may mend."""
    from distributed import get_worker

    worker, results = get_worker(), []
    for done in attempted(work, bundle):
        results.append(done)
        if not done.error:
            worker.log_event(topic, {"done": asdict(done)})
    return results


def _lost_connection() -> tuple[type[BaseException], ...]:
    """What Dask raises if its scheduler disappears."""
    from concurrent.futures import CancelledError

    from distributed.comm.core import CommClosedError

    return CancelledError, asyncio.CancelledError, CommClosedError, OSError, TimeoutError


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging tracebacks of lost connections; the run reports them in one line."""
    loggers = [logging.getLogger(f"distributed.{name}") for name in ("client", "core", "comm")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def connected_client(address: str) -> Any:
    """A client of the Dask scheduler at an address, for work in rounds; close it after use."""
    return _client(address)


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("--cluster needs Dask; install it with: pip install 'weft[cluster]'") from None
    try:
        return _connected(lambda: Client(address, timeout="20s", set_as_default=False))
    except (OSError, ValueError, TimeoutError) as error:
        raise ConfigError(
            f"cannot reach a Dask scheduler at {address!r} ({error}); an address looks like tcp://host:8786"
        ) from None


def _connected(connect: Callable[[], Any]) -> Any:
    """A client; Dask gives its thread ten seconds to start and fails an assertion if a busy machine takes longer."""
    for _ in range(TRIES):
        try:
            return connect()
        except AssertionError:
            continue
    raise TimeoutError("the machine is too busy to start Dask's client")
