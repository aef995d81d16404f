"""Connections that cost the service little: time limits, a maximum number, and a bounded log.

| a connection that | is closed |
|---|---|
| sends no complete request head | after `head` seconds, with 408 if it sent a part |
| does not read its response | when nothing was sent for `stalled` seconds |
| is one more than `connections` | with 503, unless others wait for a request: then the oldest of those is closed |

A body has as long as the request (`weft.serve.body`). The limit on connections stays below the number of files that the
process may open, so that the service can always accept a connection, and close another one for it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: New connections that the event loop accepts before it turns to those it has.
ACCEPTED = 32
#: The most connections, and the number of files that the process may open besides them.
_CONNECTIONS, _OTHER_FILES = 1000, 96 + ACCEPTED


def connection_limit() -> int:
    """How many connections the service may hold: the limit on open files leaves room for other files."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return _CONNECTIONS // 2
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _CONNECTIONS if soft < 0 else max(8, min(_CONNECTIONS, soft - _OTHER_FILES))


@dataclass(frozen=True)
class Bounds:
    """What connections may take."""

    head: float = 10.0  # seconds without a complete request head
    stalled: float = 30.0  # seconds in which a client reads nothing of a response
    connections: int = field(default_factory=connection_limit)


class Connection(H11Protocol):
    """A connection of Uvicorn that knows since when it waits."""

    def __init__(
        self, *args: Any, bounds: Bounds, clock: Callable[[], float] = time.monotonic, **keywords: Any
    ) -> None:
        super().__init__(*args, **keywords)
        self.bounds, self.clock = bounds, clock
        self.since = clock()  # of the last complete request, response or progress in sending one
        self.unsent, self.began, self.late, self.ended = 0, False, False, False

    @property
    def incomplete(self) -> bool:
        """Whether the service waits for a request or the rest of one."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        others = [one for one in cast("Iterable[Connection]", self.connections) if not one.ended]
        if len(others) <= self.bounds.connections:
            return
        waiting = [one for one in others if one is not self and (one.incomplete or one.transport.is_closing())]
        if waiting:
            min(waiting, key=lambda one: one.since).abort()
        else:
            self.refuse(503, "the service has too many connections; try again in a moment")

    def data_received(self, data: bytes) -> None:
        self.began = True
        super().data_received(data)

    def on_response_complete(self) -> None:
        self.since, self.began, self.late = self.clock(), False, False
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # a response was already sent, or begun
            self.abort()
        # The application may be answering the head of the request, whose body turned out to be bad.
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def check(self) -> None:
        """Close the connection if its time is up; called twice per second."""
        now, unsent = self.clock(), self.transport.get_write_buffer_size()
        if unsent != self.unsent:
            self.since, self.unsent = now, unsent
        waited = now - self.since
        if unsent or self.transport.is_closing():
            if waited > self.bounds.stalled:
                self.abort()
        elif (self.cycle is None or self.cycle.response_complete) and waited > self.bounds.head:
            if not self.late:
                self.late = True  # The service may be, too: what has arrived meanwhile is read before the next check.
            elif self.began:
                self.refuse(408, f"the request was incomplete after {self.bounds.head:g} seconds; send it again")
            else:
                self.transport.close()

    def refuse(self, status: int, error: str) -> None:
        """Send an error outside of any request, and close the connection."""
        body = json.dumps({"error": error})
        lines = [
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            "content-type: application/json",
            f"content-length: {len(body)}",
            "connection: close",
        ]
        self.transport.write("\r\n".join([*lines, "", body]).encode())
        self.transport.close()

    def abort(self) -> None:
        """Close the connection without sending the rest."""
        self.ended = True
        self.transport.abort()


class BoundedLog(logging.Filter):
    """Lets a number of messages through per minute, and says how many it left out.

    >>> log = BoundedLog(2, clock=lambda: 0.0)
    >>> record = logging.makeLogRecord({"msg": "too many open files"})
    >>> [log.filter(record) for _ in range(4)]
    [True, True, False, False]
    >>> log.clock = lambda: 60.0
    >>> log.filter(record), record.getMessage()
    (True, 'too many open files (2 more messages were left out)')
    """

    def __init__(self, messages: int = 20, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.messages, self.clock = messages, clock
        self.started, self.passed, self.left_out = clock(), 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = self.clock()
        if now - self.started >= 60:
            self.started, self.passed = now, 0
        if self.passed >= self.messages:
            self.left_out += 1
            return False
        self.passed += 1
        if self.left_out:
            record.msg, record.args = f"{record.getMessage()} ({self.left_out} more messages were left out)", None
            self.left_out = 0
        return True


def bound_logs() -> None:
    """Bound what the service, Uvicorn and the event loop write; each has a share of its own."""
    for name in ("weft.serve", "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, BoundedLog) for one in logger.filters):
            logger.addFilter(BoundedLog())
