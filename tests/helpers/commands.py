"""Commands run in the process of the tests: starting Python and Numba takes longer than most of them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy, deepcopy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from places import ROOT

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline

SHIPPED = ROOT / "src" / "weft" / "models"
_loaded: dict[str, Pipeline] = {}


def exit_code(words: list[str]) -> int:
    """Run the command line in this process; gives its exit code."""
    from weft.cli.app import app

    try:
        with shared_models():
            app(words, prog_name="weft")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@contextmanager
def shared_models() -> Iterator[None]:
    """Read models of the package once for all commands, which takes half a second each. Every command gets components
    and a card of its own, which share arrays only; models of other folders are read as ever."""
    from weft.pipeline.pipeline import Pipeline

    def load(kind: type[Pipeline], path: str | os.PathLike[str]) -> Pipeline:
        if Path(path).resolve().parent != SHIPPED:
            return plain(path)
        known = _loaded.get(Path(path).name)
        if known is None:
            known = _loaded[Path(path).name] = plain(path)
        return kind([copy(component) for component in known.components], deepcopy(known.card))

    method, plain = vars(Pipeline)["load"], Pipeline.load
    Pipeline.load = classmethod(load)  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        Pipeline.load = method  # type: ignore[method-assign]


@contextmanager
def streams(stdin: str = "", merged: bool = False) -> Iterator[tuple[Callable[[], str], Callable[[], str]]]:
    """Put files in the place of the standard streams, for Python and for what writes to their descriptors; gives two
    functions that tell what was written. `merged` puts standard error into the file of standard output."""
    kept = [os.dup(number) for number in range(3)]
    before = sys.stdin, sys.stdout, sys.stderr
    files = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115 (closed with the last reference)
    files[0].write(stdin.encode())
    files[0].seek(0)
    for number in range(3):
        os.dup2(files[1 if merged and number == 2 else number].fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, mode in enumerate(("r", "w", "w"))
    )

    def told(number: int) -> str:
        files[number].seek(0)
        return files[number].read().decode()

    try:
        yield partial(told, 1), partial(told, 2)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)
