"""Parsers from right to left, parsers of all pairs of words, and labels that restore crossing arcs."""

from __future__ import annotations

import pytest

from weft import Doc, load
from weft.pipeline import Pipeline
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings

#: "a hearing is scheduled today on the issue": `issue` depends on `hearing`, across the root.
CROSSING = Doc.from_words(
    [["a", "hearing", "is", "scheduled", "today", "on", "the", "issue"]] * 4,
    upos=[["DET", "NOUN", "AUX", "VERB", "NOUN", "ADP", "DET", "NOUN"]] * 4,
    head=[[2, 4, 4, 0, 4, 8, 8, 2]] * 4,
    deprel=[["det", "nsubj", "aux", "root", "obl", "case", "det", "nmod"]] * 4,
)


def parsed(parser: Parser) -> tuple[list[int], list[str]]:
    parser.fit([CROSSING])
    new = Doc.from_words([[word.form for word in CROSSING.sentences[0]]], upos=[CROSSING.column("upos")[:8]])
    parser([new])
    return new.head.tolist(), new.column("deprel")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("system", "nonprojective", "crosses"),
    [
        ("covington", "lift", True),
        ("covington-projective", "lift", False),
        ("covington-projective", "encode-path", True),
        ("arc-eager", "encode-path", True),
        ("arc-standard", "encode", True),
    ],
)
def test_crossing_arcs_are_learned_by_systems_and_labels_that_can(system, nonprojective, crosses, reverse):
    heads, labels = parsed(Parser(ParserSettings(system=system, nonprojective=nonprojective, reverse=reverse)))
    gold = CROSSING.head[:8].tolist()
    assert heads == (gold if crosses else [*gold[:-1], 4])
    assert labels == CROSSING.column("deprel")[:8]


def test_a_parser_from_right_to_left_is_saved_and_explained(tmp_path):
    parser = Parser(ParserSettings(reverse=True, nonprojective="encode-path"))
    heads, labels = parsed(parser)
    Pipeline([parser]).save(tmp_path / "reverse.weft")
    again = load(tmp_path / "reverse.weft")
    new = Doc.from_words([[word.form for word in CROSSING.sentences[0]]], upos=[CROSSING.column("upos")[:8]])
    again.annotate([new])
    assert (new.head.tolist(), new.column("deprel")) == (heads, labels)
    assert parser.explain(new, 0).decision.startswith("det of hearing")


def test_dev_scores_count_restored_heads():
    parser = Parser(ParserSettings(nonprojective="encode-path"))
    parser.fit([CROSSING])
    assert parser.scores([CROSSING])["LAS"] == 1.0
