"""What is done to every document, wherever it runs: models, formats and options as plain values.

A job can be sent to another process or machine; runs with equal jobs write the same bytes.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from weft.errors import ConfigError
from weft.pipeline.selection import Selection, keep_layers

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline
    from weft.text.doc import Doc

#: Formats that hold documents with their metadata.
_WHOLE = ("jsonl", "records")
#: Formats that consist of words.
_WORDS = ("conllu", "columns", "streusle", "penn", "mst")


@dataclass(frozen=True)
class Job:
    """The models to use, in order, with their digests; the formats; and extra output besides the best analysis."""

    models: tuple[str, ...]
    digests: tuple[str, ...]
    to_format: str
    from_format: str | None = None
    fields: str | None = None
    encoding: str = "utf-8"
    probabilities: bool = False
    kbest: int = 0
    text_column: str | None = None
    strip_html: bool = False
    selection: Selection = field(default_factory=Selection)

    def __post_init__(self) -> None:
        check_alternatives(self.to_format, self.kbest)

    def settings(self) -> dict[str, Any]:
        """The settings that determine the output bytes; the names of model files are not among them."""
        new = ("text_column", "strip_html", "selection")  # unknown to older manifests, so noted only if they are used
        default = [name for name in new if getattr(self, name) in (None, False, Selection())]
        values = {name: value for name, value in asdict(self).items() if name not in ("models", *default)}
        return {**values, "digests": list(self.digests)}

    def call_options(self) -> dict[str, Any]:
        """Options of a call of the pipeline."""
        return {"probabilities": self.probabilities, "kbest": self.kbest}

    def read_options(self) -> dict[str, Any]:
        """Options for `weft.formats.read`."""
        given = {"fields": self.fields, "text_column": self.text_column}
        named = {name: value for name, value in given.items() if value}
        return {"encoding": self.encoding, "strip_html": self.strip_html, **named}


class WrongModel(ConfigError):
    """A model that is not the one the run began with: the whole run must stop, not only a shard."""


@lru_cache(maxsize=2)
def pipeline_of(job: Job) -> Pipeline:
    """The pipeline of a job, loaded once per process and shared by its threads; a model with another digest is refused.

    A worker loads models by name, and the file may have been replaced since the run began, or be another one on the
    worker's machine.
    """
    from weft.pipeline import models
    from weft.storage import digest

    nlp = load_models(job.models, job.selection)
    for name, expected in zip(job.models, job.digests, strict=True):
        path = models.find(name)
        found = digest(path)
        if found != expected:
            raise WrongModel(
                f"{path} on {platform.node()} is not the model this run began with (digest {found}, expected "
                f"{expected}); put the same model there, then run the same command again to resume"
            )
    return nlp


def load_models(names: Sequence[str | os.PathLike[str]], selection: Selection = Selection()) -> Pipeline:
    """The selected components of all models in order, as one pipeline."""
    import weft

    return selection.of(weft.load(*names, layer_as=selection.layer_as))


def output_format(
    nlp: Pipeline, read: str, out: str | os.PathLike[str] | None, wanted: str | None, layers: Sequence[str] = ()
) -> str:
    """The output format: the one requested, else that of the file name, else the input format.

    A format that cannot represent the model's predictions, or the layers to keep of them, is rejected if requested,
    otherwise replaced by JSONL.
    """
    from weft.formats import detect

    named = wanted or (detect(out) if out is not None else None)
    provided = [layer for component in nlp.components for layer in component.provides]
    provided = [layer for layer in provided if not layers or layer.rpartition("/")[2] in layers]
    lost = [layer for layer in provided if not _holds(named or read, layer)]
    if named is None:
        return "jsonl" if lost or read in ("brat", "parquet", "csv") else read
    if lost:
        raise ConfigError(
            f"the format {named} cannot hold {', '.join(lost)}, which this model finds; use jsonl or columns"
        )
    return named


def _holds(format: str, layer: str) -> bool:
    from weft.text.conventions.coreference import LAYER as COREFERENCE
    from weft.text.conventions.misc_spans import WRITTEN
    from weft.text.frames import LAYER as FRAMES

    if format in ("plain", "csv"):
        return False
    if format == "streusle":
        return layer in ("tokens", "sentences", "lemma", "upos", "spans/mwe")
    if layer.removeprefix("spans/").removeprefix("clusters/") == COREFERENCE:
        return format not in ("columns", "penn", "mst", "bioscope", "penman", "roles")
    if layer.removeprefix("spans/").removeprefix("relations/") == FRAMES:
        return format not in ("columns", "penn", "mst", "bioscope")
    return format != "conllu" or not layer.startswith("spans/") or layer.removeprefix("spans/") in WRITTEN


def write_options(to_format: str, read: Iterable[str]) -> dict[str, Any]:
    """CoNLL-U input keeps its comments, or their absence; documents from other formats get the customary ones.

    >>> write_options("conllu", ["plain"]), write_options("conllu", ["conllu"])
    ({'comments': 'add'}, {})
    """
    return {"comments": "add"} if to_format == "conllu" and set(read) != {"conllu"} else {}


def fitted(docs: Iterable[Doc], to_format: str, kbest: int = 0, layers: Sequence[str] = ()) -> Iterator[Doc]:
    """The documents as a format represents them: CoNLL-U puts spans and probabilities in MISC, answers in comments."""
    check_alternatives(to_format, kbest)
    for doc in docs:
        fit(doc, to_format, kbest, layers)
        yield doc


def check_alternatives(to_format: str, kbest: int) -> None:
    """Reject a format that cannot represent the requested alternatives."""
    if kbest and to_format not in (*_WHOLE, "conllu", "columns"):
        raise ConfigError(f"the format {to_format} cannot hold alternatives; write jsonl or conllu")


def fit(doc: Doc, to_format: str, kbest: int = 0, layers: Sequence[str] = ()) -> None:
    """Keep the named layers, and move annotations that a format cannot represent to where it can, in place."""
    from weft.text.conventions.alternatives import as_comments
    from weft.text.conventions.misc_frames import misc_of_frames
    from weft.text.conventions.misc_spans import misc_of_confidence, misc_of_layers
    from weft.text.frames import LAYER as FRAMES

    if layers:
        keep_layers(doc, layers, words=to_format in _WORDS)
    if to_format == "conllu":
        misc_of_layers(doc)
        if FRAMES in doc.spans:
            misc_of_frames(doc)
    if to_format == "conllu" and doc.confidence:
        misc_of_confidence(doc)
    if kbest and to_format not in _WHOLE:
        as_comments(doc)
