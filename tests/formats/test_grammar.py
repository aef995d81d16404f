"""Grammar files: notation, expansion, round trip, plain errors."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import FormatError
from weft.formats.grammar import (
    Alternative,
    Choice,
    Grammar,
    Repeat,
    Symbol,
    format_grammar,
    parse_grammar,
    read_grammar,
    write_grammar,
)
from weft.tasks.segmentation.induce_words import GRAMMARS, package_grammar


def word_rules(name):
    grammar = package_grammar(name, ["a"], ["b"])
    return [rule.right for rule in grammar.rules() if rule.left == "Word"]


def stressed(right):
    return sum(name.startswith("SSyll") for name in right)


@pytest.mark.must_show("stress-adaptor-grammars", 4)
@pytest.mark.parametrize("kind", ["nophon", "phon"])
def test_words_have_30_stress_patterns_and_14_with_the_unique_stress_constraint(kind):
    free, unique = word_rules(f"colloc3-{kind}-stress"), word_rules(f"colloc3-{kind}-stress-usc")
    assert len(free) == len(set(free)) == 30
    assert len(unique) == len(set(unique)) == 14
    assert set(unique) == {right for right in free if stressed(right) <= 1}
    assert [sum(len(right) == n for right in unique) for n in (1, 2, 3, 4)] == [2, 3, 4, 5]


@pytest.mark.must_show("stress-adaptor-grammars", 4)
@pytest.mark.parametrize("name", GRAMMARS)
def test_grammars_of_the_package_come_back_from_their_text(name, tmp_path):
    grammar = package_grammar(name, ["a", "|"], ["b", "'"])
    assert parse_grammar(format_grammar(grammar)) == grammar
    write_grammar(grammar, tmp_path / "g")
    assert read_grammar(tmp_path / "g").rules() == grammar.rules()


names = st.sampled_from(["a", "B", "c-d", "*", "it's", "(", "+", "", "\\"])
symbols = st.builds(Symbol, names.filter(bool), st.just(True)) | st.builds(Symbol, st.sampled_from(["x", "Y*", "z1"]))


def choices(items):
    sequences = st.lists(items, min_size=1, max_size=3).map(tuple)
    return st.builds(Choice, st.lists(sequences, min_size=1, max_size=3).map(tuple), st.booleans())


def repeated(items):
    bounds = st.tuples(st.integers(0, 2), st.integers(1, 2)).map(lambda pair: (min(pair), pair[1]))
    return st.builds(Repeat, items) | st.builds(lambda item, pair: Repeat(item, *pair), items, bounds)


singles = symbols | choices(symbols)
items = singles | repeated(singles) | choices(repeated(singles))


@pytest.mark.must_show("stress-adaptor-grammars", 4)
@given(st.lists(st.tuples(st.lists(items, min_size=1, max_size=3), st.sampled_from([1.0, 0.5, 2e-7])), min_size=1))
@settings(max_examples=60, deadline=None)
def test_any_notation_comes_back_from_its_text(alternatives):
    solid = Symbol("solid")  # so that no right side is empty
    grammar = Grammar(
        tuple(Alternative("S", (solid, *right), alpha) for right, alpha in alternatives), frozenset({"S"})
    )
    assert parse_grammar(format_grammar(grammar)) == grammar


def test_options_choices_and_copies_are_multiplied_out_and_equal_sides_kept_once():
    grammar = parse_grammar("Word -> I (S) (S) F | {A | B C}{1,2}")
    assert [" ".join(rule.right) for rule in grammar.rules()] == [
        "I S S F", "I S F", "I F", "A", "B C", "A A", "A B C", "B C A", "B C B C",
    ]  # fmt: skip


def test_one_or_more_goes_through_a_helper_that_is_not_adapted():
    grammar = parse_grammar("@S -> Word+ [0.1]\nWord -> a")
    assert [(rule.left, rule.right, rule.alpha) for rule in grammar.rules()] == [
        ("S", ("Word+",), 0.1), ("Word+", ("Word",), 1.0), ("Word+", ("Word", "Word+"), 1.0), ("Word", ("a",), 1.0),
    ]  # fmt: skip
    assert grammar.adapted == {"S"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a rule"),
        ("S -> (a", "line 1: expected '\\)'"),
        ("S -> a\nT a", "line 2: expected `->`"),
        ("S -> (a)", "line 1: expected a right side for S that cannot be empty"),
        ("S -> a\n@S -> b", "line 2: expected S marked with @ on all"),
        ("S -> T\nT -> S | a", "line 1: expected no unary rules from S back to itself"),
        ("S -> A\n@A -> a A | a", "line 2: expected no A inside another"),
        ("S -> a{3,2}", "line 1: expected {m,n}"),
        ("S -> a [0]", "line 1: expected a pseudo-count"),
        ("S -> 'T'\nT -> a", "line 1: expected a terminal in quotes"),
        ("S -> a )", "line 1: expected the end of the rule"),
        ("S -> a {b | c | d | e}{20,20}", "line 1: expected at most 100,000 plain rules"),
    ],
)
def test_errors_name_the_line_and_what_was_expected(text, said):
    with pytest.raises(FormatError, match=said):
        parse_grammar(text)
