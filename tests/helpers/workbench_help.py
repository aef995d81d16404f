"""Projects and workbenches for tests."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from http.cookies import SimpleCookie
from typing import Any

from places import ROOT

from weft.serve.hosts import Hosts
from weft.serve.server import app_running
from weft.text import Doc
from weft.workbench.app import create_app
from weft.workbench.project import Project
from weft.workbench.service import Workbench

SENTENCES = [
    ["Marta", "Lindqvist", "opened", "the", "office", "in", "Bergen", "."],
    ["Nobody", "had", "lived", "there", "."],
    ["The", "ferry", "left", "Alta", "."],
]
Make = Callable[..., Project]


def document(sentences: Sequence[Sequence[str]] = SENTENCES, name: str = "story") -> Doc:
    doc = Doc.from_words(
        sentences, spaces=[[place != len(words) - 2 for place in range(len(words))] for words in sentences]
    )
    doc.id = name
    return doc


@contextlib.contextmanager
def at_work(project: Project, tokens: bool = False) -> Iterator[str]:
    """The address of a workbench for a project."""
    bench = Workbench(project, tokens)
    bench.start()
    try:
        with app_running(create_app(bench, Hosts("127.0.0.1"))) as url:
            yield url
    finally:
        bench.close()


class Client:
    """Asks the API as the page does, with the cookie of its session."""

    def __init__(self, url: str, **entry: str) -> None:
        self.url, self.cookie = url, ""
        self.sent: list[str] = []
        if entry:
            self.ask("/api/enter", entry)

    def ask(self, path: str, body: Any = None, **headers: str) -> Any:
        given = {"Content-Type": "application/json", "Cookie": self.cookie, **headers}
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, given)
        with urllib.request.urlopen(request, timeout=30) as response:
            cookie = response.headers.get("Set-Cookie")
            if cookie:
                self.sent.append(cookie)
                ((name, morsel),) = SimpleCookie(cookie).items()
                self.cookie = f"{name}={morsel.value}"
            return json.load(response)

    def status(self, path: str, body: Any = None, **headers: str) -> int:
        try:
            self.ask(path, body, **headers)
        except urllib.error.HTTPError as error:
            return error.code if set(json.load(error)) == {"error"} else 0
        return 200


_spec = importlib.util.spec_from_file_location("screenshots", ROOT / "docs" / "screenshots.py")
assert _spec is not None
assert _spec.loader is not None
screenshots = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(screenshots)
