"""The one decorator behind which all compiled code stands.

A kernel is compiled by Numba without the interpreter and without its lock, and cached on disk, so that only the first
use on a machine compiles. That first use says so on standard error, one line that counts kernels and seconds.

Kernels call other kernels by their module-level names. A kernel never takes a compiled function as an argument and
never closes over one: Numba would compile it anew in every process.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


class CompileLog:
    """Counts the kernels that were really compiled (not loaded from the cache) and tells the user."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.seconds = 0.0
        self._depth = 0
        self._lock = threading.RLock()

    def watch(self, dispatcher: Any) -> None:
        """Report every compilation of a dispatcher; Numba asks its compiler only when the cache has no answer."""
        compiler = dispatcher._compiler
        compile_now = compiler.compile

        def compile_and_tell(args: Any, return_type: Any) -> Any:
            with self._lock:
                self.names.append(dispatcher.py_func.__qualname__)
                self._tell()
                self._depth += 1
                start = time.perf_counter()
                try:
                    return compile_now(args, return_type)
                finally:
                    self._depth -= 1
                    if self._depth == 0:
                        self.seconds += time.perf_counter() - start
                        self._tell(done=True)

        compiler.compile = compile_and_tell

    def _tell(self, done: bool = False) -> None:
        if os.environ.get("WEFT_QUIET"):
            return
        count, name = len(self.names), self.names[-1]
        if sys.stderr.isatty():
            state = f"{self.seconds:.0f} s" if done else name
            print(f"\r\x1b[Kcompiling kernels, once on this machine: {count} ({state})", end="", file=sys.stderr)
            if done:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        elif count == 1 and not done:
            print("compiling kernels, once on this machine; this can take a minute", file=sys.stderr, flush=True)


compiled = CompileLog()


def kernel(function: Function) -> Function:
    """Compile a function: no Python objects, no interpreter lock, cached on disk.

    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double.py_func(21)
    42
    """
    return _compile(function, fastmath=False)


def fast_kernel(function: Function) -> Function:
    """Like `kernel`, with floating-point sums free to be reordered; only where no infinity can occur."""
    return _compile(function, fastmath=True)


def _compile(function: Function, **options: Any) -> Function:
    on_disk = not function.__module__.startswith("__") and os.path.exists(function.__code__.co_filename)
    dispatcher = numba.njit(nogil=True, cache=on_disk, error_model="numpy", **options)(function)
    compiled.watch(dispatcher)
    return dispatcher
