"""`weft reproduce SLUG`: repeat the experiment of a published system, as it is or varied, beside the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.common import DataFolder, JsonFlag, Seed, Workers, console, option, print_json, print_table, short_path
from weft.errors import ConfigError


def known_slugs(incomplete: str) -> list[str]:
    """Slugs of systems, for shell completion.

    >>> known_slugs("crf-sh")
    ['crf-shallow-parsing']
    """
    from weft.recipes.catalogue import systems

    return [entry.slug for entry in systems() if entry.slug.startswith(incomplete)]


def reproduce(
    slug: Annotated[
        str | None,
        typer.Argument(
            metavar="SLUG|FILE",
            help="A system of `weft reproduce --list`, or a Python file with a recipe of your own.",
            autocompletion=known_slugs,
        ),
    ] = None,
    show_list: Annotated[bool, option("--list", help="List all systems and their states.")] = False,
    quick: Annotated[bool, option("--quick", help="Run a small version that takes seconds to minutes.")] = False,
    vary: Annotated[
        list[str] | None,
        option("--vary", metavar="NAME=VALUE", help="Change a setting, such as epochs=3; repeat for several."),
    ] = None,
    rows: Annotated[
        list[str] | None,
        option("--rows", metavar="PATTERN", help="Rows to run, such as 'eager*'; repeat for several.", shown="all"),
    ] = None,
    show: Annotated[bool, option("--show", help="Print the last results, or those that come with Weft.")] = False,
    out: Annotated[
        Path | None, option("--out", metavar="FOLDER", help="Folder to keep results in.", show_default="results")
    ] = None,
    folder: DataFolder = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Repeat the experiment of a published system, print its results next to the paper's, and save them as JSON.

    Exit code 1 if a claim that must hold does not (quick and varied runs only report).
    """
    from weft.recipes.framework import RecipeOptions, kept_path, load_result
    from weft.recipes.framework import reproduce as run
    from weft.recipes.render import show as show_result
    from weft.recipes.variation import read_changes

    if show_list:
        _list(out, as_json)
        return
    if slug is None:
        raise ConfigError("give a system; `weft reproduce --list` shows them all")
    options = RecipeOptions(folder, seed, quick, workers, not as_json, [], read_changes(vary or []), tuple(rows or []))
    if show:
        result = load_result(kept_path(slug, out, options))
    else:
        result = run(slug, options)
        path = result.save(out)
        typer.echo(f"results kept in {short_path(path)}", err=True)
    if as_json:
        typer.echo(result.to_json(), nl=False)
    else:
        show_result(result, console())
    if result.failed and not quick and not options.is_varied:
        raise typer.Exit(1)


def _list(results: Path | None, as_json: bool) -> None:
    from weft.recipes.catalogue import systems

    rows = [(entry, entry.state(results)) for entry in systems()]
    if as_json:
        print_json([{**vars(entry), "state": state} for entry, state in rows])
        return
    print_table(
        "Published systems",
        ["slug", "state", "paper"],
        [[entry.slug, state, f"{entry.authors}, {entry.venue}"] for entry, state in rows],
    )
    states = [state for _, state in rows]
    typer.echo(", ".join(f"{states.count(state)} {state}" for state in ("present", "started", "planned")))
