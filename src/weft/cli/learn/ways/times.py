"""`weft train times`: a table of phrases is read as such, whatever its suffix says."""

from __future__ import annotations

from weft.cli.learn.training import Training
from weft.cli.learn.ways import plain


def train(training: Training) -> None:
    """Train on phrases in `.tsv` files, or on annotated documents."""
    files = [*training.files, *([training.dev] if training.dev is not None else [])]
    if (
        training.reading.format is None
        and files
        and all(str(file).removesuffix(".gz").endswith(".tsv") for file in files)
    ):
        training.reading = training.reading._replace(format="times")
    plain.train(training)
