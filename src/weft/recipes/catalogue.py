"""The published systems that Weft reproduces, each with its state.

A system is `present` if its recipe module and its results exist, `started` if only the module does, and `planned`
otherwise. The recipe of `dynamic-oracles` is the module `weft.recipes.parsing.dynamic_oracles`, and its results are in
`results/dynamic-oracles.json`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from weft.errors import DataError, did_you_mean
from weft.shipped import shipped

FAMILIES = {
    "parsing": "dependency and constituent parsing",
    "sequences": "sequence labelling and segmentation",
    "transfer": "weak supervision and transfer between languages",
    "semantics": "semantics, coreference, time",
    "extraction": "extraction, knowledge, opinion",
    "translation": "translation, alignment, language models",
    "grounding": "grounding, annotation, discourse",
}
#: Marks of results of a user's own recipe, and of those with other settings or fewer rows.
OWN, VARIED = "own", "varied"


@dataclass(frozen=True)
class System:
    """One published system."""

    slug: str
    title: str
    authors: str
    venue: str
    year: int
    family: str

    @property
    def module(self) -> str:
        """The name of its recipe module.

        >>> system("crf-shallow-parsing").module
        'weft.recipes.sequences.crf_shallow_parsing'
        """
        return f"weft.recipes.{self.family}.{self.slug.replace('-', '_')}"

    @property
    def has_recipe(self) -> bool:
        try:
            return find_spec(self.module) is not None
        except ModuleNotFoundError:  # nobody has started its family yet
            return False

    def state(self, results: Path | None = None) -> str:
        """`present`, `started` or `planned`."""
        if not self.has_recipe:
            return "planned"
        return "present" if kept_result(self.slug, results).is_file() else "started"


@cache
def systems() -> tuple[System, ...]:
    """All systems, by slug.

    >>> len(systems()) > 60
    True
    """
    text = (files("weft.recipes") / "catalogue.toml").read_text(encoding="utf-8")
    return tuple(System(**row) for row in tomllib.loads(text)["system"])


def system(slug: str) -> System:
    """The system with a slug.

    >>> system("crf-shallow-parsing").authors
    'Sha & Pereira'
    >>> system("crf-shallow")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: no system is called 'crf-shallow'; did you mean crf-shallow-parsing?
    """
    for row in systems():
        if row.slug == slug:
            return row
    hint = did_you_mean(slug, (row.slug for row in systems()), "`weft reproduce --list` shows them all")
    raise DataError(f"no system is called {slug!r}; {hint}")


def checkout() -> Path | None:
    """The root of the repository that this package runs from, or None if it is installed without one."""
    here = Path(__file__).resolve().parents[3]
    return here if (here / "pyproject.toml").is_file() and (here / "src" / "weft").is_dir() else None


def results_folder() -> Path:
    """The results folder: `results` in the repository, or in the current folder."""
    return (checkout() or Path.cwd()) / "results"


def result_path(slug: str, folder: Path | None = None, quick: bool = False, variant: str = "") -> Path:
    """The results file of a system; quick and varied runs are kept separately so that they never replace full ones.

    >>> result_path("crf-shallow-parsing", Path("results"), quick=True).as_posix()
    'results/crf-shallow-parsing.quick.json'
    """
    parts = [slug, *([variant] if variant else []), *(["quick"] if quick else [])]
    return (folder or results_folder()) / f"{'.'.join(parts)}.json"


def kept_result(slug: str, folder: Path | None = None, quick: bool = False, variant: str = "") -> Path:
    """The results file to show: that of the last run, else the one that comes with the package."""
    own = result_path(slug, folder, quick, variant)
    return own if own.is_file() or folder is not None or quick or variant else shipped("results") / own.name
