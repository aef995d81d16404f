"""`weft annotate FILE... --model MODEL...`: annotate text or documents, in order and in constant memory.

Into one file or standard output, what was annotated is written even if the run ends early: an interruption or a bad
input ends the stream, the writer finishes its file, and only then the run says what happened. Into a folder, the work
is done in shards (`weft.scale`), and the next run goes on where this one ended.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, console, counted, print_json
from weft.cli.inputs import (
    Encoding,
    Fields,
    FromFormat,
    Inputs,
    SkipBad,
    ToFormat,
    open_inputs,
    report_bad,
    show_left_out,
)
from weft.errors import ConfigError, WeftError
from weft.pipeline import models
from weft.scale.job import Job, fitted, load_models, output_format, write_options

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline
    from weft.text import Doc

#: The format for the eye; it can be printed but not read back.
SHOW = "show"
#: The exit code of a run that is finished but for some documents.
LEFT_OUT = 3


def annotate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Files or folders to annotate; - is standard input.")
    ],
    model: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="A model by name or file, as `weft train` makes them; several are used in the order given.",
            show_default=models.DEFAULT,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            help="File to write, or a folder (ends in /) of one file an input, which can be gone on with later.",
            show_default="standard output",
        ),
    ] = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    to_format: ToFormat = None,
    show: Annotated[bool, typer.Option("--show", help="Print for the eye, in colour; the same as --to show.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "--marginals", help="Add the probability of each label and head.")
    ] = False,
    kbest: Annotated[
        int,
        typer.Option(
            "--kbest", metavar="N", min=0, help="Note the N best answers for every sentence, with their probabilities."
        ),
    ] = 0,
    skip_bad: SkipBad = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Threads to work with; into a folder, processes.")
    ] = 1,
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers do the work.")
    ] = None,
    shard_size: Annotated[
        float, typer.Option("--shard-size", metavar="MB", min=0.001, help="Where larger files are cut, for a folder.")
    ] = 1.0,
    as_json: JsonFlag = False,
) -> None:
    """Annotate files with one model or several; documents keep their order, and memory does not grow with their number.

    Into a folder, a bad document is left out and the run goes on; it then ends with the exit code 3.
    With --json, documents go to --out and the figures of the run to standard output.
    """
    wanted = SHOW if show else to_format
    if as_json and (out is None or wanted == SHOW):
        raise ConfigError("--json prints the figures of the run on standard output; say with --out where documents go")
    chosen_models = [models.find(name) for name in model or [Path(models.DEFAULT)]]
    nlp = load_models(chosen_models)
    nlp.check_asked(probabilities, kbest)
    if out is not None and (out.endswith(os.sep) or os.path.isdir(out)) and wanted not in (SHOW, "brat"):
        job = _job(nlp, files, chosen_models, wanted, from_format, fields, encoding, probabilities, kbest)
        _into_folder(out, files, job, workers, cluster, shard_size, skip_bad, as_json)
        return
    if cluster is not None:
        raise ConfigError("--cluster writes one file a shard: name a folder to write to, --out FOLDER/")
    inputs = open_inputs(files, from_format, skip_bad, fields, encoding)
    chosen = wanted if wanted == SHOW else output_format(nlp, inputs.formats[0], out, wanted)
    run = Run(nlp, inputs, workers, probabilities, kbest)
    with run.interruptible():
        if chosen == SHOW:
            _show(run)
        else:
            _write(fitted(run, chosen, kbest), out, chosen, inputs.formats)
    report_bad(inputs)
    if as_json:
        print_json(run.figures())
    run.end()


def _job(
    nlp: Pipeline,
    files: Sequence[Path],
    models: Sequence[Path],
    wanted: str | None,
    from_format: str | None,
    fields: str | None,
    encoding: str,
    probabilities: bool,
    kbest: int,
) -> Job:
    from weft.formats import detect, expand
    from weft.storage import digest

    read = from_format or detect(expand(files, from_format)[0])
    paths = tuple(str(path.absolute()) for path in models)
    chosen = output_format(nlp, read, None, wanted)
    digests = tuple(digest(path) for path in paths)
    return Job(paths, digests, chosen, from_format, fields, encoding, probabilities, kbest)


def _into_folder(
    out: str,
    files: Sequence[Path],
    job: Job,
    workers: int,
    cluster: str | None,
    shard_size: float,
    skip_bad: bool,
    as_json: bool,
) -> None:
    from weft.scale.run import annotate_into

    done = annotate_into(out, files, job, workers=workers, cluster=cluster, shard_bytes=round(shard_size * 1e6))
    show_left_out(done.report)
    if as_json:
        print_json(done.figures())
    else:
        written = done.shards - done.finished_before - done.failed
        before = f", {done.finished_before:,} finished before" if done.finished_before else ""
        speed = f", {done.figures()['words_per_second']:,} words a second" if done.words else ""
        typer.echo(f"{counted(written, 'file')} written{before}: {counted(done.words, 'word')}{speed}", err=True)
    if done.report.count or done.failed:
        failed = f", {counted(done.failed, 'file')} not written" if done.failed else ""
        typer.echo(f"weft: {counted(done.report.count, 'piece')} left out{failed}", err=True)
        if done.failed or not skip_bad:
            raise typer.Exit(LEFT_OUT)


def _write(docs: Iterable[Doc], out: str | None, format: str, read: Sequence[str]) -> None:
    from weft.formats import write

    write(docs, "-" if out is None else out, format, **write_options(format, read))


class Run:
    """The annotated stream: counts what passes, and ends early where it must without losing what is done."""

    def __init__(
        self, nlp: Pipeline, inputs: Inputs, workers: int, probabilities: bool = False, kbest: int = 0
    ) -> None:
        self.nlp, self.inputs = nlp, inputs
        self.options: dict[str, Any] = {"workers": workers, "probabilities": probabilities, "kbest": kbest}
        self.documents = self.sentences = self.words = 0
        self.seconds = 0.0
        self.interrupted = False
        self.error: WeftError | None = None

    def __iter__(self) -> Iterator[Doc]:
        import time

        from weft.progress import progress

        start, advanced = time.perf_counter(), 0
        faulty = self._leave_out if self.inputs.skip_bad else None
        size = self.inputs.size
        with progress("annotating", size and size / 1000, unit="words" if size is None else "kB") as bar:
            try:
                for doc in self.nlp.pipe(self._until_interrupted(), on_error=faulty, **self.options):
                    yield doc
                    self.documents += 1
                    self.sentences += doc.n_sentences
                    self.words += doc.n_words
                    seen = self.inputs.read
                    bar.advance(doc.n_words if size is None else (seen - advanced) / 1000)
                    advanced = seen
                    if size is not None:
                        bar.note(f"{self.words / (time.perf_counter() - start):,.0f} words/s")
            except WeftError as error:
                self.error = error
        self.seconds = time.perf_counter() - start

    def interruptible(self) -> _Interruptible:
        """While this runs, the first Ctrl-C ends the stream and the second one the program."""
        return _Interruptible(self)

    def figures(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            "words": self.words,
            "left_out": self.inputs.report.count,
            "seconds": round(self.seconds, 3),
            "words_per_second": round(self.words / self.seconds) if self.seconds else 0,
        }

    def end(self) -> None:
        """Say why the run ended early, if it did."""
        if self.error is not None:
            raise self.error
        if self.interrupted:
            raise KeyboardInterrupt

    def _until_interrupted(self) -> Iterator[Doc]:
        """The input up to an interruption or a bad piece, so that what was read before it is still annotated."""
        try:
            for doc in self.inputs.docs:
                if self.interrupted:
                    return
                yield doc
        except WeftError as error:
            self.error = error

    def _leave_out(self, doc: Doc, error: WeftError) -> None:
        self.inputs.report.add(error)


class _Interruptible:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.before: Any = None

    def __enter__(self) -> None:
        self.before = signal.signal(signal.SIGINT, self._note)

    def __exit__(self, *exception: object) -> None:
        signal.signal(signal.SIGINT, self.before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.run.interrupted:
            raise KeyboardInterrupt
        self.run.interrupted = True


def _show(docs: Iterable[Doc]) -> None:
    from weft.cli.apply.show import lines

    screen = console()
    for doc in docs:
        for line in lines(doc):
            screen.print(line, soft_wrap=True)
