"""Components: the steps of a pipeline, which read and add layers of documents; and what those that learn share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self, TypeVar

from weft.errors import ConfigError, DataError, WeftError
from weft.pipeline.settings import Settings
from weft.storage import Arrays
from weft.text.doc import Doc
from weft.text.split import with_words

State = tuple[dict[str, Any], Arrays]
Part = TypeVar("Part")


@dataclass(frozen=True)
class Asked:
    """What a call asks for beside the best answer: its probabilities, and the `kbest` best answers per sentence.

    >>> Asked(kbest=3)
    Asked(probabilities=False, kbest=3)
    """

    probabilities: bool = False
    kbest: int = 0

    def __post_init__(self) -> None:
        if self.kbest < 0:
            raise ConfigError(f"kbest must be at least 0, got {self.kbest}")


class Component(ABC):
    """A step of a pipeline.

    `requires` and `provides` name layers as `Doc.has` does. A component annotates batches of documents in place; it
    may be called from several threads at a time. Subclasses that can tell the probabilities of their decisions, or the
    k best answers for a sentence, say so in `gives_probabilities` and `gives_kbest`.
    """

    task: ClassVar[str]
    requires: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    gives_probabilities: ClassVar[bool] = False
    gives_kbest: ClassVar[bool] = False

    def __call__(self, docs: Sequence[Doc], *, probabilities: bool = False, kbest: int = 0) -> None:
        """Annotate documents in place.

        With `probabilities`, `doc.confidence` tells how probable each decision is; with `kbest`,
        `doc.meta["alternatives"]` holds so many of the best answers for every sentence.
        """
        if probabilities and not self.gives_probabilities:
            raise ConfigError(f"{self.task} gives no probabilities")
        if kbest and not self.gives_kbest:
            raise ConfigError(f"{self.task} gives no alternatives")
        self.annotate(docs, Asked(probabilities, kbest))

    @abstractmethod
    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        """Annotate documents in place, with what is asked for as far as this component gives it."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """A component to be trained, from the names and values of its settings."""
        if options:
            raise ConfigError(f"{cls.task} has no settings, got {', '.join(options)}")
        return cls()

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Learn from annotated documents and tell how it went; components that follow rules have nothing to learn."""
        raise ConfigError(f"{self.task} works by rule and cannot be trained")

    @abstractmethod
    def state(self) -> State:
        """What a model file keeps: a header for JSON, and arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Component:
        """The component that `state` described."""


class Trainable(Component):
    """A component that learns; a subclass names its settings and adds `fit`, `annotate`, `state` and `from_state`.

    >>> from weft.tasks.tagging.tagger import Tagger
    >>> Tagger.from_options({"epochs": 3}).settings.epochs
    3
    >>> Tagger()([Doc.from_words([["dogs", "bark"]])])
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: the component 'tagger' is not trained yet: call fit, or load a model
    """

    settings_class: type[Settings]
    settings: Any
    #: Settings that belong to the machine of a training run, not to the model: they are not saved with it.
    unsaved: ClassVar[tuple[str, ...]] = ("workers",)

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings if settings is not None else self.settings_class()
        self.settings.check()

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(cls.settings_class.from_options(options))

    @abstractmethod
    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Learn from annotated documents and tell how it went; dev data choose between models, or are scored."""

    def trained(self, part: Part | None) -> Part:
        """A part of the model that `fit` makes; an error says so where it was not called."""
        if part is None:
            raise WeftError(f"the component {self.task!r} is not trained yet: call fit, or load a model")
        return part

    def saved_settings(self) -> dict[str, Any]:
        """The settings as a model file keeps them."""
        return {name: value for name, value in asdict(self.settings).items() if name not in self.unsaved}


def training_docs(docs: Iterable[Doc]) -> list[Doc]:
    """The documents with words, to learn from; raw text is split by rule, and no words at all are an error.

    >>> [doc.n_words for doc in training_docs([Doc("Dogs bark."), Doc("")])]
    [3]
    """
    kept = with_words(docs)
    if not kept:
        raise DataError("there is nothing to train on: no words were found")
    return kept


class Stopwatch:
    """Measures a training run from the moment it is made.

    >>> sorted(Stopwatch().seconds())
    ['cpu_seconds', 'seconds']
    """

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def seconds(self) -> dict[str, float]:
        """The time of all threads and the time on the clock so far, as reports of training tell them."""
        return {
            "cpu_seconds": round(time.process_time() - self._cpu, 2),
            "seconds": round(time.perf_counter() - self._wall, 2),
        }
