from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_docs import docs

from weft.errors import WeftError
from weft.text import Doc
from weft.text.constituents import doc_of_trees
from weft.text.trees import Tree

nltk = pytest.importorskip("nltk")

from weft.interop.nltk_trees import (  # noqa: E402
    from_dependency_graphs,
    from_trees,
    to_dependency_graph,
    to_tree,
)

words = st.text(st.sampled_from("abcé🙂"), min_size=1, max_size=4)
labels = st.sampled_from(["S", "NP", "VP"])
leaves = st.builds(lambda label, word: Tree(label, (), word), st.sampled_from(["NN", "VB"]), words)
trees = st.recursive(leaves, lambda inner: st.builds(Tree, labels, st.lists(inner, min_size=1, max_size=3).map(tuple)))
whole = st.builds(Tree, labels, st.lists(trees, min_size=1, max_size=3).map(tuple))


@settings(max_examples=100, deadline=None)
@given(docs(multiwords=False, layers=False, spacing=False).filter(lambda doc: doc.head is not None))
def test_dependency_trees_come_back_from_nltk(doc: Doc) -> None:
    graphs = [to_dependency_graph(sentence) for sentence in doc.sentences]
    assert from_dependency_graphs(graphs).same(doc)
    for graph, sentence in zip(graphs, doc.sentences, strict=True):
        assert sentence.root is not None
        assert graph.root["word"] == sentence.root.form
        assert len(list(graph.triples())) == len(sentence) - 1


@settings(max_examples=100, deadline=None)
@given(st.lists(whole, min_size=1, max_size=3))
def test_phrases_come_back_from_nltk(found: list[Tree]) -> None:
    doc = doc_of_trees(found)
    there = [to_tree(doc, i) for i in range(doc.n_sentences)]
    assert [leaf for tree in there for leaf in tree.leaves()] == doc.column("form")
    assert from_trees(there).same(doc)


def test_a_sentence_without_a_tree_is_told() -> None:
    with pytest.raises(WeftError, match="parse it first"):
        to_dependency_graph(Doc.from_words([["Hi"]]).sentences[0])


def test_a_word_beside_phrases_is_told() -> None:
    with pytest.raises(WeftError, match="every word to be the only child of its tag"):
        from_trees([nltk.Tree.fromstring("(S word (NP (NN dog)))")])
