"""`weft graph rank GRAPH`: the most important nodes of every type, overall or year by year."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from weft.cli.common import JsonFlag, option, print_json, print_table, read_pairs, short_path
from weft.cli.learn.graph.sources import Source, Table, read_source, write_rows
from weft.errors import ConfigError

EXAMPLE = "weft graph rank examples/graph/papers.csv --type author"

Types = Annotated[list[str] | None, option("--type", metavar="TYPE", help="Type of nodes to rank; repeat for several.")]
Top = Annotated[int, option("--top", min=1, help="Number of nodes to show per type.")]
Weights = Annotated[
    str,
    option("--weights", metavar="RELATION=WEIGHT,...", help="Weights of relations; 0 leaves one out.", shown="all 1"),
]
Damping = Annotated[float, option("--damping", min=0.0, max=0.999, help="Chance that a walk goes on at every step.")]
Near = Annotated[
    list[str] | None,
    option("--near", metavar="NODE", help="Node that walks restart from, by name; repeat for several."),
]
Years = Annotated[
    str, option("--years", metavar="FIRST-LAST", help="Rank these years, each by the edges of its window.")
]
YearsFile = Annotated[
    Path | None,
    option("--years-of", metavar="FILE", help="Years of nodes, as name, tab, year; tables of papers have them."),
]
Window = Annotated[int, option("--window", min=1, help="Number of years that a year's edges go back.")]
Directed = Annotated[bool, option("--directed", help="Follow edges in their direction only.")]


def rank(
    graph: Source, types: Types = None, top: Top = 10, weights: Weights = "", damping: Damping = 0.85,
    near: Near = None, years: Years = "", years_of: YearsFile = None, window: Window = 5, directed: Directed = False,
    out: Table = None, as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Rank nodes by PageRank among those of their type: papers, people, places, terms."""
    from weft.graph.network import network
    from weft.graph.rankings.pagerank import pagerank
    from weft.graph.rankings.years import best_of_type, edge_years, network_of_year, relative_ranks
    from weft.tasks.bibliographies.people import node_of

    found, known = read_source(graph)
    factors = _weights(weights)
    wanted = types or [name for name in found.types if (found.type == found.types.index(name)).any()]
    start = None if near is None else {node_of(found, name): 1.0 for name in near}
    if not found.n_nodes:
        raise ConfigError(f"{graph} has no nodes to rank")
    rows: list[dict[str, Any]] = []
    if years:
        known |= _years_of(years_of, found)
        if not known:
            raise ConfigError("no node has a year: give the years of nodes with --years-of FILE")
        ages = edge_years(found, known)
        for year in _span(years):
            one = network_of_year(found, ages, year, window, factors, directed=directed)
            scores = relative_ranks(pagerank(one, damping, start), found.type, (one.strengths() > 0).astype(int))
            rows += [
                {"year": year, "type": name, "rank": row.rank, "name": found.names[row.node], "relative": row.score}
                for name in wanted for row in best_of_type(found, scores, name, top) if row.score > 0
            ]  # fmt: skip
    else:
        scores = pagerank(network(found, factors, directed=directed), damping, start)
        rows = [
            {"type": name, "rank": row.rank, "name": found.names[row.node], "relative": row.relative,
             "pagerank": row.score}
            for name in wanted for row in best_of_type(found, scores, name, top)
        ]  # fmt: skip
    _tell(rows, out, as_json)


def _tell(rows: list[dict[str, Any]], out: Path | None, as_json: bool) -> None:
    if out is not None:
        write_rows(rows, out)
    if as_json:
        print_json(rows)
    elif out is not None:
        print(f"wrote {len(rows):,} rows to {short_path(out)}")
    else:
        yearly = any("year" in row for row in rows)
        header = [*(["year"] if yearly else []), "type", "rank", "name", "x mean of type"]
        cells = [
            [*([row["year"]] if yearly else []), row["type"] or "-", row["rank"], row["name"], f"{row['relative']:.2f}"]
            for row in rows
        ]
        print_table("", header, cells, figures=[len(header) - 3, len(header) - 1])


def _weights(text: str) -> dict[str, float]:
    pairs = read_pairs("--weights", text) if text else {}
    try:
        return {name: float(value) for name, value in pairs.items()}
    except ValueError:
        raise ConfigError(f"--weights takes numbers, as in cites=2,writes=0.5, not {text!r}") from None


def _span(text: str) -> range:
    first, sign, last = text.partition("-")
    if not first.isdigit() or (sign and not last.isdigit()) or (last and int(last) < int(first)):
        raise ConfigError(f"--years is written FIRST-LAST, as in 1998-2004, not {text!r}")
    if last and int(last) - int(first) > 1000:
        raise ConfigError(f"--years spans at most 1,000 years, not {text}")
    return range(int(first), int(last or first) + 1)


def _years_of(path: Path | None, graph: Any) -> dict[int, int]:
    """The years that a file gives; names that the graph does not have are left out."""
    if path is None:
        return {}
    from weft.errors import FormatError
    from weft.graph.triples import opened

    found: dict[int, int] = {}
    with opened(str(path)) as lines:
        for number, line in enumerate(lines, 1):
            name, _, year = line.rstrip("\r\n").partition("\t")
            if not line.strip():
                continue
            if not year.strip().isdigit() or len(year) > 9:
                raise FormatError(str(path), number, "a name, a tab and a year", line.strip()[:60])
            node = graph.names.find(name)
            if node >= 0:
                found[node] = int(year)
    return found
