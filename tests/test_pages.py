"""The documentation pages show what their examples print."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from commands import exit_code, shared_models, streams
from places import ROOT

_spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
assert _spec is not None
assert _spec.loader is not None
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)
in_a_shell = pages.run_command
#: A command of Weft that needs no shell but for its environment and where its output goes.
PLAIN = re.compile(
    r"""((?:[A-Z_]+=[\w./-]+ )*)(weft (?:'[^']*'|"[^"$`\\]*"|[^<>;&$`*?~'"\\])*?)( 2> /dev/null)?(?: > ([\w./-]+))?"""
)
#: A command after which its exit code is told, always or if it fails.
TOLD = re.compile(r"""(.*?)(;| \|\|) echo "exit code \$\?\"""")
#: Starts processes of its own, or waits for signals.
APART = ("weft serve",)


def run_command(command: str) -> tuple[int, str]:
    """Run a command of Weft in this process, as what a shell makes of the commands before and after it in a pipe; all
    other commands run in a shell."""
    ending = TOLD.fullmatch(command)
    if ending is not None:
        code, printed = run_command(ending[1])
        return 0, printed + (f"exit code {code}\n" if code or ending[2] == ";" else "")
    segments = pipe_of(command)
    places = [number for number, segment in enumerate(segments) if "weft " in segment]
    plain = PLAIN.fullmatch(segments[places[0]]) if len(places) == 1 else None
    if plain is None or plain[2].startswith(APART):
        code, printed = in_a_shell(command)
        return code, printed
    before, after = ("|".join(part) for part in (segments[: places[0]], segments[places[0] + 1 :]))
    environment, words, silent, file = plain.groups()
    given = in_a_shell(before)[1] if before else ""
    with streams(given, merged=not (after or silent or file)) as (out, err), pytest.MonkeyPatch.context() as patch:
        for name, value in {**pages.SHOWN, **dict(pair.split("=") for pair in environment.split())}.items():
            patch.setenv(name, value)
        code = exit_code(shlex.split(words)[1:])
    told = "" if silent else err()
    if file:
        Path(file).write_text(out(), encoding="utf-8")
    elif after:
        done = subprocess.run(["bash", "-c", after], input=out(), capture_output=True, text=True, check=False)
        code, told = done.returncode, told + done.stdout + done.stderr
    else:
        told += out()
    return code, told


def pipe_of(command: str) -> list[str]:
    """The commands of a pipe; what is more than a pipe comes back whole."""
    tokens = re.findall(r"""'[^']*'|"[^"]*"|[|]|\\.|[^|'"\\]+""", command)
    segments = [segment.strip() for segment in "".join("\0" if token == "|" else token for token in tokens).split("\0")]
    return segments if "".join(tokens) == command and all(segments) else [command]


@pytest.mark.parametrize(
    ("command", "segments"),
    [
        ("weft a 'b|c' | grep \"d|e\" | head", ["weft a 'b|c'", 'grep "d|e"', "head"]),
        ("weft a || echo $?", ["weft a || echo $?"]),
        ('weft a | grep words"', ['weft a | grep words"']),
        ('weft a | grep words\\"', ["weft a", 'grep words\\"']),
    ],
)
def test_pipes_are_split_outside_quotes_only(command: str, segments: list[str]) -> None:
    assert pipe_of(command) == segments


def test_commands_in_this_process_do_what_they_do_in_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("A b.\n")
    for command in (
        "echo 'A b.' | weft convert - - --from plain --to jsonl | grep -o 'A b' | head -n 1",
        "weft convert none.txt b.jsonl | cat",
        "weft convert a.txt - --to jsonl > b.jsonl",
        "cat b.jsonl",
        'COLUMNS=70 weft convert none.txt c.jsonl; echo "exit code $?"',
        'weft convert a.txt - --to "jsonl" 2> /dev/null | grep nothing',
    ):
        assert run_command(command) == in_a_shell(command), command


@pytest.mark.parametrize("page", pages.pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_examples_print(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_QUIET", "1")
    monkeypatch.setattr(pages, "run_command", run_command)
    text = page.read_text(encoding="utf-8")
    with shared_models():
        rendered = pages.render_page(text)
    assert rendered == text, "run `make render`"


def test_pages_to_run_can_be_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = pages.pages()[-1]
    name = page.relative_to(ROOT).as_posix()
    assert pages.chosen([name]) == pages.chosen([str(page)]) == [page]
    assert pages.chosen([]) == pages.pages()
    seen: list[str] = []
    monkeypatch.setattr(pages, "render_page", lambda text: seen.append(text) or text)
    assert pages.main([name]) == 0
    assert seen == [page.read_text(encoding="utf-8")]
    assert pages.main(["docs/no-such-page.md"]) == 2
    assert "there is no page docs/no-such-page.md" in capsys.readouterr().err
    assert pages.main(["docs/systems/index.md"]) == 2
