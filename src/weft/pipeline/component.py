"""Components: the steps of a pipeline, which read layers of documents and add layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from weft.errors import ConfigError
from weft.storage import Arrays
from weft.text.doc import Doc

State = tuple[dict[str, Any], Arrays]


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
