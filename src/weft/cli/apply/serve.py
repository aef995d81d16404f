"""`weft serve`: the HTTP API and the web page, by default on this machine only."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.apply.ask import Attributes, Hidden, Me, SchemaFile
from weft.cli.common import DATA, RUNNING, counted, option
from weft.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline
    from weft.serve.graphs import GraphDesk
    from weft.serve.images import PictureDesk

#: The model to serve by default.
DEFAULT = "en"
_PARTS, _NAME = "+", "="


ModelsToServe = Annotated[
    list[str] | None,
    option(
        "--model", "-m", metavar="MODEL", shown=DEFAULT,
        help="Model to serve, by name or file; FILE+FILE are applied in order, NAME=FILE names it.",
    ),
]  # fmt: skip
Host = Annotated[str, option("--host", help="Address to listen on.")]
AllowHost = Annotated[
    list[str] | None,
    option(
        "--allow-host", metavar="NAME", help="Host name to answer for, beside the address and localhost; repeat."
    ),
]  # fmt: skip
Port = Annotated[int, option("--port", min=0, max=65535, help="Port to listen on; 0 takes any free one.")]
MaxChars = Annotated[int, option("--max-chars", min=1, help="Longest text that is accepted, in characters.")]
Timeout = Annotated[float, option("--timeout", min=0.1, help="Time limit of a request, in seconds.")]
Threads = Annotated[int, option("--workers", panel=RUNNING, min=1, help="Number of threads.")]
Queue = Annotated[int, option("--queue", min=1, help="Maximum number of waiting requests.")]
AskedGraph = Annotated[
    Path | None, option("--graph", metavar="GRAPH", panel=DATA, help="Graph to ask: a folder, or a file of edges.")
]
ImagesToServe = Annotated[
    Path | None,
    option("--images", metavar="FILE", panel=DATA, help="Vectors of images to search, as for `weft search`."),
]
Finder = Annotated[
    Path | None,
    option(
        "--finder", metavar="MODEL", panel=DATA, help="Model that finds images.", shown="the one that --images names"
    ),
]
Pictures = Annotated[
    Path | None, option("--pictures", metavar="FOLDER", panel=DATA, help="Folder of the pictures to show.")
]


def serve(
    model: ModelsToServe = None, host: Host = "127.0.0.1", allow_host: AllowHost = None, port: Port = 8000,
    max_chars: MaxChars = 50_000, timeout: Timeout = 30.0, workers: Threads = 2, queue: Queue = 512,
    graph: AskedGraph = None, schema: SchemaFile = None, attributes: Attributes = None, hidden: Hidden = None,
    me: Me = None, images: ImagesToServe = None, finder: Finder = None, pictures: Pictures = None,
) -> None:  # fmt: skip
    """Serve a web page that shows what models predict, and a JSON API for programs; no internet is needed.

    With --graph, a page for questions in plain words is served, and with --images one that finds pictures by sentences,
    beside the models that --model names.
    """
    try:
        from weft.serve import Limits, Service, memory
        from weft.serve.server import address, bind
        from weft.serve.server import serve as answer
    except ModuleNotFoundError as error:
        raise ConfigError(f"serving needs {error.name}; install the extra: pip install 'weft[serve]'") from None
    if graph is None and any((schema, attributes, hidden, me)):
        raise ConfigError("--schema, --attributes, --hidden and --me are about a graph: name one with --graph")
    if images is None and (finder or pictures):
        raise ConfigError("--finder and --pictures are about images: name their vectors with --images")
    memory.use_few_pools()
    listening = bind(host, port)
    limits = Limits(max_chars, timeout, workers, queue)
    desk = None if graph is None else _desk(graph, schema, attributes, hidden, me, queue)
    shown = None if images is None else _pictures(images, finder, pictures, queue)
    service = Service(load(model) if model or (desk is None and shown is None) else {}, limits, desk, shown)
    service.warm()
    if not is_local(host):
        typer.echo(f"weft: {host} can be reached from other machines; there is no password", err=True)
    if service.models:
        typer.echo(f"{counted(len(service.models), 'model')} ready: {', '.join(service.models)}", err=True)
    if desk is not None:
        facts = desk.about()
        typer.echo(f"graph ready: {counted(facts['nodes'], 'node')}, {counted(facts['edges'], 'edge')}", err=True)
    if shown is not None:
        typer.echo(f"{counted(len(shown.collection.images), 'image')} ready", err=True)
    typer.echo(f"Weft is at {address(listening)} (Ctrl-C ends it)", err=True)
    answer(service, listening, [host, *(allow_host or [])])


def _desk(
    graph: Path, schema: Path | None, attributes: Path | None, hidden: Path | None, me: str | None, queue: int
) -> GraphDesk:
    from weft.serve.graphs import GraphDesk
    from weft.tasks.questions.place import load_questions

    questions = load_questions(graph, schema, attributes, hidden)
    return GraphDesk(questions, questions.user(me), queue)


def _pictures(images: Path, finder: Path | None, folder: Path | None, queue: int) -> PictureDesk:
    from weft.serve.images import PictureDesk
    from weft.tasks.images.collection import Collection

    return PictureDesk(Collection.open(images, finder), folder, queue)


def load(models: Sequence[str] | None) -> dict[str, Pipeline]:
    """The models to serve by name: the default one, or those given as `[NAME=]MODEL[+MODEL...]`."""
    import weft
    from weft.pipeline.pipeline import Pipeline

    if not models:
        try:
            return {DEFAULT: weft.load(DEFAULT)}
        except ModelError as error:
            raise ModelError(f"no --model was given, and the model {DEFAULT!r} cannot be used: {error}") from None
    found: dict[str, Pipeline] = {}
    for given in models:
        name, sign, places = given.rpartition(_NAME)
        parts = [weft.load(place) for place in places.split(_PARTS)]
        nlp = parts[0]
        if len(parts) > 1:
            nlp = Pipeline([component for part in parts for component in part.components])
        name = name if sign else _short(places)
        if name in found:
            raise ConfigError(f"two models are called {name!r}; name them: --model one={places}")
        found[name] = nlp
    return found


def _short(places: str) -> str:
    """A short name for models, from their files.

    >>> _short("models/tagger.weft+models/parser.weft"), _short("en")
    ('tagger+parser', 'en')
    """
    return _PARTS.join(
        place.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".weft") for place in places.split(_PARTS)
    )


def is_local(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
