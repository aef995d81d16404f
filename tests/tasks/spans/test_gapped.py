"""The finder of segments as a component: trained, saved, used from the command line, told what is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

import weft as package
from weft.errors import ConfigError, DataError, TemplateError, WeftError
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import train
from weft.tasks.spans.gapped import GappedSpanFinder, GappedSpanSettings, above, sentence_segments, with_gaps
from weft.text import Doc, SpanLayer


@pytest.fixture
def ellipsis(examples):
    return examples / "ellipsis"


def found(pipeline, path):
    (doc,) = package.read(path, format="brat")
    bare = Doc(doc.text)
    pipeline(bare)
    return bare, sentence_segments(bare, "entities")


def gold(doc_path):
    from weft.text.split import split_by_rule

    (doc,) = package.read(doc_path, format="brat")
    split_by_rule(doc)
    return sentence_segments(doc, "entities")


def test_segments_with_gaps_are_learned_from_brat_and_saved(ellipsis, tmp_path):
    model = tmp_path / "segments.weft"
    report = train("spans", package.read(ellipsis / "train.ann"), package.read(ellipsis / "more.ann"), model, {})
    assert report["training"]["types"] == 2
    assert report["training"]["beyond_restrictions"] == 0
    assert report["scores"]["dev"] > 0.9
    doc, segments = found(package.load(model), ellipsis / "more.ann")
    wanted = gold(ellipsis / "more.ann")
    assert sum(map(len, with_gaps(wanted))) > 3
    right = sum(len(set(a) & set(b)) for a, b in zip(wanted, segments, strict=True))
    assert right >= 0.9 * sum(map(len, wanted))
    assert all("score" in doc.spans["entities"].attributes[i] for i in range(len(doc.spans["entities"])))


def test_a_saved_finder_finds_the_same(ellipsis, tmp_path):
    finder = GappedSpanFinder(GappedSpanSettings(epochs=3, restrictions="no-embedding"))
    finder.fit(package.read(ellipsis / "train.ann"))
    Pipeline([finder]).save(tmp_path / "a.weft")
    again = package.load(tmp_path / "a.weft").components[0]
    docs = [Doc.from_words([["Anna", "and", "Paul", "Berg", "left", "."]])]
    one, other = finder.ranked(docs), again.ranked(docs)
    assert above(one, -9.0) == above(other, -9.0)
    np.testing.assert_allclose([f.score for f in one[0]], [f.score for f in other[0]], atol=1e-4)
    assert again.restrictions == finder.restrictions


@pytest.mark.parametrize(
    "options",
    [
        {"form": "pairwise", "tune": "false"},
        {"learner": "perceptron"},
        {"cap": 0.05},
        {"k": 4},
        {"hash_bits": 12},
        {"min_count": 2, "precision": "int8"},
        {"restrictions": "no-overlap", "gap": 0},
    ],
)
def test_every_setting_trains(ellipsis, options):
    finder = GappedSpanFinder.from_options({"epochs": 3, **options})
    report = finder.fit(package.read(ellipsis / "train.ann"), package.read(ellipsis / "more.ann"))
    assert 0.2 < report["scores"]["dev"] <= 1.0


def test_contiguous_finders_say_what_they_cannot_learn(ellipsis):
    finder = GappedSpanFinder(GappedSpanSettings(restrictions="contiguous no-overlap", epochs=2))
    report = finder.fit(package.read(ellipsis / "train.ann"))
    assert report["training"]["beyond_restrictions"] > 10
    docs = [Doc.from_words([["Anna", "and", "Paul", "Berg", "left", "."]])]
    finder(docs)
    assert docs[0].spans["entities"].is_flat()


def test_the_command_line_trains_and_annotates(weft, ellipsis, tmp_path):
    done = weft("train", "spans", ellipsis / "train.ann", "--out", "m.weft", "--epochs", "3", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["training"]["segments"] > 100
    (tmp_path / "new.txt").write_text("Nora and Hugo Berg sang early.\n")
    done = weft("annotate", "new.txt", "--model", "m.weft", "--out", "new.jsonl")
    assert done.returncode == 0, done.stderr
    (doc,) = package.read(tmp_path / "new.jsonl")
    assert {row.pieces for row in doc.spans["entities"]} == {((0, 1), (3, 4)), ((2, 4),)}


def test_bad_settings_and_data_are_told():
    doc = Doc.from_words([["a", "b"]])
    with pytest.raises(DataError, match="no span layer 'entities'"):
        GappedSpanFinder().fit([doc])
    doc.spans["entities"] = SpanLayer(doc.strings)
    with pytest.raises(DataError, match="no spans in the layer"):
        GappedSpanFinder().fit([doc])
    with pytest.raises(DataError, match="nothing to train on"):
        GappedSpanFinder().fit([])
    with pytest.raises(WeftError, match="not trained yet"):
        GappedSpanFinder()([doc])
    for wrong in ({"learner": "crf"}, {"form": "both"}, {"gap": -1}, {"epochs": 0}, {"restrictions": "flat"}):
        with pytest.raises(ConfigError):
            GappedSpanFinder.from_options(wrong)
    doc.spans["entities"].add([(0, 1)], "X")
    for templates in ("w[0] y[-1]", "edge: w[0]", "w[0]\npair: w{-1..1}"):
        with pytest.raises(TemplateError):
            GappedSpanFinder(GappedSpanSettings(templates=templates, fields={"w": "form"})).fit([doc])


def test_spans_beyond_their_sentence_are_left_out():
    doc = Doc.from_words([["a", "b"], ["c"]])
    doc.spans["x"] = SpanLayer.of(doc.strings, [(1, 3, "X"), (2, 3, "X")])
    assert sentence_segments(doc, "x") == [[], [(((0, 1),), "X")]]


def test_a_long_document_is_annotated_in_pieces(monkeypatch):
    doc, other = (Doc.from_words([["Jim", "and", "Ann", "Lee", "slept"], ["Bob", "sang"]] * 6) for _ in range(2))
    train = Doc.from_words([["Tom", "and", "Ann", "Lee", "left"], ["Bob", "and", "Ann", "Lee", "sang"]])
    train.spans["entities"] = SpanLayer(train.strings)
    for start in (0, 5):
        train.spans["entities"].add([(start, start + 1), (start + 3, start + 4)], "PER")
    finder = GappedSpanFinder()
    finder.fit([train])
    finder([doc])
    monkeypatch.setattr("weft.tasks.spans.gapped_data.PIECE", 8)
    finder([other])
    assert len(doc.spans["entities"]) > 0
    assert doc.same(other)
