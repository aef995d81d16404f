"""Candidates of words: frequent words by dictionary, all others by ending."""

from itertools import pairwise

import numpy as np

from weft.tasks.labelling.candidate_data import with_gold
from weft.tasks.labelling.candidate_lists import CandidateLists
from weft.text import Doc

SEEN = [
    ("walks", "V", 1),
    ("talks", "V", 1),
    ("walked", "V", 2),
    ("talked", "V", 2),
    ("walks", "N", 3),
    ("mill", "N", 4),
]


def test_frequent_words_have_the_labels_they_were_seen_with():
    lists = CandidateLists.from_words(SEEN * 6, frequent=6, enough=2)
    assert lists.find("walks", "V") == [1]
    assert lists.find("Walks", "N") == [3]


def test_other_words_have_the_labels_of_their_longest_ending():
    lists = CandidateLists.from_words(SEEN, frequent=99, enough=2)
    assert lists.find("barks", "V") == [1]
    assert lists.find("barked", "V") == [2]
    assert lists.find("unhurt", "V") == [1, 2]
    assert lists.find("x", "N") == [3, 4]
    assert lists.find("", "N") == [3, 4]


def test_an_ending_leaves_no_more_labels_open_than_asked():
    lists = CandidateLists.from_words([(f"w{i}", "V", i) for i in range(9)] + [("v", "V", 7)] * 3, most=3)
    assert len(lists.find("unheard", "V")) == 3
    assert 7 in lists.find("unheard", "V")


def test_slots_agree_with_words_one_by_one_and_survive_saving():
    lists = CandidateLists.from_words(SEEN, frequent=2, enough=2)
    again = CandidateLists.from_state(lists.state())
    docs = [Doc.from_words([["walks", "barked"], ["mill"]]), Doc.from_words([["Talks"]])]
    groups = np.array([lists.groups.index(group) for group in ("V", "V", "N", "V")])
    slots, labels = again.slots(docs, groups)
    found = [labels[a:b].tolist() for a, b in pairwise(slots)]
    words = [("walks", "V"), ("barked", "V"), ("mill", "N"), ("Talks", "V")]
    assert found == [lists.find(word, group) for word, group in words]


def test_right_labels_are_added_where_the_lists_lack_them():
    slots, labels, gold = with_gold(np.array([0, 1, 2]), np.array([5, 6], np.int32), np.array([6, 6], np.int32))
    assert [labels[a:b].tolist() for a, b in pairwise(slots)] == [[5, 6], [6]]
    assert gold.tolist() == [1, 0]
