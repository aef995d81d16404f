"""PARSEVAL against a hand table of evalb's conventions and against a direct count over words."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from weft.cli.app import app
from weft.errors import WeftError
from weft.evaluate.documents import choose_layer, evaluate_documents
from weft.evaluate.trees.parseval import evaluate_constituents
from weft.text.constituents import doc_of_trees
from weft.text.trees import Tree, parse_tree


def report_of(gold, system, blanks=True):
    docs = [[doc_of_trees([parse_tree(tree)], blanks=blanks)] for tree in (gold, system)]
    return evaluate_constituents(*docs)


def score(gold, system):
    total = report_of(gold, system).brackets.total()
    return total.gold, total.system, total.correct


#: gold, system, (gold brackets, system brackets, right ones) as evalb counts them with its usual parameters
HAND = [
    # the same tree; ROOT is not counted, neither are tags
    ("(ROOT (S (NP (NN a)) (VP (VB b))))", "(ROOT (S (NP (NN a)) (VP (VB b))))", (3, 3, 3)),
    ("(S (NP (NN a)) (VP (VB b)))", "(TOP (S (NP (NN a)) (VP (VB b))))", (3, 3, 3)),
    # function tags go
    ("(S (NP-SBJ-1 (NN a)) (VP (VB b)))", "(S (NP=2 (NN a)) (VP (VB b)))", (3, 3, 3)),
    # PRT is ADVP
    ("(VP (VB a) (PRT (RP b)))", "(VP (VB a) (ADVP (RP b)))", (2, 2, 2)),
    # brackets are multisets
    ("(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (NN a)) (VP (VB b)))", (4, 3, 3)),
    ("(S (NP (NN a)) (VP (VB b)))", "(S (NP (NP (NP (NN a)))) (VP (VB b)))", (3, 5, 3)),
    # punctuation is taken out: the comma may hang anywhere, a phrase of nothing else goes
    ("(S (NP (NN a) (, ,)) (VP (VB b)))", "(S (NP (NN a)) (, ,) (VP (VB b)))", (3, 3, 3)),
    ("(S (NP (NN a)) (X (. .)))", "(S (NP (NN a) (. .)))", (2, 2, 2)),
    # wrong tags do not matter, wrong labels do
    ("(S (NP (NN a)) (VP (VB b)))", "(S (VP (VB a)) (VP (NN b)))", (3, 3, 2)),
    # Chinese punctuation counts as a word
    ("(IP (NP (NN a)) (PU x) (VP (VV b)))", "(IP (NP (NN a) (PU x)) (VP (VV b)))", (3, 3, 2)),
]


@pytest.mark.must_show("chinese-character-parser", 3)
@pytest.mark.parametrize(("gold", "system", "expected"), HAND)
def test_brackets_are_counted_as_evalb_counts_them(gold, system, expected):
    assert score(gold, system) == expected


labels = st.sampled_from(["S", "NP", "VP"])


@st.composite
def trees_over(draw, words):
    """A random tree over words, unary phrases included."""

    def build(a, b):
        if b - a == 1:
            node = Tree(words[a][1], (), words[a][0])
        else:
            cut = draw(st.integers(a + 1, b - 1))
            parts = [build(a, cut), build(cut, b)]
            node = Tree(draw(labels), tuple(parts))
        return Tree(draw(labels), (node,)) if draw(st.booleans()) else node

    return Tree("ROOT", (Tree(draw(labels), (build(0, len(words)),)),))


words = st.lists(st.tuples(st.sampled_from(["a", "bc", "def"]), st.sampled_from(["NN", "VB"])), min_size=1, max_size=6)


def spans_over_words(tree):
    found = []

    def walk(node, start):
        if node.is_leaf:
            return start + 1
        end = start
        for child in node.children:
            end = walk(child, end)
        if node.label != "ROOT":
            found.append((node.label, start, end))
        return end

    walk(tree, 0)
    return found


@pytest.mark.must_show("chinese-character-parser", 3)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_with_the_same_words_characters_and_words_give_the_same_counts(data):
    given_words = data.draw(words)
    gold, system = data.draw(trees_over(given_words)), data.draw(trees_over(given_words))
    a, b = spans_over_words(gold), spans_over_words(system)
    right = sum((Counter(a) & Counter(b)).values())
    crossing = sum(any(i < k < j < m or k < i < m < j for _, i, j in a) for _, k, m in b)
    found = evaluate_constituents([doc_of_trees([gold])], [doc_of_trees([system])])
    total = found.brackets.total()
    assert (total.gold, total.system, total.correct) == (len(a), len(b), right)
    assert found.not_crossing.total().correct == len(b) - crossing
    assert found.exact.total().correct == (Counter(a) == Counter(b))


@pytest.mark.must_show("chinese-character-parser", 3)
def test_with_other_words_brackets_are_compared_by_characters():
    gold = "(IP (NP (NN 建筑) (NN 业)) (VP (VV 呈现)))"
    system = "(IP (NP (NN 建筑业)) (VP (VP (VV 呈)) (NP (NN 现))))"
    found = report_of(gold, system, blanks=False)
    total = found.brackets.total()
    assert (total.gold, total.system, total.correct) == (3, 5, 3)  # by numbers of words, IP and VP would be wrong
    assert (found.words.total().gold, found.words.total().system, found.words.total().correct) == (3, 3, 0)
    with_blanks = report_of(gold, system, blanks=True)
    assert with_blanks.brackets.total() == total


def test_tags_count_words_that_are_right_with_their_tag():
    found = report_of("(S (NN ab) (VV c) (NN d))", "(S (NN ab) (NN c) (NN d))")
    assert found.words.total().correct == 3
    assert found.tags.total().correct == 2


def test_other_texts_and_missing_trees_are_refused():
    one, other = doc_of_trees([parse_tree("(S (NN a))")]), doc_of_trees([parse_tree("(S (NN b))")])
    with pytest.raises(WeftError, match="sentence 1 has different text"):
        evaluate_constituents([one], [other])
    with pytest.raises(WeftError, match="1 sentences, the system documents 2"):
        evaluate_constituents([one], [one, one])
    other.constituents = None
    with pytest.raises(WeftError, match="has no constituents"):
        evaluate_constituents([one], [other])


def test_constituents_are_the_layer_that_is_scored_where_both_sides_have_them(tmp_path):
    doc = doc_of_trees([parse_tree("(S (NP (NN a)) (VP (VB b)))")])
    assert choose_layer([doc], [doc]) == "constituents"
    assert evaluate_documents([doc], [doc]).main == "brackets"
    (tmp_path / "gold.mrg").write_text("(S (NP (NN a)) (VP (VB b)))\n")
    (tmp_path / "system.mrg").write_text("(S (NP (NN a)) (NP (VB b)))\n")
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "gold.mrg"), str(tmp_path / "system.mrg")])
    assert result.exit_code == 0
    assert "brackets" in result.output
    assert "66.67" in result.output
