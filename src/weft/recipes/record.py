"""The record stored with every result: the machine, the commit, the time and the memory used.

Nothing here names a host, a user or a path.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import pkgutil
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

from weft.recipes.catalogue import checkout

#: The cost of some work: its CPU time, or a count of steps in tests.
Cost = Callable[[Callable[[], object]], float]


def cpu_seconds(work: Callable[[], object]) -> float:
    """The CPU time that some work takes.

    >>> cpu_seconds(lambda: sum(range(10))) >= 0
    True
    """
    started = time.process_time()
    work()
    return time.process_time() - started


@dataclass
class Usage:
    """The cost of a block of work, filled in when the block ends. Memory is the peak of the whole process."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0


@contextmanager
def measured() -> Iterator[Usage]:
    """Measure a block: wall time, CPU time (including children) and peak memory.

    >>> with measured() as usage:
    ...     total = sum(range(1000))
    >>> usage.wall_seconds >= 0 and usage.peak_mb > 1
    True
    """
    usage, wall, cpu = Usage(), time.perf_counter(), _cpu_seconds()
    try:
        yield usage
    finally:
        usage.wall_seconds = time.perf_counter() - wall
        usage.cpu_seconds = _cpu_seconds() - cpu
        usage.peak_mb = peak_mb()


def peak_mb() -> float:
    """The peak resident memory of this process, in MB.

    >>> peak_mb() > 1
    True
    """
    # Linux reports kB, macOS bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def machine() -> dict[str, Any]:
    """The properties of the machine that results depend on.

    >>> sorted(machine())
    ['cpus', 'numba', 'numpy', 'python', 'system', 'weft']
    """
    return {
        "cpus": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "numba": _version("numba"),
        "weft": _version("weft"),
    }


def sizes(module: str, quick: bool = False) -> dict[str, Any]:
    """The sizes that a recipe runs with: those of its `Size` class, and the numeric constants of its modules.

    >>> module = "weft.recipes.parsing.second_order_mst"
    >>> sizes(module)["epochs"], sizes(module, quick=True)["epochs"]
    (3, 2)
    """
    found: dict[str, Any] = {}
    for part in _modules(module):
        for name in ("Size", "Sizes"):
            kind = vars(part).get(name)
            if kind is not None and kind.__module__ == part.__name__:
                found |= asdict(_size(part, kind, quick))
        for name in _constants(part):
            if not name.startswith(("PAPER", "_")) and _is_numeric(vars(part)[name]):
                found[name] = vars(part)[name]
    plain: dict[str, Any] = json.loads(json.dumps(found, sort_keys=True))
    return plain


def _modules(name: str) -> list[ModuleType]:
    module = import_module(name)
    inner = pkgutil.iter_modules(module.__path__) if hasattr(module, "__path__") else ()
    return [module, *(import_module(f"{name}.{each.name}") for each in inner)]


def _constants(module: ModuleType) -> list[str]:
    """The constants that a module itself assigns; none if it has no source."""
    if getattr(module, "__file__", None) is None:
        return []
    lines = ast.parse(inspect.getsource(module)).body
    targets = [each for line in lines if isinstance(line, ast.Assign) for each in line.targets]
    targets += [line.target for line in lines if isinstance(line, ast.AnnAssign)]
    return [each.id for each in targets if isinstance(each, ast.Name) and each.id.isupper()]


def _size(module: ModuleType, kind: Any, quick: bool) -> Any:
    if quick:
        return next(getattr(module, name) for name in ("QUICK", "SMALL") if isinstance(getattr(module, name, 0), kind))
    needed = any(each.default is MISSING and each.default_factory is MISSING for each in fields(kind))
    return module.FULL if needed else kind()


def _is_numeric(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_numeric, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def commit() -> str:
    """The commit of the checkout, with `+` if files differ from it; "" if there is none."""
    root = checkout()
    if root is None:
        return ""
    try:
        name = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", "src", "bench")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{name}+" if changed else name


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in used)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _git(root: os.PathLike[str], *arguments: str) -> str:
    done = subprocess.run(["git", "-C", os.fspath(root), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
