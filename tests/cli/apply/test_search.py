"""`weft train images`, `weft search` and `weft diagnose roles` on the example."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import exit_code, streams
from places import ROOT

from weft.tasks.images.vectors import ImageVectors, write_image_vectors

PICTURES = ROOT / "examples" / "pictures"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A model and its index."""
    folder = tmp_path_factory.mktemp("pictures")
    words = ["train", "images", f"{PICTURES}/captions.tsv", "--vectors", f"{PICTURES}/pictures.vec"]
    with streams():
        assert not exit_code([*words, "--out", f"{folder}/pictures.weft", "--index", f"{folder}/pictures.parquet"])
    return folder / "pictures.parquet"


def hits(result):
    return [[hit["image"] for hit in each["hits"]] for each in json.loads(result.stdout)]


def test_images_are_found_by_sentences_and_by_images(index, weft):
    found = hits(weft("search", index, "a dog catches a frisbee", "a cat sleeps on a sofa", "--count", "3", "--json"))
    assert [own[0] for own in found] == ["beach-01.jpg", "home-01.jpg"]
    assert len(found[0]) == 3
    shown = weft("search", index, "a dog catches a frisbee").stdout
    assert shown.index("beach-01.jpg") < shown.index("street")
    (like,) = hits(weft("search", index, "--like", "park-01.jpg", "--json"))
    assert "park-01.jpg" not in like


def test_sentences_describe_an_image(index, weft):
    captions = PICTURES / "captions.tsv"
    (found,) = hits(
        weft("search", index, "--describe", "park-01.jpg", "--captions", captions, "--count", "3", "--json")
    )
    assert found == ["park-01.jpg"] * 3


def test_vectors_of_the_same_space_need_no_model(tmp_path, weft):
    write_image_vectors(ImageVectors(["a", "b"], np.eye(2)), tmp_path / "x.parquet")
    np.save(tmp_path / "q.npy", np.array([[0.1, 1.0], [1.0, 0.0]]))
    found = hits(weft("search", tmp_path / "x.parquet", "--vector", tmp_path / "q.npy", "--count", "1", "--json"))
    assert found == [["b"], ["a"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give sentences to search by"),
        (["a dog", "--like", "park-01.jpg"], "give sentences to search by, or one of"),
        (["--describe", "park-01.jpg"], "--captions captions.tsv"),
        (["--like", "prk-01.jpg"], "did you mean park-01.jpg"),
        (["a dog", "--model", "missing.weft"], "missing.weft"),
    ],
)
def test_wrong_questions_are_explained(index, weft, arguments, words):
    result = weft("search", index, *arguments)
    assert result.returncode == 1
    assert words in result.stderr


def test_raw_vectors_need_a_model_for_sentences(weft):
    assert "sentences need a model" in weft("search", PICTURES / "pictures.vec", "a dog").stderr


def test_a_bag_of_words_is_found_out_whatever_its_vectors(tmp_path, weft):
    weft("diagnose", "roles", "--write", tmp_path / "sentences.txt", "--count", "30")
    sentences = (tmp_path / "sentences.txt").read_text().split("\n")[:-1]
    random = np.random.default_rng(0)
    vectors: dict[str, np.ndarray] = {}
    bags = [
        sum(vectors.setdefault(w, random.standard_normal(8)) for w in sorted(s.lower().rstrip(".").split()))
        for s in sentences
    ]
    write_image_vectors(ImageVectors(sentences, np.array(bags)), tmp_path / "v.parquet")
    arguments = ("diagnose", "roles", "--vectors", tmp_path / "v.parquet", "--count", "30")
    report = json.loads(weft(*arguments, "--json").stdout)
    assert (report["share"], report["ties"], report["differ in order only"]) == (0.5, 30, 30)
    assert "No better than a bag of words" in weft(*arguments).stdout


def test_a_model_is_probed_and_pairs_are_written(index, tmp_path, weft):
    weft("diagnose", "roles", "--write", tmp_path / "pairs.tsv", "--count", "5")
    report = json.loads(
        weft("diagnose", "roles", tmp_path / "pairs.tsv", "--model", index.with_suffix(".weft"), "--json").stdout
    )
    assert report["pairs"] == 5
    assert "give the embedding" in weft("diagnose", "roles").stderr
