"""The page of the workbench and its API: sessions, requests in JSON, errors in plain words.

| path | |
|---|---|
| `GET /` | the page |
| `GET /api/door` | who has entered, and the project |
| `POST /api/enter`, `POST /api/leave` | a session for a token or, on one's own machine, a name |
| `GET /api/next`, `POST /api/answer`, `POST /api/undo` | items and answers |
| `GET /api/board`, `GET /api/disputes` | progress, and what adjudicators decide |

A session is a cookie that no script can read (HttpOnly) and no other site sends (SameSite=Strict). All but the first
three answer 401 without one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from weft.errors import WeftError
from weft.serve.app import HEADERS, PAGE
from weft.serve.body import BodyLimit, Headers, HostCheck
from weft.serve.hosts import Hosts
from weft.workbench.service import Refused, Workbench
from weft.workbench.store import DAYS, Person

BENCH = Path(str(files("weft.workbench"))) / "page"
#: The longest request in bytes, and the seconds in which it has to arrive.
MOST_BYTES, TIMEOUT = 1_000_000, 30.0
Call = Callable[[Person, Mapping[str, Any]], Any]


def create_app(bench: Workbench, hosts: Hosts) -> Starlette:
    """The ASGI application for a workbench."""
    # Two workbenches on one machine share its cookies, whatever their ports.
    folder = os.fspath(bench.project.folder.resolve()).encode("utf-8", "surrogatepass")
    doors = _Doors(bench, f"weft-{hashlib.sha256(folder).hexdigest()[:12]}")
    calls: list[tuple[str, str, Call]] = [
        ("GET", "/api/next", lambda person, values: bench.next(person, _count(values.get("n")))),
        ("POST", "/api/answer", bench.answer),
        ("POST", "/api/undo", bench.undo),
        ("GET", "/api/board", lambda person, values: bench.board()),
        ("GET", "/api/disputes", lambda person, values: bench.disputes(person)),
    ]
    routes = [
        Route("/", partial(_send, BENCH / "index.html")),
        Route("/favicon.ico", partial(_send, PAGE / "icon.svg")),
        Route("/api/door", doors.door),
        Route("/api/enter", doors.enter, methods=["POST"]),
        Route("/api/leave", doors.leave, methods=["POST"]),
        *(Route(path, doors.inside(call), methods=[method]) for method, path, call in calls),
        Mount("/page", StaticFiles(directory=PAGE)),
        Mount("/bench", StaticFiles(directory=BENCH)),
    ]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(Headers, headers={**HEADERS, b"cache-control": b"no-store"}),
            Middleware(HostCheck, hosts=hosts),
            Middleware(BodyLimit, max_bytes=MOST_BYTES, timeout=TIMEOUT),
        ],
        exception_handlers={WeftError: _refused, HTTPException: _unknown, Exception: _broken},
    )


class _Doors:
    """Sessions: who is behind a request."""

    def __init__(self, bench: Workbench, cookie: str) -> None:
        self.bench, self.cookie = bench, cookie

    def person(self, request: Request) -> Person | None:
        secret = request.cookies.get(self.cookie)
        return self.bench.project.store.person_of_session(secret) if secret else None

    async def door(self, request: Request) -> Response:
        person = await run_in_threadpool(self.person, request)
        return JSONResponse(await run_in_threadpool(self.bench.door, person))

    async def enter(self, request: Request) -> Response:
        secret = await run_in_threadpool(self.bench.enter, await _body(request))
        if secret is None:
            return _problem(401, "this token is not known here; ask the person who runs the project for yours")
        response = JSONResponse({"entered": True})
        response.set_cookie(
            self.cookie, secret, max_age=DAYS * 86400, httponly=True, samesite="strict", secure=_is_encrypted(request)
        )
        return response

    async def leave(self, request: Request) -> Response:
        await _body(request)
        await run_in_threadpool(self.bench.project.store.close_session, request.cookies.get(self.cookie, ""))
        response = JSONResponse({"entered": False})
        response.delete_cookie(self.cookie, httponly=True, samesite="strict")
        return response

    def inside(self, call: Call) -> Callable[[Request], Any]:
        """An endpoint for people who have entered; the call runs in a thread."""

        async def answer(request: Request) -> Response:
            values: Mapping[str, Any] = request.query_params if request.method == "GET" else await _body(request)

            def work() -> Response:
                person = self.person(request)
                if person is None:
                    return _problem(401, "enter first: the session has ended, or there was none")
                return JSONResponse(call(person, values))

            return await run_in_threadpool(work)

        return answer


def _is_encrypted(request: Request) -> bool:
    """Whether the browser speaks HTTPS, with this service or with the proxy in front of it."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")


async def _body(request: Request) -> Mapping[str, Any]:
    """The JSON object of a request; forms of other sites cannot send its type without asking."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "expected a JSON object, sent as application/json")
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body of the request is not JSON") from None
    if not isinstance(values, dict):
        raise HTTPException(400, "the body of the request is not a JSON object")
    return values


def _count(given: Any) -> int:
    return int(given) if isinstance(given, str) and given.isdecimal() and len(given) < 4 else 2


async def _send(path: Path, request: Request) -> Response:
    return FileResponse(path)


def _problem(status: int, error: str) -> JSONResponse:
    return JSONResponse({"error": error}, status)


async def _refused(request: Request, error: Exception) -> Response:
    return _problem(403 if isinstance(error, Refused) else 422, str(error))


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem(error.status_code, str(error.detail).lower() if error.status_code == 404 else str(error.detail))


async def _broken(request: Request, error: Exception) -> Response:
    return _problem(500, "an internal error; the answer was not stored. Send it again")
