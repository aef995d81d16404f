from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import SHIPPED, shared_models

import weft as package
from weft.cli.app import COMMANDS, load_command
from weft.pipeline.pipeline import Pipeline

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
HEAVY = ("numba", "llvmlite", "sklearn", "pyarrow", "scipy")
LIMIT = 0.3

MEASURE = """
import resource, sys
{code}
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, " ".join(sorted(name for name in sys.modules if "." not in name)), file=sys.stderr)
"""
HELP = """
sys.argv = ["weft", "--help"]
from weft.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code
"""


def measure(code: str) -> tuple[float, set[str]]:
    """Processor seconds and top-level modules of a fresh process that runs some code; the best of three."""
    best, modules = float("inf"), set()
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", MEASURE.format(code=code)], capture_output=True, text=True, check=True
        )
        seconds, *names = done.stderr.split()
        best, modules = min(best, float(seconds)), set(names)
    return best, modules


@pytest.mark.parametrize("code", ["import weft", HELP], ids=["import", "help"])
def test_starting_loads_nothing_heavy(code: str) -> None:
    _, modules = measure(code)
    assert not modules.intersection(HEAVY)
    assert "numpy" not in modules


@pytest.mark.timing
@pytest.mark.parametrize("code", ["import weft", HELP], ids=["import", "help"])
def test_starting_is_quick(code: str) -> None:
    seconds, _ = measure(code)
    assert seconds <= LIMIT


def test_help_lists_every_command_with_its_line(weft: Weft) -> None:
    shown = weft("--help")
    assert shown.returncode == 0
    for name, place in COMMANDS.items():
        assert name in shown.stdout
        assert place.help in shown.stdout


def implemented() -> list[str]:
    from importlib.util import find_spec

    return [name for name, place in COMMANDS.items() if find_spec(place.target.split(":")[0]) is not None]


@pytest.mark.parametrize("name", implemented())
def test_the_help_of_every_command_ends_with_an_example(name: str, weft: Weft) -> None:
    shown = weft(name, "--help")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.strip().split("Example: ")[-1] == COMMANDS[name].example
    assert "--config" in shown.stdout or "Commands" in shown.stdout


@pytest.mark.parametrize(
    ("group", "name"), [("data", "list"), ("data", "path"), ("data", "check"), ("models", "info"), ("models", "list")]
)
def test_the_help_of_every_sub_command_ends_with_an_example(group: str, name: str, weft: Weft) -> None:
    shown = weft(group, name, "--help").stdout
    assert f"Example: weft {group} {name}" in shown.strip().splitlines()[-1]
    assert "--config" in shown


def test_the_examples_of_the_help_can_be_run_as_they_stand(weft: Weft, tmp_path: Path, examples: Path) -> None:
    (tmp_path / "examples").symlink_to(examples)
    # In the order in which one makes what the next one needs.
    for name in ("train", "annotate", "evaluate", "compare", "convert", "models"):
        done = weft(*COMMANDS[name].example.split()[1:])
        assert done.returncode == 0, done.stderr


def test_the_one_line_of_help_in_the_table_is_that_of_the_command() -> None:
    for name in implemented():
        assert load_command(name).help, name


def test_commands_in_one_process_share_the_arrays_of_a_shipped_model_and_nothing_else() -> None:
    before = vars(Pipeline)["load"]
    with shared_models():
        one, other = (Pipeline.load(SHIPPED / "en.weft") for _ in range(2))
    assert vars(Pipeline)["load"] is before
    assert not {id(part) for part in one.components} & {id(part) for part in other.components}
    assert one.card == other.card
    assert one.card is not other.card
    assert one("All is well.").same(Pipeline.load(SHIPPED / "en.weft")("All is well."))


def test_the_version_is_printed(weft: Weft) -> None:
    assert weft("--version").stdout.strip() == f"weft {package.__version__}"


