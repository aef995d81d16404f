"""Vary an experiment: change settings of a recipe, run some of its rows, or run a recipe of one's own.

A recipe declares what can be varied as `VARIATION`: dataclasses whose fields are settings, and the names of its rows.
It asks `RecipeOptions` for both, so that every recipe varies in the same way; what is compared with a row that was left
out is left out as well.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import MISSING, Field, dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from weft.errors import ConfigError, DataError, did_you_mean
from weft.pipeline.settings import typed_value

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Variation:
    """What of a recipe can be varied: the fields of some dataclasses, and its rows."""

    settings: tuple[type[Any], ...] = ()
    rows: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """The names of all settings."""
        return list(dict.fromkeys(each.name for kind in self.settings for each in fields(kind)))

    def check(self, name: str, vary: Mapping[str, str], rows: Sequence[str]) -> None:
        """Raise an error for a setting or a row that the recipe called `name` does not have.

        >>> Variation(rows=("eager static", "hybrid static")).check("some-system", {}, ["eager*"])
        >>> Variation(rows=("eager static", "hybrid static")).check("some-system", {}, ["eagre*"])
        Traceback (most recent call last):
        ...
        weft.errors.ConfigError: no row of some-system is called 'eagre*'; its rows are: eager static, hybrid static
        """
        known = self.names()
        for setting in vary:
            if not known:
                raise ConfigError(f"{name} has no settings to vary; copy its recipe and run that: {_COPY}")
            if setting not in known:
                raise ConfigError(
                    f"{name} has no setting {setting!r}; {did_you_mean(setting, known, f'it has {_listed(known)}')}"
                )
        for pattern in rows:
            if not self.rows:
                raise ConfigError(f"{name} has no rows to choose from; copy its recipe and run that: {_COPY}")
            if not any(fnmatchcase(row, pattern) for row in self.rows):
                raise ConfigError(f"no row of {name} is called {pattern!r}; its rows are: {_listed(self.rows)}")
        for kind in self.settings:
            changed(kind, vary)


_COPY = "weft reproduce ./mine.py"


class LeftOut(Exception):
    """A row that was left out is needed."""


def where_run() -> AbstractContextManager[None]:
    """A part of the result, such as a claim, that is left out if it needs a row that was left out.

    >>> rows = Rows.chosen({"eager": 80.0, "hybrid": 81.0}, ["eager"])
    >>> with where_run():
    ...     print("hybrid is above eager:", rows["hybrid"] > rows["eager"])
    """
    return suppress(LeftOut)


class Rows(dict[str, T]):
    """Rows by name; asking for one that was left out raises `LeftOut`.

    >>> rows = Rows.chosen({"eager": 1, "hybrid": 2}, ["e*"])
    >>> rows, rows.map(str)
    ({'eager': 1}, {'eager': '1'})
    >>> rows["hybrid"]
    Traceback (most recent call last):
    ...
    weft.recipes.variation.LeftOut: hybrid
    """

    def __init__(self, rows: Mapping[str, T], left_out: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.left_out = frozenset(left_out)

    @classmethod
    def chosen(cls, rows: Mapping[str, T], patterns: Sequence[str]) -> Rows[T]:
        """The rows that match one of some patterns, all if there are none."""
        kept = {name: row for name, row in rows.items() if is_chosen(name, patterns)}
        return cls(kept, set(rows) - set(kept))

    def map(self, function: Callable[[T], U]) -> Rows[U]:
        """The same rows with other values."""
        return Rows({name: function(row) for name, row in self.items()}, self.left_out)

    def __missing__(self, name: str) -> T:
        if name in self.left_out:
            raise LeftOut(name)
        raise KeyError(name)


def is_chosen(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name matches one of some patterns, or there are none.

    >>> is_chosen("eager static", ["eager*"]), is_chosen("eager static", ["*dynamic"]), is_chosen("any", [])
    (True, False, True)
    """
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def changed(settings: Any, vary: Mapping[str, str]) -> dict[str, Any]:
    """The varied values of those settings that are fields of a dataclass or of its instance, in their types.

    >>> @dataclass
    ... class Size:
    ...     epochs: int = 5
    ...     treebanks: tuple[str, ...] = ("eng", "tur")
    >>> changed(Size, {"epochs": "2", "treebanks": "tur", "learner": "crf"})
    {'epochs': 2, 'treebanks': ('tur',)}
    """
    return {each.name: _value(settings, each, vary[each.name]) for each in fields(settings) if each.name in vary}


def _value(settings: Any, each: Field[Any], text: str) -> Any:
    """The value of a field, in the type that it has in an instance, or by default in a class."""
    now = getattr(settings, each.name, None)
    if isinstance(settings, type) and each.default_factory is not MISSING:
        now = each.default_factory()
    is_text = not isinstance(now, tuple | dict) or all(
        isinstance(part, str if isinstance(now, dict) else str | int | float)
        for part in (now.values() if isinstance(now, dict) else now)
    )
    if not is_text or now == ():
        raise ConfigError(f"{each.name} cannot be given as text; copy the recipe and run that: {_COPY}")
    if isinstance(now, tuple):
        return tuple(typed_value(each.name, part.strip(), now[0]) for part in text.split(","))
    return typed_value(each.name, text, now, optional="None" in str(each.type))


def read_changes(given: Iterable[str]) -> dict[str, str]:
    """The settings of `--vary NAME=VALUE`.

    >>> read_changes(["templates=S0.w N0.w", "epochs=3"])
    {'templates': 'S0.w N0.w', 'epochs': '3'}
    """
    pairs: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ConfigError(f"--vary must be written as NAME=VALUE, such as epochs=3, got {text!r}")
        pairs[name.strip().replace("-", "_")] = value
    return pairs


def is_own_recipe(name: str) -> bool:
    """Whether what is given to `weft reproduce` is a file with a recipe, not a slug.

    >>> is_own_recipe("./mine.py"), is_own_recipe("dynamic-oracles")
    (True, False)
    """
    return name.endswith(".py") or "/" in name


@contextmanager
def own_recipe(path: Path) -> Iterator[ModuleType]:
    """The module of a file with a function `run`; it can import files beside it while the block runs."""
    if not path.is_file():
        raise DataError(f"no file {path}; give a Python file with a function run(options), or a system's slug")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is not a Python file; a recipe is a file .py with a function run(options)")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path), sys.modules.get(path.stem)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[path.stem] = module  # dataclasses look for their module there
    try:
        try:
            spec.loader.exec_module(module)
        except (SyntaxError, ImportError) as error:
            raise ConfigError(f"{path} cannot be run: {error}") from error
        if not callable(getattr(module, "run", None)):
            raise ConfigError(f"{path} has no function run(options: RecipeOptions) -> RecipeResult")
        yield module
    finally:
        sys.path[:] = before[0]
        if before[1] is None:
            del sys.modules[path.stem]
        else:
            sys.modules[path.stem] = before[1]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
