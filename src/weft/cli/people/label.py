"""`weft label review|plan|crowd`: labels from people, one expert's or a crowd's."""

from __future__ import annotations

import typer

from weft.cli.generated import with_reading
from weft.cli.groups import SuggestingGroup
from weft.cli.people import crowd, plan, review

app = typer.Typer(
    cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Label text by accepting or rejecting suggestions; plan what to check; measure a crowd.",
)  # fmt: skip
app.command("review", epilog=f"Example: {review.EXAMPLE}")(with_reading(review.review))
app.command("plan", epilog=f"Example: {plan.EXAMPLE}")(with_reading(plan.plan))
app.command("crowd", epilog=f"Example: {crowd.EXAMPLE}")(crowd.crowd)
