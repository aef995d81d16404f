"""Middleware around the application: limits on the size and duration of bodies, headers on every response."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
#: How much of an oversized body is still read, so that the client gets to see the response.
_PATIENCE = 32 * 1024 * 1024


class BodyLimit:
    """Passes on requests whose bodies are complete, at most `max_bytes` long and received within `timeout` seconds."""

    def __init__(self, app: App, max_bytes: int, timeout: float) -> None:
        self.app, self.max_bytes, self.timeout = app, max_bytes, timeout

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.timeout):
                body = await self._read(receive)
        except TimeoutError:
            await _refuse(send, 408, f"the request was incomplete after {self.timeout:g} seconds; send it again")
            return
        if body is None:
            await _refuse(send, 413, f"the request is longer than {self.max_bytes:,} bytes; send the text in parts")
            return
        handed = False

        async def replay() -> Message:
            nonlocal handed
            if handed:
                return await receive()
            handed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, replay, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The whole body, or None if it is too long; the excess is read for a while and discarded."""
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= self.max_bytes + _PATIENCE:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            part = message.get("body", b"")
            size += len(part)
            if size <= self.max_bytes:
                parts.append(part)
            more = message.get("more_body", False)
        return b"".join(parts) if size <= self.max_bytes else None


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
