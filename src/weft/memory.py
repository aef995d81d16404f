"""Memory that was freed goes back to the system.

The C library keeps freed memory for later requests, and what loading a model, a batch of long texts or a full cache
needed for a moment would stay. With glibc it can be returned; with other libraries, nothing is done.
"""

from __future__ import annotations

import ctypes
import platform


def return_free_memory() -> None:
    """Return freed memory to the system."""
    if (library := glibc()) is not None:
        library.malloc_trim(0)


def glibc() -> ctypes.CDLL | None:
    """The C library of the process if it is glibc."""
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None
