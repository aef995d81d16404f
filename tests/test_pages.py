"""The documentation pages show what their examples print."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from places import ROOT

_spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
assert _spec is not None
assert _spec.loader is not None
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)


@pytest.mark.parametrize("page", pages.pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_examples_print(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_QUIET", "1")
    text = page.read_text(encoding="utf-8")
    assert pages.render_page(text) == text, "run `make render`"
