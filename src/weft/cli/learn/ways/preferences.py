"""`weft train preferences`: resources become a model; there are no documents to train on."""

from __future__ import annotations

from weft.cli.learn.training import Training
from weft.errors import ConfigError


def train(training: Training) -> None:
    """Read the resources of the options and write the model."""
    from weft.text.corpus import Corpus

    if training.files:
        raise ConfigError(f"preferences are not learned from text: leave out {training.files[0]}")
    names = [training.options.get(name, "") for name in ("verbnet", "semlink", "wordnet", "types", "patches")]
    files = [name for each in names for name in each.split(",") if name] or ["VerbNet", "SemLink", "WordNet"]
    training.show(training.fit(Corpus(lambda: iter(())), None, files, []))
