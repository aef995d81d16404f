"""Annotate files into a folder: plan the shards, skip finished ones, distribute the rest, record what is done."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from weft import __version__
from weft.errors import ConfigError
from weft.formats import Report
from weft.formats.doors import unread_files
from weft.progress import progress
from weft.scale.cluster import on_cluster
from weft.scale.files import check_places, make_folders, remove_parts
from weft.scale.job import Job
from weft.scale.manifest import Manifest
from weft.scale.pool import Bundle, Work, in_processes, in_this_process
from weft.scale.shards import SHARD_BYTES, Shard, bundles, may_be_output, plan
from weft.scale.work import Done, annotate_bundle


@dataclass
class Summary:
    """The result of a run. Skipped documents are counted over the whole folder, including earlier runs."""

    shards: int = 0
    finished_before: int = 0
    documents: int = 0
    sentences: int = 0
    words: int = 0
    failed: int = 0  #: shards without an output, which the next run will retry
    written: int = 0  #: files that this run wrote
    unread: list[str] = field(default_factory=list)  #: files in input folders whose suffix is unknown
    manifest: str = ""  #: the file that lists everything
    seconds: float = 0.0
    report: Report = field(default_factory=Report)

    def figures(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        names = ("shards", "finished_before", "failed", "written", "documents", "sentences", "words", "unread")
        return {
            **{name: getattr(self, name) for name in names},
            "left_out": self.report.count,
            "read_as": {encoding: len(files) for encoding, files in self.report.read_as.items()},
            "seconds": round(self.seconds, 3),
            "words_per_second": round(self.words / self.seconds) if self.seconds else 0,
        }

    def note(self, done: Done, name: str) -> None:
        """Count what was skipped in a shard, whose input has this name."""
        self.report.count += done.left_out
        if done.read_as:
            self.report.read_as.setdefault(done.read_as, []).append(name)
        room = self.report.keep - len(self.report.messages)
        self.report.messages += done.messages[: max(room, 0)]


def annotate_into(
    folder: str | os.PathLike[str],
    paths: Sequence[str | os.PathLike[str]],
    job: Job,
    *,
    workers: int = 1,
    cluster: str | None = None,
    shard_bytes: int = SHARD_BYTES,
) -> Summary:
    """Annotate files, folders and globs into a folder with one file per shard.

    A second run with the same job does only what is unfinished: it compares the contents of inputs and outputs with
    the digests in the manifest. `workers` processes on this machine do the work, or
    the Dask cluster at the address `cluster`; the output is the same.
    """
    if job.to_format == "brat":
        raise ConfigError("brat output is itself a folder of files; annotate with --to jsonl, then convert")
    folder = Path(folder)
    settings = {"weft": __version__, "shard_bytes": shard_bytes, **job.settings()}
    with Manifest(folder, settings) as manifest:
        shards = plan(paths, job.to_format, job.from_format, job.encoding, shard_bytes, job.text_column)
        outputs = [shard.output for shard in shards]
        check_places(folder, outputs)
        manifest.claim(outputs)
        _remove_outdated(shards, job.to_format, manifest)
        remove_parts(folder, outputs)
        finished = _finished(shards, manifest)
        waiting = [shard for shard in shards if shard.output not in finished]
        summary = Summary(len(shards), len(finished), manifest=str(manifest.path))
        summary.unread = [] if job.from_format else unread_files(paths)
        for entry in (manifest.finished[output] for output in finished):
            counted = {name: entry.get(name, "") for name in ("left_out", "messages", "read_as")}
            summary.note(Done(entry["output"], **counted), entry["input"])
        make_folders(folder, [shard.output for shard in waiting])
        try:
            _work_off(folder, waiting, job, manifest, summary, workers, cluster, shard_bytes)
        finally:
            remove_parts(folder, [shard.output for shard in waiting])
    return summary


def _work_off(
    folder: Path,
    waiting: Sequence[Shard],
    job: Job,
    manifest: Manifest,
    summary: Summary,
    workers: int,
    cluster: str | None,
    shard_bytes: int,
) -> None:
    work = partial(annotate_bundle, job, str(folder if cluster is None else folder.absolute()))
    # Bundles of small files are small enough that every worker gets several of them.
    total = sum(shard.n_bytes for shard in waiting)
    groups = list(bundles(waiting, max(1, min(shard_bytes, total // (4 * workers)))))
    by_output = {shard.output: shard for shard in waiting}
    begin = time.perf_counter()
    with progress("annotating", total=total / 1000, unit="kB") as bar:
        for done in _results(work, groups, workers, cluster):
            shard = by_output[done.output]
            if done.error:
                summary.failed += 1
                summary.report.messages.append(f"{shard.name}: {done.error}")
            else:
                manifest.add(shard, done)
                summary.note(done, shard.name)
                summary.written += done.output_bytes > 0
                summary.documents += done.documents
                summary.sentences += done.sentences
                summary.words += done.words
            bar.advance(shard.n_bytes / 1000)
            seconds = time.perf_counter() - begin
            left_out = f", {summary.report.count:,} left out" if summary.report.count else ""
            bar.note(f"{summary.words / seconds:,.0f} words/s{left_out}")
    summary.seconds = time.perf_counter() - begin


def _results(work: Work, groups: Sequence[Bundle], workers: int, cluster: str | None) -> Iterator[Done]:
    if not groups:
        return iter(())
    if cluster is not None:
        return on_cluster(work, groups, cluster)
    if workers == 1:
        return in_this_process(work, groups)
    return in_processes(work, groups, min(workers, len(groups)))


def _finished(shards: Sequence[Shard], manifest: Manifest) -> dict[str, None]:
    """The outputs that need not be made again, in order."""
    finished: dict[str, None] = {}
    known = [shard for shard in shards if shard.output in manifest.finished]
    with progress("checking finished files", total=sum(shard.n_bytes for shard in known) / 1000, unit="kB") as bar:
        for shard in known:
            if manifest.is_finished(shard):
                finished[shard.output] = None
            bar.advance(shard.n_bytes / 1000)
    return finished


def _remove_outdated(shards: Sequence[Shard], to_format: str, manifest: Manifest) -> None:
    """Remove outputs of earlier runs for inputs that are cut otherwise now; files that were edited since stay."""
    planned = {shard.output for shard in shards}
    inputs = {shard.name for shard in shards}
    outdated = [
        output
        for output, entry in manifest.finished.items()
        if output not in planned and entry["input"] in inputs and may_be_output(output, entry["input"], to_format)
    ]
    check_places(manifest.folder, outdated)
    for output in outdated:
        if manifest.is_unchanged(output):
            (manifest.folder / output).unlink(missing_ok=True)
