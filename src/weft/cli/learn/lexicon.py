"""`weft lexicon grow|clusters|cross-clusters|entities|network|denotations`: names, clusters, entities, networks."""

from __future__ import annotations

import typer

from weft.cli.generated import with_reading
from weft.cli.groups import SuggestingGroup
from weft.cli.learn import clusters, entities, grow, network
from weft.cli.learn.graph import denotations

app = typer.Typer(
    cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Learn lists of names, word clusters and entities from a collection; build networks of meanings.",
)  # fmt: skip
app.command("grow", epilog=f"Example: {grow.EXAMPLE}")(with_reading(grow.grow))
app.command("clusters", epilog=f"Example: {clusters.EXAMPLE}")(with_reading(clusters.clusters))
app.command("cross-clusters", epilog=f"Example: {clusters.CROSS_EXAMPLE}")(with_reading(clusters.cross))
app.command("network", epilog=f"Example: {network.EXAMPLE}")(network.network)
app.command("entities", epilog=f"Example: {entities.EXAMPLE}")(entities.entities)
app.command("denotations", epilog=f"Example: {denotations.EXAMPLE}")(denotations.denotations)
