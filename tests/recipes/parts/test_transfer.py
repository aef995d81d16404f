"""Parts of systems for transfer and weak supervision that scores do not tell apart: each of them changes the result."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from weft.formats.reviews import Review
from weft.learn.bitext.projection import project_labels
from weft.learn.generative.dmv_model import TagBatch, harmonic_start
from weft.learn.generative.grammar_induction import induce, pair_features
from weft.lexical.clusters.cross_lingual import Bitext, cross_clusters
from weft.lexical.dictionary import TagDictionary
from weft.tasks.entities.transfer_data import TransferData, TransferSettings, small_example
from weft.tasks.sentiment.polarity_model import choose_pivots
from weft.tasks.sentiment.sentences import SentimentAnalyser, SentimentSettings
from weft.tasks.tagging import weak
from weft.tasks.tagging.trigram_graph import TypeGraph
from weft.tasks.tagging.weak import WeakTagger, WeakTaggerSettings
from weft.text import Doc
from weft.text.bitext import Links


def test_links_below_the_threshold_give_no_cluster():
    english = [["the", noun, verb] for noun in ("cat", "dog") for verb in ("runs", "sits")]
    german = [["die", noun, verb] for noun in ("katze", "kuh") for verb in ("rennt", "sitzt")]
    links = Links.of([[(0, 0), (1, 1, 0.5), (2, 2)]])
    bitext = Bitext([["the", "cat", "runs"]], [["die", "katze", "rennt"]], links)
    for threshold, linked in ((0.95, ["die", "rennt"]), (0.4, ["die", "katze", "rennt"])):
        found = cross_clusters(english, german, bitext, "projected", n_classes=3, min_count=1, threshold=threshold)
        assert sorted(found.target.paths()) == linked


def test_links_vote_by_their_scores():
    links = Links.of([[(0, 0, 0.9), (1, 0, 0.2), (2, 0, 0.2)]])
    assert project_labels(links, [7, 3, 3], [0, 3], [0, 1]).tolist() == [7]


def test_only_target_sentences_have_native_clusters():
    data = TransferData(TransferSettings(min_count=1), small_example())
    source, target = data.sources["en"][0], data.target[0]
    assert "native cluster" in data.seen(target, data.code).columns
    assert "native cluster" not in data.seen(source, "en").columns


def test_propagation_over_types_is_anchored_at_labelled_ones_and_drawn_to_uniform():
    labelled, raw = [["a", "b", "c"], ["a", "d", "c"]], [["a", "e", "c"], ["a", "f", "c"], ["x", "y", "z"]]
    types = TypeGraph.build([Doc.from_words(labelled)], [0, 1, 2, 0, 1, 2], [Doc.from_words(raw)], n_tags=3)
    n, mu, nu = types.graph.n_vertices, 0.5, 0.01
    one, other, weight = types.graph.edges()
    assert len(weight)
    between = np.zeros((n, n))
    between[one, other] = between[other, one] = weight
    known, right = np.zeros(n), np.full((n, 3), nu / 3)
    known[types.labelled] = 1.0
    right[types.labelled] += types.targets
    system = np.diag(known + nu + mu * between.sum(axis=1)) - mu * between
    posteriors = np.random.default_rng(0).dirichlet(np.ones(3), size=len(types.of_token))
    found = types.spread(posteriors, mu, nu, sweeps=3000)
    np.testing.assert_allclose(found, np.linalg.solve(system, right), atol=1e-4)


def reviews(labelled: bool) -> list[Doc]:
    rows = [("lovely warm day .", "pos", 5), ("dull cold room .", "neg", 1), ("paper on table .", "neu", 3)]
    return [
        Review(text, stars, sentences=(text,), labels=(label,) if labelled else (), domain="things").doc()
        for text, label, stars in rows
    ]


def test_a_cascade_sees_the_predictions_of_its_coarse_model():
    analyser = SentimentAnalyser(SentimentSettings(learning="cascaded", epochs=1, min_count=1))
    analyser.fit([*reviews(False), *reviews(True)])
    keys = analyser._derived(reviews(True))
    assert keys is not None
    assert keys.shape == (3, 171)


def test_interpolation_mixes_by_its_share_and_not_by_the_number_of_documents(monkeypatch):
    shares = []
    learner = SentimentSettings.learner
    monkeypatch.setattr(SentimentSettings, "learner", lambda self, share: shares.append(share) or learner(self, share))
    settings = SentimentSettings(learning="interpolated", epochs=1, min_count=1, share=0.1)
    SentimentAnalyser(settings).fit([*reviews(False), *reviews(True)])
    assert set(shares) == {0.1}


def test_pairs_of_tags_are_one_group_over_all_sentences():
    tags = np.array([0, 1, 1])
    alone = pair_features(TagBatch(tags, np.array([0, 3]), 2), symmetric=True)
    twice = pair_features(TagBatch(np.tile(tags, 2), np.array([0, 3, 6]), 2), symmetric=True)
    assert len(twice.groups) == len(alone.groups)
    assert twice.size == 2 * alone.size


def test_sparse_posteriors_are_not_em():
    rng = np.random.default_rng(0)
    batch = TagBatch(rng.integers(0, 4, 60), np.arange(0, 61, 5), 4)
    found = {
        method: induce(batch, harmonic_start(batch), method, strength=5.0, iterations=3).model.child
        for method in ("em", "pr-s", "pr-as")
    }
    assert not np.allclose(found["em"], found["pr-as"])
    assert not np.allclose(found["pr-s"], found["pr-as"])


DICTIONARY = TagDictionary({"the": ["DET"], "stone": ["NOUN"], "sinks": ["VERB"], "turns": ["NOUN", "VERB"]})


def projected() -> Doc:
    """Of the sentences' tags some are projected, one of them against the dictionary."""
    words = [["the", "stone", "turns"], ["the", "turns", "sinks"]] * 3
    return Doc.from_words(words, upos=[["DET", "VERB", "VERB"], ["", "NOUN", ""]] * 3)


