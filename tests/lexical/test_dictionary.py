"""Tag dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError, FormatError
from weft.lexical.dictionary import TagDictionary
from weft.lexical.universal_tags import UNIVERSAL_TAGS

PAIRS = st.lists(
    st.tuples(st.sampled_from(["a", "A", "b", "B", "c"]), st.sampled_from([*UNIVERSAL_TAGS, "FOREIGN"])), max_size=12
)


@given(PAIRS, PAIRS)
@settings(max_examples=60, deadline=None)
def test_no_word_is_ever_left_without_a_tag_and_a_union_allows_what_either_lists(one, other):
    words = ["a", "A", "b", "B", "c", "unheard", "7", "!"]
    a, b = TagDictionary.from_pairs(one), TagDictionary.from_pairs(other)
    joined = a | b
    for dictionary in (a, b, joined):
        assert dictionary.mask(words).any(axis=1).all()
    for word in words:
        assert set(joined.tags_of(word)) == set(a.tags_of(word)) | set(b.tags_of(word))


def test_words_are_looked_up_as_they_are_then_in_lower_case_then_by_rule():
    dictionary = TagDictionary({"essen": ["VERB"], "Essen": ["NOUN"], "der": ["DET", "PRON"]})
    assert dictionary.tags_of("Essen") == ("NOUN",)
    assert dictionary.tags_of("Der") == ("PRON", "DET")
    assert dictionary.tags_of("1.000,50") == ("NUM",)
    assert dictionary.tags_of("...") == dictionary.tags_of("»") == (".",)
    assert dictionary.tags_of("3D") == ()
    assert TagDictionary({"der": ["DET"]}, rules=False).tags_of("!") == ()


def test_tags_outside_the_tag_set_are_dropped_counted_and_leave_the_word_unknown():
    dictionary = TagDictionary({"uh": ["INTERJECTION"], "hus": ["NOUN", "SUBST"]})
    assert "uh" not in dictionary
    assert dictionary.dropped == {"INTERJECTION": 1, "SUBST": 1}
    assert dictionary.mask(["uh"]).all()


def test_projected_tags_need_a_fifth_of_the_tags_of_their_word():
    words = ["sol"] * 11 + ["hav"]
    tags = ["NOUN"] * 8 + ["VERB"] * 2 + ["", ""]
    dictionary = TagDictionary.from_occurrences(words, tags)
    assert dictionary.tags_of("sol") == ("NOUN", "VERB")
    assert TagDictionary.from_occurrences([*words, "sol"], [*tags, "ADJ"]).tags_of("sol") == ("NOUN",)
    assert dictionary.tags_of("hav") == ()


def test_files_are_read_written_and_refused(tmp_path):
    path = tmp_path / "own.dic"
    path.write_text("hus\tNOUN\nren\tADJ\nstora huset\tNOUN\n\nren\tVERB\n")
    dictionary = TagDictionary.read(path)
    assert dict(dictionary.items()) == {"hus": ("NOUN",), "ren": ("VERB", "ADJ")}
    dictionary.save(tmp_path / "again.dic.gz")
    assert dict(TagDictionary.read(tmp_path / "again.dic.gz").items()) == dict(dictionary.items())
    path.write_text("hus\tN\n")
    assert TagDictionary.read(path, mapping={"N": "NOUN"}).tags_of("hus") == ("NOUN",)
    with pytest.raises(DataError, match=r"lists no word with one of the tags .*; its tags are N"):
        TagDictionary.read(path)
    path.write_text("hus\tNOUN\nren\n")
    with pytest.raises(FormatError, match=r"own\.dic, line 2: expected a word and its tags"):
        TagDictionary.read(path)


def test_unimorph_files_give_the_parts_of_speech_of_forms(tmp_path):
    path = tmp_path / "dan.tsv"
    path.write_text("hus\thuset\tN;DEF;SG\nkøbe\tkøbt\tV.PTCP;PST\nkøbe\tkøbte\tV;PST\n")
    dictionary = TagDictionary.read(path)
    assert dict(dictionary.items()) == {"huset": ("NOUN",), "købt": ("VERB",), "købte": ("VERB",)}


def test_wrong_arguments_are_refused():
    with pytest.raises(ConfigError, match="distinct tags"):
        TagDictionary({}, tags=["A", "A"])
    with pytest.raises(DataError, match="one row per word and one column per tag, 1 by 12"):
        TagDictionary.from_counts(["a"], np.zeros((1, 3)))
    with pytest.raises(ConfigError, match="threshold"):
        TagDictionary.from_counts(["a"], [[1.0]], tags=["A"], threshold=0.0)
    with pytest.raises(ConfigError, match="cannot be joined"):
        TagDictionary({}, tags=["A"]) | TagDictionary({}, tags=["B"])


def test_a_line_may_list_several_tags(tmp_path):
    path = tmp_path / "own.dic"
    path.write_text("den\tDET PRON\nhus\tNOUN\n")
    dictionary = TagDictionary.read(path)
    assert set(dictionary.tags_of("den")) == {"DET", "PRON"}
    assert TagDictionary.tags_in([path]) == ("DET", "NOUN", "PRON")
