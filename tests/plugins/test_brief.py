"""Workers report a test that passes once."""

from __future__ import annotations

from typing import Any

import pytest
from brief import joined


def reports(**outcomes: str) -> list[Any]:
    """The reports of a test's phases, which took 1, 2 and 4 seconds."""
    made = []
    for number, (when, outcome) in enumerate(outcomes.items()):
        report: Any = pytest.TestReport("test_a.py::test_a", ("test_a.py", 1, "test_a"), {}, outcome, None, when)  # type: ignore[arg-type]
        report.spent = {"rows": ["test_a.py"], "seconds": 2.0**number, "collecting": None if number else 8.0}
        made.append(report)
    return made


def test_one_report_of_a_test_that_passes_has_the_time_of_all() -> None:
    (report,) = joined(reports(setup="passed", call="passed", teardown="passed"))
    assert report.when == "call"
    assert report.spent == {"rows": ["test_a.py"], "seconds": 7.0, "collecting": 8.0}


@pytest.mark.parametrize(
    "outcomes",
    [
        {"setup": "failed", "teardown": "passed"},
        {"setup": "skipped", "teardown": "passed"},
        {"setup": "passed", "call": "failed", "teardown": "passed"},
        {"setup": "passed", "call": "passed", "teardown": "failed"},
    ],
    ids=str,
)
def test_all_reports_of_other_tests_are_sent(outcomes: dict[str, str]) -> None:
    sent = joined(reports(**outcomes))
    assert {report.when: report.outcome for report in sent} == outcomes
    assert [report.spent["seconds"] for report in sent] == [2.0**number for number in range(len(sent))]
