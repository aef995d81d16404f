"""Phrase-structure trees of documents: values and columns are two forms of the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.text import ConstituentLayer, Doc, StringTable
from weft.text.constituents import constituents, doc_of_trees, layer_of, set_trees, tree_of
from weft.text.trees import Tree, parse_tree

DOG = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"
words = st.builds(
    lambda tag, word: Tree(tag, (), word), st.sampled_from(["NN", "VB", ","]), st.text("ab(]", min_size=1)
)
trees = st.recursive(
    words,
    lambda below: st.builds(
        lambda label, children: Tree(label, tuple(children)),
        st.sampled_from(["S", "NP", "NP-SBJ"]),
        st.lists(below, min_size=1, max_size=3),
    ),
    max_leaves=12,
).map(lambda tree: Tree("ROOT", (tree,)) if tree.is_leaf else tree)


@settings(max_examples=60, deadline=None)
@given(st.lists(trees, min_size=1, max_size=3))
def test_a_document_gives_back_its_trees(sentences):
    doc = doc_of_trees(sentences)
    assert [tree_of(doc, number) for number in range(doc.n_sentences)] == sentences
    assert [str(parse_tree(str(tree))) for tree in sentences] == [str(tree) for tree in sentences]
    assert [parse_tree(str(tree)) for tree in sentences] == sentences


@settings(max_examples=30, deadline=None)
@given(st.lists(trees, min_size=2, max_size=4))
def test_trees_survive_bytes_records_and_cuts(sentences):
    doc = doc_of_trees(sentences)
    assert Doc.from_bytes(doc.to_bytes()).same(doc)
    chosen = list(range(1, len(sentences), 2))
    assert [tree_of(doc.subset(chosen), k) for k in range(len(chosen))] == [sentences[number] for number in chosen]


def test_very_deep_trees_do_not_recurse():
    tree = Tree("NN", (), "a")
    for _ in range(5000):
        tree = Tree("NP", (tree, Tree("NN", (), "b")))
    doc = doc_of_trees([tree])
    assert doc.n_words == 5001
    assert str(tree_of(doc, 0)) == str(tree) == str(parse_tree(str(tree)))


def test_views_give_children_parents_and_text():
    doc = doc_of_trees([parse_tree(DOG), parse_tree("(S (VP (VB Go) (NP (NN home)) (RB now)))")])
    sentence, noun_phrase, _ = constituents(doc, 0)
    assert noun_phrase.parent == sentence
    assert sentence.parent is None
    assert [type(child).__name__ for child in constituents(doc, 1)[1].children] == ["Word", "Constituent", "Word"]
    assert constituents(doc, 1)[2].text == "home"


def test_words_without_a_tree_stand_below_a_phrase_without_a_label():
    doc = Doc.from_words([["the", "dog"], ["barks"]], xpos=[["DT", "NN"], ["VBZ"]])
    set_trees(doc, [parse_tree("(NP (DT the) (NN dog))"), None])
    assert str(tree_of(doc, 1)) == "( (VBZ barks))"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("S", 0, 0, -1)], "holds no words"),
        ([("S", 0, 2, 0)], "parents stand before their children"),
        ([("S", 0, 2, -1), ("NP", 1, 3, 0)], "not within its parent"),
        ([("S", 1, 2, -1), ("NP", 0, 1, -1)], "before the end of the previous phrase"),
    ],
)
def test_rows_that_are_no_trees_are_refused(rows, message):
    with pytest.raises(WeftError, match=message):
        ConstituentLayer.of(StringTable(), rows)


def test_trees_of_other_lengths_and_missing_layers_are_refused():
    doc = Doc.from_words([["the", "dog", "barks"]])
    with pytest.raises(WeftError, match="has no constituents"):
        layer_of(doc)
    with pytest.raises(WeftError, match="a tree of 2 words was given to a sentence of 3"):
        set_trees(doc, [parse_tree("(NP (DT the) (NN dog))")])
    with pytest.raises(WeftError, match="one tree per sentence"):
        set_trees(doc, [])


@pytest.mark.parametrize("text", ["(S", "S)", "(S (NP the dog cat))", "(S)", "(S (NN a) b)", "(S a (NN b))", ""])
def test_texts_that_are_no_tree_are_refused(text):
    with pytest.raises(WeftError):
        parse_tree(text)
