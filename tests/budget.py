"""Print the CPU time that the tests of each published system take (`make budget`).

Tests are those marked `must_show` that do not measure time. What compiling takes is left out, so that kernels need not
be warm; what fixtures take counts for the test that is first to use them. Run it on a machine with nothing else to do.
A system to come should stay within BUDGET; for those that stand, this only reports.

    python tests/budget.py [name of a system ...]
"""

from __future__ import annotations

import resource
import sys
from collections import defaultdict
from collections.abc import Iterator

import pytest

BUDGET = 25.0  # seconds of CPU


class Budget:
    """A plugin of pytest that adds up the CPU time of tests by the systems whose checks they carry out."""

    def __init__(self, systems: set[str]) -> None:
        self.systems = systems
        self.seconds: dict[str, float] = defaultdict(float)
        self.tests: dict[str, int] = defaultdict(int)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not self.systems or self.systems & systems_of(item)]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = cpu_seconds()
        yield
        spent = cpu_seconds() - before
        for system in systems_of(item):
            self.seconds[system] += spent
            self.tests[system] += 1


def systems_of(item: pytest.Item) -> set[str]:
    return {mark.args[0] for mark in item.iter_markers("must_show")}


def cpu_seconds() -> float:
    """CPU time of this process and its children so far, without what compiling took."""
    from weft.kernel import compiled

    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used) - compiled.seconds


def main(systems: list[str]) -> int:
    budget = Budget(set(systems))
    code = pytest.main(["-q", "-m", "must_show and not timing", "tests"], plugins=[budget])
    print(f"\n{'system':44}{'tests':>6}{'CPU s':>8}")
    for system, seconds in sorted(budget.seconds.items(), key=lambda pair: -pair[1]):
        note = f"  above {BUDGET:.0f} s" if seconds > BUDGET else ""
        print(f"{system:44}{budget.tests[system]:6}{seconds:8.1f}{note}")
    print(f"{'all':44}{'':6}{sum(budget.seconds.values()):8.1f}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
