"""Run the examples of the documentation pages and update the output they show.

Blocks marked `console` or `pycon` run in order, each page in a folder of its own that contains `examples/`. The output
of a command follows it; `...` stands for any further lines, and a command without output below it must only succeed.
`make render` runs this over all pages; the tests check that nothing would change. `python docs/pages.py PAGE ...` runs
it over some of them.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?<=^```)(console|pycon)\n(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
REST = "..."
#: The environment of commands: how wide, and without colours.
SHOWN = {"WEFT_QUIET": "1", "COLUMNS": "100", "NO_COLOR": "1"}


def main(words: Sequence[str] | None = None) -> int:
    """Update the pages that the command line names, or all of them."""
    parser = argparse.ArgumentParser(description="Run the examples of documentation pages and update their output.")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="files to update, such as docs/apply/annotate.md")
    try:
        wanted = chosen(parser.parse_args(words).pages)
    except ValueError as error:
        print(f"pages: {error}", file=sys.stderr)
        return 2
    for page in wanted:
        text = page.read_text(encoding="utf-8")
        updated = render_page(text)
        if updated != text:
            page.write_text(updated, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
    return 0


def chosen(names: Sequence[str]) -> list[Path]:
    """The pages of these names, relative to the current folder or to the repository; all pages if none is named."""
    every = pages()
    found = []
    for name in names:
        page = next((path for path in (Path(name).resolve(), (ROOT / name).resolve()) if path.is_file()), None)
        if page is None:
            raise ValueError(f"there is no page {name}; name a file such as docs/start/python.md")
        if page not in every:
            raise ValueError(f"{name} has no block marked console or pycon, so there is nothing to run")
        found.append(page)
    return found or every


def pages() -> list[Path]:
    """The pages with commands or Python to run."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in paths if BLOCK.search(path.read_text(encoding="utf-8"))]


def render_page(text: str) -> str:
    """The page with the output that its examples print now."""
    names: dict[str, Any] = {}

    def run(match: re.Match[str]) -> str:
        return f"{match[1]}\n{_console(match[2]) if match[1] == 'console' else _python(match[2], names)}"

    with _example_folder():
        return BLOCK.sub(run, text)


def _console(block: str) -> str:
    parts = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        code, printed = run_command(command)
        if (code and not shown) or "Traceback" in printed:
            raise RuntimeError(f"$ {command}\n{printed}")
        parts.append(f"$ {command}\n{_cut(printed, shown)}")
    return "".join(parts)


def run_command(command: str) -> tuple[int, str]:
    """The exit code of a shell command, and what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path, **SHOWN},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout


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


def _cut(printed: str, shown: str) -> str:
    """As many lines of the output as the page showed before."""
    lines = [line.rstrip() for line in printed.splitlines()]
    lines_shown = shown.splitlines()
    if REST in lines_shown:
        lines = [*lines[: lines_shown.index(REST)], REST]
    return "".join(f"{line}\n" for line in lines) if shown else ""


@contextlib.contextmanager
def _example_folder() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("examples").symlink_to(ROOT / "examples")
        yield


if __name__ == "__main__":
    sys.exit(main())
