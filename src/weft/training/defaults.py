"""The default pipeline configuration: one treebank, and the components it has annotation for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from weft.errors import DataError
from weft.formats import read
from weft.pipeline.registry import UNSTATED
from weft.text.conventions.misc_spans import spans_of_misc
from weft.text.doc import Doc
from weft.training.config import ComponentSpec, CorpusSpec, PipelineConfig, TestSpec

_CORPUS = "data"
#: Components in order, with a test whether a document has annotation for them.
_LEARNED: dict[str, Callable[[Doc], bool]] = {
    "tagger": lambda doc: doc.has("upos") or doc.has("xpos"),
    "lemmatizer": lambda doc: doc.has("lemma"),
    "parser": lambda doc: doc.has("head"),
    "ner": lambda doc: "entities" in doc.spans or bool(spans_of_misc(doc)),
}


def default_config(
    train: Sequence[Path],
    dev: Sequence[Path] = (),
    test: Sequence[Path] = (),
    *,
    name: str,
    language: str = UNSTATED,
    licence: str = UNSTATED,
) -> PipelineConfig:
    """A configuration with a segmenter and the components for which the training files have annotation.

    The parser trains on jackknifed tags, entities on predicted ones, as in the configurations of the repository.
    """
    docs = [doc for path in train for doc in read(path) if doc.n_words]
    if not docs:
        raise DataError(f"there are no words in {', '.join(map(str, train))}; a pipeline needs annotated text")
    learned = [task for task, has in _LEARNED.items() if any(map(has, docs))]
    for path in (*dev, *test):
        _check_held_out(path, learned)
    parts = {"train": train, "dev": dev, "test": test}
    files = {part: [str(path.absolute()) for path in paths] for part, paths in parts.items()}
    title = ", ".join(dict.fromkeys(path.name for path in train))
    corpus = CorpusSpec(title, licence, files["train"], files["dev"], files["test"])
    scored = ["ud", *(["entities"] if "ner" in learned else [])]
    return PipelineConfig(
        name=name,
        language=language,
        licence=licence,
        components=[_component(task, bool(dev)) for task in ("segmenter", *learned)],
        corpora={_CORPUS: corpus},
        tests=[TestSpec(part, f"{_CORPUS}.{part}", scored) for part in ("dev", "test") if parts[part]],
        path=Path("weft train pipeline"),
    )


def _check_held_out(path: Path, learned: Sequence[str]) -> None:
    """Raise an error, before any training, for a held-out file without the annotation to score."""
    docs = [doc for doc in read(path) if doc.n_words]
    for task in learned:
        if task != "ner" and not any(map(_LEARNED[task], docs)):
            raise DataError(
                f"{path} has no annotation for the {task}, which the training files have; give a file that is "
                "annotated in the same way, or leave it out"
            )


def _component(task: str, dev: bool) -> ComponentSpec:
    tags = {"parser": "jackknifed", "ner": "predicted"}.get(task, "gold")
    settings = {"precision": "int16"} if task in ("lemmatizer", "ner") else {}
    held_out = [f"{_CORPUS}.dev"] if dev and task in ("segmenter", "parser") else []
    return ComponentSpec(task, [_CORPUS], held_out, tags, settings=dict(settings))
