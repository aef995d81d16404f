"""Binary trees and word structures: both ways without loss."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.text.binarize import CHINESE, HeadRules, binarize, mark, unbinarize
from weft.text.trees import Tree, parse_tree
from weft.text.word_structures import (
    StructureLexicon,
    collapse,
    expand,
    flat,
    structure_of,
    structure_tree,
    structures_of,
)

leaves = st.sampled_from(["NN", "VV", "PU"]).map(lambda tag: Tree(tag, (), "x"))
trees = st.recursive(
    leaves.map(lambda leaf: Tree("NP", (leaf,))),
    lambda below: st.builds(
        lambda label, children: Tree(label, tuple(children)),
        st.sampled_from(["NP", "VP", "IP", "PRN"]),
        st.lists(st.one_of(leaves, below), min_size=1, max_size=5),
    ),
    max_leaves=15,
)


@settings(max_examples=80, deadline=None)
@given(trees)
def test_binarizing_can_be_undone_and_leaves_two_children_at_most(tree):
    binary = binarize(tree)
    assert all(len(node.children) <= 2 for node in binary.nodes())
    assert unbinarize(binary) == tree


@settings(max_examples=80, deadline=None)
@given(trees)
def test_temporary_nodes_stand_below_their_own_label_on_the_head_side(tree):
    for node in binarize(tree).nodes():
        for side, child in enumerate(node.children):
            if child.label.endswith("*"):
                assert child.label.split("#")[0] == node.label.split("#")[0]
                assert side == (1 if mark(node.label).startswith("r") else 0)


def test_left_children_are_peeled_off_first():
    rules = HeadRules({"X": ("l", ("H",))})
    tree = parse_tree("(X (A a) (B b) (H h) (C c) (D d))")
    assert str(binarize(tree, rules)) == "(X#r (A a) (X#r* (B b) (X#l* (X#l* (H h) (C c)) (D d))))"


def test_heads_of_chinese_phrases():
    assert CHINESE.head("VP", ["ADVP", "VV", "NP"]) == 1
    assert CHINESE.head("NP", ["NP", "CC", "NP"]) == 2
    assert CHINESE.head("PP", ["P", "NP"]) == 0
    assert CHINESE.head("NP-SBJ", ["DNP", "NN-X", "PU"]) == 1


def test_trees_with_marks_are_not_binarized_again():
    with pytest.raises(WeftError, match="already has a mark"):
        binarize(parse_tree("(NP#r (NN a) (NN b))"))


def structures(length):
    """All structures of a word of so many characters, directions left out."""
    if length == 1:
        return ["."]
    return [a + b + "r" for k in range(1, length) for a in structures(k) for b in structures(length - k)]


@pytest.mark.parametrize("length", range(1, 7))
def test_every_structure_is_a_tree_and_back(length):
    word = "甲乙丙丁戊己"[:length]
    for code in structures(length):
        tree = structure_tree(word, "NN", code)
        assert structure_of(tree) == code
        assert "".join(leaf.word for leaf in tree.leaves()) == word
    assert flat(length) in [code.replace("r", "c") for code in structures(length)]


@pytest.mark.parametrize(
    ("word", "code"), [("甲", ".."), ("甲乙", "."), ("甲乙", ".r."), ("甲乙", ".."), ("甲乙", "..x")]
)
def test_what_is_no_structure_of_a_word_is_refused(word, code):
    with pytest.raises(WeftError, match="is no structure of the word"):
        structure_tree(word, "NN", code)


def test_trees_over_words_and_over_characters_are_the_same_with_structures():
    tree = parse_tree("(IP (NP (NN 建筑业)) (VP (VV 好)))")
    characters = expand(tree, ["..c.r", "."])
    assert collapse(characters) == (tree, ["..c.r", "."])
    with pytest.raises(WeftError, match="outside a word"):
        collapse(parse_tree("(NP (NN 书))"))


def test_a_lexicon_gives_flat_structures_to_words_it_does_not_know():
    lexicon = StructureLexicon.from_trees([structure_tree("制服", "VV", "..l"), structure_tree("制服", "NN", "..r")])
    assert structures_of(["制服", "制服", "图书馆"], ["VV", "NN", "NN"], lexicon) == ["..l", "..r", "..c.c"]
    assert ("制服", "NN") in lexicon
    assert len(lexicon.only([("制服", "NN")])) == 1
    assert structures_of(["制服"], ["NN"], None) == ["..c"]
