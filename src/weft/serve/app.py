"""The HTTP API and the page: the service handles requests, errors are reported in plain words.

| path | response |
|---|---|
| `GET /` | the page |
| `POST /annotate` | an annotated text, as JSON or as a file |
| `GET /compare` | the page for two texts, or the sentences of one |
| `POST /compare` | what links two texts, or the sentences of one |
| `GET /models` | the models and the limits |
| `GET /health` | whether the service is running |
| `GET /openapi.json`, `GET /docs` | the API description, for programs and for people |
| `GET /ask` | with a graph: the page for questions, also at `/` if there is no model |
| `GET /images`, `POST /search`, `GET /pictures/...` | with images: their page and search |
| `POST /suggest`, `POST /ask`, `GET /graph` | with a graph: suggestions, answers, and what it holds |

Nothing is loaded from other hosts; a header forbids browsers to do so.
"""

from __future__ import annotations

import time
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi import Request as HttpRequest
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.exceptions import HTTPException

import weft
from weft.errors import WeftError, did_you_mean
from weft.serve import schemas
from weft.serve.answers import explained, formats_of, to_file, to_json
from weft.serve.body import BodyLimit, Headers, HostCheck
from weft.serve.comparing import check_length, one_text, two_texts
from weft.serve.graphs import GraphDesk
from weft.serve.hosts import Hosts
from weft.serve.images import PictureDesk
from weft.serve.service import ALTERNATIVES, Broken, Service, TooBusy, TooLong, TooSlow, UnknownModel
from weft.text.doc import Doc

PAGE = Path(str(files("weft.serve"))) / "page"
_STATUS = {TooLong: 413, TooBusy: 429, TooSlow: 503, UnknownModel: 404, Broken: 500}
HEADERS = {
    b"content-security-policy": b"default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
}
#: How many validation errors a response describes, and how many characters of a field's name.
_MOST_FAULTS, _LONGEST_NAME = 5, 100
#: What bodies hold, by path; all others are those of /annotate.
_BODIES: dict[str, type[BaseModel]] = {
    "/compare": schemas.Comparison, "/search": schemas.Sought, "/suggest": schemas.Typed, "/ask": schemas.Asked,
}  # fmt: skip
_UNKNOWN = {404: "there is no such page", 405: "this page does not support that method"}


def create_app(service: Service, hosts: Hosts | None = None) -> FastAPI:
    """The ASGI application for a service. Without `hosts`, the server around it must check for whom it answers."""
    app = FastAPI(
        title="Weft",
        version=weft.__version__,
        description="Annotates text with words, tags, trees and entities, depending on the models.",
        docs_url=None,  # FastAPI's page would load assets from other hosts
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(BodyLimit, max_bytes=service.limits.max_bytes, timeout=service.limits.timeout)
    if hosts is not None:
        app.add_middleware(HostCheck, hosts=hosts)
    app.add_middleware(Headers, headers=HEADERS)
    _add_errors(app)
    _add_api(app, service)
    if service.graph is not None:
        _add_graph(app, service, service.graph)
    if service.pictures is not None:
        _add_pictures(app, service, service.pictures)
    _add_page(app, service)
    return app


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.Problem, "description": what}
    for code, what in {
        400: "The body is not JSON",
        404: "There is no such model",
        413: "The text is too long",
        422: "A field is missing or invalid",
        429: "Too many requests are waiting",
        503: "The request took too long",
    }.items()
}


def _add_api(app: FastAPI, service: Service) -> None:

    @app.post(
        "/annotate",
        summary="Annotate a text",
        responses={200: {"model": schemas.Answer, "description": "The annotated text"}, **_PROBLEMS},
    )
    async def annotate(request: schemas.Request, http: HttpRequest) -> Response:
        """Annotate a text. With a `format` other than `json`, the response is a file in that format."""
        asked = (request.text, request.model, request.probabilities, request.alternatives)
        start = time.perf_counter()
        future = service.annotate(*asked, finish=lambda doc: _answer(service, request, doc, start))
        answer: Response = await service.within_time(future, http.is_disconnected)
        return answer

    @app.post("/compare", summary="Compare two texts, or the sentences of one", responses=_PROBLEMS)
    async def compare(request: schemas.Comparison, http: HttpRequest) -> schemas.Likeness:
        """Words of two texts that correspond; of one text, how its sentences hang together."""
        start = time.perf_counter()
        if request.other is None:
            future = service.annotate(request.text, request.model, finish=one_text)
        else:
            for text in (request.text, request.other):
                check_length(service, text)
            one = await service.within_time(service.annotate(request.text, request.model), http.is_disconnected)
            future = service.annotate(request.other, request.model, finish=lambda doc: two_texts(one, doc))
        found = await service.within_time(future, http.is_disconnected)
        return schemas.Likeness(**found, seconds=round(time.perf_counter() - start, 4))

    @app.get("/models", summary="List the models")
    async def models() -> schemas.Models:
        """The available models, what they predict, and the request limits."""
        limits = service.limits
        return schemas.Models(
            default=service.default,
            models=[_facts(service, name) for name in service.models],
            max_chars=limits.max_chars,
            timeout=limits.timeout,
            max_alternatives=ALTERNATIVES,
            graph=service.graph is not None,
        )

    @app.get("/health", summary="Check that the service is running")
    async def health() -> schemas.Health:
        """Responds as long as the service is running, however busy it is."""
        return schemas.Health(
            status="ok",
            version=weft.__version__,
            models=list(service.models),
            waiting=service.waiting,
            answered=service.answered,
        )


