"""`weft label review|crowd`: labels from people, one expert's or a crowd's."""

from __future__ import annotations

import typer

from weft.cli.generated import with_reading
from weft.cli.groups import SuggestingGroup
from weft.cli.people import crowd, review

app = typer.Typer(
    cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Label text by accepting or rejecting suggestions; measure a crowd's answers.",
)  # fmt: skip
app.command("review", epilog=f"Example: {review.EXAMPLE}")(with_reading(review.review))
app.command("crowd", epilog=f"Example: {crowd.EXAMPLE}")(crowd.crowd)
