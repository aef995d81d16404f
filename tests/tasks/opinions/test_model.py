"""Models of opinions on generated sentences: what the sheet asks of them."""

from __future__ import annotations

import numpy as np
import pytest

from weft.infer.supports.problem import Demands, Scores, violations
from weft.infer.supports.program import solve_program
from weft.infer.supports.search import best_graph
from weft.learn.latent.structural import LatentSVM
from weft.recipes.extraction.senti_lssvm.experiment import Size, judge_generated, judge_rule, train
from weft.recipes.extraction.senti_lssvm.generated import generate, lexicon
from weft.tasks.opinions.features import FeatureMaker
from weft.tasks.opinions.model import LATENT, PLAIN, SEPARATE, Training
from weft.tasks.opinions.sentences import LABELS, OTHER
from weft.tasks.opinions.structure import (
    Compiler,
    Costs,
    OpinionStructure,
    Vocabulary,
    decode,
    least_labelled,
    scores_of,
)

SIZE = Size(passes=5)


@pytest.fixture(scope="module")
def known():
    return generate(300, 1)


@pytest.fixture(scope="module")
def unseen():
    return generate(200, 1001)


@pytest.fixture(scope="module")
def models(known):
    maker = FeatureMaker(lexicon())
    return {
        method: train([each.sentence for each in known], maker, method, SIZE) for method in (LATENT, PLAIN, SEPARATE)
    }


def compiled(sentences, costs=None, penalty=1e-4):
    """Sheets of sentences, and the structure that learns from them."""
    vocabulary = Vocabulary()
    compiler = Compiler(FeatureMaker(lexicon()))
    sheets = [compiler.compile(each.sentence, vocabulary) for each in sentences]
    return sheets, OpinionStructure(sheets, len(vocabulary), costs or Costs(0.2, 0.1))


@pytest.mark.must_show("senti-lssvm", 1)
def test_the_search_equals_the_integer_program_on_sentences(known):
    sheets, structure = compiled(known[:12])
    draw = np.random.default_rng(3)
    for sheet in sheets:
        weights = draw.normal(size=structure.size)
        scores = scores_of(sheet, weights, structure.n_features)
        demands = Demands(0.1, least_labelled(sheet.graph))
        one, other = best_graph(sheet.graph, scores, demands), solve_program(sheet.graph, scores, demands)
        assert one.value == pytest.approx(other.value, abs=1e-6)


@pytest.mark.must_show("senti-lssvm", 2)
def test_decoded_graphs_satisfy_all_constraints_and_there_always_is_one(known):
    sheets, structure = compiled(known[:100])
    draw = np.random.default_rng(5)
    for sheet in sheets:
        found = decode(sheet, draw.normal(size=structure.size), structure.n_features, Costs(0.2, 0.1))
        demands = Demands(0.1, least_labelled(sheet.graph))
        assert violations(sheet.graph, found.rows, found.labels, demands) == []


@pytest.mark.must_show("senti-lssvm", 3)
@pytest.mark.parametrize("once", [False, True])
def test_the_margin_is_never_negative_and_the_objective_falls(known, once):
    _, structure = compiled(known[:60], Costs(0.2, 0.1, once))
    _, course = LatentSVM(passes=4).fit(structure)
    assert course.least_margin >= -1e-9
    assert course.objective[-1] < 0.5 * course.objective[0]
    assert course.objective == sorted(course.objective, reverse=True)
    # What cannot be completed is left out; that must be the exception.
    assert course.skipped <= 0.05 * len(structure)


@pytest.mark.must_show("senti-lssvm", 3)
def test_the_augmented_answer_is_the_best_one_with_the_costs_of_wrong_labels(known):
    sheets, structure = compiled(known[:8])
    weights = np.zeros(structure.size)
    for number, sheet in enumerate(sheets):
        costs = 0.2 * (sheet.gold[sheet.graph.edges][:, None] != np.arange(len(LABELS)))
        _, _, demands = structure._known[number]
        best = solve_program(sheet.graph, Scores.of(sheet.graph, costs), demands)
        assert structure.augment(number, weights).value(weights) == pytest.approx(best.value, abs=1e-6)
        assert best.value > 0


