"""`weft.translation`: train, load and apply phrase-based translators.

>>> import weft
>>> bitext = ["das Haus", "das Boot", "ein Boot"] * 2, ["the house", "the boat", "a boat"] * 2
>>> translator, report = weft.translation.train(*bitext)
>>> translator.translate("ein Haus").text
'a house'
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from weft.errors import ConfigError
from weft.tasks.translation.result import Step as Step
from weft.tasks.translation.result import Translation as Translation
from weft.tasks.translation.sentences import Extension as Extension
from weft.tasks.translation.training import TrainSettings as TrainSettings
from weft.tasks.translation.training import train as train_on
from weft.tasks.translation.translator import Translator as Translator
from weft.tasks.translation.tree_files import read_trees
from weft.tasks.translation.tuning import TUNERS as TUNERS

Side = str | os.PathLike[str] | Iterable[str | Sequence[str]]


def train(
    source: Side,
    target: Side,
    dev: tuple[Side, Side] | None = None,
    tune: str = "mert",
    settings: TrainSettings | None = None,
    *,
    lower: bool = False,
    seed: int = 0,
    workers: int = 1,
    trees: str | os.PathLike[str] | None = None,
    client: Any = None,
    watch: Callable[[str], None] = lambda message: None,
) -> tuple[Translator, dict[str, Any]]:
    """A translator of a bitext, and a report; with `dev`, held-out sentence pairs, its weights are tuned.

    Each side is a file with a sentence per line (or in any format with words), or sentences: lists of words, or texts
    with spaces between words. `tune` is mert, pro, mira or hols. `client` is one of Dask, in place of processes.
    `trees` is a CoNLL-U file with the trees of the target sentences, or a pipeline that parses them, such as `en`: then
    the translator builds a dependency tree over every translation (`weft.tasks.translation.trees`).
    """
    if tune not in TUNERS:
        raise ConfigError(f"tune must be one of {', '.join(TUNERS)}, got {tune!r}")
    settings = settings or TrainSettings()
    settings = replace(
        settings,
        tune=replace(settings.tune, tuner=tune, seed=seed, workers=workers),
        translator=replace(settings.translator, lower=lower),
    )
    sides = _words(source), _words(target)
    held_out = None if dev is None else (_words(dev[0]), _words(dev[1]))
    parses = None if trees is None else read_trees(trees, sides[1])
    return train_on(*sides, held_out, settings, trees=parses, client=client, watch=watch)


def load(path: str | os.PathLike[str], extensions: Sequence[Extension] = ()) -> Translator:
    """Load a translator; its arrays are mapped into memory."""
    return Translator.load(path, extensions)


def _words(side: Side) -> list[Sequence[str]]:
    from weft.formats.bitext import read_sentences

    if isinstance(side, str | os.PathLike):
        return list(read_sentences(side))
    return [each.split() if isinstance(each, str) else list(each) for each in side]


__all__ = ["TUNERS", "Extension", "Step", "TrainSettings", "Translation", "Translator", "load", "train"]
