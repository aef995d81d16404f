"""`weft diagnose domains|distance|curve|preferences|resources|coherence|roles`: where models and texts go wrong."""

from __future__ import annotations

import typer

from weft.cli.generated import with_reading, with_settings
from weft.cli.groups import SuggestingGroup
from weft.cli.images import roles
from weft.cli.judge import coherence, distance, domains, learning_curve, preferences, resources
from weft.pipeline.registry import TASKS

app = typer.Typer(
    cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Explain losses in other domains, learning curves, broken preferences, faulty resources, breaks in texts, and "
    "embeddings that cannot tell who does what to whom.",
)  # fmt: skip
app.command("domains", epilog=f"Example: {domains.EXAMPLE}")(domains.domains)
app.command("distance", epilog=f"Example: {distance.EXAMPLE}")(distance.distance)
_curve = with_settings(learning_curve.curve, TASKS["ner"].methods["transfer"].settings_class().options())
app.command("curve", epilog=f"Example: {learning_curve.EXAMPLE}")(with_reading(_curve))
app.command("preferences", epilog=f"Example: {preferences.EXAMPLE}")(preferences.preferences)
app.command("resources", epilog=f"Example: {resources.EXAMPLE}")(resources.resources)
app.command("coherence", epilog=f"Example: {coherence.EXAMPLE}")(coherence.coherence)
app.command("roles", epilog=f"Example: {roles.EXAMPLE}")(roles.roles)
