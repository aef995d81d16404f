"""Networks of words: exact weights, joins, and walks over them against networkx and linear systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.graph.rankings.cooccurrence import Edges, cooccurrences, joined
from weft.graph.rankings.pagerank import pagerank
from weft.tasks.keywords.article import Article
from weft.tasks.keywords.ranking import Walk, rank, word_network


def shares(network) -> np.ndarray:
    """EW as a dense matrix whose rows sum to 1, or to 0 without edges."""
    n = network.n_nodes
    dense = np.zeros((n, n))
    for node in range(n):
        row = slice(int(network.offsets[node]), int(network.offsets[node + 1]))
        dense[node, network.targets[row]] = network.weights[row]
    sums = dense.sum(axis=1, keepdims=True)
    return np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)


def texts(seed: int, types: int = 8, tokens: int = 30) -> Article:
    rng = np.random.default_rng(seed)
    words = [f"word{'abcdefghij'[k]}" if k % 3 else f"of{k}" for k in rng.integers(0, types, tokens).tolist()]
    cuts = np.sort(rng.integers(0, tokens, 3))
    return Article.of([list(part) for part in np.split(np.array(words), cuts)], {f"of{k}" for k in range(0, 10, 3)})


def drawn_links(seed: int, one: Article, other: Article) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(len(other.tokens))), int(rng.integers(len(one.tokens)))) for _ in range(12)]


@pytest.mark.must_show("bikea-keywords", 3)
def test_all_four_cases_of_content_have_their_weights() -> None:
    """Two words apart at most, weight 2: content raises, other words lower, whatever the earlier word is."""
    article = Article.of([["old", "of", "tea"], ["of", "in"], ["tea"]], {"of", "in"})
    found = word_network(article, Walk(window=2, boost=2.0))
    old, of, tea, in_ = (article.names.index(name) for name in ("old", "of", "tea", "in"))
    weights = {
        (u, v): w for u in range(4) for v, w in zip(found.of(u), found.weights[found.offsets[u] :], strict=False)
    }
    assert weights == {(old, of): 0.5, (old, tea): 2.0, (of, tea): 2.0, (of, in_): 0.5}


@pytest.mark.must_show("bikea-keywords", 3)
def test_a_link_raises_the_word_that_it_leads_to() -> None:
    article = Article.of([["red", "boat", "sails"], ["old", "boat", "waits"], ["red", "sun", "sets"]])
    theirs = Article.of([["barco", "rojo"], ["barco", "viejo"], ["sol", "rojo"]])
    flat, other = np.ones(len(article.names)), np.ones(len(theirs.names))
    before = rank(article, flat, Walk(), theirs, other, [])
    for token in range(len(article.tokens)):
        after = rank(article, flat, Walk(), theirs, other, [(0, token)])
        target = int(article.tokens[token])
        assert after[target] > before[target]
        assert int((after / before).argmax()) == target


@pytest.mark.must_show("bikea-keywords", 2)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 0.9), st.floats(0.1, 0.9))
def test_ranks_are_the_fixed_point_and_that_of_the_linear_system(seed: int, alpha: float, damping: float) -> None:
    one, other = texts(seed), texts(seed + 1)
    network = word_network(one, Walk(alpha=alpha), other, drawn_links(seed, one, other))
    ew = shares(network)
    sums = ew.sum(axis=1)
    assert np.all(np.isclose(sums, 1) | (sums == 0))
    wanted = np.random.default_rng(seed).random(network.n_nodes)
    wanted /= wanted.sum()
    found = pagerank(network, damping, wanted)
    # Words without edges restart: their rows are the preferences.
    whole = np.where(sums[:, None] > 0, ew, wanted[None, :])
    step = damping * found @ whole + (1 - damping) * wanted
    assert np.abs(step / step.sum() - found).max() < 1e-8
    solved = np.linalg.solve(np.eye(len(ew)) - damping * whole.T, (1 - damping) * wanted)
    np.testing.assert_allclose(found, solved, atol=1e-8)


@pytest.mark.must_show("bikea-keywords", 1)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_the_article_alone_has_the_personalized_pagerank_of_networkx(seed: int) -> None:
    networkx = pytest.importorskip("networkx")
    one, other = texts(seed), texts(seed + 1)
    rng = np.random.default_rng(seed)
    wanted = rng.random(len(one.names)) + 0.01
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(one.names)))
    edges = cooccurrences(one.tokens, one.offsets, one.content)
    for u, v, w in zip(edges.sources.tolist(), edges.targets.tolist(), edges.weights.tolist(), strict=True):
        graph.add_edge(u, v, weight=graph.get_edge_data(u, v, {"weight": 0.0})["weight"] + w)
    peer = networkx.pagerank(graph, 0.85, dict(enumerate(wanted.tolist())), tol=1e-14, max_iter=2000)
    expected = np.array([peer[k] for k in range(len(one.names))])
    np.testing.assert_allclose(rank(one, wanted, Walk(alpha=1.0)), expected, atol=1e-8)
    # With alpha 1 and no links a translation changes nothing.
    theirs = np.ones(len(other.names))
    np.testing.assert_allclose(rank(one, wanted, Walk(alpha=1.0), other, theirs, []), expected, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_edges_are_those_of_all_pairs_in_a_window(seed: int, window: int) -> None:
    article = texts(seed)
    found = cooccurrences(article.tokens, article.offsets, article.content, window, 3.0)
    expected = []
    for begin, end in zip(article.offsets[:-1].tolist(), article.offsets[1:].tolist(), strict=True):
        for i in range(begin, end):
            for j in range(i + 1, min(i + window + 1, end)):
                expected.append((article.tokens[i], article.tokens[j], 3.0 if article.content[j] else 1 / 3))
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected


def test_wrong_windows_and_shares_are_told() -> None:
    article = texts(0)
    with pytest.raises(ConfigError, match="at least 1 word"):
        cooccurrences(article.tokens, article.offsets, article.content, 0)
    with pytest.raises(ConfigError, match="0 or above"):
        joined(2, [(Edges.of([0], [1], [1.0]), -1.0)])
    with pytest.raises(ConfigError, match="alpha is from 0 to 1"):
        Walk(alpha=2.0)
