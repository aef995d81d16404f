"""Large batches cut into smaller ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

B = TypeVar("B", bound="Cuttable")


class Cuttable(Protocol):
    """A batch that can be cut."""

    def __len__(self) -> int: ...
    def cut(self: B, first: int, end: int) -> B:
        """Sentences `first:end`."""
        ...


def cut_evenly(batch: B, size: int) -> Iterator[B]:
    """The same sentences in batches of at most `size` sentences."""
    for first in range(0, len(batch), size):
        yield batch.cut(first, min(first + size, len(batch)))


def cut_by_words(batch: B, offsets: NDArray[np.int64], words: int) -> Iterator[B]:
    """The same sentences, of words `offsets[s]:offsets[s + 1]`, in batches of at most `words` words, but of at least
    one sentence."""
    first = 0
    while first < len(batch):
        end = int(np.searchsorted(offsets, offsets[first] + words, side="right")) - 1
        end = min(max(end, first + 1), len(batch))
        yield batch.cut(first, end)
        first = end
