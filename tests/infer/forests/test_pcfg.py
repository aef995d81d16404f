"""Inside sums against enumeration, draws against the conditional distribution."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from weft.errors import InferenceError
from weft.formats.grammar import parse_grammar
from weft.infer.forests.grammar import code_grammar
from weft.infer.forests.pcfg import best_parse, log_inside, sample_parses
from weft.infer.forests.strings import number_strings

GRAMMAR = parse_grammar(
    """
    S -> Word+
    Word -> Syll (Syll) | 'a' 'b' 'a' | Coda
    Syll -> (Onset) 'a' (Coda) | Coda Onset Coda
    Onset -> b+
    Coda -> b | 'a' b
    """
)
CODED = code_grammar(GRAMMAR)


def probabilities(seed):
    """Random probabilities of the rules, those of a symbol summing to one."""
    drawn = np.random.default_rng(seed).uniform(0.1, 1.0, len(CODED.rules))
    total = np.bincount(CODED.arrays.left_of, weights=drawn)
    return drawn / total[CODED.arrays.left_of]


def every_parse(words, rule_weights, extra):
    """All parses of a string from the start symbol: their codes and weights, by trying everything."""
    rules, extras = CODED.rules, list(extra.items())
    lefts = {rule.left for rule in rules}

    def of_symbol(symbol, i, j):
        found = [
            ((-1 - e,), weight)
            for e, ((left, string), weight) in enumerate(extras)
            if left == symbol and string == tuple(words[i:j])
        ]
        for r, rule in enumerate(rules):
            if rule.left == symbol:
                found += [((r, *codes), rule_weights[r] * w) for codes, w in of_sequence(rule.right, i, j)]
        return found

    def of_sequence(right, i, j):
        if not right:
            return [((), 1.0)] if i == j else []
        found = []
        for k in range(i + 1, j - len(right) + 2):
            if right[0] in lefts:
                heads = of_symbol(right[0], i, k) if len(right) > 1 or k == j else []
            else:
                heads = [((), 1.0)] if k == i + 1 and words[i] == right[0] else []
            if heads:
                rest = of_sequence(right[1:], k, j)
                found += [((*a, *b), v * w) for a, v in heads for b, w in rest]
        return found

    return of_symbol("S", 0, len(words))


strings = st.text("ab", min_size=1, max_size=6).map(list)
extras = st.dictionaries(
    st.tuples(st.sampled_from(["S", "Word", "Onset", "Coda"]), st.text("ab", min_size=1, max_size=3).map(tuple)),
    st.floats(0.01, 1.0),
    max_size=5,
)


@pytest.mark.must_show("stress-adaptor-grammars", 2)
@given(strings, extras, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_inside_is_the_sum_over_all_parses_with_and_without_extra_rules(words, extra, seed):
    weights = probabilities(seed)
    for given_extra in ({}, extra):
        total = sum(weight for _, weight in every_parse(words, weights, given_extra))
        found = math.exp(log_inside(CODED, words, weights, given_extra))
        assert found == pytest.approx(total, rel=1e-7, abs=1e-300)


@given(strings, extras, st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_best_parse_is_the_one_of_highest_weight(words, extra, seed):
    weights = probabilities(seed)
    parses = every_parse(words, weights, extra)
    if not parses:
        with pytest.raises(InferenceError, match="no parse"):
            best_parse(CODED, words, weights, extra)
        return
    codes = tuple(best_parse(CODED, words, weights, extra))
    assert dict(parses)[codes] == pytest.approx(max(weight for _, weight in parses), rel=1e-7)


@pytest.mark.must_show("stress-adaptor-grammars", 2)
@pytest.mark.parametrize(
    "extra", [{}, {("Word", ("a", "b")): 0.2, ("Onset", ("b",)): 0.05, ("S", tuple("babab")): 1e-3}]
)
def test_drawn_parses_follow_their_conditional_distribution(extra):
    words, weights = list("babab"), probabilities(5)
    parses = dict(every_parse(words, weights, extra))
    total = sum(parses.values())
    n = 40_000
    drawn = Counter(map(tuple, sample_parses(CODED, words, weights, extra, samples=n, seed=1)))
    assert set(drawn) <= set(parses)
    often = [codes for codes, weight in parses.items() if n * weight / total >= 5]
    seen = [drawn[codes] for codes in often]
    expected = [n * parses[codes] / total for codes in often]
    rare = n - sum(expected)
    if rare > 1e-6:
        seen, expected = [*seen, n - sum(seen)], [*expected, rare]
    assert len(often) > 10
    assert chisquare(seen, expected).pvalue > 1e-3


def test_a_string_without_a_parse_has_no_probability_and_cannot_be_drawn():
    coded = code_grammar(parse_grammar("S -> a S | b"))
    assert log_inside(coded, ["a"], [0.5, 0.5]) == -math.inf
    with pytest.raises(InferenceError, match="no parse"):
        sample_parses(coded, ["a"], [0.5, 0.5])
    with pytest.raises(InferenceError, match="no terminal 'x'"):
        log_inside(coded, ["x"], [0.5, 0.5])
    with pytest.raises(InferenceError, match="empty"):
        log_inside(coded, [], [0.5, 0.5])


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_equal_substrings_and_only_those_have_the_same_number(utterances):
    text, starts, strings = number_strings(utterances)
    number = {}
    for u, utterance in enumerate(utterances):
        for i in range(len(utterance)):
            for j in range(i + 1, len(utterance) + 1):
                s = int(text.strings[text.rows[starts[u] + i] + j - i - 1])
                assert number.setdefault(tuple(utterance[i:j]), s) == s
                assert text.terminals[strings.where[s] :][: strings.sizes[s]].tolist() == utterance[i:j]
    assert sorted(number.values()) == list(range(len(strings)))
    again, _ = strings.look_up(utterances)
    assert np.array_equal(again.strings, text.strings)
