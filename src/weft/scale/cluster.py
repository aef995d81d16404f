"""Process bundles of shards on a Dask cluster: the same work as on this machine, sent to its workers.

Workers must have Weft installed and see models, inputs and the output folder under the same paths, as on a shared disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from weft.errors import ConfigError
from weft.scale.pool import TRIES, Bundle, Work, attempted
from weft.scale.work import Done

#: The number of bundles queued at the scheduler per thread of the cluster.
AHEAD = 3


def on_cluster(work: Work, bundles: Iterable[Bundle], address: str) -> Iterator[list[Done]]:
    """Distribute bundles among the workers of the cluster at this address; results come as they are ready.

    If a worker dies, Dask gives its bundle to another one.
    """
    client = _client(address)
    source = iter(bundles)
    owners: dict[str, Bundle] = {}

    def submit(count: int) -> list[Any]:
        futures = []
        for _ in range(count):
            bundle = next(source, None)
            if bundle is None:
                break
            future = client.submit(attempted, work, bundle, pure=False, retries=TRIES)
            owners[future.key] = bundle
            futures.append(future)
        return futures

    from distributed import as_completed

    try:
        queue = as_completed(submit(AHEAD * max(sum(client.nthreads().values()), 1)), loop=client.loop)
        for future in queue:
            bundle = owners.pop(future.key)
            error = future.exception()
            if error is None:
                yield future.result()
            else:
                yield [Done(shard.output, error=f"the cluster gave up on it: {error}") for shard in bundle]
            future.release()
            queue.update(submit(1))
    finally:
        client.close()


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("--cluster needs Dask; install it with: pip install 'weft[cluster]'") from None
    try:
        return Client(address, timeout="20s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConfigError(
            f"cannot reach a Dask scheduler at {address!r} ({error}); an address looks like tcp://host:8786"
        ) from None
