"""The stories of users in the process of the tests; `make stories` runs them from a wheel."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import traceback
from pathlib import Path

import pytest
from commands import exit_code, streams
from places import ROOT
from tell import faults

from stories import STORIES, Step


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all stories; each leaves files for the next."""
    return tmp_path_factory.mktemp("stories")


def run_here(step: Step) -> tuple[int, str]:
    """Run a step in this process; gives its exit code and what it printed."""
    if step.code:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                exec(compile(step.code, "story", "exec"), {})
            except Exception:
                return 1, printed.getvalue() + traceback.format_exc()
        return 0, printed.getvalue()
    with streams(step.stdin, merged=True) as (out, _):
        code = exit_code(shlex.split(step.command))
    return code, out()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_story_comes_true(story, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    for name, value in {"WEFT_QUIET": "1", "COLUMNS": "120", "NO_COLOR": "1", "XDG_DATA_HOME": str(home)}.items():
        monkeypatch.setenv(name, value)
    for step in story.steps:
        code, printed = run_here(step)
        assert not faults(step, code, printed, home), step.command or step.code


def test_there_are_twelve_stories_and_make_tells_them_from_wheels() -> None:
    assert len(STORIES) == 12
    assert all(step.prints or step.writes for story in STORIES for step in story.steps), "a step that cannot fail"
    rule = re.search(r"^stories:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert rule is not None
    assert "tests/stories/tell.py wheels" in rule[1]
    versions = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert (
        f"for python in {' '.join(f'python{version}' for version in versions)}; do"
        in (ROOT / ".ci/versions").read_text()
    )


def test_a_step_that_goes_wrong_is_told(tmp_path: Path) -> None:
    step = Step("annotate x", prints=("trees",), writes=("x.conllu",))
    wrong = faults(step, 1, "no file x", tmp_path)
    assert wrong.startswith("exit code 1, does not print 'trees', does not write x.conllu")
    assert not faults(step._replace(exit_code=1, writes=()), 1, "trees", tmp_path)
