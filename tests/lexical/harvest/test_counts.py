"""Counts of pairs: exact whatever the memory, mergeable in any order, refused when damaged."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, FormatError
from weft.lexical.harvest import counts as module
from weft.lexical.harvest.counts import PairCounts, read_counts, write_counts

PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y", "é z"])), max_size=40)


@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS, most=st.integers(1, 6), cut=st.integers(0, 40))
def test_counts_are_exact_whatever_the_memory_and_the_parts(pairs, most, cut):
    expected = [(*pair, count) for pair, count in sorted(Counter(pairs).items())]
    whole, first, second = (PairCounts(most) for _ in range(3))
    for number, pair in enumerate(pairs):
        whole.add(*pair)
        (first if number < cut else second).add(*pair)
    assert list(whole) == expected
    second.merge(first)
    assert list(second) == expected
    assert whole.total == second.total == len(pairs)
    for counts in (whole, first, second):
        counts.close()


def test_a_full_table_goes_to_disk_and_many_runs_become_one(monkeypatch):
    monkeypatch.setattr(module, "RUNS", 4)
    counts = PairCounts(most=10)
    for number in range(500):
        counts.add(f"w{number % 50}", "x")
        assert len(counts._table) < 10
        assert len(counts._runs) < 4
    assert list(counts) == [(f"w{k}", "x", 10) for k in sorted(range(50), key=str)]
    folder = Path(counts._folder.name)
    assert folder.is_dir()
    counts.close()
    assert not folder.exists()


def test_tables_come_back_as_they_were_written(tmp_path):
    rows = [("a b", "c", 3), ("é", "c", 1)]
    assert write_counts(rows, tmp_path / "t.tsv.gz") == 2
    assert list(read_counts(tmp_path / "t.tsv.gz")) == rows
    (tmp_path / "t.tsv").write_bytes(gzip.decompress((tmp_path / "t.tsv.gz").read_bytes()))
    assert list(read_counts(tmp_path / "t.tsv")) == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\t1\na\tb\n", "line 2: expected two phrases and a count"),
        (b"a\tb\t-1\n", "line 1: expected a count of at least 1"),
        (b"a\tb\t" + b"9" * 30 + b"\n", "line 1: expected a count of at least 1"),
        (b"a\tb\t\xb2\n", "line 1: expected UTF-8"),
        (b" \tb\t1\n", "line 1: expected two phrases"),
        (b"\x1f\x8bxx", "line 1: expected a table of counts"),
    ],
)
def test_damaged_tables_are_refused_with_file_and_line(tmp_path, content, message):
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=f"bad.tsv, {message}"):
        list(read_counts(path))


def test_memory_for_no_pair_is_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        PairCounts(0)
