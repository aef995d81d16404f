"""Chains of mentions in pictures: one number and colour per entity."""

from __future__ import annotations

import re

from weft.pictures import DocPictures, show, span_layers
from weft.text.conventions.coreference import set_entities
from weft.text.doc import Doc


def story() -> Doc:
    doc = Doc.from_words([["Ada", "saw", "Bo", "."], ["She", "waved", "to", "him", "."]])
    set_entities(doc, [(0, 1), (2, 3), (4, 5), (7, 8), (6, 7)], [0, 1, 0, 1, 2])
    return doc


def test_mentions_are_labelled_by_their_entities_and_single_ones_left_out():
    rows = sorted((row.pieces, row.label) for row in span_layers(story())["coref"])
    assert rows == [(((0, 1),), "1"), (((2, 3),), "2"), (((4, 5),), "1"), (((7, 8),), "2")]


def test_mentions_of_one_entity_share_a_colour_in_all_sentences():
    page = show(story()).html
    colours = dict.fromkeys(re.findall(r'<mark class="(h\d+)"[^>]*><span[^>]*>(\w+)<', page))
    of = {word: colour for colour, word in colours}
    assert of["Ada"] == of["She"] != of["Bo"] == of["him"]


def test_entities_in_misc_are_drawn_too():
    doc = Doc.from_words([["Ada", "saw", "her", "hat"]], misc=[["Entity=(e1)", "", "Entity=(e1)", ""]])
    assert len(DocPictures(doc).svgs(doc.sentences[0])) == 1
