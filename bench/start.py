"""The first start on a machine, step by step: CPU seconds of `weft annotate` on a short file without compiled kernels.

The first row compiles kernels as Numba does by itself; each of the following rows adds one way of `weft.compiling` to
spare work, and the last row is what users have. The kernels are the same in all rows. Rows are measured one after the
other, twice; the lesser time counts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TEXT = "The ferry to the island leaves at nine. Ada Byron missed it on Monday.\n"
STEPS = (
    "as Numba compiles by itself",
    "the garbage collector rests",
    "types are remembered",
    "no machine code for kernels inside others",
)
GOAL = 12.0


def run(rounds: int = 2) -> dict[str, Any]:
    """Measure the steps."""
    seconds = [min(each) for each in zip(*([_start(k) for k in range(len(STEPS))] for _ in range(rounds)), strict=True)]
    rows = [
        {"step": step, "CPU s": figure, "of the first": figure / seconds[0], "goal": GOAL}
        for step, figure in zip(STEPS, seconds, strict=True)
    ]
    return {"title": "The first start, without compiled kernels", "rows": rows}


def _start(steps: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "note.txt"
        text.write_text(TEXT, encoding="utf-8")
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/kernels", "WEFT_QUIET": "1"}
        command = [sys.executable, __file__, str(steps), "annotate", str(text), "--to", "conllu"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _without(steps: int) -> None:
    """Switch off all steps after the given number."""
    from contextlib import nullcontext

    from numba.core.compiler import Compiler

    from weft import compiling, kernel

    if steps < 3:
        vars(kernel)["Inner"] = Compiler
    if steps < 2:
        vars(compiling)["_set"] = lambda *functions: None
    if steps < 1:
        vars(kernel)["eased"] = nullcontext


if __name__ == "__main__":
    _without(int(sys.argv.pop(1)))
    from weft.cli import main

    main()
