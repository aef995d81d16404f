"""Process a bundle of shards: read, annotate, write, each shard into its own file.

All documents of a bundle go through the pipeline as one stream, because small batches are slow; the output is split
again, and each file is reported as soon as it is on disk. A document that cannot be read, annotated or written is
skipped and counted; a shard without documents has no file. A worker runs only this, whether it is this process, another
one or another machine.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats import Report, read, write
from weft.pipeline.pipeline import Pipeline
from weft.scale.files import content_digest, sync_file, sync_folders
from weft.scale.job import Job, fit, pipeline_of, write_options
from weft.scale.shards import Shard
from weft.text.doc import Doc

#: What a shard's entry in the manifest keeps of messages about documents left out.
_MESSAGES = 100


@dataclass
class Done:
    """The result of a shard, whose output is on disk; with an `error`, or without documents, it has none."""

    output: str
    documents: int = 0
    sentences: int = 0
    words: int = 0
    left_out: int = 0
    messages: list[str] = field(default_factory=list)
    input_sha256: str = ""
    output_bytes: int = 0
    output_sha256: str = ""
    read_as: str = ""  #: the encoding of the input, if it was guessed
    error: str = ""


def annotate_bundle(job: Job, folder: str, shards: Sequence[Shard]) -> Iterator[Done]:
    """Annotate shards and write their files into a folder; the same call writes the same bytes again.

    Shards are reported in order, each when its file is complete.
    """
    nlp = pipeline_of(job)
    finished = 0
    try:
        for done in _Bundle(job, nlp, folder, shards).run():
            finished += 1
            yield done
    except OSError:
        raise
    except Exception:
        # A writer met something its format cannot represent, or a component has a bug. Finding the document takes a
        # second pass over the rest, in which every document is tried separately.
        yield from _Bundle(job, nlp, folder, shards[finished:], careful=True).run()


class _Bundle:
    def __init__(self, job: Job, nlp: Pipeline, folder: str, shards: Sequence[Shard], careful: bool = False) -> None:
        self.job, self.nlp, self.folder, self.shards, self.careful = job, nlp, folder, shards, careful
        self.reports = [Report(keep=_MESSAGES) for _ in shards]
        self.done = [Done(shard.output) for shard in shards]
        self.owners: deque[int] = deque()  # the shards of the documents in the pipeline, in order

    def run(self) -> Iterator[Done]:
        docs = self._documents()
        if self.careful:
            stream = self._one_by_one(docs)
        else:
            stream = self.nlp.pipe(docs, on_error=self._leave_out, **self.job.call_options())
        annotated = ((self.owners.popleft(), doc) for doc in stream)
        waiting = next(annotated, None)

        def from_shard(number: int) -> Iterator[Doc]:
            nonlocal waiting
            done = self.done[number]
            while waiting is not None and waiting[0] == number:
                doc = waiting[1]
                if self._is_writable(number, doc):
                    yield doc
                    done.documents += 1
                    done.sentences += doc.n_sentences
                    done.words += doc.n_words
                waiting = next(annotated, None)

        for number, (shard, done, report) in enumerate(zip(self.shards, self.done, self.reports, strict=True)):
            own = from_shard(number)
            first = next(own, None)
            if not done.error:
                self._write(shard, done, None if first is None else chain([first], own))
            done.left_out, done.messages = report.count, report.messages
            done.read_as = next(iter(report.read_as), "")
            yield done

    def _write(self, shard: Shard, done: Done, docs: Iterator[Doc] | None) -> None:
        """Write a file, wait until it is on disk, and note its digest; without documents there is no file."""
        path = os.path.join(self.folder, shard.output)
        if docs is None:
            with suppress(FileNotFoundError):
                os.unlink(path)
            done.output_sha256 = hashlib.sha256().hexdigest()
            return
        write(docs, path, self.job.to_format, **write_options(self.job.to_format, [shard.format]))
        sync_file(path)
        sync_folders([os.path.dirname(path)])
        done.output_bytes, done.output_sha256 = os.stat(path).st_size, content_digest(path)

    def _documents(self) -> Iterator[Doc]:
        options = self.job.read_options()
        for number, (shard, report) in enumerate(zip(self.shards, self.reports, strict=True)):
            try:
                # Before reading: if the input changes meanwhile, the next run notices.
                self.done[number].input_sha256 = content_digest(shard.path, shard.start, shard.end)
                for doc in read(shard.source(), shard.format, skip_bad=True, report=report, **options):
                    self.owners.append(number)
                    yield doc
            except FormatError as error:
                report.add(error)
            except WeftError as error:  # the file disappeared or cannot be read: a later run may succeed
                self.done[number].error = str(error)

    def _one_by_one(self, docs: Iterator[Doc]) -> Iterator[Doc]:
        for doc in docs:
            try:
                yield self.nlp(doc, **self.job.call_options())
            except WeftError as error:
                self._leave_out(doc, error)
            except Exception as error:
                name = repr(doc.id) if doc.id else f"that begins {doc.text[:40]!r}"
                said = f"the document {name} met a fault of Weft ({error!r}); please report it"
                self._leave_out(doc, WeftError(said))

    def _leave_out(self, doc: Doc, error: WeftError) -> None:
        self.reports[self.owners.popleft()].add(error)

    def _is_writable(self, number: int, doc: Doc) -> bool:
        """Prepare a document for the format; in a careful pass, test that it can be written."""
        if not self.careful:
            fit(doc, self.job.to_format, self.job.kbest, self.job.selection.layers)
            return True
        options: dict[str, Any] = write_options(self.job.to_format, [self.shards[number].format])
        try:
            fit(doc, self.job.to_format, self.job.kbest, self.job.selection.layers)
            write([doc], os.devnull, self.job.to_format, **options)
        except OSError:
            raise
        except Exception as error:
            self.reports[number].add(error)
            return False
        return True
