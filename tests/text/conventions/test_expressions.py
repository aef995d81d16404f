"""Multiword expressions as tags: exact round trips, and automata that are the regular languages of the paper."""

import re
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, WeftError
from weft.infer.chains.chain import Chain
from weft.learn.chains.labels import LabelSpace
from weft.learn.cost import ConfusionCost, cost_parts
from weft.text.conventions.expressions import (
    SCHEMES,
    TOPOLOGIES,
    Expressions,
    check_sequence,
    decode,
    encode,
    has_gap,
    repaired,
    representable,
    simplify,
)

LANGUAGES = {3: "(O|BI+)+", 4: "(O|B[_~]+)+", 6: "(O|B(o|bi+|I)*I+)+", 8: "(O|B(o|b[-=]+|[_~])*[_~]+)+"}
LETTERS = {"I_": "_", "I~": "~", "i_": "-", "i~": "="}


def legal_sequences(tags, length):
    """All sequences the automaton allows."""
    topology = TOPOLOGIES[tags]
    found = [(tag,) for tag in topology.start]
    for _ in range(length - 1):
        found = [(*path, tag) for path in found for tag in topology.follows[path[-1]]]
    return [path for path in found if path[-1] in topology.end]


def set_partitions(words):
    if not words:
        yield []
        return
    first, *rest = words
    for partition in set_partitions(rest):
        yield [[first], *partition]
        for place in range(len(partition)):
            yield [*partition[:place], [first, *partition[place]], *partition[place + 1 :]]


def structures(length, strengths, gaps):
    """Every valid analysis by the definition: strong groups, joined into weak ones, projective, no gaps within gaps."""
    for strong in set_partitions(list(range(length))):
        for weak in set_partitions(list(range(len(strong)))) if strengths else [[[k] for k in range(len(strong))]]:
            outer = [sorted(word for k in block for word in strong[k]) for block in weak]
            if valid(outer, strong, gaps):
                yield Expressions.of(
                    [group for group in strong if len(group) > 1],
                    [outer[k] for k, block in enumerate(weak) if len(block) > 1],
                )


def valid(outer, strong, gaps):
    fillers = {}
    for group in outer:
        gappy = group[-1] - group[0] >= len(group)
        if gappy and not gaps:
            return False
        for a, b in pairwise(group):
            inside = range(a + 1, b)
            for other in outer:
                held = [word in inside for word in other]
                if any(held):
                    if not all(held) or other[-1] - other[0] >= len(other):
                        return False
                    fillers[tuple(other)] = fillers.get(tuple(other), 0) + 1
    # A strong group is one piece of its weak group: nothing of the weak group stands in its gap.
    for group in outer:
        for part in strong:
            if set(part) <= set(group):
                places = [group.index(word) for word in part]
                if max(places) - min(places) != len(places) - 1:
                    return False
    return all(count == 1 for count in fillers.values())


@pytest.mark.must_show("mwe-gappy-segmentation", 1)
@pytest.mark.parametrize("tags", SCHEMES)
def test_legal_sequences_are_the_regular_language(tags):
    language = re.compile(LANGUAGES[tags])
    for length in range(1, 7 if tags == 8 else 8):
        every = product(SCHEMES[tags], repeat=length) if len(SCHEMES[tags]) ** length < 40_000 else []
        legal = set(legal_sequences(tags, length))
        assert all(language.fullmatch("".join(LETTERS.get(tag, tag) for tag in path)) for path in legal)
        for path in every:
            assert (path in legal) == bool(language.fullmatch("".join(LETTERS.get(tag, tag) for tag in path)))


@pytest.mark.must_show("mwe-gappy-segmentation", 1)
def test_eight_tags_allow_as_many_sequences_as_the_sheet_counts():
    assert [len(legal_sequences(8, length)) for length in range(1, 7)] == [1, 3, 11, 45, 193, 843]
    assert sum(map(len, TOPOLOGIES[8].follows.values())) == 36


@pytest.mark.must_show("mwe-gappy-segmentation", 1)
@pytest.mark.parametrize("tags", SCHEMES)
def test_tags_and_expressions_are_one_to_one_up_to_seven_words(tags):
    for length in range(1, 8):
        paths = legal_sequences(tags, length)
        found = [decode(path, tags) for path in paths]
        assert all(tuple(encode(each, length, tags)) == path for each, path in zip(found, paths, strict=True))
        assert len(set(found)) == len(paths)


