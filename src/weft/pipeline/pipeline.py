"""Pipelines: sequences of components that annotate single texts or streams, stored in one model file."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from weft.deadline import Stopped
from weft.declared import Stored
from weft.errors import ConfigError, ModelError, WeftError
from weft.garbage import uncollected
from weft.headers import Record, Table, Text
from weft.memory import return_free_memory
from weft.pipeline.component import Asked, Component
from weft.pipeline.tables import put_back, take_out
from weft.text.corpus import batched
from weft.text.doc import Doc
from weft.text.strings import StringTable

OnError = Callable[[Doc, WeftError], None]
#: Texts share a string table up to this size, so that components look up each string once, not once per batch. A
#: document that stays in memory keeps its table.
STRINGS = 20_000
_OWN = ("version", "task", "checksums")  # header fields that `save` adds to the card
_ENTRY = Record(task=Text()).with_optional(settings=Table())
#: Renamed settings, by their old names, so that older model files still load.
_RENAMED = {
    "delexicalised": "delexicalized",
    "lexicalised": "lexicalized",
    "optimiser": "optimizer",
    "standardise": "standardize",
    "cluster": "scheduler",
    "transfer-parser rounds": "adapt_iterations",
    "ner rounds": "self_train",
    "ner round_epochs": "retrain_epochs",
    "ner round_iterations": "retrain_iterations",
    "graph-tagger rounds": "self_train",
    "graph-tagger sweeps": "propagation_iterations",
    "graph-tagger retraining": "retrain_iterations",
    "induced-tagger method": "objective",
    "induced-parser method": "objective",
    "induced-parser model": "valence",
    "sentiment method": "learning",
    "polarity method": "learning",
    "weak-tagger model": "learner",
}
#: A document and its error, if any.
Outcome = tuple[Doc, WeftError | None]


class Pipeline:
    """A sequence of components whose required layers are checked.

    The pipeline's segmenter splits raw text into words; without one, rules do.
    """

    def __init__(self, components: Sequence[Component], card: dict[str, Any] | None = None) -> None:
        self.components = list(components)
        self.card: dict[str, Any] = card if card is not None else {}
        self._strings = StringTable()
        self._check()

    def _check(self) -> None:
        """Raise an error if a component requires a layer that only a later one provides."""
        for i, component in enumerate(self.components):
            later = {layer for other in self.components[i + 1 :] for layer in other.provides}
            before = {layer for other in self.components[:i] for layer in other.provides}
            wrong = [layer for layer in component.requires if layer in later and layer not in before]
            if wrong:
                raise ConfigError(
                    f"component {component.task!r} requires {', '.join(wrong)}, which a later component provides; "
                    "put that one first"
                )

    @property
    def gives_probabilities(self) -> bool:
        """Whether a component can give probabilities of its decisions."""
        return any(component.gives_probabilities for component in self.components)

    @property
    def gives_kbest(self) -> bool:
        """Whether a component can give the k best answers for a sentence."""
        return any(component.gives_kbest for component in self.components)

    def check_asked(self, probabilities: bool = False, kbest: int = 0) -> None:
        """Raise an error if no component gives what is asked for."""
        if probabilities and not self.gives_probabilities:
            raise ConfigError("no component of this model gives probabilities")
        if kbest and not self.gives_kbest:
            raise ConfigError("no component of this model gives alternatives")

    def __call__(self, item: str | Doc, *, probabilities: bool = False, kbest: int = 0) -> Doc:
        """Annotate one text or document; see `annotate` for `probabilities` and `kbest`."""
        doc = self._document(item)
        self.annotate([doc], probabilities=probabilities, kbest=kbest)
        return doc

    def _document(self, item: str | Doc) -> Doc:
        """A document unchanged, or a text as a document that uses the pipeline's string table."""
        if isinstance(item, Doc):
            return item
        if not isinstance(item, str):
            raise ConfigError(f"a pipeline annotates a text or a document, got {_what(item)}")
        if len(self._strings) > STRINGS:
            self._strings = StringTable()
            return_free_memory()  # what components kept for the old table's strings
        return Doc(item, self._strings)

    def annotate(self, docs: Sequence[Doc], *, probabilities: bool = False, kbest: int = 0) -> None:
        """Annotate a batch of documents in place; a segmenter skips documents that already have words.

        With `probabilities`, `doc.confidence` holds the probabilities of decisions; with `kbest`,
        `doc.meta["alternatives"]` holds that many best answers per sentence, by task. Components that give neither
        just annotate.
        """
        self.check_asked(probabilities, kbest)
        raw = [doc for doc in docs if not doc.n_words and doc.text.strip()]
        if raw and not any("tokens" in component.provides for component in self.components):
            from weft.text.split import split_by_rule

            for doc in raw:
                split_by_rule(doc)
        provided: set[str] = set()
        for component in self.components:
            own = raw if "tokens" in component.provides else [doc for doc in docs if doc.n_words]
            _check_layers(component, own, provided)
            provided.update(component.provides)
            if own:
                component(
                    own,
                    probabilities=probabilities and component.gives_probabilities,
                    kbest=kbest if component.gives_kbest else 0,
                )

    def pipe(
        self,
        items: Iterable[str | Doc],
        workers: int = 1,
        batch_words: int = 10_000,
        on_error: OnError | None = None,
        *,
        probabilities: bool = False,
        kbest: int = 0,
    ) -> Iterator[Doc]:
        """Annotate a stream in order and in bounded memory; `workers` threads share the weights.

        At most 2 `workers` + 1 batches of about `batch_words` words are read ahead. A document that cannot be annotated
        raises its error when its turn comes; with `on_error`, it is passed to that function, in order, and left out.
        See `annotate` for `probabilities` and `kbest`.
        """
        if workers < 1:
            raise ConfigError(f"workers must be at least 1, got {workers}")
        if isinstance(items, str | bytes | Doc):
            raise ConfigError("pipe takes several texts or documents; for one, call the pipeline itself: nlp(text)")
        self.check_asked(probabilities, kbest)
        asked = Asked(probabilities, kbest)
        batches = batched(map(self._document, items), batch_words)
        if workers == 1:
            for batch in batches:
                yield from self._done(self._outcomes(batch, asked), on_error)
            return
        running: deque[Future[list[Outcome]]] = deque()
        with ThreadPoolExecutor(workers, "weft") as pool:
            try:
                for batch in batches:
                    running.append(pool.submit(self._outcomes, batch, asked))
                    if len(running) > 2 * workers:
                        yield from self._done(running.popleft().result(), on_error)
                while running:
                    yield from self._done(running.popleft().result(), on_error)
            finally:
                for future in running:
                    future.cancel()

    def _outcomes(self, batch: list[Doc], asked: Asked) -> list[Outcome]:
        """Annotate a batch; if that fails, annotate its documents one by one to isolate the faulty ones."""
        try:
            self.annotate(batch, probabilities=asked.probabilities, kbest=asked.kbest)
            return [(doc, None) for doc in batch]
        except Stopped:
            raise
        except WeftError:
            return [(doc, self._fault(doc, asked)) for doc in batch]

    def _fault(self, doc: Doc, asked: Asked) -> WeftError | None:
        try:
            self(doc, probabilities=asked.probabilities, kbest=asked.kbest)
        except WeftError as error:
            return error
        return None

    @staticmethod
    def _done(outcomes: list[Outcome], on_error: OnError | None) -> Iterator[Doc]:
        for doc, fault in outcomes:
            if fault is None:
                yield doc
            elif on_error is None:
                raise fault
            else:
                on_error(doc, fault)

    def save(self, path: str | os.PathLike[str], pack: bool = False) -> None:
        """Write the pipeline to one model file; with `pack`, the file is smaller but takes a little longer to load.

        The times in the training report are left out: the same training gives the same bytes.
        """
        from weft import storage

        headers, arrays = [], {}
        for i, component in enumerate(self.components):
            header, own = component.state()
            headers.append({"task": component.task, **header})
            arrays.update({f"{i}/{name}": array for name, array in own.items()})
        tasks = ", ".join(component.task for component in self.components)
        card = {name: _untimed(value) if name == "training" else value for name, value in self.card.items()}
        short, tables = take_out(headers)
        version = {"version": storage.VERSION} if tables else {}
        storage.save(path, {**version, "task": tasks, **card, "components": short}, arrays | tables, pack)

    @classmethod
    @uncollected()
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """Read a model file. It may only name components known to this version of Weft; no code in the file is run."""
        from weft import storage
        from weft.pipeline.registry import component_class

        header, arrays = storage.load(path)
        components = []
        entries = header.pop("components", None)
        if not isinstance(entries, list):
            raise ModelError(f"{path} is not a pipeline: its header names no components")
        stored = Stored.of(arrays)
        try:
            entries = put_back(entries, stored)
        except WeftError as error:
            raise ModelError(f"{path}: {error}") from None
        for i, entry in enumerate(entries):
            try:
                _ENTRY.check(entry)
                if "settings" in entry:
                    entry["settings"] = _renamed(entry["task"], entry["settings"])
                components.append(component_class(entry["task"]).from_state(entry, stored.under(f"{i}/")))
            except WeftError as error:
                raise ModelError(f"{path}: component {i + 1}: {error}") from None
            except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
                raise ModelError(f"{path}: component {i + 1} is damaged or incomplete ({error!r})") from None
            except MemoryError:
                raise ModelError(f"{path}: component {i + 1} needs more memory than there is") from None
        try:
            stored.refuse_rest()
            return cls(components, {name: value for name, value in header.items() if name not in _OWN})
        except WeftError as error:
            raise ModelError(f"{path}: {error}") from None

    def __repr__(self) -> str:
        return f"Pipeline({', '.join(component.task for component in self.components)})"


