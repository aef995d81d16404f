"""`weft graph build ...`: one module per command beside this one."""

from __future__ import annotations

import typer

from weft.cli.groups import SuggestingGroup
from weft.cli.learn.graph import build, classes, complete, disambiguate, export, rank, topics

app = typer.Typer(
    cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Build a knowledge graph, and learn from it.",
)  # fmt: skip
app.command("build", epilog=f"Example: {build.EXAMPLE}")(build.build)
app.command("export", epilog=f"Example: {export.EXAMPLE}")(export.export)
app.command("complete", epilog=f"Example: {complete.EXAMPLE}")(complete.complete)
app.command("classes", epilog=f"Example: {classes.EXAMPLE}")(classes.classes)
app.command("rank", epilog=f"Example: {rank.EXAMPLE}")(rank.rank)
app.command("disambiguate", epilog=f"Example: {disambiguate.EXAMPLE}")(disambiguate.disambiguate)
app.command("topics", epilog=f"Example: {topics.EXAMPLE}")(topics.topics)


@app.callback()
def group() -> None:
    """Build a knowledge graph, and learn from it."""
