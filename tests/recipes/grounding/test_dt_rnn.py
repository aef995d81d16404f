"""The recipe of dt-rnn: splits, stand-in images, role swaps, and the order of systems on a few categories."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import DataError
from weft.evaluate.retrieval import expected_rank
from weft.features.representations.ppmi import WordTable
from weft.recipes.framework import RecipeOptions
from weft.recipes.grounding.dt_rnn import experiment
from weft.recipes.grounding.dt_rnn.corpora import Pascal, RawCaptions, standardized, triple_images
from weft.recipes.grounding.dt_rnn.systems import (
    Correlation,
    Data,
    Network,
    correlated,
    ranks,
    trained,
)
from weft.tasks.images.probe import NOUNS, VERBS, triples
from weft.tasks.images.trees import CaptionTree


def tree_of(triple):
    """The tree of `A man bites a dog.` without a parser."""
    words = ("a", triple.subject, triple.verb, "a", triple.object)
    return CaptionTree(words, np.array([2, 3, 0, 5, 3]), ("det", "nsubj", "root", "det", "obj"))


@pytest.fixture(scope="module")
def probe():
    """Trees and images of generated triples: to train on, to choose on, to test, with random word vectors."""
    drawn, n, tests = triples(900, 0), 700, 100
    groups = [
        drawn[:n],
        *([*own, *(each.swapped for each in own)] for own in (drawn[n : n + tests], drawn[n + tests :])),
    ]
    pictures = triple_images([each for own in groups for each in own], 256, 0)
    parts = np.split(standardized(pictures, pictures[:n]), np.cumsum([len(own) for own in groups])[:-1])
    words = ["a", *NOUNS, *VERBS]
    table = np.random.default_rng(0).standard_normal((len(words), 30))
    sets = [
        Data([tree_of(each) for each in own], np.arange(len(own)), part)
        for own, part in zip(groups, parts, strict=True)
    ]
    return WordTable.of(words, table / np.linalg.norm(table, axis=1, keepdims=True)), *sets


@pytest.mark.must_show(
    "dt-rnn", 6, weaker="role swaps of 700 generated sentences with random word vectors; real captions are recorded"
)
def test_a_bag_of_words_gets_half_of_the_role_swaps_and_labels_at_least_four_fifths(probe):
    table, train, dev, test = probe
    shares = {}
    for kind in ("bow", "sdt", "dt"):
        network = Network(kind, length=4.0, l2=1.0, rate=0.03, epochs=16, every=4)
        shares[kind] = experiment.role_share(trained(network, table, train, dev), test)
    assert shares["bow"] == 0.5
    assert shares["sdt"] >= 0.8
    assert shares["dt"] >= 0.8


def test_stand_in_images_tell_who_does_what():
    (triple,) = triples(1)
    one, other, noisy = triple_images([triple, triple.swapped, triple], 64, 0)
    assert 0 < np.linalg.norm(one - noisy) < 0.3 * np.linalg.norm(one - other)


def test_ranks_of_sentences_leave_out_the_sentence_itself():
    found = Data([], np.array([0, 0, 1, 1]), np.eye(2))
    sentences = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    own = ranks(sentences, np.eye(2), found)
    assert own.similar.tolist() == own.search.tolist() == [1.0] * 4
    assert own.describe.tolist() == [1.0, 1.0]


def test_euclidean_ranks_are_those_of_distances():
    random = np.random.default_rng(0)
    sentences, images = random.standard_normal((6, 3)), 2 * random.standard_normal((3, 3))
    own = ranks(sentences, images, Data([], np.array([0, 0, 1, 1, 2, 2]), images), euclidean=True)
    distances = np.linalg.norm(sentences[:, None] - images, axis=2)
    wanted = [1 + (row < row[k // 2]).sum() for k, row in enumerate(distances)]
    assert own.search.tolist() == wanted


def test_nodes_one_by_one_give_what_heights_give(probe):
    table, train, dev, _ = probe
    model = trained(Network("sdt", epochs=1, every=1), table, train, dev)
    structures = model.encoder.structures(train.trees[:40])
    found = experiment.node_by_node(structures, model.vectors, model.ranker.network.parameters)
    assert np.abs(found - model.encode(train.trees[:40])).max() < 1e-10


@pytest.fixture(scope="module")
def pascal():
    options = RecipeOptions()
    try:
        return Pascal.read(options, 5), RawCaptions(options, 1)
    except DataError as missing:
        pytest.skip(str(missing))


@pytest.mark.corpus
def test_splits_hold_out_five_images_per_category(pascal):
    found, _ = pascal
    parts = found.split(0)
    assert [len(part.images) for part in parts] == [200, 25, 25]
    together = np.concatenate([part.images for part in parts])
    assert sorted(together.tolist()) == list(range(250))
    for part in parts[1:]:
        counts = {name: sum(found.categories[k] == name for k in part.images) for name in set(found.categories)}
        assert set(counts.values()) == {5}
    assert not np.array_equal(found.split(1)[2].images, parts[2].images)


@pytest.mark.corpus
@pytest.mark.must_show("dt-rnn", 6, weaker="five categories of one split; orders of systems are recorded at full size")
def test_on_five_categories_every_system_is_twice_as_good_as_chance_and_the_margin_pays(pascal):
    found, raw = pascal
    parts = found.split(0)
    images = found.standardized(parts[0])
    sets = [Data(found.trees_of(part), part.owners, images[part.images]) for part in parts]
    table = raw.table(sets[0].trees, 50)
    search = {"kCCA": correlated(table, sets[0], sets[2], Correlation()).search.mean()}
    for kind in ("bow", "dt", "sdt", "rnn", "ct"):
        network = Network(kind, length=4.0, l2=100.0, epochs=12)
        search[kind] = trained(network, table, sets[0], sets[1]).ranks(sets[2]).search.mean()
    squared = trained(Network("bow", epochs=12), table, sets[0], sets[1], squared=True).ranks(sets[2])
    assert max(search.values()) < expected_rank(1, 25) / 2
    assert search["bow"] < squared.search.mean()
