"""A plugin of pytest that has workers report a test that passes once, not once each for setup, call and teardown.

Sending reports from a worker and taking them apart in the process that prints takes three times as long as running an
empty test, and there are thousands of tests.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test in a worker; all reports of one that fails or is skipped are sent."""
    config = item.config
    if not hasattr(config, "workerinput") or config.getoption("durations") is not None or config.get_verbosity() > 0:
        return None
    for report in joined(runtestprotocol(item, log=False, nextitem=nextitem)):
        item.ihook.pytest_runtest_logreport(report=report)
    return True


def joined(reports: list[pytest.TestReport]) -> list[pytest.TestReport]:
    """One report with the time of all (see `budget`) if a test passes; otherwise the reports as they are."""
    if [report.when for report in reports if report.passed] != ["setup", "call", "teardown"]:
        return reports
    before, call, after = reports
    if all(hasattr(report, "spent") for report in reports):
        call.spent["collecting"] = before.spent["collecting"]
        call.spent["seconds"] += before.spent["seconds"] + after.spent["seconds"]
    return [call]
