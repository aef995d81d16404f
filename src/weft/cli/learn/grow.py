"""`weft lexicon grow TEXT... --seeds CLASS=FILE --out FOLDER`: grow lists of names from raw text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, SETTINGS, JsonFlag, Workers, option, print_json, print_table, short_path
from weft.cli.inputs import Inputs, Reading, Texts, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.lexical.growth.grow import GrowthSettings

EXAMPLE = "weft lexicon grow examples/port.txt --seeds ship=examples/port-ships.txt --out grown"


Seeds = Annotated[
    list[str],
    option("--seeds", metavar="CLASS=FILE", panel=DATA, help="Known names of a class, one per line; repeat."),
]
Out = Annotated[Path, option("--out", "-o", metavar="FOLDER", help="Folder where patterns and lists are written.")]
Window = Annotated[int, option("--window", help="Words of context.", min=1, panel=SETTINGS)]
Triggers = Annotated[int, option("--triggers", help="Trigger words per class.", min=1, panel=SETTINGS)]
K = Annotated[
    float,
    option("--k", help="Prune transitions below this share of their state's best.", panel=SETTINGS),
]
MinSeeds = Annotated[int, option("--min-seeds", help="Seeds that a pattern must extract.", min=1, panel=SETTINGS)]
MinScore = Annotated[
    int, option("--min-score", help="Patterns that must extract a name of the lists.", min=1, panel=SETTINGS)
]
Iterations = Annotated[
    int, option("--iterations", help="Iterations; extracted names become seeds.", min=1, panel=SETTINGS)
]
SeedScore = Annotated[
    int,
    option("--seed-score", help="Patterns that must extract a name before it is a seed.", min=1, panel=SETTINGS),
]
Side = Annotated[str, option("--side", metavar="left|right|both", help="Side of the name to look at.", panel=SETTINGS)]
Longest = Annotated[int, option("--longest", help="Most words of a name.", min=1, panel=SETTINGS)]
Limit = Annotated[
    list[str] | None,
    option("--longest-of", metavar="CLASS=N", help="Most words of a name of a class; repeat.", panel=SETTINGS),
]
Containing = Annotated[
    list[str] | None,
    option(
        "--containing",
        metavar="CLASS=LETTERS",
        help="Keep only patterns that contain these; repeat.",
        panel=SETTINGS,
    ),
]
StopWords = Annotated[
    Path | None,
    option("--stop-words", metavar="FILE", panel=DATA, help="More words that never end a name."),
]
AnyCase = Annotated[bool, option("--any-case", help="Names need not start with a capital.", panel=SETTINGS)]
NoNegatives = Annotated[
    bool, option("--no-negatives", help="Keep patterns that extract seeds of other classes.", panel=SETTINGS)
]
MinSeedWords = Annotated[int, option("--min-seed-words", help="Ignore seeds with fewer words.", min=1, panel=SETTINGS)]
PartsOfNames = Annotated[
    bool, option("--parts-of-names", help="Look for seeds next to capitalized words too.", panel=SETTINGS)
]
Format = Annotated[str, option("--format", metavar="tsv|jsonl", help="Format of patterns and entities.")]


def grow(
    files: Texts,
    seeds: Seeds,
    out: Out,
    window: Window = 10,
    triggers: Triggers = 500,
    k: K = 0.3,
    min_seeds: MinSeeds = 3,
    min_score: MinScore = 1,
    iterations: Iterations = 1,
    seed_score: SeedScore = 2,
    side: Side = "left",
    longest: Longest = 5,
    limit: Limit = None,
    containing: Containing = None,
    stop_words: StopWords = None,
    any_case: AnyCase = False,
    no_negatives: NoNegatives = False,
    min_seed_words: MinSeedWords = 1,
    parts_of_names: PartsOfNames = False,
    format: Format = "tsv",
    reading: Reading = Reading(),
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Grow lists of names from raw text: contexts of known names become patterns, and patterns extract more names.

    Nothing is drawn at random: the result is the same for every number of workers.
    """
    from weft.lexical.growth.files import FORMATS, read_names, read_seeds
    from weft.lexical.growth.grow import GrowthSettings

    if format not in FORMATS:
        raise ConfigError(f"--format must be one of {', '.join(FORMATS)}, got {format!r}")
    known = read_seeds(seeds)
    settings = GrowthSettings(
        window=window, triggers=triggers, k=k, min_seeds=min_seeds, min_score=seed_score, iterations=iterations,
        side=side, longest=longest, negatives=not no_negatives, capitalized=not any_case,
        limits={label: _number(label, value) for label, value in _pairs(limit or [], "--longest-of").items()},
        containing=_pairs(containing or [], "--containing"), min_seed_words=min_seed_words, workers=workers,
        more_stop_words=tuple(read_names(stop_words)) if stop_words is not None else (),
        whole_names=not parts_of_names,
    )  # fmt: skip
    settings.check(known)
    _run(reading.open(files), known, settings, out, format, min_score, as_json)


def _run(
    inputs: Inputs,
    known: dict[str, list[str]],
    settings: GrowthSettings,
    out: Path,
    format: str,
    min_score: int,
    as_json: bool,
) -> None:
    """Grow lists, write them, and print a summary."""
    from weft.lexical.growth.files import write_growth
    from weft.lexical.growth.grow import grow as run

    growth = run(inputs.docs, known, settings, spool=True)
    report_bad(inputs)
    written = write_growth(growth, out, format, min_score)
    lists = growth.lists(min_score)
    rows = [
        {
            "class": label,
            "seeds": len(set(names)),
            "patterns": sum(pattern.label == label for pattern in growth.kept),
            "new": sum(e.label == label and not e.seed and e.score >= min_score for e in growth.entities),
            "list": len(lists[label]),
        }
        for label, names in known.items()
    ]
    if as_json:
        files_written = [short_path(path).as_posix() for path in written]
        print_json({"classes": rows, **growth.figures, "files": files_written})
        return
    cells = [[f"{value:,}" if isinstance(value, int) else value for value in row.values()] for row in rows]
    print_table("", list(rows[0]), cells, [1, 2, 3, 4])
    for label in known:
        best = [pattern.text for pattern in growth.kept if pattern.label == label][:3]
        typer.echo(f"{label}: {' | '.join(best) if best else 'no pattern was kept; try a smaller --min-seeds'}")


def _pairs(given: list[str], option: str) -> dict[str, str]:
    pairs: dict[str, Any] = {}
    for each in given:
        label, sign, value = each.partition("=")
        if not sign or not label or not value:
            raise ConfigError(f"{option} must be CLASS=VALUE, got {each!r}")
        pairs[label] = value
    return pairs


def _number(label: str, value: str) -> int:
    if not value.isdigit() or int(value) < 1:
        raise ConfigError(f"--longest-of {label}={value}: expected a number of words above 0")
    return int(value)
