"""A system that is planned only, for the length of a test."""

from __future__ import annotations

import pytest

from weft.recipes.catalogue import System, systems


def planned_system(monkeypatch: pytest.MonkeyPatch) -> System:
    """A system whose recipe is taken away."""
    entry = systems()[0]
    monkeypatch.setattr(System, "has_recipe", property(lambda self: self.slug != entry.slug))
    return entry
