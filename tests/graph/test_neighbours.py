"""Nearest neighbours against comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_matrix

from weft.errors import ConfigError, DataError
from weft.features.representations.trigrams import TrigramContexts
from weft.formats import read
from weft.graph.csr import Graph
from weft.graph.neighbours import nearest_neighbours
from weft.text.doc import Doc


def sparse(seed: int, n: int, features: int, density: float = 0.2) -> csr_matrix:
    rng = np.random.default_rng(seed)
    return csr_matrix(
        random_matrix(n, features, density, "csr", random_state=rng, data_rvs=lambda m: rng.normal(size=m))
    )


def twin(vectors: np.ndarray, k: int, metric: str) -> list[list[tuple[float, int]]]:
    """For every vector the value and number of its k nearest, row by row."""
    lists = []
    for u, x in enumerate(vectors):
        found = []
        for v, y in enumerate(vectors):
            if v == u:
                continue
            if metric == "euclidean":
                found.append((float(np.linalg.norm(x - y)), v))
            elif np.linalg.norm(x) and np.linalg.norm(y):
                cosine = float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))
                if cosine > 1e-12:
                    found.append((-cosine, v))
        lists.append([(abs(value), v) for value, v in sorted(found)[:k]])
    return lists


def agree(ids: np.ndarray, values: np.ndarray, expected: list[list[tuple[float, int]]]) -> None:
    """Same values; same numbers but where two values are as good as equal."""
    for row, near, own in zip(ids.tolist(), values.tolist(), expected, strict=True):
        there = [v for v in row if v >= 0]
        assert near[: len(there)] == pytest.approx([value for value, _ in own], abs=1e-9)
        assert len(there) == len(own)
        for i, (value, v) in enumerate(own):
            tied = sum(abs(value - other) < 1e-9 for other in near) > 1 or i == len(own) - 1
            assert tied or there[i] == v


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    hits = sum(len(set(a) & (set(b) - {-1})) for a, b in zip(found.tolist(), exact.tolist(), strict=True))
    return hits / max(1, int((exact >= 0).sum()))


def trigram_vectors(sentences: list[list[str]], types: int) -> csr_matrix:
    """The vectors of the first so many types."""
    contexts = TrigramContexts()
    for words in sentences:
        if len(contexts) < types:
            contexts.add([Doc.from_words([words])])
    return contexts.pmi()[:types]


def made_sentences(n: int, seed: int = 0) -> list[list[str]]:
    """Phrases with fixed slots and words of a Zipf distribution."""
    rng = np.random.default_rng(seed)
    word = lambda letter, m: f"{letter}{min(m, rng.zipf(1.4))}"  # noqa: E731
    return [
        [word("d", 5), word("n", 300), word("v", 100), word("p", 9), word("d", 5), word("n", 300)][: rng.integers(3, 7)]
        for _ in range(n)
    ]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 25),
    st.integers(1, 6),
    st.sampled_from(["cosine", "euclidean"]),
    st.booleans(),
)
def test_exact_search_is_comparing_all_with_all(seed: int, n: int, k: int, metric: str, as_array: bool) -> None:
    vectors = sparse(seed, n, 8, 0.4)
    given_ = vectors.toarray() if as_array else vectors
    ids, values = nearest_neighbours(given_, k, metric=metric)
    assert ids.shape == values.shape == (n, k)
    agree(ids, values, twin(vectors.toarray(), k, metric))


def brute(vectors: csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest cosines of every vector with all others; products are added up in the order of the features."""
    squares = vectors.multiply(vectors).tocsr()
    lengths = np.sqrt([sum(row.data.tolist()) for row in squares])
    rows = csr_matrix((vectors.data / np.repeat(lengths, np.diff(vectors.indptr)), vectors.indices, vectors.indptr))
    columns = rows.tocsc()
    ids, values = np.full((rows.shape[0], k), -1), np.zeros((rows.shape[0], k))
    for u, row in enumerate(rows):
        cosines = np.zeros(rows.shape[0])
        for f, x in zip(row.indices, row.data, strict=True):
            column = slice(columns.indptr[f], columns.indptr[f + 1])
            cosines[columns.indices[column]] += x * columns.data[column]
        cosines[u] = 0.0
        order = np.argsort(-cosines, kind="stable")[:k]
        ids[u], values[u] = np.where(cosines[order] > 0, order, -1), np.maximum(cosines[order], 0.0)
    return ids, values