def test_an_error_is_one_plain_message_and_exit_code_1(weft: Weft) -> None:
    failed = weft("data", "path", "no-such-corpus")
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert failed.stderr.startswith("weft: the catalogue has no corpus 'no-such-corpus'")
    assert len(failed.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("arguments", [["no-such-command"], ["data", "list", "--no-such-option"], ["data", "path"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str], weft: Weft) -> None:
    failed = weft(*arguments)
    assert failed.returncode == 2
    assert "Traceback" not in failed.stderr
    assert "Usage" in failed.stderr


def test_a_mistyped_command_gets_a_suggestion(weft: Weft) -> None:
    assert "reproduce" in weft("reproduc").stderr


def test_options_come_from_a_file_and_flags_win(weft: Weft, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "options.toml").write_text('data = "one"\njson = true\n')
    listed = weft("data", "list", "--config", "options.toml")
    assert listed.returncode == 0, listed.stderr
    assert json.loads(listed.stdout)[0]["name"] == "conll2000"
    (tmp_path / "options.toml").write_text('data = "nowhere"\njson = true\n')
    assert weft("data", "list", "--config", "options.toml").returncode == 1
    assert weft("data", "list", "--config", "options.toml", "--data", "two").returncode == 0


def test_one_file_may_hold_the_options_of_several_commands(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "weft.toml").write_text('[reproduce]\nlist = true\njson = true\n\n[evaluate]\nlayer = "ud"\n')
    listed = weft("reproduce", "--config", "weft.toml")
    assert listed.returncode == 0, listed.stderr
    assert len(json.loads(listed.stdout)) >= 66
    (tmp_path / "weft.toml").write_text("json = true\n[train]\nlearner = 'crf'\n[data.list]\nmissing = true\n")
    listed = weft("data", "list", "--config", "weft.toml")
    assert listed.returncode == 0, listed.stderr
    assert all(fact["missing"] for fact in json.loads(listed.stdout))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sed = 3\n", "has no option 'sed'; it knows"),
        ("seed = \n", "is not a TOML file"),
        ("[reproduce]\nsed = 3\n", "`weft reproduce` has no option 'sed'"),
        ("train = 3\n", "has no option 'train'"),
        ('seed = "many"\n', "--seed"),
    ],
)
def test_a_bad_configuration_file_is_refused_plainly(text: str, said: str, weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(text)
    failed = weft("reproduce", "--config", "bad.toml", "crf-shallow-parsing")
    assert failed.returncode in (1, 2)
    assert said in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_configuration_file_that_is_missing_is_refused(weft: Weft) -> None:
    failed = weft("reproduce", "--config", "nowhere.toml")
    assert failed.returncode == 1
    assert "cannot read the configuration file nowhere.toml" in failed.stderr


def test_a_reader_that_goes_away_is_no_error_message() -> None:
    command = f'"{sys.executable}" -m weft reproduce --list --json | head -n 1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "["
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", ["data list", "convert examples/story.conllu - --to jsonl"])
def test_a_full_disk_is_one_plain_line(arguments: str, examples: Path) -> None:
    command = f'"{sys.executable}" -m weft {arguments} > /dev/full'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=examples.parent)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "weft: no space left on device"
    assert "Traceback" not in done.stderr


SLOW = """
import time, weft.cli.people.reproduce
def slow(*arguments):
    print("running", flush=True)
    time.sleep(30)
weft.cli.people.reproduce._list = slow
import sys
sys.argv = ["weft", "reproduce", "--list"]
from weft.cli import main
main()
"""


def test_an_interruption_is_one_line_and_exit_code_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said == "weft: interrupted; what was finished is in place\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("weft rep", "reproduce"),
        ("weft data ch", "check"),
        ("weft reproduce --qu", "--quick"),
        ("weft reproduce crf-", "crf-shallow-parsing"),
        ("weft data path conll2000", "conll2000"),
        ("weft convert --to js", "jsonl"),
    ],
)
def test_the_shell_completes_commands_and_options(words: str, expected: str, weft: Weft) -> None:
    done = weft(_WEFT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert expected in done.stdout
