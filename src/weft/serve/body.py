"""Middleware around the application: names it answers for, limits on bodies, headers on every response."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from weft.serve.hosts import Hosts

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
#: How much of an oversized body is still read, so that the client gets to see the response.
_PATIENCE = 32 * 1024 * 1024
#: The most bytes of all bodies in memory, but always room for a few of the longest.
_ALL_BODIES = 64 * 1024 * 1024
_ALLOW = "use its address, or name the host when starting it: --allow-host NAME"


class Gone(Exception):
    """The client closed the connection before its request was complete."""


class HostCheck:
    """Passes on requests for names of the service that no page of another site sent."""

    def __init__(self, app: App, hosts: Hosts) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        host, origin = headers.get(b"host"), headers.get(b"origin")
        # Browsers always send the header; without it, old programs speak HTTP 1.0.
        if host is not None and not self.hosts.allow(host):
            await _refuse(send, 421, f"the service does not answer for the host {host[:100]!r}; {_ALLOW}")
        elif origin is not None and not self.hosts.allow_origin(origin):
            await _refuse(send, 403, f"the service does not answer pages of {origin[:100]!r}; {_ALLOW}")
        else:
            await self.app(scope, receive, send)


class BodyLimit:
    """Passes on requests whose bodies are complete, at most `max_bytes` long and received within `timeout` seconds.

    The memory that all bodies take together is bounded, too: clients cannot fill it with many halves of requests.
    """

    def __init__(self, app: App, max_bytes: int, timeout: float) -> None:
        self.app, self.max_bytes, self.timeout = app, max_bytes, timeout
        self.held, self.most = 0, max(_ALL_BODIES, 4 * max_bytes)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        try:
            async with asyncio.timeout(self.timeout):
                refusal = await self._read(receive, body)
        except TimeoutError:
            refusal = 408, f"the request was incomplete after {self.timeout:g} seconds; send it again"
        except Gone:
            self.held -= len(body)
            return
        try:
            if refusal is None:
                await self.app(scope, _replay(bytes(body), receive), send)
            else:
                await _refuse(send, *refusal)
        finally:
            self.held -= len(body)

    async def _read(self, receive: Receive, body: bytearray) -> tuple[int, str] | None:
        """Receive a body, or say why not; the excess of one that is too long is received for a while and discarded."""
        size, more = 0, True
        while more and size <= self.max_bytes + _PATIENCE:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            part = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(part)
            if size <= self.max_bytes:
                self.held += len(part)
                body += part
            if self.held > self.most:
                return 503, "the service is receiving too many long requests; try again in a moment"
        if size <= self.max_bytes:
            return None
        return 413, f"the request is longer than {self.max_bytes:,} bytes; send the text in parts"


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that hands out a body first."""
    handed = False

    async def replay() -> Message:
        nonlocal handed
        if handed:
            return await receive()
        handed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


class Headers:
    """Adds headers to every response."""

    def __init__(self, app: App, headers: Mapping[bytes, bytes]) -> None:
        self.app, self.headers = app, list(headers.items())

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self.headers]
            await send(message)

        await self.app(scope, receive, add)


async def _refuse(send: Send, status: int, error: str) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
