"""The component: training from files, annotation of raw text, explanations, model files, formats and scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft
from weft.errors import ConfigError, DataError, FormatError, WeftError
from weft.evaluate.documents import evaluate_documents
from weft.formats.csv.tables import write_table
from weft.pipeline.pipeline import Pipeline
from weft.tasks.opinions.analyser import OpinionAnalyser, OpinionSettings
from weft.text.conventions.opinions import LAYER, MENTIONS, opinion_rows
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.split import with_words

EXAMPLE = Path(__file__).parents[3] / "examples" / "opinions" / "lamps.opinions.jsonl"


def lamps():
    return list(weft.read(EXAMPLE))


@pytest.fixture(scope="module")
def analyser():
    found = OpinionAnalyser()
    found.fit(lamps())
    return found


def annotated(analyser, text):
    [doc] = with_words([Doc(text)])
    analyser([doc])
    return doc


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The shade is lovely.", [("positive", "shade")]),
        ("The shade is not lovely.", [("negative", "shade")]),
        ("The cord is not ugly.", [("positive", "cord")]),
        ("The shade is lovely, but the cord is not sturdy.", [("positive", "shade"), ("negative", "cord")]),
        ("The base is noisy, but the bulb is superb.", [("negative", "base"), ("positive", "bulb")]),
        ("The stand and the base are ugly.", [("negative", "stand"), ("negative", "base")]),
        ("The switch is round.", []),
        ("It rained.", []),
    ],
)
def test_polarity_goes_to_the_right_aspect_and_is_negated(analyser, text, told):
    assert [(one.label, one.aspect.text) for one in annotated(analyser, text).opinions] == told


def test_a_comparison_names_both_entities_the_direction_and_the_words(analyser):
    [one] = annotated(analyser, "The bulb of the Halo is dimmer than that of the Dawn.").opinions
    assert (one.entity.text, one.label, one.other.text, one.aspect.text) == ("Halo", "worse", "Dawn", "bulb")
    assert one.preferred.text == "Dawn"
    assert one.told.startswith("Halo worse than Dawn by bulb")
    [other] = annotated(analyser, "The bulb of the Halo is brighter than that of the Dawn.").opinions
    assert other.preferred.text == "Halo"


def test_evidence_is_the_clause_that_judges(analyser):
    [one, other] = annotated(analyser, "The shade is lovely, but the cord is ugly.").opinions
    assert "lovely" in one.evidence.text
    assert "ugly" not in one.evidence.text
    assert "ugly" in other.evidence.text


def test_an_explanation_adds_up_and_names_the_evidence(analyser):
    doc = annotated(analyser, "The shade is lovely, but the cord is ugly.")
    found = analyser.explain(doc, 1)
    assert found.decision.startswith("positive(it, shade) by ")
    assert found.margin == pytest.approx(sum(reason.weight - reason.runner_up for reason in found.reasons))
    assert any(reason.value == "lovely" for reason in found.reasons)
    assert analyser.explain(annotated(analyser, "It rained."), 0).decision == "no opinion"


@pytest.mark.parametrize("learning", ["latent", "plain", "separate"])
def test_a_saved_model_predicts_the_same(tmp_path, learning):
    analyser = OpinionAnalyser(OpinionSettings(learning=learning, passes=2))
    analyser.fit(lamps())
    Pipeline([analyser]).save(tmp_path / "m.weft")
    again = weft.load(tmp_path / "m.weft")
    texts = ["The shade is lovely, but the cord is ugly.", "The bulb of the Halo is dimmer than that of the Dawn."]
    for text in texts:
        assert opinion_rows(again(text)) == opinion_rows(annotated(analyser, text))


def test_dev_data_choose_the_pass_and_are_scored():
    report = OpinionAnalyser(OpinionSettings(passes=3)).fit(lamps()[:40], lamps()[40:])
    assert 0.5 < report["scores"]["dev F"] <= 1


def test_files_keep_opinions(tmp_path, analyser):
    docs = [annotated(analyser, "The shade is lovely, but the cord is ugly.")]
    for suffix in ("opinions.jsonl", "jsonl"):
        weft.write(docs, tmp_path / f"out.{suffix}")
        [again] = weft.read(tmp_path / f"out.{suffix}")
        assert [row.label for row in opinion_rows(again)] == ["positive", "negative"]
        assert [one.aspect.text for one in again.opinions] == ["shade", "cord"]
        assert [one.evidence.text for one in again.opinions] == [one.evidence.text for one in docs[0].opinions]


def test_gold_opinions_survive_a_round_trip(tmp_path):
    weft.write(lamps(), tmp_path / "again.opinions.jsonl")
    one, other = ([json.loads(line) for line in path.read_text().splitlines()]
                  for path in (EXAMPLE, tmp_path / "again.opinions.jsonl"))  # fmt: skip
    assert one == other


def test_a_table_has_a_row_per_opinion(tmp_path, analyser):
    doc = annotated(analyser, "The bulb of the Halo is dimmer than that of the Dawn.")
    write_table([doc], str(tmp_path / "o.csv"), "opinions")
    head, row = (tmp_path / "o.csv").read_text().splitlines()
    assert head == "document,sentence,start,end,text,label,entity,aspect,other,score"
    assert ",worse,Halo,bulb,Dawn," in row


def test_scores_count_labels_and_mentions_whatever_the_order_of_a_comparison(analyser):
    gold, system = lamps(), lamps()
    outcome = evaluate_documents(gold, system, "opinions")
    assert outcome.counts["opinions"].total().f1 == 1
    for doc in system:
        layer = SpanLayer(doc.strings, "chars")
        for number, (span, row) in enumerate(zip(doc.spans[LAYER], opinion_rows(doc), strict=True)):
            given = dict(doc.spans[LAYER].attributes[number])
            label = span.label
            if row.other >= 0:
                given["entity"], given["other"] = given["other"], given["entity"]
                label = {"better": "worse", "worse": "better"}[label]
            layer.add(span.pieces, label, **given)
        doc.spans[LAYER] = layer
    assert evaluate_documents(gold, system, "opinions").counts["opinions"].total().f1 == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "It jams", "mentions": [[0, 9, "aspect"]]}', "inside the text"),
        ('{"text": "It jams", "mentions": [[0, 2, "thing"]]}', "entity or aspect"),
        ('{"text": "It jams", "mentions": [], "opinions": [{"label": "bad"}]}', "positive, negative, better, worse"),
        ('{"text": "It jams", "mentions": [], "opinions": [{"label": "negative", "aspect": 3}]}', "mentions from 0"),
        ('{"text": "It", "mentions": [[0, 2, "entity"]], "opinions": [{"label": "better", "entity": 0}]}', "need two"),
        ("nonsense", "JSON"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, said):
    path = tmp_path / "bad.opinions.jsonl"
    path.write_text('{"text": "Fine"}\n' + line + "\n")
    with pytest.raises(FormatError, match=said) as error:
        list(weft.read(path))
    assert "line 2" in str(error.value) or ":2" in str(error.value)


def test_nothing_to_learn_from_is_said():
    doc = Doc.from_words([["The", "lens", "jams"]])
    with pytest.raises(DataError, match="no span layer 'mentions'"):
        OpinionAnalyser().fit([doc])
    doc.spans[MENTIONS] = SpanLayer.of(doc.strings, [(1, 2, "aspect")])
    with pytest.raises(DataError, match="no sentence has an opinion"):
        OpinionAnalyser().fit([doc])
    with pytest.raises(WeftError, match="not trained"):
        OpinionAnalyser()([doc])
    with pytest.raises(ConfigError, match="no features smells"):
        OpinionSettings(without="smells").check()
