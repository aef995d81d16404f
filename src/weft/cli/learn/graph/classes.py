"""`weft graph classes KG/ --seeds SEEDS`: the classes of nodes, spread from a few of which they are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import (
    DATA,
    RUNNING,
    SETTINGS,
    JsonFlag,
    Scheduler,
    Workers,
    counted,
    option,
    print_json,
    print_table,
    short_path,
)
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.graph.propagation.classes import Classes
    from weft.graph.store import TypedGraph

EXAMPLE = "weft graph classes examples/graph/musicians.tsv --seeds examples/graph/musician-seeds.tsv"
BEST = 5

Files = list[Path]
Place = Annotated[Path, typer.Argument(metavar="GRAPH", help="Graph: a folder, a model file or a file of edges.")]
SeedFile = Annotated[
    Path, option("--seeds", metavar="FILE", panel=DATA, help="Nodes and their labels, tab-separated, perhaps weights.")
]
More = Annotated[
    Files | None, option("--add", metavar="GRAPH", panel=DATA, help="Graph to join to the first one; repeat.")
]
Pairs = Annotated[
    Files | None,
    option("--extracted", metavar="FILE", panel=DATA, help="Instances, classes and weights of an extractor; repeat."),
]
Tables = Annotated[
    Files | None,
    option("--tables", metavar="FILE", panel=DATA, help="Tables whose columns become nodes; CSV, TSV, JSONL; repeat."),
]
ScoredTables = Annotated[
    Files | None,
    option(
        "--score-tables", metavar="FILE", panel=DATA,
        help="Tables whose cells get the classes of known instances in their columns; repeat.",
    ),
]  # fmt: skip
Attributes = Annotated[
    Files | None,
    option("--attributes", metavar="FILE", panel=DATA, help="Instances and their attributes, tab-separated; repeat."),
]
Relations = Annotated[
    list[str] | None,
    option("--relation", metavar="NAME", panel=DATA, help="Relation to go along; repeat.", shown="all"),
]
Method = Annotated[str, option("--method", panel=SETTINGS, help="Rule: lp, adsorption or mad.")]
Iterations = Annotated[int, option("--iterations", min=0, panel=SETTINGS, help="Rounds of updates.")]
Top = Annotated[int, option("--top", min=1, panel=SETTINGS, help="Labels to keep per node.")]
Beta = Annotated[
    float | None, option("--beta", panel=SETTINGS, help="Weight of going on in Adsorption and MAD.", shown="2")
]
Entropy = Annotated[
    str | None, option("--entropy", panel=SETTINGS, help="How entropy counts in both: exp or bits.", shown="exp")
]
Mu1 = Annotated[float | None, option("--mu1", panel=SETTINGS, help="Weight of seeds in MAD.", shown="1")]
Mu2 = Annotated[float | None, option("--mu2", panel=SETTINGS, help="Weight of neighbours in MAD.", shown="0.01")]
Mu3 = Annotated[float | None, option("--mu3", panel=SETTINGS, help="Weight of the prior in MAD.", shown="0.01")]
Shadow = Annotated[bool, option("--shadow", panel=SETTINGS, help="Let the labels of seeds change, in Adsorption.")]
Node = Annotated[str | None, option("--node", metavar="NAME", panel=RUNNING, help="Node to show the labels of.")]
Types = Annotated[
    list[str] | None,
    option("--type", metavar="TYPE", panel=RUNNING, help="Type of nodes to show; repeat.", shown="all"),
]
Out = Annotated[
    Path | None,
    option("--out", "-o", metavar="FILE", panel=RUNNING, help="Table to write: tsv, csv, jsonl or parquet."),
]

Members = Annotated[
    Path | None,
    option("--edges", metavar="FILE", panel=RUNNING,
           help="Edges to write: every node, `is a`, its best class; `weft graph build` reads them."),
]  # fmt: skip


def classes(
    place: Place, seeds: SeedFile, add: More = None, pairs: Pairs = None, tables: Tables = None,
    score_tables: ScoredTables = None, attributes: Attributes = None, relation: Relations = None,
    method: Method = "mad", iterations: Iterations = 10, top: Top = 15, beta: Beta = None, entropy: Entropy = None,
    mu1: Mu1 = None, mu2: Mu2 = None, mu3: Mu3 = None, shadow: Shadow = False, node: Node = None, type: Types = None,
    out: Out = None, edges: Members = None, workers: Workers = 1, scheduler: Scheduler = None,
    as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Find the classes of nodes from a few seeds; nodes that no seed reaches are unknown."""
    from weft.graph.place import load_graph
    from weft.graph.propagation.classes import classes as spread
    from weft.graph.propagation.files import write_classes, write_members
    from weft.lexical.instances import graphs
    from weft.lexical.instances.graphs import read_pairs

    graph = load_graph(place)
    if add or pairs or tables or score_tables or attributes:
        graph = _joined(graph, add or [], pairs or [], tables or [], score_tables or [], attributes or [])
    given = {"beta": beta, "entropy": entropy, "mu1": mu1, "mu2": mu2, "mu3": mu3, "shadow": shadow or None}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with _cluster(scheduler) as cluster:
        found = spread(
            graph, read_pairs(seeds), method, iterations, top, relation, workers=workers, cluster=cluster, **options
        )
    for name in type or []:
        if name not in graph.types:
            raise ConfigError(f"the graph has no nodes of type {name!r}; its types are: {', '.join(graph.types)}")
    if out is not None:
        write_classes(found, out)
    if edges is not None:
        apart = {graphs.ATTRIBUTE, graphs.COLUMN}
        write_members(found, edges, type or [kind for kind in graph.types if kind not in apart])
    if as_json:
        print_json(_report(found, node, type))
    elif node is not None:
        _print_node(found, node)
    else:
        _print(found, type)
    for written in (out, edges):
        if written is not None and not as_json:
            print(f"wrote {short_path(written)}")


