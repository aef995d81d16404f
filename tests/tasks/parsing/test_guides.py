"""Another parser's heads as marks of arcs; training trees that cross, and the ways to train on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.infer.trees.arcs import all_arcs
from weft.infer.trees.projectivity import is_projective, is_tree, projective_order, reorder_heads
from weft.tasks.parsing.guides import guide_heads, guide_marks, jackknife_guide, note_guide
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.text.doc import Doc

trees = st.integers(1, 8).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)).filter(
    lambda heads: is_tree(np.array(heads, np.int32))
)  # fmt: skip


class Always:
    """A parser that hangs every word on the one before it; notes what it learned from."""

    def __init__(self, learned=()):
        self.learned = [doc.text for doc in learned]

    def __call__(self, docs):
        for doc in docs:
            offsets = doc.sentence_offsets
            doc.head = (np.arange(doc.n_words) - np.repeat(offsets[:-1], np.diff(offsets))).astype(np.int32)


def settings_of(**options):
    return MSTSettings(system="mst1", relations="none", threshold=0.0, epochs=3, bits=14, **options)


def documents(n=12):
    """Sentences in which nothing but the guide tells the tree."""
    rng = np.random.default_rng(0)
    heads = [[2, 0, 2] if rng.random() < 0.5 else [0, 1, 2] for _ in range(n)]
    guides = [[f"Guide={head}" for head in row] for row in heads]
    return [
        Doc.from_words([["a", "a", "a"]], upos=[["X"] * 3], head=[h], misc=[g])
        for h, g in zip(heads, guides, strict=True)
    ]


@settings(max_examples=80, deadline=None)
@given(trees)
def test_marks_say_which_arcs_the_guide_has_and_which_cross_it(heads):
    space = all_arcs([0, len(heads)])
    marks = guide_marks(space.offsets, np.array(heads, np.int32))
    for arc, (h, m) in enumerate(zip(space.head.tolist(), space.modifier.tolist(), strict=True)):
        low, high = sorted((h, m))
        others = [sorted((other, head)) for other, head in enumerate(heads, start=1)]
        crosses = any(low < one < high < two or one < low < two < high for one, two in others)
        assert marks[arc].tolist() == [heads[m - 1] == h, crosses]


def test_marks_of_several_sentences_stand_one_after_the_other_and_missing_heads_mark_nothing():
    one, two = np.array([2, 0, 2], np.int32), np.array([-1, 1], np.int32)
    both = guide_marks(np.array([0, 3, 5]), np.concatenate([one, two]))
    alone = [guide_marks(np.array([0, len(each)]), each) for each in (one, two)]
    np.testing.assert_array_equal(both, np.concatenate(alone))
    assert alone[1].sum() == 1


def test_a_guided_parser_follows_a_good_guide():
    docs = documents()
    parser = MSTParser(settings_of(guide="Guide"))
    parser.fit(docs)
    assert parser.scores(docs)["UAS"] == 1.0
    plain = MSTParser(settings_of())
    plain.fit(docs)
    assert plain.scores(docs)["UAS"] < 1.0
    again = MSTParser.from_state(*parser.state())
    assert again.scores(docs)["UAS"] == 1.0


def test_guides_go_into_misc_beside_what_stands_there_and_leave_the_tree_alone():
    doc = Doc.from_words([["a", "b"], ["c"]], head=[[2, 0], [0]], misc=[["Guide=2|Gloss=x", ""], ["SpaceAfter=No"]])
    note_guide([doc], Always())
    assert doc.column("misc") == ["Gloss=x|Guide=0", "Guide=1", "SpaceAfter=No|Guide=0"]
    assert doc.head.tolist() == [2, 0, 0]
    assert guide_heads([doc]).tolist() == [0, 1, 0]


def test_jackknifed_guides_have_not_seen_the_sentences_they_speak_of():
    docs = [Doc.from_words([[f"w{i}", "x"] for i in range(7)], head=[[2, 0]] * 7)]
    seen = []

    def learn(part):
        seen.append({doc.text for doc in part})
        return Always(part)

    found = jackknife_guide(docs, learn, folds=3)
    assert [doc.text for doc in found] == [f"w{i} x" for i in range(7)]
    assert all(f"w{i} x" not in seen[i % 3] and len(seen[i % 3]) >= 4 for i in range(7))
    assert guide_heads(found).tolist() == [0, 1] * 7
    with pytest.raises(ConfigError, match="folds must be from 2"):
        jackknife_guide(docs, learn, folds=8)


def test_missing_and_impossible_guides_are_told():
    doc = Doc.from_words([["a", "b"]], head=[[2, 0]])
    with pytest.raises(DataError, match="expected Guide=HEAD"):
        guide_heads([doc])
    doc.set_column("misc", ["Guide=3", "Guide=1"])
    with pytest.raises(DataError, match=r"word 1 .* a number from 0 to 2"):
        guide_heads([doc])
    with pytest.raises(DataError, match=r"predicted no heads for"):
        note_guide([Doc.from_words([["a"]])], lambda docs: None)


@settings(max_examples=120, deadline=None)
@given(trees)
def test_in_its_projective_order_a_tree_is_the_same_and_does_not_cross(heads):
    tree = np.array(heads, np.int32)
    order = projective_order(tree)
    other = reorder_heads(tree, order)
    assert sorted(order.tolist()) == list(range(len(tree)))
    assert is_projective(other)
    names = [-1, *order.tolist()]
    assert {(int(order[m]), names[h]) for m, h in enumerate(other.tolist())} == {
        (m, h - 1) for m, h in enumerate(heads)
    }
    if is_projective(tree):
        assert order.tolist() == list(range(len(tree)))


@pytest.mark.parametrize("crossings", ["lift", "reorder", "keep", "skip"])
def test_projective_parsers_learn_from_crossing_trees_as_they_are_told(crossings):
    crossing = Doc.from_words([["c", "d", "e", "f"]], upos=[["X"] * 4], head=[[3, 4, 0, 3]])
    plain = Doc.from_words([["a", "b"]], upos=[["X", "Y"]], head=[[2, 0]])
    parser = MSTParser(settings_of(crossings=crossings))
    report = parser.fit([crossing, plain])["training"]
    assert report["non-projective trees"] == 1
    assert report["words"] == (2 if crossings == "skip" else 6)
    parser([crossing])
    assert is_projective(crossing.head)


def test_options_that_do_not_go_together_are_told():
    for options, message in (
        ({"crossings": "reorder", "guide": "Guide"}, "original word order"),
        ({"crossings": "keep", "learner": "crf"}, "outside its search space"),
        ({"constraints": "heads", "learner": "perceptron"}, "mst1 and the learner mira"),
    ):
        with pytest.raises(ConfigError, match=message):
            MSTParser(settings_of(**options))
