"""Values of nodes."""

import numpy as np
import pytest

from weft.errors import WeftError
from weft.graph.attributes import ATTRIBUTES, column, load_attributes, read_attributes, save_attributes
from weft.graph.store import Builder


def graph():
    builder = Builder()
    builder.add_all([("Mara", "knows", "Ole"), ("Ole", "knows", "Ina")])
    return builder.graph()


def test_columns_are_written_and_read(tmp_path):
    columns = {"born": column("date", {2: 5.0, 0: 7.0}), "height": column("number", {1: 180.5})}
    save_attributes(columns, tmp_path)
    again = load_attributes(tmp_path, 3)
    assert {name: each.kind for name, each in again.items()} == {"born": "date", "height": "number"}
    assert again["born"].nodes.tolist() == [0, 2]
    assert again["born"].at(2) == 5.0
    assert again["born"].at(1) is None
    assert load_attributes(tmp_path / "none", 3) == {}


def test_a_column_of_a_larger_graph_is_refused(tmp_path):
    save_attributes({"born": column("number", {9: 1.0})}, tmp_path)
    with pytest.raises(WeftError):
        load_attributes(tmp_path, 3)
    (tmp_path / ATTRIBUTES).write_bytes(b"nothing")
    with pytest.raises(WeftError):
        load_attributes(tmp_path, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mara\tborn\n", "a.tsv:1: expected a node"),
        ("Mara\tborn\t1990-01-01\nBo\tborn\t1\n", "a.tsv:2: the graph has no node 'Bo'"),
        ("Mara\theight\ttall\n", "a.tsv:1: expected a number or a date"),
        ("Mara\theight\tinf\n", "finite"),
    ],
)
def test_a_broken_line_is_named(tmp_path, text, message):
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(WeftError, match=message):
        read_attributes(graph(), tmp_path / "a.tsv")


def test_dates_and_numbers_are_told_apart(tmp_path):
    (tmp_path / "a.tsv").write_text(
        "Mara\tborn\t1990-05\nOle\theight\t1,900\nIna\tstart date\t2004\n", encoding="utf-8"
    )
    found = read_attributes(graph(), tmp_path / "a.tsv")
    assert [found[name].kind for name in ("born", "height", "start date")] == ["date", "number", "date"]
    assert found["height"].values.tolist() == [1900.0]
    assert np.diff(found["born"].nodes).size == 0
