"""Packages that are imported only on use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from weft.errors import ConfigError

#: Extras of Weft that install a package.
EXTRAS = {
    "pyarrow": "parquet",
    "sklearn": "learn",
    "fastapi": "serve",
    "distributed": "cluster",
    "penman": "amr",
    "hnswlib": "images",
    "sacrebleu": "translate",
    "duckdb": "graphs",
    "pyoxigraph": "graphs",
}


def needed(module: str, what: str) -> Any:
    """Import a module, or raise an error that names what to install: an extra of Weft, or the package.

    >>> needed("json", "JSON").__name__
    'json'
    >>> needed("no_such_package.inside", "an example")
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: an example needs the package no_such_package; install it: pip install no_such_package
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.split(".")[0]
        wanted = f"'weft[{EXTRAS[package]}]'" if package in EXTRAS else package
        raise ConfigError(f"{what} needs the package {package}; install it: pip install {wanted}") from None
