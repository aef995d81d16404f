"""A plugin of pytest that notes the tests that failed, for `make again` to run them alone.

`make test` has two workers, beside whatever else the machine does: a browser, a server or a cluster may start too late.
A test that fails again with nothing beside it has found a fault. A run with many failures has found one too, and gets
no second chance; nor does one that could not read a test file.

    python tests/plugins/failures.py        run what failed in the last run
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MOST = 12  # failures that may be due to the machine
FILE = Path(__file__).parents[2] / "build" / "failed.txt"


class Failures:
    """Collects failures in the process that reports, and names each at once; a test whose worker died counts too."""

    def __init__(self, file: Path, say: Callable[[str], None] = lambda line: None) -> None:
        self.file = file
        self.say = say
        self.names: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.names:
            self.names[report.nodeid] = None
            self.say(f"\nFailed: {report.nodeid}\n")

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(session.config, "workerinput"):
            return
        if self.names and exitstatus == pytest.ExitCode.TESTS_FAILED:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text("\n".join(self.names) + "\n", encoding="utf-8")
        else:
            self.file.unlink(missing_ok=True)


def again(file: Path) -> list[str]:
    """The tests to run again; raises SystemExit with a reason where that makes no sense."""
    if not file.is_file():
        raise SystemExit("No test failed in the last run, or it did not come to its end: nothing to run again")
    names = file.read_text(encoding="utf-8").splitlines()
    if len(names) > MOST:
        raise SystemExit(f"{len(names)} tests failed; up to {MOST} are run again")
    return names


if __name__ == "__main__":
    chosen = again(FILE)
    print(f"Run again, alone: {', '.join(chosen)}", flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "-q", *chosen])
