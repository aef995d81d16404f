"""Groups of commands that answer an unknown name with the command that is meant."""

from __future__ import annotations

import re
from typing import Any

import typer
import typer.core

#: Wrong usage; Typer does not export it by its own name.
_UsageError: Any = typer.BadParameter.__mro__[1]


class SuggestingGroup(typer.core.TyperGroup):
    """Suggests commands of similar names, as Typer does, and commands whose help has the word that was typed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as error:
            if "Did you mean" not in error.message and (near := self._described(ctx, args[0])):
                error.message = f"{error.message.rstrip('.')}. Did you mean {', '.join(map(repr, near))}?"
            raise

    def _described(self, ctx: Any, word: str) -> list[str]:
        """The commands whose one-line help has a word."""
        helps = {name: self.commands[name].help or "" for name in self.list_commands(ctx)}
        return [name for name, help in helps.items() if word.lower() in re.findall(r"\w+", help.split(". ")[0].lower())]
