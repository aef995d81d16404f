"""The work on a bundle of shards: read, annotate, write, each shard into its own file.

All documents of a bundle go through the pipeline as one stream, as small batches are slow; what comes out is parted
again. A document that cannot be read, annotated or written is left out and counted. This is all that a worker runs,
whether it is this process, another one or another machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats import Report, read, write
from weft.pipeline.pipeline import Pipeline
from weft.scale.job import Job, fit, pipeline_of, write_options
from weft.scale.shards import Shard
from weft.text.doc import Doc


@dataclass
class Done:
    """What became of a shard; with an `error` it has no output."""

    output: str
    documents: int = 0
    sentences: int = 0
    words: int = 0
    left_out: int = 0
    messages: list[str] = field(default_factory=list)
    error: str = ""


def annotate_bundle(job: Job, folder: str, shards: Sequence[Shard]) -> list[Done]:
    """Annotate shards and write their files below a folder; the same call writes the same bytes again."""
    nlp = pipeline_of(job)
    try:
        return _Bundle(job, nlp, folder, shards).run()
    except OSError:
        raise
    except Exception:
        # A writer has met what its format cannot hold, or a component has a fault. Finding out with which document
        # costs a second pass, in which every document is tried on its own.
        return _Bundle(job, nlp, folder, shards, careful=True).run()


class _Bundle:
    def __init__(self, job: Job, nlp: Pipeline, folder: str, shards: Sequence[Shard], careful: bool = False) -> None:
        self.job, self.nlp, self.folder, self.shards, self.careful = job, nlp, folder, shards, careful
        self.reports = [Report(keep=5) for _ in shards]
        self.done = [Done(shard.output) for shard in shards]
        self.owners: deque[int] = deque()  # the shards of the documents that are in the pipeline, in order

    def run(self) -> list[Done]:
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
            options = write_options(self.job.to_format, [shard.format])
            if not done.error:
                path = os.path.join(self.folder, shard.output)
                write(from_shard(number), path, self.job.to_format, **options)
            done.left_out, done.messages = report.count, report.messages
        return self.done

    def _documents(self) -> Iterator[Doc]:
        options = self.job.read_options()
        for number, (shard, report) in enumerate(zip(self.shards, self.reports, strict=True)):
            try:
                for doc in read(shard.source(), shard.format, skip_bad=True, report=report, **options):
                    self.owners.append(number)
                    yield doc
            except FormatError as error:
                report.add(error)
            except WeftError as error:  # the file went away, or may not be read: another run may have more luck
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
        """Make a document fit for the format; in a careful pass, try whether it is."""
        if not self.careful:
            fit(doc, self.job.to_format, self.job.kbest)
            return True
        options: dict[str, Any] = write_options(self.job.to_format, [self.shards[number].format])
        try:
            fit(doc, self.job.to_format, self.job.kbest)
            write([doc], os.devnull, self.job.to_format, **options)
        except OSError:
            raise
        except Exception as error:
            self.reports[number].add(error)
            return False
        return True