def _add_graph(app: FastAPI, service: Service, desk: GraphDesk) -> None:
    problems = {code: what for code, what in _PROBLEMS.items() if code != 404}

    @app.post("/suggest", summary="Complete a question", responses=problems)
    async def suggest(request: schemas.Typed, http: HttpRequest) -> schemas.Suggestions:
        """What the beginning of a question may mean, as whole sentences."""
        seconds = service.limits.timeout
        future = desk.submit(lambda text: desk.suggest(text, request.session), request.text, seconds)
        return schemas.Suggestions(**await service.within_time(future, http.is_disconnected))

    @app.post("/ask", summary="Ask the graph", responses=problems)
    async def ask(request: schemas.Asked, http: HttpRequest) -> schemas.Replied:
        """The answer to a question in plain words, and what was understood."""
        future = desk.submit(desk.ask, request.text, service.limits.timeout)
        return schemas.Replied(**await service.within_time(future, http.is_disconnected))

    @app.get("/graph", summary="Describe the graph")
    async def graph() -> schemas.GraphFacts:
        """What the graph holds, and who asks."""
        return schemas.GraphFacts(**desk.about(), models=list(service.models))


def _add_pictures(app: FastAPI, service: Service, desk: PictureDesk) -> None:
    problems = {code: what for code, what in _PROBLEMS.items() if code != 404}

    @app.post("/search", summary="Find images by a sentence", responses=problems)
    async def search(request: schemas.Sought, http: HttpRequest) -> schemas.FoundImages:
        """The images that a sentence describes best, or those nearest to an image that is named."""
        future = desk.submit(desk.search, request.text, service.limits.timeout)
        return schemas.FoundImages(**await service.within_time(future, http.is_disconnected))

    @app.get("/pictures/{place:path}", include_in_schema=False)
    async def picture(place: str) -> FileResponse:
        file = desk.file(place)
        if file is None:
            raise HTTPException(404)
        return FileResponse(file)


def _answer(service: Service, request: schemas.Request, doc: Doc, start: float) -> Response:
    """Build a response; runs in a thread of the service."""
    if request.format == "json":
        seconds = time.perf_counter() - start
        nlp = service.pipeline(request.model)
        language = str(nlp.card.get("language", ""))
        explanations = None if request.explain is None else explained(nlp, doc, request.explain)
        body = to_json(doc, request.model or service.default, seconds, request.pictures, language, explanations)
        return Response(body, media_type="application/json")
    file = to_file(doc, request.format)
    return Response(
        file.content,
        media_type=file.media,
        headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
    )


def _facts(service: Service, name: str) -> schemas.ModelFacts:
    nlp = service.models[name]
    provides = list(dict.fromkeys(layer for component in nlp.components for layer in component.provides))
    return schemas.ModelFacts(
        name=name,
        components=[component.task for component in nlp.components],
        provides=provides,
        probabilities=nlp.gives_probabilities,
        alternatives=nlp.gives_kbest,
        explains=any(component.explains for component in nlp.components),
        formats=formats_of(provides),
        card=nlp.card,
    )


def _add_page(app: FastAPI, service: Service) -> None:
    def page(path: str, file: Path) -> None:
        @app.get(path, include_in_schema=False)
        async def send() -> FileResponse:
            return FileResponse(file)

    start = "index.html" if service.models else "ask.html" if service.graph is not None else "images.html"
    page("/", PAGE / start)
    if service.pictures is not None:
        page("/images", PAGE / "images.html")
    if service.models:
        page("/compare", PAGE / "compare.html")
    if service.graph is not None:
        page("/ask", PAGE / "ask.html")
    page("/docs", PAGE / "docs.html")
    page("/favicon.ico", PAGE / "icon.svg")
    for name in ("pictures.css", "pictures.js"):
        page(f"/{name}", Path(str(files("weft.pictures"))) / name)
    app.mount("/page", StaticFiles(directory=PAGE), name="page")


def _add_errors(app: FastAPI) -> None:
    def problem(status: int, error: str) -> JSONResponse:
        headers = {"Retry-After": "1"} if status in (429, 503) else None
        return JSONResponse({"error": error}, status, headers)

    async def refused(request: HttpRequest, error: Exception) -> JSONResponse:
        return problem(next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 422), str(error))

    async def malformed(request: HttpRequest, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        faults = error.errors()
        known = list(_BODIES.get(request.url.path, schemas.Request).model_fields)
        not_json = any(fault["type"] == "json_invalid" for fault in faults)
        told = [_in_words(fault, known) for fault in faults[:_MOST_FAULTS]]
        more = [f"and {len(faults) - len(told)} more faults"] if len(faults) > len(told) else []
        return problem(400 if not_json else 422, "; ".join([*told, *more]))

    async def unknown(request: HttpRequest, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.status_code == 400:
            return problem(400, "the body of the request cannot be read: expected JSON in UTF-8")
        return problem(error.status_code, _UNKNOWN.get(error.status_code, str(error.detail)) + "; see /docs")

    app.add_exception_handler(WeftError, refused)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(HTTPException, unknown)


def _in_words(fault: Any, known: list[str]) -> str:
    """One validation error, without the data that were sent."""
    kind, place = fault["type"], ".".join(str(part)[:_LONGEST_NAME] for part in fault["loc"] if part != "body")
    if kind == "json_invalid":
        return f"the body of the request is not JSON: see character {fault['loc'][-1]}"
    if not place:
        return 'expected a JSON object such as {"text": "..."}, sent as application/json'
    if kind == "missing":
        return f"the field {place!r} is missing"
    if kind == "extra_forbidden":
        return f"there is no field {place!r}; {did_you_mean(place, known, 'the fields are: ' + ', '.join(known))}"
    if kind == "string_unicode":
        return f"the field {place!r} contains an unpaired surrogate"
    return f"the field {place!r} is invalid: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
