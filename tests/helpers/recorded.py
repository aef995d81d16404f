"""The recorded runs of the recipes, for checks that take longer at the size of the sheet than a test may take.

A check recomputes its outcome from the numbers of the recorded tables and curves, never from a recorded verdict.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from places import ROOT

from weft.recipes.catalogue import System, systems
from weft.recipes.framework import Curve, RecipeResult, load_result


@cache
def recorded(slug: str) -> RecipeResult:
    """The recorded run of a system."""
    path = ROOT / "results" / f"{slug}.json"
    if not path.is_file():
        pytest.skip(f"no recorded run of {slug}: `weft reproduce {slug}`")
    return load_result(path)


def rows(slug: str, title: str, part: str = "") -> dict[str, dict[str, Any]]:
    """The rows, by their names, of the one table with this title, or whose title starts so and has some part."""
    found = [table for table in recorded(slug).tables if table.title.startswith(title) and part in table.title]
    exact = [table for table in found if table.title == title]
    (table,) = exact or found
    return {row.name: row.ours for row in table.rows}


def curve(slug: str, title: str) -> Curve:
    """The one curve whose title starts so."""
    (found,) = [each for each in recorded(slug).curves if each.title.startswith(title)]
    return found


def planned_system(monkeypatch: pytest.MonkeyPatch) -> System:
    """A system whose recipe is taken away for the length of a test: it is planned only."""
    entry = systems()[0]
    monkeypatch.setattr(System, "has_recipe", property(lambda self: self.slug != entry.slug))
    return entry
