"""`weft models list|info|card|install|index|warm`: what is inside model files; installing and preparing models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import RUNNING, JsonFlag, OutputFile, counted, known_models, option, print_json, print_table
from weft.cli.groups import SuggestingGroup
from weft.errors import ModelError
from weft.pipeline.download import TIMEOUT
from weft.pipeline.models import DEFAULT, SUFFIX, available, package_folder, user_folder

app = typer.Typer(
    cls=SuggestingGroup,
    help="Show what is inside model files, install models.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
)
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model by name or file.", autocompletion=known_models)
]
Timeout = Annotated[
    float,
    option("--timeout", metavar="SECONDS", panel=RUNNING, min=0.1, help="Time to wait for a server's next bytes."),
]


@app.command("info", epilog="Example: weft models info chunker.weft")
def info(
    path: ModelArgument,
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
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model by name or file.", autocompletion=known_models)
    ] = DEFAULT,
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


@app.command("install", epilog="Example: weft models install https://example.org/models/index.json de fr")
def install(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A model file, a folder of models, or an index: a JSON file or its http(s) address."
        ),
    ],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Models to install.", show_default="all")
    ] = None,
    timeout: Timeout = TIMEOUT,
    as_json: JsonFlag = False,
) -> None:
    """Install models into your folder of models, so that weft.load and --model find them by name.

    The folder is the first one of $WEFT_MODELS, or weft/models in $XDG_DATA_HOME or ~/.local/share. Sizes and SHA-256
    are checked; a model that is there already is replaced only by a whole one.
    """
    from weft.pipeline.install import install as install_models

    words = {"new": "installed", "replaced": "replaced", "none": "already there"}
    done = []
    for each in install_models(source, names or [], timeout=timeout):
        done.append({"model": each.name, "path": str(each.path), "bytes": each.size, "change": each.change})
        if not as_json:
            typer.echo(f"{each.name}: {words[each.change]}, {each.size / 1e6:,.1f} MB, {each.path}")
    if as_json:
        print_json(done)


@app.command("index", epilog="Example: weft models index models/ --out models/index.json")
def index(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of models.")],
    out: OutputFile,
) -> None:
    """Write the index of a folder of models, from which others can install them: put both on any web server.

    The paths in the index are relative to FOLDER, so the index belongs there.
    """
    import json

    from weft.pipeline.index import make_index

    made = make_index(folder)
    part = out.with_name(f".{out.name}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    typer.echo(f"{out}: {counted(len(made['models']), 'model')}", err=True)


@app.command("warm", epilog="Example: weft models warm en --cache /opt/weft/kernels")
def warm(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL", help="Models by name or file.", show_default=DEFAULT, autocompletion=known_models
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        option("--cache", metavar="FOLDER", help="Folder for compiled kernels.", shown="where they are stored anyway"),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Compile everything that models need now, not at their first use: for images, clusters and services.

    A later process with NUMBA_CACHE_DIR set to --cache compiles nothing, even if it can only read the folder. The
    package must be at the same path there, and the processor must be of the same kind.
    """
    from weft.pipeline.models import find
    from weft.pipeline.warm import warm as compile_kernels

    report = compile_kernels([find(name) for name in models or [DEFAULT]], cache)
    if as_json:
        print_json(report)
        return
    typer.echo(f"compiled {counted(report['kernels'], 'kernel')} in {report['seconds']:.0f} s")
    if cache is not None:
        typer.echo(f"set NUMBA_CACHE_DIR={cache.absolute()} where Weft runs")


@app.command("list", epilog="Example: weft models list --index https://example.org/models/index.json")
def list_models(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Folder to search.", show_default="here, and models by name")
    ] = None,
    index: Annotated[
        str | None, option("--index", metavar="FILE|URL", help="List what an index of models offers instead.")
    ] = None,
    timeout: Timeout = TIMEOUT,
    as_json: JsonFlag = False,
) -> None:
    """List the models in a folder and below it; without one, those in this folder and those that have a name."""
    if index is not None:
        return _list_offers(index, timeout, as_json)
    if folder is not None and not folder.is_dir():
        raise ModelError(f"{folder} is not a folder; give the folder with your models")
    below = folder or Path()
    places = [(str(path.relative_to(below)), "this folder", path) for path in sorted(below.rglob(f"*{SUFFIX}"))]
    if folder is None:
        places = [*((name, _where(path), path) for name, path in available().items()), *places]
    models = [_facts(*place) for place in places]
    if as_json:
        print_json(models)
        return
    rows = [
        [
            m["model"],
            m["where"],
            f"{m['bytes'] / 1e6:,.1f} MB",
            m.get("fault") or m["language"] or "",
            m.get("task") or "",
            m.get("licence") or "",
            ", ".join(_lines(m.get("scores"))) if _flat(m.get("scores")) else "see `weft models card`",
        ]
        for m in models
    ]
    if folder is not None:
        rows = [[row[0], *row[2:]] for row in rows]
    header = ["model", *([] if folder else ["where"]), "size", "language", "task", "licence", "scores"]
    print_table(f"Models in {folder}" if folder else "Models", header, rows, figures=[header.index("size")])


def _facts(name: str, where: str, path: Path) -> dict[str, Any]:
    """What `weft models list` tells of a model file."""
    from weft.storage import read_header

    facts: dict[str, Any] = {"model": name, "where": where, "path": str(path), "bytes": path.stat().st_size}
    try:
        header = read_header(path)
        return facts | {field: header.get(field) for field in ("language", "task", "version", "licence", "scores")}
    except ModelError as error:
        return facts | {"fault": str(error)}


def _where(path: Path) -> str:
    return {package_folder(): "package", user_folder(): "your folder"}.get(path.parent, "$WEFT_MODELS")


def _list_offers(source: str, timeout: float, as_json: bool) -> None:
    from dataclasses import asdict

    from weft.pipeline.install import index_of, is_installed

    offers = [(offer, is_installed(offer)) for offer in index_of(source, timeout).offers]
    if as_json:
        print_json([{**asdict(offer), "installed": installed} for offer, installed in offers])
        return
    rows = [
        [
            each.name,
            each.version,
            f"{each.size / 1e6:,.1f} MB",
            each.language,
            each.licence,
            each.what,
            "yes" if have else "",
        ]
        for each, have in offers
    ]
    header = ["model", "version", "size", "language", "licence", "what", "installed"]
    print_table(f"Models of {source}", header, rows, figures=[2])


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