@pytest.mark.must_show("mwe-gappy-segmentation", 1)
@pytest.mark.parametrize("tags", SCHEMES)
def test_every_valid_structure_has_its_tags(tags):
    for length in range(1, 7 if tags in (4, 8) else 8):
        wanted = set(structures(length, strengths=tags in (4, 8), gaps=tags in (6, 8)))
        assert {decode(path, tags) for path in legal_sequences(tags, length)} == wanted
        assert all(decode(encode(each, length, tags), tags) == each for each in wanted)


@pytest.mark.must_show("mwe-gappy-segmentation", 1)
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(list(SCHEMES)), st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_decoding_is_legal_whatever_the_scores(tags, lengths, seed):
    random = np.random.default_rng(seed)
    space = LabelSpace(SCHEMES[tags], topology=TOPOLOGIES[tags])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n = len(SCHEMES[tags])
    chain = Chain(
        random.normal(size=(offsets[-1], n)), random.normal(size=(n, n)), offsets, space.allowed(offsets), space.legal
    )
    path = [space.labels[tag] for tag in chain.best()]
    for first, end in pairwise(offsets):
        check_sequence(path[first:end], tags)


@pytest.mark.must_show("mwe-gappy-segmentation", 2)
@settings(max_examples=15, deadline=None)
@given(st.sampled_from(list(SCHEMES)), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_constrained_cost_augmented_search_is_the_exhaustive_one(tags, length, seed):
    random = np.random.default_rng(seed)
    space = LabelSpace(SCHEMES[tags], topology=TOPOLOGIES[tags])
    n, offsets = len(space.labels), np.array([0, length])
    node, edge = 3 * random.normal(size=(length, n)), 3 * random.normal(size=(n, n))
    table = random.random((n, n)) * (1 - np.eye(n)) * 5
    legal = [space.ids(path) for path in legal_sequences(tags, length)]
    gold = legal[random.integers(len(legal))]
    chain = Chain(node, edge, offsets, space.allowed(offsets), space.legal)
    best = chain.augment(cost_parts(ConfusionCost.of(table), chain, gold)).best()

    def total(path):
        steps = sum(edge[a, b] for a, b in pairwise(path))
        return sum(node[i, y] + table[gold[i], y] for i, y in enumerate(path)) + steps

    assert total(best) == pytest.approx(max(map(total, legal)))


def test_the_example_of_the_paper_has_its_tags():
    found = Expressions.of(strong=[(4, 7), (5, 6), (12, 13)], weak=[(11, 12, 13, 14, 15)])
    want = [*"OOOOB", "b", "i_", "I_", *"OOOB", "I~", "I_", "I~", "I~", "O"]
    assert encode(found, 17) == want
    assert decode(want) == found
    assert encode(found, 17, 6) == list("OOOOBbiIOOOBIIIIO")
    assert encode(found, 17, 4) == [*"OOOOOB", "I_", *"OOOOB", "I~", "I_", "I~", "I~", "O"]
    assert encode(found, 17, 3) == list("OOOOOBIOOOOBIIIIO")


@pytest.mark.parametrize("tags", [3, 4])
def test_schemes_without_gaps_break_expressions_at_them(tags):
    found = simplify(Expressions.of(strong=[(0, 1, 4)], weak=[(2, 3)]), tags)
    assert not any(map(has_gap, found.outermost()))
    assert (0, 1) in found.strong


def test_what_no_scheme_holds_is_refused_and_repaired():
    crossing = Expressions.of(strong=[(0, 2), (1, 3)])
    nested = Expressions.of(strong=[(0, 5), (1, 3)])
    torn = Expressions.of(strong=[(0, 2)], weak=[(0, 1, 2)])
    outside = Expressions.of(strong=[(0, 9)])
    for bad in (crossing, nested, torn, outside, Expressions.of(strong=[(0, 1)], weak=[(0, 1)])):
        with pytest.raises(WeftError):
            encode(bad, 6)
        assert representable(repaired(bad, 6), 6)
    with pytest.raises(ConfigError, match="3, 4, 6, 8"):
        encode(crossing, 6, 5)
    with pytest.raises(WeftError, match="at the end"):
        decode(["O", "B"])
