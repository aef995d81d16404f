"""Packages that are imported only on use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from weft.errors import ConfigError


def needed(module: str, what: str) -> Any:
    """Import a module, or raise an error that names the package to install.

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
        raise ConfigError(f"{what} needs the package {package}; install it: pip install {package}") from None
