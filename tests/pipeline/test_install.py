"""Models from files, folders and indexes; the servers of these tests run in a thread of the test."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.errors import ModelError
from weft.pipeline import download, models
from weft.pipeline.index import make_index, read_index
from weft.pipeline.install import install
from weft.pipeline.pipeline import Pipeline

Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of models, empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    for name in ("WEFT_MODELS", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return models.user_folder()


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with two models and their index."""
    folder = tmp_path / "shelf"
    for name, language in (("tlh", "Klingon"), ("qya", "Quenya")):
        card = {"name": name, "language": language, "licence": "CC0", "what": "Nothing yet.", "weft": "0.1.0"}
        Pipeline([], card).save(folder / f"{name}.weft")
    write_index(folder, make_index(folder))
    return folder


def write_index(folder: Path, content: Any) -> Path:
    path = folder / "index.json"
    path.write_text(json.dumps(content))
    return path


def change(folder: Path, **values: Any) -> Path:
    """Change fields of the first model of an index."""
    content = json.loads((folder / "index.json").read_text())
    content["models"][0].update(values)
    return write_index(folder, content)


class Server:
    """A local web server: files of a folder, and answers of its own for some paths."""

    def __init__(self, folder: Path) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                path = folder / self.path.lstrip("/")
                if self.path in server.answers:
                    server.answers[self.path](self)
                elif path.is_file():
                    send(path.read_bytes())(self)
                else:
                    self.send_error(404)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, *given: object) -> None:
                """A client that has heard enough is no error."""

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def send(content: bytes, length: int | None = None) -> Answer:
    """Send content, with a length that need not be true; a negative one is not sent."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if length is None or length >= 0:
            handler.send_header("Content-Length", str(len(content) if length is None else length))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def redirect(to: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@pytest.fixture
def server(shelf: Path, home: Path) -> Iterator[Server]:
    server = Server(shelf)
    yield server
    server.close()


def changes(source: str | Path, *names: str, **options: Any) -> dict[str, str]:
    return {each.name: each.change for each in install(source, names, **options)}


# What is installed, and where.


def test_an_index_on_a_server_is_installed_and_found_by_name(server: Server, home: Path) -> None:
    assert changes(f"{server.url}/index.json") == {"qya": "new", "tlh": "new"}
    assert models.find("tlh") == home / "tlh.weft"
    assert weft.load("qya").card["language"] == "Quenya"


def test_only_the_models_asked_for_are_downloaded(server: Server, home: Path) -> None:
    assert changes(f"{server.url}/index.json", "tlh") == {"tlh": "new"}
    assert server.asked == ["/index.json", "/tlh.weft"]
    assert [path.name for path in home.iterdir()] == ["tlh.weft"]


def test_a_model_that_is_there_is_not_downloaded_again_and_another_one_is_replaced(server: Server, home: Path) -> None:
    Pipeline([], {"name": "an older one"}).save(home / "tlh.weft")
    url = f"{server.url}/index.json"
    assert changes(url, "tlh") == {"tlh": "replaced"}
    assert weft.load("tlh").card["name"] == "tlh"
    assert changes(url, "tlh") == {"tlh": "none"}
    assert server.asked.count("/tlh.weft") == 1


@pytest.mark.parametrize("source", ["", "index.json", "tlh.weft"])
def test_files_folders_and_their_indexes_are_installed(shelf: Path, home: Path, source: str) -> None:
    assert changes(shelf / source)["tlh"] == "new"
    assert weft.load("tlh").card["language"] == "Klingon"


def test_a_folder_needs_no_index(shelf: Path, home: Path) -> None:
    (shelf / "index.json").unlink()
    assert changes(shelf) == {"qya": "new", "tlh": "new"}


def test_the_first_folder_of_the_variable_is_where_models_go(
    shelf: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_MODELS", f"{tmp_path / 'first'}:{tmp_path / 'second'}")
    list(install(shelf / "tlh.weft"))
    assert models.find("tlh") == tmp_path / "first" / "tlh.weft"
    assert not home.exists()


def test_an_unknown_name_is_told_before_anything_is_installed(shelf: Path, home: Path) -> None:
    with pytest.raises(ModelError, match=r"offers no model 'thl'; did you mean tlh\?"):
        changes(shelf, "qya", "thl")
    assert not home.exists()


# What is refused. The model that was there stays as it was.


@pytest.fixture
def before(home: Path) -> Iterator[None]:
    """A model of the same name, which must survive."""
    Pipeline([], {"name": "before"}).save(home / "qya.weft")
    yield
    assert weft.load("qya").card["name"] == "before"
    assert [path.name for path in home.iterdir()] == ["qya.weft"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sha256": "0" * 64}, "does not match the SHA-256 of the index"),
        ({"size": 10}, "longer than the 10 bytes expected"),
        ({"size": 100_000}, "of the 100,000 bytes that the index states"),
        ({"format": 99}, "needs a newer version of Weft"),
        ({"format": 2}, "has format 1, but the index states 2"),
        ({"file": "../qya.weft"}, "cannot be the file of a model"),
        ({"file": "/etc/qya.weft"}, "cannot be the file of a model"),
        ({"file": "a/../../qya.weft"}, "cannot be the file of a model"),
        ({"file": "..\\qya.weft"}, "cannot be the file of a model"),
        ({"file": "%2e%2e/qya.weft"}, "cannot be the file of a model"),
        ({"file": "file:///etc/qya.weft"}, "cannot be the file of a model"),
        ({"file": "//example.org/qya.weft"}, "cannot be the file of a model"),
        ({"file": "qya.weft?x=.weft"}, "cannot be the file of a model"),
        ({"file": "passwd"}, "cannot be the file of a model"),
        ({"name": "../qya"}, "cannot be the name of a model"),
        ({"name": "a/b"}, "cannot be the name of a model"),
        ({"name": ""}, "cannot be the name of a model"),
        ({"name": "tlh"}, "lists the model 'tlh' twice"),
        ({"size": -1}, "must be a number of bytes"),
        ({"size": True}, "must be a number of bytes"),
        ({"size": 1e3}, "must be a number of bytes"),
        ({"size": 10**15}, "must be a number of bytes"),
        ({"sha256": "abc"}, "64 hexadecimal digits"),
        ({"language": None}, "'language' must be a string"),
    ],
)
def test_an_index_with_a_wrong_entry_is_refused(
    server: Server, before: None, shelf: Path, values: dict[str, Any], message: str
) -> None:
    change(shelf, **values)
    with pytest.raises(ModelError, match=message):
        changes(f"{server.url}/index.json", *([] if "name" in values else ["qya"]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no JSON", r"not JSON \(line 1\)"),
        ("[" * 100_000, "not JSON"),
        ("[]", "expected {"),
        ('{"weft-models": 1}', "expected {"),
        ('{"weft-models": 2, "models": []}', "newer version of Weft"),
        ('{"weft-models": 1, "models": [3]}', "model 1: expected a JSON object"),
        ('{"weft-models": 1, "models": [{"name": "x"}]}', "the fields file, format, language, sha256, size, version"),
        (" " * 1_000_001, "longer than"),
    ],
)
def test_what_is_no_index_is_refused(shelf: Path, server: Server, content: str, message: str) -> None:
    (shelf / "index.json").write_text(content)
    for source in (f"{server.url}/index.json", shelf / "index.json"):
        with pytest.raises(ModelError, match=message):
            read_index(source)


def test_a_download_that_breaks_off_leaves_the_model_that_was_there(server: Server, before: None, shelf: Path) -> None:
    content = (shelf / "qya.weft").read_bytes()
    server.answers["/qya.weft"] = send(content[:100], length=len(content))
    with pytest.raises(ModelError, match=r"received 100 of the .* bytes"):
        changes(f"{server.url}/index.json", "qya")


def test_a_model_without_end_is_cut_off(server: Server, before: None, shelf: Path) -> None:
    server.answers["/qya.weft"] = send((shelf / "qya.weft").read_bytes() + bytes(10_000_000), length=-1)
    with pytest.raises(ModelError, match="is longer than"):
        changes(f"{server.url}/index.json", "qya")


def test_a_file_that_is_no_model_is_refused_though_its_checksum_is_right(
    server: Server, before: None, shelf: Path
) -> None:
    import hashlib

    damaged = (shelf / "qya.weft").read_bytes()[:-1] + b"?"
    (shelf / "qya.weft").write_bytes(damaged)
    change(shelf, sha256=hashlib.sha256(damaged).hexdigest(), size=len(damaged))
    with pytest.raises(ModelError, match=r"^http://.*/qya\.weft"):
        changes(f"{server.url}/index.json", "qya")


def test_a_silent_server_is_given_up(server: Server, before: None) -> None:
    heard = threading.Event()

    def wait(handler: BaseHTTPRequestHandler) -> None:
        heard.wait(20)

    server.answers["/index.json"] = wait
    try:
        with pytest.raises(ModelError, match="does not respond or is too slow"):
            changes(f"{server.url}/index.json", timeout=0.2)
    finally:
        heard.set()


def test_a_server_that_sends_byte_by_byte_is_given_up(
    server: Server, before: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        send(b"", length=1000)(handler)
        for _ in range(1000):
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                return
            if heard.wait(0.02):
                return

    heard = threading.Event()
    monkeypatch.setattr(download, "SLOWEST", 1e9)
    server.answers["/index.json"] = answer
    try:
        with pytest.raises(ModelError, match="does not respond or is too slow"):
            changes(f"{server.url}/index.json", timeout=0.2)
    finally:
        heard.set()


def test_redirects_are_followed_only_to_http(server: Server, home: Path, shelf: Path) -> None:
    server.answers["/latest"] = redirect("/index.json")
    assert [offer.name for offer in read_index(f"{server.url}/latest").offers] == ["qya", "tlh"]
    for other in ("file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"):
        server.answers["/latest"] = redirect(other)
        with pytest.raises(ModelError, match=r"is not allowed|not an http or https address"):
            read_index(f"{server.url}/latest")
    server.answers["/latest"] = redirect("/latest")
    with pytest.raises(ModelError, match="responded with 302"):
        read_index(f"{server.url}/latest")


def test_a_redirect_never_leaves_https() -> None:
    from urllib.request import Request

    with pytest.raises(ModelError, match="from https to http"):
        download._Redirects().redirect_request(
            Request("https://example.org/a"), None, 302, "Found", {}, "http://example.org/a"
        )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{url}/nothing.json", "responded with 404"),
        ("http://127.0.0.1:1/index.json", "cannot be reached"),
        ("ftp://example.org/index.json", "not an http or https address"),
        ("http:///index.json", "not an http or https address"),
        ("http://[/index.json", "not an http or https address"),
        ("http://127.0.0.1:1/a b", "cannot be downloaded"),
        ("http://127.0.0.1:1/\u00e9", "cannot be downloaded"),
        ("{url}/tlh.weft", "give the address of an index"),
        ("nowhere/index.json", "there is no index of models"),
        ("nowhere/tlh.weft", "there is no model file"),
    ],
)
def test_a_source_that_cannot_be_read_is_told_in_words(server: Server, home: Path, source: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        changes(source.format(url=server.url))


def test_a_folder_that_cannot_be_written_is_told_in_words(shelf: Path, home: Path) -> None:
    home.parent.mkdir(parents=True)
    home.write_text("a file, no folder")
    with pytest.raises(ModelError, match="cannot write the model to"):
        changes(shelf)
