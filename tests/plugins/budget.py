"""A plugin of pytest that adds up the CPU time of tests (`make budget`).

`make check` is to take 4 minutes on two cores, so its tests may take some 400 seconds of CPU in all; a long run ends
with the files that take most. The checks of one published system, which are the tests marked `must_show`, may take 25
seconds. CPU time is that of the process and of its children, without compiling, so that kernels need not be warm; what
a fixture takes counts for the test that is first to use it. Measure on a machine with nothing else to do.

    pytest --budget files          how long every file takes
    pytest --budget systems        run only the checks of published systems, and tell how long those of each take
    pytest --budget some-system    the same for one system
"""

from __future__ import annotations

import resource
import sys
from collections import defaultdict
from collections.abc import Generator

import pytest

SYSTEM = 25.0  # seconds of CPU that the checks of a system may take
FILE = 10.0  # seconds of CPU of a file that a long run names unasked
LONG = 120.0  # seconds of CPU of a long run


class Budget:
    """Measures in the process that runs a test and adds up in the one that reports, which differ under xdist."""

    def __init__(self, by: str) -> None:
        self.by = by
        self.seconds: dict[str, float] = defaultdict(float)
        self.tests: dict[str, int] = defaultdict(int)
        self.collecting: list[float] = []
        self._before = 0.0
        self._collected: float | None = None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if self.by in ("", "files"):
            return
        chosen = [item for item in items if (systems_of(item) if self.by == "systems" else self.by in systems_of(item))]
        config.hook.pytest_deselected(items=list(set(items) - set(chosen)))
        items[:] = chosen

    def pytest_collection_finish(self) -> None:
        self._before = self._collected = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = cpu_seconds()
        rows = sorted(systems_of(item)) if self.by not in ("", "files") else [item.nodeid.split("::")[0]]
        report.spent = {"rows": rows, "seconds": now - self._before, "collecting": self._collected}
        self._before, self._collected = now, None
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent = getattr(report, "spent", None)
        if spent is None:  # a worker that died
            return
        if spent["collecting"] is not None:
            self.collecting.append(spent["collecting"])
        for row in spent["rows"]:
            self.seconds[row] += spent["seconds"]
            self.tests[row] += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> list[str]:
        """The table that was asked for; without being asked, the longest files of a long run."""
        total = sum(self.seconds.values())
        if not self.by and total < LONG:
            return []
        most = SYSTEM if self.by not in ("", "files") else FILE
        rows = sorted(self.seconds.items(), key=lambda row: -row[1])
        shown = rows if self.by else [row for row in rows if row[1] > most]
        lines = [f"{'CPU seconds, without compiling':72}{'tests':>6}{'s':>8}"]
        for name, seconds in shown:
            note = f"  above {most:.0f}" if self.by and seconds > most else ""
            lines.append(f"{name:72}{self.tests[name]:6}{seconds:8.1f}{note}")
        lines.append(f"{'all tests':72}{sum(self.tests.values()):6}{total:8.1f}")
        return [*lines, f"{'starting and collecting, in all processes that run tests':78}{sum(self.collecting):8.1f}"]


def systems_of(item: pytest.Item) -> set[str]:
    return {mark.args[0] for mark in item.iter_markers("must_show")}


def cpu_seconds() -> float:
    """CPU time of this process and its children so far, without what compiling took."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    kernels = sys.modules.get("weft.kernel")
    return sum(each.ru_utime + each.ru_stime for each in used) - (kernels.compiled.seconds if kernels else 0.0)
