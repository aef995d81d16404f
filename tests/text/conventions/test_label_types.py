"""Corpora that mark different types of names."""

from __future__ import annotations

import pytest

from weft import data
from weft.errors import ConfigError, DataError
from weft.formats import read
from weft.text import Doc, SpanLayer
from weft.text.conventions.label_types import boundaries_lost, harmonize


def named(spans, n=6):
    doc = Doc.from_words([[f"w{i}" for i in range(n)]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    return doc


CORPORA = {
    "en": [named([(0, 1, "PER"), (1, 3, "LOC"), (4, 5, "MISC")])],
    "de": [named([(0, 1, "LOC"), (1, 2, "LOC"), (3, 4, "PER")])],
}


def labels(docs):
    return [row.label for doc in docs for row in doc.spans["entities"]]


def test_common_types_are_kept_and_others_become_words():
    new, report = harmonize(CORPORA)
    assert report.types == ("LOC", "PER")
    assert labels(new["en"]) == ["PER", "LOC"]
    assert report.dropped == {"en": {"MISC": 1}, "de": {}}
    assert report.kept["de"] == {"LOC": 2, "PER": 1}
    assert report.lost_boundaries == {"en": 0, "de": 1}
    assert labels(CORPORA["en"]) == ["PER", "LOC", "MISC"]  # documents given are left as they are


def test_all_types_are_kept_and_the_missing_ones_are_told():
    new, report = harmonize(CORPORA, types="all")
    assert report.types == ("LOC", "MISC", "PER")
    assert labels(new["en"]) == ["PER", "LOC", "MISC"]
    assert report.missing == {"en": (), "de": ("MISC",)}


def test_types_may_be_named_and_renamed():
    new, report = harmonize(CORPORA, types=["PLACE"], renamed={"LOC": "PLACE"})
    assert report.types == ("PLACE",)
    assert labels(new["de"]) == ["PLACE", "PLACE"]


def test_nothing_in_common_and_unknown_types_and_layers_are_told():
    with pytest.raises(DataError, match="no type of span in common"):
        harmonize({"en": [named([(0, 1, "PER")])], "de": [named([(0, 1, "LOC")])]})
    with pytest.raises(ConfigError, match="type GENE; there are: LOC, MISC, PER"):
        harmonize(CORPORA, types=["GENE"])
    with pytest.raises(DataError, match="'en' has no span layer 'chunks'"):
        harmonize(CORPORA, layer="chunks")


@pytest.mark.must_show("direct-transfer-ner", 8)
@pytest.mark.parametrize(
    ("path", "fields", "lost", "spans"),
    [
        ("ner/conll2003-en/train.txt.gz", "form xpos _ entities", 70, 23_499),
        ("ner/conll2002-es/train.txt.gz", "form xpos entities", 46, 18_798),
        ("ner/conll2002-nl/train.txt.gz", "form xpos entities", 38, 13_344),
        ("ner/germeval2014-de/test.tsv.gz", "id form entities _", 20, None),
    ],
)
def test_corpora_lose_as_many_boundaries_as_they_have_neighbours_of_one_type(path, fields, lost, spans):
    try:
        file = data.find(path)
    except DataError as error:
        pytest.skip(str(error))
    docs = list(read(file, "columns", fields=fields, strict=False))
    assert sum(boundaries_lost(doc) for doc in docs) == lost
    if spans is not None:
        assert sum(len(doc.spans["entities"]) for doc in docs) == spans
