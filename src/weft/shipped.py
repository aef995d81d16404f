"""Files that come with the package besides its code: `examples`, `configs` and `results`.

They are folders of the repository; a wheel holds copies of them inside the package (`setup.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from weft.errors import ConfigError, DataError

#: The folders that `weft data examples` copies.
COPIED = ("examples", "configs")
PACKAGE = Path(__file__).resolve().parent


class Copied(NamedTuple):
    """A file that was copied, or that was there already."""

    path: Path
    new: bool


def shipped(folder: str) -> Path:
    """A folder that comes with the package, as installed or in the checkout that it runs from.

    >>> (shipped("examples") / "note.txt").is_file()
    True
    """
    for place in (PACKAGE / folder, PACKAGE.parents[1] / folder):
        if place.is_dir():
            return place
    raise DataError(f"this installation of Weft lacks its {folder}; install it again")


def copy_shipped(target: Path) -> Iterator[Copied]:
    """Copy examples and configurations into a folder; files that are there already stay as they are."""
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{target} is a file; give the folder to copy examples to")
    for folder in COPIED:
        source = shipped(folder)
        for path in sorted(source.rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            place = target / folder / path.relative_to(source)
            new = not place.exists()
            if new:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
            yield Copied(place, new)
