"""Bytes from an HTTP server, within limits of size and time.

Only `http` and `https` are spoken, also after a redirect, and a redirect never leads from `https` back to `http`. Every
error is a `ModelError` that names the address.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from weft.errors import ModelError

#: Seconds to wait for the next bytes of a server.
TIMEOUT = 30.0
#: A download may take `TIMEOUT` and the time that its bytes need at this rate.
SLOWEST = 10_000  # bytes per second
_PIECE = 1 << 16
_SCHEMES = ("http", "https")


def is_url(source: str) -> bool:
    """Whether a source is an address, not a file.

    >>> is_url("https://example.org/index.json"), is_url("models/index.json"), is_url("ftp://example.org")
    (True, False, True)
    """
    return "://" in source


def download(url: str, most: int, timeout: float = TIMEOUT) -> Iterator[bytes]:
    """The content at an address, piece by piece; more than `most` bytes are refused."""
    _check(url, url)
    deadline = time.monotonic() + timeout + most / SLOWEST
    received = 0
    try:
        with _opener().open(Request(url, headers=_headers()), timeout=timeout) as response:
            told = response.headers.get("Content-Length", "")
            if told.isdigit() and int(told) > most:
                raise _too_long(url, most)
            while piece := response.read1(_PIECE):
                received += len(piece)
                if received > most:
                    raise _too_long(url, most)
                if time.monotonic() > deadline:
                    raise TimeoutError
                yield piece
    except HTTPError as error:
        raise ModelError(f"{url}: the server responded with {error.code} ({error.reason}); check the address") from None
    except TimeoutError:
        raise _too_slow(url) from None
    except URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise _too_slow(url) from None
        raise ModelError(f"{url} cannot be reached: {_reason(error.reason)}") from None
    except (http.client.HTTPException, OSError, UnicodeError, ValueError) as error:
        raise ModelError(f"{url} cannot be downloaded: {_reason(error)}") from None


class _Redirects(HTTPRedirectHandler):
    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        _check(newurl, req.full_url)
        if urlsplit(req.full_url).scheme == "https" and urlsplit(newurl).scheme != "https":
            raise ModelError(f"{req.full_url} redirects from https to http ({newurl}); refused")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check(url: str, asked: str) -> None:
    try:
        parts = urlsplit(url)
        known = parts.scheme in _SCHEMES and parts.hostname
    except ValueError:
        known = None
    if not known:
        place = url if url == asked else f"{asked} redirects to {url}, which"
        raise ModelError(f"{place} is not an http or https address")


def _opener() -> OpenerDirector:
    """An opener without the handlers of `file:`, `ftp:` and `data:` that `urllib` adds by default."""
    opener = OpenerDirector()
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor, _Redirects):
        opener.add_handler(handler())
    return opener


def _headers() -> dict[str, str]:
    from weft import __version__

    return {"User-Agent": f"weft/{__version__}", "Accept-Encoding": "identity"}


def _too_long(url: str, most: int) -> ModelError:
    return ModelError(f"{url} is longer than the {most:,} bytes expected; nothing was installed from it")


def _too_slow(url: str) -> ModelError:
    return ModelError(f"{url}: the server does not respond or is too slow; try again later")


def _reason(error: object) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
