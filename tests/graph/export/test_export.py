"""What is exported is what the graph holds, as other programs read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import ConfigError, DataError
from weft.graph.days import window_of
from weft.graph.export import export
from weft.graph.export.cypher import statements
from weft.graph.store import Builder, TypedGraph
from weft.graph.triples import read_graph


def graph() -> TypedGraph:
    builder = Builder()
    builder.add("Mara Lind", "lives in", "Bergen")
    builder.add("Mara Lind", "works, for", 'the "Rose" & Sons', 2.5, window_of("2001", "2004"))
    builder.add("Bergen", "in", "Nor\\way")
    builder.type("Mara Lind", "PER")
    builder.node("nobody's")
    return builder.graph()


def test_tables_are_read_back(tmp_path: Path) -> None:
    whole = graph()
    for kind in ("csv", "parquet"):
        if kind == "parquet":
            pytest.importorskip("pyarrow")
        nodes, edges = export(whole, kind, tmp_path / kind)
        again = read_graph(edges)
        assert sorted(again.edges()) == sorted(whole.edges())
        works = [again.window(k) for k, edge in enumerate(again.edges()) if edge[1] == "works, for"]
        assert works == [window_of("2001", "2004")]
        assert nodes.is_file()
    assert (tmp_path / "csv" / "nodes.csv").read_text(encoding="utf-8").splitlines()[1] == "0,Mara Lind,PER"


def test_networkx_reads_the_table_of_edges(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    import csv

    _, edges = export(graph(), "csv", tmp_path)
    with open(edges, encoding="utf-8", newline="") as file:
        found = networkx.MultiDiGraph((row["source"], row["target"], row) for row in csv.DictReader(file))
    assert found.number_of_edges() == 3
    assert found.has_edge("Bergen", "Nor\\way")


def test_duckdb_answers_sql(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    export(graph(), "duckdb", tmp_path / "kg.duckdb")
    export(graph(), "duckdb", tmp_path / "kg.duckdb")  # in place of what is there
    with duckdb.connect(str(tmp_path / "kg.duckdb"), read_only=True) as base:
        facts = base.execute("SELECT source, relation, target, weight FROM facts ORDER BY ALL").fetchall()
        assert facts == sorted(graph().edges())
        asked = "SELECT target FROM facts WHERE \"end\" < DATE '2005-01-01' AND \"begin\" = DATE '2001-01-01'"
        assert base.execute(asked).fetchall() == [('the "Rose" & Sons',)]
        assert base.execute("SELECT count(*) FROM nodes WHERE type = 'PER'").fetchall() == [(1,)]
        assert base.execute("SELECT name FROM nodes WHERE id = 4").fetchall() == [("nobody's",)]


def test_sparql_is_answered_and_triples_are_read_back(tmp_path: Path) -> None:
    whole = graph()
    [file] = export(whole, "sparql", tmp_path / "kg.nt")
    assert sorted(edge[:3] for edge in read_graph(file).edges() if edge[1] != "type") == sorted(
        edge[:3] for edge in whole.edges()
    )
    oxigraph = pytest.importorskip("pyoxigraph")
    export(whole, "sparql", tmp_path / "store")
    store = oxigraph.Store(str(tmp_path / "store"))
    query = (
        "SELECT ?name WHERE { ?who <http://www.w3.org/2000/01/rdf-schema#label> 'Mara Lind' ; "
        "<http://weft.invalid/relation/works%2C%20for> ?firm . "
        "?firm <http://www.w3.org/2000/01/rdf-schema#label> ?name }"
    )
    assert [solution["name"].value for solution in store.query(query)] == ['the "Rose" & Sons']
    del store
    with pytest.raises(DataError, match="in the way"):
        export(whole, "sparql", tmp_path / "store")


def test_cypher_names_every_node_and_edge(tmp_path: Path) -> None:
    [file] = export(graph(), "cypher", tmp_path / "kg.cypher")
    text = file.read_text(encoding="utf-8")
    assert text == "".join(statements(graph()))
    assert 'UNWIND [{name: "Mara Lind"}] AS row MERGE (n:Node {name: row.name}) SET n:`PER`;' in text
    assert '{s: "Mara Lind", t: "the \\"Rose\\" & Sons", w: 2.5, b: "2001-01-01", e: "2004-12-31"}' in text
    assert '{s: "Bergen", t: "Nor\\\\way", w: 1}' in text
    assert "[:`works, for` {" in text


def test_an_empty_graph_and_relations_without_edges_are_exported(tmp_path: Path) -> None:
    for number, whole in enumerate((Builder().graph(), graph().only(graph().weights > 9))):
        for kind, name in (("csv", "c"), ("cypher", "x.cypher"), ("sparql", "x.nt"), ("duckdb", "x.duckdb")):
            if kind == "duckdb":
                pytest.importorskip("duckdb")
            assert all(file.exists() for file in export(whole, kind, tmp_path / str(number) / name))


def test_what_is_in_the_way_and_unknown_kinds_are_plain_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="written to a folder"):
        export(graph(), "csv", tmp_path / "file")
    with pytest.raises(DataError, match="written to a file"):
        export(graph(), "cypher", tmp_path)
    with pytest.raises(ConfigError, match="did you mean duckdb"):
        export(graph(), "duckdp", tmp_path / "x")
