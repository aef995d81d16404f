"""`weft lexicon entities MENTIONS... --out FOLDER`: cluster mentions of names into entities across documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import (
    DATA,
    READING,
    SETTINGS,
    JsonFlag,
    Scheduler,
    Seed,
    Workers,
    counted,
    option,
    print_json,
    print_table,
    short_path,
)

if TYPE_CHECKING:
    from weft.infer.sampling.levels import Search
    from weft.tasks.coreference.across.entities import Entities, EntitySettings
    from weft.tasks.coreference.across.mentions import Mentions

EXAMPLE = "weft lexicon entities examples/mentions/news.jsonl --out people --thresholds 0.4"
CHECKPOINT = "checkpoint.weft"

Files = Annotated[
    list[Path],
    typer.Argument(metavar="MENTIONS", help="JSON Lines or Parquet with id, name, context; with --layer, documents."),
]
Out = Annotated[Path, option("--out", "-o", metavar="FOLDER", help="Folder of the tables and the checkpoint.")]
Thresholds = Annotated[
    str,
    option(
        "--thresholds", metavar="NUMBERS", panel=SETTINGS,
        help="Mean similarity above which clusters merge; several, as in 0.5,0.4, give clusterings within each other.",
    ),
]  # fmt: skip
ContextWeight = Annotated[float, option("--context-weight", min=0, panel=SETTINGS, help="Weight of similar contexts.")]
NameWeight = Annotated[
    float, option("--name-weight", min=0, panel=SETTINGS, help="Weight of similar letters of the names.")
]
EqualWeight = Annotated[float, option("--equal-weight", min=0, panel=SETTINGS, help="Weight of equal names.")]
Terms = Annotated[int, option("--terms", min=1, panel=SETTINGS, help="Words kept per context, those with most weight.")]
Iterations = Annotated[
    int, option("--iterations", min=1, panel=SETTINGS, help="Rounds of sampling; each is saved as a checkpoint.")
]
Reach = Annotated[int, option("--reach", min=1, panel=SETTINGS, help="Proposals per mention and round.")]
Blocks = Annotated[
    float,
    option("--blocks", min=0, panel=SETTINGS, help="Clusters this far above the threshold move as blocks; 0: none do."),
]
Splits = Annotated[
    float, option("--splits", min=0, max=1, panel=SETTINGS, help="Share of proposals that split or merge clusters.")
]
Largest = Annotated[
    int, option("--largest", min=2, panel=SETTINGS, help="Mentions that a round brings together, about.")
]
Start = Annotated[
    str, option("--start", metavar="names|alone", panel=SETTINGS, help="Start from equal names or single mentions.")
]
Layer = Annotated[
    str | None,
    option("--layer", metavar="NAME", panel=DATA, help="Read documents; the spans of this layer are mentions."),
]
Format = Annotated[str, option("--format", metavar="jsonl|parquet", help="Format of the tables.")]
SkipBad = Annotated[bool, option("--skip-bad", panel=READING, help="Leave out what cannot be read, and count it.")]


def entities(
    files: Files,
    out: Out,
    thresholds: Thresholds = "0.45",
    context_weight: ContextWeight = 0.3,
    name_weight: NameWeight = 0.7,
    equal_weight: EqualWeight = 0.0,
    terms: Terms = 30,
    iterations: Iterations = 20,
    reach: Reach = 20,
    blocks: Blocks = 0.1,
    splits: Splits = 0.0,
    largest: Largest = 500,
    start: Start = "names",
    layer: Layer = None,
    format: Format = "jsonl",
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    as_json: JsonFlag = False,
) -> None:
    """Cluster the mentions of a collection into entities, by their names and contexts; nothing is trained.

    The folder receives the mentions with their entities, the entities with their names, and every merge with what it
    rests on. A run that was stopped resumes when the same command runs again. The result does not depend on the number
    of workers.
    """
    from weft.errors import ConfigError
    from weft.tasks.coreference.across.entities import EntitySettings
    from weft.tasks.coreference.across.files import FORMATS
    from weft.tasks.coreference.across.vectors import Similarity

    if format not in FORMATS:
        raise ConfigError(f"--format must be one of {', '.join(FORMATS)}, got {format!r}")
    settings = EntitySettings(
        _numbers(thresholds), Similarity(context_weight, name_weight, equal_weight, terms),
        iterations, reach=reach, blocks=blocks, splits=splits, largest=largest, start=start, seed=seed,
    )  # fmt: skip
    mentions = _read(files, layer, skip_bad)
    found = _cluster(mentions, settings, out, workers, scheduler)
    _report(found, out, format, as_json)


def _numbers(text: str) -> tuple[float, ...]:
    """The numbers of a list with commas."""
    from weft.errors import ConfigError

    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise ConfigError(f"--thresholds takes numbers such as 0.5 or 0.5,0.4,0.3, got {text!r}") from None


def _read(files: list[Path], layer: str | None, skip_bad: bool) -> Mentions:
    from weft.formats.streams import Faults
    from weft.tasks.coreference.across.mentions import mentions_of_docs, read_mentions

    if layer is not None:
        from weft.cli.inputs import Reading, report_bad

        inputs = Reading(skip_bad=skip_bad).open(files)
        mentions = mentions_of_docs(inputs.docs, layer)
        report_bad(inputs)
        return mentions
    faults = Faults(skip_bad)
    mentions = read_mentions(files, faults)
    if faults.report.count:
        typer.echo(f"left out {counted(faults.report.count, 'line')} that cannot be read", err=True)
    return mentions


def _cluster(mentions: Mentions, settings: EntitySettings, out: Path, workers: int, scheduler: str | None) -> Entities:
    """Run the search, with a progress bar, from its checkpoint if there is one."""
    from weft.progress import progress
    from weft.tasks.coreference.across.entities import EntityClusterer

    client: Any = None
    if scheduler is not None:
        from weft.scale.cluster import connected_client

        client = connected_client(scheduler)
    checkpoint = out / CHECKPOINT
    try:
        with progress("clustering", settings.rounds, unit="rounds") as bar:

            def watch(search: Search) -> None:
                bar.advance()
                bar.note(f"{search.trace[-1]['clusters']:,.0f} entities")

            return EntityClusterer(settings, workers, client).cluster(mentions, checkpoint, watch)
    finally:
        if client is not None:
            client.close()


def _report(found: Entities, out: Path, format: str, as_json: bool) -> None:
    """Write the tables and print what they hold; with gold entities, scores too."""
    import numpy as np

    from weft.evaluate.clusters import Overlaps
    from weft.tasks.coreference.across.files import write_entities

    written = write_entities(found, out, format)
    gold = found.mentions.gold
    rows: list[dict[str, Any]] = []
    for threshold, labels in zip(found.settings.falling, found.labels, strict=True):
        sizes = np.unique(labels, return_counts=True)[1]
        row: dict[str, Any] = {
            "threshold": threshold, "mentions": len(labels), "entities": len(sizes), "largest": int(sizes.max()),
        }  # fmt: skip
        if gold is not None:
            overlaps = Overlaps.of(gold, labels)
            b_cubed, pairwise = overlaps.b_cubed(), overlaps.pairwise()
            row |= {
                "B3 precision": b_cubed.precision, "B3 recall": b_cubed.recall, "B3 F1": b_cubed.f1,
                "pairwise F1": pairwise.f1,
            }  # fmt: skip
        rows.append(row)
    if as_json:
        print_json({"thresholds": rows, "trace": found.trace, "files": [short_path(p).as_posix() for p in written]})
        return
    cells = [[_shown(name, value) for name, value in row.items()] for row in rows]
    print_table("", list(rows[0]), cells, list(range(len(rows[0]))))


def _shown(name: str, value: Any) -> str:
    if name == "threshold":
        return f"{value:g}"
    return f"{100 * value:.2f}" if isinstance(value, float) else f"{value:,}"
