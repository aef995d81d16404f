"""Components and pipelines: ordered steps that read layers of documents and add layers."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar

from weft.errors import ConfigError, ModelError, WeftError
from weft.storage import Arrays
from weft.text.doc import Doc

State = tuple[dict[str, Any], Arrays]


class Component(ABC):
    """A step of a pipeline.

    `requires` and `provides` name layers as `Doc.has` does. A component annotates batches of documents in place; it
    may be called from several threads at a time.
    """

    task: ClassVar[str]
    requires: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()

    @abstractmethod
    def __call__(self, docs: Sequence[Doc]) -> None:
        """Annotate documents in place."""

    @abstractmethod
    def state(self) -> State:
        """What a model file keeps: a header for JSON, and arrays."""

    @classmethod
    @abstractmethod
    def of_state(cls, header: dict[str, Any], arrays: Arrays) -> Component:
        """The component that `state` described."""


class Pipeline:
    """Components in order, checked against each other.

    Text that is not yet split into words is split by rule before the first component.
    """

    def __init__(self, components: Sequence[Component], card: dict[str, Any] | None = None) -> None:
        self.components = list(components)
        self.card: dict[str, Any] = card if card is not None else {}
        self._check()

    def _check(self) -> None:
        """A component may not require what only a later one provides."""
        for i, component in enumerate(self.components):
            later = {layer for other in self.components[i + 1 :] for layer in other.provides}
            before = {layer for other in self.components[:i] for layer in other.provides}
            wrong = [layer for layer in component.requires if layer in later and layer not in before]
            if wrong:
                raise ConfigError(
                    f"component {component.task!r} requires {', '.join(wrong)}, which a later component provides; "
                    "put that one first"
                )

    def __call__(self, item: str | Doc) -> Doc:
        """Annotate one text or document."""
        doc = _doc(item)
        self.annotate([doc])
        return doc

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Annotate a batch of documents in place."""
        from weft.tasks.segment import split_by_rule

        for doc in docs:
            if not doc.n_words and doc.text.strip():
                split_by_rule(doc)
        filled = [doc for doc in docs if doc.n_words]
        for component in self.components:
            for doc in filled:
                missing = [layer for layer in component.requires if not doc.has(layer)]
                if missing:
                    name = f"document {doc.id!r}" if doc.id else "the document"
                    raise WeftError(
                        f"{component.task} needs the layer {', '.join(missing)}, which {name} does not have; "
                        "annotate it first or use a pipeline that does"
                    )
            if filled:
                component(filled)

    def pipe(
        self,
        items: Iterable[str | Doc],
        workers: int = 1,
        batch_words: int = 20_000,
        on_error: Callable[[Doc, WeftError], None] | None = None,
    ) -> Iterator[Doc]:
        """Annotate a stream in order and in bounded memory; `workers` threads share the weights.

        With `on_error`, a document that cannot be annotated is handed to it and left out.
        """
        if workers < 1:
            raise ConfigError(f"workers must be at least 1, got {workers}")
        batches = _batches(items, batch_words)
        if workers == 1:
            for batch in batches:
                yield from self._safely(batch, on_error)
            return
        running: deque[Future[list[Doc]]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            try:
                for batch in batches:
                    running.append(pool.submit(self._safely, batch, on_error))
                    if len(running) > 2 * workers:
                        yield from running.popleft().result()
                while running:
                    yield from running.popleft().result()
            finally:
                for future in running:
                    future.cancel()

    def _safely(self, batch: list[Doc], on_error: Callable[[Doc, WeftError], None] | None) -> list[Doc]:
        try:
            self.annotate(batch)
            return batch
        except WeftError:
            if on_error is None:
                raise
        done = []
        for doc in batch:
            try:
                self.annotate([doc])
                done.append(doc)
            except WeftError as error:
                on_error(doc, error)
        return done

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pipeline as one model file."""
        from weft import storage

        headers, arrays = [], {}
        for i, component in enumerate(self.components):
            header, own = component.state()
            headers.append({"task": component.task, **header})
            arrays.update({f"{i}/{name}": array for name, array in own.items()})
        storage.save(path, {**self.card, "components": headers}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """Read a model file. Components are those this version of Weft knows; nothing in the file is run."""
        from weft import storage
        from weft.tasks.registry import component_class

        header, arrays = storage.load(path)
        components = []
        entries = header.pop("components", None)
        if not isinstance(entries, list):
            raise ModelError(f"{path} is not a pipeline: its header names no components")
        for i, entry in enumerate(entries):
            own = {name.split("/", 1)[1]: array for name, array in arrays.items() if name.startswith(f"{i}/")}
            try:
                components.append(component_class(entry["task"]).of_state(entry, own))
            except (KeyError, TypeError, IndexError, ValueError) as error:
                raise ModelError(f"{path}: component {i + 1} is damaged or incomplete ({error!r})") from None
        return cls(components, {name: value for name, value in header.items() if name != "checksums"})

    def __repr__(self) -> str:
        return f"Pipeline({', '.join(component.task for component in self.components)})"


def _doc(item: str | Doc) -> Doc:
    return Doc(item) if isinstance(item, str) else item


def _batches(items: Iterable[str | Doc], batch_words: int) -> Iterator[list[Doc]]:
    batch: list[Doc] = []
    size = 0
    for item in items:
        doc = _doc(item)
        batch.append(doc)
        size += doc.n_words or len(doc.text) // 5 + 1
        if size >= batch_words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
