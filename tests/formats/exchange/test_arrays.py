"""Arrays of JSON are read item by item."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import FormatError
from weft.formats.exchange.arrays import array_items

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(values, max_size=5), st.sampled_from([None, 1]), st.booleans())
def test_items_are_those_of_the_array(
    tmp_path_factory: pytest.TempPathFactory, items: list[Any], indent: int | None, plain: bool
) -> None:
    path = tmp_path_factory.mktemp("arrays") / "a.json"
    path.write_text(json.dumps(items, indent=indent, ensure_ascii=plain), encoding="utf-8")
    found = list(array_items(str(path)))
    assert [value for _, value in found] == items
    assert [line for line, _ in found] == sorted(line for line, _ in found)


def test_lines_are_counted_and_json_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('\ufeff [{"a":\n1},\n\n  2, [3\n]]\n')
    assert list(array_items(str(path))) == [(1, {"a": 1}), (4, 2), (4, [3])]
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    assert list(array_items(str(path))) == [(1, {"a": 1}), (3, {"a": 2})]


def test_values_across_blocks_are_whole(tmp_path: Path) -> None:
    items = ["é" * 70_000, 12345, {"k": "🙂" * 40_000}, [7] * 50_000]
    (tmp_path / "a.json").write_text(json.dumps(items, ensure_ascii=False), encoding="utf-8")
    assert [value for _, value in array_items(str(tmp_path / "a.json"))] == items


def test_one_line_of_twenty_megabytes_takes_little_memory(tmp_path: Path) -> None:
    item = json.dumps({"data": {"text": "word " * 200}})
    (tmp_path / "a.json").write_text(f"[{','.join([item] * 20_000)}]")
    tracemalloc.start()
    assert sum(1 for _ in array_items(str(tmp_path / "a.json"))) == 20_000
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2", "line 1: expected .* at the end of the array, found the end of the file"),
        ("[1\n 2]", 'line 2: expected "," or "]"'),
        ("[1,\n{x}]", "line 2: expected a document in JSON"),
        ("[1]\n2", "line 2: expected nothing after"),
        ("[NaN]", "NaN is no number of JSON"),
        ('["\\ud800"]', "surrogate"),
        ("[" * 100_000, "nested too deep"),
        ('["a\n', "line 1: expected a document in JSON"),
    ],
)
def test_bad_json_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(FormatError, match=said):
        list(array_items(str(tmp_path / "a.json")))
