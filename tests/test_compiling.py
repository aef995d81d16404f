from __future__ import annotations

import gc
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

from weft.compiling import eased

MODULE = """
import numpy as np
from weft.kernel import fast_kernel, inner_kernel, kernel

TABLE = np.arange(5000) * 2

@kernel
def checked(x):
    if x < 0:
        raise ValueError("below zero", x)
    return TABLE[x]

@kernel
def depth(n):
    return 0 if n == 0 else 1 + depth(n // 2)

@kernel
def both(x):
    return checked(x) + depth(x)

@kernel
def other(x):
    return checked(x)

@inner_kernel
def half(x):
    return x / 2

@kernel
def quarter(x):
    return half(half(x))

@kernel
def total(values):
    result = 0.0
    for i in range(len(values)):
        result += values[i]
    return result

@fast_kernel
def fast_total(values):
    result = 0.0
    for i in range(len(values)):
        result += values[i]
    return result
"""
CALL = """
import sys, calling
from weft.kernel import compiled
assert calling.both(4096) == 8192 + 13
try:
    calling.both(-7)
except ValueError as error:
    assert error.args == ("below zero", -7), error.args
else:
    raise AssertionError("no error")
if "other" in sys.argv:
    assert calling.other(3) == 6
print(len(compiled.names), *sorted(compiled.names))
"""
MACHINE_CODE = """
import calling
from numba.core.codegen import JITCodeLibrary
names, finish = [], JITCodeLibrary._finalize_specific
JITCodeLibrary._finalize_specific = lambda library: (names.append(library.name), finish(library))
assert calling.quarter(2.0) == 0.5
print(*(name for name in names if name in ("half", "quarter")))
"""
FAST = """
import numpy as np, calling
values = np.arange(64.0)
for add in (calling.total, calling.fast_total):
    assert add(values) == values.sum()
    print("fadd fast" in add.inspect_llvm(add.signatures[0]))
"""


def run(folder: Path, code: str, *args: str) -> list[str]:
    """What a process prints that finds the module and keeps compiled code in a folder of its own."""
    (folder / "calling.py").write_text(MODULE)
    os.utime(folder / "calling.py", (0, 0))
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "cache"), "WEFT_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", code, *args], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_kernels_inside_others_raise_look_up_and_call_themselves_compiled_and_from_the_cache(tmp_path: Path) -> None:
    assert run(tmp_path, CALL) == ["3", "both", "checked", "depth"]
    assert run(tmp_path, CALL) == ["0"]
    assert run(tmp_path, CALL, "other") == ["1", "other"]  # what is inside it comes from the cache
    assert run(tmp_path, CALL, "other") == ["0"]


def test_a_kernel_that_others_call_gets_machine_code_only_as_part_of_them(tmp_path: Path) -> None:
    assert run(tmp_path, MACHINE_CODE) == ["quarter"]


def test_types_remembered_for_one_kind_of_kernel_are_not_those_of_another(tmp_path: Path) -> None:
    assert run(tmp_path, FAST) == ["False", "True"]


@pytest.mark.parametrize("collecting", [True, False])
def test_numba_and_the_garbage_collector_are_left_as_they_were(collecting: bool) -> None:
    usual = BaseFunction.get_call_type, TargetConfig.__eq__, gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        with suppress(KeyError), eased(), eased():
            assert not gc.isenabled()
            assert BaseFunction.get_call_type is not usual[0]
            raise KeyError
        assert gc.isenabled() is collecting
        assert (BaseFunction.get_call_type, TargetConfig.__eq__) == usual[:2]
    finally:
        (gc.enable if usual[2] else gc.disable)()


def test_kernels_compile_where_the_insides_of_numba_have_changed(tmp_path: Path) -> None:
    code = "import sys; sys.modules['weft.compiling'] = None; import numpy as np\n"
    code += "from weft.infer.trees.projectivity import lift; print(lift(np.array([3, 4, 0, 3], np.int32)).tolist())"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "WEFT_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[3, 3, 0, 3]"
