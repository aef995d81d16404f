"""Weft turns text into structure: documents, features, exact inference, learning, on a CPU.

>>> import weft
>>> doc = weft.Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])
>>> doc
Doc(1 sentences, 2 words)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.errors import WeftError as WeftError
    from weft.formats import read as read
    from weft.formats import write as write
    from weft.pictures import show as show
    from weft.pipeline.pipeline import Pipeline as Pipeline
    from weft.pipeline.train import train as train
    from weft.tasks.bitext.align import align as align
    from weft.tasks.language_models import lm as lm
    from weft.tasks.translation import translation as translation
    from weft.text import Corpus as Corpus
    from weft.text import Doc as Doc
    from weft.text.language import language_of as language_of

__version__ = "0.1.0"

# Names are looked up on first use, so that `import weft` loads neither NumPy nor Numba.
_HOMES = {
    "Corpus": "weft.text",
    "Doc": "weft.text",
    "Pipeline": "weft.pipeline.pipeline",
    "WeftError": "weft.errors",
    "align": "weft.tasks.bitext.align",
    "language_of": "weft.text.language",
    "lm": "weft.tasks.language_models",
    "read": "weft.formats",
    "show": "weft.pictures",
    "train": "weft.pipeline.train",
    "translation": "weft.tasks.translation",
    "write": "weft.formats",
}
__all__ = [
    "Corpus",
    "Doc",
    "Pipeline",
    "WeftError",
    "__version__",
    "align",
    "language_of",
    "lm",
    "load",
    "read",
    "show",
    "train",
    "translation",
    "write",
]


def load(model: str | os.PathLike[str] = "en", *more: str | os.PathLike[str], layer_as: Sequence[str] = ()) -> Pipeline:
    """Load the pipeline of a model by name or file: `nlp = weft.load("en")`, then `nlp(text)` or `nlp.pipe(texts)`.

    The English model is part of the package; other names are looked up in `$WEFT_MODELS` and in the user's folder
    (`weft.pipeline.models`). With several models, all components are applied in the order given: `weft.load("en",
    "en-speech")`. Two models that write one layer are an error unless `layer_as` gives the layer of the later one
    another name: `weft.load("en", "food.weft", layer_as=["food"])`.
    """
    from weft.memory import return_free_memory
    from weft.pipeline import models
    from weft.pipeline.pipeline import Pipeline

    pipelines = [(os.fspath(name), Pipeline.load(models.find(name))) for name in (model, *more)]
    return_free_memory()  # what unpacking took
    if not more and not layer_as:
        return pipelines[0][1]
    from weft.pipeline.selection import combined

    return combined(pipelines, layer_as)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(set(__all__) - {"__version__"})
