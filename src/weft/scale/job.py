"""What is done to every document, wherever it is done: models, formats and options as plain values.

A job can be sent to another process or machine; two runs whose jobs are equal write the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline
    from weft.text.doc import Doc


@dataclass(frozen=True)
class Job:
    """The models to use in order, with their digests; what to read and write; what to add beside the best answer."""

    models: tuple[str, ...]
    digests: tuple[str, ...]
    to_format: str
    from_format: str | None = None
    fields: str | None = None
    encoding: str = "utf-8"
    probabilities: bool = False
    kbest: int = 0

    def __post_init__(self) -> None:
        check_alternatives(self.to_format, self.kbest)

    def settings(self) -> dict[str, Any]:
        """What the bytes that are written depend on; the names of model files are not among it."""
        values = {name: value for name, value in asdict(self).items() if name != "models"}
        return {**values, "digests": list(self.digests)}

    def call_options(self) -> dict[str, Any]:
        """Options of a call of the pipeline."""
        return {"probabilities": self.probabilities, "kbest": self.kbest}

    def read_options(self) -> dict[str, Any]:
        """Options of `weft.formats.read`."""
        return {"encoding": self.encoding, **({"fields": self.fields} if self.fields else {})}


@lru_cache(maxsize=2)
def pipeline_of(job: Job) -> Pipeline:
    """The pipeline of a job, loaded once a process and shared by its threads."""
    return load_models(job.models)


def load_models(names: Sequence[str | os.PathLike[str]]) -> Pipeline:
    """The components of all models in order, as one pipeline."""
    import weft

    return weft.load(*names)


def output_format(nlp: Pipeline, read: str, out: str | os.PathLike[str] | None, wanted: str | None) -> str:
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
    from weft.text.conventions.misc_spans import WRITTEN

    if format == "plain":
        return False
    if format == "streusle":
        return layer in ("tokens", "sentences", "lemma", "upos", "spans/mwe")
    return format != "conllu" or not layer.startswith("spans/") or layer.removeprefix("spans/") in WRITTEN


def write_options(to_format: str, read: Iterable[str]) -> dict[str, Any]:
    """CoNLL-U keeps the comments it came with, or their lack; from elsewhere it gets those it should have.

    >>> write_options("conllu", ["plain"]), write_options("conllu", ["conllu"])
    ({'comments': 'add'}, {})
    """
    return {"comments": "add"} if to_format == "conllu" and set(read) != {"conllu"} else {}


def fitted(docs: Iterable[Doc], to_format: str, kbest: int = 0) -> Iterator[Doc]:
    """The documents as a format can hold them: CoNLL-U has spans and probabilities in MISC, answers in comments."""
    check_alternatives(to_format, kbest)
    for doc in docs:
        fit(doc, to_format, kbest)
        yield doc


def check_alternatives(to_format: str, kbest: int) -> None:
    """Refuse a format that cannot hold the alternatives that are asked for."""
    if kbest and to_format not in ("jsonl", "conllu", "columns"):
        raise ConfigError(f"the format {to_format} cannot hold alternatives; write jsonl or conllu")


def fit(doc: Doc, to_format: str, kbest: int = 0) -> None:
    """Move what a format has no place for to where it has one, in place."""
    from weft.tasks.labelling.alternatives import as_comments
    from weft.text.conventions.misc_spans import misc_of_confidence, misc_of_layers

    if to_format == "conllu":
        misc_of_layers(doc)
    if to_format == "conllu" and doc.confidence:
        misc_of_confidence(doc)
    if kbest and to_format != "jsonl":
        as_comments(doc)
