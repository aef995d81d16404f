"""How much the work on one sentence may take: estimated before it is taken.

    with limited():                     whoever can cut a sentence into smaller pieces sets the limit
        ...  afford(words, bytes)  ...  the work raises `TooLarge` if it would exceed it, and takes nothing

Without `limited`, as in training, there is no limit. Components are limited when they annotate: `Component.__call__`
cuts sentences that turn out to be too large into windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from weft.errors import WeftError

#: Bytes that one sentence may take.
SENTENCE_BYTES = 512 * 2**20
#: Steps of simple arithmetic in one search for one sentence: a few seconds.
SENTENCE_STEPS = 4_000_000_000
_limited: ContextVar[bool] = ContextVar("weft_limited", default=False)


class TooLarge(WeftError):
    """A sentence that would take too much; `words` is its length."""

    def __init__(self, words: int, needed: str) -> None:
        self.words = words
        super().__init__(f"a sentence of {words:,} words needs {needed}, too much for one sentence; cut it into parts")


@contextmanager
def limited() -> Iterator[None]:
    """Limit what sentences may take inside the block.

    >>> afford(9000, 10**12)
    >>> with limited():
    ...     afford(9000, 10**12)
    Traceback (most recent call last):
    ...
    weft.budget.TooLarge: a sentence of 9,000 words needs 1,000,000 MB, too much for one sentence; cut it into parts
    """
    token = _limited.set(True)
    try:
        yield
    finally:
        _limited.reset(token)


def afford(words: int, size: float, steps: float = 0) -> None:
    """Raise `TooLarge` if a sentence would need more bytes or more steps than it may take."""
    if _limited.get():
        if size > SENTENCE_BYTES:
            raise TooLarge(words, f"{size / 1e6:,.0f} MB")
        if steps > SENTENCE_STEPS:
            raise TooLarge(words, f"{steps / 1e6:,.0f} million steps")
