"""Types of senses: roots, rows that name other rows, complements, plurals; and tables that are refused."""

from __future__ import annotations

import pytest
from tiny_wordnet import TYPES, write_wordnet

from weft.errors import DataError
from weft.lexical.resources.semantic_types import NounTypes, Sense, TypeTable
from weft.lexical.resources.source import Patch
from weft.lexical.resources.synsets import open_wordnet
from weft.lexical.wordnet import find_wordnet


@pytest.fixture
def nouns(tmp_path) -> NounTypes:
    (tmp_path / "types.tsv").write_text(TYPES)
    return NounTypes(open_wordnet(write_wordnet(tmp_path / "net")), TypeTable.read(tmp_path / "types.tsv"))


def types(nouns: NounTypes, *forms: str) -> list[list[str]]:
    return [nouns.names(sense.has) for sense in nouns.senses(*forms)]


def test_a_sense_has_the_types_of_the_synsets_above_it(nouns):
    assert types(nouns, "gardener") == [["animate", "concrete", "int_control"]]
    assert types(nouns, "company") == [["abstract", "int_control", "organization"]]
    assert types(nouns, "tea") == [["comestible", "concrete"]]
    assert types(nouns, "person") == [["animate", "concrete", "int_control"]]  # a root is below itself


def test_plurals_and_several_forms_give_all_senses_once(nouns):
    assert nouns.senses("laws") == nouns.senses("law") == nouns.senses("laws", "law")
    assert [sense.key for sense in nouns.senses("laws")] == ["law%1:10:00::", "law%1:14:00::"]
    assert nouns.senses("dairy farm")[0].key == "dairy_farm%1:06:00::"
    assert nouns.senses("blockchain") == ()


def test_a_complement_is_what_does_not_have_the_type(nouns, tmp_path):
    (tmp_path / "other.tsv").write_text("concrete\tobject%1:03:00::\nabstract\t!concrete\n")
    other = NounTypes(nouns.net, TypeTable.read(tmp_path / "other.tsv"))
    assert types(other, "tea") == [["abstract"]]
    assert types(other, "bag") == [["concrete"]]
    assert other.sense("bag%1:06:00::") == Sense("bag%1:06:00::", other.bits["concrete"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("animate", "line 1: expected a type"),
        ("a\tx%1:03:00::\na\ty%1:03:00::", "line 2: expected a type, once"),
        ("a\t=b", "names 'b', which leads nowhere"),
        ("a\t=b\nb\t!a", "leads nowhere"),
    ],
)
def test_tables_that_cannot_be_are_refused(tmp_path, text, message):
    (tmp_path / "types.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        TypeTable.read(tmp_path / "types.tsv")


def test_synsets_that_wordnet_does_not_have_are_refused(nouns):
    table = nouns.table.patched([Patch("animate", " ".join(nouns.table.roots["animate"]), "x%1:03:00::", "a test")])
    with pytest.raises(DataError, match=r"has no sense 'x%1:03:00::', a synset of the type 'animate'"):
        NounTypes(nouns.net, table)
    with pytest.raises(DataError, match="leads nowhere"):
        nouns.table.patched([Patch("plural", "*", "=singular", "a test")])
    with pytest.raises(DataError, match="expects 'wrong'"):
        nouns.table.patched([Patch("plural", "wrong", "*", "a test")])


def test_the_table_fits_the_real_wordnet():
    if find_wordnet() is None:
        pytest.skip("there is no WordNet database here")
    nouns = NounTypes(open_wordnet(), TypeTable.read())
    assert all("concrete" not in nouns.names(sense.has) for sense in nouns.senses("law"))
    assert {"animate", "human"} <= set(nouns.names(nouns.senses("politician")[0].has))
    assert any("animate" in nouns.names(sense.has) for sense in nouns.senses("men"))  # men and man
