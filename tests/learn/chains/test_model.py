"""The linear model over chains: gradients, sparse vectors and curvature against numeric and enumerated twins."""

import itertools

import numpy as np
import pytest

from weft.features.templates import Templates
from weft.learn import Gold, Objective, minimize
from weft.learn.chains.labels import LabelSpace
from weft.learn.local import Local, normalize_locally
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.text import Doc

TEMPLATES = {
    "independent": "true w[0]",
    "first order": "true w[0] w[-1] y[-1]",
    "transitions see words": "w[0] y[-1] y[-1]|w[0]",
    "second order": "(true y[-1])|(true w[0]) y[-2]|y[-1]",
    "second order without backoff": "w[0] y[-1]|w[-1] y[-2]|y[-1]",
    "real values": "w[0] x[0] y[-1]",
}


def problem(templates, complete=False, seed=0, scheme="IOB2"):
    random = np.random.default_rng(seed)
    legal = ["B", "I", "O"]
    sentences, tags = [], []
    for length in (3, 1, 4, 2):
        previous, row = "O", []
        for _ in range(length):
            choices = [tag for tag in legal if not (previous == "O" and tag == "I")]
            previous = choices[random.integers(len(choices))]
            row.append(previous)
        sentences.append([f"w{random.integers(3)}" for _ in range(length)])
        tags.append(row)
    doc = Doc.from_words(sentences, score=[[f"{random.normal():.3f}" for _ in s] for s in sentences])
    reader = ChainReader(Templates(templates), {"w": "form", "x": "score:real"})
    space = LabelSpace(legal, reader.order, scheme)
    flat = space.ids([tag for row in tags for tag in row])
    weight = random.uniform(0.5, 2.0, len(sentences))
    return ChainData.build(reader, [doc], flat, space, seen_only=not complete, weight=weight), doc


class Sums:
    """Dense features: every key met so far adds a random row."""

    size = 3

    def __init__(self, keys):
        self.keys = np.unique(keys)
        self.table = np.random.default_rng(11).normal(size=(len(self.keys), self.size))

    def rows(self, keys):
        place = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, -1).astype(np.int32)

    def sums(self, rows, offsets):
        own = [self.table[rows[a:b][rows[a:b] >= 0]].sum(axis=0) for a, b in itertools.pairwise(offsets.tolist())]
        return np.array(own, dtype=np.float32)

    def fold(self, weights):
        return self.keys, self.table @ weights.T


def dense_problem(templates, **options):
    data, doc = problem(templates, **options)
    return data.projected(Sums(data.reader.node_features([doc])[0].keys[::2]), [doc]), doc


def check_gradient(data, signal):
    """Every entry of the gradient against a central difference."""
    objective = Objective(data.model, [data.batch], signal, sigma=2.0)
    weights = np.random.default_rng(1).normal(size=data.model.size)
    gradient = objective(weights)[1].copy()
    for k in range(data.model.size):
        step = np.zeros_like(weights)
        step[k] = 1e-5
        numeric = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert numeric == pytest.approx(gradient[k], rel=1e-5, abs=1e-7)


@pytest.mark.must_show("crf-shallow-parsing", 3)
@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("name", TEMPLATES)
def test_gradient_equals_central_differences(name, complete):
    data, _ = problem(TEMPLATES[name], complete)
    check_gradient(data, Gold())


@pytest.mark.parametrize("name", ["first order", "second order"])
def test_local_gradient_equals_central_differences(name):
    data, _ = problem(TEMPLATES[name])
    check_gradient(data, Local())


@pytest.mark.parametrize("name", ["first order", "transitions see words", "second order"])
def test_locally_normalized_chains_sum_to_one_and_score_the_gold_as_the_signal_does(name):
    data, _ = problem(TEMPLATES[name])
    weights = np.random.default_rng(2).normal(size=data.model.size)
    chain = data.model.score(data.batch, weights)
    local = normalize_locally(chain)
    assert np.allclose(local.log_partition(), 0.0)
    if name != "transitions see words":
        value, _ = Local()(chain, data.batch)
        assert value == pytest.approx(float(data.batch.weight @ local.score(data.batch.gold)))


