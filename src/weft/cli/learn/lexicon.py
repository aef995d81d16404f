"""`weft lexicon grow TEXT... --seeds CLASS=FILE --out FOLDER`: grow lists of names from raw text.

`weft lexicon clusters` stands in `weft.cli.learn.clusters`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, Workers, print_json, print_table, short_path
from weft.cli.inputs import Encoding, Fields, FromFormat, SkipBad, open_inputs, report_bad
from weft.cli.learn.clusters import clusters
from weft.errors import ConfigError

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode="rich", help="Grow lists of words and names."
)


@app.callback()
def _lexicon() -> None:
    """Grow lists of words and names."""


app.command("clusters", epilog="Example: weft lexicon clusters novels/ --out english.paths --classes 400")(clusters)


@app.command(
    "grow",
    epilog="Example: weft lexicon grow examples/port.txt --seeds ship=examples/port-ships.txt --out grown",
)
def grow(
    files: Annotated[list[Path], typer.Argument(metavar="TEXT...", help="Raw text: files, folders, - for input.")],
    seeds: Annotated[
        list[str], typer.Option("--seeds", metavar="CLASS=FILE", help="Known names of a class, one a line; repeat.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where patterns and lists are written.")],
    window: Annotated[int, typer.Option("--window", help="Words of context.", min=1)] = 10,
    triggers: Annotated[int, typer.Option("--triggers", help="Trigger words of a class.", min=1)] = 500,
    k: Annotated[float, typer.Option("--k", help="Prune transitions below this share of their state's best.")] = 0.3,
    min_seeds: Annotated[int, typer.Option("--min-seeds", help="Seeds a pattern must extract.", min=1)] = 3,
    min_score: Annotated[
        int, typer.Option("--min-score", help="Patterns that must extract a name of the lists.", min=1)
    ] = 1,
    iterations: Annotated[int, typer.Option("--iterations", help="Rounds; names found become seeds.", min=1)] = 1,
    seed_score: Annotated[
        int, typer.Option("--seed-score", help="Patterns that must extract a name before it is a seed.", min=1)
    ] = 2,
    side: Annotated[str, typer.Option("--side", help="Of the name: left, right, both.")] = "left",
    longest: Annotated[int, typer.Option("--longest", help="Most words of a name.", min=1)] = 5,
    limit: Annotated[
        list[str] | None, typer.Option("--limit", metavar="CLASS=N", help="The same for a class; repeat.")
    ] = None,
    containing: Annotated[
        list[str] | None,
        typer.Option("--containing", metavar="CLASS=LETTERS", help="Keep only patterns that contain them; repeat."),
    ] = None,
    stop_words: Annotated[
        Path | None, typer.Option("--stop-words", metavar="FILE", help="More words that are never the end of a name.")
    ] = None,
    any_case: Annotated[bool, typer.Option("--any-case", help="Names need not begin with a capital.")] = False,
    no_negatives: Annotated[
        bool, typer.Option("--no-negatives", help="Keep patterns that extract seeds of other classes.")
    ] = False,
    min_seed_words: Annotated[
        int, typer.Option("--min-seed-words", help="Words a seed must have to be looked for.", min=1)
    ] = 1,
    parts_of_names: Annotated[
        bool, typer.Option("--parts-of-names", help="Look for seeds beside capitalized words too.")
    ] = False,
    format: Annotated[str, typer.Option("--format", help="Of patterns and entities: tsv, jsonl.")] = "tsv",
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Grow lists of names from raw text: contexts of known names become patterns, patterns find more names.

    Nothing is drawn at random: the result is the same for every seed and every number of workers.
    """
    from weft.lexical.growth.files import FORMATS, read_names, read_seeds, write_growth
    from weft.lexical.growth.grow import GrowthSettings
    from weft.lexical.growth.grow import grow as run

    if format not in FORMATS:
        raise ConfigError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    known = read_seeds(seeds)
    settings = GrowthSettings(
        window=window,
        triggers=triggers,
        k=k,
        min_seeds=min_seeds,
        min_score=seed_score,
        iterations=iterations,
        side=side,
        longest=longest,
        limits={label: _number(label, value) for label, value in _pairs(limit or [], "--limit").items()},
        negatives=not no_negatives,
        containing=_pairs(containing or [], "--containing"),
        more_stop_words=tuple(read_names(stop_words)) if stop_words is not None else (),
        capitalized=not any_case,
        min_seed_words=min_seed_words,
        whole_names=not parts_of_names,
        workers=workers,
    )
    settings.check(known)
    inputs = open_inputs(files, from_format, skip_bad, fields, encoding)
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
    else:
        header = list(rows[0])
        print_table(
            "", header, [[f"{v:,}" if isinstance(v, int) else v for v in row.values()] for row in rows], [1, 2, 3, 4]
        )
        for label in known:
            best = [pattern.text for pattern in growth.kept if pattern.label == label][:3]
            typer.echo(f"{label}: {' | '.join(best) if best else 'no pattern was kept; try a smaller --min-seeds'}")


def _pairs(given: list[str], option: str) -> dict[str, str]:
    pairs: dict[str, Any] = {}
    for each in given:
        label, sign, value = each.partition("=")
        if not sign or not label or not value:
            raise ConfigError(f"{option} is written CLASS=VALUE, not {each!r}")
        pairs[label] = value
    return pairs


def _number(label: str, value: str) -> int:
    if not value.isdigit() or int(value) < 1:
        raise ConfigError(f"--limit {label}={value}: expected a number of words above 0")
    return int(value)
