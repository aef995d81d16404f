"""Links of a bitext: the arrays say what lists of pairs say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.text.bitext import Links, check_links

LINK = st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0, 1))
PAIRS = st.lists(st.lists(LINK, max_size=6, unique_by=lambda link: link[:2]), max_size=5)


@given(PAIRS, st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_threshold_keeps_the_links_of_a_plain_filter(pairs, threshold):
    kept = [[(i, j) for i, j, score in links if score >= threshold] for links in pairs]
    assert Links.of(pairs).above(threshold).pairs() == kept


@given(PAIRS)
@settings(max_examples=60, deadline=None)
def test_flipping_swaps_the_sides_and_twice_gives_the_links_back_in_order(pairs):
    links = Links.of(pairs)
    assert [sorted((j, i) for i, j in pair) for pair in links] == links.flipped().pairs()
    assert links.flipped().flipped().pairs() == [sorted(pair) for pair in links]
    assert sorted(links.flipped().score) == sorted(links.score)


@given(PAIRS, PAIRS)
@settings(max_examples=40, deadline=None)
def test_joined_parts_can_be_taken_apart_again(one, other):
    joined = Links.joined([Links.of(one), Links.of(other)])
    assert joined.take(0, len(one)).pairs() == Links.of(one).pairs()
    assert joined.take(len(one)).pairs() == Links.of(other).pairs()


def test_no_pairs_and_no_links_are_fine():
    assert Links.of([]).pairs() == Links.joined([]).pairs() == []
    assert Links.of([[], []]).flipped().pairs() == [[], []]
    assert len(Links.of([[]])) == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0, 2], [0], [0], [1.0]), "offsets of links must rise"),
        (([0, 1], [0], [0, 1], [1.0]), "as many targets"),
        (([0, 1], [0], [0], [1.5]), "from 0 to 1"),
        (([0, 1], [0], [0], [float("nan")]), "from 0 to 1"),
        (([0, 1], [-1], [0], [1.0]), "count words from 0"),
    ],
)
def test_links_that_make_no_sense_are_refused(columns, message):
    with pytest.raises(WeftError, match=message):
        Links(*(np.array(column) for column in columns))


def test_links_past_the_end_and_lines_that_do_not_match_are_refused():
    links = Links.of([[(0, 0)], [(1, 0)]])
    with pytest.raises(WeftError, match="sentence pair 2: link 1-0 points past the end"):
        check_links(links, [0, 1, 2], [0, 1, 2])
    with pytest.raises(WeftError, match="links of 2 sentence pairs, but 1 source sentences"):
        check_links(links, [0, 2], [0, 1, 2])
    assert check_links(links, [0, 1, 3], [0, 1, 2])[0].tolist() == [0, 1, 3]