def _what(item: Any) -> str:
    """Something that is neither a text nor a document, and what to do about it.

    >>> _what(["A b.", "C d."])
    'list; for several texts use nlp.pipe(texts)'
    """
    if item is None:
        return "None; check where the text comes from, an empty text is ''"
    kind = type(item).__name__
    if isinstance(item, bytes):
        return "bytes; decode them first: data.decode('utf-8')"
    if isinstance(item, os.PathLike):
        return f"{kind}; read files first: nlp.pipe(weft.read(path))"
    return f"{kind}; for several texts use nlp.pipe(texts)" if isinstance(item, Iterable) else f"{kind}; give a string"


def _untimed(report: Any) -> Any:
    """A training report without the times that a `Stopwatch` measured, which differ from run to run.

    >>> _untimed({"words": 4, "seconds": 0.2, "stages": [{"cpu_seconds": 0.1, "epochs": 2}]})
    {'words': 4, 'stages': [{'epochs': 2}]}
    """
    if isinstance(report, list | tuple):
        return [_untimed(value) for value in report]
    if not isinstance(report, dict):
        return report
    return {name: _untimed(value) for name, value in report.items() if name not in ("seconds", "cpu_seconds")}


def _renamed(task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under their current names; some were renamed in one kind of component only."""
    return {_RENAMED.get(f"{task} {name}", _RENAMED.get(name, name)): value for name, value in settings.items()}


def _check_layers(component: Component, docs: Sequence[Doc], provided: Set[str]) -> None:
    """Refuse documents without the layers that a component requires and no earlier component provides."""
    required = [layer for layer in component.requires if layer not in provided]
    for doc in docs if required else ():
        missing = [layer for layer in required if not doc.has(layer)]
        if missing:
            name = f"document {doc.id!r}" if doc.id else "the document"
            raise WeftError(
                f"{component.task} needs the layer {', '.join(missing)}, which {name} does not have; "
                "annotate it first or use a pipeline that does"
            )
