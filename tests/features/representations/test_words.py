"""Vectors of words: parts of length 1, unknown words, classes and dense vectors, model files."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.features.representations.counts import BOUNDARY, NeighbourCounts
from weft.features.representations.words import ClassVectors, DenseVectors, WordVectors

TEXT = [["The", "dogs", "ran"], ["Dogs", "love", "bones"]]


def counts() -> NeighbourCounts:
    found = NeighbourCounts()
    found.add(TEXT)
    found.add([["cogs", "turn"]])
    found.freeze(3)
    return found


@pytest.mark.must_show("flors", 1)
def test_every_part_of_a_vector_has_length_one_or_is_empty() -> None:
    vectors = WordVectors.from_training(counts(), TEXT)
    rows = vectors.rows(["dogs", "Dogs", "cogs", "xyzzq", BOUNDARY], [False, True, False, False, False]).toarray()
    lengths = {name: np.linalg.norm(rows[:, list(columns)], axis=1) for name, columns in vectors.columns.items()}
    assert lengths["contexts"] == pytest.approx([np.sqrt(2), np.sqrt(2), np.sqrt(2), 0, np.sqrt(2)])  # two sides
    assert lengths["suffixes"] == pytest.approx([1, 1, 1, 0, 0])
    assert lengths["shape"] == pytest.approx([1, 1, 1, 1, 1])  # xyzzq is LC, as dogs without its ending would be
    assert lengths["identity"] == pytest.approx([1, 1, 0, 0, 1])


@pytest.mark.must_show("flors", 1)
def test_all_suffixes_count_and_those_that_training_lacks_do_not() -> None:
    vectors = WordVectors.from_training(counts(), TEXT, parts=["suffixes"])
    dogs, cogs = vectors.rows(["DOGS", "cogs"], [False, False]).toarray()
    assert dogs[dogs > 0] == pytest.approx([0.5] * 4)  # dogs, ogs, gs, s
    assert cogs[cogs > 0] == pytest.approx([1 / np.sqrt(3)] * 3)
    assert vectors.width == len(
        {word[k:] for word in ("the", "dogs", "ran", "love", "bones") for k in range(len(word))}
    )


def test_marked_words_share_no_suffix_with_longer_ones() -> None:
    text = [["ran", "bran"]]
    plain, marked = (WordVectors.from_training(None, text, mark, ["suffixes"]) for mark in (False, True))
    assert plain.rows(["ran", "bran"], [False] * 2)[1].nnz == 4
    ran, bran = marked.rows(["ran", "bran"], [False] * 2).toarray() > 0
    assert (ran.sum(), bran.sum(), (ran & bran).sum()) == (4, 5, 3)


def test_the_shape_depends_on_the_place_and_on_what_is_known_in_lower_case() -> None:
    vectors = WordVectors.from_training(None, TEXT, parts=["shape"])
    inside, opening, name = vectors.rows(["Dogs", "Dogs", "Bo"], [False, True, True]).toarray().argmax(axis=1).tolist()
    assert opening == vectors.shapes.index("INITC-KNOWNLC-s")
    assert name == vectors.shapes.index("INITC")
    assert "CAPS-s" not in vectors.shapes  # Dogs inside a sentence: no shape of the training text
    assert inside == 0


def test_classes_and_dense_vectors_stand_for_contexts() -> None:
    classes = ClassVectors({"dogs": "0011010", "cogs": "0011"})
    rows = classes.vectors(["Dogs", "cogs", "cats"]).toarray()
    assert rows[0] @ rows[1] == pytest.approx(1 / np.sqrt(3))  # 0011 of 0011, 001101, 0011010
    assert not rows[2].any()
    dense = DenseVectors(["dogs", "00", "UNKNOWN", "PADDING"], np.eye(4))
    assert dense.vectors(["Dogs", "42", "cats", BOUNDARY]).toarray().argmax(axis=1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["counts", "clusters", "embeddings", "none"])
def test_what_a_model_file_keeps_gives_the_same_vectors(kind: str) -> None:
    contexts = {"counts": counts(), "clusters": ClassVectors({"dogs": "0011010"}), "none": None,
                "embeddings": DenseVectors(["dogs"], np.ones((1, 3)))}[kind]  # fmt: skip
    vectors = WordVectors.from_training(contexts, TEXT, mark_words=True, parts=["contexts", "suffixes", "shape"])
    again = WordVectors.from_state(*vectors.state())
    words, opens = ["dogs", "Dogs", "moon", BOUNDARY], [False, True, False, False]
    assert (vectors.rows(words, opens) != again.rows(words, opens)).nnz == 0


def test_tables_and_counts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ConfigError, match="one row per word"):
        DenseVectors(["dog"], np.zeros((2, 3)))
    unfrozen = NeighbourCounts()
    with pytest.raises(ConfigError, match="freeze"):
        WordVectors.from_training(unfrozen, TEXT)
