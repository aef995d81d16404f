"""Components in order: the pipeline, the registry of tasks, their settings, and where models are found."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Component as Component
    from weft.pipeline.pipeline import Pipeline as Pipeline

__all__ = ["Component", "Pipeline"]


def __getattr__(name: str) -> Any:
    """Import a public name on its first use: the registry is read by programs that load no model."""
    if name not in __all__:
        raise AttributeError(f"module 'weft.pipeline' has no attribute {name!r}")
    return getattr(import_module("weft.pipeline.pipeline"), name)
