"""The configuration of a parser, chosen on held-out trees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import new_component
from weft.tasks.parsing.mst.configure import configure, split
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.text import Doc

#: Templates without prefixes and without lemmas beside words.
TEMPLATES = "arc: h.w|m.t h.t|m.w h.w|m.w h.t|m.t sibling: h.t|s.t|m.t"
OPEN = {
    "system": "mst2", "shape": "auto", "words": "auto", "epochs": 3, "bits": 16, "threshold": 0.0,
    "templates": TEMPLATES,
}  # fmt: skip


def crossing_doc(sentences: int = 60) -> Doc:
    """Sentences of four words, in half of which two arcs cross: only the first lemma tells; no form comes twice."""
    rng = np.random.default_rng(1)
    forms, lemmas, heads = [], [], []
    for i in range(sentences):
        crosses = bool(rng.integers(2))
        forms.append([f"{letter}{i}" for letter in "abcd"])
        lemmas.append(["cross" if crosses else "plain", "b", "c", "d"])
        heads.append([3, 4, 0, 3] if crosses else [3, 1, 0, 3])
    tags = [["X", "Y", "Z", "V"]] * sentences
    return Doc.from_words(
        forms, upos=tags, lemma=lemmas, head=heads, deprel=[["dep", "dep", "root", "dep"]] * sentences
    )


def test_trees_that_cross_and_lemmas_that_tell_are_found_out():
    doc = crossing_doc()
    chosen, trials = configure([doc], MSTSettings.from_options(OPEN))
    scores = {trial.name: trial.uas for trial in trials}
    assert (chosen.shape, chosen.words) == ("nonprojective", "lemma")
    assert scores["nonprojective, lemma"] == 1
    assert scores["projective, lemma"] < 1
    assert scores["nonprojective, form"] < 1


def test_only_what_is_left_open_is_tried():
    doc = crossing_doc(20)
    _, trials = configure([doc], MSTSettings.from_options({**OPEN, "words": "form"}))
    assert [trial.name for trial in trials] == ["projective, form", "nonprojective, form"]
    assert all(trial.settings.epochs == 3 and trial.settings.relations == "sequence" for trial in trials)


def test_a_parser_with_open_settings_learns_with_those_it_chose_and_keeps_them(tmp_path: Path):
    doc = crossing_doc()
    parser = new_component("parser", OPEN)
    report = parser.fit([doc])["training"]
    assert report["chosen"] == "nonprojective, lemma"
    assert set(report["tried"]) == {f"{a}, {b}" for a in ("projective", "nonprojective") for b in ("form", "lemma")}
    named = MSTParser(MSTSettings.from_options({**OPEN, "shape": "nonprojective", "words": "lemma"}))
    named.fit([doc])
    assert isinstance(parser, MSTParser)
    assert (parser.weights == named.weights).all()
    Pipeline([parser], {"name": "auto"}).save(tmp_path / "auto.weft")
    loaded = Pipeline.load(tmp_path / "auto.weft").components[0]
    assert isinstance(loaded, MSTParser)
    assert (loaded.settings.shape, loaded.settings.words) == ("nonprojective", "lemma")
    assert loaded.scores([doc]) == parser.scores([doc])
    assert loaded.scores([doc])["UAS"] == 1


def test_every_tenth_sentence_of_the_first_ones_is_held_out_across_documents():
    docs = [Doc.from_words([[f"{d}.{i}"] for i in range(7)], head=[[0]] * 7) for d in range(5)]
    learned, held_out = split(docs, most=25)
    assert [form for doc in held_out for form in doc.column("form")] == ["1.2", "2.5"]
    assert sum(doc.n_sentences for doc in learned) == 23
    with pytest.raises(DataError, match="too few"):
        split(docs[:1])


def test_third_order_and_likelihood_leave_no_choice_of_shape():
    with pytest.raises(ConfigError, match="mst3"):
        MSTSettings.from_options({"system": "mst3", "shape": "auto"})
    with pytest.raises(ConfigError, match="no probabilities"):
        MSTSettings.from_options({"system": "mst2", "shape": "auto", "learner": "crf"})


def test_a_parser_without_relations_can_be_asked_for_in_words():
    assert MSTSettings.from_options({"relations": "none"}).relations == "none"
