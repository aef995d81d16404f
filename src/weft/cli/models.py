"""`weft models list|info`: what is inside model files, without loading their weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, print_json, print_table
from weft.errors import ModelError

app = typer.Typer(
    help="Show what is inside model files.", no_args_is_help=True, rich_markup_mode="rich", add_completion=False
)
#: How the names of model files end.
SUFFIX = ".weft"


@app.command("info", epilog="Example: weft models info chunker.weft")
def info(
    path: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    as_json: JsonFlag = False,
) -> None:
    """Show a model's header: version, task, labels, templates, training corpora, licence, scores."""
    from weft.storage import read_header

    header = read_header(path)
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


@app.command("list", epilog="Example: weft models list models/")
def list_models(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to look.")] = Path(),
    as_json: JsonFlag = False,
) -> None:
    """List the models in a folder and below it."""
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a folder; name the folder that holds your models")
    from weft.storage import read_header

    models = []
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        fact: dict[str, Any] = {"model": str(path.relative_to(folder)), "bytes": path.stat().st_size}
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
            ", ".join(_lines(m.get("scores"))),
        ]
        for m in models
    ]
    print_table(f"Models in {folder}", ["model", "size", "task", "licence", "scores"], rows, figures=[1])


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
