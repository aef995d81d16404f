"""Rewriting keeps trees trees, projective ones projective, and says what it did."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.infer.trees.projectivity import is_projective, is_tree, lift
from weft.text import Doc
from weft.treebanks.rewriting import Log, Rule, WorkTree, apply_rules, rewrite


@st.composite
def trees(draw, most: int = 9) -> WorkTree:
    """A tree of up to nine words with one root."""
    n = draw(st.integers(2, most))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, i - 1))]
    if draw(st.booleans()):
        heads = lift(np.array(heads, np.int32)).tolist()
    relations = [f"r{i}" for i in range(1, n + 1)]
    return WorkTree(heads, relations, ["X"] * n, [f"w{i}" for i in range(n)])


@given(trees(), st.data())
@settings(deadline=None, max_examples=300)
def test_promotion_keeps_trees_trees_and_projective_trees_projective_and_demotion_takes_it_back(tree, data):
    before = np.array(tree.heads, np.int32)
    relations = list(tree.relations)
    word = data.draw(st.sampled_from([word for word in range(1, len(tree) + 1) if tree.head(word)]))
    old = tree.head(word)
    own = tree.children(word)
    moving = data.draw(st.sets(st.sampled_from([child for child in tree.children(old) if child != word] or [0])))
    tree.promote(word, "below", moving - {0})
    after = np.array(tree.heads, np.int32)
    assert is_tree(after)
    assert tree.head(word) == before[old - 1]
    assert tree.head(old) == word
    assert tree.relation(word) == relations[old - 1]
    assert tree.relation(old) == "below"
    if is_projective(before):
        assert is_projective(after)
    tree.demote(word, old, relations[word - 1], own)
    assert tree.heads == before.tolist()
    assert tree.relations == [*relations]


@given(trees(), st.data())
@settings(deadline=None, max_examples=100)
def test_attaching_never_makes_a_cycle(tree, data):
    word = data.draw(st.integers(1, len(tree)))
    head = data.draw(st.integers(0, len(tree)))
    if tree.dominates(word, head):
        with pytest.raises(WeftError, match="cannot attach to"):
            tree.attach(word, head)
    else:
        tree.attach(word, head, "new")
        assert is_tree(np.array(tree.heads, np.int32))
        assert tree.relation(word) == "new"


def test_the_log_says_which_rule_changed_what_and_counts_arcs_not_tags():
    log = Log(keep=True)
    tree = WorkTree([2, 0], ["case", "root"], ["ADP", "NOUN"], ["in", "spring"], name="s1", log=log)
    rules = [
        Rule("flip", lambda tree, word: tree.relation(word) == "case", lambda tree, word: tree.promote(word, "adpobj")),
        Rule("tag", lambda tree, word: tree.tag(word) == "NOUN", lambda tree, word: tree.retag(word, "N")),
    ]
    apply_rules(tree, rules)
    assert log.matched == {"flip": 1, "tag": 1}
    assert log.touched == {"flip": 2}
    flips = [change for change in log.changes if change.rule == "flip"]
    assert {(change.word, change.before[0], change.after[0]) for change in flips} == {(1, 2, 0), (2, 0, 1)}
    assert all(change.sentence == "s1" for change in log.changes)


def test_documents_are_not_changed_in_place_and_need_trees():
    doc = Doc.from_words([["a", "b"]], head=[[2, 0]], deprel=[["x", "root"]])
    new = rewrite(doc, lambda tree: tree.relabel(1, "y"))
    assert doc.column("deprel") == ["x", "root"]
    assert new.column("deprel") == ["y", "root"]
    with pytest.raises(WeftError, match="no trees to rewrite"):
        rewrite(Doc.from_words([["a"]]), lambda tree: None)
    with pytest.raises(WeftError, match="no head to take the place of"):
        WorkTree([0], ["root"], ["X"], ["a"]).promote(1, "below")
