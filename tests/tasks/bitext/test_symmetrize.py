"""Symmetrization: the kernel does what the heuristics say, written with sets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, WeftError
from weft.infer.alignment.symmetrize import METHODS
from weft.tasks.bitext.symmetrize import symmetrize
from weft.text.bitext import Links

NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def by_sets(forward, backward, method):
    """The heuristics of the literature, straight from their description."""
    union = forward | backward
    if method == "union":
        return union
    chosen = forward & backward
    if method == "intersection":
        return chosen

    def free(i, j):
        return all(a != i for a, _ in chosen), all(b != j for _, b in chosen)

    size = 1 + max((i for i, _ in union), default=-1)
    length = 1 + max((j for _, j in union), default=-1)
    before = None
    while before != chosen:
        before = set(chosen)
        for i in range(size):
            for j in range(length):
                if (i, j) in chosen:
                    for di, dj in NEIGHBOURS:
                        new = (i + di, j + dj)
                        if new in union and any(free(*new)):
                            chosen.add(new)
    if method != "grow-diag":
        enough = any if method == "grow-diag-final" else all
        for links in (forward, backward):
            for link in sorted(links):
                if enough(free(*link)):
                    chosen.add(link)
    return chosen


LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@pytest.mark.parametrize("method", METHODS)
@given(pairs=st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_links_are_those_of_the_heuristic(method, pairs):
    forward, backward = (Links.of(sorted(side) for side in sides) for sides in zip(*pairs, strict=True))
    found = symmetrize(forward, backward, method)
    assert found.pairs() == [sorted(by_sets(set(one), set(other), method)) for one, other in pairs]


def test_methods_hold_each_other():
    forward, backward = Links.of([[(0, 0), (1, 1), (3, 2), (4, 4)]]), Links.of([[(0, 0), (1, 2), (2, 1), (5, 5)]])
    links = {method: set(symmetrize(forward, backward, method).pairs()[0]) for method in METHODS}
    assert links["intersection"] <= links["grow-diag"] <= links["grow-diag-final-and"] <= links["grow-diag-final"]
    assert links["grow-diag-final"] <= links["union"]


def test_the_score_of_a_link_is_the_lower_one():
    found = symmetrize(Links.of([[(0, 0, 0.9), (1, 1, 0.5)]]), Links.of([[(0, 0, 0.7)]]), "union")
    assert found.score.tolist() == [0.7, 0.0]


def test_unknown_methods_and_alignments_of_different_length_are_refused():
    with pytest.raises(ConfigError, match="no way 'diag'"):
        symmetrize(Links.of([[]]), Links.of([[]]), "diag")
    with pytest.raises(WeftError, match="have 1 and 2 sentence pairs"):
        symmetrize(Links.of([[]]), Links.of([[], []]))
