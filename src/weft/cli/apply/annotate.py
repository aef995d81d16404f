"""`weft annotate FILE... --model MODEL...`: annotate text or documents, in order and in constant memory.

An output file appears under its name only if all documents are in it; a run that ends early leaves an older one as it
was. On standard output, all annotated documents are written even if an interruption or a bad input ends the stream.
With an output folder, the work is done in shards (`weft.scale`), and an interrupted run resumes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.apply.explain import Explain, Words, check_explains, print_explanations
from weft.cli.apply.language import LanguageWatch
from weft.cli.apply.run import Run
from weft.cli.apply.texts import Text, check_given, open_given
from weft.cli.common import RUNNING, SETTINGS, JsonFlag, Models, Scheduler, Seed, console, counted, option, print_json
from weft.cli.inputs import (
    Inputs,
    Reading,
    Style,
    ToFormat,
    report_bad,
    show_left_out,
    show_read,
)
from weft.errors import ConfigError, WeftError
from weft.pipeline import models
from weft.pipeline.selection import Selection
from weft.scale.job import Job, fitted, load_models, output_format, write_options

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline
    from weft.text import Doc

#: The human-readable format; it can be printed but not read back.
SHOW = "show"
#: The format of sentiment: a label and a sentence per line.
LABELS = "labels"
#: The exit code of a run that finished except for some documents.
LEFT_OUT = 3
#: Help headings for options of particular kinds of models.
_SENTIMENT, _UTTERANCES, _TIMES = "Sentiment", "Utterances", "Time expressions"
PARTS = "Parts of models"


@dataclass(frozen=True)
class Output:
    """Where and how to write documents: the path, the requested format, and whether to print results as JSON."""

    path: str | None
    format: str | None
    as_json: bool

    @property
    def folder(self) -> bool:
        """Whether to write a folder with one file per input."""
        named = self.path is not None and (self.path.endswith(os.sep) or os.path.isdir(self.path))
        return named and self.format not in (SHOW, "brat")

    @property
    def shown(self) -> bool:
        """Whether to show documents in human-readable form: on request, or on a terminal."""
        return self.format == SHOW or (self.path is None and self.format is None and sys.stdout.isatty())

    @property
    def whole(self) -> bool:
        """Whether to write one file, which is complete or not there."""
        return self.path is not None and self.path != "-" and not self.shown and self.format != "brat"

    def chosen(self, nlp: Pipeline, read: str, layers: Sequence[str] = ()) -> str:
        """The output format: as requested or by suffix, else CoNLL-U, or JSONL if CoNLL-U cannot hold the layers."""
        if self.path is None or self.folder:
            usual = "conllu" if self.path is None or read == "plain" else read
            return output_format(nlp, usual, None, self.format, layers)
        return output_format(nlp, read, self.path, self.format, layers)


_FILES = typer.Argument(metavar="FILE", help="Files or folders to annotate; - is standard input.", show_default=False)
Files = Annotated[list[Path], _FILES]
Out = Annotated[
    str | None,
    option(
        "--out",
        "-o",
        metavar="PATH",
        shown="standard output",
        help="File to write, or a folder (ends in /) with one file per input; an interrupted run resumes.",
    ),
]
Probabilities = Annotated[
    bool, option("--probabilities", help="Add the probability of each label and head.", panel=SETTINGS)
]
Kbest = Annotated[
    int,
    option(
        "--kbest",
        metavar="N",
        min=0,
        panel=SETTINGS,
        help="Add the N best answers for every sentence, with their probabilities.",
    ),
]
KnownRatings = Annotated[
    bool, option("--known-ratings", panel=_SENTIMENT, help="Take the ratings of reviews as known.")
]
Together = Annotated[
    Path | None,
    option(
        "--together",
        metavar="FILE",
        help="A few labelled sentences; the files are labelled together with them, without a model. "
        "`weft annotate --together FILE --help` shows the options.",
    ),
]
Best = Annotated[
    bool, option("--best", panel=_UTTERANCES, help="Take the best parse of every sample, not one at random.")
]
ReferenceDate = Annotated[
    str | None,
    option(
        "--reference-date",
        metavar="YYYY-MM-DD",
        panel=_TIMES,
        shown="the document's date, else today's",
        help="When the text was written: what today, Friday or last week are counted from.",
    ),
]
Next = Annotated[
    str | None,
    option(
        "--next",
        metavar="following|calendar|nearest",
        panel=_TIMES,
        shown="as the model was trained",
        help="What next Tuesday means: the first to come, that of the next week, or the one after the nearest.",
    ),
]
Only = Annotated[
    list[str] | None,
    option("--only", metavar="TASK", panel=PARTS, help="Run this component and those it requires; repeat for several."),
]
Without = Annotated[
    list[str] | None,
    option("--without", metavar="TASK", panel=PARTS, help="Leave this component out; repeat for several."),
]
Layers = Annotated[
    list[str] | None,
    option("--layers", metavar="NAME", panel=PARTS, help="Annotate and write only this layer; repeat, or use commas."),
]
LayerAs = Annotated[
    list[str] | None,
    option("--layer-as", metavar="NAME", panel=PARTS, help="Name of a layer that an earlier model writes too; repeat."),
]
Workers = Annotated[
    int, option("--workers", panel=RUNNING, min=1, help="Number of threads; into a folder, of processes.")
]
ShardSize = Annotated[
    float,
    option("--shard-size", metavar="MB", panel=RUNNING, min=0.001, help="Split larger files, for a folder."),
]


def annotate(
    files: Annotated[list[Path] | None, _FILES] = None,
    text: Text = None,
    model: Models = None,
    out: Out = None,
    to_format: ToFormat = None,
    probabilities: Probabilities = False,
    kbest: Kbest = 0,
    explain: Explain = False,
    word: Words = None,
    known_ratings: KnownRatings = False,
    together: Together = None,
    style: Style = None,
    best: Best = False,
    reference_date: ReferenceDate = None,
    next_means: Next = None,
    only: Only = None,
    without: Without = None,
    layers: Layers = None,
    layer_as: LayerAs = None,
    reading: Reading = Reading(),
    workers: Workers = 1,
    scheduler: Scheduler = None,
    shard_size: ShardSize = 1.0,
    seed: Seed = 0,
    as_json: JsonFlag = False,
) -> None:
    """Annotate files or --text with one or several models, in order and in constant memory.

    On a terminal, trees and spans are shown; into a pipe or a file, CoNLL-U is written unless --to or the suffix says
    otherwise. Into a folder, a bad document is left out and the run continues; it then ends with exit code 3. With
    --json, documents go to --out and the results of the run to standard output.
    """
    output, files, text = Output(out, to_format, as_json), files or [], text or []
    check_given(files, text, output.folder)
    if style is not None:
        from weft.cli.apply.utterances import cut

        return cut(files, model or [], style, best, seed, output)
    if as_json and (out is None or to_format == SHOW) and not explain:
        raise ConfigError("--json prints the results of the run on standard output; give --out for the documents")
    selection = _selection((only, without, layers, layer_as), reference_date, next_means)
    nlp = load_models(model or [Path(models.DEFAULT)], selection)
    nlp.check_asked(probabilities, kbest)
    check_explains(nlp, explain, word, out)
    watch = _watch(model, nlp)
    if output.folder:
        job = _job(nlp, files, model, reading, output, probabilities, kbest, selection)
        _look(watch, files, reading)
        show_layers_read(nlp)
        return _into_folder(job, files, output, workers, scheduler, shard_size, reading.skip_bad)
    if scheduler is not None:
        raise ConfigError("--scheduler writes one file per shard: give a folder to write to, --out FOLDER/")
    inputs = _open(nlp, files, text, reading, known_ratings)
    run = Run(nlp, inputs, workers, probabilities, kbest, watch, whole=output.whole)
    if explain:
        print_explanations(nlp, run, word, as_json)
        return run.end()
    _into_one(run, output, known_ratings, kbest, selection.layers)


def _selection(parts: Iterable[list[str] | None], reference_date: str | None, next_means: str | None) -> Selection:
    """What of the models is used, and how times are counted."""
    only, without, layers, layer_as = (tuple(_listed(names)) for names in parts)
    return Selection(only, without, layers, layer_as, reference_date or "", next_means or "")


def _watch(model: Sequence[Path] | None, nlp: Pipeline) -> LanguageWatch:
    """Watches whether the text is in the language of the models."""
    names = [Path(name).stem for name in model or [Path(models.DEFAULT)]]
    return LanguageWatch(names, str(nlp.card.get("language", "")))


def _listed(names: Sequence[str] | None) -> list[str]:
    """Names given one by one or separated by commas.

    >>> _listed(["entities,chunks", "upos"])
    ['entities', 'chunks', 'upos']
    """
    return [name for several in names or () for name in several.split(",") if name]


def _open(nlp: Pipeline, files: Sequence[Path], texts: Sequence[str], reading: Reading, known_ratings: bool) -> Inputs:
    """The documents to annotate; for a model of sentiment, also those of reviews."""
    from weft.cli.apply import sentiment

    if sentiment.judges(nlp, known_ratings) and files and sentiment.are_reviews(files, reading):
        return sentiment.open_reviews(files, reading)
    return open_given(files, texts, reading)


def _into_one(run: Run, output: Output, known_ratings: bool, kbest: int, layers: Sequence[str]) -> None:
    """Annotate to one file, standard output or the terminal."""
    from weft.cli.apply import sentiment

    nlp, inputs = run.nlp, run.inputs
    judges = sentiment.judges(nlp, known_ratings)
    with run.interruptible():
        if judges and sentiment.wants_labels(output):
            sentiment.write_labels(run, output.path)
        elif output.shown:
            _show(fitted(run, "conllu", 0, layers) if layers else run)
        else:
            chosen = output.chosen(nlp, inputs.formats[0], layers)
            with _told(output):
                _write(fitted(run, chosen, kbest, layers), output.path, chosen, inputs.formats)
    report_bad(inputs)
    if run.documents:
        show_layers_read(nlp)
        show_reference(nlp, run.undated)
    if output.as_json:
        print_json(run.figures())
    run.end()


@contextmanager
def _told(output: Output) -> Iterator[None]:
    """Say that a run which ends early leaves no file behind."""
    try:
        yield
    except (WeftError, KeyboardInterrupt):
        if output.whole:
            typer.echo(f"nothing was written to {output.path}; a run into a folder, --out NAME/, resumes", err=True)
        raise


def show_layers_read(nlp: Pipeline) -> None:
    """Say on standard error which annotation of the input the model builds on."""
    from weft.pipeline.selection import layers_read

    read = layers_read(nlp)
    if read:
        typer.echo(f"read from the input, not predicted: {', '.join(read)}", err=True)


def show_reference(nlp: Pipeline, undated: int) -> None:
    """Say on standard error that time expressions of some documents were counted from today's date."""
    if undated and any(hasattr(component, "set_next") for component in nlp.components):
        typer.echo(
            f"{counted(undated, 'document')} without a date: times are counted from today's; give --reference-date",
            err=True,
        )


