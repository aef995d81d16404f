"""Stop long work from outside: it asks between its blocks whether it should go on.

    with stop_when(condition):      whoever starts the work says when it should stop
        ...  check()  ...           the work raises `Stopped` at its next check if the condition holds

Conditions hold for the calls inside the block, in its thread. A block of work between two checks should take about a
second at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from weft.errors import WeftError

Condition = Callable[[], bool]
_conditions: ContextVar[tuple[Condition, ...]] = ContextVar("weft_stop_conditions", default=())


class Stopped(WeftError):
    """Work that was stopped before it was done."""


@contextmanager
def stop_when(condition: Condition) -> Iterator[None]:
    """Stop the work inside the block at its next check once a condition holds; outer conditions hold too.

    >>> with stop_when(lambda: True):
    ...     check()
    Traceback (most recent call last):
    ...
    weft.deadline.Stopped: the work was stopped before it was done
    """
    token = _conditions.set((*_conditions.get(), condition))
    try:
        yield
    finally:
        _conditions.reset(token)


def deadline(seconds: float) -> Condition:
    """The condition that this many seconds have passed from now on.

    >>> deadline(0)()
    True
    """
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def check() -> None:
    """Raise `Stopped` if a condition to stop holds; cheap enough to call once per sentence."""
    for condition in _conditions.get():
        if condition():
            raise Stopped("the work was stopped before it was done")
