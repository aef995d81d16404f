"""`weft graph topics GRAPH`: topics of the words of a graph, and the nodes that each is most about."""

from __future__ import annotations

from typing import Annotated, Any

from weft.cli.common import JsonFlag, Seed, Workers, option, print_json, print_table, short_path
from weft.cli.learn.graph.sources import Source, Table, read_source, write_rows
from weft.errors import ConfigError, did_you_mean

EXAMPLE = "weft graph topics examples/graph/papers.csv --topics 2 --type author"

Number = Annotated[int, option("--topics", min=1, help="Number of topics.")]
Words = Annotated[str, option("--word-type", metavar="TYPE", help="Type of the nodes that topics consist of.")]
Types = Annotated[
    list[str] | None, option("--type", metavar="TYPE", help="Type of nodes to score; repeat for several.", shown="all")
]
Joined = Annotated[str, option("--joined-by", help="What joins words: cooccurrence, or walks through the whole graph.")]
Top = Annotated[int, option("--top", min=1, help="Number of nodes to show per topic and type.")]
Walks = Annotated[int, option("--walks", min=0, help="Number of walks to draw per topic; 0 computes scores exactly.")]


def topics(
    graph: Source, number: Number = 20, words: Words = "term", types: Types = None, joined_by: Joined = "cooccurrence",
    top: Top = 5, walks: Walks = 0, out: Table = None, as_json: JsonFlag = False, seed: Seed = 0, workers: Workers = 1,
) -> None:  # fmt: skip
    """Find topics as soft clusters of words, and score all other nodes for each by walks."""
    import numpy as np

    from weft.graph.network import network
    from weft.learn.topics.walk_topics import WalkTopics, closeness, cooccurrence

    if joined_by not in ("cooccurrence", "walks"):
        raise ConfigError(f"words are joined by cooccurrence or walks, not by {joined_by!r}")
    found, _ = read_source(graph, words=True, contents=True)
    for name in [words, *(types or [])]:
        if name not in found.types:
            known = [each for each in found.types if each]
            said = f"its types: {', '.join(known)}" if known else "its nodes have no types"
            raise ConfigError(f"the graph has no nodes of type {name!r}; {did_you_mean(name, known, said)}")
    whole, kind = network(found), found.types.index(words)
    nodes = np.flatnonzero(found.type == kind).astype(np.int32)
    joined = cooccurrence(whole, nodes) if joined_by == "cooccurrence" else closeness(whole, nodes, workers=workers)
    model = WalkTopics.of(whole, nodes, joined, number, seed=seed, workers=workers)
    rows: list[dict[str, Any]] = [
        {"topic": topic + 1, "type": words, "name": found.names[node], "score": score}
        for topic in range(number) for node, score in model.top_words(topic, top)
    ]  # fmt: skip
    present = [name for name in found.types if name != words and (found.type == found.types.index(name)).any()]
    for name in types if types is not None else present:
        own = np.flatnonzero(found.type == found.types.index(name))
        scores = model.scores(whole, found.type, found.types.index(name), walks or None, seed)
        for topic in range(number):
            order = np.argsort(-scores[topic], kind="stable")[:top]
            rows += [
                {"topic": topic + 1, "type": name, "name": found.names[int(own[at])], "score": float(scores[topic, at])}
                for at in order.tolist() if scores[topic, at] > 0
            ]  # fmt: skip
    rows.sort(key=lambda row: row["topic"])
    _tell(rows, number, out, as_json)


def _tell(rows: list[dict[str, Any]], number: int, out: Any, as_json: bool) -> None:
    if out is not None:
        write_rows(rows, out)
    if as_json:
        print_json(rows)
    elif out is not None:
        print(f"wrote {len(rows):,} rows to {short_path(out)}")
    else:
        shown: dict[tuple[int, str], list[str]] = {}
        for row in rows:
            shown.setdefault((row["topic"], row["type"]), []).append(row["name"])
        print_table(
            "", ["topic", "type", "most"], [[t, kind or "-", ", ".join(names)] for (t, kind), names in shown.items()]
        )
