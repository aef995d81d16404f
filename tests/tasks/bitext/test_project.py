"""Annotation carried over links: tags, entities, dictionaries and classes of words."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import DataError, WeftError
from weft.tasks.bitext.project import project_clusters, project_column, project_dictionary, project_spans
from weft.text.bitext import Links
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


@pytest.fixture
def source() -> list[Doc]:
    """Two documents of two sentences."""
    first = Doc.from_words([["Anna", "saw", "red", "roses"]], upos=[["PROPN", "VERB", "ADJ", "NOUN"]])
    second = Doc.from_words([["She", "sang"]], upos=[["PRON", "VERB"]])
    first.spans["entities"] = SpanLayer.of(first.strings, [(0, 1, "PER")])
    second.spans["entities"] = SpanLayer(second.strings)
    return [first, second]


@pytest.fixture
def target() -> list[Doc]:
    """One document of the same sentences in another language."""
    return [Doc.from_words([["Anna", "vit", "des", "roses", "rouges"], ["Elle", "chanta"]])]


LINKS = Links.of([[(0, 0), (1, 1, 0.9), (2, 4), (3, 3, 0.8), (2, 3, 0.3)], [(0, 0), (1, 1)]])


def test_tags_cross_documents_and_unlinked_words_get_none(source, target):
    assert project_column(source, target, LINKS) == pytest.approx(6 / 7)
    assert target[0].column("upos") == ["PROPN", "VERB", "", "NOUN", "ADJ", "PRON", "VERB"]
    np.testing.assert_allclose(target[0].confidence["upos"], [1, 0.9, 0, 0.8, 1, 1, 1], rtol=1e-6)


def test_a_source_word_that_is_not_sure_of_its_tag_counts_for_less(source, target):
    source[0].confidence["upos"] = np.array([1, 1, 1, 0.2], dtype=np.float32)
    project_column(source, target, LINKS)
    assert target[0].column("upos")[3] == "ADJ"  # 0.3 x 1 against 0.8 x 0.2
    assert target[0].confidence["upos"][3] == pytest.approx(0.3)


def test_names_become_runs_of_words_with_the_mean_of_their_scores(source, target):
    links = Links.of([[(0, 0, 0.9), (0, 1, 0.7), (1, 2)], [(0, 0)]])
    assert project_spans(source, target, links) == pytest.approx(4 / 7)
    layer = target[0].spans["entities"]
    assert [(row.pieces, row.label) for row in layer] == [(((0, 2),), "PER")]
    assert layer.attributes[0]["probability"] == pytest.approx(0.8)


def test_names_of_two_sentences_never_run_into_each_other():
    source = [Doc.from_words([["Anna"], ["Paul"]])]
    source[0].spans["entities"] = SpanLayer.of(source[0].strings, [(0, 1, "PER"), (1, 2, "PER")])
    target = [Doc.from_words([["Anna"], ["Paul"]])]
    project_spans(source, target, Links.of([[(0, 0)], [(0, 0)]]))
    assert len(target[0].spans["entities"]) == 2


def test_dictionaries_keep_tags_with_a_share_of_the_votes():
    source = [Doc.from_words([["run"], ["run"], ["a"]], upos=[["VERB"], ["NOUN"], ["DET"]])]
    target = [Doc.from_words([["Lauf"], ["lauf"], ["Lauf"]])]
    links = Links.of([[(0, 0)], [(0, 0, 0.5)], [(0, 0, 0.1)]])
    assert dict(project_dictionary(source, target, links).items()) == {"Lauf": ("VERB",), "lauf": ("NOUN",)}
    found = project_dictionary(source, target, links, share=0.3, lower=True)
    assert dict(found.items()) == {"lauf": ("NOUN", "VERB")}
    assert project_dictionary(source, target, links, rename=lambda tag: "X").tags == ("X",)


def test_the_class_of_a_type_is_the_one_with_most_votes(source, target):
    clusters = {"anna": "00", "saw": "01", "sang": "01", "roses": "10"}
    found = project_clusters(source, target, LINKS, clusters)
    assert found.paths() == {"anna": "00", "vit": "01", "roses": "10", "chanta": "01"}
    with pytest.raises(DataError, match="no word of the source"):
        project_clusters(source, target, LINKS, {"zebra": "1"})


def test_what_is_not_there_cannot_be_projected(source, target):
    with pytest.raises(DataError, match="no values in the column 'xpos'"):
        project_column(source, target, LINKS, "xpos")
    with pytest.raises(DataError, match="no layer 'chunks'"):
        project_spans(source, target, LINKS, "chunks")
    with pytest.raises(WeftError, match="links of 1 sentence pairs, but 2 source sentences"):
        project_column(source, target, Links.of([[]]))
