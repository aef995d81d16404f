"""Checks of the sheet of direct-transfer-ner on CoNLL 2002 and 2003 and Universal NER, in sizes that take seconds.

Checks 1 to 3 are in tests/learn/test_self_training.py, 4 in tests/tasks/test_transfer_entities.py, 8 in
tests/text/test_schemes.py and test_label_types.py; 7 is here and in tests/cli/test_train_names.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft.data import have
from weft.lexical.clusters.pivot import pivot_clusters
from weft.recipes.corpora.names import FILES, names, native_clusters, raw_text, sample, words_of
from weft.recipes.framework import RecipeOptions
from weft.recipes.transfer.direct_transfer_ner import experiment as recipe
from weft.recipes.transfer.direct_transfer_ner import setup
from weft.recipes.transfer.direct_transfer_ner.labelled import supervised_rows
from weft.tasks.entities.transfer_curve import score_labels, transfer_curve
from weft.tasks.entities.transfer_data import Languages, TransferData

CODES = ("en", "es", "nl", "pt")
SIZES = setup.Sizes(source=250, text=200, test=150, rounds=2, supervised=250)
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not all(have(path) for code in CODES for path in FILES[code].parts.values()),
        reason="CoNLL 2002 and 2003 or Universal NER are not at hand: set WEFT_DATA (see `weft data list`)",
    ),
]


@pytest.fixture(scope="module")
def material():
    """Four languages, no bitext: clusters are shared over words spelt alike."""
    options = RecipeOptions(progress=False)
    train = {code: names(options, code, "train", limit=1200) for code in CODES}
    texts = {code: list(words_of(doc)) for code, doc in train.items()}
    clusters = pivot_clusters("en", texts, n_classes=64, sweeps=5)
    return setup.Material(train, clusters, {"es": native_clusters(texts["es"], classes=64)})


@pytest.fixture(scope="module")
def test_set():
    return names(RecipeOptions(progress=False), "es", "test", limit=SIZES.test)


def small_data(material, seed, test, labelled=None):
    sources = {code: [sample(material.train[code], SIZES.source, seed)] for code in ("en", "nl", "pt")}
    text = sample(material.train["es"], SIZES.text, 100 + seed, [test])
    own = [] if labelled is None else [labelled]
    languages = Languages(sources, [text], "es", own, material.clusters.paths, material.native["es"])
    return TransferData(setup.settings_of(SIZES), languages)


@pytest.mark.must_show("direct-transfer-ner", 5, weaker="the ends of the order on Spanish, nothing about self-training")
def test_several_sources_and_self_training_with_native_clusters_beat_english_alone_by_four_points(material, test_set):
    """Mean of three samples. MULTI <~ SINGLE+SELF/NATIVE of the paper does not hold where Portuguese is a source of
    Spanish (several sources do far more there); the recipe reports it."""
    scores: dict[str, list[float]] = {}
    for seed in range(3):
        data = small_data(material, seed, test_set)
        for row, counts in recipe.transfer_rows(data, test_set, seed, pairs=False).items():
            scores.setdefault(row, []).append(100 * counts.total().f1)
    mean = {row: float(np.mean(found)) for row, found in scores.items()}
    assert mean["MULTI+SELF/NATIVE"] >= mean["SINGLE"] + 4, mean
    assert mean["SINGLE"] < mean["MULTI"], mean
    assert mean["SINGLE+SELF/NATIVE"] < mean["MULTI+SELF/NATIVE"], mean


@pytest.mark.must_show(
    "direct-transfer-ner", 6, weaker="half a point and a point of slack at a small size; the recorded run has the order"
)
def test_native_and_shared_clusters_together_are_as_good_as_either_and_better_than_none(material, test_set):
    """Mean of two samples. Weaker than the sheet: native and shared clusters differ by less than chance in this size,
    so that a point is allowed between them; the recipe reports the order with intervals."""
    options = RecipeOptions(progress=False)
    texts = {code: raw_text(options, code, 6000) for code in ("en", "es")}
    large = setup.Material(
        material.train, pivot_clusters("en", texts, n_classes=128, sweeps=5), {"es": native_clusters(texts["es"])}
    )
    scores: dict[str, list[float]] = {}
    for seed in (0, 1):
        labelled = sample(material.train["es"], SIZES.supervised, seed, [test_set])
        settings = replace(setup.settings_of(SIZES), learner="crf", iterations=60)
        none = TransferData(settings, Languages({}, [], "es", [labelled]))
        found = supervised_rows(large, SIZES, "es", seed, test_set)
        found["none"] = score_labels(none, none.train([], rounds=0).model, [test_set])
        for kind, counts in found.items():
            scores.setdefault(kind, []).append(100 * counts.total().f1)
    mean = {kind: float(np.mean(own)) for kind, own in scores.items()}
    assert mean["both"] >= mean["native"] - 0.5, mean
    assert mean["native"] >= mean["shared"] - 1.0, mean
    assert mean["both"] > mean["none"] + 1, mean


@pytest.mark.must_show("direct-transfer-ner", 7, weaker="two of five systems; the recorded run has all")
def test_sources_and_labelled_words_beat_labelled_words_alone_and_the_crossing_point_is_told(material, test_set):
    labelled = sample(material.train["es"], 250, 0, [test_set])
    data = small_data(material, 0, test_set, labelled)
    found = transfer_curve(data, [test_set], (500, 6000), systems=("target", "multi"))
    scores = {name: {row.size: row.score for row in rows} for name, rows in found.rows.items()}
    assert sorted(scores["multi"]) == [0, 500, 6000]
    assert all(scores["multi"][size] > scores["target"][size] for size in (500, 6000)), scores
    assert found.best == "multi"
    assert found.crossing is None or 500 <= found.crossing <= 6000
    assert "without labelled words" in str(found)
