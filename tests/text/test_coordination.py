"""Coordinations change their style and come back; what comes out is always a tree of the same words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.formats import read
from weft.infer.projectivity import is_tree
from weft.text import Doc
from weft.text.coordination import STYLES, convert, is_single_level, restore, with_coordination

# "she sells apples , pears and old plums", "and" and the comma on the conjuncts behind them
FORMS = ["she", "sells", "apples", ",", "pears", "and", "old", "plums"]
HEADS = [2, 0, 2, 5, 3, 8, 8, 3]
RELATIONS = ["nsubj", "root", "obj", "punct", "conj", "cc", "amod", "conj"]


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("ud", HEADS),
        ("stanford", [2, 0, 2, 5, 3, 3, 8, 3]),
        ("melcuk", [2, 0, 2, 5, 3, 5, 8, 6]),
        ("prague", [2, 0, 6, 5, 6, 2, 8, 6]),
    ],
)
def test_the_styles_of_one_sentence(style, expected):
    heads, relations = convert(HEADS, RELATIONS, FORMS, style)
    assert heads == expected
    assert restore(heads, relations, style) == (HEADS, RELATIONS)


def test_a_comma_stands_in_for_a_conjunction_and_without_either_nothing_changes():
    heads, relations = [0, 3, 1], ["root", "punct", "conj"]
    assert convert(heads, relations, ["come", ",", "see"], "prague") == (
        [2, 0, 2], ["root_Co", "Coord:punct", "conj_Co"],
    )  # fmt: skip
    assert convert(heads, relations, ["come", "-", "see"], "prague") == (heads, relations)


def test_coordinations_inside_coordinations_come_back_from_prague():
    # (salt and pepper), (oil and vinegar)
    forms = ["salt", "and", "pepper", ",", "oil", "and", "vinegar"]
    heads, relations = [0, 3, 1, 5, 1, 7, 5], ["root", "cc", "conj", "punct", "conj", "cc", "conj"]
    assert not is_single_level(heads, relations)
    found, names = convert(heads, relations, forms, "prague")
    assert found == [2, 0, 2, 5, 6, 2, 6]
    assert is_tree(found)
    assert restore(found, names, "prague") == (heads, relations)


@st.composite
def sentences(draw):
    """Random trees with random relations, among them many coordinations."""
    n = draw(st.integers(1, 9))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, i - 1))]
    relations = [
        draw(st.sampled_from(["conj", "cc", "punct", "obj", "conj:svc", "cc:preconj"])) if head else "root"
        for head in heads
    ]
    return heads, relations, draw(st.lists(st.sampled_from([",", "x"]), min_size=n, max_size=n))


@settings(max_examples=300, deadline=None)
@given(sentences(), st.sampled_from(STYLES))
def test_trees_stay_trees_and_single_levels_come_back(sentence, style):
    heads, relations, forms = sentence
    found, names = convert(heads, relations, forms, style)
    assert is_tree(found)
    if is_single_level(heads, relations):
        assert restore(found, names, style) == (heads, relations)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["Danish-DDT/dev", "Portuguese-Bosque/dev"])
def test_coordinations_of_treebanks_come_back(corpus_file, name):
    docs = list(read(corpus_file(f"treebanks/ud/{name}.conllu.gz")).take_sentences(500))
    single = coordinated = 0
    changed = dict.fromkeys(STYLES, 0)
    for doc in docs:
        forms, names = doc.column("form"), doc.column("deprel")
        for begin, end in pairwise(doc.sentence_offsets.tolist()):
            heads, relations = doc.head[begin:end].tolist(), names[begin:end]
            if not any(relation.startswith("conj") for relation in relations):
                continue
            coordinated += 1
            single += is_single_level(heads, relations)
            for style in STYLES:
                found, others = convert(heads, relations, forms[begin:end], style)
                assert is_tree(found)
                changed[style] += found != heads
                if is_single_level(heads, relations):
                    assert restore(found, others, style) == (heads, relations)
    assert single > 0.6 * coordinated > 50
    assert changed["ud"] == 0 < min(changed[style] for style in STYLES[1:])


def test_documents_are_converted_into_new_ones():
    doc = Doc.of_words([FORMS, ["come"]], head=[HEADS, [0]], deprel=[RELATIONS, ["root"]])
    new = with_coordination([doc], "melcuk")[0]
    assert new.head.tolist() == [2, 0, 2, 5, 3, 5, 8, 6, 0]
    assert doc.head.tolist() == [*HEADS, 0]
    assert new.column("form") == doc.column("form")


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="must be one of ud, stanford, melcuk, prague, got 'moscow'"):
        convert(HEADS, RELATIONS, FORMS, "moscow")
    with pytest.raises(DataError, match="HEAD"):
        with_coordination([Doc.of_words([["come"]])], "prague")
