"""`weft adapt sentiment` and `weft adapt distance`: reviews of a domain without labels, and which domains to label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, Workers, print_json, print_table, settings
from weft.cli.inputs import Encoding
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.formats.reviews import Review
    from weft.text import Doc

SENTIMENT_EXAMPLE = (
    "Example: weft adapt sentiment --source examples/reviews/films.tsv --target-raw examples/reviews/pans.tsv "
    "--out pans.weft"
)
DISTANCE_EXAMPLE = (
    "Example: weft adapt distance examples/reviews/films.tsv examples/reviews/pans.tsv examples/reviews/knives.tsv"
)


def sentiment(
    source: Annotated[
        list[Path], typer.Option("--source", metavar="FILE", help="Labelled reviews of the source domain; repeat.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write.")],
    target_raw: Annotated[
        list[Path] | None,
        typer.Option("--target-raw", metavar="FILE", help="Reviews of the target domain, labels not read; repeat."),
    ] = None,
    source_raw: Annotated[
        list[Path] | None,
        typer.Option("--source-raw", metavar="FILE", help="More reviews of the source domain; repeat."),
    ] = None,
    target: Annotated[
        list[Path] | None,
        typer.Option("--target", metavar="FILE", help="Some labelled reviews of the target, to correct with; repeat."),
    ] = None,
    test: Annotated[
        Path | None, typer.Option("--test", metavar="FILE", help="Labelled reviews of the target, to score on.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="base (no raw text), scl (frequent pivots), scl-mi (telling pivots).")
    ] = "scl-mi",
    terms: Annotated[int, typer.Option("--terms", min=0, help="Terms to show of what was put side by side.")] = 5,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Setting of the method; repeat.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the model.", show_default="the file's")] = "",
    licence: Annotated[str, typer.Option("--licence", help="Licence of the model.", show_default="not stated")] = "",
    encoding: Encoding = "utf-8",
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Learn to tell positive from negative reviews of one domain by labelled reviews of another.

    Reviews are tables with a first line that names the columns (text, and rating or sentiment), or JSON Lines; see
    the page on reviews. `weft annotate` uses the model.
    """
    from weft.cli.learn.train import flat
    from weft.pipeline.registry import check_place, keep
    from weft.tasks.sentiment.documents import PolarityClassifier

    check_place(out)
    options = {"method": method, "seed": seed, "workers": workers, **settings(setting or [])}
    classifier = PolarityClassifier.from_options(options)
    if classifier.settings.method != "base" and not target_raw:
        raise ConfigError(
            f"--method {classifier.settings.method} learns from reviews of the target: give them as --target-raw FILE, "
            "or take --method base"
        )
    read = {
        name: documents(paths or [], encoding)
        for name, paths in (
            ("source", source), ("target_raw", target_raw), ("source_raw", source_raw), ("target", target),
            ("test", [test] if test else []),
        )
    }  # fmt: skip
    report = classifier.adapt(read["source"], read["target_raw"], read["source_raw"], target=read["target"])
    if read["test"]:
        report["scores"] = {f"test {name}": value for name, value in classifier.evaluate(read["test"]).items()}
    files = [*source, *(source_raw or []), *(target_raw or []), *(target or [])]
    keep(classifier, report, out, name=name, corpora=[path.name for path in files], licence=licence)
    shared = classifier.correspondences(dimensions=3 if as_json else 0, most=terms) if terms else []
    if as_json:
        pivots = classifier.pivots[: 10 * terms]
        print_json(report | {"pivots": pivots, "correspondences": [each.as_dict() for each in shared]})
        return
    print_table(f"Adapted classifier ({method})", ["", ""], flat(report), figures=[1])
    if shared:
        rows = [[each.polarity, ", ".join(each.source), ", ".join(each.target)] for each in shared]
        print_table("Terms side by side", ["side", "source", "target"], rows)


def distance(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Reviews, a file a domain.")],
    choose: Annotated[int, typer.Option("--choose", min=1, help="How many domains you could label.")] = 1,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Choose one domain after the other instead of trying all sets.")
    ] = False,
    pivots: Annotated[int, typer.Option("--pivots", min=2, help="Terms that stand for all domains.")] = 500,
    pivot_documents: Annotated[
        int, typer.Option("--pivot-documents", min=0, help="A pivot occurs in more than so many reviews of each.")
    ] = 5,
    dimensions: Annotated[int, typer.Option("--dimensions", min=1, help="Dimensions of the projection.")] = 50,
    encoding: Encoding = "utf-8",
    seed: Seed = 0,
    as_json: JsonFlag = False,
) -> None:
    """Say how far domains are apart, and which of them are worth labelling. No labels are read.

    The proxy A-distance is 0 where nothing tells two domains apart and 100 where everything does.
    """
    from weft.tasks.sentiment.documents import text_of
    from weft.tasks.sentiment.domain_choice import document_distances

    names = [path.name.removesuffix(".gz").rsplit(".", 1)[0] for path in files]
    if len(set(names)) < len(names):
        raise ConfigError(f"the files name their domains, and must differ: {', '.join(names)}")
    if choose > len(files):
        raise ConfigError(f"of {len(files)} domains, --choose can take 1 to {len(files)}, not {choose}")
    texts = {
        name: [text_of(doc) for doc in documents([path], encoding)] for name, path in zip(names, files, strict=True)
    }
    distances = document_distances(texts, pivots, pivot_documents, dimensions, seed=seed)
    chosen = distances.sources(choose, greedy)
    if as_json:
        print_json({"distances": distances.as_dict(), "label": list(chosen)})
        return
    rows: list[list[Any]] = [
        [one, *("-" if one == other else f"{distances.of(one, other):.1f}" for other in names)] for one in names
    ]
    print_table("Proxy A-distance", ["", *names], rows, figures=range(1, len(names) + 1))
    typer.echo(f"worth labelling: {', '.join(chosen)}")


def documents(paths: Sequence[Path], encoding: str) -> list[Doc]:
    """The reviews of files as documents, each text once."""
    from weft.formats.reviews import read_reviews, without_duplicates

    reviews: list[Review] = []
    for path in paths:
        reviews += read_reviews(path, encoding=encoding)
    return [review.doc() for review in without_duplicates(reviews)]
