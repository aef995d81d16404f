"""Count what kernels do, in place of how long they take: a count is the same on every machine, however busy.

Kernels run as the Python that they are written in, and every line of theirs that is executed is one step. That is slow,
so problems must be small; how the number of steps grows with a problem shows all the same.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher


@contextmanager
def interpreted() -> Iterator[Counter[str]]:
    """Within, kernels of all modules loaded so far run as Python; tells afterwards the lines executed, by name of the
    kernel."""
    replaced: list[tuple[dict[str, Any], str, Dispatcher]] = []
    steps: Counter[str] = Counter()
    kernels: dict[CodeType, _Lines] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "weft":
            replaced += [(vars(module), key, of) for key, of in vars(module).items() if isinstance(of, Dispatcher)]
    for names, key, dispatcher in replaced:
        names[key] = dispatcher.py_func
        kernels[dispatcher.py_func.__code__] = _lines(dispatcher.py_func.__name__)

    def begin(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        known = kernels.get(frame.f_code)
        return None if known is None else known.trace

    before = sys.gettrace()
    sys.settrace(begin)
    try:
        with np.errstate(all="ignore"):  # compiled code says nothing of overflow either, and hashing counts on it
            yield steps
    finally:
        sys.settrace(before)
        for names, key, dispatcher in replaced:
            names[key] = dispatcher
        for known in kernels.values():
            steps[known.name] += known.told()


class _Lines(NamedTuple):
    name: str
    trace: Callable[..., Any]
    told: Callable[[], int]


def _lines(name: str) -> _Lines:
    """What Python calls at every line of a kernel, millions of times, and how often it did."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        nonlocal count
        if event == "line":
            count += 1
        return trace

    return _Lines(name, trace, lambda: count)


def steps_of(action: Callable[[], Any]) -> int:
    """How many lines of kernels an action executes."""
    with interpreted() as steps:
        action()
    return steps.total()


def exponent(sizes: Iterable[float], counts: Iterable[float]) -> float:
    """The power of its size with which a count grows: the slope of a line through their logarithms."""
    return float(np.polyfit(np.log(list(sizes)), np.log(list(counts)), 1)[0])