def test_coupled_models_are_normalized_over_the_tags_of_the_dictionary(monkeypatch):
    given = []
    batches = weak.lattice_batches
    monkeypatch.setattr(weak, "lattice_batches", lambda *each: given.append(each) or batches(*each))
    WeakTagger(WeakTaggerSettings(iterations=2), DICTIONARY).fit([projected()])
    _, _, space, allowed = given[0]
    assert space.shape[1] == 12
    assert space.sum(axis=1).max() == 2  # "turns", and nothing has all twelve
    assert (space >= allowed).all()


def test_the_rule_for_conflicts_decides_what_is_learned(monkeypatch):
    seen = {}
    couple = weak.couple
    for rule in ("type", "union", "token"):
        monkeypatch.setattr(weak, "couple", lambda *each, rule=rule: seen.setdefault(rule, couple(*each)))
        WeakTagger(WeakTaggerSettings(iterations=2, conflict=rule), DICTIONARY).fit([projected()])
    stone = {rule: int(lattices.allowed[1].sum()) for rule, lattices in seen.items()}
    assert stone == {"type": 1, "union": 2, "token": 1}
    assert not np.array_equal(seen["type"].allowed[1], seen["token"].allowed[1])


def test_pivots_occur_in_documents_of_both_domains():
    # Term 0 tells the label and is of the source alone; terms 1 and 2 are in both domains.
    source = csr_matrix(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 1]] * 4, dtype=float))
    target = csr_matrix(np.array([[0, 1, 0], [0, 1, 1], [0, 0, 1]] * 4, dtype=float))
    y = [1, 1, -1, -1] * 4
    for method in ("scl", "scl-mi"):
        assert sorted(choose_pivots(method, source, y, [source, target], 3, more_than=5).tolist()) == [1, 2]
