"""Test files that take long are run first."""

from __future__ import annotations

import pytest
from order import LONG, LONGEST
from places import ROOT


@pytest.mark.parametrize("name", LONGEST)
def test_files_that_take_long_are_there(name: str) -> None:
    assert (ROOT / name).is_file()


@pytest.mark.parametrize("parts", LONG, ids="/".join)
def test_folders_that_take_long_are_there(parts: tuple[str, ...]) -> None:
    assert (ROOT / "/".join(parts)).is_dir()
