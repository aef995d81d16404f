"""`weft diagnose distance FILE...`: how far domains are apart, and which of them are worth labelling."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import SETTINGS, JsonFlag, Seed, option, print_json, print_table
from weft.cli.inputs import Encoding, read_documents
from weft.errors import ConfigError

EXAMPLE = "weft diagnose distance examples/reviews/films.tsv examples/reviews/pans.tsv examples/reviews/knives.tsv"


def distance(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Reviews, one file per domain.")],
    choose: Annotated[
        int, option("--choose", min=1, help="Number of domains that you could label.", panel=SETTINGS)
    ] = 1,
    greedy: Annotated[
        bool, option("--greedy", help="Choose one domain after the other instead of trying all sets.", panel=SETTINGS)
    ] = False,
    pivots: Annotated[
        int, option("--pivots", min=2, help="Number of terms that stand for all domains.", panel=SETTINGS)
    ] = 500,
    pivot_documents: Annotated[
        int,
        option(
            "--pivot-documents", min=0, help="Pivots occur in more reviews of every domain than this.", panel=SETTINGS
        ),
    ] = 5,
    dimensions: Annotated[
        int, option("--dimensions", min=1, help="Dimensions of the projection.", panel=SETTINGS)
    ] = 50,
    encoding: Encoding = "utf-8",
    seed: Seed = 0,
    as_json: JsonFlag = False,
) -> None:
    """Measure how far domains are apart, and choose those worth labelling. No labels are read.

    The proxy A-distance is 0 if two domains are indistinguishable and 100 if they are perfectly separable.
    """
    from weft.tasks.sentiment.documents import text_of
    from weft.tasks.sentiment.domain_choice import document_distances, hidden_differences

    names = [path.name.removesuffix(".gz").rsplit(".", 1)[0] for path in files]
    if len(set(names)) < len(names):
        raise ConfigError(f"the file names are the names of the domains and must differ, got {', '.join(names)}")
    if choose > len(files):
        raise ConfigError(f"--choose must be from 1 to the number of domains, {len(files)}; got {choose}")
    texts = {
        name: [text_of(doc) for doc in read_documents([path], encoding)]
        for name, path in zip(names, files, strict=True)
    }
    distances = document_distances(texts, pivots, pivot_documents, dimensions, seed=seed)
    for one, other, by_words in hidden_differences(texts, distances, seed=seed):
        typer.echo(
            f"weft: {one} and {other} look alike in the terms they share (distance {distances.of(one, other):.1f}), "
            f"but all their words tell them apart (distance {by_words:.1f}): their topics differ; give more reviews, "
            f"or admit rarer shared terms with --pivot-documents {max(0, pivot_documents // 2)}",
            err=True,
        )
    chosen = distances.sources(choose, greedy)
    if as_json:
        print_json({"distances": distances.as_dict(), "label": list(chosen)})
        return
    rows: list[list[Any]] = [
        [one, *("-" if one == other else f"{distances.of(one, other):.1f}" for other in names)] for one in names
    ]
    print_table("Proxy A-distance", ["", *names], rows, figures=range(1, len(names) + 1))
    typer.echo(f"worth labelling: {', '.join(chosen)}")
