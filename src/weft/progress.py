"""Progress bars with rate and time left; silent if standard error is not a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")


class Bar:
    """Handle of a running bar: `advance` it, or show a short `note` beside it."""

    def __init__(self, progress: Any = None, task: Any = None) -> None:
        self._progress, self._task = progress, task

    def advance(self, amount: float = 1.0) -> None:
        if self._progress is not None:
            self._progress.advance(self._task, amount)

    def note(self, text: str) -> None:
        if self._progress is not None:
            self._progress.update(self._task, note=text)


@contextmanager
def progress(description: str, total: float | None = None, unit: str = "sentences") -> Iterator[Bar]:
    """Show a bar while the block runs.

    >>> with progress("reading", total=3) as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    """
    if not sys.stderr.isatty() or os.environ.get("WEFT_QUIET"):
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text("" if not task.speed else f"{task.speed:,.0f} {unit}/s", style="cyan")

    class Amount(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(amount(task.completed, task.total, unit), style="green")

    shown = Progress(
        TextColumn("{task.description}"), BarColumn(), Amount(), Rate(),
        TimeRemainingColumn(), TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with shown:
        yield Bar(shown, shown.add_task(description, total=total, note=""))


def amount(completed: float, total: float | None, unit: str) -> str:
    """What a bar shows of how far it is.

    >>> amount(1234.5, 11000, "kB"), amount(20, None, "words")
    ('1,234 of 11,000 kB', '20 words')
    """
    return f"{completed:,.0f} {unit}" if total is None else f"{completed:,.0f} of {total:,.0f} {unit}"


def track(items: Iterable[Item], description: str, total: int | None = None, unit: str = "items") -> Iterator[Item]:
    """Iterate over items with a progress bar.

    >>> sum(track([1, 2, 3], "adding"))
    6
    """
    size = len(items) if total is None and isinstance(items, Sized) else total
    with progress(description, size, unit) as bar:
        for item in items:
            yield item
            bar.advance()
