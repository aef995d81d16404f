"""Coordinations change their style and come back; what comes out is always a tree of the same words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.formats import read
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.text import Doc
from weft.treebanks.coordination import (
    STYLES,
    convert,
    is_single_level,
    prague_of_stanford,
    restore,
    stanford_of_prague,
    with_coordination,
)

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
    doc = Doc.from_words([FORMS, ["come"]], head=[HEADS, [0]], deprel=[RELATIONS, ["root"]])
    new = with_coordination([doc], "melcuk")[0]
    assert new.head.tolist() == [2, 0, 2, 5, 3, 5, 8, 6, 0]
    assert doc.head.tolist() == [*HEADS, 0]
    assert new.column("form") == doc.column("form")


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="must be one of ud, stanford, melcuk, prague, but is 'moscow'"):
        convert(HEADS, RELATIONS, FORMS, "moscow")
    with pytest.raises(DataError, match="HEAD"):
        with_coordination([Doc.from_words([["come"]])], "prague")


# Coordinations of two to six conjuncts, each a word (with an article or not) or a coordination again.
NESTED = st.lists(
    st.recursive(st.booleans(), lambda inner: st.lists(inner, min_size=2, max_size=6), max_leaves=9),
    min_size=2,
    max_size=6,
)


def prague_tree(coordination) -> tuple[list[int], list[str], list[str]]:
    """The Prague tree of nested lists: conjuncts and commas on the conjunction before the last conjunct."""
    heads: list[int] = []
    relations: list[str] = []
    forms: list[str] = []

    def word(form: str, relation: str) -> int:
        heads.append(0)
        relations.append(relation)
        forms.append(form)
        return len(heads)

    def lay(node, relation: str) -> int:
        if not isinstance(node, list):
            article = word("the", "det") if node else 0
            noun = word(f"noun{len(heads)}", relation)
            if article:
                heads[article - 1] = noun
            return noun
        members, commas, link = [], [], 0
        for i, member in enumerate(node):
            if i == len(node) - 1:
                link = word("and", "Coord:cc")
            elif i:
                commas.append(word(",", "punct"))
            members.append(lay(member, "conj" if i else relation))
        for member in members:
            heads[member - 1] = link
            relations[member - 1] += "_Co"
        for comma in commas:
            heads[comma - 1] = link
        return link

    lay(coordination, "root")
    return heads, relations, forms


@pytest.mark.must_show("universal-treebank", 2)
@given(NESTED)
@settings(deadline=None, max_examples=200)
def test_prague_coordinations_of_two_to_six_conjuncts_become_stanford_and_come_back(coordination):
    heads, relations, forms = prague_tree(coordination)
    stanford, names = stanford_of_prague(heads, relations, forms)
    assert is_tree(np.array(stanford, np.int32))
    assert is_projective(np.array(stanford, np.int32)) or not is_projective(np.array(heads, np.int32))
    assert not any(name.endswith("_Co") or name.startswith("Coord:") for name in names)
    conjuncts = [i for i, name in enumerate(names, start=1) if name == "conj"]
    assert all(stanford[i - 1] < i for i in conjuncts)
    for i, name in enumerate(names, start=1):
        if name in ("cc", "punct"):  # on a word that is the first conjunct of a coordination around it
            assert stanford[i - 1] < i
            assert any(stanford[c - 1] == stanford[i - 1] and c > i for c in conjuncts)
    assert prague_of_stanford(stanford, names, forms) == (heads, relations)


def test_what_conjuncts_share_hangs_on_the_conjunction_in_prague_and_on_the_first_conjunct_in_stanford():
    # "old cats and dogs", both of them old
    heads, relations = stanford_of_prague([3, 3, 0, 3], ["amod", "root_Co", "Coord:cc", "conj_Co"], list("ocad"))
    assert heads == [2, 0, 2, 2]
    assert relations == ["amod", "root", "cc", "conj"]
