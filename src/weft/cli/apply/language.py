"""A notice that a text looks like another language than the one of the model; what is written stays the same."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from weft.text import Doc


class LanguageWatch:
    """Sees the documents that go into a model until there is enough text, and tells once if its language is another.

    `models` are the names of the models and `language` is their language, as their cards state them; without a
    language, nothing is told. WEFT_QUIET silences the notice.
    """

    def __init__(self, models: Iterable[str], language: str) -> None:
        self.models, self.language = "+".join(models), language
        self._seen: list[str] = []
        self._missing = 0 if not language or os.environ.get("WEFT_QUIET") else _enough()

    def see(self, doc: Doc) -> None:
        """Take notice of a document."""
        if self._missing > 0:
            self._seen.append(doc.text[: self._missing])
            self._missing -= len(self._seen[-1])
            if self._missing <= 0:
                self.end()

    @property
    def done(self) -> bool:
        """Whether no more text is needed."""
        return self._missing <= 0

    def end(self) -> None:
        """Judge the text seen so far, unless that was done before."""
        from weft.text.language import foreign_language

        seen, self._seen, self._missing = "\n".join(self._seen), [], 0
        found = foreign_language(seen, self.language) if seen else None
        if found is not None:
            typer.echo(
                f"weft: the text looks like {found.name}; the model {self.models} is {self.language}; "
                "see `weft models list`",
                err=True,
            )


def _enough() -> int:
    from weft.text.language import READ

    return READ
