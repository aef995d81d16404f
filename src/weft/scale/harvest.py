"""Harvest files of any size: shards are annotated and counted in this process, in others, or on a Dask cluster.

A worker gets a bundle of shards and returns its counts, which are merged as they come. Counts are sums, so neither the
number of workers nor the order of their answers changes them. Memory holds the counts of a few bundles and what
`weft.lexical.harvest.counts` keeps of the whole.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from weft.errors import DataError, WeftError
from weft.formats import Report, read
from weft.lexical.harvest.counts import MOST, Row
from weft.lexical.harvest.harvest import NEEDED, Harvest
from weft.scale.cluster import connected_client
from weft.scale.job import load_models
from weft.scale.shards import Shard, bundles, plan

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline
    from weft.text.doc import Doc

#: Bytes of text per bundle.
BUNDLE_BYTES = 4_000_000
#: Bundles that a Dask cluster has at a time, per thread.
AHEAD = 2


@dataclass(frozen=True)
class HarvestJob:
    """What is done to every bundle: the models that annotate raw text, and how files are read."""

    models: tuple[str, ...]
    format: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    skip_bad: bool = False


@dataclass
class Gathered:
    """The counts of a bundle, and what could not be read."""

    counts: dict[str, list[Row]]
    sentences: int
    n_bytes: int
    left_out: int = 0
    messages: list[str] = field(default_factory=list)


def harvest_files(
    paths: Sequence[str | os.PathLike[str]],
    job: HarvestJob,
    *,
    most: int = MOST,
    workers: int = 1,
    scheduler: str | None = None,
    report: Report | None = None,
    watch: Callable[[int, int], None] = lambda done, total: None,
    bundle_bytes: int = BUNDLE_BYTES,
) -> Harvest:
    """The harvest of files and folders; `watch` is told the bytes done and of all files."""
    options = dict(job.options)
    shards = plan(
        paths, "jsonl", job.format, options.get("encoding", "utf-8"), bundle_bytes, options.get("text_column")
    )
    total, done = sum(shard.n_bytes for shard in shards), 0
    work = list(bundles(shards, bundle_bytes))
    if scheduler is not None:
        results = _on_cluster(job, work, scheduler)
    elif workers > 1 and len(work) > 1:
        results = _in_processes(job, work, workers)
    else:
        results = (harvest_bundle(job, bundle) for bundle in work)
    harvest = Harvest(most)
    for gathered in results:
        for kind, rows in gathered.counts.items():
            harvest.counts[kind].merge(rows)
        harvest.sentences += gathered.sentences
        if report is not None:
            report.count += gathered.left_out
            report.messages += gathered.messages
        done += gathered.n_bytes
        watch(done, total)
    return harvest


def harvest_bundle(job: HarvestJob, shards: Sequence[Shard]) -> Gathered:
    """Annotate and count the documents of some shards; documents that are annotated are taken as they are."""
    report, harvest = Report(), Harvest()
    for shard in shards:
        docs = read(shard.source(), shard.format, skip_bad=job.skip_bad, report=report, **dict(job.options))
        for doc in _annotated(job, docs):
            if doc.n_words:
                harvest.add(doc)
    counts = {kind: list(own) for kind, own in harvest.counts.items()}
    size = sum(shard.n_bytes for shard in shards)
    gathered = Gathered(counts, harvest.sentences, size, report.count, list(report.messages))
    harvest.close()
    return gathered


def _annotated(job: HarvestJob, docs: Iterable[Doc]) -> Iterator[Doc]:
    """The documents, those without tags and lemmas after the models; neighbours go through them together."""
    raw: list[Doc] = []
    size = 0
    for doc in docs:
        if all(doc.has(layer) for layer in NEEDED):
            yield doc
            continue
        raw.append(doc)
        size += len(doc.text)
        if size > 500_000:
            yield from _pipeline(job.models).pipe(raw)
            raw, size = [], 0
    if raw:
        yield from _pipeline(job.models).pipe(raw)


@lru_cache(maxsize=2)
def _pipeline(models: tuple[str, ...]) -> Pipeline:
    return load_models(models)


def _in_processes(job: HarvestJob, work: Sequence[Sequence[Shard]], workers: int) -> Iterator[Gathered]:
    context = multiprocessing.get_context("spawn")
    waiting: deque[Any] = deque()
    source = iter(work)
    with ProcessPoolExecutor(min(workers, len(work)), context) as pool:
        try:
            waiting.extend(pool.submit(harvest_bundle, job, bundle) for bundle in islice(source, 2 * workers))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(harvest_bundle, job, bundle) for bundle in islice(source, 1))
        except BrokenProcessPool as error:
            raise DataError("a process that harvests text died; it may need more memory than is available") from error
        finally:
            for future in waiting:
                future.cancel()


def _on_cluster(job: HarvestJob, work: Sequence[Sequence[Shard]], scheduler: str) -> Iterator[Gathered]:
    """Send bundles to the workers of a Dask cluster, which must see the files under the same paths."""
    client = connected_client(scheduler)
    try:
        source = iter(work)
        ahead = AHEAD * max(sum(client.nthreads().values()), 1)
        waiting = deque(_submitted(client, job, islice(source, ahead)))
        while waiting:
            future = waiting.popleft()
            try:
                gathered = future.result()
            except WeftError:
                raise
            except Exception as error:
                raise DataError(f"the Dask cluster gave up on a part of the text: {error}") from error
            yield gathered
            future.release()
            waiting.extend(_submitted(client, job, islice(source, 1)))
    finally:
        client.close()


def _submitted(client: Any, job: HarvestJob, work: Iterable[Sequence[Shard]]) -> list[Any]:
    return [client.submit(harvest_bundle, job, bundle, pure=False, retries=2) for bundle in work]
