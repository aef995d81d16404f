"""The trigram tagger: weights of orders, suffixes, its closed dictionary, model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.trigrams import TrigramSettings, TrigramTagger, deleted_interpolation
from weft.text.doc import Doc

WORDS = [["the", "dogs", "run"], ["a", "run", "ends"], ["dogs", "ran"], ["the", "cats", "walked"], ["they", "talked"]]
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N", "V"], ["P", "V"]]
TRAIN = Doc.from_words(WORDS, upos=TAGS)


def trained() -> TrigramTagger:
    tagger = TrigramTagger()
    tagger.fit([TRAIN])
    return tagger


def test_orders_weigh_what_they_predict_when_left_out() -> None:
    counts = np.zeros((2, 2, 2))
    counts[0, 0, 0], counts[1, 0, 0], counts[0, 1, 0] = 3, 3, 1
    # 0 0 0 and 1 0 0 without one of them: all orders are sure, and ties go to trigrams. 0 1 0 stands alone: only the
    # unigram has seen its last tag elsewhere.
    assert deleted_interpolation(counts) == pytest.approx([1 / 7, 0, 6 / 7])


def test_suffixes_guess_the_tags_of_unknown_words() -> None:
    doc = Doc.from_words([["the", "birds", "balked"]])
    trained()([doc])
    assert doc.column("upos") == ["D", "N", "V"]


@pytest.mark.must_show("flors", 6)
def test_a_known_word_never_has_a_tag_that_it_was_not_seen_with() -> None:
    tagger = trained()
    assert [tagger.tags[i] for i in tagger.candidates("run")[0]] == ["N", "V"]
    assert [tagger.tags[i] for i in tagger.candidates("ends")[0]] == ["V"]
    doc = Doc.from_words([["the", "ends", "run"]])
    tagger([doc])
    assert doc.column("upos")[1] == "V"


def test_a_model_file_gives_the_same_tags(tmp_path: Path) -> None:
    tagger = trained()
    Pipeline([tagger]).save(tmp_path / "hmm.weft")
    again = Pipeline.load(tmp_path / "hmm.weft").components[0]
    assert isinstance(again, TrigramTagger)
    for form in ("run", "birds", "Zed", "9"):
        for one, other in zip(tagger.candidates(form), again.candidates(form), strict=True):
            assert np.array_equal(one, other)


def test_what_cannot_be_learned_from_is_refused() -> None:
    with pytest.raises(DataError, match="no xpos"):
        TrigramTagger(TrigramSettings(column="xpos")).fit([TRAIN])
    with pytest.raises(ConfigError, match="suffix must be at least 1"):
        TrigramTagger(TrigramSettings(suffix=0))
