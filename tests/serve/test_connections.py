"""Connections that send nothing, or read nothing, cost nothing for long; pages of other sites are not answered."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import socket
from collections import deque
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from weft.pipeline.pipeline import Pipeline
from weft.serve import Limits, Service, running
from weft.serve.body import BodyLimit, Message
from weft.serve.connections import BoundedLog, Bounds, connection_limit
from weft.serve.hosts import Hosts

#: Sockets wait this long for what must come; nothing is expected to take as long.
PATIENCE = 20.0
HEAD = b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """A service without components, with little patience and few connections."""
    service = Service({"none": Pipeline([])}, Limits(timeout=10.0))
    with running(service, bounds=Bounds(head=0.5, stalled=0.5, connections=20)) as url:
        parts = httpx.URL(url)
        yield parts.host, parts.port or 80


def opened(address: tuple[str, int], sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(address, timeout=PATIENCE)
    connection.sendall(sent)
    return connection


def answer(connection: socket.socket) -> bytes:
    """Everything that the service sends until it closes the connection."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def asked(address: tuple[str, int], *headers: str, version: str = "1.1", method: str = "GET") -> tuple[int, str]:
    """Status and error of a request with some headers."""
    lines = [f"{method} /health HTTP/{version}", *headers, "Connection: close"]
    with opened(address, "\r\n".join([*lines, "", ""]).encode()) as connection:
        head, _, body = answer(connection).decode().partition("\r\n\r\n")
    return int(head.split()[1]), json.loads(body).get("error", "") if body.startswith("{") else body


def test_an_idle_connection_is_closed(address: tuple[str, int]) -> None:
    with opened(address) as connection:
        assert answer(connection) == b""


def test_a_connection_that_was_used_is_closed_when_idle(address: tuple[str, int]) -> None:
    with opened(address, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") as connection:
        assert answer(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("part", [b"G", b"GET /health HTTP/1.1\r\nHost: local", HEAD])
def test_half_of_a_head_is_told_to_be_late(address: tuple[str, int], part: bytes) -> None:
    with opened(address, part) as connection:
        told = answer(connection)
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"incomplete after 0.5 seconds" in told


def test_a_head_that_comes_byte_by_byte_is_told_to_be_late(address: tuple[str, int]) -> None:
    with opened(address) as connection:
        connection.settimeout(0.05)
        for byte in HEAD * 100:
            try:
                connection.sendall(bytes([byte]))
                told = connection.recv(1000)
                break
            except TimeoutError:
                continue
        assert told.startswith(b"HTTP/1.1 408 ")


def test_a_client_that_does_not_read_its_response_is_closed(address: tuple[str, int]) -> None:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    with connection:
        connection.settimeout(PATIENCE)
        connection.connect(address)
        ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        sent = (connection.send(ask * 100) for _ in itertools.count())
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            deque(sent, 0)


@pytest.mark.parametrize("sent", [b"", b"GET /health HT", HEAD + b"Content-Length: 50\r\n\r\n{"])
def test_waiting_connections_make_room_for_new_ones(address: tuple[str, int], sent: bytes) -> None:
    waiting = [opened(address, sent) for _ in range(60)]
    assert asked(address, "Host: localhost")[0] == 200
    # The oldest were closed.
    assert [answer(connection) for connection in waiting[:30]] == [b""] * 30
    for connection in waiting:
        connection.close()
    assert asked(address, "Host: localhost")[0] == 200


def test_connections_leave_room_below_the_limit_on_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, connections in ((256, 128), (1024, 896), (10, 8), (resource.RLIM_INFINITY, 1000)):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, files=files: (files, files))
        assert connection_limit() == connections


def test_only_names_of_the_service_are_answered(address: tuple[str, int]) -> None:
    for host in ("localhost", "127.0.0.1:8000", "LOCALHOST:1", "[::1]:80", "localhost."):
        assert asked(address, f"Host: {host}")[0] == 200
    for host in (
        "evil.example.com",
        "localhost.evil.com",
        "127.0.0.1.evil.com",
        "10.0.0.1",
        "",
        "localhost:80:80",
        "a b",
    ):
        status, error = asked(address, f"Host: {host}")
        assert status == 421
        assert "--allow-host" in error
    assert asked(address, version="1.0")[0] == 200
    assert asked(address)[0] == 400
    assert asked(address, "Host: localhost", "Host: localhost")[0] == 400


def test_a_bad_body_after_a_refused_head_leaves_nothing_in_the_log(address: tuple[str, int]) -> None:
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        for host in ("localhost", "evil.example.com"):
            head = f"POST /annotate HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n"
            with opened(address, head.encode() + b"zz\r\n") as connection:
                assert answer(connection).startswith(b"HTTP/1.1 400 ")
        assert asked(address, "Host: localhost")[0] == 200
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    assert [record.getMessage() for record in records] == []


def test_pages_of_other_sites_are_not_answered(address: tuple[str, int]) -> None:
    assert asked(address, "Host: localhost", "Origin: http://localhost:8000")[0] == 200
    for origin in ("https://evil.example.com", "null", "file://localhost", "http://localhost@evil.com"):
        assert asked(address, "Host: localhost", f"Origin: {origin}")[0] == 403


def test_a_service_on_all_interfaces_answers_for_addresses_and_its_own_name() -> None:
    hosts = Hosts("0.0.0.0", ["weft.example.org"])
    for name in ("10.1.2.3:8000", "[fe80::1]", f"{socket.gethostname()}:8000", "weft.example.org", "localhost"):
        assert hosts.allow(name)
    for name in ("evil.example.com", "1.2.3", "10.1.2.3.example.com"):
        assert not hosts.allow(name)


def test_repeated_messages_are_counted_not_written(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    logger = logging.getLogger("test.bounded")
    log = BoundedLog(3, clock=lambda: now)
    logger.addFilter(log)
    try:
        for _ in range(1000):
            logger.error("a request failed: %s", 7)
        now = 61.0
        logger.error("a request failed: %s", 8)
    finally:
        logger.removeFilter(log)
    assert len(caplog.messages) == 4
    assert caplog.messages[-1] == "a request failed: 8 (997 more messages were left out)"


def test_halves_of_long_requests_take_bounded_memory() -> None:
    """Without a network: clients that send half of the longest body and then nothing."""
    reached: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(len((await receive())["body"]))

    async def attack() -> list[int]:
        limit = BodyLimit(app, max_bytes=10, timeout=5.0)
        limit.most, statuses = 40, []
        go = asyncio.Event()

        async def client(first: bytes) -> None:
            sent = 0

            async def receive() -> Message:
                nonlocal sent
                sent += 1
                if sent > 1:
                    await go.wait()
                return {"type": "http.request", "body": first if sent == 1 else b"1", "more_body": sent == 1}

            async def send(message: Message) -> None:
                statuses.append(message.get("status", 0))

            await limit({"type": "http"}, receive, send)

        clients = [asyncio.create_task(client(b"12345678")) for _ in range(8)]
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*clients)
        assert limit.held == 0
        return [status for status in statuses if status]

    assert asyncio.run(attack()) == [503] * 4
    assert reached == [9] * 4
