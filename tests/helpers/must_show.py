"""Which checks of the sheets tests carry out in full, of which they ask less, and which do not hold on our data.

A test says which check of which sheet it carries out:

    @pytest.mark.must_show("dynamic-oracles", 1)
    @pytest.mark.must_show("universal-treebank", 4, weaker="what is asked less than the sheet, and why")
    @pytest.mark.must_show("flors", 3, fails="what is found instead; the test asserts it")

A check is full if some test carries it out without `weaker` or `fails`; it fails if a test says so.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from places import ROOT


@dataclass(frozen=True)
class Mark:
    """One mark of one test."""

    slug: str
    check: int
    weaker: str
    fails: str
    place: str  # file and line


@dataclass
class Checks:
    """The checks of one system by number; weaker and failed ones with the reasons their tests give."""

    full: set[int] = field(default_factory=set)
    weaker: dict[int, str] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [f"{len(self.full)} full"]
        parts += [f"{len(self.weaker)} weaker"] if self.weaker else []
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        return ", ".join(parts)


def marks_in(text: str, place: str = "") -> list[Mark]:
    """The marks of a test file.

    >>> (mark,) = marks_in('@pytest.mark.must_show("flors", 3, weaker="fewer" " words")\\ndef test(): ...')
    >>> mark.slug, mark.check, mark.weaker
    ('flors', 3, 'fewer words')
    >>> [mark.slug for mark in marks_in('SLUG = "flors"\\n@pytest.mark.must_show(SLUG, 1)\\ndef test(): ...')]
    ['flors']
    """
    found = []
    tree = ast.parse(text)
    named = {
        target.id: node.value.value
        for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "must_show":
            first, second = node.args
            slug = named[first.id] if isinstance(first, ast.Name) else ast.literal_eval(first)
            check = ast.literal_eval(second)
            reasons = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
            if reasons.keys() - {"weaker", "fails"} or not all(reasons.values()):
                raise ValueError(f"{place}:{node.lineno}: must_show takes a slug, a number, and weaker= or fails=")
            found.append(
                Mark(slug, check, reasons.get("weaker", ""), reasons.get("fails", ""), f"{place}:{node.lineno}")
            )
    return found


def all_marks(tests: Path = ROOT / "tests") -> list[Mark]:
    """The marks of all test files."""
    found = []
    for path in sorted(tests.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "must_show" in text:
            found += marks_in(text, path.relative_to(ROOT).as_posix())
    return found


def checks_by_system(marks: list[Mark]) -> dict[str, Checks]:
    """What tests show of each system; a reason is that of a recorded run where there is one.

    >>> str(checks_by_system([Mark("flors", 1, "", "", ""), Mark("flors", 2, "less", "", "")])["flors"])
    '1 full, 1 weaker'
    """
    systems: dict[str, Checks] = defaultdict(Checks)
    for mark in sorted(marks, key=lambda mark: "/recorded/" not in mark.place):
        if mark.fails:
            systems[mark.slug].failed.setdefault(mark.check, mark.fails)
        elif mark.weaker:
            systems[mark.slug].weaker.setdefault(mark.check, mark.weaker)
        else:
            systems[mark.slug].full.add(mark.check)
    for checks in systems.values():
        checks.full -= checks.failed.keys()
        checks.weaker = {
            check: reason
            for check, reason in sorted(checks.weaker.items())
            if check not in checks.full | checks.failed.keys()
        }
        checks.failed = dict(sorted(checks.failed.items()))
    return dict(systems)
