from __future__ import annotations

import pytest

from weft.errors import ConfigError
from weft.evaluate.labels.confusion import confusion
from weft.text import Doc, SpanLayer


def test_words_are_matched_by_their_characters_whatever_the_tokens_and_documents() -> None:
    gold = [
        Doc.from_words([["can", "not", "go"]], upos=[["AUX", "PART", "VERB"]]),
        Doc.from_words([["a"]], upos=[["X"]]),
    ]
    system = [Doc.from_words([["cannot", "go", "a"]], upos=[["AUX", "NOUN", "X"]])]
    pairs = {("AUX", ""): 1, ("PART", ""): 1, ("", "AUX"): 1, ("VERB", "NOUN"): 1, ("X", "X"): 1}
    assert confusion(gold, system, "upos") == pairs


def test_spans_are_matched_by_their_characters() -> None:
    gold, system = (Doc.from_words([["Ada", "of", "Oslo", "met", "Bob"]]) for _ in range(2))
    gold.spans["entities"] = SpanLayer.of(gold.strings, [(0, 1, "PER"), (2, 3, "LOC"), (4, 5, "PER")])
    system.spans["entities"] = SpanLayer.of(system.strings, [(0, 1, "PER"), (2, 3, "ORG"), (3, 5, "PER")])
    pairs = {("PER", "PER"): 1, ("LOC", "ORG"): 1, ("PER", ""): 1, ("", "PER"): 1}
    assert confusion([gold], [system], "entities") == pairs


def test_a_layer_that_is_not_there_is_told() -> None:
    with pytest.raises(ConfigError, match="no layer 'upos'"):
        confusion([Doc.from_words([["a"]])], [Doc.from_words([["a"]])], "upos")
