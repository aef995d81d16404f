"""Random numbers inside kernels: the state is one 64-bit number, and draws are the same everywhere (splitmix64)."""

from __future__ import annotations

import numpy as np

from weft.arrays import Keys
from weft.hashing import avalanche
from weft.kernel import kernel


@kernel
def uniform(random: Keys) -> float:
    """The next random number in [0, 1) of the state `random[0]`.

    >>> state = np.array([7], dtype=np.uint64)
    >>> 0.0 <= uniform(state) < 1.0
    True
    """
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(avalanche(random[0]) >> np.uint64(11)) / 9007199254740992.0
