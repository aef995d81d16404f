"""`weft annotate FILE... --model MODEL...`: annotate text or documents, in order and in constant memory.

What was annotated is written even if the run ends early: an interruption or a bad input ends the stream, the writer
finishes its file, and only then the run says what happened.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Workers, console, print_json
from weft.cli.inputs import Encoding, Fields, FromFormat, Inputs, SkipBad, ToFormat, open_inputs, report_bad
from weft.errors import ConfigError, WeftError

if TYPE_CHECKING:
    from weft.pipeline import Pipeline
    from weft.text import Doc

#: The format for the eye; it can be printed but not read back.
SHOW = "show"
#: The span layer that CoNLL-U holds in its MISC column.
ENTITIES = "spans/entities"


def annotate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Files or folders to annotate; - is standard input.")
    ],
    model: Annotated[
        list[Path],
        typer.Option(
            "--model", "-m", metavar="MODEL", help="A model made by `weft train`; several are used in the order given."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write.", show_default="standard output")
    ] = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    to_format: ToFormat = None,
    show: Annotated[bool, typer.Option("--show", help="Print for the eye, in colour; the same as --to show.")] = False,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Add the probability of each label.")] = False,
    kbest: Annotated[
        int,
        typer.Option(
            "--kbest", metavar="N", min=0, help="Note the N best answers for every sentence, with their probabilities."
        ),
    ] = 0,
    skip_bad: SkipBad = False,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Annotate files with one model or several; documents keep their order, and memory does not grow with their number.

    With --json, documents go to --out and the figures of the run to standard output.
    """
    wanted = SHOW if show else to_format
    if as_json and (out is None or wanted == SHOW):
        raise ConfigError("--json prints the figures of the run on standard output; say with --out where documents go")
    nlp = load_models(model)
    if probabilities:
        _ask(nlp, "probabilities", True)
    if kbest:
        _ask(nlp, "alternatives", kbest)
    inputs = open_inputs(files, from_format, skip_bad, fields, encoding)
    chosen = wanted if wanted == SHOW else output_format(nlp, inputs.formats[0], out, wanted)
    run = Run(nlp, inputs, workers)
    with run.interruptible():
        if chosen == SHOW:
            _show(run)
        else:
            _write(_fitted(run, nlp, chosen, kbest), out, chosen, inputs.formats)
    report_bad(inputs)
    if as_json:
        print_json(run.figures())
    run.end()


def load_models(paths: Sequence[Path]) -> Pipeline:
    """The components of all models in order, as one pipeline."""
    from weft.pipeline import Pipeline

    pipelines = [Pipeline.load(path) for path in paths]
    if len(pipelines) == 1:
        return pipelines[0]
    return Pipeline([component for pipeline in pipelines for component in pipeline.components])


def output_format(nlp: Pipeline, read: str, out: Path | None, wanted: str | None) -> str:
    """The format to write: the one asked for, else that of the file's name, else the one read.

    A format that cannot hold what the model finds is refused if it was asked for, and replaced by JSONL if not.
    """
    from weft.formats import detect

    named = wanted or (detect(out) if out is not None else None)
    provided = [layer for component in nlp.components for layer in component.provides]
    lost = [layer for layer in provided if not _holds(named or read, layer)]
    if named is None:
        return "jsonl" if lost or read in ("brat", "parquet") else read
    if lost:
        raise ConfigError(
            f"the format {named} cannot hold {', '.join(lost)}, which this model finds; use jsonl or columns"
        )
    return named


def _holds(format: str, layer: str) -> bool:
    if format == "plain":
        return False
    if format == "streusle":
        return layer in ("tokens", "sentences", "lemma", "upos", "spans/mwe")
    return format != "conllu" or not layer.startswith("spans/") or layer == ENTITIES


def _write(docs: Iterable[Doc], out: Path | None, format: str, read: Sequence[str]) -> None:
    from weft.formats import write

    # CoNLL-U keeps the comments it came with, or their lack; from elsewhere it gets those it should have.
    options = {"comments": "add"} if format == "conllu" and set(read) != {"conllu"} else {}
    write(docs, "-" if out is None else out, format, **options)


class Run:
    """The annotated stream: counts what passes, and ends early where it must without losing what is done."""

    def __init__(self, nlp: Pipeline, inputs: Inputs, workers: int) -> None:
        self.nlp, self.inputs, self.workers = nlp, inputs, workers
        self.documents = self.sentences = self.words = 0
        self.seconds = 0.0
        self.interrupted = False
        self.error: WeftError | None = None

    def __iter__(self) -> Iterator[Doc]:
        import time

        from weft.progress import progress

        start = time.perf_counter()
        faulty = self._leave_out if self.inputs.skip_bad else None
        with progress("annotating", unit="words") as bar:
            try:
                for doc in self.nlp.pipe(self._until_interrupted(), workers=self.workers, on_error=faulty):
                    yield doc
                    self.documents += 1
                    self.sentences += doc.n_sentences
                    self.words += doc.n_words
                    bar.advance(doc.n_words)
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
    from weft.cli.show import lines

    screen = console()
    for doc in docs:
        for line in lines(doc):
            screen.print(line, soft_wrap=True)


def _fitted(docs: Iterable[Doc], nlp: Pipeline, format: str, kbest: int) -> Iterator[Doc]:
    """The documents as a format can hold them: CoNLL-U has entities and probabilities in MISC, answers in comments."""
    from weft.tasks.alternatives import as_comments
    from weft.text.misc_spans import misc_of_confidence, misc_of_spans

    named = any(ENTITIES in component.provides for component in nlp.components)
    if kbest and format not in ("jsonl", "conllu", "columns"):
        raise ConfigError(f"the format {format} cannot hold alternatives; write jsonl or conllu")
    for doc in docs:
        if format == "conllu" and named and "entities" in doc.spans:
            misc_of_spans(doc, "entities")
        if format == "conllu" and doc.confidence:
            misc_of_confidence(doc)
        if kbest and format != "jsonl":
            as_comments(doc)
        yield doc


def _ask(nlp: Pipeline, what: str, value: Any) -> None:
    """Tell all components that can to note probabilities or alternatives."""
    able = [component for component in nlp.components if hasattr(component, what)]
    if not able:
        raise ConfigError(f"no component of this model gives {what}")
    for component in able:
        setattr(component, what, value)
