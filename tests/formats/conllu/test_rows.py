"""Bytes of string tables and rows made of them."""

from itertools import pairwise

import numpy as np

from weft.formats.conllu.rows import TableBytes, _fill, assemble
from weft.text.strings import StringTable


def test_bytes_keep_up_with_a_table_that_grows() -> None:
    table = StringTable()
    known = TableBytes(table)
    for size in (0, 3, 500, 20_000):
        table.ids([f"{k}é" for k in range(size)])
        data, starts = known.arrays()
        found = [data[a:b].tobytes().decode() for a, b in pairwise(starts[: len(table) + 1])]
        assert found == table.strings(range(len(table)))


def test_numbers_and_rows_between_words_are_where_they_belong() -> None:
    table = StringTable(["a"])
    columns = np.zeros((8, 12), dtype=np.int32)
    columns[0] = 1
    heads = np.array([-1, 0, 9, 10, 99, 100, 2**31 - 1, 1, 1, 1, 1, 1], dtype=np.int32)
    others = [(0, 0, "0.1"), (0, 0, "1-2"), (0, 11, "11.1"), (1, 1, "1.1")]
    data = assemble(columns, heads, np.array([0, 11, 12]), TableBytes(table), [["# x", "# y"], []], others)
    lines = data.decode().split("\n")
    rows = [line.split("\t") for line in lines]
    assert [row[0] for row in rows] == [
        "# x", "# y", "0.1", "1-2", *map(str, range(1, 12)), "11.1", "", "1", "1.1", "", "",
    ]  # fmt: skip
    heads_told = [row[6] for row in rows if len(row) > 1]
    assert heads_told == ["_", "0", "9", "10", "99", "100", "2147483647", "1", "1", "1", "1", "1"]
    assert len(_fill.signatures) == 1
    assemble(columns, heads, np.array([0, 12]), TableBytes(table), [[]], [])
    assert len(_fill.signatures) == 1