def _look(watch: LanguageWatch, files: Sequence[Path], reading: Reading) -> None:
    """Judge the language by the first documents; whatever is wrong with them is reported by the run."""
    from weft.formats import expand

    with suppress(WeftError, OSError):
        if watch.done or not all(os.path.isfile(file) for file in expand(files, reading.format)):
            return  # a pipe can be read only once
        for doc in reading.open(files).docs:
            watch.see(doc)
            if watch.done:
                return
    watch.end()


def _job(
    nlp: Pipeline,
    files: Sequence[Path],
    model: Sequence[Path] | None,
    reading: Reading,
    output: Output,
    probabilities: bool,
    kbest: int,
    selection: Selection,
) -> Job:
    from weft.formats import expand
    from weft.formats.doors import kind_of
    from weft.storage import digest

    read = kind_of(expand(files, reading.format)[0], reading.format, reading.text_column)
    paths = tuple(str(models.find(name).absolute()) for name in model or [Path(models.DEFAULT)])
    digests = tuple(digest(path) for path in paths)
    chosen = output.chosen(nlp, read, selection.layers)
    own = (reading.format, reading.fields, reading.encoding, probabilities, kbest)
    return Job(paths, digests, chosen, *own, reading.text_column, reading.strip_html, selection)


def _into_folder(
    job: Job,
    files: Sequence[Path],
    output: Output,
    workers: int,
    scheduler: str | None,
    shard_size: float,
    skip_bad: bool,
) -> None:
    from weft.scale.run import annotate_into

    assert output.path is not None
    done = annotate_into(
        output.path, files, job, workers=workers, cluster=scheduler, shard_bytes=round(shard_size * 1e6)
    )
    show_left_out(done.report, done.manifest)
    show_read(done.unread, done.report.read_as)
    if output.as_json:
        print_json(done.figures())
    else:
        before = f", {done.finished_before:,} finished before" if done.finished_before else ""
        speed = f", {done.figures()['words_per_second']:,} words per second" if done.words else ""
        typer.echo(f"{counted(done.written, 'file')} written{before}: {counted(done.words, 'word')}{speed}", err=True)
    if done.report.count or done.failed:
        failed = f"{counted(done.failed, 'file')} not written, " if done.failed else ""
        left_out = f"{failed}{counted(done.report.count, 'piece')} left out; listed in {done.manifest}"
        typer.echo(f"weft: {counted(done.written, 'file')} written, {left_out}", err=True)
        if done.failed or not skip_bad:
            raise typer.Exit(LEFT_OUT)


def _write(docs: Iterable[Doc], out: str | None, format: str, read: Sequence[str]) -> None:
    from weft.formats import write

    write(docs, "-" if out is None else out, format, **write_options(format, read))


def _show(docs: Iterable[Doc]) -> None:
    from weft.cli.apply.show import lines

    screen = console()
    for doc in docs:
        for line in lines(doc):
            screen.print(line, soft_wrap=True)
