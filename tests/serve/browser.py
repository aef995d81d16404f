"""A real browser for tests and for the pictures of the documentation: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing() -> str:
    """What is missing for a browser, in plain words; nothing if all is there."""
    if _chromium() is None:
        return "there is no Chromium on this machine: install the package chromium"
    try:
        import playwright.sync_api  # noqa: F401
    except ModuleNotFoundError:
        return "Playwright is missing: pip install 'weft[dev]'"
    return ""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The browser while the block runs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=ARGUMENTS)
        yield browser
        browser.close()


def _chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for path in map(shutil.which, names) if path), None)
