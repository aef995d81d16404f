"""Run the application: a socket bound before anything is printed, and a server in a thread for tests."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from weft.errors import ConfigError
from weft.serve.app import create_app
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


def serve(service: Service, listening: socket.socket) -> None:
    """Serve requests until interrupted."""
    # The thread that talks to clients has little to do, but often; it should not wait long for those that annotate.
    sys.setswitchinterval(_TURN)
    with listening:
        _server(service).run(sockets=[listening])
    service.close()


@contextlib.contextmanager
def running(service: Service, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """The URL of a server that runs in a thread for the duration of the block."""
    listening = bind(host, port)
    server = _server(service)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        _wait(lambda: server.started or not thread.is_alive())
        yield address(listening)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
        service.close()


def _server(service: Service) -> uvicorn.Server:
    quiet: dict[str, Any] = {"log_level": "error", "access_log": False, "server_header": False}
    return uvicorn.Server(
        uvicorn.Config(create_app(service), lifespan="off", timeout_graceful_shutdown=5, ws="none", **quiet)
    )


def _wait(ready: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not ready() and time.monotonic() < end:
        time.sleep(0.01)
