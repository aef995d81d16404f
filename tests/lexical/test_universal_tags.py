"""The twelve universal tags and the roads to them."""

import pytest

from weft.data import find, have
from weft.errors import DataError, FormatError
from weft.lexical.universal_tags import OF_UNIMORPH, OF_UPOS, UNIVERSAL_TAGS, read_map, universal_tag


def test_every_road_ends_in_one_of_the_twelve_tags():
    assert len(set(UNIVERSAL_TAGS)) == 12
    assert set(OF_UPOS.values()) == set(UNIVERSAL_TAGS)
    assert set(OF_UNIMORPH.values()) <= set(UNIVERSAL_TAGS)


def test_an_unknown_part_of_speech_is_refused_and_none_stays_none():
    assert universal_tag("_") == ""
    with pytest.raises(DataError, match="'VBZ' is not a part of speech"):
        universal_tag("VBZ")


def test_maps_keep_the_tag_hash_and_skip_comments(tmp_path):
    path = tmp_path / "some.map"
    path.write_text("## what this is\n#\t.\n#AFFIX\t \n# ADPRON\nPP DET\nPROPER NOUN\tNOUN\n")
    assert read_map(path) == {"#": ".", "PP": "DET", "PROPER NOUN": "NOUN"}


def test_a_map_to_a_tag_that_does_not_exist_is_refused_with_its_line(tmp_path):
    path = tmp_path / "some.map"
    path.write_text("NN\tNOUN\nVB\tVERBS\n")
    with pytest.raises(FormatError, match=r"some\.map, line 2: expected a tag, a tab and one of NOUN VERB"):
        read_map(path)
    path.write_text("\n")
    with pytest.raises(DataError, match="maps no tag"):
        read_map(path)


@pytest.mark.skipif(not have("lexicons/universal_tagset/en-ptb.map"), reason="no tag maps")
@pytest.mark.parametrize("name", ["en-ptb", "es-cast3lb", "de-tiger", "zh-sinica"])
def test_the_maps_of_the_authors_are_read_whatever_their_line_ends(name):
    found = read_map(find(f"lexicons/universal_tagset/{name}.map"))
    assert len(found) > 40
    assert set(found.values()) <= set(UNIVERSAL_TAGS)
