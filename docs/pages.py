"""Run what the pages of the documentation show, and write anew what it prints.

Blocks marked `console` or `pycon` are run in order, each page in a folder of its own with `examples/` in it. What a
command prints stands below it; `...` there stands for any further lines, and a command with nothing below it must only
succeed.
`make render` runs this over all pages; the tests check that nothing would change.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?<=^```)(console|pycon)\n(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
REST = "..."


def main() -> None:
    for page in pages():
        text = page.read_text(encoding="utf-8")
        shown = shown_anew(text)
        if shown != text:
            page.write_text(shown, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")


def pages() -> list[Path]:
    """The pages that show commands or Python."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in paths if BLOCK.search(path.read_text(encoding="utf-8"))]


def shown_anew(text: str) -> str:
    """A page with all that its commands print as they print it now."""
    names: dict[str, Any] = {}

    def run(match: re.Match[str]) -> str:
        return f"{match[1]}\n{_console(match[2]) if match[1] == 'console' else _python(match[2], names)}"

    with _a_folder_with_examples():
        return BLOCK.sub(run, text)


def _console(block: str) -> str:
    parts = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, before = part.partition("\n")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command],
            env={**os.environ, "PATH": path, "WEFT_QUIET": "1", "COLUMNS": "100", "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        if (done.returncode and not before) or "Traceback" in done.stdout:
            raise RuntimeError(f"$ {command}\n{done.stdout}")
        parts.append(f"$ {command}\n{_cut(done.stdout, before)}")
    return "".join(parts)


def _python(block: str, names: dict[str, Any]) -> str:
    parts = []
    for example in doctest.DocTestParser().get_examples(block):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "<page>", "single"), names)
        lines = example.source.splitlines(keepends=True)
        parts.append("".join([f">>> {lines[0]}", *(f"... {line}" for line in lines[1:])]))
        parts.append(_cut(printed.getvalue(), example.want))
    return "".join(parts)


def _cut(printed: str, before: str) -> str:
    """What was printed, as much of it as the page showed before."""
    lines = [line.rstrip() for line in printed.splitlines()]
    shown = before.splitlines()
    if REST in shown:
        lines = [*lines[: shown.index(REST)], REST]
    return "".join(f"{line}\n" for line in lines) if before else ""


@contextlib.contextmanager
def _a_folder_with_examples() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("examples").symlink_to(ROOT / "examples")
        yield


if __name__ == "__main__":
    main()
