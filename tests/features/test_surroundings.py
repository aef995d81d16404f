"""Surroundings against a twin that looks at every pair of words."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.features.attributes import kind
from weft.features.surroundings import Surroundings
from weft.text import Doc
from weft.text.strings import StringTable

WORDS = ["Hill", "hill", "HILL", "Mr", "the", "left", "B"]
DOCS = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=5), min_size=1, max_size=3
)


def listed(sentences, window, reach):
    """The members of every word as tuples, by looking at all other words."""
    forms = [form for sentence in sentences for form in sentence]
    begins = {sum(map(len, sentences[:s])) for s in range(len(sentences) + 1)}
    capital = [kind(form) in ("title", "upper", "mixed") for form in forms]
    found = []
    for i, form in enumerate(forms):
        members = set()
        others = [j for j, other in enumerate(forms) if other.lower() == form.lower() and j != i]
        near = sorted([j for j in others if j < i])[-reach:] + sorted([j for j in others if j > i])[:reach]
        for j in near if capital[i] else ():
            if abs(j - i) > window:
                continue
            if not capital[j]:
                members.add("small")
                continue
            if j not in begins and kind(forms[j]) != "upper":
                members.add("large")
            members.add(("before", "" if j in begins else forms[j - 1].lower()))
            members.add(("behind", "" if j + 1 in begins else forms[j + 1].lower()))
        found.append(members)
    return found


@given(docs=DOCS, window=st.integers(1, 12), reach=st.integers(1, 3))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_members_are_those_of_a_search_over_all_pairs(docs, window, reach):
    table = StringTable()
    made = [Doc.from_words(sentences, strings=table) for sentences in docs]
    offsets, members = Surroundings(window, reach).members(made)
    wanted = [each for sentences in docs for each in listed(sentences, window, reach)]
    keys = [frozenset(members[a:b].tolist()) for a, b in itertools.pairwise(offsets)]
    assert [len(each) for each in keys] == [len(each) for each in wanted]
    assert np.diff(offsets).tolist() == [len(each) for each in wanted]  # each once
    meaning = {}
    for one, other in zip(keys, wanted, strict=True):
        assert meaning.setdefault(one, other) == other  # equal sets of keys mean equal sets of members


def test_documents_say_nothing_of_each_other():
    one, other = Doc.from_words([["Hill", "left"]]), Doc.from_words([["Mr", "Hill"]])
    other = Doc.from_words([["Mr", "Hill"]], strings=one.strings)
    offsets, _ = Surroundings().members([one, other])
    assert offsets[-1] == 0
