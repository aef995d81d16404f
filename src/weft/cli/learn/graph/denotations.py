"""`weft lexicon denotations captions.tsv --out graph/`: which images a phrase describes, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, RUNNING, SETTINGS, JsonFlag, counted, option, print_json, print_table, short_path
from weft.errors import ConfigError, DataError

if TYPE_CHECKING:
    from weft.tasks.denotations import DenotationGraph

EXAMPLE = "weft lexicon denotations examples/denotations/captions.tsv --out graph"

Captions = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[CAPTIONS]...", help="TSV files: image#number, caption; or image, number, caption."),
]
Graph = Annotated[
    Path | None, option("--graph", "-g", metavar="GRAPH", panel=DATA, help="Graph to ask, or to add captions to.")
]
Lexicon = Annotated[
    Path | None,
    option(
        "--hypernyms", metavar="FILE", panel=DATA, help="TSV file of nouns and their hypernyms.",
        shown="learned from WordNet and the captions",
    ),
]  # fmt: skip
Out = Annotated[
    Path | None, option("--out", "-o", metavar="FOLDER", help="Folder to write the graph and its tables to.")
]
Layout = Annotated[
    str, option("--tables", metavar="parquet|released|none", panel=SETTINGS, help="Tables beside the graph.")
]
Least = Annotated[int, option("--least", min=1, panel=SETTINGS, help="Images of phrases in tables of pairs.")]
Phrase = Annotated[str, option("--phrase", metavar="WORDS", help="Show a phrase: images, neighbours, similar phrases.")]
Given = Annotated[str, option("--condition", metavar="WORDS", help="Second phrase: probability, nPMI, shared images.")]
Most = Annotated[int, option("--most", min=1, panel=RUNNING, help="Maximum number of rows per table.")]


def denotations(
    captions: Captions = None,
    graph: Graph = None,
    hypernyms: Lexicon = None,
    out: Out = None,
    tables: Layout = "parquet",
    least: Least = 10,
    phrase: Phrase = "",
    given: Given = "",
    most: Most = 10,
    as_json: JsonFlag = False,
) -> None:
    """Build a graph of the phrases that captions reduce to, with the images of each; or ask one.

    Phrases are lemmatized, without articles: `dog run`. With `--graph`, captions are added to a graph that exists.
    """
    from weft.tasks.denotations import DenotationGraph
    from weft.tasks.denotations.files import check_layout

    check_layout(tables)
    if given and not phrase:
        raise ConfigError("--condition says what --phrase is compared with: name both")
    if not captions and graph is None:
        raise ConfigError("name files of captions to build a graph, or a graph to ask (--graph)")
    if captions and out is None and not phrase:
        raise ConfigError("name the folder to write the graph to (--out), or a phrase to show (--phrase)")
    if hypernyms is not None and graph is not None:
        raise ConfigError("a graph keeps its hypernyms: --hypernyms belongs to a new one")
    made = DenotationGraph.load(graph) if graph is not None else None
    if captions:
        made = _built(made, captions, hypernyms)
    assert made is not None
    report: dict[str, Any] = {}
    if out is not None:
        report |= _written(made, out, tables, least, as_json)
    if phrase:
        report |= _shown(made, phrase, given, most, as_json)
    if as_json:
        print_json(report)


def _built(graph: DenotationGraph | None, captions: list[Path], hypernyms: Path | None) -> DenotationGraph:
    from weft.tasks.denotations import DenotationGraph
    from weft.tasks.denotations.captions import read_captions

    read = (caption for path in captions for caption in read_captions(path))
    if graph is not None:
        graph.add(read)
        return graph
    return DenotationGraph.build(read, None if hypernyms is None else _read_hypernyms(hypernyms))


def _read_hypernyms(path: Path) -> dict[str, list[str]]:
    from weft.formats.streams import numbered_lines

    found: dict[str, list[str]] = {}
    for number, line in numbered_lines(str(path)):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise DataError(f"{path}, line {number}: expected noun<TAB>hypernym, got {len(cells)} columns")
        found.setdefault(cells[0], []).append(cells[1])
    return found


def _written(graph: DenotationGraph, out: Path, tables: str, least: int, quiet: bool) -> dict[str, Any]:
    from weft.tasks.denotations.files import NAME, write_released, write_tables

    out.mkdir(parents=True, exist_ok=True)
    graph.save(out / NAME)
    files = [out / NAME]
    if tables != "none":
        files += (write_tables if tables == "parquet" else write_released)(graph, out, least)
    several = int((graph.sets.sizes >= 2).sum())
    report: dict[str, Any] = {
        "captions": len(graph.captions), "images": len(graph.image_names), "phrases": graph.n_nodes,
        "phrases of several images": several, "edges": len(graph.edges()[0]),
        "files": [str(short_path(path)) for path in files],
    }  # fmt: skip
    if not quiet:
        print(f"{counted(len(graph.captions), 'caption')} of {counted(len(graph.image_names), 'image')}")
        print(f"{counted(graph.n_nodes, 'phrase')}, {several:,} of them of several images; {report['edges']:,} edges")
        print(f"written: {', '.join(report['files'])}")
    return report


def _shown(graph: DenotationGraph, phrase: str, given: str, most: int, quiet: bool) -> dict[str, Any]:
    if given:
        for each in (phrase, given):
            graph.node(each)
        shared = graph.shared(phrase, given)
        report: dict[str, Any] = {
            "phrase": phrase, "given": given, "P(phrase | given)": graph.p(phrase, given=given),
            "P(given | phrase)": graph.p(given, given=phrase), "nPMI": graph.npmi(phrase, given), "images": shared,
        }  # fmt: skip
        if not quiet:
            rows = [[name, f"{value:.3f}"] for name, value in report.items() if isinstance(value, float)]
            print_table(f"{phrase}, given {given}", ["measure", "value"], rows, figures=[1])
            print(f"{counted(len(shared), 'image')} of both: {', '.join(shared[:most]) or 'none'}")
        return report
    images, similar = graph.images(phrase), graph.similar(phrase, most)
    if not images:
        graph.node(phrase)  # says what is wrong
    report = {
        "phrase": phrase, "images": images, "more generic": graph.parents(phrase),
        "more specific": graph.children(phrase), "similar": [each._asdict() for each in similar],
    }  # fmt: skip
    if not quiet:
        print(f"{phrase}: {counted(len(images), 'image')}: {', '.join(images[:most])}")
        for name in ("more generic", "more specific"):
            rows = list(report[name].items())[:most]
            if rows:
                print_table(name, ["phrase", "edge"], rows)
        rows = [
            [each.phrase, f"{each.npmi:.3f}", f"{each.p:.3f}", ", ".join(graph.shared(phrase, each.phrase)[:3])]
            for each in similar
        ]
        print_table("similar", ["phrase", "nPMI", f"P( | {phrase})", "on images"], rows, figures=[1, 2])
    return report
