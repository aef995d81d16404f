from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import planned_system

from weft.recipes import catalogue
from weft.recipes.catalogue import systems
from weft.recipes.claims import gain
from weft.recipes.framework import RecipeResult, Table

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_list_holds_every_system_with_its_state(weft: Weft) -> None:
    listed = json.loads(weft("reproduce", "--list", "--json").stdout)
    assert [entry["slug"] for entry in listed] == [entry.slug for entry in systems()]
    assert {entry["state"] for entry in listed} <= {"present", "started", "planned"}
    assert "crf-shallow-parsing" in weft("reproduce", "--list").stdout


def test_a_planned_system_is_refused_plainly(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planned_system(monkeypatch).slug
    failed = weft("reproduce", planned)
    assert failed.returncode == 1
    assert f"{planned} is planned" in failed.stderr


def test_kept_results_are_shown_again(weft: Weft, tmp_path: Path) -> None:
    table = Table("NP chunking", ["F"])
    table.add("CRF", {"F": 94.31}, paper={"F": 94.38})
    result = RecipeResult("crf-shallow-parsing", [table])
    result.save(tmp_path)
    shown = weft("reproduce", "crf-shallow-parsing", "--show", "--out", tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "94.31" in shown.stdout
    assert "94.38" in shown.stdout


def test_a_required_claim_that_fails_is_exit_code_1(weft: Weft, tmp_path: Path) -> None:
    result = RecipeResult("crf-shallow-parsing")
    result.claim("CRF above MEMM", gain(-0.1, p=0.4), required=True)
    result.save(tmp_path)
    assert weft("reproduce", "crf-shallow-parsing", "--show", "--out", tmp_path).returncode == 1


def test_a_slug_is_asked_for(weft: Weft) -> None:
    failed = weft("reproduce")
    assert failed.returncode == 1
    assert "weft reproduce --list" in failed.stderr


def test_results_that_come_with_the_package_are_shown_outside_a_checkout(
    weft: Weft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "checkout", lambda: None)
    shown = weft("reproduce", "crf-shallow-parsing", "--show")
    assert shown.returncode == 0, shown.stderr
    assert "paper" in shown.stdout
    assert '"present"' in weft("reproduce", "--list", "--json").stdout
    assert "did you mean crf-shallow-parsing" in weft("reproduce", "crf-shalow-parsing", "--show").stderr


def test_a_recipe_of_ones_own_is_run_varied_and_shown_again(weft: Weft, examples: Path, tmp_path: Path) -> None:
    command = ("reproduce", examples / "recipes" / "oracles.py", "--data", examples, "--out", tmp_path)
    varied = ("--vary", "epochs=1", "--vary", "templates=S0.t|N0.t", "--rows", "eager*")
    for more in ((), ("--show",)):
        done = weft(*command, *varied, *more)
        assert done.returncode == 0, done.stderr
        assert "eager dynamic" in done.stdout
        assert "hybrid" not in done.stdout
    failed = weft(*command, "--vary", "epochs")
    assert failed.returncode == 1
    assert "--vary must be written as NAME=VALUE, such as epochs=3, got 'epochs'" in failed.stderr
