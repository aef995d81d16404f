"""Temporary folders of tests in memory, where there is room: waiting for a disk takes longer than many tests.

Weft waits until a model, a shard or a line of a manifest is on the disk, some milliseconds each time.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SHARED = Path("/dev/shm")  # files in memory, on Linux
ROOM = 4 << 30  # bytes that must be free there
MEMORY = 8 << 30  # bytes of memory that must be available


def temporary_root(folder: Path = SHARED, facts: Path = Path("/proc/meminfo")) -> Path | None:
    """The folder for files in memory; None if there is none, or not enough room or memory."""
    try:
        lines = dict(line.split(":") for line in facts.read_text().splitlines())
        available = 1024 * int(lines["MemAvailable"].split()[0])
        free = shutil.disk_usage(folder).free
    except (OSError, KeyError, ValueError):
        return None
    return folder if available >= MEMORY and free >= ROOM and os.access(folder, os.W_OK | os.X_OK) else None


def use_memory() -> None:
    """Have pytest make temporary folders there, in this process and in workers, unless another place is given."""
    root = temporary_root()
    if root is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(root))
