"""Run the users' stories with the lowest versions of all dependencies that `pyproject.toml` allows (`make lowest`).

    python tests/lowest.py constraints            the lowest versions, as constraints for pip
    python tests/lowest.py requirements           what the stories need, to install with these constraints
    python tests/lowest.py stories                run the stories of `tests/stories` with the installed versions

Versions stand in `pyproject.toml` alone. pip resolves what the dependencies need themselves: if one of them needs a
newer version of another than our bound, the installation fails, and the bound must be raised. All other packages come
in their newest versions, as for a user whose environment holds one old package.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
STORIES = ROOT / "tests" / "stories" / "tell.py"
EXTRAS = ("all",)
#: What runs the tests themselves.
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "httpx")


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


def main() -> None:
    match sys.argv[1:]:
        case ["constraints"]:
            print(*(f"{name}=={version}" for name, version in constraints().items()), sep="\n")
        case ["requirements"]:
            print(f"-e {ROOT}[{','.join(EXTRAS)}]", *TOOLS, sep="\n")
        case ["stories"]:
            sys.exit(subprocess.run([sys.executable, str(STORIES), "here"], check=False).returncode)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
