"""The search for rules, the committee, votes and stumps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.evaluate.kappa import cohen_kappa
from weft.learn.linear.softmax import fit_softmax, softmax
from weft.recipes.grounding.rare_social_phenomena.experiment import QUICK, planted_run
from weft.recipes.grounding.rare_social_phenomena.planted import planted_chats
from weft.tasks.phenomena.committee import VOTES, Search, fit_committee, grouped_folds, learn_rules, vote
from weft.tasks.phenomena.instances import Instance, Lines, vocabulary_of
from weft.tasks.phenomena.model import Split, fit_model
from weft.tasks.phenomena.rules import all_lines, apply_rule, extract, mean_probability

LABELS = ("NA", "NEG", "POS")


@pytest.fixture(scope="module")
def small():
    """Generated chats with a planted cue: lines, labels, conversations, words."""
    instances = planted_chats(0, chats=6, each=50)
    vocabulary = vocabulary_of(instances)
    labels = np.array([LABELS.index(each.label) for each in instances])
    return Lines.of(instances, vocabulary), labels, [each.conversation for each in instances], list(vocabulary)


@pytest.fixture(scope="module")
def learned(small):
    lines, labels, groups, _ = small
    held = grouped_folds(groups, 3) == 0
    return held, *learn_rules(lines, labels, 3, 0, held, Search(frequency=0.15, threshold=0.002, width=20))


@pytest.mark.must_show("rare-social-phenomena", 3)
def test_every_accepted_rule_gains_and_the_base_never_falls(small, learned):
    lines, labels, _, _ = small
    held, rules, rounds = learned
    assert rules
    assert all(each.gain >= 0.002 for each in rules)
    bases = [each.base for each in rounds]
    assert all(later >= earlier for earlier, later in pairwise(bases))
    # The same, recomputed: each rule on top of those before it, a model trained anew, minority labels alone.
    left, known = all_lines(lines), []
    for number in range(len(rules) + 1):
        rows = extract(lines, left)
        weights = fit_softmax(rows, labels, 3, weight=(~held).astype(float), tolerance=1e-6)
        found = softmax(rows, weights)
        judged = held & (labels != 0)
        known.append(float(np.mean(found[judged, labels[judged]])))
        again = mean_probability(rows.starts, rows.lengths, rows.columns, labels, judged, weights)
        assert known[-1] == pytest.approx(again)
        if number < len(rules):
            apply_rule(lines, left, rules[number].rule)
    gains = np.diff(known)
    assert np.abs(gains - [each.gain for each in rules]).max() < 0.002


@pytest.mark.must_show(
    "rare-social-phenomena", 7, weaker="the number of rules scored, not the five minutes on 4 cores, is asserted"
)
def test_later_rounds_score_the_width_and_the_first_scores_all(small, learned):
    lines, _, _, _ = small
    held, _, rounds = learned
    rows = extract(lines, all_lines(lines))
    counts = np.bincount(np.concatenate([rows.lists()[i] for i in np.flatnonzero(~held)]), minlength=lines.size)
    assert rounds[0].scored == 4 * int(np.sum(counts >= 0.15 * (~held).sum()))
    assert len(rounds) > 2
    for number, each in enumerate(rounds[1:], start=1):
        assert each.scored == min(20, rounds[0].scored - number)


def test_rules_are_scored_on_top_of_the_earlier_ones(small, learned):
    """Scoring all rules once against the first base alone would choose others: their gains overlap."""
    lines, labels, _, _ = small
    held, rules, _ = learned
    once = learn_rules(lines, labels, 3, 0, held, Search(frequency=0.15, threshold=0.002, width=20, most=1))[0]
    assert once == rules[:1]
    assert len({each.rule for each in rules}) == len(rules)


def test_threads_find_the_same_rules(small, learned):
    lines, labels, _, _ = small
    held, rules, _ = learned
    search = Search(frequency=0.15, threshold=0.002, width=20, most=2)
    assert learn_rules(lines, labels, 3, 0, held, search, workers=2)[0] == rules[:2]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(2, 4))
@pytest.mark.must_show("rare-social-phenomena", 4)
def test_minority_voting_says_the_majority_only_if_all_members_do(seed, members, n_labels):
    rng = np.random.default_rng(seed)
    opinions = rng.dirichlet(np.full(n_labels, 0.5), size=(members, 20))
    labels, sure = vote(opinions, 0, "minority")
    top = opinions.argmax(axis=2)
    assert np.array_equal(labels == 0, (top == 0).all(axis=0))
    rare = {voting: int(np.sum(vote(opinions, 0, voting)[0] != 0)) for voting in VOTES}
    assert rare["minority"] >= rare["pandemonium"]
    assert rare["minority"] >= rare["averaged"]
    for i in np.flatnonzero(labels != 0):
        assert sure[i, labels[i]] == max(opinions[m, i].max() for m in range(members) if top[m, i] != 0)
    assert np.array_equal(vote(opinions, 0, "averaged")[0], opinions.mean(axis=0).argmax(axis=1))
    best = opinions.max(axis=2).argmax(axis=0)
    assert np.array_equal(vote(opinions, 0, "pandemonium")[0], top[best, np.arange(20)])


def test_conversations_are_never_on_both_sides():
    groups = [f"chat{number % 7}" for number in range(100)]
    fold = grouped_folds(groups, 3, seed=2)
    assert all(len({fold[i] for i, group in enumerate(groups) if group == name}) == 1 for name in set(groups))
    assert set(fold) == {0, 1, 2}
    with pytest.raises(DataError, match="need at least as many conversations"):
        grouped_folds(["a", "b"], 3)


def test_members_without_rules_are_the_logistic_regression(small):
    lines, labels, groups, _ = small
    members = fit_committee(lines, labels, 3, 0, groups, rules=False)
    alone = fit_softmax(extract(lines, all_lines(lines)), labels, 3, tolerance=1e-3)
    assert all(np.array_equal(member.weights, alone) for member in members)


def test_a_member_trains_on_all_data_after_its_rules(small):
    lines, labels, groups, _ = small
    search = Search(frequency=0.15, threshold=0.002, width=20, most=2)
    members = fit_committee(lines, labels, 3, 0, groups, 2, search)
    for member in members:
        assert member.rules
        rows = extract(lines, member.selected(lines))
        expected = fit_softmax(rows, labels, 3, tolerance=1e-3)
        assert np.array_equal(member.weights, expected)
        assert np.array_equal(member.probabilities(lines), softmax(rows, expected))


@pytest.mark.must_show("rare-social-phenomena", 5, weaker="one seed of twelve chats")
def test_the_planted_rule_is_found_and_helps():
    found = planted_run(0, False, QUICK)
    assert found["planted"]
    assert found["selection"] - found["LR"] >= 0.05


def test_a_stump_screens_instances_of_one_line_off():
    """The same word is evidence in long instances and means nothing in those of one line."""
    rng = np.random.default_rng(5)
    instances = []
    for number in range(240):
        short, told = bool(rng.integers(2)), bool(rng.integers(2))
        texts = [f"w{rng.integers(9)}" for _ in range(1 if short else rng.integers(3, 7))]
        texts[-1] += " help" if told else ""
        label = "POS" if told and not short else "NA"
        instances.append(Instance(f"chat{number % 8}", "a", "", tuple(texts), tuple(range(len(texts))), label))
    lines = Lines.of(instances, vocabulary_of(instances))
    gold = np.array([int(each.label == "POS") for each in instances])
    groups = [each.conversation for each in instances]
    splits = [Split(n) for n in range(1, 11)]
    model = fit_model(lines, gold, 2, 0, groups, rules=False, members=1, splits=splits)
    plain = fit_model(lines, gold, 2, 0, groups, rules=False, members=1)
    assert model.split is not None
    assert model.split.name == "lines <= 1"
    assert model.tried["lines <= 1"] > model.tried["lines <= 10"] + 0.05
    ours, theirs = (each.predict(lines)[0] for each in (model, plain))
    assert np.array_equal(ours, gold)
    assert cohen_kappa(gold, ours) > cohen_kappa(gold, theirs)


def test_votes_and_committees_that_do_not_exist(small):
    lines, labels, groups, _ = small
    with pytest.raises(ConfigError, match="voting must be one of"):
        vote(np.ones((1, 1, 2)), 0, "loudest")
    with pytest.raises(ConfigError, match="at least 1 member"):
        fit_committee(lines, labels, 3, 0, groups, 0)
