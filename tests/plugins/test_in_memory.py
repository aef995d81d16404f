"""Temporary folders of tests are in memory only where there is room."""

from __future__ import annotations

from pathlib import Path

import in_memory
import pytest
from in_memory import MEMORY, temporary_root


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    path = tmp_path / "meminfo"
    path.write_text(f"MemTotal:       32000000 kB\nMemAvailable:   {MEMORY // 1024} kB\nHugePages_Total:       0\n")
    return path


def test_memory_is_used_where_there_is_enough(tmp_path: Path, facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "ROOM", 1)
    assert temporary_root(tmp_path, facts) == tmp_path
    monkeypatch.setattr(in_memory, "ROOM", 1 << 60)
    assert temporary_root(tmp_path, facts) is None
    monkeypatch.setattr(in_memory, "ROOM", 1)
    facts.write_text(facts.read_text().replace(str(MEMORY // 1024), str(MEMORY // 1024 - 1)))
    assert temporary_root(tmp_path, facts) is None


def test_other_systems_use_the_disk(tmp_path: Path, facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "ROOM", 1)
    assert temporary_root(tmp_path / "none", facts) is None
    assert temporary_root(tmp_path, tmp_path / "none") is None
    facts.write_text("no numbers here\n")
    assert temporary_root(tmp_path, facts) is None
