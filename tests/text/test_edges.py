"""Edges of dependency graphs and the column DEPS."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.formats import read, write
from weft.text import Doc
from weft.text.edges import Edges, acyclic_edges, edges_of, note_edges


def has_cycle(edges, n):
    below = {word: [h for h, w in edges if w == word] for word in range(1, n + 1)}
    state: dict[int, int] = {}

    def visit(word):
        if word == 0 or state.get(word) == 2:
            return False
        if state.get(word) == 1:
            return True
        state[word] = 1
        found = any(visit(head) for head in below[word])
        state[word] = 2
        return found

    return any(visit(word) for word in range(1, n + 1))


@st.composite
def documents(draw):
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for place, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:place]]))
    further = [draw(st.lists(st.integers(0, n), max_size=3, unique=True)) for _ in range(n)]
    deps = ["|".join(f"{h}:x" for h in own if h != w) for w, own in enumerate(further, start=1)]
    return Doc.from_words([["w"] * n], head=[heads], deprel=[["d"] * n], deps=[deps]), heads, further


@given(documents())
@settings(max_examples=60, deadline=None)
def test_graphs_hold_the_tree_and_the_further_heads_that_close_no_cycle_from_left_to_right(given_):
    doc, heads, further = given_
    n = len(heads)
    edges, dropped = acyclic_edges(doc)
    expected = [(h, w) for w, h in enumerate(heads, start=1)]
    lost = 0
    for word, own in enumerate(further, start=1):
        for head in own:
            if head in (0, word) or (head, word) in expected:
                continue
            if has_cycle([*expected, (head, word)], n):
                lost += 1
            else:
                expected.append((head, word))
    found = list(zip(edges.head.tolist(), (edges.word + 1).tolist(), strict=True))
    assert sorted(found) == sorted(expected)
    assert dropped.cycles == lost
    names = dict(zip(found, edges.relation, strict=True))
    assert all((names[h, w] == "x") == (h in further[w - 1]) for h, w in found)
    note_edges(doc, edges)
    assert list(zip(*edges_of(doc), strict=True)) == list(zip(*edges, strict=True))


def test_edges_survive_files(tmp_path):
    doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    edges = Edges.of([(0, 2, "nsubj"), (1, 0, "root")])
    note_edges(doc, edges)
    path = tmp_path / "graph.conllu"
    write([doc], path)
    (again,) = read(path)
    assert again.column("deps") == ["2:nsubj", "0:root"]
    assert edges_of(again).relation == edges.relation


def test_what_is_not_an_edge_is_named():
    doc = Doc.from_words([["Dogs", "bark"]], deps=[["2nsubj", "0:root"]])
    with pytest.raises(DataError, match=r"2nsubj.*Dogs"):
        edges_of(doc)
    with pytest.raises(DataError, match="no heads"):
        acyclic_edges(Doc.from_words([["a"]], deps=[["0:root"]]))


def test_a_head_outside_the_sentence_is_dropped():
    doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["a", "b"]], deps=[["2:a|7:c", "0:b"]])
    assert acyclic_edges(doc)[0].head.tolist() == [2, 0]
