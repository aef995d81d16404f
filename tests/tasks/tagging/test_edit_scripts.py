"""Edit scripts: every pair of strings has one, and applying it restores the lemma."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.tasks.tagging.edit_scripts import EditScript, apply_script, edit_script

WORDS = st.text(st.sampled_from("aAbBcCäÄßİıσΣςéÉ'-1 "), max_size=8) | st.text(max_size=8)


@settings(max_examples=500, deadline=None)
@given(WORDS, WORDS)
def test_the_script_of_a_pair_gives_the_lemma_back(form, lemma):
    assert apply_script(edit_script(form, lemma), form) == lemma


@pytest.mark.parametrize(
    ("form", "lemma", "other", "expected"),
    [
        ("Walked", "walk", "Jumped", "jump"),
        ("WALKED", "walk", "jumped", "jump"),
        ("cities", "city", "Parties", "party"),
        ("Paris", "Paris", "McDonald", "McDonald"),
        ("PARIS", "Paris", "LONDON", "London"),
        ("gemacht", "machen", "gelacht", "lachen"),
        ("bhean", "bean", "bhord", "bord"),
        ("2", "2", "17", "17"),
    ],
)
def test_scripts_carry_over_to_other_words(form, lemma, other, expected):
    assert apply_script(edit_script(form, lemma), other) == expected


def test_a_form_too_short_for_a_script_stays():
    assert apply_script(EditScript("lower", 2, "", 3, "en"), "Ab") == "ab"
    assert apply_script(EditScript("keep", 0, "", 5, ""), "Ab") == "Ab"


def test_casing_is_as_plain_as_it_can_be():
    assert edit_script("Dogs", "dog").casing == "lower"
    assert edit_script("London", "London").casing == "keep"
    assert edit_script("NATO", "NATO").casing == "keep"
    assert edit_script("nato", "NATO").casing == "upper"
    assert edit_script("LONDON", "London").casing == "title"
    assert edit_script("went", "go").casing == "whole"
