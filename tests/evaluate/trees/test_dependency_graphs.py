"""Scores of dependency graphs, against sets of edges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate.trees.dependency_graphs import evaluate_graphs
from weft.text import Doc

ROWS = st.dictionaries(st.integers(0, 4), st.sampled_from(["a", "b", "a:x"]), min_size=1)
EDGES = st.lists(ROWS, min_size=4, max_size=4)


def doc_of(rows):
    deps = ["|".join(f"{head}:{name}" for head, name in sorted(row.items())) for row in rows]
    return Doc.from_words([["w"] * 4], deps=[deps])


def set_of(rows, labelled):
    return {(w, h, name[0] if labelled else "") for w, row in enumerate(rows) for h, name in row.items()}


@given(EDGES, EDGES)
@settings(max_examples=50, deadline=None)
def test_counts_are_those_of_sets_of_edges(gold, system):
    counts = evaluate_graphs([doc_of(gold)], [doc_of(system)])
    for name, labelled in (("edges", False), ("labelled edges", True)):
        one, two = set_of(gold, labelled), set_of(system, labelled)
        assert counts[name].total()[:3] == (len(one), len(two), len(one & two))
    several = {w for w, row in enumerate(gold) if len(row) > 1}
    one, two = ({edge for edge in set_of(rows, False) if edge[0] in several} for rows in (gold, system))
    assert counts["further heads"].total()[:3] == (len(one), len(two), len(one & two))


def test_documents_with_other_words_are_refused():
    doc = Doc.from_words([["a", "b"]], head=[[2, 0]])
    for other in ([], [Doc.from_words([["a"], ["b"]])]):
        with pytest.raises(WeftError, match=r"same|different words"):
            evaluate_graphs([doc], other)
