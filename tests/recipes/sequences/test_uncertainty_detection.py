"""Checks of the sheet of uncertainty-detection on BioScope (1, 2, 4 and 7 also in tests/infer, learn and formats).

Tags and lemmas come from models trained on a part of the treebanks; there are no trees, so that CUESCOPE is cut by
words and tags: with trees it is so good that hardly anything is left to learn (see docs/tasks/uncertainty.md).
"""

import time
from dataclasses import replace

import numpy as np
import pytest

from weft.data import have
from weft.evaluate.labels.hedges import score_hedges
from weft.features.templates import Templates
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences.uncertainty_detection import data as material
from weft.recipes.sequences.uncertainty_detection import experiment as recipe
from weft.tasks.uncertainty.data import Space, look
from weft.tasks.uncertainty.features import BIO_SENTENCES, with_cues
from weft.tasks.uncertainty.models import LabelModel, Margin, SentenceModel
from weft.text.conventions.hedges import Hedge

NEEDED = (material.ABSTRACTS, material.PAPERS, *material.TREEBANKS, material.SUBJECTIVE, material.OBJECTIVE)
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not all(map(have, NEEDED)), reason="BioScope is not at hand: set WEFT_DATA (see `weft data list`)"
    ),
]
#: For scopes without trees: as chosen on folds of the abstracts.
MARGIN = Margin(l2=1.0, rate=1.0, epochs=10)


@pytest.fixture(scope="module")
def abstracts():
    options = RecipeOptions()
    nlp = material.annotators(options, ("tagger", "lemmatizer"), every=12)
    docs = list(material.read(options.find(material.ABSTRACTS)))
    nlp.annotate(docs)
    return material.Sentences.of(docs)


@pytest.fixture(scope="module")
def halves(abstracts):
    """Sentences to learn from (800 abstracts) and to look at."""
    return np.flatnonzero(abstracts.document < 800), np.flatnonzero(abstracts.document >= 800)


@pytest.fixture(scope="module")
def scopes(abstracts):
    return recipe.ScopeTask.of(abstracts)


@pytest.fixture(scope="module")
def sentence_features(abstracts):
    return look(abstracts.seen, Templates(BIO_SENTENCES))


@pytest.fixture(scope="module")
def cue_models(abstracts, halves):
    """Cue models on 3,000 sentences, hashed and with a dictionary."""
    cues = recipe.CueTask.of(abstracts)
    return cues, {bits: cues.fit(halves[0][:3000], range(6), bits=bits) for bits in (0, 18)}


def sentence_f1(abstracts, features, halves, chosen, penalty):
    train, dev = halves
    own = features.choose(chosen)
    model = SentenceModel.fit(Templates(BIO_SENTENCES), own.take(train), abstracts.uncertain[train], penalty, recipe.C)
    return 100 * recipe.uncertain_f1(model, own.take(dev), abstracts.uncertain[dev]), model, own


def test_the_corpus_is_that_of_the_plan(abstracts):
    assert len(abstracts) == 11871
    assert int(abstracts.uncertain.sum()) == 2101
    assert sum(len(hedge.pieces) > 1 for found in abstracts.hedges for hedge in found) >= 34


@pytest.mark.must_show("uncertainty-detection", 5)
def test_bigrams_of_lemmas_help_and_l1_is_better_and_sparse(abstracts, sentence_features, halves):
    alone, _, _ = sentence_f1(abstracts, sentence_features, halves, [0, 1], "l1")
    pairs, sparse, own = sentence_f1(abstracts, sentence_features, halves, [0, 1, 2], "l1")
    dense, _, _ = sentence_f1(abstracts, sentence_features, halves, [0, 1, 2], "l2")
    assert pairs > alone > 85
    assert pairs >= dense
    assert np.count_nonzero(sparse.weights) < 0.05 * len(np.unique(own.keys))


@pytest.mark.must_show("uncertainty-detection", 5)
def test_l2_is_at_least_as_good_as_l1_where_evidence_is_spread_over_many_words():
    doc = material.subjectivity(RecipeOptions()).subset(range(6000))
    templates = Templates("SENLEN[0] TOKEN[0] TOKEN[0]|TOKEN[1]|SENLEN[0]")
    part = material.Sentences.of([doc])
    observed = look(part.seen, templates)
    train, dev = np.arange(4000), np.arange(4000, 6000)
    scores = {}
    for penalty in ("l1", "l2"):
        model = SentenceModel.fit(templates, observed.take(train), part.uncertain[train], penalty, recipe.C)
        scores[penalty] = recipe.uncertain_f1(model, observed.take(dev), part.uncertain[dev])
    assert scores["l2"] >= scores["l1"] > 0.7


@pytest.mark.must_show("uncertainty-detection", 3)
def test_hashing_hardly_changes_f1_and_keeps_no_dictionary(abstracts, sentence_features, cue_models, halves):
    cues, models = cue_models
    train, dev = halves
    own = sentence_features.choose([0, 1, 2])
    judged = {}
    for bits in (0, 18):
        model = SentenceModel.fit(
            Templates(BIO_SENTENCES),
            own.take(train[:3000]),
            abstracts.uncertain[train[:3000]],
            "l1",
            recipe.C,
            bits=bits,
        )
        judged[bits] = recipe.uncertain_f1(model, own.take(dev), abstracts.uncertain[dev])
    assert abs(judged[0] - judged[18]) <= 0.005
    f1: dict[int, list[float]] = {0: [], 18: []}
    for outside, inside in abstracts.folds():
        for bits, found in f1.items():
            model = cues.fit(outside[:3000], range(6), bits=bits)
            found.append(cues.token_f1(cues.labels(model, inside, range(6)), inside))
    assert abs(np.mean(f1[0]) - np.mean(f1[18])) <= 0.005
    assert np.mean(f1[18]) > 0.75
    space: Space = models[18].space
    assert len(space.keys) == len(space.starts) == 0
    assert space.size == 2**18 * space.n_labels
    assert len(models[0].space.keys) > 10_000


