"""The array types that signatures name, one alias per dtype and role."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Scores, weights and probabilities.
Floats = NDArray[np.float64]
#: The same in single precision, where memory counts.
Singles = NDArray[np.float32]
#: Counts, offsets and positions.
Ints = NDArray[np.int64]
#: Numbers of strings, labels and states.
Ids = NDArray[np.int32]
#: Rows of a table.
Rows = NDArray[np.int32]
#: The head of every word.
Heads = NDArray[np.int32]
#: Yes or no for every element.
Bools = NDArray[np.bool_]
#: What a search may use.
Mask = NDArray[np.bool_]
#: Features as 64-bit keys.
Keys = NDArray[np.uint64]
#: Halves of 64-bit keys, and slots of hashed tables.
Halves = NDArray[np.uint32]
