import pytest

from weft.errors import ConfigError, DataError
from weft.lexical.dictionary import TagDictionary
from weft.lexical.dictionary_growth import grow_dictionary, marks_of

TEXT = [
    ["the", "dog", "barked", "loudly"],
    ["the", "cat", "walked", "slowly"],
    ["a", "bird", "talked", "sadly"],
    ["a", "cow", "mooed", "gladly"],
    ["the", "zebra", "jumped", "loudly"],
]
KNOWN = TagDictionary(
    {"the": ["DET"], "a": ["DET"], "dog": ["NOUN"], "cat": ["NOUN"], "walked": ["VERB"], "loudly": ["ADV"]}, rules=False
)


def test_unknown_words_take_the_tags_of_words_that_look_and_stand_like_them():
    grown = grow_dictionary(TEXT, KNOWN)
    assert grown.tags_of("zebra") == grown.tags_of("cow") == ("NOUN",)
    assert grown.tags_of("jumped") == ("VERB",)
    assert grown.tags_of("sadly") == ("ADV",)


def test_known_words_keep_their_tags():
    grown = grow_dictionary(TEXT, KNOWN)
    assert all(grown.tags_of(word) == tags for word, tags in KNOWN.items())


def test_a_smaller_share_gives_more_tags():
    narrow, wide = (grow_dictionary(TEXT, KNOWN, share=share) for share in (1.0, 0.02))
    assert sum(len(tags) for _, tags in wide.items()) > sum(len(tags) for _, tags in narrow.items())


def test_words_that_nothing_joins_to_the_dictionary_stay_unknown():
    grown = grow_dictionary([*TEXT, ["§", "¤"]], KNOWN)
    assert grown.tags_of("jumped")
    assert grown.mask(["¤"]).sum() >= 1


def test_a_dictionary_of_another_language_is_refused():
    with pytest.raises(DataError, match="no word in the text is in the dictionary"):
        grow_dictionary(TEXT, TagDictionary({}, rules=False))
    with pytest.raises(ConfigError, match="share must be above 0"):
        grow_dictionary(TEXT, KNOWN, share=0.0)


def test_marks_are_affixes_and_shape():
    assert set(marks_of("B-52s")) >= {"<B", "52s>", "X-0x"}
