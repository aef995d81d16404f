"""Run the application: a socket bound before anything is printed, and a server in a thread for tests."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import uvicorn

from weft.errors import ConfigError
from weft.memory import return_free_memory
from weft.serve import memory
from weft.serve.app import create_app
from weft.serve.connections import ACCEPTED, Bounds, Connection, bound_logs
from weft.serve.hosts import Hosts
from weft.serve.service import Service

#: The maximum number of pending connections.
_BACKLOG = 2048
#: The interval in seconds after which a Python thread yields to another.
_TURN = 0.0005


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, or a plain error; port 0 means any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol given, the event loop sends responses at once instead of waiting for full packets.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
        return listening
    except OSError as error:
        listening.close()
        reason = (error.strerror or str(error)).lower().split(" (")[0]
        raise ConfigError(
            f"cannot listen at {host}, port {port}: {reason}; choose others with --host and --port"
        ) from None


def address(listening: socket.socket) -> str:
    """The URL of the server for a browser."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """Uvicorn with the bounds on connections that `weft.serve.connections` describes."""

    def __init__(self, app: Any, bounds: Bounds) -> None:
        quiet: dict[str, Any] = {"log_level": "error", "access_log": False, "server_header": False}
        protocol = cast("Any", partial(Connection, bounds=bounds))
        # The event loop accepts up to `backlog` connections before it looks at one of them.
        given: dict[str, Any] = {"lifespan": "off", "ws": "none", "http": protocol, "backlog": ACCEPTED}
        super().__init__(uvicorn.Config(app, timeout_graceful_shutdown=5, **given, **quiet))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        bound_logs()
        for listening in sockets or ():
            listening.listen(_BACKLOG)

    async def on_tick(self, counter: int) -> bool:
        # Ten times per second.
        if counter % (10 * memory.EVERY) == 0:
            return_free_memory()
        if counter % 5 == 0:
            for connection in cast("Sequence[Connection]", list(self.server_state.connections)):
                connection.check()
        return await super().on_tick(counter)


def serve(
    service: Service, listening: socket.socket, allowed_hosts: Iterable[str] = (), bounds: Bounds | None = None
) -> None:
    """Serve requests until interrupted: those for the address it listens on, localhost, and `allowed_hosts`."""
    hosts = Hosts(listening.getsockname()[0], allowed_hosts)
    serve_app(create_app(service, hosts), listening, bounds)
    service.close()


def serve_app(app: Any, listening: socket.socket, bounds: Bounds | None = None) -> None:
    """Serve the requests of any application until interrupted."""
    # The thread that talks to clients has little to do, but often; it should not wait long for those that annotate.
    sys.setswitchinterval(_TURN)
    with listening:
        Server(app, bounds or Bounds()).run(sockets=[listening])


@contextlib.contextmanager
def running(service: Service, host: str = "127.0.0.1", port: int = 0, bounds: Bounds | None = None) -> Iterator[str]:
    """The URL of a server that runs in a thread for the duration of the block."""
    try:
        with app_running(create_app(service, Hosts(host)), host, port, bounds) as url:
            yield url
    finally:
        service.close()


@contextlib.contextmanager
def app_running(app: Any, host: str = "127.0.0.1", port: int = 0, bounds: Bounds | None = None) -> Iterator[str]:
    """The same for any application."""
    listening = bind(host, port)
    server = Server(app, bounds or Bounds())
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        _wait(lambda: server.started or not thread.is_alive())
        yield address(listening)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


def _wait(ready: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not ready() and time.monotonic() < end:
        time.sleep(0.01)