def check_graph(vectors: csr_matrix) -> None:
    """Exact search finds the lists and the graph of brute force, bit by bit; approximate search 95 % of the lists."""
    exact, similarities = nearest_neighbours(vectors, 5)
    ids, cosines = brute(vectors, 5)
    assert np.array_equal(exact, ids)
    assert np.array_equal(similarities, cosines)
    graph = Graph.from_lists(exact, similarities).symmetric().matrix()
    expected = np.zeros(graph.shape)
    for u, v, w in zip(np.repeat(np.arange(len(ids)), 5), ids.ravel(), cosines.ravel(), strict=True):
        if v >= 0:
            expected[u, v] = expected[v, u] = w
    assert np.array_equal(graph.toarray(), expected)
    # A quarter of what the exact search reads for a vector in the mean: with all of it nothing would be approximate.
    read_by_exact = (vectors != 0) @ np.bincount(vectors.indices, minlength=vectors.shape[1])
    approximate, _ = nearest_neighbours(vectors, 5, exact=False, budget=int(read_by_exact.mean()) // 4)
    assert recall(approximate, exact) >= 0.95


@pytest.mark.must_show("graph-ssl-crf", 3)
def test_the_index_finds_the_graph_of_all_pairs_on_made_trigrams() -> None:
    check_graph(trigram_vectors(made_sentences(2500), 3000))


@pytest.mark.must_show("graph-ssl-crf", 3)
def test_the_index_finds_the_graph_of_all_pairs_on_3000_types_of_questions_and_web_text(corpus_file) -> None:  # type: ignore[no-untyped-def]
    sentences = []
    for name in ("treebanks/ud/English-Atis/dev.conllu.gz", "treebanks/ud/English-EWT/dev.conllu.gz"):
        own = [
            [word.form.lower() for word in sentence] for doc in read(corpus_file(name)) for sentence in doc.sentences
        ]
        sentences.append(own[:250])
    vectors = trigram_vectors([words for pair in zip(*sentences, strict=True) for words in pair], 3000)
    assert vectors.shape[0] == 3000
    check_graph(vectors)


def test_dense_vectors_are_found_by_clusters_with_a_recall_of_95_percent() -> None:
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(60, 12))[rng.integers(0, 60, 3000)] + 0.4 * rng.normal(size=(3000, 12))
    for metric in ("cosine", "euclidean"):
        exact, _ = nearest_neighbours(vectors, 5, metric=metric)
        found, values = nearest_neighbours(vectors, 5, metric=metric, exact=False)
        assert recall(found, exact) >= 0.95
        assert (np.diff(values, axis=1) * (1 if metric == "euclidean" else -1) >= -1e-12).all()


@pytest.mark.parametrize("options", [{}, {"max_df": 40}, {"exact": False, "budget": 300}])
def test_threads_find_the_same_bits(options: dict) -> None:
    vectors = sparse(3, 9000, 3000, 0.002)
    one, two = (nearest_neighbours(vectors, 4, workers=workers, **options) for workers in (1, 3))
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])


def test_similarities_found_without_frequent_features_are_those_with_them() -> None:
    vectors = abs(sparse(8, 200, 50, 0.3))
    ids, similarities = nearest_neighbours(vectors, 5, max_df=int(np.median(np.diff(vectors.tocsc().indptr))))
    rows = vectors.toarray()
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    for u in range(200):
        for v, value in zip(ids[u], similarities[u], strict=True):
            assert v < 0 or value == pytest.approx(rows[u] @ rows[v])
    every = nearest_neighbours(vectors, 5, max_df=200)
    assert all(np.array_equal(a, b) for a, b in zip(every, nearest_neighbours(vectors, 5), strict=True))


@pytest.mark.parametrize(
    ("vectors", "options", "kind", "words"),
    [
        ([[1.0]], {"k": 0}, ConfigError, "k must be at least 1"),
        ([[1.0]], {"k": 1, "metric": "jaccard"}, ConfigError, "cosine, euclidean"),
        ([1.0], {"k": 1}, DataError, "rows of a matrix"),
        ([[np.nan]], {"k": 1}, DataError, "not finite"),
        ([[1.0]], {"k": 1, "max_df": 5}, ConfigError, "sparse vectors"),
    ],
)
def test_bad_questions_are_refused_in_plain_words(vectors: list, options: dict, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words):
        nearest_neighbours(vectors, **options)
