"""Templates read as written; everything else is refused in plain words."""

import pytest

from weft.errors import TemplateError
from weft.features.templates import Templates


def written(text):
    return [str(template) for template in Templates(text)]


def test_windows_and_ranges_unfold_into_one_template_each():
    assert written("w[-1..1]") == ["w[-1]", "w[0]", "w[1]"]
    assert written("w[0].suffix2..4") == ["w[0].suffix2", "w[0].suffix3", "w[0].suffix4"]


def test_groups_distribute_over_conjunctions():
    assert written("(w[0] w[1])|(t[0] t[1])") == ["w[0]|t[0]", "w[0]|t[1]", "w[1]|t[0]", "w[1]|t[1]"]
    assert written("(true y[-1])|w[0]") == ["w[0]", "y[-1]|w[0]"]


def test_labels_are_told_from_observations_and_give_the_order():
    templates = Templates("w[0] y[-1]|w[0] y[-2]|y[-1]")
    assert [template.order for template in templates] == [0, 1, 2]
    assert templates.order == 2
    assert [len(template.atoms) for template in templates] == [1, 1, 0]


def test_blocks_are_kept_apart_and_comments_left_out():
    templates = Templates("w[0]  # the word\narc: h[0] m[0]\nh[0]|m[0]\nnode: w[1]")
    assert {name: len(block) for name, block in templates.blocks.items()} == {"node": 2, "arc": 3}


def test_repeated_templates_count_once():
    assert len(Templates("w[0] w[0] w[-1..0]")) == 2


def test_fields_list_the_attributes_asked_for():
    assert Templates("w[0] w[0].lower|t[0] w{-2..2}.lower").fields() == {"w": ["form", "lower"], "t": ["form"]}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no templates"),
        ("w", "cannot read the atom 'w'"),
        ("w[0}", "cannot read the atom"),
        ("w[2..1]", "window of 'w[2..1]' is empty"),
        ("w[0].suffix..3", "has no beginning"),
        ("w[0]|", "missing beside a |"),
        ("(w[0]", "not closed"),
        ("w[0])", "without an opening"),
        ("y[-2]", "without gaps"),
        ("y[0]", "without gaps"),
    ],
)
def test_bad_templates_are_refused_in_plain_words(text, complaint):
    with pytest.raises(TemplateError, match=complaint.replace("[", r"\[").replace("]", r"\]").replace("|", r"\|")):
        Templates(text)
