"""Ranking losses against three loops, descent, training, and canonical correlation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neural_twins import margin_loss as by_loops
from neural_twins import relative, slope

from weft.errors import ConfigError, DataError
from weft.learn.neural.correlation import CCA, KernelCCA
from weft.learn.neural.descent import ResettingAdaGrad
from weft.learn.neural.networks import RecursiveNetwork
from weft.learn.neural.ranker import Ranker, RankingOptions, train_ranker
from weft.learn.neural.ranking import margin_loss, squared_loss
from weft.learn.neural.structures import bag_structures, chain_structures


@pytest.mark.must_show("dt-rnn", 4)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 4.0))
def test_the_loss_is_that_of_three_loops_on_20_images_with_5_sentences(seed, margin):
    random = np.random.default_rng(seed)
    images, sentences = random.standard_normal((20, 3)), random.standard_normal((100, 3))
    owners = random.permutation(np.repeat(np.arange(20), 5))
    value, by_image, by_sentence = margin_loss(images, sentences, owners, margin)
    wanted = by_loops(images, sentences, owners, margin)
    assert value == pytest.approx(wanted[0])
    assert np.allclose(by_image, wanted[1])
    assert np.allclose(by_sentence, wanted[2])


@pytest.mark.must_show("dt-rnn", 4)
def test_the_loss_is_zero_when_all_margins_are_met():
    owners = np.repeat(np.arange(4), 5)
    images, sentences = 3.0 * np.eye(4), np.eye(4)[owners]
    value, by_image, by_sentence = margin_loss(images, sentences, owners, 2.9)
    assert value == 0.0
    assert not by_image.any()
    assert not by_sentence.any()
    assert margin_loss(images, sentences, owners, 3.1)[0] == pytest.approx(0.1 * (20 * 15 + 20 * 3))


def test_squared_distances_and_their_gradients():
    random = np.random.default_rng(0)
    images, sentences, owners = (
        random.standard_normal((3, 2)),
        random.standard_normal((5, 2)),
        np.array([0, 1, 1, 2, 0]),
    )
    value, by_image, by_sentence = squared_loss(images, sentences, owners)
    assert value == pytest.approx(sum(((images[i] - sentences[j]) ** 2).sum() for j, i in enumerate(owners)))
    for index in np.ndindex(*images.shape):
        assert (
            relative(slope(lambda: squared_loss(images, sentences, owners)[0], images, index), by_image[index]) < 1e-6
        )
    for index in np.ndindex(*sentences.shape):
        numeric = slope(lambda: squared_loss(images, sentences, owners)[0], sentences, index)
        assert relative(numeric, by_sentence[index]) < 1e-6


def planted(seed=0, images=40, network="bag"):
    """Images whose vectors are a random map of the sum of their sentences' words; each has three sentences."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((30, 6))
    topics = [random.choice(30, 4, replace=False) for _ in range(images)]
    words = np.concatenate([random.permutation(topic)[:3] for topic in topics for _ in range(3)]).astype(np.int32)
    owners = np.repeat(np.arange(images), 3)
    make = bag_structures if network == "bag" else chain_structures
    pictures = np.array([vectors[topic].mean(axis=0) for topic in topics]) @ random.standard_normal((6, 10))
    return make([3] * len(owners), words), vectors, pictures, owners


def hits(ranker, structures, vectors, pictures, owners, squared=False):
    sentences, images = ranker.encode(structures, vectors), ranker.project(pictures)
    distances = ((sentences[:, None] - images[None]) ** 2).sum(axis=2)
    scores = -distances if squared else sentences @ images.T
    return float((scores.argmax(axis=1) == owners).mean())


@pytest.mark.parametrize(("kind", "loss"), [("bag", "margin"), ("chain", "margin"), ("bag", "squared")])
def test_training_finds_the_image_of_a_sentence(kind, loss):
    structures, vectors, pictures, owners = planted(network=kind)
    network = RecursiveNetwork.new(6, 6 if kind == "chain" else 0, int(kind == "chain"), "identity")
    ranker = Ranker.new(network, 10)
    before = hits(ranker, structures, vectors, pictures, owners, loss == "squared")
    options = RankingOptions(loss=loss, margin=1.0, l2=0.01, rate=0.05, epochs=40, batch=20)
    ranker, losses = train_ranker(ranker, structures, vectors, pictures, owners, options)
    assert losses[-1] < 0.5 * losses[0]
    assert hits(ranker, structures, vectors, pictures, owners, loss == "squared") > before + 0.3


