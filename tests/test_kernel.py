from __future__ import annotations

import ctypes
import json
import os
import pty
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from known_kernels import fill
from numba.core.caching import FunctionCache

from weft import kernel as kernels
from weft.kernel import _CheckedFiles

BEGIN = "compiling kernels, once on this machine; this can take a minute"
MODULE = """
from weft.kernel import kernel

@kernel
def square(x):
    return x * x

@kernel
def cube(x):
    return x * square(x)
"""
Used = tuple[Path, "subprocess.CompletedProcess[str]"]
USE = "import small; from weft.kernel import compiled; assert small.cube(3) == 27; print(len(compiled.names))"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A folder with a module of two kernels, one calling the other."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "small.py").write_text(MODULE)
    return folder


def environment(folder: Path, cache: Path | None, **more: str) -> dict[str, str]:
    """The environment of a process that finds the module and keeps compiled code in a folder of its own."""
    taken = {"WEFT_QUIET", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}
    kept = {name: value for name, value in os.environ.items() if name not in taken}
    cached = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**kept, **cached, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(code: str, env: dict[str, str], **more: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    return done


def test_the_first_use_says_that_it_compiles_and_the_second_has_nothing_to_say(module: Path, tmp_path: Path) -> None:
    env = environment(module, tmp_path / "cache")
    first = run(USE, env)
    assert first.stdout == "2\n"
    said = first.stderr.splitlines()
    assert said[0] == BEGIN
    assert said[1].startswith("compiled 2 kernels in ")
    assert len(said) == 2
    second = run(USE, env)
    assert second.stdout == "0\n"
    assert second.stderr == ""


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Used:
    """A folder with the module in `code` and with what its first use, which was to be quiet, left in `cache`; and what
    that process wrote. Whoever changes the cache changes a copy."""
    folder = tmp_path_factory.mktemp("used")
    (folder / "code").mkdir()
    (folder / "code" / "small.py").write_text(MODULE)
    return folder, run(USE, environment(folder / "code", folder / "cache", WEFT_QUIET="1"))


def test_nothing_is_said_if_quiet_is_asked_for(used: Used) -> None:
    _, done = used
    assert done.stdout == "2\n"
    assert done.stderr == ""


def test_a_terminal_shows_progress_and_is_left_clean(module: Path, tmp_path: Path) -> None:
    shown = on_terminal(USE, environment(module, tmp_path / "cache"))
    lines = shown.split("\r\x1b[K")
    assert lines[0] == ""
    assert lines[1] == "compiling kernels, once on this machine: 1, 0 s, now cube"
    assert lines[2].startswith("compiling kernels, once on this machine: 2, ")
    assert lines[2].endswith(" s, now square")
    assert lines[-1] == ""
    assert "\n" not in shown
    assert on_terminal(USE, environment(module, tmp_path / "cache")) == ""


def test_the_line_of_progress_fits_a_narrow_terminal(module: Path, tmp_path: Path) -> None:
    shown = on_terminal(USE, environment(module, tmp_path / "cache", COLUMNS="30"))
    assert max(map(len, shown.split("\r\x1b[K"))) == 29


def on_terminal(code: str, env: dict[str, str]) -> str:
    """What a process writes to a terminal that is its standard error."""
    mine, its = pty.openpty()
    env.setdefault("COLUMNS", "100")
    process = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    written = b""
    while True:
        try:
            part = os.read(mine, 1024)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        written += part
    os.close(mine)
    assert process.wait() == 0, written
    return written.decode()


CALLS = """
import numpy as np
from weft.kernel import kernel

@kernel
def add(x, y):
    return x + y

@kernel
def sums(rows):
    return add(rows[0], 1) + add(2, 3) + add(len(rows), rows[1])
"""


def test_constants_and_widths_of_integers_do_not_compile_a_kernel_anew(module: Path, tmp_path: Path) -> None:
    (module / "calls.py").write_text(CALLS)
    use = (
        "import calls; from weft.kernel import compiled; "
        "assert calls.sums(calls.np.array([1, 2], calls.np.int32)) == 11; print(*compiled.names)"
    )
    assert run(use, environment(module, tmp_path / "cache", WEFT_QUIET="1")).stdout == "sums add\n"


RECURSION = """
from weft.kernel import inner_kernel, kernel

@inner_kernel
def depth(n):
    if n == 0:
        return 0
    return 1 + depth(n - 1)

@kernel
def twice(n):
    return 2 * depth(n)
"""


def test_a_kernel_that_calls_itself_can_be_called_by_others(module: Path, tmp_path: Path) -> None:
    (module / "recursion.py").write_text(RECURSION)
    use = "import recursion; print(recursion.twice(4), recursion.depth(3))"
    for _ in range(2):  # compiled, then out of the cache
        assert run(use, environment(module, tmp_path / "cache", WEFT_QUIET="1")).stdout == "8 3\n"


def test_kernels_are_there_without_the_linear_algebra_of_scipy() -> None:
    code = "import sys, weft.kernel; sys.exit('scipy.linalg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_installation_that_cannot_be_written_to_uses_the_cache_of_the_user(module: Path, tmp_path: Path) -> None:
    (module / "__pycache__").write_text("a file here keeps even the superuser from making the folder")
    env = environment(module, None, HOME=str(tmp_path))
    assert run(USE, env).stdout == "2\n"
    assert list((tmp_path / ".cache").rglob("*.nbi"))
    second = run(USE, env)
    assert second.stdout == "0\n"
    assert second.stderr == ""


def test_without_any_place_for_compiled_code_it_is_compiled_anew_and_that_is_told(module: Path, tmp_path: Path) -> None:
    (module / "__pycache__").write_text("")
    nowhere = tmp_path / "home"
    nowhere.write_text("no folder")
    env = environment(module, None, HOME=str(nowhere), XDG_CACHE_HOME=str(nowhere))
    for _ in range(2):
        done = run(USE, env)
        assert done.stdout == "2\n"
        assert done.stderr.splitlines()[0].startswith("weft: there is no writable folder to cache compiled kernels in")
        assert "set NUMBA_CACHE_DIR" in done.stderr
        assert done.stderr.count("no writable folder") == 1


def _read_only(folder: Path, on: bool) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod((0o555 if on else 0o755) if path.is_dir() else 0o644)


def _without_privileges() -> None:
    """Take from the superuser what lets it write to folders that can only be read (CAP_DAC_OVERRIDE)."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="takes privileges away as Linux does")
def test_a_given_folder_that_can_only_be_read_is_read(used: Used, tmp_path: Path) -> None:
    module = used[0] / "code"
    cache = shutil.copytree(used[0] / "cache", tmp_path / "cache")
    _read_only(cache, True)
    env = environment(module, cache)
    second = run(USE, env, preexec_fn=_without_privileges)
    assert (second.stdout, second.stderr) == ("0\n", "")
    more = USE.replace("cube(3) == 27", "cube(2.0) == 8")  # not in the folder: compiled, and not written anywhere
    assert run(more, {**env, "WEFT_QUIET": "1"}, preexec_fn=_without_privileges).stdout == "2\n"
    assert not (module / "__pycache__").exists()
    _read_only(cache, False)


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:100], id="cut to 100 bytes"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: random.Random(1).randbytes(len(data)), id="random bytes"),
        pytest.param(_flipped, id="one bit flipped"),
        pytest.param(lambda data: data[:-4], id="written by Numba alone"),
    ],
)
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_of_the_cache_count_as_absent_and_are_written_again(
    tmp_path: Path, damage: Callable[[bytes], bytes], suffix: str
) -> None:
    files = _CheckedFiles(str(tmp_path), "square", (1.0, 2))
    key = "int64, " * 50
    files.save(key, ["compiled code"] * 50)
    assert files.load(key) == ["compiled code"] * 50
    (path,) = tmp_path.glob(f"*.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    assert files.load(key) is None
    assert not path.exists()
    files.save(key, ["anew"])
    assert files.load(key) == ["anew"]


def test_a_process_compiles_again_what_is_damaged(used: Used, tmp_path: Path) -> None:
    shutil.copytree(used[0] / "cache", tmp_path / "cache")
    env = environment(used[0] / "code", tmp_path / "cache", WEFT_QUIET="1")
    files = [path for path in (tmp_path / "cache").rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert len(files) == 4
    for path in files:
        path.write_bytes(path.read_bytes()[:100])
    assert run(USE, env).stdout == "2\n"
    assert run(USE, env).stdout == "0\n"


TRAIN = """
import json, sys
from pathlib import Path
import weft
from weft.kernel import compiled
from weft.pipeline.registry import train

docs = weft.read(sys.argv[1] + "/chunks.conll")
train("chunker", docs, None, Path(sys.argv[2]), {"order": 1, "iterations": 3})
print(json.dumps(compiled.names))
"""
ANNOTATE = """
import json, sys
import weft
from weft.kernel import compiled

nlp = weft.load(sys.argv[2])
docs = weft.read(sys.argv[1] + "/unseen.conll")
assert all(doc.has("spans/chunks") for doc in nlp.pipe(docs, workers=2))
assert not {"sklearn", "pyarrow", "safetensors", "scipy.optimize", "scipy.sparse"} & set(sys.modules)
print(json.dumps(compiled.names))
"""


def train_and_annotate(examples: Path, folder: Path) -> list[dict[str, Any]]:
    """What was compiled and said by processes that train and annotate, one after the other, twice; their CPU time.
    What `folder` has in `cache` is there from the start."""
    env = environment(folder, folder / "cache")
    rounds = []
    for _ in range(2):
        facts: dict[str, Any] = {}
        for name, code in (("train", TRAIN), ("annotate", ANNOTATE)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-c", code, str(examples), str(folder / "model.weft")]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            assert done.returncode == 0, done.stderr
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            facts[name] = {"names": json.loads(done.stdout), "said": done.stderr, "cpu": cpu}
        rounds.append(facts)
    return rounds


def test_a_second_process_trains_and_annotates_without_compiling(
    examples: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    fill(tmp_path / "cache", pytestconfig, without=("lbfgs", "viterbi"))
    first, second = train_and_annotate(examples, tmp_path)
    assert "best_paths" in first["train"]["names"] + first["annotate"]["names"]
    assert first["train"]["said"].startswith(BEGIN)
    for name in ("train", "annotate"):
        assert first[name]["names"] != []
        assert second[name]["names"] == []
        assert second[name]["said"] == ""


@pytest.mark.timing
def test_a_second_process_takes_less_time(examples: Path, tmp_path: Path) -> None:
    first, second = train_and_annotate(examples, tmp_path)
    for name in ("train", "annotate"):
        assert second[name]["cpu"] < first[name]["cpu"]


def test_an_interruption_waits_until_a_kernel_is_there() -> None:
    reached = []

    def compile_two() -> None:
        with kernels.uninterrupted():
            with kernels.uninterrupted():
                signal.raise_signal(signal.SIGINT)
                reached.append("inside")
            reached.append("outside")

    with pytest.raises(KeyboardInterrupt):
        compile_two()
    assert reached == ["inside", "outside"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_loading_a_kernel_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(*given: Any) -> str:
        signal.raise_signal(signal.SIGINT)
        loaded.append(given)
        return "code"

    monkeypatch.setattr(FunctionCache, "load_overload", load)
    with pytest.raises(KeyboardInterrupt):
        kernels._Cache.load_overload(object.__new__(kernels._Cache), None, None)
    assert loaded
