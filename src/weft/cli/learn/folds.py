"""`weft train TASK FILE... --folds N`: cross-validation, as a table or JSON."""

from __future__ import annotations

import typer

from weft.cli.common import print_json, print_table
from weft.cli.inputs import report_bad, split_labelled
from weft.cli.learn.training import Training
from weft.errors import ConfigError


def cross_validate(training: Training, folds: int) -> None:
    """Train and score a model for every fold of the files, and print the scores."""
    from weft.training import folds as room

    if training.dev is not None:
        raise ConfigError("--folds scores on parts of the training data; leave out --dev")
    inputs = training.reading.open(training.files)
    found = room.cross_validate(
        training.task, split_labelled(inputs.docs), training.options, folds, training.method,
        lambda number, fold: typer.echo(f"weft: fold {number} of {folds}: {_shown(fold.scores)}", err=True),
    )  # fmt: skip
    report_bad(inputs)
    summary = room.summary(found)
    if training.as_json:
        print_json(summary)
        return
    names = list(summary["mean"])
    rows = [
        [str(number), f"{fold.trained:,}", f"{fold.scored:,}", *(f"{100 * fold.scores[name]:.2f}" for name in names)]
        for number, fold in enumerate(found, 1)
    ]
    for name in ("mean", "sd"):
        rows.append([name, "", "", *(f"{100 * summary[name][measure]:.2f}" for measure in names)])
    header = ["fold", "trained on", "scored on", *(f"{name}, F1" for name in names)]
    print_table(f"Cross-validated {training.task}", header, rows, figures=range(1, len(header)))


def _shown(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {100 * value:.2f}" for name, value in scores.items())
