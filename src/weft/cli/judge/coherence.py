"""`weft diagnose coherence TEXT...`: how well documents hang together, and where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import RUNNING, SETTINGS, JsonFlag, Models, Seed, counted, option, print_json, print_table
from weft.cli.inputs import Encoding, FromFormat, Reading, SkipBad, Texts, report_bad
from weft.errors import ConfigError, DataError

if TYPE_CHECKING:
    from weft.tasks.coherence.graph import Joint, Link, SentenceGraph
    from weft.text import Doc

EXAMPLE = "weft diagnose coherence examples/coherence"
#: Models for text without trees.
MODELS = ("en",)

Entities = Annotated[
    str,
    option(
        "--entities", metavar="nouns|heads|LAYER", panel=SETTINGS,
        help="What links sentences: all nouns, those that head phrases, or a layer such as coref.",
    ),
]  # fmt: skip
Weight = Annotated[
    str,
    option(
        "--weight", metavar="unweighted|weighted|roles", panel=SETTINGS,
        help="What a link weighs: 1, the entities that are shared, or their roles.",
    ),
]  # fmt: skip
Permutations = Annotated[
    int,
    option("--permutations", panel=SETTINGS, min=1, help="Random orders that a document is compared with."),
]
Most = Annotated[int, option("--most", min=1, help="Maximum number of rows per table.")]
Order = Annotated[bool, option("--reorder", help="Also put the sentences of every document in order.")]
Out = Annotated[
    Path | None,
    option("--out", "-o", metavar="FILE", panel=RUNNING, help="Table of all links: .csv, .tsv, .json or .parquet."),
]


def coherence(
    files: Texts,
    entities: Entities = "nouns",
    weight: Weight = "roles",
    permutations: Permutations = 20,
    order: Order = False,
    most: Most = 3,
    model: Models = None,
    out: Out = None,
    seed: Seed = 0,
    skip_bad: SkipBad = False,
    from_format: FromFormat = None,
    encoding: Encoding = "utf-8",
    as_json: JsonFlag = False,
) -> None:
    """Rank documents by coherence, with the entities that link sentences and the weakest joints between them.

    The score of a document is the mean weight of the links that lead from a sentence to later ones, each divided by its
    distance. It also shows how many random orders of the sentences score lower. Text without trees is parsed first.
    """
    from weft.formats.csv.plain_rows import check_rows_path, write_rows
    from weft.graph.sequences import WEIGHTS
    from weft.tasks.coherence.graph import COLUMNS, SentenceGraph

    if weight not in WEIGHTS:
        raise ConfigError(f"--weight is {', '.join(WEIGHTS)}, not {weight!r}")
    if out is not None:
        check_rows_path(out)
    inputs = Reading(from_format, skip_bad, encoding=encoding).open(files)
    reports: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for number, doc in enumerate(_parsed(inputs.docs, model), 1):
        graph = SentenceGraph.of(doc, entities)
        graph.name = graph.name or f"document {number}"
        if graph.n:
            reports.append(_report(graph, weight, permutations, seed, most, order))
        if out is not None:
            rows += graph.rows
    report_bad(inputs)
    if not reports:
        raise DataError("there are no sentences to judge")
    reports.sort(key=lambda report: -report["score"])
    if out is not None:
        write_rows(rows, out, COLUMNS)
    if as_json:
        print_json({"weight": weight, "entities": entities, "documents": reports})
        return
    _show(reports, permutations)


def _parsed(docs: Iterable[Doc], models: list[Path] | None) -> Iterator[Doc]:
    """Documents with trees: as they are, or from models."""
    import weft

    nlp = None
    for doc in docs:
        if doc.has("deprel") and doc.has("upos") and not models:
            yield doc
            continue
        if nlp is None:
            nlp = weft.load(*(models or MODELS))
        yield from nlp.pipe([doc])


def _report(
    graph: SentenceGraph, weight: str, permutations: int, seed: int, most: int, order: bool
) -> dict[str, Any]:  # fmt: skip
    """What is said of a document; sentences are counted from 1."""
    joints, strongest = graph.joints(weight), graph.strongest(weight)
    found: dict[str, Any] = {
        "document": graph.name, "sentences": graph.n, "links": len(graph.links), "score": graph.score(weight),
        "better than": graph.better_than(graph.permutations(permutations, seed), weight) if graph.n > 1 else None,
        "weakest joints": [_joint(graph, each) for each in joints[:most]],
        "strongest links": [_link(each) for each in strongest[:most]],
    }  # fmt: skip
    if order:
        best = graph.best_order(weight, seed=seed)
        found["order"] = [sentence + 1 for sentence in best]
        found["score in order"] = float(graph.scores([best])[0, ("unweighted", "weighted", "roles").index(weight)])
        found["texts in order"] = [graph.texts[sentence] for sentence in best]
    return found


def _joint(graph: SentenceGraph, joint: Joint) -> dict[str, Any]:
    after = joint.after
    return {
        "after": after + 1, "strength": joint.strength, "before": graph.texts[after], "next": graph.texts[after + 1],
        "across": [_link(each) for each in joint.across],
    }  # fmt: skip


def _link(link: Link) -> dict[str, Any]:
    return {
        "sentence": link.first + 1, "other": link.second + 1, "weight": link.weight,
        "entities": {name: f"{a}-{b}" for name, (a, b) in link.entities.items()},
    }  # fmt: skip


def _show(reports: list[dict[str, Any]], permutations: int) -> None:
    rows = [
        [
            each["document"], f"{each['sentences']:,}", f"{each['links']:,}", f"{each['score']:.3f}",
            "" if each["better than"] is None else f"{100 * each['better than']:.0f} %",
        ]
        for each in reports
    ]  # fmt: skip
    header = ["document", "sentences", "links", "score", f"above {permutations} orders"]
    print_table("Coherence, the most coherent first", header, rows, (1, 2, 3, 4))
    for each in reports:
        joints, links = each["weakest joints"], each["strongest links"]
        if joints:
            lines = [[f"{j['after']} | {j['after'] + 1}", f"{j['strength']:.3f}", _said(j["across"])] for j in joints]
            print_table(
                f"{each['document']}: weakest joints", ["after | next", "strength", "links across"], lines, (1,)
            )
        if links:
            lines = [[f"{k['sentence']} - {k['other']}", f"{k['weight']:g}", _entities(k)] for k in links]
            print_table(f"{each['document']}: strongest links", ["sentences", "weight", "entities"], lines, (1,))
        if "order" in each:
            typer.echo(f"{each['document']} in order, score {each['score in order']:.3f}:")
            for number, text in zip(each["order"], each["texts in order"], strict=True):
                typer.echo(f"  {number:>3}  {text}")
    typer.echo(counted(len(reports), "document"))


def _said(links: list[dict[str, Any]]) -> str:
    return "; ".join(f"{k['sentence']}-{k['other']} {_entities(k)}" for k in links) or "none"


def _entities(link: dict[str, Any]) -> str:
    return ", ".join(f"{name} ({roles})" for name, roles in link["entities"].items())