def _joined(
    graph: TypedGraph, add: Files, pairs: Files, tables: Files, score_tables: Files, attributes: Files
) -> TypedGraph:
    """The graph with what other sources say."""
    from weft.graph.place import load_graph
    from weft.lexical.instances import graphs
    from weft.lexical.instances.columns import ColumnScorer, known_instances, read_columns

    builder = graphs.builder_of(graph)
    for path in add:
        graphs.add_graph(builder, load_graph(path))
    known = graphs.pairs_of(graph)
    for path in pairs:
        found = graphs.read_pairs(path)
        graphs.add_pairs(builder, found)
        known += found
    for path in tables:
        graphs.add_columns(builder, read_columns(path))
    if score_tables:
        if not known:
            raise ConfigError("--score-tables needs known instances: give --extracted, or a graph with edges 'is a'")
        columns = [column for path in score_tables for column in read_columns(path)]
        graphs.add_pairs(builder, ColumnScorer(known_instances(known)).pairs(columns, sources=1))
    for path in attributes:
        graphs.add_attributes(builder, ((instance, name) for instance, name, _ in graphs.read_pairs(path)))
    return builder.graph()


def _cluster(address: str | None) -> Any:
    """A client of a Dask scheduler, or nothing."""
    from contextlib import nullcontext

    if address is None:
        return nullcontext()
    from weft.packages import needed

    try:
        return needed("distributed", "a Dask cluster").Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ConfigError(f"no Dask scheduler answers at {address}: {error}") from None


def _report(found: Classes, node: str | None, types: list[str] | None) -> dict[str, Any]:
    if node is not None:
        number = found.graph.names.find(node)
        labels = [{"label": each.label, "score": each.score} for each in found.of(node)]
        return {"node": node, "answer": found.answer(node), "unknown": float(found.unknown()[number]), "labels": labels}
    best = {
        label: [{"node": each.node, "score": each.score} for each in found.instances(label, 20, types)]
        for label in found.labels
    }
    return {"nodes": found.counts(), "instances": best}


def _print(found: Classes, types: list[str] | None) -> None:
    counts = found.counts()
    unknown = counts.pop("unknown")
    rows = []
    for label, count in counts.items():
        best = found.instances(label, BEST, types)
        rows.append([label, f"{count:,}", ", ".join(f"{each.node} {each.score:.2g}" for each in best)])
    rows.append(["unknown", f"{unknown:,}", ""])
    print_table("Classes", ["class", "nodes", "best, seeds left out"], rows, figures=[1])
    if unknown:
        print(f"{counted(unknown, 'node')} of {found.graph.n_nodes:,}: no seed reaches them")


def _print_node(found: Classes, node: str) -> None:
    labels = found.of(node)
    share = found.unknown()[found.graph.names.find(node)]
    rows = [[each.label, f"{each.score:.4f}"] for each in labels]
    rows.append(["unknown", f"{share:.1%} of all"])
    print_table(f"{node}: {found.answer(node)}", ["class", "score"], rows, figures=[1])
