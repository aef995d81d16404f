"""`weft induce ...`: structure learned from text of which nothing is annotated but, at most, tags."""

from __future__ import annotations

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Learn tags, grammars and words from text without annotation.",
)


@app.callback()
def _induce() -> None:
    """Learn tags, grammars and words from text without annotation."""
