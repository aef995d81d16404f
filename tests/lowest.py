"""Run the users' stories with the lowest versions of all dependencies that `pyproject.toml` allows (`make lowest`).

    python tests/lowest.py constraints            the lowest versions, as constraints for pip
    python tests/lowest.py requirements           what the stories need, to install with these constraints
    python tests/lowest.py stories                run the stories of the README with the installed versions

Versions stand in `pyproject.toml` alone. pip resolves what the dependencies need themselves: if one of them needs a
newer version of another than our bound, the installation fails, and the bound must be raised. All other packages come
in their newest versions, as for a user whose environment holds one old package.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("all",)
#: What runs the tests themselves.
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "httpx")


class Story(NamedTuple):
    """A command of a user, and what tells that it did something: words it prints, or a file it writes."""

    command: str
    prints: str = ""
    writes: str = ""


STORIES = [
    Story("--help", prints="annotate"),
    *(Story(f"{name} --help", prints="Usage: weft") for name in ("annotate", "train", "evaluate", "convert", "serve")),
    Story("annotate examples/note.txt", prints="root"),
    Story("annotate examples/note.txt examples/port.txt --to jsonl --out annotated/ --workers 2", writes="annotated"),
    Story("annotate examples/note.txt --out note.parquet", writes="note.parquet"),
    Story("train chunker examples/chunks.conll --out chunker.weft", writes="chunker.weft"),
    Story("annotate examples/unseen.conll --model chunker.weft --out predicted.conll", writes="predicted.conll"),
    Story("evaluate examples/unseen.conll predicted.conll", prints="F1"),
    Story("convert note.parquet note.conllu", writes="note.conllu"),
    Story("reproduce --list", prints="crf-shallow-parsing"),
]


def requirements() -> list[Requirement]:
    """All requirements of the package and its extras, without those on the package itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    every = [Requirement(line) for lines in lists for line in lines]
    return [each for each in every if each.name != project["name"]]


def lowest(requirement: Requirement) -> Version:
    """The lower bound of a requirement.

    >>> str(lowest(Requirement("example >= 1.26")))
    '1.26'
    """
    (bound,) = [each.version for each in requirement.specifier if each.operator == ">="]
    return Version(bound)


def constraints() -> dict[str, Version]:
    """The lowest allowed version of every package."""
    found: dict[str, Version] = {}
    for each in requirements():
        found[each.name] = max(lowest(each), found.get(each.name, Version("0")))
    return found


def run_stories() -> int:
    """Run the stories in a new folder; the number of those that fail."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        for story in STORIES:
            command = [sys.executable, "-m", "weft", *story.command.split()]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            written = Path(folder) / story.writes
            good = done.returncode == 0 and story.prints in done.stdout and written.exists()
            print(f"{'ok    ' if good else 'FAILED'} weft {story.command}", flush=True)
            if not good:
                failures += 1
                print(done.stdout[-2000:], done.stderr[-2000:], sep="\n")
    return failures


def main() -> None:
    match sys.argv[1:]:
        case ["constraints"]:
            print(*(f"{name}=={version}" for name, version in constraints().items()), sep="\n")
        case ["requirements"]:
            print(f"-e {ROOT}[{','.join(EXTRAS)}]", *TOOLS, sep="\n")
        case ["stories"]:
            sys.exit(1 if run_stories() else 0)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
