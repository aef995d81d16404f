"""Word lists of model files: stored once, restored as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import storage
from weft.errors import ModelError
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.tables import LONG, put_back, take_out
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.doc import Doc

WORDS = {f"word{i}": f"{i % 7:03b}" for i in range(LONG)}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.text("ab\n\ud800é", max_size=2), st.integers(LONG - 1, LONG + 1))
def test_headers_are_restored(value, odd, size):
    listed = [f"{odd}{i}" for i in range(size)]
    headers = [value, {"list": listed, "table": dict.fromkeys(listed, odd)}]
    short, arrays = take_out(headers)
    assert put_back(short, arrays) == headers
    moved = size >= LONG and "\n" not in odd and "\ud800" not in odd
    assert bool(arrays) == moved


def test_equal_tables_are_one_in_the_file_and_in_memory():
    short, arrays = take_out([{"a": dict(WORDS)}, {"b": [{"c": dict(reversed(WORDS.items()))}]}, {"d": list(WORDS)}])
    assert {name.split("/")[1] for name in arrays} == {"0", "1"}
    a, b, d = put_back(short, arrays)
    assert a["a"] == WORDS
    assert a["a"] is b["b"][0]["c"]
    assert d["d"] == list(WORDS)


def test_clusters_of_two_components_are_stored_once(tmp_path):
    lines = "".join(f"{path}\t{word}\t1\n" for word, path in WORDS.items())
    (tmp_path / "paths").write_text(lines)
    docs = [Doc.from_words([["word1", "word2"]], upos=[["NOUN", "VERB"]])]
    taggers = [Tagger(TaggerSettings(clusters=str(tmp_path / "paths"), column="upos")) for _ in range(2)]
    for tagger in taggers:
        tagger.fit(docs)
    Pipeline(taggers).save(tmp_path / "two.weft")
    _, arrays = storage.load(tmp_path / "two.weft")
    assert sum("tables/" in name and name.endswith("/words") for name in arrays) == 1
    one, two = Pipeline.load(tmp_path / "two.weft").components
    assert one._classes["c"].classes is two._classes["c"].classes
    assert one._classes["c"].classes == WORDS


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("of", np.full(LONG, 7, np.uint16)),
        ("of", np.zeros(LONG - 1, np.uint16)),
        ("of", np.full(LONG, -1, np.int16)),
        ("words", np.full(10, 0xFF, np.uint8)),
        ("words", np.frombuffer(b"\n".join([b"same"] * LONG), np.uint8)),
        ("values", np.zeros((2, 2), np.uint8)),
    ],
)
def test_damaged_tables_are_refused(name, array):
    short, arrays = take_out([WORDS])
    with pytest.raises(ModelError, match="damaged"):
        put_back(short, {**arrays, f"tables/0/{name}": array})


@pytest.mark.parametrize("number", [1, -1, "0", None, [0]])
def test_references_to_no_table_are_refused(number):
    with pytest.raises(ModelError, match="damaged"):
        put_back([{"table of words": number}], take_out([WORDS])[1])
