"""Images found by sentences: training, saved models, searching a collection, and captions as trees."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.features.representations.ppmi import UNKNOWN, WordTable, ppmi_vectors
from weft.pipeline import Pipeline
from weft.tasks.images.captions import read_captions
from weft.tasks.images.collection import Collection
from weft.tasks.images.encoder import NETWORKS, SentenceEncoder
from weft.tasks.images.finder import ImageFinder, ImageSettings
from weft.tasks.images.trees import caption_tree
from weft.tasks.images.vectors import ImageVectors, read_image_vectors, write_image_vectors
from weft.text.doc import Doc

AGENTS, DEEDS, OBJECTS = ("dogs", "cats", "birds", "goats"), ("chase", "watch", "follow"), ("boys", "girls", "men")


def caption(agent, deed, patient, image=""):
    doc = Doc.from_words(
        [[agent, deed, patient]], head=[[2, 0, 2]], deprel=[["nsubj", "root", "obj"]], upos=[["NOUN", "VERB", "NOUN"]]
    )
    doc.meta["image"] = image
    return doc


def scenes():
    """Captions of who does what to whom, and images that show it."""
    random = np.random.default_rng(0)
    parts = {name: random.standard_normal(16) for name in (*AGENTS, *DEEDS, *OBJECTS)}
    docs, names, vectors = [], [], []
    for agent in AGENTS:
        for deed in DEEDS:
            for patient in OBJECTS:
                names.append(f"{agent}-{deed}-{patient}")
                vectors.append(parts[agent] + parts[deed] + parts[patient])
                docs.append(caption(agent, deed, patient, names[-1]))
    return docs, ImageVectors(names, np.array(vectors))


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A file of word vectors: from so few sentences, all agents would get the same."""
    path, random = tmp_path_factory.mktemp("words") / "words.vec", np.random.default_rng(1)
    rows = [f"{word} {' '.join(map(str, random.standard_normal(8)))}" for word in (*AGENTS, *DEEDS, *OBJECTS)]
    path.write_text("\n".join(rows))
    return str(path)


def finder_of(words, network="sdt", **options):
    docs, images = scenes()
    finder = ImageFinder(
        ImageSettings(words=words, network=network, least=1, length=2.0, epochs=60, rate=0.05, batch=12, **options)
    )
    finder.fit(docs, None, images)
    return finder, docs, images


@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_learns_to_find_the_image_and_survives_saving(network, words, tmp_path):
    finder, docs, images = finder_of(words, network)
    scores = finder.sentence_vectors(docs) @ finder.image_vectors(images.vectors).T
    assert (scores.argmax(axis=1) == np.arange(len(docs))).mean() > 0.9
    Pipeline([finder], {"name": "x"}).save(tmp_path / "x.weft")
    (loaded,) = weft.load(str(tmp_path / "x.weft")).components
    assert np.array_equal(loaded.sentence_vectors(docs), finder.sentence_vectors(docs))
    assert np.array_equal(loaded.image_vectors(images.vectors), finder.image_vectors(images.vectors))


def test_held_out_captions_choose_the_epoch_and_are_scored(words):
    docs, images = scenes()
    finder = ImageFinder(ImageSettings(words=words, least=1, length=2.0, epochs=30, rate=0.05, batch=12))
    report = finder.fit(docs[:30], docs[30:], images)
    assert report["scores"]["dev image search, mean rank"] < 3
    assert report["training"]["matrices"] == 2


def test_documents_get_vectors_and_the_same_seed_the_same_model(words):
    one, docs, _ = finder_of(words, seed=3)
    other, _, _ = finder_of(words, seed=3)
    one.annotate([docs[0], Doc("")], None)
    assert docs[0].meta["vector"] == pytest.approx(other.sentence_vectors(docs[:1])[0].tolist(), abs=1e-6)
    third, _, _ = finder_of(words, seed=4)
    assert not np.allclose(third.sentence_vectors(docs[:1]), other.sentence_vectors(docs[:1]))


