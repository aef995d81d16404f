"""`weft train translation`: a phrase-based translator from a bitext."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import (
    DATA,
    RUNNING,
    SETTINGS,
    JsonFlag,
    ModelFile,
    Scheduler,
    Seed,
    option,
    print_report,
    short_path,
)

EXAMPLE = (
    "weft train translation examples/translation/boats.en examples/translation/boats.es "
    "--dev examples/translation/dev.en examples/translation/dev.es --out en-es.weft"
)


Source = Annotated[Path, typer.Argument(metavar="SOURCE", help="A sentence per line, its words separated by spaces.")]
Target = Annotated[Path, typer.Argument(metavar="TARGET", help="The translations, line by line.")]
Trees = Annotated[
    str | None,
    option(
        "--trees",
        metavar="PARSER|FILE",
        panel=SETTINGS,
        help="Build dependency trees: a pipeline that parses the target side, such as en, or its trees in CoNLL-U.",
    ),
]


def translation(
    source: Source,
    target: Target,
    out: ModelFile,
    dev: Annotated[
        tuple[Path, Path] | None,
        option("--dev", metavar="SOURCE TARGET", panel=DATA, help="Sentence pairs to tune weights on."),
    ] = None,
    tune: Annotated[
        str, option("--tune", metavar="mert|pro|mira|hols", panel=SETTINGS, help="How weights are tuned.")
    ] = "mert",
    order: Annotated[int, option("--order", min=1, max=7, panel=SETTINGS, help="Words of the longest n-grams.")] = 4,
    phrases: Annotated[
        int, option("--phrases", min=1, max=7, panel=SETTINGS, help="Words of the longest phrases.")
    ] = 5,
    limit: Annotated[
        int, option("--limit", min=0, panel=SETTINGS, help="Translations to keep per phrase; 0 for all.")
    ] = 20,
    significance: Annotated[
        bool, option("--significance", panel=SETTINGS, help="Leave out phrase pairs that chance explains.")
    ] = False,
    trees: Trees = None,
    lower: Annotated[bool, option("--lower", panel=SETTINGS, help="Ignore letter case.")] = False,
    beam: Annotated[int, option("--beam", min=1, panel=SETTINGS, help="Hypotheses per stack of the search.")] = 100,
    kbest: Annotated[int, option("--kbest", min=2, panel=SETTINGS, help="Derivations per sentence in tuning.")] = 100,
    seed: Seed = 0,
    workers: Annotated[int, option("--workers", panel=RUNNING, min=1, help="Number of processes.")] = 1,
    scheduler: Scheduler = None,
    as_json: JsonFlag = False,
) -> None:
    """Train a phrase-based translator: alignment, phrases, language model and, with --dev, tuned weights.

    --tune hols learns a weight for every phrase pair too: the training data is divided into folds, and no sentence is
    translated with what it taught itself.
    """
    from weft.tasks.translation import translation as tasks

    settings = tasks.TrainSettings(longest=phrases, order=order)
    settings = replace(
        settings,
        table=replace(settings.table, limit=limit, significance=significance),
        translator=replace(settings.translator, beam=beam, pops=2 * beam),
        tune=replace(settings.tune, k=kbest),
    )
    with _client(scheduler) as client:
        translator, report = tasks.train(
            source, target, dev, tune, settings, lower=lower, seed=seed, workers=workers, trees=trees, client=client,
            watch=lambda message: typer.echo(f"weft: {message}", err=True),
        )  # fmt: skip
    translator.save(out)
    print_report("Translator", report | {"file": short_path(out).as_posix()}, as_json)


def _client(scheduler: str | None) -> AbstractContextManager[Any]:
    if scheduler is None:
        return nullcontext()
    from weft.scale.cluster import connected_client

    return closing(connected_client(scheduler))
