"""The extractor of timelines: what it learns from generated notes, models, given mentions, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from weft import load
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.formats import read
from weft.infer.orders.intervals import Link
from weft.pipeline import Pipeline
from weft.recipes.extraction.thyme_clinical_time.notes import notes
from weft.tasks.timelines.extractor import TimelineExtractor, TimelineSettings, flat_spans
from weft.tasks.timelines.features import Context, mention_features, pair_features
from weft.tasks.timelines.links import Scored, assemble, candidates, closed, labels_of, sampled
from weft.tasks.timelines.model import FeatureClassifier
from weft.text import Doc, SpanLayer
from weft.text.conventions.timeline import Mention, mentions_of, new_layers, temporal_links

EXAMPLES = Path(__file__).parents[3] / "examples" / "timeline"


@pytest.fixture(scope="module")
def extractor() -> TimelineExtractor:
    found = TimelineExtractor(TimelineSettings(iterations=40))
    found.fit(notes(30, seed=5))
    return found


@pytest.fixture(scope="module")
def held_out() -> list[Doc]:
    return notes(10, seed=6)


def test_events_times_and_the_four_relations_to_the_document_are_learned_from_sections(extractor, held_out):
    scores = extractor.scores(held_out)
    assert scores["EVENT f1"] > 0.95
    assert scores["TIMEX3 f1"] > 0.95
    assert scores["DocTimeRel f1"] > 0.9
    assert scores["CONTAINS f1"] > 0.75
    system = [extractor.bare(doc) for doc in held_out]
    extractor(system)
    values = {mention.get("DocTimeRel") for doc in system for mention in mentions_of(doc) if mention.kind == "EVENT"}
    assert values == {"BEFORE", "BEFORE/OVERLAP", "OVERLAP", "AFTER"}
    modalities = {mention.get("ContextualModality") for doc in system for mention in mentions_of(doc)}
    assert {"HEDGED", "HYPOTHETICAL", "ACTUAL"} <= modalities
    assert {mention.get("Class") for doc in system for mention in mentions_of(doc)} >= {"DATE", "SET"}


def test_spans_that_a_procedure_borders_are_found_classed_and_contain_what_happened_in_them(extractor, held_out):
    there = sum(mention.get("Class") == "PREPOSTEXP" for doc in held_out for mention in mentions_of(doc))
    assert there >= 3
    doc = Doc("HISTORY OF PRESENT ILLNESS:\nShe underwent colectomy and postoperatively had nausea.\n")
    from weft.text.split import split_by_rule

    split_by_rule(doc)
    extractor([doc])
    [time] = [span for span in doc.span_views("timeline") if span.label == "TIMEX3"]
    assert (time.text, time.attributes["Class"]) == ("postoperatively", "PREPOSTEXP")
    assert doc.timeline().holds("postoperatively", "CONTAINS", "nausea")
    assert not doc.timeline().holds("postoperatively", "CONTAINS", "colectomy")


@pytest.mark.must_show(
    "thyme-clinical-time", 7, weaker="generated notes and articles; the corpora are in the recorded run"
)
def test_an_extractor_of_news_loses_more_than_20_points_on_notes_and_one_of_notes_does_not(extractor, held_out):
    news = TimelineExtractor(TimelineSettings(iterations=40))
    news.fit(notes(30, seed=7, register="news"))
    at_home = news.scores(notes(10, seed=8, register="news"))["EVENT f1"]
    moved, trained = (model.scores(held_out)["EVENT f1"] for model in (news, extractor))
    assert at_home - moved > 0.2
    assert trained - moved > 0.5 * (at_home - moved)


def test_predicted_links_never_contradict_each_other(extractor, held_out):
    for doc in held_out:
        system = extractor.bare(doc)
        extractor([system])
        assert system.timeline().consistent


def test_given_events_and_times_are_kept_and_get_what_they_lack(extractor):
    doc = Doc("MEDICATIONS:\nZyxol daily.\n")
    doc.spans["timeline"] = SpanLayer(doc.strings, "chars")
    doc.spans["timeline"].add([(13, 18)], "EVENT", "mine", Polarity="NEG")
    from weft.text.split import split_by_rule

    split_by_rule(doc)
    extractor([doc])
    [span] = doc.span_views("timeline")
    assert (span.text, doc.spans["timeline"].id(0)) == ("Zyxol", "mine")
    assert span.attributes["Polarity"] == "NEG"
    assert span.attributes["DocTimeRel"] == "OVERLAP"


def test_times_of_another_layer_are_used_instead_of_predicted_ones(extractor):
    doc = Doc.from_words([["On", "Whitsun", "she", "had", "fever", "and", "a", "biopsy", "in", "2011", "."]])
    doc.spans["times"] = SpanLayer(doc.strings)
    doc.spans["times"].add([(1, 2)], "DATE", value="2011-06-12")
    extractor([doc])
    times = [span for span in doc.span_views("timeline") if span.label == "TIMEX3"]
    assert [(span.text, span.attributes["value"]) for span in times] == [("Whitsun", "2011-06-12")]
    assert times[0].attributes["Class"] == "DATE"


def test_a_saved_model_predicts_the_same(extractor, held_out, tmp_path):
    Pipeline([extractor]).save(tmp_path / "t.weft")
    again = load(tmp_path / "t.weft")
    one, other = extractor.bare(held_out[0]), extractor.bare(held_out[0])
    extractor([one])
    again.annotate([other])
    assert one.same(other)
    header, arrays = extractor.state()
    assert "fever" not in json.dumps({name: value for name, value in header.items() if name != "spans"})
    for name in ("attribute/DocTimeRel/weights", "links/keys"):
        broken = dict(arrays)
        broken[name] = broken[name][:-1]
        with pytest.raises(ModelError):
            TimelineExtractor.from_state(header, broken)
    with pytest.raises(ModelError):
        TimelineExtractor.from_state({**header, "names": ["Nothing"]}, dict(arrays))
    with pytest.raises(ModelError, match="all of them different"):
        FeatureClassifier.from_state({"labels": ["a", "a"]}, arrays)


def test_an_untrained_extractor_and_unusable_data_are_errors():
    with pytest.raises(WeftError, match="not trained yet"):
        TimelineExtractor()([Doc.from_words([["a"]])])
    with pytest.raises(DataError, match="no span layer 'timeline'"):
        TimelineExtractor().fit([Doc.from_words([["a"]])])
    empty = Doc.from_words([["a"]])
    new_layers(empty)
    with pytest.raises(DataError, match="has no EVENT"):
        TimelineExtractor().fit([empty])
    for wrong in ({"links": "most"}, {"c": 0}, {"negatives": 2.0}, {"window": -1}):
        with pytest.raises(ConfigError):
            TimelineExtractor(TimelineSettings(**wrong))


def event(number: int, start: int, value: str = "", kind: str = "EVENT") -> Mention:
    return Mention(number, kind, start, start + 1, {"DocTimeRel": value} if value else {})


def test_the_surest_links_go_first_and_contradictory_ones_are_given_up():
    mentions = [event(i, i) for i in range(3)]
    proposed = [Scored(Link(*each), 1.0) for each in ((0, "CONTAINS", 1), (1, "CONTAINS", 2), (2, "CONTAINS", 0))]
    assert [each.link[::2] for each in assemble(mentions, proposed)] == [(0, 1), (1, 2)]


def test_links_that_contradict_the_relation_to_the_document_are_given_up_if_anchored():
    mentions = [event(0, 0, "BEFORE"), event(1, 1, "AFTER")]
    proposed = [Scored(Link(0, "CONTAINS", 1), 1.0)]
    assert assemble(mentions, proposed) == []
    assert assemble(mentions, proposed, anchored=False) == proposed
    dated = [Mention(i, "TIMEX3", i, i + 1, {"value": value}) for i, value in enumerate(("2014", "2015"))]
    assert assemble(dated, proposed) == []


def test_long_documents_are_assembled_in_pieces():
    mentions = [event(i, i) for i in range(450)]
    proposed = [Scored(Link(i, "BEFORE", i + 1), 1.0) for i in range(449)]
    kept = {each.link.first for each in assemble(mentions, proposed)}
    assert kept == set(range(449)) - {199, 399}


def test_candidates_are_pairs_in_a_sentence_and_the_one_before():
    doc = Doc.from_words([["a", "b"], ["c"], ["d"]])
    context, mentions = Context.of(doc), [event(i, i) for i in range(4)]
    assert sorted(candidates(context, mentions, 0)) == [(0, 1)]
    assert sorted(candidates(context, mentions, 1)) == [(0, 1), (0, 2), (1, 2), (2, 3)]


def test_labels_have_a_direction_and_inferred_links_can_be_added():
    links = [Link(1, "CONTAINS", 0), Link(0, "CONTAINS", 2)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert labels_of(pairs, links, ("CONTAINS",)) == ["<CONTAINS", ">CONTAINS", "none"]
    assert labels_of(pairs, closed(links, 3, ("CONTAINS",)), ("CONTAINS",))[2] == ">CONTAINS"
    assert labels_of(pairs, links, ("BEFORE",)) == ["none"] * 3
    assert sampled(["none"] * 1000, 0.3, 1) == sampled(["none"] * 1000, 0.3, 1)
    assert 200 < len(sampled(["none"] * 1000, 0.3, 1)) < 400


def test_trees_and_tags_are_used_where_all_documents_have_them():
    doc = Doc.from_words(
        [["She", "was", "given", "aspirin"]], upos=[["PRON", "AUX", "VERB", "NOUN"]], head=[[3, 3, 0, 3]]
    )
    context = Context.of(doc, ("upos", "head"))
    assert context.tense(3, 0, 4) == "past"
    found = mention_features(context, event(0, 3))
    assert "t=NOUN" in found
    assert "head=given" in found
    pair = pair_features(context, event(0, 2), event(1, 3), 0)
    assert any(name.endswith("1 over 2") for name in pair)
    new_layers(doc)[0].add([(3, 4)], "EVENT", DocTimeRel="BEFORE")
    extractor = TimelineExtractor(TimelineSettings(links="none", iterations=5))
    extractor.fit([doc])
    assert extractor.requires == ("tokens", "upos", "head")


def test_spans_that_overlap_or_leave_their_sentence_are_not_labels():
    doc = Doc.from_words([["a", "b"], ["c"]])
    mentions = [Mention(0, "EVENT", 0, 2, {}), Mention(1, "EVENT", 1, 2, {}), Mention(2, "EVENT", 2, 3, {})]
    assert flat_spans(doc, mentions) == [(0, 2, "EVENT"), (2, 3, "EVENT")]
    assert flat_spans(doc, [Mention(0, "EVENT", 1, 3, {})]) == []


def test_a_classifier_of_one_label_and_of_unknown_features():
    single = FeatureClassifier.fit([["a"], ["b"]], ["x", "x"], c=1.0)
    assert single.predict([["c"], []]) == ["x", "x"]
    model = FeatureClassifier.fit([["a"], ["b"], ["a"], ["b"]], ["x", "y", "x", "y"], c=1.0)
    scores = model.scores([["unseen"], ["a"], []])
    assert np.allclose(scores[0], scores[2])
    assert model.predict([]) == []


def test_the_command_line_trains_annotates_scores_and_draws(weft, tmp_path):
    out = weft("train", "timeline", EXAMPLES / "notes.jsonl", "--out", "t.weft", "--iterations", "40")
    assert out.returncode == 0, out.stderr
    assert weft("annotate", EXAMPLES / "surgery.txt", "--model", "t.weft", "--out", "out.anafora.xml").returncode == 0
    assert "surgery" in [span.text for doc in read(tmp_path / "out.anafora.xml") for span in _with_text(doc)]
    scored = weft("evaluate", EXAMPLES / "new.jsonl", "--model", "t.weft", "--layer", "timeline", "--json")
    assert "CONTAINS (closure recall)" in scored.stdout
    drawn = weft("draw", EXAMPLES / "surgery.anafora.xml", "--what", "timeline", "--out", "s.svg")
    assert "1 timeline in" in drawn.stdout
    assert "tachycardia" in (tmp_path / "s.svg").read_text()
    assert weft("draw", EXAMPLES / "new.jsonl", "--what", "timeline", "--out", "s.html").returncode == 0
    several = weft("draw", EXAMPLES / "new.jsonl", "--what", "timeline", "--out", "t.svg")
    assert several.returncode != 0
    assert "6 timelines" in several.stderr


def _with_text(doc: Doc) -> list:
    doc.text = (EXAMPLES / "surgery.txt").read_text()
    return doc.span_views("timeline")


def test_links_of_the_layer_are_those_of_the_relation_layer(held_out):
    for doc in held_out:
        assert len(temporal_links(doc)) == len(doc.relations["timeline"])
