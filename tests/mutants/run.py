"""Break copies of the repository on purpose and see that tests fail (`make mutants [SLUG=...]`).

Each mutant (`tests/mutants/*.toml`) gets a copy of links to all files, in which one file is broken, and the test that
must notice runs there. The same tests first run on the code as it stands, so that a test that always fails kills
nothing. Outcomes go to `results/mutants.json`:

    killed       the test fails, by an assertion or by an error that Weft raises
    survived     it passes
    ill-formed   the broken code cannot run at all (a wrong name or type): that proves nothing
    skipped      its corpus is not at hand

Processes fork from one that has loaded all libraries, so that a mutant costs little more than its test.

    python tests/mutants/run.py [--trust] [slug ...]      --trust: do not run the tests on the code as it stands
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))
from faults import Mutant, read_mutants  # noqa: E402

RESULT = ROOT / "results" / "mutants.json"
LIBRARIES = (
    "numpy",
    "scipy.sparse",
    "scipy.special",
    "scipy.optimize",
    "sklearn.svm",
    "numba",
    "pyarrow",
    "hypothesis",
)
COPIED = ("src", "tests", "examples", "results", "bench", "docs", "pyproject.toml", "README.md", "Makefile")
#: Seconds of CPU time that a test may take.
LONGEST = 120
ILL_FORMED = ("NameError", "AttributeError", "ImportError", "SyntaxError", "TypeError", "TypingError")


class Watch:
    """A plugin of pytest that keeps to the tests of one system, if it is given, and notes the first failure."""

    def __init__(self, slug: str = "") -> None:
        self.slug, self.failure, self.test, self.passed = slug, "", "", 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.slug:
            items[:] = [
                item for item in items if self.slug in {mark.args[0] for mark in item.iter_markers("must_show")}
            ]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failure:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failure, self.test = crash.message if crash else str(report.longrepr), report.nodeid
        self.passed += report.passed and report.when == "call"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--trust", action="store_true")
    options = parser.parse_args()
    for name in LIBRARIES:
        importlib.import_module(name)
    mutants = read_mutants(options.slugs)
    if not options.trust:
        for interpreted in (False, True):
            tests = sorted({m.test for m in mutants if m.test and m.interpreted == interpreted})
            if tests and in_copy(None, tests, "", interpreted)["outcome"] != "survived":
                print("tests fail on the code as it stands; mend them first")
                return 1
    outcomes = []
    for mutant in mutants:
        outcome = in_copy(mutant, [mutant.test] if mutant.test else [], mutant.system, mutant.interpreted)
        outcomes.append(
            {"system": mutant.system, "file": mutant.file, "why": mutant.why, "named": bool(mutant.test)} | outcome
        )
        print(f"{outcome['outcome']:10} {mutant.system}: {mutant.why} [{outcome['by'][:100]}]", flush=True)
        keep(outcomes)
    killed = sum(outcome["outcome"] == "killed" for outcome in outcomes)
    print(f"{killed} of {len(outcomes)} killed")
    return int(killed < len(outcomes))


def in_copy(mutant: Mutant | None, tests: list[str], slug: str, interpreted: bool) -> dict[str, Any]:
    """Run tests on a copy with one fault, in a process of its own."""
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="mutant-", dir=ROOT / "build"))
    try:
        there = [name for name in COPIED if (ROOT / name).exists()]
        subprocess.run(["cp", "-al", *there, str(folder)], cwd=ROOT, check=True)
        if mutant is not None:
            mutant.apply(folder)
        before = os.times()
        child = os.fork()
        if child == 0:
            run_tests(folder, tests, "" if tests else slug, interpreted)
        os.waitpid(child, 0)
        spent = os.times()
        report = folder / "outcome.json"
        found = {"outcome": "ill-formed", "test": "", "by": f"no end within {LONGEST} s of CPU time"}
        if report.is_file():
            found = json.loads(report.read_text(encoding="utf-8"))
        cpu = spent.children_user + spent.children_system - before.children_user - before.children_system
        return found | {"cpu_seconds": round(cpu, 1)}
    finally:
        shutil.rmtree(folder)


def run_tests(folder: Path, tests: list[str], slug: str, interpreted: bool) -> None:
    """In the child: run the tests of the copy, note the outcome and end."""
    code = 3
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
    try:
        os.chdir(folder)
        data = os.environ.get("WEFT_DATA") or ROOT.parent / "shared" / "data"
        os.environ.update(PYTHONPATH=str(folder / "src"), WEFT_DATA=str(Path(data).resolve()), WEFT_QUIET="1")
        sys.path[:] = [str(folder / "src"), *(p for p in sys.path if not p.startswith(str(ROOT / "tests")))]
        for name in ("faults", "places"):
            sys.modules.pop(name, None)
        if interpreted:
            run_kernels_as_python()
        sink = os.open("pytest.log", os.O_WRONLY | os.O_CREAT)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        watch = Watch(slug)
        where = tests or ["tests"]
        marks = "not timing" if tests else "must_show and not timing"
        code = int(pytest.main(["-q", "-x", "-m", marks, "--hypothesis-seed=0", *where], plugins=[watch]))
        outcome = {0: "survived" if watch.passed else "skipped", 1: "killed"}.get(code, "ill-formed")
        if any(
            watch.failure.startswith(kind) or f"UNEXPECTED EXCEPTION: {kind}" in watch.failure for kind in ILL_FORMED
        ):
            outcome = "ill-formed"
        by = watch.failure.split("\n")[0] if watch.failure else f"pytest ended with {code}" if code else ""
        note = {"outcome": outcome, "test": watch.test, "by": by}
        Path(folder, "outcome.json").write_text(json.dumps(note), encoding="utf-8")
    finally:
        os._exit(code)


def run_kernels_as_python() -> None:
    import numpy as np

    kernel: Any = importlib.import_module("weft.kernel")
    kernel._compile = lambda function, **options: function
    np.seterr(all="ignore")


def keep(outcomes: list[dict[str, Any]]) -> None:
    """Write outcomes; those of other systems stay as they are."""
    known = json.loads(RESULT.read_text(encoding="utf-8"))["mutants"] if RESULT.is_file() else []
    systems = {outcome["system"] for outcome in outcomes}
    every = sorted([*(row for row in known if row["system"] not in systems), *outcomes], key=lambda row: row["system"])
    facts = {"format": 1, "date": datetime.now(UTC).isoformat(timespec="seconds"), "mutants": every}
    RESULT.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
