"""Memory of a service that runs for weeks: what was freed goes back to the system.

Caches of words are bounded (`weft.features.cache`, `weft.features.lexicon`) and start again when they are full. The C
library keeps freed memory for every thread, though, and what one long text needed would stay. With
glibc, the service has few such pools and returns free memory once a minute; with other libraries, nothing is done.
"""

from __future__ import annotations

import os

from weft.memory import glibc

#: Seconds between two returns of free memory.
EVERY = 60
#: The number of pools of memory that threads share, and the option of glibc that sets it.
_POOLS, _ARENA_MAX = 2, -8


def use_few_pools() -> None:
    """Have all threads share two pools; to be called before threads are started, unless the user has set a number."""
    if (library := glibc()) is not None and "MALLOC_ARENA_MAX" not in os.environ:
        library.mallopt(_ARENA_MAX, _POOLS)
