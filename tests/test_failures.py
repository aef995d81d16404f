"""Tests that failed are noted, and a few of them are run again alone (`make again`)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from failures import MOST, Failures, again


def finished(file: Path, *failed: str, status: int = 1) -> None:
    failures = Failures(file)
    fine: Any = SimpleNamespace(failed=False, nodeid="tests/test_fine.py::test_fine")
    session: Any = SimpleNamespace(config=SimpleNamespace())
    for report in [fine, *(SimpleNamespace(failed=True, nodeid=name) for name in failed)]:
        failures.pytest_runtest_logreport(report)
    failures.pytest_sessionfinish(session, status)


def test_what_failed_is_run_again_once_however_many_phases_failed(tmp_path: Path) -> None:
    finished(
        tmp_path / "failed.txt",
        "tests/test_a.py::test_a[1 2]",
        "tests/test_a.py::test_a[1 2]",
        "tests/test_b.py::test_b",
    )
    assert again(tmp_path / "failed.txt") == ["tests/test_a.py::test_a[1 2]", "tests/test_b.py::test_b"]


def test_a_failure_is_named_once_as_soon_as_it_is_known(tmp_path: Path) -> None:
    lines: list[str] = []
    failures = Failures(tmp_path / "failed.txt", lines.append)
    report: Any = SimpleNamespace(failed=True, nodeid="tests/test_a.py::test_a")
    failures.pytest_runtest_logreport(report)
    assert lines == ["\nFailed: tests/test_a.py::test_a\n"]
    failures.pytest_runtest_logreport(report)
    assert len(lines) == 1


def test_a_run_without_failures_forgets_those_of_the_run_before(tmp_path: Path) -> None:
    finished(tmp_path / "failed.txt", "tests/test_a.py::test_a")
    finished(tmp_path / "failed.txt")
    with pytest.raises(SystemExit, match="nothing to run again"):
        again(tmp_path / "failed.txt")


def test_a_run_that_could_not_read_a_test_file_gets_no_second_chance(tmp_path: Path) -> None:
    finished(tmp_path / "failed.txt", "tests/test_a.py::test_a", status=2)
    with pytest.raises(SystemExit, match="nothing to run again"):
        again(tmp_path / "failed.txt")


def test_many_failures_are_a_fault_and_not_run_again(tmp_path: Path) -> None:
    finished(tmp_path / "failed.txt", *(f"tests/test_a.py::test_a[{k}]" for k in range(MOST + 1)))
    with pytest.raises(SystemExit, match=f"{MOST + 1} tests failed"):
        again(tmp_path / "failed.txt")
