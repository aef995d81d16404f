"""What annotators would say: features of texts, the component, its files, and the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from weft import load, train
from weft.errors import ConfigError, DataError, FormatError
from weft.formats.csv.named import read_labels
from weft.tasks.quality import QualityPredictor, QualitySettings, TextFeatures
from weft.tasks.quality.features import FEATURES, SURFACE, surface
from weft.text.doc import Doc

EXAMPLE = Path(__file__).parents[3] / "examples" / "quality"
COLUMNS = ["--annotator", "rater", "--label", "minutes", "--source", "text", "--target", "translation", "--logarithms"]


def rows(count: int = 40, seed: int = 0, **more: str) -> list[Doc]:
    """Labels of three annotators who agree, and of one who says the opposite."""
    rng = np.random.default_rng(seed)
    docs = []
    for k in range(count):
        x = float(rng.normal())
        for name, sign in (("Ann", 1), ("Bo", 1), ("Cy", 1), ("Di", -1)):
            score = sign * np.sin(1.5 * x) + 0.1 * rng.normal()
            docs.append(Doc(meta={"who": name, "x": str(x), "noise": str(rng.normal()), "item": f"i{k}",
                                  "score": str(score), **more}))  # fmt: skip
    return docs


@pytest.fixture(scope="module")
def fitted() -> tuple[QualityPredictor, dict]:
    predictor = QualityPredictor(QualitySettings(annotator="who", iterations=30))
    return predictor, predictor.fit(rows(), rows(10, 1))


def test_the_annotator_unlike_the_others_is_told_and_predicted_apart(fitted) -> None:
    predictor, report = fitted
    assert [each["name"] for each in report["annotators"] if each["outlier"]] == ["Di"]
    agree = {each["name"]: each["agreement"] for each in report["annotators"]}
    assert agree["Ann"] > agree["Di"]
    docs = [Doc(meta={"who": name, "x": "1.0", "noise": "0"}) for name in ("Ann", "Di", "Eve")]
    predictor(docs)
    ann, di, eve = (doc.meta["quality"] for doc in docs)
    assert ann["expected"] > 0.8
    assert di["expected"] < -0.5
    assert eve["high"] - eve["low"] > ann["high"] - ann["low"]
    assert ann["annotators"]["Di"][0] == di["expected"]
    assert ann["mean"] == pytest.approx(np.mean([each[0] for each in ann["annotators"].values()]), abs=1e-3)


def test_held_out_labels_are_scored_beside_annotators_means(fitted) -> None:
    scores = fitted[1]["scores"]
    assert scores["MAE"] < 0.15 < 0.4 < scores["MAE of annotators' means"]
    assert 0.8 <= scores["inside 95 % intervals"] <= 1


def test_the_feature_that_matters_has_the_shortest_length_scale(fitted) -> None:
    assert next(iter(fitted[1]["length-scales"])) == "x"
    assert fitted[1]["length-scales"]["noise"] > 3 * fitted[1]["length-scales"]["x"]


def test_a_model_file_predicts_the_same(fitted) -> None:
    predictor = fitted[0]
    again = QualityPredictor.from_state(*predictor.state())
    new = rows(3, 5)
    one, other = predictor.predict(new), again.predict(new)
    np.testing.assert_allclose(one.mean, other.mean)
    np.testing.assert_allclose(one.variance, other.variance)


@pytest.mark.must_show("annotator-gaussian-processes", 2)
def test_an_unknown_annotator_is_a_new_draw(fitted) -> None:
    predictor = fitted[0]
    new = rows(3, 5)
    one, other = predictor.predict(new, "nobody"), predictor.predict(new, "Ann")
    assert (one.variance > other.variance).all()
    assert np.abs(one.mean - other.mean).max() < np.abs(other.mean).max() + 0.5


def test_further_descriptors_and_noise_are_learned() -> None:
    docs = rows(12)
    for k, doc in enumerate(docs):
        doc.meta["system"] = "ab"[k // 4 % 2]
    predictor = QualityPredictor(QualitySettings(annotator="who", by="system", noise="all", shares="combined",
                                                 features="x", iterations=5))  # fmt: skip
    report = predictor.fit(docs)
    assert (report["training"]["system"], report["training"]["features"]) == (2, 1)
    assert len({each["noise"] for each in report["annotators"]}) > 1
    assert not any(each["outlier"] for each in report["annotators"])


def test_wrong_tables_and_settings_are_told(tmp_path) -> None:
    for options, message in (
        ({"shares": "some"}, "shares must be one of"), ({"source": "text"}, "need both columns"),
        ({"annotator": "who", "by": "who"}, "is the annotator already"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=message):
            QualityPredictor.from_options(options)
    with pytest.raises(DataError, match="no column 'judge'; the columns are: who, x"):
        QualityPredictor(QualitySettings(annotator="judge")).fit(rows(2))
    with pytest.raises(DataError, match="score must be a number, found 'high'"):
        QualityPredictor(QualitySettings(annotator="who")).fit(
            [*rows(2), Doc(meta={**rows(1)[0].meta, "score": "high"})]
        )
    with pytest.raises(DataError, match="no numeric columns"):
        QualityPredictor(QualitySettings(annotator="who")).fit([Doc(meta={"who": "a", "score": "1", "x": "b"})] * 3)
    with pytest.raises(DataError, match="labels above 0"):
        QualityPredictor(QualitySettings(annotator="who", log=True)).fit(rows(3))
    table = tmp_path / "t.csv"
    table.write_text("who,score\nAnn\n", encoding="utf-8")
    with pytest.raises(FormatError, match="2 columns"):
        read_labels(table)
    table.write_text("who,who\nAnn,Bo\n", encoding="utf-8")
    with pytest.raises(FormatError, match="different names"):
        read_labels(table)


def test_the_features_of_the_shared_task_are_those_of_its_definition() -> None:
    source = ["a b c d", "a b c", "a b", "a x"] * 3
    target = ["A B C D", "A B C", "A B", "A X"] * 3
    features = TextFeatures.learn(source, target)
    row = dict(zip(FEATURES, features(["a b , q"], ["B B ."])[0].tolist(), strict=True))
    assert (row["source words"], row["target words"], row["source words seen"]) == (4, 3, 0.5)
    assert row["mean length of source words"] == 1
    assert row["occurrences per target word"] == 1.5
    assert (row["source punctuation"], row["target punctuation"]) == (1, 1)
    counts = {"a": 12, "b": 9, "c": 6, "d": 3, "x": 3}
    high = np.quantile(list(counts.values()), 0.75)
    assert row["source unigrams in the highest quartile"] == sum(counts.get(w, 0) > high for w in "ab,q") / 4
    better, worse = features(["a b c", "d c b"], ["A B C", "A B C"])
    assert better[FEATURES.index("source log-probability")] > worse[FEATURES.index("source log-probability")]
    assert 0 < row["translations above .2 per source word"] <= 2
    assert dict(zip(SURFACE, surface("The 3 teas.", "Los 3 tes!"), strict=True))["source digits"] == 1
    with pytest.raises(DataError, match="no pair of sentences"):
        TextFeatures.learn([""], ["a"])


def test_the_command_predicts_a_second_table_and_draws_who_agrees(weft, tmp_path) -> None:
    model, out, picture = tmp_path / "minutes.weft", tmp_path / "said.tsv", tmp_path / "who.svg"
    told = weft(
        "train", "quality", EXAMPLE / "ratings.csv", *COLUMNS, "--predict", EXAMPLE / "new.csv", "--predictions", out,
        "--picture", picture, "--out", model, "--json",
    )  # fmt: skip
    report = json.loads(told.stdout)
    assert [each["name"] for each in report["annotators"] if each["outlier"]] == ["Elsa"]
    with open(out, encoding="utf-8") as file:
        said = list(csv.DictReader(file, delimiter="\t"))
    assert [row["rater"] for row in said] == ["Ana", "Elsa", "Frida"]
    assert float(said[1]["expected"]) > 2 * float(said[0]["expected"])
    assert all(float(row["low"]) < float(row["expected"]) < float(row["high"]) for row in said)
    drawn = picture.read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "Elsa" in drawn
    assert "text: source words" in drawn
    told = weft("train", "quality", EXAMPLE / "ratings.csv", *COLUMNS, "--out", model)
    assert "outlier" in told.stdout
    assert "Unlike the others: Elsa" in told.stderr
    table = tmp_path / "new.jsonl"
    weft("annotate", EXAMPLE / "new.csv", "--model", model, "--out", table)
    meta = [json.loads(line)["meta"] for line in table.read_text(encoding="utf-8").splitlines()]
    assert [f"{each['quality']['expected']:.4f}" for each in meta] == [f"{float(row['expected']):.4f}" for row in said]


def test_the_command_says_what_is_missing(weft, tmp_path) -> None:
    base = ["train", "quality", EXAMPLE / "ratings.csv", *COLUMNS, "--out", tmp_path / "m.weft"]
    for more, message in (
        (["--predict", EXAMPLE / "new.csv"], "give both"),
        (["--picture", tmp_path / "a.png"], "ends in .svg"),
    ):
        told = weft(*base, *more)
        assert told.returncode != 0
        assert message in told.stderr.replace("\n", " ")


def test_three_lines_of_python_predict(tmp_path) -> None:
    nlp = train("quality", EXAMPLE / "ratings.csv", annotator="rater", label="minutes", source="text",
                target="translation", log=True, out=tmp_path / "minutes.weft")  # fmt: skip
    doc = read_labels(EXAMPLE / "new.csv")[1]
    assert nlp(doc).meta["quality"]["expected"] > 3
    again = load(tmp_path / "minutes.weft")(read_labels(EXAMPLE / "new.csv")[1])
    assert again.meta["quality"] == doc.meta["quality"]


def test_rare_words_weigh_more() -> None:
    """`a` is frequent and has one translation, `z` is rare and has two: weighted, z counts more than half."""
    source = ["a"] * 20 + ["z", "z"]
    target = ["A"] * 20 + ["X", "Y"]
    features = TextFeatures.learn(source, target)
    row = dict(zip(FEATURES, features(["a z"], ["A X"])[0].tolist(), strict=True))
    assert features.ambiguity == {"a": (1, 1), "z": (2, 2)}
    assert row["translations above .01, rare words first"] == pytest.approx((1 / 20 + 2 / 2) / (1 / 20 + 1 / 2))
