"""How Numba compiles kernels with less work than by default, for the same code.

Most of the time of a first start is Numba's own Python code, and much of what LLVM does is thrown away:

- A kernel that only other kernels call becomes part of each of them. `Inner` gives it no machine code and no
  optimization of its own: LLVM optimizes it once, where it is used.
- Type inference asks for the type of the same operation, `int64 + int64` for instance, thousands of times, and tries
  dozens of candidates each time. While a kernel is compiled, `eased` keeps the answers.
- The garbage collector, which would look through Numba's many small objects again and again, rests meanwhile.
- The variables of an instruction are listed again and again, too; `_listed` looks at the type of each part once.
- Messages of candidates that do not fit, which nobody sees, are not coloured for a terminal.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numba.core import errors, ir
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction


class InnerLibrary(JITCodeLibrary):
    """The code of a kernel that only other kernels call: LLVM's intermediate representation, linked into theirs."""

    _whole = False  # whether it has machine code after all

    def finalize(self) -> None:
        """Link what the kernel calls; a kernel that calls itself needs an address, thus machine code."""
        modules = [self._final_module, *(library._get_module_for_linking() for library in self._linking_libraries)]
        names = (variable.name for module in modules for variable in module.global_variables)
        self._whole = any(name.startswith(RuntimeLinker.PREFIX) for name in names)
        super().finalize()

    def _optimize_final_module(self) -> None:
        if self._whole:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._whole:
            super()._finalize_final_module()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No address: Python cannot call it."""
        self._ensure_finalized()
        address: int = super().get_pointer_to_function(name) if self._whole else 0
        return address

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        """What the cache stores."""
        kind: tuple[str, str, Any] = (
            super().serialize_using_object_code() if self._whole else super().serialize_using_bitcode()
        )
        return kind

    @property
    def codegen(self) -> Any:
        """The generator of code, which has nothing to set if there is no machine code."""
        return self._codegen if self._whole else _NoCode


class _NoCode:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        pass


class Inner(Compiler):
    """Compile a kernel for other kernels only."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function into an `InnerLibrary`."""
        library = InnerLibrary(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        self.state.library = library
        return super().compile_extra(func)


def set_environments(result: Any) -> None:
    """Tell the machine code of a kernel where the constants of kernels inside it are, as loading from a cache does."""
    library = result.library
    for environment in result._find_referenced_environments():
        if library.codegen is not _NoCode and library.codegen._engine.is_symbol_defined(environment.env_name):
            library.codegen.set_env(environment.env_name, environment)


class _Memory:
    """Answers of type inference, by function, types of the arguments, and flags of the compilation."""

    def __init__(self) -> None:
        self._answers: dict[int, tuple[Any, dict[Any, Any]]] = {}
        self._flags: tuple[Any, str] = (None, "")
        self.ask = BaseFunction.get_call_type

    def call_type(self, function: Any, context: Any, args: Any, kws: Any) -> Any:
        """What `BaseFunction.get_call_type` gives, which also notes the implementation to call."""
        if kws:
            return self.ask(function, context, args, kws)
        flags = ConfigStack.top_or_none()
        if flags is not self._flags[0]:
            self._flags = flags, "" if flags is None else flags.summary()
        answers = self._answers.setdefault(id(function), (function, {}))[1]
        key = (id(context), self._flags[1], *args)
        known = answers.get(key)
        if known is None:
            signature = self.ask(function, context, args, kws)
            if signature is not None:
                answers[key] = signature, function._impl_keys[signature.args]
            return signature
        signature, function._impl_keys[known[0].args] = known
        return signature


def _same(first: Any, second: Any) -> Any:
    """Whether two sets of flags agree; most that do set the same ones."""
    if not isinstance(second, TargetConfig):
        return NotImplemented
    return first is second or first._values == second._values or first.values() == second.values()


_VARIABLE, _INSTRUCTION, _SEQUENCE, _TABLE, _OTHER = range(5)


class _Parts(dict[type, int]):
    """What a part of an instruction is, by its type."""

    def __missing__(self, kind: type) -> int:
        known: tuple[Any, ...] = (ir.Var, ir.Inst, (list, tuple), dict, object)
        self[kind] = found = next(k for k, each in enumerate(known) if issubclass(kind, each))
        return found


_parts = _Parts()


def _listed(instruction: Any, value: Any) -> list[Any]:
    """What `Inst._rec_list_vars` gives: the variables in a part of an instruction."""
    kind = _parts[type(value)]
    if kind == _VARIABLE:
        return [value]
    if kind == _INSTRUCTION:
        variables: list[Any] = value.list_vars()
        return variables
    found: list[Any] = []
    if kind != _OTHER:
        for part in value.values() if kind == _TABLE else value:
            own = _parts[type(part)]
            if own == _VARIABLE:
                found.append(part)
            elif own != _OTHER:
                found += _listed(instruction, part)
    return found


class _Plain:
    """A scheme of colours without colours, whatever is to be coloured."""

    def __getattr__(self, name: str) -> Callable[[str], str]:
        return str


#: What is replaced while kernels are compiled: places and names.
_REPLACED = (
    (BaseFunction, "get_call_type"),
    (TargetConfig, "__eq__"),
    (ir.Inst, "_rec_list_vars"),
    (errors, "_termcolor_inst"),
)


def _set(values: Sequence[Any]) -> None:
    for (place, name), value in zip(_REPLACED, values, strict=True):
        setattr(place, name, value)


_memory = _Memory()
_lock = threading.RLock()
_depth = 0


@contextmanager
def eased() -> Iterator[None]:
    """Remember types, list variables quickly and rest the garbage collector while a kernel is compiled."""
    global _depth
    with _lock:
        collecting = gc.isenabled()
        usual = [getattr(place, name) for place, name in _REPLACED]
        if _depth == 0:
            gc.disable()
            _set([lambda *given: _memory.call_type(*given), _same, _listed, _Plain()])
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1
            if _depth == 0:
                _set(usual)
                if collecting:
                    gc.enable()