def test_the_whole_loss_has_the_gradients_of_differences():
    structures, vectors, pictures, owners = planted(images=6, network="chain")
    ranker = Ranker.new(RecursiveNetwork.new(6, 6, 1, noise=0.2), 10)
    options = RankingOptions(margin=1.0, l2=0.5)
    chosen = np.arange(len(owners))

    def value():
        return ranker.loss(structures, chosen, vectors, pictures, owners, options)[0]

    gradients = ranker.loss(structures, chosen, vectors, pictures, owners, options)[1]
    random = np.random.default_rng(0)
    for name, table in ranker.parameters().items():
        for flat in random.choice(table.size, 8, replace=False).tolist():
            index = np.unravel_index(flat, table.shape)
            assert relative(slope(value, table, index), gradients[name][index]) < 1e-5


def test_the_best_scored_epoch_is_kept():
    structures, vectors, pictures, owners = planted(images=8)
    scores = iter([3.0, 1.0, 2.0])
    maps = []

    def score(ranker):
        maps.append(ranker.image_map.copy())
        return next(scores)

    ranker = Ranker.new(RecursiveNetwork.new(6, 0, 0, "identity"), 10)
    options = RankingOptions(epochs=6, every=2)
    best, _ = train_ranker(ranker, structures, vectors, pictures, owners, options, score)
    assert (best.image_map == maps[1]).all()


def test_squared_distances_move_the_map_and_the_network_by_turns():
    structures, vectors, pictures, owners = planted(images=8, network="chain")
    options = RankingOptions(loss="squared", epochs=1)
    ranker = Ranker.new(RecursiveNetwork.new(6, 6, 1), 10)
    start = ranker.copy()
    train_ranker(ranker, structures, vectors, pictures, owners, options)
    assert (ranker.image_map != start.image_map).any()
    assert (ranker.network.parameters["edges"] == start.network.parameters["edges"]).all()


def test_adagrad_forgets_every_few_epochs():
    steps = []
    for reset in (0, 2):
        weights, descent = {"w": np.zeros(1)}, ResettingAdaGrad(rate=1.0, reset=reset)
        places = [0.0]
        for epoch in range(4):
            descent.begin_epoch(epoch)
            descent.step(weights, {"w": np.array([10.0])})
            places.append(float(weights["w"][0]))
        steps.append(-np.diff(places))
    sums = 1 + 100 * np.arange(1, 5)
    assert steps[0] == pytest.approx(10 / np.sqrt(sums))
    assert steps[1] == pytest.approx(10 / np.sqrt(sums[[0, 1, 0, 1]]))


def test_options_and_data_are_checked():
    structures, vectors, pictures, owners = planted(images=4)
    with pytest.raises(ConfigError, match="loss must be"):
        RankingOptions(loss="hinge")
    ranker = Ranker.new(RecursiveNetwork.new(6, 0, 0, "identity"), 10)
    with pytest.raises(DataError, match="one image per sentence"):
        train_ranker(ranker, structures, vectors, pictures, owners[:-1], RankingOptions())


def views(seed=0, n=60):
    random = np.random.default_rng(seed)
    hidden = random.standard_normal((n, 2))
    noise = 0.5 * random.standard_normal((n, 9))
    return hidden @ random.standard_normal((2, 5)) + noise[:, :5], hidden @ random.standard_normal((2, 4)) + noise[
        :, 5:
    ]


def test_correlations_are_those_of_the_generalized_eigenvalue_problem():
    from scipy.linalg import eigh

    x, y = views()
    ridge = 0.7
    found = CCA.fit(x, y, 3, ridge=ridge)
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    cross, left, right = a.T @ b, a.T @ a + ridge * np.eye(5), b.T @ b + ridge * np.eye(4)
    values = eigh(cross @ np.linalg.solve(right, cross.T), left, eigvals_only=True)[::-1][:3]
    assert found.correlations == pytest.approx(np.sqrt(values))


def test_linear_kernels_project_as_the_plain_analysis_does():
    x, y = views()
    plain, kernels = CCA.fit(x[:50], y[:50], 2, ridge=0.7), KernelCCA.fit(x[:50], y[:50], 2, ridge=0.7)
    for one, other in ((plain.first(x), kernels.first(x)), (plain.second(y), kernels.second(y))):
        signs = np.sign((one * other).sum(axis=0))
        assert np.allclose(one, other * signs, atol=1e-8)


def test_other_kernels_see_what_is_not_linear():
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 120)
    x, y = np.c_[np.cos(angle), np.sin(angle)], np.c_[np.cos(2 * angle), np.sin(2 * angle)]
    linear, curved = (KernelCCA.fit(x, y, 1, ridge=0.1, kernel=kind).correlations[0] for kind in ("linear", "rbf"))
    assert curved > linear + 0.3
