"""Scope as layers: what a scoping is, what every format keeps of it, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.errors import DataError, WeftError
from weft.text.conventions.scope import (
    COLLECTION,
    DISTRIBUTIVE,
    KINDS,
    NEGATION,
    Node,
    Scoping,
    own_pairs,
    scopings_of,
    set_scopings,
)
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer


def example() -> Doc:
    """The second worked example of the paper: a plural with its implicit universal."""
    text = "Merge the lines , ending in a punctuation , with the next non-blank line ."
    doc = Doc.from_words([text.split(), ["Stop", "it", "."]])
    nodes = [Node(1, 3, COLLECTION), Node(1, 3, DISTRIBUTIVE), Node(6, 8), Node(10, 14)]
    set_scopings(doc, [Scoping.of(nodes, [(1, 2), (1, 3)]), Scoping.of([])])
    return doc


def test_the_example_of_the_sheet_has_its_names_and_its_closure():
    [scope] = example().scope
    assert str(scope) == "1c>1d; 1d>2; 1d>3"
    assert set(scope.pairs) == {("1c", "1d"), ("1c", "2"), ("1c", "3"), ("1d", "2"), ("1d", "3")}
    assert not scope.outscopes("2", "3")
    assert not scope.outscopes("3", "2")
    with pytest.raises(WeftError, match="no node '9'; the sentence has 1c, 1d, 2, 3"):
        scope.outscopes("9", "1c")


@pytest.mark.parametrize("format", ["jsonl", "records", "parquet"])
def test_every_format_of_layers_keeps_scope(format, tmp_path):
    doc = example()
    path = tmp_path / f"doc.{'jsonl' if format != 'parquet' else 'parquet'}"
    weft.write([doc], path, format)
    [back] = weft.read(path, format)
    assert scopings_of(back) == scopings_of(doc)


def test_bytes_and_subsets_keep_scope():
    doc = example()
    assert scopings_of(Doc.from_bytes(doc.to_bytes())) == scopings_of(doc)
    assert scopings_of(doc.subset([0])) == scopings_of(doc)[:1]
    assert doc.subset([1]).scope == []


def test_a_document_without_the_layer_has_no_scope():
    assert Doc.from_words([["Hm"]]).scope == []
    with pytest.raises(DataError, match="no span layer 'scope'"):
        scopings_of(Doc.from_words([["Hm"]]))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 7))
def test_any_order_is_the_same_after_writing_and_reading(seed, n):
    random = np.random.default_rng(seed)
    nodes = [Node(i, i + 1, KINDS[int(random.integers(4))]) for i in range(n)]
    places = random.permutation(n)
    pairs = [(int(places[i]), int(places[j])) for i in range(n) for j in range(i + 1, n) if random.random() < 0.3]
    scoping = Scoping.of(nodes, pairs)
    assert all(scoping.order[pair] for pair in pairs)
    assert not scoping.order.diagonal().any()
    doc = Doc.from_words([["w"] * max(n, 1)])
    set_scopings(doc, [scoping])
    assert scopings_of(doc) == [scoping]
    mixed = random.permutation(n)
    number = {int(old): new for new, old in enumerate(mixed)}
    assert Scoping.of([nodes[i] for i in mixed], [(number[u], number[v]) for u, v in pairs]) == scoping


def test_collections_outscope_their_own_universals_and_no_others():
    nodes = [Node(0, 1, COLLECTION), Node(0, 1, DISTRIBUTIVE), Node(2, 3, DISTRIBUTIVE), Node(4, 5, NEGATION)]
    assert np.argwhere(own_pairs(nodes)).tolist() == [[0, 1]]
    with pytest.raises(WeftError, match="circle: 1c, 1d"):
        Scoping.of(nodes, [(1, 0)])


@pytest.mark.parametrize(
    ("spans", "relations", "message"),
    [
        ([(0, 1, "NP"), (1, 2, "NP")], [(0, 1, "outscopes"), (1, 0, "outscopes")], "sentence 1: scopes go in a circle"),
        ([(0, 1, "NP"), (3, 4, "NP")], [(0, 1, "outscopes")], "expected 'outscopes' between nodes of one sentence"),
        ([(0, 1, "NP"), (1, 2, "NP")], [(0, 1, "sees")], "is 'sees' between spans 0 and 1"),
        ([(2, 4, "NP")], [], "span 0 of the layer 'scope' goes beyond its sentence"),
        ([(0, 1, "VP")], [], "kind out of NP, collection, distributive, negation"),
        ([(0, 1, "NP"), (0, 1, "NP")], [], "same words and the same kind"),
    ],
)
def test_layers_that_are_no_scope_are_refused_by_name(spans, relations, message):
    doc = Doc.from_words([["a", "b", "c"], ["d", "e"]])
    doc.id = "play.jsonl"
    doc.spans["scope"] = SpanLayer.of(doc.strings, spans)
    layer = doc.relations["scope"] = RelationLayer(doc.strings, "scope")
    for head, tail, label in relations:
        layer.add(head, tail, label)
    with pytest.raises(DataError, match=f"play.jsonl.*{message}"):
        scopings_of(doc)
