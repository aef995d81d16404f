"""Fixtures shared by all tests."""

from __future__ import annotations

import faulthandler
import gc
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

# Before anything loads NumPy: threads of BLAS that wait in a loop take the cores from the other worker.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import brief
import pytest
from _pytest.doctest import DoctestModule
from budget import Budget
from commands import exit_code, streams
from examples_share import take_examples
from failures import FILE, Failures
from in_memory import use_memory
from order import order_of
from places import ROOT

from weft import data
from weft.errors import DataError


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--budget", default="", metavar="BY", help="tell CPU time by `files`, `systems` or of one system")
    parser.addoption(
        "--examples", type=float, default=1.0, metavar="SHARE", help="of the examples that Hypothesis makes"
    )
    parser.addoption("--note-failures", action="store_true", help="note the tests that fail, for `make again`")


def pytest_configure(config: pytest.Config) -> None:
    """Listen to Ctrl-C even where tests run in the background of a shell, which has its children ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    use_memory()
    config.pluginmanager.register(brief)
    config.pluginmanager.register(Budget(config.getoption("--budget")))
    if config.getoption("--note-failures"):
        if hasattr(config, "workerinput"):
            config.pluginmanager.register(Failures(FILE))
        else:
            config.pluginmanager.register(Failures(FILE, lambda line: config.get_terminal_writer().write(line)))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """A process that does not end after its last test, for a thread or server that was left, says so and ends."""
    faulthandler.dump_traceback_later(900, exit=True)


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of the files written for the project."""
    return ROOT / "examples"


@pytest.fixture(scope="session")
def corpus_file() -> Callable[[str], Path]:
    """Find a corpus file, or skip the test where it is not at hand."""

    def find(relative: str) -> Path:
        try:
            return data.find(relative)
        except DataError as error:
            pytest.skip(str(error))

    return find


@pytest.fixture
def weft(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in an empty folder, in this process: starting Python and Numba takes longer than most
    commands. Tests of what only a process of its own shows (memory, signals, imports) start one themselves."""

    def run(*arguments: str | Path, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        chosen = {"WEFT_QUIET": "1", "COLUMNS": "120", "NO_COLOR": "1", **environment}
        with streams(stdin) as (out, err), pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            for name, value in chosen.items():
                patch.setenv(name, value)
            code = exit_code(words)
        return subprocess.CompletedProcess(["weft", *words], code, out(), err())

    return run


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Have the garbage collector seldom go through what tests make, and never through what collecting them made."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings of helpers, not of test files: that would take a second per worker."""
    collectors = yield
    if file_path.name.startswith("test_"):
        return [collector for collector in collectors if not isinstance(collector, DoctestModule)]
    return collectors


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take a share of the examples, and put files in their order."""
    take_examples(items, config.getoption("--examples"))
    files = {item: item.path.relative_to(ROOT) for item in items}
    order = order_of(files.values())
    items.sort(key=lambda item: order[files[item]])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Keep tests from resting on time unless they are marked `timing`: for all others the clocks of the CPU jump."""
    if item.get_closest_marker("timing") is not None:
        yield
        return
    jumps = itertools.accumulate(itertools.cycle([1e-6, 1e3, 1.0, 1e-3, 1e4]))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("process_time", "thread_time"):
            patch.setattr(time, name, lambda: next(jumps))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Try what measures time up to three times: other work on the machine slows one try, a fault all of them."""
    if pyfuncitem.get_closest_marker("timing") is None:
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for _ in range(2):
        try:
            pyfuncitem.obj(**given)
            return True
        except AssertionError:
            continue
    pyfuncitem.obj(**given)
    return True