def test_words_alone_find_cues_and_a_word_never_met_is_none(abstracts, cue_models, halves):
    cues, _ = cue_models
    dev = halves[1]
    words = cues.fit(halves[0][:3000], [0], bits=0)
    assert cues.token_f1(cues.labels(words, dev, [0]), dev) > 0.7  # paper: 74.0


@pytest.mark.must_show("uncertainty-detection", 1)
def test_a_beam_of_five_is_within_one_percent_of_the_exact_search(scopes, halves):
    own, held = scopes.inside(halves[0]), scopes.inside(halves[1])[:500]
    everything = range(len(scopes.templates))
    model = scopes.fit(own[:800], everything, replace(MARGIN, epochs=5))
    data = model.space.sequences(scopes.observed.take(held))
    assert data.patterns.reach == 2
    exact, narrow = data.chain(model.weights, 9), data.chain(model.weights, 5)  # 9 = 3 labels over a reach of 2
    best, found = exact.score(exact.best()), narrow.score(narrow.best())
    assert (found <= best + 1e-9).all()
    assert found.sum() >= best.sum() - 0.01 * abs(best.sum())
    assert (exact.best() == narrow.best()).mean() >= 0.99


@pytest.mark.must_show(
    "uncertainty-detection", 6, weaker="label history adds a point, and eight only where CUESCOPE is made worse by hand"
)
def test_label_history_and_windows_over_the_cue_help_scopes(scopes, halves):
    own, held = scopes.inside(halves[0]), scopes.inside(halves[1])
    accuracy, exact = {}, {}
    for last in (1, 2, 4, 6):
        model = scopes.fit(own, range(last), MARGIN)
        accuracy[last] = scopes.label_accuracy(model, held, range(last))
        exact[last] = scopes.exact(model, held, range(last)).total().f1
    # The sheet expects 8 points; here CUESCOPE alone is right for far more words than in the paper (66.9 %).
    assert accuracy[1] > 0.75
    assert accuracy[2] >= accuracy[1] + 0.01
    assert exact[6] > exact[4]


@pytest.mark.must_show(
    "uncertainty-detection", 6, weaker="label history adds a point, and eight only where CUESCOPE is made worse by hand"
)
def test_label_history_adds_eight_points_where_cuescope_is_as_poor_as_in_the_paper(abstracts, scopes, halves):
    """CUESCOPE with a quarter of its words turned around, which takes it down to the accuracy of the paper."""
    numbers = scopes.inside(halves[0])[:900]
    items = [scopes.items[number] for number in numbers]
    seen = with_cues(abstracts.seen, abstracts.trees, [(s, hedge.cue) for s, hedge in items])
    turned = np.random.default_rng(0).random(seen.n_words) < 0.25
    values = [
        {"yes": "no", "no": "yes"}[value] if turn else value
        for value, turn in zip(seen.column("CUESCOPE"), turned, strict=True)
    ]
    seen.set_column("CUESCOPE", values)
    templates = Templates("CUESCOPE[0] LABEL{-2..-1}")
    noisy = recipe.ScopeTask(abstracts, items, templates, look(seen, templates))
    scores = []
    for chosen in ([0], [0, 1]):
        model: LabelModel = noisy.fit(range(600), chosen, MARGIN)
        scores.append(noisy.label_accuracy(model, range(600, len(items)), chosen))
    assert scores[0] < 0.72
    assert scores[1] >= scores[0] + 0.08


@pytest.mark.must_show(
    "uncertainty-detection", 6, weaker="label history adds a point, and eight only where CUESCOPE is made worse by hand"
)
def test_scopes_of_gold_cues_are_well_above_those_of_found_cues(abstracts, scopes, cue_models, halves):
    cues, models = cue_models
    dev = halves[1]
    chosen = range(len(scopes.templates))
    model = scopes.fit(scopes.inside(halves[0]), chosen, MARGIN)
    with_gold = scopes.exact(model, scopes.inside(dev), chosen).total().f1
    pairs = recipe.seen_pairs(
        [abstracts.trees[s] for s in halves[0]], [abstracts.hedges[s] for s in halves[0]]
    )  # fmt: skip
    found = cues.cues(cues.labels(models[18], dev, range(6)), dev, pairs)
    given = [(int(s), hedge) for s, each in zip(dev, found, strict=True) for hedge in each]
    task = recipe.ScopeTask.of(abstracts, given)
    assembled = task.scopes(model, range(len(given)), chosen)
    gold = [[hedge for hedge in abstracts.hedges[s] if hedge.scope is not None] for s in dev]
    report = score_hedges(gold, [assembled.get(int(s), []) for s in dev])
    assert with_gold >= report.scopes.total().f1 + 0.05
    for s, hedges in assembled.items():
        assert all(isinstance(hedge, Hedge) and hedge.scope[0] <= hedge.cue[0] for hedge in hedges)
        assert all(hedge.scope[1] <= len(abstracts.trees[s]) for hedge in hedges)


@pytest.mark.must_show("uncertainty-detection", 8)
@pytest.mark.timing
def test_cues_and_scopes_of_the_whole_corpus_train_in_a_minute(abstracts, scopes):
    started = time.process_time()
    cues = recipe.CueTask.of(abstracts)
    cues.fit(range(len(abstracts)), range(6))
    scopes.fit(range(len(scopes.items)), range(len(scopes.templates)), MARGIN)
    assert time.process_time() - started < 60
