"""Metaphors of three types in text that the English model parses: trained on the example, saved, drawn, refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.pictures import show
from weft.pipeline.pipeline import Pipeline
from weft.tasks.metaphor.detector import MetaphorDetector, MetaphorSettings
from weft.text.doc import Doc

EXAMPLES = Path(__file__).parents[3] / "examples" / "metaphor"


@pytest.fixture(scope="module")
def nlp():
    return weft.load("en")


@pytest.fixture(scope="module")
def detector(nlp):
    found = MetaphorDetector(MetaphorSettings(cutoff=2))
    texts = [path.read_text(encoding="utf-8") for path in sorted((EXAMPLES / "texts").glob("*.txt"))]
    report = found.fit(list(nlp.pipe(texts)))
    assert report["training"]["metaphors"] > 10
    return found


@pytest.fixture(scope="module")
def doc(nlp, detector):
    doc = nlp((EXAMPLES / "new.txt").read_text(encoding="utf-8"))
    detector([doc])
    return doc


def test_three_types_are_found_and_explained_and_literal_sentences_are_not(doc):
    told = [(each.type, each.text, each.target, each.source, each.concept, each.verb) for each in doc.metaphors]
    assert told == [
        (3, "car", "car", "horse", "vehicle", "drink"),
        (1, "beast", "ferrari", "beast", "sport car", ""),
        (3, "insults", "insult", "knife", "word", "sharpen"),
        (3, "plan", "plan", "building", "idea", "collapse"),
        (2, "claws", "hand", "claw", "limb", "wash"),
    ]
    assert [word.form for word in doc.metaphors[1].target_words] == ["Ferrari"]
    assert [word.form for word in doc.metaphors[0].target_words] == ["car"]
    assert all(0.5 <= each.probability < 1 for each in doc.metaphors)
    assert [each["target"] for each in doc.metaphors[-1].alternatives] == ["limb", "arm"]


def test_a_model_comes_back_from_its_file_and_says_the_same(nlp, detector, doc, tmp_path):
    Pipeline([detector]).save(tmp_path / "metaphor.weft")
    again = weft.load("en", tmp_path / "metaphor.weft")(doc.text)
    assert [repr(each) for each in again.metaphors] == [repr(each) for each in doc.metaphors]
    assert "isa" not in Pipeline([detector]).components[0].saved_settings()


def test_explanations_survive_the_formats_that_hold_spans(doc, tmp_path):
    for suffix in ("jsonl", "parquet"):
        weft.write([doc], tmp_path / f"doc.{suffix}")
        (again,) = weft.read(tmp_path / f"doc.{suffix}")
        assert [each.attributes for each in again.metaphors] == [each.attributes for each in doc.metaphors], suffix


def test_pictures_say_what_is_compared_with_what(doc):
    page = show(doc, kinds=["spans"], layers=["metaphor"]).html
    assert page.count("<mark") == 5
    assert "hand ~ claw" in page
    assert "ferrari ~ beast" in page


def test_documents_without_metaphors_get_an_empty_layer_and_those_without_relations_the_first_type(detector):
    doc = Doc.from_words([["It", "rains"]], lemma=[["it", "rain"]], upos=[["PRON", "VERB"]], head=[[2, 0]])
    detector([doc])
    assert doc.metaphors == []
    assert "metaphor" in doc.spans
    words, tags = ["My", "Ferrari", "is", "a", "beast"], ["PRON", "PROPN", "AUX", "DET", "NOUN"]
    lemmas = ["my", "Ferrari", "be", "a", "beast"]
    doc = Doc.from_words([words], lemma=[lemmas], upos=[tags], head=[[2, 5, 5, 5, 0]])
    detector([doc])
    assert [each.type for each in doc.metaphors] == [1]


def test_isa_pairs_of_a_file_are_added_and_a_bad_file_is_refused(nlp, tmp_path):
    docs = list(nlp.pipe(["A Porsche is like a beast."]))
    table = tmp_path / "isa.tsv"
    table.write_text("porsche\tsports car\t4\nferrari\tsports car\t6\n", encoding="utf-8")
    detector = MetaphorDetector(MetaphorSettings(isa=str(table)))
    detector.fit(docs)
    new = nlp("My Ferrari is a beast.")
    detector([new])
    assert [each.concept for each in new.metaphors] == ["sports car"]
    table.write_text("porsche\tsports car\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"isa.tsv, line 1: expected two phrases and a count"):
        detector.fit(docs)
    with pytest.raises(FormatError, match="nowhere"):
        MetaphorDetector(MetaphorSettings(isa=str(tmp_path / "nowhere"))).fit(docs)


def test_wrong_settings_data_and_files_are_refused(detector):
    with pytest.raises(ConfigError, match="cutoff must be at least 1"):
        MetaphorDetector(MetaphorSettings(cutoff=0))
    with pytest.raises(ConfigError, match="contexts must be one of"):
        MetaphorDetector(MetaphorSettings(contexts="both"))
    with pytest.raises(DataError, match="annotate it before"):
        MetaphorDetector().fit([Doc("Life is like a journey.")])
    header, arrays = detector.state()
    arrays["isa/columns"] = arrays["isa/columns"] + 10_000
    with pytest.raises(ModelError, match="damaged"):
        MetaphorDetector.from_state(header, arrays)
