"""Polarities of sentences and documents, and how files keep them."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.formats import read, write
from weft.text.conventions.polarity import document_polarity, rating_of, sentence_polarities, set_polarities
from weft.text.doc import Doc


def review() -> Doc:
    doc = Doc.from_words([["A", "slow", "plot"], ["Superb", "acting"], ["It", "runs", "on"]])
    doc.meta["rating"] = 2
    set_polarities(doc, ["neg", "pos", ""], "neg")
    return doc


@pytest.mark.parametrize("suffix", ["jsonl", "conllu", "parquet"])
def test_polarities_are_kept_by_files(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    options = {"comments": "add"} if suffix == "conllu" else {}
    write([review(), review()], path, **options)
    docs = list(read(path))
    assert len(docs) == 2
    for doc in docs:
        assert sentence_polarities(doc) == ["neg", "pos", ""]
        assert document_polarity(doc) == "neg"


def test_new_polarities_replace_the_old_and_leave_other_comments():
    doc = review()
    doc.comments[0] = ("# sent_id = 1", *doc.comments[0])
    set_polarities(doc, ["pos", "", "neu"])
    assert sentence_polarities(doc) == ["pos", "", "neu"]
    assert doc.comments[0] == ("# sent_id = 1", "# sentiment = pos")
    assert document_polarity(doc) == "neg"  # by its rating


def test_ratings_and_labels_that_mean_nothing_are_refused():
    with pytest.raises(WeftError, match="from 1 to 5"):
        rating_of(Doc("Fine.", meta={"rating": 11}))
    with pytest.raises(WeftError, match="no polarity 'good'"):
        set_polarities(Doc.from_words([["a"]]), ["good"])
    with pytest.raises(WeftError, match="2 polarities for the 1 sentences"):
        set_polarities(Doc.from_words([["a"]]), ["pos", "neg"])
