"""The table of CPU time (`make budget`) adds up what tests took, by file or by system."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest
from budget import FILE, LONG, SYSTEM, Budget


def told(budget: Budget, *rows: str, seconds: float, when: str = "call", collecting: float | None = None) -> None:
    spent = {"rows": list(rows), "seconds": seconds, "collecting": collecting}
    report: Any = SimpleNamespace(when=when, spent=spent)
    budget.pytest_runtest_logreport(report)


def test_files_are_listed_by_time_and_long_ones_are_marked() -> None:
    budget = Budget("files")
    told(budget, "short.py", seconds=1.0, when="setup", collecting=4.0)
    told(budget, "short.py", seconds=0.5)
    told(budget, "long.py", seconds=FILE + 1, collecting=3.0)
    _, first, second, total, collecting = budget.lines()
    assert first.split() == ["long.py", "1", f"{FILE + 1:.1f}", "above", f"{FILE:.0f}"]
    assert second.split() == ["short.py", "1", "1.5"]
    assert total.split()[-2:] == ["2", f"{FILE + 2.5:.1f}"]
    assert collecting.split()[-1] == "7.0"


def test_a_long_run_names_its_longest_files_unasked_and_a_short_one_says_nothing() -> None:
    budget = Budget("")
    told(budget, "short.py", seconds=1.0)
    assert budget.lines() == []
    told(budget, "long.py", seconds=LONG)
    names = [line.split()[0] for line in budget.lines()[1:-2]]
    assert names == ["long.py"]


def test_a_test_counts_for_every_system_that_it_is_marked_with() -> None:
    budget = Budget("systems")
    told(budget, "flors", "cliper", seconds=2.0)
    told(budget, "flors", seconds=SYSTEM)
    assert [line.split()[:3] for line in budget.lines()[1:3]] == [
        ["flors", "2", f"{SYSTEM + 2:.1f}"],
        ["cliper", "1", "2.0"],
    ]


@pytest.mark.parametrize(
    ("by", "kept"),
    [("", "abc"), ("files", "abc"), ("systems", "ab"), ("flors", "a")],
)
def test_only_checks_of_the_systems_asked_for_are_run(by: str, kept: str) -> None:
    marks = {"a": ["flors", "cliper"], "b": ["cliper"], "c": []}
    items: list[Any] = [Item(name, slugs) for name, slugs in marks.items()]
    left_out: list[Any] = []
    config: Any = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)))
    Budget(by).pytest_collection_modifyitems(config, items)
    assert "".join(item.name for item in items) == kept
    assert {item.name for item in left_out} == set(marks) - set(kept)


class Item:
    """A test with marks."""

    def __init__(self, name: str, slugs: list[str]) -> None:
        self.name = name
        self.slugs = slugs

    def iter_markers(self, name: str) -> list[Any]:
        assert name == "must_show"
        return [SimpleNamespace(args=(slug, 1)) for slug in self.slugs]


def test_tests_compute_with_one_thread_each() -> None:
    importlib.import_module("numpy")
    threads = pytest.importorskip("threadpoolctl").threadpool_info()
    assert threads
    assert {library["num_threads"] for library in threads} == {1}