def test_completed_graphs_have_gold_labels_and_as_many_edges_as_can_be(known):
    sheets, structure = compiled(known[:60])
    draw = np.random.default_rng(7)
    for number, sheet in enumerate(sheets):
        weights = draw.normal(size=structure.size)
        fixed, demands, _ = structure._known[number]
        found = best_graph(fixed, scores_of(sheet, weights, structure.n_features), demands)
        labelled = found.labels >= 0
        assert (found.labels[labelled] == sheet.gold[labelled]).all()
        assert labelled.sum() >= fixed.matching()


def test_hidden_parts_are_fixed_between_completions(known):
    _, structure = compiled(known[:30])
    calls = []
    complete = structure.complete
    structure.complete = lambda example, weights: calls.append(example) or complete(example, weights)
    LatentSVM(passes=4, inner=2).fit(structure)
    assert len(calls) == 2 * len(structure)
    LatentSVM(passes=4).fit(structure)
    assert len(calls) == 6 * len(structure)


@pytest.mark.must_show("senti-lssvm", 4)
def test_a_larger_penalty_makes_a_sparser_model(known):
    _, structure = compiled(known[:40])
    kept = [int(np.count_nonzero(LatentSVM(penalty, passes=3).fit(structure)[0])) for penalty in (1e-3, 1e-2, 1e-1)]
    assert kept[0] > kept[1] > kept[2]


@pytest.mark.must_show("senti-lssvm", 5)
def test_latent_evidence_is_better_than_windows_and_windows_than_the_rule(models, unseen):
    latent, plain = (judge_generated(unseen, models[method]) for method in (LATENT, PLAIN))
    rule = judge_rule([each.sentence for each in unseen], lexicon())
    f = [100 * outcome.counts().total().f1 for outcome in (latent, plain, rule)]
    assert f[0] > f[1] + 5
    assert f[1] > f[2] + 5
    assert latent.rested >= 0.9 * latent.asked > 0


@pytest.mark.must_show("senti-lssvm", 6)
def test_the_joint_model_is_no_worse_on_mixed_sentences_and_never_contradicts_itself(models):
    mixed = generate(150, 2001, mixed=True)
    joint, separate = (judge_generated(mixed, models[method]).counts().total().f1 for method in (LATENT, SEPARATE))
    assert joint >= separate
    for method in (LATENT, SEPARATE):
        for each in mixed:
            found = [one for one in models[method].predict(each.sentence) if one.label != OTHER]
            judged = {one.edge.aspect for one in found if not one.edge.compares and one.edge.aspect >= 0}
            assert not judged & {one.edge.aspect for one in found if one.edge.is_ternary}


@pytest.mark.must_show("senti-lssvm", 7)
def test_predictors_matter_most_where_training_data_are_few(unseen):
    lost = []
    for count in (30, 300):
        sentences = [each.sentence for each in generate(count, 4000)]
        scores = [
            judge_generated(unseen, train(sentences, FeatureMaker(lexicon(), without=frozenset(own)), LATENT, SIZE))
            for own in ((), ("predictors",))
        ]
        lost.append(scores[0].counts().total().f1 - scores[1].counts().total().f1)
    assert lost[0] > lost[1]
    assert lost[0] > 0.02


def test_direction_is_turned_into_preference():
    each = next(one for one in generate(50, 1, mixed=True) if any(label == 4 for label in one.sentence.gold.values()))
    edge = next(edge for edge in each.sentence.gold if edge.is_ternary)
    names = each.sentence.names
    [worse] = each.sentence.relations_of({edge: LABELS.index("worse")})
    [better] = each.sentence.relations_of({edge: LABELS.index("better")})
    assert (better.entity, better.other) == (names[edge.entity], names[edge.other])
    assert (worse.entity, worse.other) == (names[edge.other], names[edge.entity])
    assert better.label == worse.label == "preferred"


def test_training_is_the_same_for_the_same_seed(known):
    sentences = [each.sentence for each in known[:40]]
    one, other = (
        Training(svm=LatentSVM(passes=2, seed=4)).fit(sentences, FeatureMaker(lexicon())).parts[0].weights
        for _ in range(2)
    )
    assert one.tobytes() == other.tobytes()
