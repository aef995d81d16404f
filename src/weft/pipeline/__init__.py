"""The pipeline and its components, the registry of tasks, their settings, and the lookup of models."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.pipeline.component import Component as Component
    from weft.pipeline.pipeline import Pipeline as Pipeline

_HOMES = {"Component": "weft.pipeline.component", "Pipeline": "weft.pipeline.pipeline"}
__all__ = ["Component", "Pipeline"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use: some programs read the registry without loading a model."""
    if name not in _HOMES:
        raise AttributeError(f"module 'weft.pipeline' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
