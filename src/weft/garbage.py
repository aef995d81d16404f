"""A rest for the garbage collector while many objects are made that stay: loading Numba, or a model.

The collector looks through all of them again and again and finds nothing: a fifth of the time that loading Numba takes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Within, garbage in cycles is kept; afterwards it is collected again, if it was before.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
