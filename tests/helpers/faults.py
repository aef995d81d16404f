"""Deliberate faults, kept as data: a line of the package, the broken line, and why tests must notice.

`tests/mutants/FAMILY.toml` holds them; `make mutants` (`tests/mutants/run.py`) applies each to a copy of the repository
and runs the test that must fail.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from places import ROOT

FOLDER = ROOT / "tests" / "mutants"


@dataclass(frozen=True)
class Mutant:
    """One fault: `line`, which stands once in `file`, becomes `broken`.

    `test` is the test that must fail, the only one that is run; without it all tests are run that carry out a check of
    the system. `interpreted` mutants break a kernel and run all kernels as Python, so that nothing is compiled.
    """

    system: str
    file: str
    line: str
    broken: str
    why: str
    test: str = ""
    interpreted: bool = False

    def apply(self, root: Path) -> None:
        """Break the file under a root; a file that is linked elsewhere is replaced, not written to."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.line) != 1:
            raise ValueError(f"{self.file}: found {text.count(self.line)} times, expected once: {self.line!r}")
        path.unlink()
        path.write_text(text.replace(self.line, self.broken), encoding="utf-8")


def read_mutants(slugs: Iterable[str] = ()) -> list[Mutant]:
    """All mutants, or those of some systems, by system."""
    found = [
        Mutant(**fields)
        for path in sorted(FOLDER.glob("*.toml"))
        for fields in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    ]
    wanted = set(slugs)
    return sorted((m for m in found if not wanted or m.system in wanted), key=lambda mutant: mutant.system)
