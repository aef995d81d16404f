from __future__ import annotations

from pathlib import Path

import pytest
from recorded import planned_system

from weft.errors import DataError
from weft.recipes.catalogue import FAMILIES, result_path, system, systems


def test_every_system_is_described_once() -> None:
    slugs = [entry.slug for entry in systems()]
    assert slugs == sorted(set(slugs))
    assert len(slugs) >= 66
    for entry in systems():
        assert entry.title, entry.slug
        assert entry.authors, entry.slug
        assert str(entry.year) in entry.venue, entry.slug
        assert entry.family in FAMILIES, entry.slug


def test_an_unknown_slug_gets_a_suggestion() -> None:
    with pytest.raises(DataError, match="crf-shallow-parsing"):
        system("crf-shallow-parser")


def test_a_system_without_a_recipe_is_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planned_system(monkeypatch)
    assert [entry for entry in systems() if entry.state(tmp_path) == "planned"] == [planned]


def test_a_system_is_present_only_with_its_results(tmp_path: Path) -> None:
    for entry in systems():
        if entry.has_recipe:
            assert entry.state(tmp_path) == "started"
            result_path(entry.slug, tmp_path).write_text("{}")
            assert entry.state(tmp_path) == "present"


def test_quick_results_never_replace_full_ones(tmp_path: Path) -> None:
    assert result_path("flors", tmp_path, quick=True) != result_path("flors", tmp_path)
