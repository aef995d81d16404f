"""`weft models list|info|card`: what is inside model files, without loading their weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, print_json, print_table
from weft.errors import ModelError
from weft.pipeline.models import DEFAULT, SUFFIX, available

app = typer.Typer(
    help="Show what is inside model files.", no_args_is_help=True, rich_markup_mode="rich", add_completion=False
)


@app.command("info", epilog="Example: weft models info chunker.weft")
def info(
    path: Annotated[str, typer.Argument(metavar="MODEL", help="A model by name or file.")],
    as_json: JsonFlag = False,
) -> None:
    """Show a model's header: version, task, labels, templates, training corpora, licence, scores."""
    from weft.pipeline.models import find
    from weft.storage import read_header

    header = read_header(find(path))
    if as_json:
        print_json(header)
        return
    components = header.pop("components", [])
    header.pop("checksums", None)
    rows = [[name, "\n".join(_lines(value))] for name, value in header.items() if value not in ("", {}, [], None)]
    for i, component in enumerate(components, 1):
        task = component.pop("task", "")
        rows.append([f"component {i}: {task}", "\n".join(_lines(component))])
    print_table(str(path), ["", ""], rows)


@app.command("card", epilog="Example: weft models card en")
def card(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model by name or file.")] = DEFAULT,
    as_json: JsonFlag = False,
) -> None:
    """Print a model's card: training data, licences, scores on every test set, known weaknesses."""
    from weft.pipeline.models import find
    from weft.storage import read_header
    from weft.training.card import card_text

    header = read_header(find(model))
    if as_json:
        print_json({name: value for name, value in header.items() if name not in ("components", "checksums")})
        return
    typer.echo(card_text(header))


@app.command("list", epilog="Example: weft models list models/")
def list_models(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Folder to search.", show_default="here, and models by name")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the models in a folder and below it; without one, those in this folder and those that have a name."""
    from weft.storage import read_header

    if folder is not None and not folder.is_dir():
        raise ModelError(f"{folder} is not a folder; give the folder with your models")
    below = folder or Path()
    places = [(str(path.relative_to(below)), path) for path in sorted(below.rglob(f"*{SUFFIX}"))]
    if folder is None:
        places = [*available().items(), *places]
    models = []
    for name, path in places:
        fact: dict[str, Any] = {"model": name, "bytes": path.stat().st_size}
        try:
            header = read_header(path)
            fact |= {name: header.get(name) for name in ("task", "version", "licence", "scores")}
        except ModelError as error:
            fact["fault"] = str(error)
        models.append(fact)
    if as_json:
        print_json(models)
        return
    rows = [
        [
            m["model"],
            f"{m['bytes'] / 1e6:,.1f} MB",
            m.get("fault") or m["task"] or "",
            m.get("licence") or "",
            ", ".join(_lines(m.get("scores"))) if _flat(m.get("scores")) else "see `weft models card`",
        ]
        for m in models
    ]
    print_table(
        f"Models in {folder}" if folder else "Models", ["model", "size", "task", "licence", "scores"], rows, figures=[1]
    )


def _flat(scores: Any) -> bool:
    return not isinstance(scores, dict) or not any(isinstance(value, dict) for value in scores.values())


def _lines(value: Any) -> list[str]:
    """A value of a header as lines: `name: value`, deeper ones indented, empty ones left out."""
    if isinstance(value, dict):
        lines = []
        for name, part in value.items():
            below = _lines(part)
            if len(below) == 1 and not isinstance(part, dict):
                lines.append(f"{name}: {below[0]}")
            elif below:
                lines += [f"{name}:", *(f"  {line}" for line in below)]
        return lines
    if isinstance(value, list | tuple):
        if all(isinstance(part, str | int | float) for part in value):
            return [" ".join(map(str, value))] if value else []
        return [line for part in value for line in _lines(part)]
    return [] if value is None or value == "" else [f"{value:.4g}" if isinstance(value, float) else str(value)]
