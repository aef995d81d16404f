"""Components in order: the pipeline, the registry of tasks, their settings, and where models are found."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.pipeline.component import Component as Component
    from weft.pipeline.pipeline import Pipeline as Pipeline

_HOMES = {"Component": "weft.pipeline.component", "Pipeline": "weft.pipeline.pipeline"}
__all__ = ["Component", "Pipeline"]


def __getattr__(name: str) -> Any:
    """Import a public name on its first use: the registry is read by programs that load no model."""
    if name not in _HOMES:
        raise AttributeError(f"module 'weft.pipeline' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