def test_what_is_missing_is_said(words):
    docs, images = scenes()
    with pytest.raises(ConfigError, match="give the vectors of the images"):
        ImageFinder().fit(docs)
    stranger = caption("dogs", "chase", "boys", "elsewhere")
    with pytest.raises(DataError, match="'elsewhere' of the caption 'dogs chase boys' has no vector"):
        ImageFinder().fit([*docs, stranger], None, images)
    with pytest.raises(DataError, match="names no image"):
        ImageFinder().fit([caption("dogs", "chase", "boys")], None, images)
    with pytest.raises(DataError, match="is not parsed"):
        caption_tree(Doc.from_words([["dogs"]]))
    with pytest.raises(ConfigError, match="rate must be above 0"):
        ImageFinder(ImageSettings(rate=0.0))
    finder, _, _ = finder_of(words)
    with pytest.raises(DataError, match="3 dimensions, the model was trained on 16"):
        finder.image_vectors(np.ones((2, 3)))


def test_a_damaged_model_is_refused(words):
    header, arrays = finder_of(words)[0].state()
    for change in (
        {"matrices": header["matrices"][:1]}, {"matrices": [header["matrices"][0]] * 2},
    ):  # fmt: skip
        with pytest.raises(ModelError):
            ImageFinder.from_state({**header, **change}, dict(arrays))
    for name in arrays:
        with pytest.raises(ModelError):
            ImageFinder.from_state(header, {key: value for key, value in arrays.items() if key != name})
        if name != "words":  # a shorter last word is a word
            with pytest.raises(ModelError):
                ImageFinder.from_state(header, {**arrays, name: arrays[name][:-1]})


def test_prepositions_become_part_of_labels_and_sentences_one_tree():
    doc = Doc.from_words(
        [["Dogs", "sit", "next", "to", "cars"], ["Birds"]], head=[[2, 0, 4, 5, 2], [0]],
        deprel=[["nsubj", "root", "fixed", "case", "obl"], ["root"]],
    )  # fmt: skip
    tree = caption_tree(doc)
    assert tree.labels == ("nsubj", "root", "fixed", "case", "obl:to", "root")
    assert tree.heads.tolist() == [2, 0, 4, 5, 2, 0]


def test_heads_of_a_second_sentence_stay_in_it():
    doc = Doc.from_words([["It", "rains"], ["Dogs", "run"]], head=[[2, 0], [2, 0]], deprel=[["nsubj", "root"]] * 2)
    assert caption_tree(doc).heads.tolist() == [2, 0, 4, 0]


def test_rare_labels_get_no_matrix_but_all_positions_do():
    docs, _ = scenes()
    trees = [caption_tree(doc) for doc in docs[:4]] + [
        caption_tree(Doc.from_words([["go"] * 5], head=[[0, 1, 1, 1, 1]], deprel=[["root", *["obl"] * 4]]))
    ]
    table = WordTable.of(["go"], np.ones((1, 3)))
    assert SentenceEncoder.fit("sdt", table, trees, least=5).matrices == []
    assert SentenceEncoder.fit("sdt", table, trees, least=4).matrices == ["nsubj", "obj", "obl"]
    assert SentenceEncoder.fit("dt", table, trees, least=5).matrices == ["l1", "r1", "r2", "r3", "r4"]


def test_word_vectors_put_words_of_the_same_neighbours_together():
    random = np.random.default_rng(0)
    sentences = [["the", random.choice(["cat", "dog"]), random.choice(["sleeps", "barks"])] for _ in range(200)] + [
        ["a", random.choice(["red", "blue"]), random.choice(["car", "bus"])] for _ in range(200)
    ]
    table = ppmi_vectors(sentences, 4)
    cat, dog, red, rare = (table.vectors[table.rows([word])[0]] for word in ("cat", "Dog", "red", "zebra"))
    assert cat @ dog > 0.9 > cat @ red + 0.3
    assert np.array_equal(rare, table.vectors[0])
    assert table.words[0] == UNKNOWN
    assert table.unknown(["cat", "zebra"]) == 0.5