@pytest.mark.parametrize("name", TEMPLATES)
def test_scores_are_sums_of_the_weights_of_features(name):
    """score(y) = w . F(y), with F computed by scattering the indicator of y."""
    data, _ = problem(TEMPLATES[name], complete=True)
    model, batch = data.model, data.batch.cut(2, 3)
    weights = np.random.default_rng(3).normal(size=model.size)
    chain = model.score(batch, weights)
    n_scored = 0
    for path in itertools.product(range(model.space.n_states), repeat=batch.n_words):
        states = np.array(path, dtype=np.int32)
        score = chain.score(states)[0]
        if np.isfinite(score):
            features = np.zeros(model.size)
            model.scatter(batch, chain.parts(states), features)
            assert features @ weights == pytest.approx(score)
            n_scored += 1
    assert n_scored > 3


@pytest.mark.parametrize("name", TEMPLATES)
def test_sparse_vectors_equal_dense_ones(name):
    data, _ = problem(TEMPLATES[name], complete=True)
    model, batch = data.model, data.batch
    chain = model.score(batch, np.random.default_rng(4).normal(size=model.size))
    parts = chain.parts(batch.gold) - chain.marginals()
    dense = np.zeros(model.size)
    model.scatter(batch, parts, dense)
    indices, numbers = model.sparse(batch, parts)
    assert (np.diff(indices) > 0).all()
    rebuilt = np.zeros(model.size)
    rebuilt[indices] = numbers
    assert np.allclose(rebuilt, dense)
    assert set(indices.tolist()) <= set(model.active(batch).tolist())


@pytest.mark.parametrize("name", TEMPLATES)
def test_curvature_is_the_sum_of_local_variances(name):
    data, _ = problem(TEMPLATES[name], complete=True)
    model, batch = data.model, data.batch
    weights = np.random.default_rng(5).normal(size=model.size)
    into = np.zeros(model.size)
    model.curvature(batch, model.score(batch, weights), into)
    expected = np.zeros(model.size)
    for s in range(len(batch)):
        one = batch.cut(s, s + 1)
        chain = model.score(one, weights)
        paths = [
            np.array(p, dtype=np.int32) for p in itertools.product(range(model.space.n_states), repeat=one.n_words)
        ]
        scored = [(path, chain.score(path)[0]) for path in paths]
        scored = [(path, score) for path, score in scored if np.isfinite(score)]
        probabilities = np.exp([score - chain.log_partition()[0] for _, score in scored])
        for i in range(one.n_words):
            # Features of position i: those of the sentence with every other position's coefficients at zero.
            local = []
            for path, _ in scored:
                parts = chain.parts(path)
                node = np.zeros_like(parts.node)
                node[i] = parts.node[i]
                edge = np.zeros((one.n_words, *chain.edge.shape[-2:]))
                if i > 0:
                    edge[i, path[i - 1], path[i]] = 1.0
                vector = np.zeros(model.size)
                kept = type(parts)(node, edge if chain.edge.ndim == 3 else edge.sum(axis=0), parts.offsets)
                model.scatter(one, kept, vector)
                local.append(vector)
            matrix = np.array(local)
            mean = probabilities @ matrix
            expected += one.weight[0] * (probabilities @ matrix**2 - mean**2)
    assert np.allclose(into, expected, atol=1e-9)


