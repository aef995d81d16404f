"""The parser of transcripts as a component."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft
from weft.errors import ConfigError, DataError, WeftError
from weft.infer.trees.projectivity import is_tree
from weft.pipeline.pipeline import Pipeline
from weft.tasks.speech.parser import DisfluencyParser, DisfluencySettings
from weft.text import Doc
from weft.text.conventions.repairs import fluent_text


@pytest.fixture(scope="module")
def trained(examples: Path) -> DisfluencyParser:
    parser = DisfluencyParser(DisfluencySettings(beam=4, epochs=8))
    parser.fit(weft.read(examples / "speech.conllu"))
    return parser


def said(text: str, tags: str) -> Doc:
    return Doc.from_words([text.split()], upos=[tags.split()])


def test_repairs_are_struck_out_and_the_rest_is_a_tree(trained):
    doc = said("she saw the the old boat", "PRON VERB DET DET ADJ NOUN")
    trained([doc])
    assert fluent_text(doc) == "she saw the old boat"
    assert is_tree(doc.head)
    assert (doc.head == 0).sum() == 1
    assert [repr(span) for span in doc.span_views("disfluencies")] == ["Span('the', 'reparandum')"]


def test_a_saved_parser_answers_the_same(trained, tmp_path):
    Pipeline([trained]).save(tmp_path / "speech.weft")
    doc, again = (said("we found the um the red lamp", "PRON VERB DET INTJ DET ADJ NOUN") for _ in range(2))
    trained([doc])
    weft.load(tmp_path / "speech.weft").components[0]([again])
    assert doc.head.tolist() == again.head.tolist()
    assert doc.column("deprel") == again.column("deprel")


@pytest.mark.parametrize("text", ["", "uh", "boat", "uh um", ". . ."])
def test_odd_sentences_have_defined_trees(trained, text):
    doc = Doc.from_words([text.split()], upos=[["X"] * len(text.split())])
    trained([doc])
    if text:
        assert is_tree(doc.head)


def test_long_utterances_and_words_said_a_thousand_times_end(trained):
    doc = Doc.from_words([["the"] * 1000 + ["boat"]], upos=[["DET"] * 1000 + ["NOUN"]])
    trained([doc])
    assert is_tree(doc.head)


def test_greedy_parsing_works_too(examples):
    parser = DisfluencyParser(DisfluencySettings(beam=1, epochs=3))
    parser.fit(weft.read(examples / "speech.conllu"))
    doc = said("they left the the pier", "PRON VERB DET DET NOUN")
    parser([doc])
    assert is_tree(doc.head)


def test_plain_arc_eager_strikes_out_what_hangs_below_a_reparandum(examples, tmp_path):
    parser = DisfluencyParser(DisfluencySettings(system="arc-eager", beam=4, epochs=8))
    report = parser.fit(weft.read(examples / "speech.conllu"))
    assert report["training"]["struck out"] > 30
    doc = said("she saw the the old boat", "PRON VERB DET DET ADJ NOUN")
    parser([doc])
    assert fluent_text(doc) == "she saw the old boat"
    assert parser.scores(list(weft.read(examples / "speech-unseen.conllu")))["F"] > 0.5


def test_clusters_are_looked_at_and_kept_in_the_model(examples, tmp_path):
    paths = tmp_path / "paths"
    paths.write_text("0011\tboat\t3\n0011\tferry\t3\n1100\tsaw\t2\n", encoding="utf-8")
    parser = DisfluencyParser(DisfluencySettings(beam=2, epochs=1, clusters=str(paths)))
    parser.fit(weft.read(examples / "speech.conllu"))
    assert parser.prepare(said("the boat", "DET NOUN")).doc.column("cluster") == ["", "0011"]
    header, arrays = parser.state()
    assert DisfluencyParser.from_state(header, arrays).clusters.of("ferry") == "0011"


def test_training_on_held_out_data_keeps_the_best_epoch(examples):
    docs = list(weft.read(examples / "speech.conllu"))
    report = DisfluencyParser(DisfluencySettings(beam=2, epochs=2)).fit(docs, docs)
    assert report["training"]["best_epoch"] in (1, 2)
    assert {"dev P", "dev R", "dev F", "dev UAS", "dev LAS"} == set(report["scores"])
    assert report["training"]["struck out"] > 30


def test_what_makes_no_sense_is_refused(trained):
    with pytest.raises(ConfigError, match="update"):
        DisfluencyParser(DisfluencySettings(update="late"))
    with pytest.raises(ConfigError, match="system"):
        DisfluencyParser(DisfluencySettings(system="arc-standard"))
    with pytest.raises(ConfigError, match="beam"):
        DisfluencyParser(DisfluencySettings(beam=0))
    with pytest.raises(ConfigError, match="markers"):
        DisfluencyParser(DisfluencySettings(markers="well"))
    with pytest.raises(DataError, match="no heads"):
        DisfluencyParser().fit([Doc.from_words([["so"]])])
    broken = Doc.from_words([["a", "b"]], head=[[2, 1]], deprel=[["x", "y"]])
    with pytest.raises(DataError, match="none of the 1"):
        DisfluencyParser().fit([broken])
    with pytest.raises(WeftError, match="not trained"):
        DisfluencyParser()([Doc.from_words([["so"]])])


def test_crossing_arcs_are_lifted_among_the_words_that_stay():
    heads = [[3, 4, 0, 3, 3]]
    doc = Doc.from_words([["a", "b", "c", "d", "e"]] * 2, upos=[["X"] * 5] * 2, head=heads * 2,
                       deprel=[["reparandum", "x", "root", "x", "x"]] * 2)  # fmt: skip
    report = DisfluencyParser(DisfluencySettings(beam=2, epochs=1)).fit([doc])
    assert report["training"]["non-projective trees"] == 2
    assert np.isclose(report["training"]["struck out"], 2)
