"""Deliberate faults still apply to the code, and every published system has some; `make mutants` runs them."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from faults import Mutant, read_mutants
from places import ROOT

from weft.recipes.catalogue import systems

MUTANTS = read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.system}: {mutant.why}")
def test_the_line_that_a_mutant_breaks_stands_in_its_file_once(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.line) == 1, mutant.line
    assert mutant.broken != mutant.line
    if mutant.file.endswith(".py"):  # what is broken still is Python
        ast.parse((ROOT / mutant.file).read_text(encoding="utf-8").replace(mutant.line, mutant.broken))


def test_every_present_system_has_at_least_three_mutants_of_its_own() -> None:
    counts = Counter(mutant.system for mutant in MUTANTS)
    present = {system.slug for system in systems() if system.state(ROOT / "results") == "present"}
    assert {slug: counts[slug] for slug in present if counts[slug] < 3} == {}
    assert counts.keys() <= present
    assert len({(mutant.file, mutant.line, mutant.broken) for mutant in MUTANTS}) == len(MUTANTS)


def test_tests_that_must_kill_a_mutant_exist() -> None:
    for mutant in MUTANTS:
        if mutant.test:
            path, name = mutant.test.split("::")
            if path.startswith("tests/"):
                assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), mutant.test
            else:  # a doctest
                assert name.startswith(path.removeprefix("src/").removesuffix(".py").replace("/", ".")), mutant.test


def test_a_mutant_is_applied_to_a_copy_and_refused_where_its_line_has_changed(tmp_path: Path) -> None:
    linked = tmp_path / "a.py"
    kept = tmp_path / "kept.py"
    kept.write_text("x = 1\n")
    linked.hardlink_to(kept)
    Mutant("s", "a.py", "x = 1", "x = 2", "why").apply(tmp_path)
    assert (linked.read_text(), kept.read_text()) == ("x = 2\n", "x = 1\n")
    with pytest.raises(ValueError, match="found 0 times"):
        Mutant("s", "a.py", "x = 1", "x = 2", "why").apply(tmp_path)
