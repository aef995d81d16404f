"""`weft.train`: train a component from Python, as `weft train` does on the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ConfigError
from weft.pipeline import registry
from weft.pipeline.pipeline import Pipeline
from weft.text.corpus import Corpus
from weft.text.doc import Doc

if TYPE_CHECKING:
    PathLike = str | os.PathLike[str]
    #: Labelled data: files, folders or globs, or documents.
    Data = PathLike | Iterable[PathLike] | Iterable[Doc] | Corpus


def train(
    task: str,
    files: Data = (),
    *,
    method: str | None = None,
    dev: Data | None = None,
    out: PathLike | None = None,
    seed: int = 0,
    workers: int = 1,
    **settings: Any,
) -> Pipeline:
    """Train a component of a task and return it as a pipeline of one; `out` also saves it as a model file.

    `files` and `dev` are files or documents: the result of `weft.read`, or a list of `Doc`. Further keywords are the
    settings of the method, which `weft train TASK --help` lists. `nlp.card` reports on the training: `training` has
    sizes and times, `scores` the scores on the dev data.

    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]])
    >>> nlp = train("tagger", [doc], epochs=2)
    >>> nlp(Doc.from_words([["cats", "bark"]])).column("upos")
    ['NOUN', 'VERB']
    >>> nlp.card["training"]["words"]
    4
    """
    if task not in registry.TASKS:
        raise ConfigError(f"unknown task {task!r}; the tasks are: {', '.join(registry.TASKS)}")
    if out is not None:
        registry.check_place(Path(out))
    options = dict(settings)
    if seed:
        options["seed"] = seed
    if workers != 1:
        options["workers"] = workers
    chosen: dict[str, Any] = {} if method is None else {"method": method}
    component = registry.new_component(task, options, **chosen)
    report = component.fit(_corpus(files), None if dev is None else _corpus(dev))
    nlp = Pipeline([component], registry.model_card(report, Path(out).stem if out is not None else task))
    if out is not None:
        nlp.save(out)
    return nlp


def _corpus(data: Data) -> Corpus:
    """Documents unchanged, or those of files."""
    from weft.formats import read

    if isinstance(data, Corpus):
        return data
    if isinstance(data, str | os.PathLike):
        return read(data)
    items: list[Any] = list(data)
    if all(isinstance(item, Doc) for item in items):
        return Corpus(items)
    strange = [item for item in items if not isinstance(item, Doc | str | os.PathLike)]
    if strange:
        raise ConfigError(f"training data must be files or documents, got {strange[0]!r}")
    if any(isinstance(item, Doc) for item in items):
        raise ConfigError("training data must be either files or documents, got a mix of both")
    return read(items)
