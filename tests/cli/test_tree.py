"""All commands at once: their help, their options, and how they are written."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import weft.cli
from weft.cli.app import COMMANDS, HEADINGS, load_command
from weft.cli.learn.methods import EXAMPLES, WAYS
from weft.cli.learn.train import flags_of, load_task
from weft.pipeline.registry import TASKS

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
METHODS = [(task, method) for task in TASKS for method in TASKS[task].methods]
#: Longest function of the command line, in lines.
LONGEST = 60
#: Options that mean the same wherever they occur, and how their help begins.
ONE_MEANING = {
    "--model": "Model to ",
    "--dev": "Labelled data to choose on",
    "--test": "Labelled data to score on",
    "--scheduler": "Dask scheduler whose workers",
    "--clusters": "File of word clusters",
    "--seed": "Random seed",
    "--json": "Print JSON instead of tables",
    "--config": "Options from a TOML file",
    "--from": "Format to read",
    "--to": "Format to write",
    "--fields": "What the columns of the format columns hold",
    "--encoding": "Encoding of the files to read",
    "--skip-bad": "Leave out what cannot be read",
    "--aligner": "Aligner to use",
    "--segmenter": "Segmenter for raw text",
    "--number": "Number of clusters",
    "--dict": "Tag dictionary",
    "--projected": "Text with projected tags",
    "--bitext": "Sentences and their translations",
    "--raw": "Text without labels",
    "--source-raw": "Text without labels of the source",
    "--name": "Name of the model",
    "--licence": "Licence of the model",
}


@cache
def commands() -> dict[str, Any]:
    """All commands by their words; those of tasks with every method."""
    found: dict[str, Any] = {}
    for name in COMMANDS:
        command = load_command(name)
        if name == "train":
            found |= {
                f"train {task} --method {method}": load_task(task, ["--method", method]) for task, method in METHODS
            }
            found["train pipeline"] = load_task("pipeline")
        elif hasattr(command, "commands"):
            found |= {f"{name} {inner}": part for inner, part in command.commands.items()}
        else:
            found[name] = command
    return found


def options() -> Iterator[tuple[str, str, Any]]:
    for words, command in commands().items():
        for param in command.params:
            for flag in (flag for flag in param.opts if flag.startswith("--")):
                yield words, flag, param


def kind(param: Any) -> str:
    """What an option takes: nothing, a number or text."""
    described = getattr(param, "type_descriptor", None)  # older versions of Typer have types of Click instead
    written = str(described.annotation) if described is not None else repr(param.type.name.removesuffix(" range"))
    is_number = any(name in written for name in ("'int'", "'integer'", "'float'"))
    return "flag" if param.is_flag else "number" if is_number else "text"


def test_a_flag_takes_values_of_one_kind_in_all_commands() -> None:
    kinds: dict[str, dict[str, str]] = defaultdict(dict)
    for words, flag, param in options():
        kinds[flag].setdefault(kind(param), words)
    assert {flag: found for flag, found in kinds.items() if len(found) > 1} == {}


def test_shared_flags_have_one_meaning_in_all_commands() -> None:
    wrong = [
        (words, flag, param.help)
        for words, flag, param in options()
        if flag in ONE_MEANING and not param.help.startswith(ONE_MEANING[flag])
    ]
    assert wrong == []


def test_every_option_has_help_that_is_a_sentence() -> None:
    for words, flag, param in options():
        text = (param.help or "").partition(" [dim]")[0]
        assert text.endswith((".", ")")), (words, flag, text)
        assert text[0].isupper() or not text[0].isalpha(), (words, flag, text)


def test_old_flags_are_gone() -> None:
    gone = {"--set", "--show", "--marginals", "--cluster", "--rounds", "--sweeps", "--classes", "--transfer"}
    assert [(words, flag) for words, flag, _ in options() if flag in gone and words != "reproduce"] == []


def test_the_help_has_four_headings_with_all_commands(weft: Weft) -> None:
    shown = weft("--help").stdout
    places = [shown.index(f" {heading} ") for heading in HEADINGS]
    assert list(HEADINGS) == ["Apply", "Learn", "Judge", "People and papers"]
    assert places == sorted(places)
    for name in COMMANDS:
        assert f"│ {name} " in shown


@pytest.mark.parametrize("words", [name for name in COMMANDS if name not in ("train", "diagnose", "align")])
def test_every_command_ends_its_help_with_an_example(words: str) -> None:
    command = load_command(words)
    for part in [command, *getattr(command, "commands", {}).values()]:
        assert part.epilog.startswith(f"Example: weft {words}"), part.name


@pytest.mark.parametrize(("task", "method"), METHODS)
def test_every_method_has_options_of_its_settings_and_an_example(task: str, method: str) -> None:
    command = commands()[f"train {task} --method {method}"]
    flags = {flag for param in command.params for flag in param.opts}
    assert flags_of(task, method) <= flags
    assert {"--out", "--method", "--json", "--config"} <= flags
    assert command.epilog.startswith(f"Example: weft train {task} ")
    if len(TASKS[task].methods) > 1 and method != next(iter(TASKS[task].methods)):
        assert f"--method {method}" in command.epilog
    assert f"Method {method}: " in command.help


def test_the_help_of_a_method_can_be_read(weft: Weft) -> None:
    shown = weft("train", "tagger", "--method", "flors", "--help")
    assert shown.returncode == 0, shown.stderr
    for part in ("--indicators", "[default: 500]", "Settings", "Data", "--raw", "Example: weft train tagger"):
        assert part in shown.stdout
    assert "--optimizer" not in shown.stdout
    assert "--optimizer" in weft("train", "tagger", "--help").stdout


def test_the_system_of_a_parser_chooses_its_method(weft: Weft) -> None:
    assert "--shape" in weft("train", "parser", "--system", "mst2", "--help").stdout
    assert "--oracle" in weft("train", "parser", "--system", "arc-hybrid", "--help").stdout


def test_ways_and_examples_are_those_of_tasks_of_the_registry() -> None:
    assert set(WAYS) <= set(METHODS)
    assert {words.split()[0] for words in EXAMPLES} == set(TASKS)
    for words in EXAMPLES:
        task, _, method = words.partition(" ")
        assert not method or method in TASKS[task].methods


LIST = """
import sys
sys.argv = ["weft", *{words}]
from weft.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code
loaded = {{"numpy", "numba"}} & set(sys.modules)
assert not loaded, loaded
"""


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"]])
def test_listing_commands_and_tasks_imports_nothing_heavy(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LIST.format(words=words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_functions_of_the_command_line_are_short() -> None:
    folder = Path(inspect.getfile(weft.cli)).parent
    long = {}
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                lines = node.end_lineno - node.lineno + 1
                if lines > LONGEST:
                    long[f"{path.relative_to(folder)} {node.name}"] = lines
    assert long == {}