@pytest.mark.parametrize("name", TEMPLATES)
def test_dense_features_have_the_gradient_and_sparse_vectors_of_real_values(name):
    data, _ = dense_problem(TEMPLATES[name])
    check_gradient(data, Gold())
    model, batch = data.model, data.batch
    chain = model.score(batch, np.random.default_rng(4).normal(size=model.size))
    parts = chain.parts(batch.gold) - chain.parts(chain.best())
    into = np.zeros(model.size)
    model.scatter(batch, parts, into)
    indices, numbers = model.sparse(batch, parts)
    rebuilt = np.zeros(model.size)
    rebuilt[indices] = numbers
    assert (np.diff(indices) > 0).all()
    assert np.allclose(rebuilt, into)
    again, more = model.sparse_each(batch, [parts, parts])[1]
    assert np.array_equal(again, indices)
    assert np.array_equal(more, numbers)
    assert set(indices.tolist()) <= set(model.active(batch).tolist())
    squares = np.zeros(model.size)
    model.curvature(batch, chain, squares)
    node = chain.marginals(per_position=True).node * np.repeat(batch.weight, np.diff(batch.sentences))[:, None]
    if model.space.order < 2:
        own = node * (1.0 - chain.marginals(per_position=True).node)
        assert np.allclose(model.dense_weights(squares), own.T @ batch.dense.numbers() ** 2)


@pytest.mark.parametrize("name", ["first order", "transitions see words", "second order"])
def test_dense_features_are_folded_into_the_weights_of_what_they_are_sums_of(name):
    data, doc = dense_problem(TEMPLATES[name])
    weights = np.random.default_rng(6).normal(size=data.model.size)
    frozen = data.freeze(weights).chain([doc])
    scored = data.model.score(data.encode([doc]), weights)
    assert np.allclose(frozen.log_partition(), scored.log_partition(), atol=1e-4)
    assert np.array_equal(frozen.best(), scored.best())
    both = data.batch.select([0, 2]), data.batch.cut(2, 4)
    assert [len(part.dense.numbers()) for part in both] == [7, 6]


def test_most_active_is_the_largest_feature_sum_of_any_path():
    data, _ = problem(TEMPLATES["second order"], complete=True)
    batch = data.batch
    sizes = np.diff(batch.sentences)
    # Two predicates with a label and a pair each at every position, and a transition between positions.
    assert data.model.most_active(batch) == pytest.approx(float((4 * sizes + sizes - 1).max()))


def test_hashed_features_learn_as_exact_ones_do():
    sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"]] * 3
    labels = [["B", "I", "O"], ["B", "I", "O"], ["B", "O"]] * 3
    doc = Doc.from_words(sentences)
    reader = ChainReader(Templates("true w[0] w[-1] y[-1]"), {"w": "form"})
    space = LabelSpace(["B", "I", "O"], 1, "IOB2")
    flat = space.ids([label for row in labels for label in row])
    found = []
    for bits in (0, 16):
        data = ChainData.build(reader, [doc], flat, space, hash_bits=bits)
        result = minimize(Objective(data.model, [data.batch], sigma=1.0), np.zeros(data.model.size))
        chain = data.freeze(result.weights).chain([doc])
        found.append((result.loss, space.tags(chain.best()).tolist()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    assert found[0][1] == found[1][1] == flat.tolist()


def test_rare_features_are_left_out():
    doc = Doc.from_words([["a", "a", "b"], ["a", "c"]])
    reader = ChainReader(Templates("w[0] y[-1]"), {"w": "form"})
    space = LabelSpace(["X", "Y"])
    tags = np.array([0, 1, 1, 0, 1], dtype=np.int32)
    assert len(ChainData.build(reader, [doc], tags, space).node_index) == 3
    data = ChainData.build(reader, [doc], tags, space, min_count=2)
    assert len(data.node_index) == 1
    assert (data.batch.node.rows == np.array([0, 0, -1, 0, -1])).all()


def test_selected_sentences_score_as_they_do_among_all():
    data, _ = problem("w[0] y[-1] y[-1]|w[0]")
    model, batch = data.model, data.batch
    weights = np.random.default_rng(1).normal(size=model.size)
    chosen = batch.select([3, 1])
    assert len(chosen) == 2
    assert np.allclose(
        model.score(chosen, weights).log_partition(), model.score(batch, weights).log_partition()[[1, 3]]
    )