@pytest.fixture
def files(words, tmp_path):
    """A model, its index and raw vectors."""
    finder, _, images = finder_of(words)
    Pipeline([finder], {"name": "x"}).save(tmp_path / "x.weft")
    mapped = ImageVectors(images.ids, finder.image_vectors(images.vectors), [], {"model": "x.weft"})
    write_image_vectors(mapped, tmp_path / "x.parquet")
    write_image_vectors(images, tmp_path / "raw.parquet")
    return tmp_path, images


def test_an_index_names_its_model_and_finds_what_the_raw_vectors_find(files):
    folder, _ = files
    found = Collection.open(folder / "x.parquet").find("dogs chase girls", 3)
    assert found[0].image == "dogs-chase-girls"
    raw = Collection.open(folder / "raw.parquet", folder / "x.weft").find("dogs chase girls", 3)
    assert [hit.image for hit in raw] == [hit.image for hit in found]
    assert [hit.score for hit in raw] == pytest.approx([hit.score for hit in found], abs=1e-4)
    with pytest.raises(ConfigError, match="sentences need a model"):
        Collection.open(folder / "raw.parquet")


def test_images_are_found_by_images_and_by_vectors_without_a_model(files):
    folder, images = files
    collection = Collection.open(folder / "raw.parquet", text=False)
    hits = collection.like("dogs-chase-girls", 2)
    assert "dogs-chase-girls" not in [hit.image for hit in hits]
    assert hits[0].score > hits[1].score
    assert collection.find_vector(images.vectors[5], 1)[0].image == images.ids[5]
    with pytest.raises(DataError, match="did you mean dogs-chase-girls"):
        collection.like("dogs-chase-girl")


def test_sentences_that_describe_an_image_are_ranked(files):
    folder, _ = files
    (folder / "captions.tsv").write_text("a#0\tdogs chase girls\nb#1\tcats watch men\nc\tgoats follow boys\n")
    captions = read_captions(folder / "captions.tsv")
    hits = Collection.open(folder / "x.parquet").describe("cats-watch-men", captions, 2)
    assert (hits[0].rank, hits[0].image) == (1, "b")
    assert len(hits) == 2


def test_vectors_are_read_from_parquet_arrays_and_text(tmp_path):
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    ids = ["a", "b", "c"]
    write_image_vectors(ImageVectors(ids, vectors, ["a.png", "", "c.png"]), tmp_path / "x.parquet")
    np.save(tmp_path / "y.npy", vectors)
    (tmp_path / "y.txt").write_text("a\nb\nc\n")
    (tmp_path / "z.vec").write_text("a 0 1\nb 2 3\nc 4 5\n")
    for name in ("x.parquet", "y.npy", "z.vec"):
        found = read_image_vectors(tmp_path / name)
        assert (found.ids, found.vectors.tolist()) == (ids, vectors.tolist())
    assert read_image_vectors(tmp_path / "x.parquet").path("c") == "c.png"


def test_files_of_another_kind_are_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ["a"], "other": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": ["a", "b"], "vector": [[1.0], [1.0, 2.0, 3.0]]}), tmp_path / "b.parquet")
    (tmp_path / "c.parquet").write_text("no table")
    np.save(tmp_path / "d.npy", np.ones((2, 2)))
    for name, words in (
        ("a.parquet", "has no column 'vector'"), ("b.parquet", "same length"), ("c.parquet", "not a Parquet file"),
        ("d.npy", "names of the images"), ("e.parquet", "there is no file"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=words):
            read_image_vectors(tmp_path / name)
    with pytest.raises(DataError, match="two vectors"):
        ImageVectors(["a", "a"], np.ones((2, 2)))
    with pytest.raises(DataError, match="not finite"):
        ImageVectors(["a"], np.array([[np.nan]]))
    (tmp_path / "captions.tsv").write_text("dog.jpg A dog runs.\n")
    with pytest.raises(FormatError, match="a tab and a sentence"):
        read_captions(tmp_path / "captions.tsv")
