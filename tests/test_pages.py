"""The documentation pages show what their examples print."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from commands import exit_code, streams
from places import ROOT

_spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
assert _spec is not None
assert _spec.loader is not None
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)
in_a_shell = pages.run_command
#: A command that needs no shell.
PLAIN = re.compile(r"weft [^|<>;&$`*?~]*")


def run_command(command: str) -> tuple[int, str]:
    """Run a plain command of Weft in this process, any other in a shell."""
    if PLAIN.fullmatch(command) is None or command.startswith(("weft serve", "weft label")):
        code, printed = in_a_shell(command)
        return code, printed
    with streams(merged=True) as (out, _), pytest.MonkeyPatch.context() as patch:
        for name, value in pages.SHOWN.items():
            patch.setenv(name, value)
        code = exit_code(shlex.split(command)[1:])
    return code, out()


@pytest.mark.parametrize("page", pages.pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_examples_print(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_QUIET", "1")
    monkeypatch.setattr(pages, "run_command", run_command)
    text = page.read_text(encoding="utf-8")
    assert pages.render_page(text) == text, "run `make render`"


def test_pages_to_run_can_be_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = pages.pages()[-1]
    name = page.relative_to(ROOT).as_posix()
    assert pages.chosen([name]) == pages.chosen([str(page)]) == [page]
    assert pages.chosen([]) == pages.pages()
    seen: list[str] = []
    monkeypatch.setattr(pages, "render_page", lambda text: seen.append(text) or text)
    assert pages.main([name]) == 0
    assert seen == [page.read_text(encoding="utf-8")]
    assert pages.main(["docs/no-such-page.md"]) == 2
    assert "there is no page docs/no-such-page.md" in capsys.readouterr().err
    assert pages.main(["docs/systems/index.md"]) == 2
