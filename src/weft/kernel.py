"""The decorators through which all compiled code goes.

Numba compiles a kernel without the interpreter and its lock and caches it on disk, so only the first use on a machine
compiles; a message on standard error says so. Compiled code is stored next to the package, in the user's cache folder
if the package's folder is not writable, or in the folder that NUMBA_CACHE_DIR names, which may be read-only once
`weft models warm` has filled it. Each file ends with a checksum; a damaged one is removed and its kernel recompiled.
The checksum finds accidents, not attacks: Numba unpickles these files and runs the code in them, so nobody but the user
may be able to write to the folder.

Kernels call other kernels by their module-level names. A kernel never takes a compiled function as an argument and
never closes over one: Numba would recompile it in every process.
"""

from __future__ import annotations

import atexit
import importlib
import io
import os
import shutil
import signal
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from weft.garbage import uncollected

with uncollected():
    import numba
    from numba.core import types
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
    from numba.np import linalg as _numba_linalg

try:
    from weft.compiling import Inner, eased, set_environments
except ImportError:  # a version of Numba that has other insides compiles as it does by itself, which takes longer
    from contextlib import nullcontext as eased  # type: ignore[assignment]

    from numba.core.compiler import Compiler as Inner  # type: ignore[assignment]

    def set_environments(result: Any) -> None:
        """Nothing to tell."""


Function = TypeVar("Function", bound=Callable[..., Any])


def _load_arrays_of_numba() -> None:
    """Load Numba's array functions without scipy.linalg, which would cost every process 15 MB and 0.1 s.

    Numba needs it here only to choose between two inner products for `np.correlate`, which no kernel uses; a kernel
    that does use linear algebra requests it again when it is compiled.
    """

    def without() -> None:
        raise ImportError

    ensure, _numba_linalg.ensure_blas = _numba_linalg.ensure_blas, without
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        _numba_linalg.ensure_blas = ensure


_load_arrays_of_numba()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Have Ctrl-C wait until a kernel is there: LLVM calls back into Python, where the interruption would be lost."""
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[Any, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if waiting:
            usual(*waiting[-1])


class CompileLog:
    """Counts the kernels that were actually compiled (not loaded from the cache) and reports them to the user.

    On a terminal, one line shows a running count and disappears when compilation ends; elsewhere, one line announces
    that compilation begins and another, at the end of the process, sums it up. WEFT_QUIET silences both.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._earlier = 0.0
        self._since: float | None = None
        self._depth = 0
        self._lock = threading.RLock()
        self._homeless = False

    @property
    def seconds(self) -> float:
        """Time spent compiling so far."""
        return self._earlier + (0.0 if self._since is None else time.perf_counter() - self._since)

    def watch(self, dispatcher: Any) -> None:
        """Report every compilation of a dispatcher; Numba calls its compiler only on a cache miss."""
        compiler = dispatcher._compiler
        compile_now = compiler.compile

        def compile_and_tell(args: Any, return_type: Any) -> Any:
            with self._lock:
                self._begin(dispatcher.py_func.__qualname__)
                try:
                    with uninterrupted(), eased():
                        result = compile_now(args, return_type)
                    set_environments(result)
                    return result
                finally:
                    self._end()

        compiler.compile = compile_and_tell

    def no_place(self) -> None:
        """Say, once, that compiled kernels cannot be cached."""
        if not self._homeless:
            self._homeless = True
            self._say(
                "weft: there is no writable folder to cache compiled kernels in, so every start recompiles them; "
                "set NUMBA_CACHE_DIR to a writable folder"
            )

    def _begin(self, name: str) -> None:
        if self._since is None:
            self._since = time.perf_counter()
        if not self.names:
            self._say("compiling kernels, once on this machine; this can take a minute", on_terminals=False)
            atexit.register(self._sum_up)
        self._depth += 1
        self.names.append(name)
        self._draw(f"compiling kernels, once on this machine: {len(self.names)}, {self.seconds:.0f} s, now {name}")

    def _end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._earlier, self._since = self.seconds, None
            self._draw("")

    def _sum_up(self) -> None:
        self._say(f"compiled {len(self.names)} kernels in {self.seconds:.0f} s", on_terminals=False)

    def _say(self, line: str, on_terminals: bool = True) -> None:
        if not os.environ.get("WEFT_QUIET") and (on_terminals or not sys.stderr.isatty()):
            print(line, file=sys.stderr, flush=True)

    def _draw(self, line: str) -> None:
        """Overwrite the previous line, on terminals only."""
        if not os.environ.get("WEFT_QUIET") and sys.stderr.isatty():
            room = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{line[:room]}", end="", file=sys.stderr, flush=True)


compiled = CompileLog()


