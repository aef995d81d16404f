"""Documents for the eye."""

from __future__ import annotations

from weft.cli.apply.show import lines
from weft.text import Doc, SpanLayer


def shown(doc: Doc) -> list[str]:
    return [line.plain for line in lines(doc)]


def test_spans_stand_above_the_tree_of_their_sentence_and_empty_layers_are_left_out() -> None:
    doc = Doc.from_words(
        [["Ada", "sleeps"], ["Go", "on"]], head=[[2, 0], [0, 1]], deprel=[["nsubj", "root"], ["root", "dep"]]
    )
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    doc.spans["mwe"] = SpanLayer.of(doc.strings, [(2, 4, "strong")])
    assert shown(doc) == [
        "entities: [PER Ada] sleeps", "sleeps root", "└─ Ada nsubj",
        "expressions: [fixed Go on]", "Go root", "└─ on dep",
    ]  # fmt: skip


def test_sentences_without_spans_show_their_tags() -> None:
    doc = Doc.from_words([["Ada", "sleeps"]], upos=[["PROPN", "VERB"]])
    doc.spans["entities"] = doc.spans["mwe"] = SpanLayer(doc.strings)
    assert shown(doc) == ["Ada/PROPN sleeps/VERB"]
    del doc.spans["mwe"]
    assert shown(doc) == ["Ada/PROPN sleeps/VERB"]


def test_relations_stand_below_the_spans_of_their_sentence() -> None:
    from weft.text.conventions.tuples import TupleRow, set_tuples

    doc = Doc.from_words([["It", "rained"], ["Ada", "edits", "for", "Quill"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(2, 3, "PER"), (5, 6, "ORG")])
    set_tuples(doc, [TupleRow("works for", (("Arg1", 0), ("Arg2", 1)))])
    assert shown(doc) == [
        "It rained", "entities: [PER Ada] edits for [ORG Quill]", "relation: Ada — works for — Quill",
    ]  # fmt: skip
