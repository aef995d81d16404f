"""The table of languages: its groups are those of the paper, and files add to it."""

from __future__ import annotations

import pytest

from weft.errors import DataError, FormatError
from weft.lexical.typology import TRAITS, read_typology, typology

#: The languages of Täckström, McDonald & Nivre (2013), English among them.
PAPER = ["ar", "bg", "ca", "cs", "de", "el", "en", "es", "eu", "hu", "it", "ja", "nl", "pt", "sv", "tr", "zh"]
HEADER = "code\tname\tfamily\t81A\t85A\t86A\t87A\t88A\n"


@pytest.mark.must_show("transfer-parser-adaptation", 4)
def test_languages_that_agree_in_all_traits_form_the_four_groups_of_the_paper():
    groups = {frozenset(group) for group in typology().groups(PAPER)}
    expected = ["ca it pt es", "bg cs en", "nl de el", "ja tr"]
    assert groups == {frozenset(names.split()) for names in expected}
    alone = set(PAPER) - set().union(*groups)
    assert alone == {"ar", "eu", "hu", "sv", "zh"}


@pytest.mark.must_show("transfer-parser-adaptation", 4)
def test_further_languages_join_the_groups_that_the_table_says():
    groups = {frozenset(group) for group in typology().groups()}
    expected = ["ca it pt es fr", "bg cs en", "nl de el", "ja tr ko hi", "sv da", "ru pl"]
    assert groups == {frozenset(names.split()) for names in expected}


def test_families_are_those_of_the_paper_with_german_among_the_indo_european():
    families = {frozenset(family) for family in typology().families(PAPER)}
    assert families == {frozenset(PAPER) - {"ar", "eu", "hu", "zh", "ja", "tr"}, frozenset({"ja", "tr"})}


def test_the_demonstrative_differs_only_in_basque():
    assert [code for code in PAPER if typology()[code].value("88A") != "DemN"] == ["eu"]


def test_every_value_of_the_table_is_one_that_its_trait_can_have():
    for language in typology().languages.values():
        assert all(value in known for value, known in zip(language.values, TRAITS.values(), strict=True))


def test_a_file_adds_languages_and_may_say_otherwise_of_known_ones(tmp_path):
    file = tmp_path / "own.tsv"
    file.write_text(HEADER + "gd\tGaelic\tIndo-European\tVSO\tPrep\tNGen\tNAdj\tNDem\n"
                    "de\tGerman\tIndo-European\tSVO\tPrep\tNGen\tAdjN\tDemN\n")  # fmt: skip
    table = read_typology(file)
    assert table["gd"].value("81A") == "VSO"
    assert table["de"].value("81A") == "SVO"
    assert table["tr"].value("81A") == "SOV"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tr SOV\n", "line 1: expected the columns code, name, family"),
        (HEADER + "gd\tGaelic\n", "line 2: expected 8 tab-separated fields"),
        (HEADER + "gd\tGaelic\tX\tVSX\tPrep\tNGen\tNAdj\tNDem\n", "line 2: expected 81A as one of SVO"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_with_its_line(tmp_path, text, said):
    file = tmp_path / "own.tsv"
    file.write_text(text)
    with pytest.raises(FormatError, match=said):
        read_typology(file)


def test_an_unknown_language_is_named_with_those_that_are_known():
    with pytest.raises(DataError, match="there is no typology for the language 'xx'; known languages: ar, bg"):
        typology()["xx"]
