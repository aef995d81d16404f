"""Compiled kernels of the package for tests of folders of kernels, which would compile for ten seconds otherwise."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from numba.core.caching import _CacheLocator

import weft

PACKAGE = Path(weft.__file__).parent


def fill(cache: Path, config: pytest.Config, without: Iterable[str]) -> None:
    """Copy what is compiled into a folder for NUMBA_CACHE_DIR, except the kernels of some modules.

    `make test`, which makes all examples, leaves the folder empty: then every kernel is compiled.
    """
    if config.getoption("--examples") >= 1:
        return
    left_out = tuple(f"{name}." for name in without)
    for path in PACKAGE.rglob("__pycache__/*.nb?"):
        if not path.name.startswith(left_out):
            place = cache / _CacheLocator.get_suitable_cache_subpath(str(path.parents[1] / "module.py"))
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
