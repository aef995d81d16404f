"""Pharaoh files: what is written is read again, what others write is read, and bad lines are named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import FormatError
from weft.formats import pharaoh
from weft.formats.pharaoh import read_gold_links, read_links, stream_links, write_links
from weft.text.bitext import Links

LINK = st.tuples(st.integers(0, 90), st.integers(0, 90), st.sampled_from([0.0, 0.125, 0.5, 0.98, 1.0, 1e-6]))


@given(st.lists(st.lists(LINK, max_size=6), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_written_links_are_read_again(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("links") / "links.txt.gz"
    links = Links.of(pairs)
    assert write_links(links, path) == len(pairs)
    again = read_links(path)
    assert again.pairs() == links.pairs()
    assert again.score.tolist() == links.score.tolist()


def test_empty_lines_are_sentence_pairs_without_links(tmp_path):
    path = tmp_path / "links"
    path.write_bytes(b"0-0 1-1\r\n\r\n2-0 \r\n")
    assert read_links(path).pairs() == [[(0, 0), (1, 1)], [], [(2, 0)]]


def test_streams_give_the_same_links_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(pharaoh, "_BATCH", 2)
    path = tmp_path / "links"
    path.write_text("0-0\n1-1\n\n2-2\n3-3\n")
    batches = list(stream_links(path))
    assert [batch.n_pairs for batch in batches] == [2, 2, 1]
    assert Links.joined(batches).pairs() == read_links(path).pairs()
    write_links(iter(batches), tmp_path / "again")
    assert (tmp_path / "again").read_text() == path.read_text()


def test_gold_files_tell_sure_links_from_possible_ones_and_may_count_from_one(tmp_path):
    path = tmp_path / "gold"
    path.write_text("1-1 2p3 4?2\n\n3-1\n")
    sure, possible = read_gold_links(path, first=1)
    assert sure.pairs() == [[(0, 0)], [], [(2, 0)]]
    assert possible.pairs() == [[(0, 0), (1, 2), (3, 1)], [], [(2, 0)]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0-0 1_1", "line 2: expected links such as 0-0 or 0-0:0.98, found '1_1'"),
        ("0-0:2", "line 2: expected a probability from 0 to 1 after the colon"),
        ("0-0:1e", "line 2: expected a probability from 0 to 1 after the colon"),
    ],
)
def test_bad_links_are_named_with_file_and_line(tmp_path, line, message):
    path = tmp_path / "links"
    path.write_text(f"0-0\n{line}\n")
    with pytest.raises(FormatError, match=message):
        read_links(path)


def test_a_zero_in_a_file_that_counts_from_one_is_an_error(tmp_path):
    path = tmp_path / "links"
    path.write_text("0-1\n")
    with pytest.raises(FormatError, match="expected words counted from 1"):
        read_links(path, first=1)
