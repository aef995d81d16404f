"""The stream of documents that `weft annotate` writes; it can be interrupted without losing finished work."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from weft.cli.inputs import Inputs
from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.cli.apply.language import LanguageWatch
    from weft.pipeline.pipeline import Pipeline
    from weft.text import Doc


class Run:
    """The annotated stream: counts documents, and ends early if necessary without losing finished work."""

    def __init__(
        self,
        nlp: Pipeline,
        inputs: Inputs,
        workers: int,
        probabilities: bool = False,
        kbest: int = 0,
        watch: LanguageWatch | None = None,
        whole: bool = False,
    ) -> None:
        self.nlp, self.inputs, self.watch = nlp, inputs, watch
        self.whole = whole  #: a run that ends early raises its error in the writer, which then leaves no file behind
        self.options: dict[str, Any] = {"workers": workers, "probabilities": probabilities, "kbest": kbest}
        self.documents = self.sentences = self.words = 0
        self.undated = 0  #: documents whose time expressions were counted from today's date
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
                    self.undated += any(timex.attributes.get("anchor_from") == "today" for timex in doc.times)
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
        if self.whole:
            self._raise()

    def interruptible(self) -> _Interruptible:
        """In this context, the first Ctrl-C ends the stream and the second one the program."""
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
        """Report that the text is in another language, if it is, and why the run ended early, if it did."""
        if self.watch is not None:
            self.watch.end()
        self._raise()

    def _raise(self) -> None:
        if self.error is not None:
            raise self.error
        if self.interrupted:
            raise KeyboardInterrupt

    def _until_interrupted(self) -> Iterator[Doc]:
        """The input up to an interruption or a bad document, so that everything before it is still annotated."""
        try:
            for doc in self.inputs.docs:
                if self.interrupted:
                    return
                if self.watch is not None:
                    self.watch.see(doc)
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