class _CheckedFiles(IndexDataCacheFile):
    """The cache files of a kernel, each followed by the CRC-32 of its content.

    Whatever is damaged, truncated or refers to code that has moved counts as absent: Numba then compiles and writes it
    again. Numba itself would fail on it at every start.
    """

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        data = content.getvalue()
        with super()._open_for_write(path) as file:
            file.write(data + _checksum(data))

    def _load_index(self) -> dict[Any, Any]:
        if _is_whole(self._index_path):
            with suppress(Exception):  # unpickling can raise anything
                return dict(super()._load_index())
        _remove(self._index_path)
        return {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if _is_whole(path):
            with suppress(Exception):
                return super()._load_data(name)
        _remove(path)
        raise FileNotFoundError(path)

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk, for instance: the next process compiles again
            super().save(key, data)


_LOCATORS: list[Any] = CompileResultCacheImpl._locator_classes
_Given: Any = _LOCATORS[0]  # the folder that NUMBA_CACHE_DIR names


class _GivenFolder(_Given):
    """The folder that NUMBA_CACHE_DIR names, even if it can only be read, as in an image or on a shared disk."""

    def ensure_cache_path(self) -> None:
        try:
            super().ensure_cache_path()
        except OSError:
            if not os.path.isdir(self.get_cache_path()):
                raise


class _Places(CompileResultCacheImpl):
    _locator_classes = [_GivenFolder, *_LOCATORS[1:]]  # noqa: RUF012


class _Cache(FunctionCache):
    """The compiled code of a kernel on disk, in one of its forms."""

    _impl_class = _Places

    def __init__(self, function: Any, form: str) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFiles(
            cache_path=self.cache_path,
            filename_base=self._impl.filename_base + form,
            source_stamp=self._impl.locator.get_source_stamp(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for types of arguments, None if there is none."""
        with uninterrupted():
            return super().load_overload(sig, target_context)


def _is_whole(path: str) -> bool:
    try:
        data = Path(path).read_bytes()
    except OSError:
        return False
    return len(data) > 4 and _checksum(data[:-4]) == data[-4:]


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


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
    """Like `kernel`, but floating-point sums may be reordered; use it only where infinities cannot occur."""
    return _compile(function, fastmath=True)


def inner_kernel(function: Function) -> Function:
    """Like `kernel`, for functions that other kernels call in their innermost loops and that allocate no arrays.

    Arrays are borrowed from the caller without reference counting, which would cost more than a small kernel itself.

    >>> @inner_kernel
    ... def first(numbers):
    ...     return numbers[0]
    >>> first.py_func([7, 8])
    7
    """
    return _compile(function, fastmath=False, _nrt=False)


def inlined(function: Function) -> Function:
    """Like `inner_kernel`, for functions of a few lines: they become part of the kernels that call them.

    Nothing is compiled for them alone, which would take a tenth of a second each.

    >>> @inlined
    ... def last(numbers):
    ...     return numbers[len(numbers) - 1]
    >>> last.py_func([7, 8])
    8
    """
    return _compile(function, fastmath=False, _nrt=False, inline="always")


def _compile(function: Function, **options: Any) -> Function:
    options = {"nogil": True, "error_model": "numpy", "_nrt": True, "no_cfunc_wrapper": True, **options}
    dispatcher = _dispatcher(function, "", options)
    _share(dispatcher, options)
    return dispatcher


def _dispatcher(function: Any, form: str, options: dict[str, Any]) -> Any:
    dispatcher = numba.njit(**options)(function)
    if not function.__module__.startswith("__") and os.path.exists(function.__code__.co_filename):
        try:
            dispatcher._cache = _Cache(function, form)
        except RuntimeError:  # neither the package's folder nor the user's cache is writable
            compiled.no_place()
    compiled.watch(dispatcher)
    return dispatcher


def _share(dispatcher: Any, options: dict[str, Any]) -> None:
    """Have the kernels that call this one share one compiled form of it, which Python cannot call.

    Left to itself, Numba compiles a kernel anew for every constant that a caller passes and for every width of
    integers: for `cost(state, -1, move)` and `cost(state, 0, move)`, with moves out of an array of int32 or counted.
    It also gives every kernel an entrance for Python, which takes longer to compile than a small kernel itself.
    """
    form: list[Any] = []

    def ask_with_wide_types(args: Any, kws: Any) -> Any:
        if not form:
            inner = {**options, "no_cpython_wrapper": True, "pipeline_class": Inner}
            form.append(_dispatcher(dispatcher.py_func, ".inner", inner))
            form[0]._compiling_counter = dispatcher._compiling_counter  # tells Numba that a kernel calls itself
        return form[0].get_call_template([_wide(each) for each in args], {name: _wide(kws[name]) for name in kws})

    dispatcher.get_call_template = ask_with_wide_types
    dispatcher.get_overload = lambda types: form[0].get_overload(types)


def _wide(given: Any) -> Any:
    """The type of a variable that holds what is given: no constant, and a signed integer has 64 bits."""
    plain = types.unliteral(given)
    return types.int64 if plain in types.signed_domain else plain
