"""Attacks on the service over HTTP: bad methods, bodies, heads, hosts, paths and protocols, halves, floods.

Every attack is a few pieces of bytes, sent through a socket of its own to a running `weft serve`. It holds if the
service answers in plain words with a status that the attack may have, or closes the connection; if no answer shows a
traceback, a path or a file; and if `/health` answers right after it. The list of attacks is fixed; beyond its end,
requests are mutated at random.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from .load import a_model, rss_mb, service
from .outcome import Deadline, Outcome, attack_seed

COUNT = 600
SHARE = 0.5
#: Attacks at the same time.
THREADS = 16
#: Seconds after which a connection that the service neither answers nor closes is a failure.
PATIENCE = 45.0
#: What no answer may contain: the inside of the service, or files of the machine.
SECRETS = re.compile(rb'Traceback|File "|\.py\b|site-packages|input_value|root:x:|\[project\]|/(?:home|root|usr|tmp)/')
#: Bytes that the service may log during all attacks.
LOG = 200_000
OK, REFUSED = (200,), tuple(range(400, 500))
EITHER = (*OK, *REFUSED)
#: A service at its limits may always say that it is busy, or that the client was slow.
BUSY = (408, 429, 503)


class Attack(NamedTuple):
    """What a client sends, and the statuses that hold; seconds between pieces are pauses."""

    kind: str
    name: str
    pieces: tuple[bytes | float, ...]
    statuses: tuple[int, ...] = REFUSED
    #: Whether the client leaves without reading, with a reset.
    leaves: bool = False
    #: Whether only a time limit of the service ends it.
    slow: bool = False


def request(
    body: bytes = b"",
    *,
    method: str = "POST",
    path: str = "/annotate",
    version: str = "HTTP/1.1",
    host: str | None = "localhost",
    content: str | None = "application/json",
    length: str | None = "",
    headers: Sequence[str | bytes] = (),
) -> bytes:
    """The bytes of a request; `length` is that of the body, unless given."""
    lines: list[str | bytes] = [f"{method} {path} {version}"]
    lines += [] if host is None else [f"Host: {host}"]
    lines += [] if content is None else [f"Content-Type: {content}"]
    lines += [] if length is None else [f"Content-Length: {length or len(body)}"]
    lines += ["Connection: close", *headers]
    return b"\r\n".join([*(line if isinstance(line, bytes) else line.encode() for line in lines), b"", body])


def get(path: str = "/health", **given: Any) -> bytes:
    """The bytes of a request without a body."""
    return request(**{"method": "GET", "path": path, "content": None, "length": None, **given})


def chunked(chunks: bytes, *headers: str, **given: Any) -> bytes:
    """The bytes of a request whose body comes in chunks."""
    return request(chunks, length=None, headers=["Transfer-Encoding: chunked", *headers], **given)


def attacks() -> list[Attack]:
    """All attacks of the list."""
    makers = (_methods, _fields, _bodies, _encodings, _contents, _lengths, _chunks, _smuggling, _heads, _paths, _hosts,
              _protocols, _pipelines, _leaving, _halves)  # fmt: skip
    return [attack for make in makers for attack in make()]


def _methods() -> Iterator[Attack]:
    for method in ("GET", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "OPTIONS", "HEAD", "PROPFIND", "BREW", "post"):
        yield Attack("method", method, (request(b'{"text": "a"}', method=method),))
    for method in ("", "POST POST", "P\x00ST", "G\u00e9T", "A" * 5_000, "A" * 70_000, "\tPOST", "(POST)"):
        yield Attack("method", repr(method[:10]), (request(b'{"text": "a"}', method=method),))
    for path in ("/", "/health", "/models", "/openapi.json", "/docs"):
        yield Attack("method", f"POST {path}", (request(b'{"text": "a"}', path=path),))


_WRONG: dict[str, list[str]] = {
    "text": ["null", "7", "1.5", "true", "[]", "{}", '["a"]', "[[[[1]]]]", '{"text": "a"}', "1e999", "-0"],
    "model": [
        "7",
        '""',
        '"../en"',
        '"en\\u0000"',
        '"/etc/passwd"',
        '"' + "a" * 40_000 + '"',
        "[]",
        "{}",
        '"__class__"',
    ],
    "format": ["7", '"exe"', '"../../x"', "[]", '""', "null", '"JSON"', '"' + "a" * 40_000 + '"'],
    "probabilities": ['"perhaps"', "2", "[]", "null", "{}", "1e400", "-1"],
    "alternatives": ["-1", "11", "1e99", "9" * 400, "9" * 5_000, "1.5", "NaN", "Infinity", '"x"', "[]", "null", "-0.5"],
    "pictures": ['"perhaps"', "2", "[]", "null", "{}"],
}


def _fields() -> Iterator[Attack]:
    for field, values in _WRONG.items():
        for value in values:
            given = "" if field == "text" else '"text": "a", '
            yield Attack("field", f"{field}: {value[:20]}", (request(f'{{{given}"{field}": {value}}}'.encode()),))
    for extra in ("txt", "__proto__", "__class__", "", "\\u0000", "a" * 30_000):
        yield Attack("field", f"extra {extra[:10]}", (request(f'{{"text": "a", "{extra}": 1}}'.encode()),))
    many = ", ".join(f'"f{i}": {i}' for i in range(20_000))
    yield Attack("field", "20,000 extra ones", (request(f'{{"text": "a", {many}}}'.encode()),))
    yield Attack("field", "twice", (request(b'{"text": 7, "text": "a"}'),), EITHER)


def _bodies() -> Iterator[Attack]:
    deep = 100_000
    bodies: dict[str, bytes] = {
        "empty": b"", "null": b"null", "number": b"7", "string": b'"text"', "true": b"true", "list": b"[1, 2]",
        "blanks": b" \n\t ", "NUL": b"\x00" * 50, "half": b'{"text": ', "no end": b'{"text": "a"',
        "after the end": b'{"text": "a"} x', "two objects": b'{"text": "a"}{"text": "b"}', "quotes": b"{'text': 'a'}",
        "comment": b'{"text": "a" /* b */}', "comma": b'{"text": "a",}', "bare": b"{text: a}",
        "tab": b'{"text": "\t\n"}', "lists": b"[" * deep, "objects": b'{"a":' * deep,
        "closed lists": b"[" * deep + b"]" * deep,
        "deep text": b'{"text": ' + b"[" * deep + b"]" * deep + b"}", "long number": b"9" * 300_000,
        "long number in text": b'{"text": ' + b"9" * 300_000 + b"}", "exponent": b'{"text": 1e99999999}',
        "bad escape": b'{"text": "\\x41"}', "short escape": b'{"text": "\\u12"}', "surrogate": b'{"text": "\\ud800"}',
        "two surrogates": b'{"text": "\\udc00\\ud800"}', "surrogate in a name": b'{"\\ud800": "a", "text": "b"}',
        "surrogate in a model": b'{"text": "a", "model": "\\ud800"}', "XML": b"<?xml version='1.0'?><a/>",
        "entity": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "pickle": b"\x80\x04N.",
        "YAML": b"!!python/object/apply:os.system ['id']", "form": b"text=hello&model=en",
    }  # fmt: skip
    for name, body in bodies.items():
        yield Attack("body", name, (request(body),))
    yield Attack("body", "escaped NUL", (request(b'{"text": "a\\u0000b"}'),), OK)
    yield Attack("body", "many texts", (request(json.dumps({"text": "x. " * 16_000}).encode()),), (200, 413, 503))


def _encodings() -> Iterator[Attack]:
    bad = [
        b"\xff",
        b"\xfe\xff",
        b"\xc0\xaf",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
    ]
    for data in bad:
        yield Attack("encoding", data.hex(), (request(b'{"text": "' + data + b'"}'),))
    text = '{"text": "a"}'
    for name in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "utf-7", "cp037"):
        # JSON in other Unicode encodings is recognized; others are no JSON.
        yield Attack("encoding", name, (request(text.encode(name)),), EITHER)
    bomb = gzip.compress(b'{"text": "' + b"a" * 5_000_000 + b'"}', mtime=0)
    for name in ("gzip", "deflate", "br", "identity, gzip", "x" * 5_000):
        yield Attack("encoding", f"coded {name[:10]}", (request(bomb, headers=[f"Content-Encoding: {name}"]),))


def _contents() -> Iterator[Attack]:
    kinds = ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/jsonx",
             "json", "", "application/json/json", "a" * 10_000, "application/xml"]  # fmt: skip
    for kind in kinds:
        yield Attack("content type", kind[:30] or "empty", (request(b'{"text": "a"}', content=kind),))
    for charset in ("utf-16", "x" * 1_000, "rot13", "\x01"):
        given = f"application/json; charset={charset}"
        yield Attack("content type", f"charset {charset[:10]!r}", (request(b'{"text": "a"}', content=given),), EITHER)
    # Browsers send such a request across sites without asking before.
    sent = request(b'{"text": "a"}', content="text/plain", headers=["Origin: https://evil.example.com"])
    yield Attack("content type", "across sites", (sent,), (403,))


def _lengths() -> Iterator[Attack]:
    body = b'{"text": "a"}'
    for length in ("-1", "+13", "0x0d", "13.0", "1e1", "abc", "13 13", "13,14", "9" * 30, "9" * 400, "\u0661", "13;"):
        yield Attack("length", length[:20], (request(body, length=length),))
    for length in ("50001", "700000", "50000000", "9" * 18):
        yield Attack("length", f"{length} without a body", (request(b"", length=length),), slow=True)
    yield Attack("length", "shorter than the body", (request(body, length="5"),))
    yield Attack("length", "longer than the body", (request(body, length="20"),), slow=True)
    for size in (50_001, 600_000, 700_000, 5_000_000):
        yield Attack("length", f"{size:,} characters", (request(b'{"text": "' + b"a" * size + b'"}'),), (413,))
    yield Attack("length", "without any", (request(body, length=None),))


def _chunks() -> Iterator[Attack]:
    end, body = b"0\r\n\r\n", b'd\r\n{"text": "a"}\r\n'
    sizes = (
        b"zz",
        b"-1",
        b"+d",
        b"0x0d",
        b"",
        b" d",
        b"f" * 16,
        b"f" * 40,
        b"d;" + b"a" * 20_000,
        b"d\x00",
        b"1e1",
        b"\xff",
    )
    for size in sizes:
        yield Attack("chunks", repr(size[:10]), (chunked(size + b'\r\n{"text": "a"}\r\n' + end),), EITHER)
    single = b"".join(b"1\r\n%c\r\n" % byte for byte in b'{"text": "' + b"a" * 5_000 + b'"}')
    shapes: dict[str, tuple[bytes, tuple[int, ...]]] = {
        "single bytes": (single + end, OK), "no line end": (b'd\r\n{"text": "a"}' + end, REFUSED),
        "longer than said": (b'5\r\n{"text": "a"}\r\n' + end, REFUSED), "only LF": (b'd\n{"text": "a"}\n0\n\n', EITHER),
        "trailers": (body + b"0\r\n" + b"X-A: b\r\n" * 100 + b"\r\n", EITHER),
        "many trailers": (body + b"0\r\n" + b"X-A: b\r\n" * 20_000 + b"\r\n", EITHER),
        "bad trailer": (body + b"0\r\nno colon\r\n\r\n", REFUSED), "zeros": (b"0" * 5_000 + body + end, REFUSED),
        "too many bytes": ((b"ffff\r\n" + b"a" * 65_535 + b"\r\n") * 20 + end, REFUSED),
    }  # fmt: skip
    for name, (data, statuses) in shapes.items():
        yield Attack("chunks", name, (chunked(data),), statuses)
    yield Attack("chunks", "HTTP/1.0", (chunked(body + end, version="HTTP/1.0"),), EITHER)
    for name, data in {"no end": body, "half a size": b"ff", "half a chunk": b"ff\r\n{", "nothing": b""}.items():
        yield Attack("chunks", name, (chunked(data),), slow=True)


def _smuggling() -> Iterator[Attack]:
    body = b'{"text": "a"}'
    hidden = get("/smuggled")
    shapes: list[list[str | bytes]] = [
        ["Content-Length: 13", "Content-Length: 13"], ["Content-Length: 13", "Content-Length: 5"],
        ["Content-Length: 13, 13"], ["Transfer-Encoding: chunked", "Content-Length: 13"],
        ["Content-Length: 13", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding: identity, chunked"], ["Transfer-Encoding: xchunked"], ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding : chunked"], ["Transfer-Encoding:\tchunked"], [b"Transfer-Encoding: \x0bchunked"],
        ["X: y\nTransfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["Transfer_Encoding: chunked"], ["Transfer-Encoding: CHUNKED"], ["Foo: bar\r\n Content-Length: 13"],
        ["Content-Length: 0", "Content-Length: 13"], [b"Content-Length: 13\x00"], [b"Content-Length\x00: 13"],
        ["Content-Length: 13\rX: y"], ["Transfer-Encoding: chunked\r\n\t, identity"],
    ]  # fmt: skip
    for headers in shapes:
        name = " | ".join(repr(header).strip("b'\"") for header in headers)
        for data in (body, b"0\r\n\r\n" + hidden):
            sent = request(data, length=None, headers=headers)
            yield Attack("smuggling", f"{name}, {len(data)} bytes", (sent,), EITHER, slow=True)


def _heads() -> Iterator[Attack]:
    shapes: dict[str, list[str | bytes]] = {
        "20 kB header": ["X: " + "a" * 20_000], "70 kB header": ["X: " + "a" * 70_000],
        "1 MB header": ["X: " + "a" * 10**6],
        "long name": ["a" * 20_000 + ": x"], "10,000 headers": [f"X-{i}: y" for i in range(10_000)],
        "no colon": ["no colon"], "no name": [": value"], "blank in name": ["X Y: z"], "blank before colon": ["X : z"],
        "NUL in value": ["X: a\x00b"], "NUL in name": ["X\x00: a"], "CR in value": ["X: a\rb"], "Latin": [b"X-\xe9: a"],
        "bytes in value": [b"X: \xff\xfe"], "fold": ["X: a\r\n b"], "fold first": [" X: a"], "colons": [":" * 1_000],
        "cookie": ["Cookie: " + "a=b; " * 4_000], "range": ["Range: bytes=" + "0-," * 3_000],
    }  # fmt: skip
    fine = {"bytes in value", "colons", "range"}
    for name, headers in shapes.items():
        yield Attack("head", name, (get("/", headers=headers),), EITHER if name in fine else (*REFUSED, 200))
    for name, sent in {
        "only LF": get().replace(b"\r\n", b"\n"), "only CR": get().replace(b"\r\n", b"\r"),
        "two blanks": get().replace(b"GET /", b"GET  /"), "tabs": get().replace(b" ", b"\t", 2),
        "no version": b"GET /health\r\nHost: localhost\r\n\r\n", "blank line first": b"\r\n" + get(),
        "line ends": b"\r\n" * 50_000, "one line": b"a" * 100_000, "one path": b"GET /" + b"a" * 100_000,
    }.items():  # fmt: skip
        yield Attack("head", name, (sent,), EITHER, slow=True)


def _paths() -> Iterator[Attack]:
    up = ("../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..%5c", "..\\", "....//", "%252e%252e%252f", "..;/", "%c0%ae%c0%ae/")
    for part in up:
        yield Attack("path", f"/page/{part}", (get(f"/page/{part * 8}etc/passwd"),))
        yield Attack("path", f"/page/{part}app", (get(f"/page/{part}app.py"),))
    for path in ("//etc/passwd", "/page//etc/passwd", "/page/%00", "/page/index.html%00.py", "/page/.", "/page/..",
                 "/%", "/%ff", "/%zz", "/a%0d%0aX:y", "/annotate/", "/page/" + "a" * 5_000, "/" + "a" * 60_000, "/a#b",
                 "/;a", "/.git/config", "/__init__.py", "/page/CON", "/{text}", "/page/" + "a/" * 5_000):  # fmt: skip
        yield Attack("path", path[:30], (get(path),))
    for path in (
        "health",
        "*",
        "",
        "http://localhost/health",
        "http://evil.example.com/",
        "/\u00e9",
        "/a b",
        "localhost:443",
    ):
        yield Attack("path", f"{path!r} without a slash", (get(path),), EITHER)
    for query in ("a" * 10_000, "text=" + "%00" * 1_000, "&" * 10_000, "[]=1", "%ff"):
        yield Attack("path", f"query {query[:10]}", (get(f"/health?{query}"),), EITHER)


def _hosts() -> Iterator[Attack]:
    for host in ("evil.example.com", "evil.example.com:8000", "localhost.evil.com", "127.0.0.1.nip.io",
                 "localhost:80:80", "a@localhost", "localhost, evil.com", "", "[::1", "::1", "0", "2130706433",
                 "\u212aocalhost", "local\x00host", "localhost/..", "a" * 10_000, "10.0.0.1", "*"):  # fmt: skip
        yield Attack("host", repr(host[:30]), (get(host=host),))
    yield Attack("host", "none", (get(host=None),))
    yield Attack("host", "two", (get(headers=["Host: evil.example.com"]),))
    yield Attack("host", "none, HTTP/1.0", (get(host=None, version="HTTP/1.0"),), EITHER)
    yield Attack("host", "forwarded", (get(headers=["X-Forwarded-Host: evil.example.com"]),), OK)
    for origin in ("https://evil.example.com", "null", "file://", "http://localhost.evil.com", "//localhost",
                   "http://localhost@evil.com", "", "javascript:alert(1)", "http://127.0.0.1.evil.com"):  # fmt: skip
        yield Attack("host", f"origin {origin}", (request(b'{"text": "a"}', headers=[f"Origin: {origin}"]),), (403,))
    preflight = ["Origin: https://evil.example.com", "Access-Control-Request-Method: POST"]
    yield Attack("host", "preflight", (get("/annotate", method="OPTIONS", headers=preflight),), (403,))


def _protocols() -> Iterator[Attack]:
    for version in (
        "HTTP/0.9",
        "HTTP/1.2",
        "HTTP/2.0",
        "HTTP/3",
        "HTTP/9.9",
        "http/1.1",
        "HTTP/1.1.1",
        "HTTP/",
        "FTP/1.1",
    ):
        yield Attack("protocol", version, (get(version=version),), EITHER)
    for name, sent in {
        "HTTP/0.9": b"GET /\r\n\r\n", "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04",
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100), "SSH": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        "SMTP": b"EHLO evil.example.com\r\n\r\n", "Redis": b"*1\r\n$4\r\nINFO\r\n\r\n", "NUL": bytes(5_000),
        "PROXY": b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + get(), "RTSP": b"OPTIONS * RTSP/1.0\r\n\r\n",
        "bytes": bytes(range(256)) * 10 + b"\r\n\r\n", "memcached": b"stats\r\n\r\n",
    }.items():  # fmt: skip
        yield Attack("protocol", name, (sent,), slow=True)
    upgrade = ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "Connection: Upgrade"]
    for protocol in ("websocket", "h2c", "TLS/1.2", "x" * 5_000):
        yield Attack("protocol", f"upgrade {protocol[:10]}", (get(headers=[*upgrade, f"Upgrade: {protocol}"]),), EITHER)
    for expect in ("100-continue", "200-ok", "x" * 5_000):
        sent = request(b'{"text": "a"}', headers=[f"Expect: {expect}"])
        yield Attack("protocol", f"expect {expect[:10]}", (sent,), (100, *EITHER))
    waits = request(length="13", headers=["Expect: 100-continue"])
    yield Attack("protocol", "expect, then nothing", (waits,), (100, *REFUSED), slow=True)


def _pipelines() -> Iterator[Attack]:
    alive = get().replace(b"Connection: close\r\n", b"")
    for name, sent in {
        "100 requests": alive * 100 + get(), "then nonsense": alive * 3 + b"\x00nonsense\r\n\r\n",
        "then half": alive + b"GET /",
        "after a post": request(b'{"text": "a"}').replace(b"Connection: close\r\n", b"") + get(),
        "after a bad post": request(b"{").replace(b"Connection: close\r\n", b"") + get("/nowhere"),
        "after the end": get() + b"more" * 1_000, "5,000 requests": alive * 5_000 + get(),
    }.items():  # fmt: skip
        yield Attack("pipeline", name, (sent,), EITHER, slow=True)


def _leaving() -> Iterator[Attack]:
    long = request(json.dumps({"text": "The ferry left. " * 500, "pictures": True}).encode())
    alive = get("/openapi.json").replace(b"Connection: close\r\n", b"")
    for name, pieces in {
        "at once": (), "after a byte": (b"G",), "after a head": (request(length="100"),), "in a body": (long[:3_000],),
        "after a request": (long,), "while it is answered": (long, 0.05), "unread answers": (alive * 300, 0.2),
        "in a chunk": (chunked(b"ff\r\n{"),), "after a bad chunk": (chunked(b"zz\r\n"),),
    }.items():  # fmt: skip
        for leaves in (True, False):
            yield Attack("leaving", f"{name}{', reset' if leaves else ''}", pieces, EITHER, leaves, slow=not leaves)


def _halves() -> Iterator[Attack]:
    whole = request(b'{"text": "The ferry left."}')
    for part in range(0, len(whole), 12):
        yield Attack("half", f"{part} bytes", (whole[:part],), EITHER, slow=True)
    for name, sent in {"head": get(headers=["X: y"] * 50), "body": request(b" " * 400)}.items():
        drops = [piece for byte in sent for piece in (bytes([byte]), 0.2)]
        yield Attack("half", f"{name} byte by byte", tuple(drops), EITHER, slow=True)


def mutated(seed: int) -> Attack:
    """A valid request with random faults."""
    source = random.Random(seed)
    fields = {"text": "The ferry left Bergen.", "probabilities": True, "format": "json"}
    sent = bytearray(
        source.choice([request(json.dumps(fields).encode()), get(), chunked(b'd\r\n{"text": "a"}\r\n0\r\n\r\n')])
    )
    for _ in range(source.randint(1, 6)):
        place = source.randrange(len(sent) + 1)
        length = source.choice([1, 1, 2, 8, 40])
        how = source.choice(["change", "drop", "double", "insert"])
        if how == "change" and place < len(sent):
            sent[place] = source.randrange(256)
        elif how == "drop":
            del sent[place : place + length]
        elif how == "double":
            sent[place:place] = sent[place : place + length] * source.choice([1, 2, 200])
        else:
            sent[place:place] = source.choice(
                [b"\r\n", b"\x00", b" ", b":", b"\xff", b"\r\n\r\n", b"9" * 30, b'"', b"{["]
            )
    return Attack("mutated", str(seed), (bytes(sent),), EITHER, slow=True)


def run(count: int, seed: int, minutes: float | None = None) -> Outcome:
    """Attack a service in a process of its own, which may open few files; then flood it with idle connections."""
    outcome, deadline = Outcome("web"), Deadline(minutes)
    every = attacks()
    seeds = [attack_seed(seed, number) for number in range(count)]
    chosen = [every[number] if number < len(every) else mutated(own) for number, own in enumerate(seeds)]
    with TemporaryDirectory() as folder, service(a_model(Path(folder)), "--timeout", "5", files=256) as served:
        address = ("127.0.0.1", served.port)
        before = rss_mb(served.process.pid)
        lock = threading.Lock()

        def work(place: int) -> None:
            if deadline.passed():
                return
            fault = fault_of(address, chosen[place])
            with lock:
                _count(outcome, chosen[place], seeds[place], fault)

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(len(chosen))))
        _count(outcome, Attack("flood", "300 idle connections", ()), seed, flood(address, 300))
        outcome.figures |= {
            "start_mb": before,
            "end_mb": rss_mb(served.process.pid),
            "log_bytes": served.log.stat().st_size,
        }
        if served.log.stat().st_size > LOG:
            outcome.fail("log", seed, f"the log has {served.log.stat().st_size:,} bytes")
        if served.process.poll() is not None:
            outcome.fail("service", seed, f"the service ended with code {served.process.returncode}")
    return outcome


def _count(outcome: Outcome, attack: Attack, seed: int, fault: str) -> None:
    if fault:
        case = b"".join(piece for piece in attack.pieces if isinstance(piece, bytes))
        outcome.fail(attack.kind, seed, f"{attack.name}: {fault}", case)
    else:
        outcome.hold(attack.kind)


def fault_of(address: tuple[str, int], attack: Attack, patience: float = PATIENCE) -> str:
    """What an attack broke, nothing if it held."""
    try:
        answer = _send(address, attack, patience)
    except TimeoutError:
        return f"neither answered nor closed within {patience:g} seconds"
    return wrong(answer, attack.statuses) or unhealthy(address)


def _send(address: tuple[str, int], attack: Attack, patience: float) -> bytes:
    """Everything that the service answers until it closes the connection."""
    with socket.create_connection(address, timeout=patience) as connection:
        with contextlib.suppress(ConnectionError):
            for piece in attack.pieces:
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                else:
                    time.sleep(piece)
        if attack.leaves:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return b""
        return _received(connection)


def _received(connection: socket.socket) -> bytes:
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def wrong(answer: bytes, statuses: Sequence[int]) -> str:
    """What is wrong with an answer, nothing if it is plain; the service may also close the connection without one."""
    if not answer:
        return ""
    first = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    if first is None:
        return f"answered {answer[:80]!r}"
    if secret := SECRETS.search(answer.partition(b"\r\n\r\n")[2]):
        return f"the answer shows {secret[0]!r}"
    if int(first[1]) not in (*statuses, *BUSY):
        return f"answered {answer[:400]!r}"
    return ""


def unhealthy(address: tuple[str, int], patience: float = PATIENCE) -> str:
    """What is wrong with the service, nothing if it answers."""
    try:
        with socket.create_connection(address, timeout=patience) as connection:
            connection.sendall(get())
            answer = _received(connection)
    except OSError as error:
        return f"the service does not answer any more: {error!r}"
    return "" if answer.startswith(b"HTTP/1.1 200 ") else f"the service is not healthy: {answer[:200]!r}"


def flood(address: tuple[str, int], number: int, sent: Callable[[int], bytes] = lambda i: b"GET /"[: i % 6]) -> str:
    """Open connections that send little or nothing, and keep them open."""
    with contextlib.ExitStack() as stack:
        for i in range(number):
            with contextlib.suppress(ConnectionError):
                stack.enter_context(socket.create_connection(address, timeout=PATIENCE)).sendall(sent(i))
        return unhealthy(address)
