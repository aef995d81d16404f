"""Components, the steps of a pipeline, which read and add layers of documents; and the base of trainable ones."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self, TypeVar

from weft.errors import ConfigError, DataError, WeftError
from weft.pipeline.explanation import Explanation
from weft.pipeline.settings import Settings
from weft.pipeline.windows import annotate_within_limits
from weft.storage import Arrays
from weft.text.doc import Doc
from weft.text.split import with_words

State = tuple[dict[str, Any], Arrays]
Part = TypeVar("Part")


@dataclass(frozen=True)
class Asked:
    """What a call asks for besides the best answer: its probabilities, and the `kbest` best answers per sentence.

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
    may be called from several threads at a time. Subclasses that can give the probabilities of their decisions, or the
    k best answers for a sentence, set `gives_probabilities` and `gives_kbest`; those that can explain their decisions
    set `explains` and define `_explain`.

    Sentences longer than `longest`, and sentences whose work would take too much memory (`weft.budget`), are annotated
    in windows: see `weft.pipeline.windows`.
    """

    task: ClassVar[str]
    requires: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    #: Layers of another model that this component is meant to replace.
    rewrites: ClassVar[tuple[str, ...]] = ()
    gives_probabilities: ClassVar[bool] = False
    gives_kbest: ClassVar[bool] = False
    #: Whether `explain` can give the reasons for decisions.
    explains: ClassVar[bool] = False
    #: The MISC key under which documents hold heads that this component reads.
    head_key: str = ""

    def __call__(self, docs: Sequence[Doc], *, probabilities: bool = False, kbest: int = 0) -> None:
        """Annotate documents in place.

        With `probabilities`, `doc.confidence` holds the probability of each decision; with `kbest`,
        `doc.meta["alternatives"]` holds that many best answers per sentence.
        """
        if probabilities and not self.gives_probabilities:
            raise ConfigError(f"{self.task} gives no probabilities")
        if kbest and not self.gives_kbest:
            raise ConfigError(f"{self.task} gives no alternatives")
        annotate_within_limits(self, docs, Asked(probabilities, kbest))

    def longest(self, asked: Asked) -> int:
        """The longest sentence, in words, that is annotated in one piece; 0 if any is, as the work grows linearly."""
        return 0

    @abstractmethod
    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        """Annotate documents in place; add what is asked for if this component supports it."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Create an untrained component from the names and values of its settings."""
        if options:
            raise ConfigError(f"{cls.task} has no settings, got {', '.join(options)}")
        return cls()

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on annotated documents and return a report; rule-based components cannot be trained."""
        raise ConfigError(f"{self.task} is rule-based and cannot be trained")

    def explain(self, doc: Doc, word: int) -> Explanation:
        """Why this component decided as it does for a word of a document that has the layers it requires."""
        if not self.explains:
            raise ConfigError(f"{self.task} cannot explain its decisions")
        if not 0 <= word < doc.n_words:
            raise ConfigError(f"there is no word {word}; the document has {doc.n_words} words, counted from 0")
        missing = [layer for layer in self.requires if not doc.has(layer)]
        if missing:
            raise WeftError(f"{self.task} needs the layer {', '.join(missing)} to explain a word; annotate it first")
        return self._explain(doc, word)

    def _explain(self, doc: Doc, word: int) -> Explanation:
        """The explanation, for a component that gives one."""
        raise NotImplementedError

    @abstractmethod
    def state(self) -> State:
        """The contents of a model file: a JSON header and arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Component:
        """Restore a component from its state."""


class Trainable(Component):
    """A trainable component; a subclass names its settings and adds `fit`, `annotate`, `state` and `from_state`.

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
    #: Settings that concern the machine of a training run, not the model: they are not saved with it.
    unsaved: ClassVar[tuple[str, ...]] = ("workers",)

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings if settings is not None else self.settings_class()
        self.settings.check()

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(cls.settings_class.from_options(options))

    @abstractmethod
    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on annotated documents and return a report; dev data selects between models, or is scored."""

    def trained(self, part: Part | None) -> Part:
        """A part of the trained model; raises an error if `fit` was not called."""
        if part is None:
            raise WeftError(f"the component {self.task!r} is not trained yet: call fit, or load a model")
        return part

    def saved_settings(self) -> dict[str, Any]:
        """The settings to store in a model file."""
        return {name: value for name, value in asdict(self.settings).items() if name not in self.unsaved}


def training_docs(docs: Iterable[Doc]) -> list[Doc]:
    """The training documents that have words; raw text is split by rule, and an error is raised if there are no words.

    >>> [doc.n_words for doc in training_docs([Doc("Dogs bark."), Doc("")])]
    [3]
    """
    kept = with_words(docs)
    if not kept:
        raise DataError("there is nothing to train on: the data has no words")
    return kept


class Stopwatch:
    """Measures the time of a training run from the moment it is created.

    >>> sorted(Stopwatch().seconds())
    ['cpu_seconds', 'seconds']
    """

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def seconds(self) -> dict[str, float]:
        """The CPU time of all threads and the elapsed time so far, as in training reports."""
        return {
            "cpu_seconds": round(time.process_time() - self._cpu, 2),
            "seconds": round(time.perf_counter() - self._wall, 2),
        }
