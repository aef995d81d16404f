"""For which names the service answers, so that no page of another site can use it through a visitor's browser.

A page whose name is made to point to this machine (DNS rebinding) sends its own name as `Host`; a page that posts
across sites sends its own as `Origin`. Addresses are no such names: a service that listens on all interfaces answers
for any of them.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

#: A host and, optionally, a port, as in the header `Host`.
_HOST = re.compile(r"(?P<name>[\w.-]+|\[[0-9a-f:.%]+\])(?::[0-9]{0,5})?", re.ASCII | re.IGNORECASE)
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Hosts:
    """Names and addresses of the service.

    >>> hosts = Hosts("127.0.0.1", ["weft.example.org"])
    >>> [hosts.allow(name) for name in ("localhost:8000", "[::1]:8000", "Weft.Example.org", "evil.example.com", "")]
    [True, True, True, False, False]
    >>> hosts.allow_origin("http://localhost:8000"), hosts.allow_origin("https://evil.example.com")
    (True, False)
    """

    def __init__(self, listening: str, names: Iterable[str] = ()) -> None:
        self.any_address = _is_unspecified(listening)
        own = [socket.gethostname(), f"{socket.gethostname()}.local"] if self.any_address else []
        self.names = {_plain(name) for name in (*_LOCAL, listening, *own, *names)}

    def allow(self, host: str) -> bool:
        """Whether the service answers a request with this `Host`."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = _plain(match["name"])
        return name in self.names or (self.any_address and _is_address(name))

    def allow_origin(self, origin: str) -> bool:
        """Whether the service answers a request that a page of this origin sends."""
        scheme, sign, host = origin.partition("://")
        return scheme in ("http", "https") and bool(sign) and self.allow(host)


def _plain(name: str) -> str:
    return name.strip("[]").lower().removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_unspecified(name: str) -> bool:
    return not name or (_is_address(name) and ipaddress.ip_address(name).is_unspecified)
