"""`weft label`: labels from people: a workbench in the browser, suggestions to judge, plans, crowds."""

from __future__ import annotations

import typer

from weft.cli.generated import with_reading
from weft.cli.groups import SuggestingGroup
from weft.cli.people import crowd, plan, review, workbench

app = typer.Typer(
    cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Label text with others in a browser, or by judging suggestions; plan what to check; measure a crowd.",
)  # fmt: skip
app.command("new", epilog=f"Example: {workbench.EXAMPLES['new']}")(with_reading(workbench.new))
app.command("open", epilog=f"Example: {workbench.EXAMPLES['open']}")(workbench.open_project)
for name in ("people", "status", "export", "backup", "restore"):
    app.command(name, epilog=f"Example: {workbench.EXAMPLES[name]}")(getattr(workbench, name))
app.command("review", epilog=f"Example: {review.EXAMPLE}")(with_reading(review.review))
app.command("plan", epilog=f"Example: {plan.EXAMPLE}")(with_reading(plan.plan))
app.command("crowd", epilog=f"Example: {crowd.EXAMPLE}")(crowd.crowd)
