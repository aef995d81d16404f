"""Decisions over small knowledge bases: the worked example of the paper, and what each part of the rules brings."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from weft.errors import ConfigError
from weft.lexical.harvest.harvest import Harvest
from weft.lexical.harvest.knowledge import Knowledge
from weft.tasks.metaphor.baselines import Preferences, by_association, by_preference, by_taxonomy
from weft.tasks.metaphor.readings import BOTH, LITERAL, SOURCE, TARGET, Reader, Thresholds

COUNTS = Path(__file__).with_name("counts")


def known_by(isa=(), similes=(), copulas=(), subjects=(), objects=()):
    harvest = Harvest()
    for kind, rows in zip(harvest.counts, (isa, similes, copulas, subjects, objects), strict=True):
        harvest.counts[kind].merge(rows)
    return Knowledge.of(harvest)


@pytest.mark.must_show("metaphor-knowledge", 3)
@pytest.mark.parametrize("contexts", ["words", "classes"])
def test_my_car_drinks_gasoline_means_a_horse(contexts):
    reader = Reader(Knowledge.of(Harvest.load(COUNTS)), Thresholds(contexts=contexts, literal="concepts"))
    verdict = reader.clause("car", "subject", "drink")
    assert (verdict.metaphor, verdict.kind) == (True, TARGET)
    assert [each.other for each in verdict.readings] == ["horse", "friend", "woman"]
    table = {each.other: each for each in reader.readings("car", "subject", "drink")}
    assert {name: each.kind for name, each in table.items()} == {
        "vehicle": LITERAL, "product": LITERAL, "asset": LITERAL,
        "woman": TARGET, "friend": TARGET, "gun": TARGET, "horse": TARGET,
    }  # fmt: skip
    expected = {
        "vehicle": (-6.2, -math.inf), "product": (-6.9, -math.inf), "asset": (-6.3, -math.inf),
        "woman": (-8.5, -2.8), "friend": (-8.0, -3.0), "gun": (-8.4, -math.inf), "horse": (-8.2, -2.4),
    }  # fmt: skip
    for name, logs in expected.items():
        assert table[name].logs[:2] == pytest.approx(logs, abs=0.06), name
        assert table[name].logs[2] == pytest.approx(sum(logs), abs=0.1)


FERRARI = [("ferrari", "sports car", 3), ("lamborghini", "sports car", 2), ("oak", "tree", 5)]


@pytest.mark.must_show("metaphor-knowledge", 4)
def test_a_pair_that_was_never_seen_is_recognized_through_its_concept_and_not_without():
    beast = [("lamborghini", "beast", 2)]
    reader = Reader(known_by(FERRARI, beast))
    assert reader.copula("lamborghini", "beast").known == "metaphor"
    verdict = reader.copula("ferrari", "beast")
    assert (verdict.metaphor, verdict.kind, verdict.known) == (True, BOTH, "")
    assert verdict.probability > 0.5
    assert not reader.copula("oak", "beast").metaphor
    assert not Reader(known_by(similes=beast)).copula("ferrari", "beast").metaphor
    assert not Reader(known_by(FERRARI, beast), Thresholds(generalize=False)).copula("ferrari", "beast").metaphor


def test_literal_pairs_are_literal_and_so_are_those_whose_concept_is():
    isa = [("rex", "dog", 5), ("dog", "animal", 5), ("fido", "dog", 3), ("fido", "animal", 4), ("cat", "animal", 2)]
    reader = Reader(known_by(isa, [("fido", "prince", 1)]))
    assert reader.copula("rex", "dog").known == "literal"
    assert not reader.copula("rex", "dog").metaphor
    assert not reader.copula("rex", "animal").metaphor  # through dog
    assert reader.copula("rex", "prince").metaphor
    assert reader.copula("rex", "unheard").known == "unknown"


def test_the_printed_odds_of_a_joint_probability_never_reach_their_threshold():
    similes = [("lamborghini", "beast", 1), ("hope", "candle", 99)]
    by = {odds: Reader(known_by(FERRARI, similes), Thresholds(copula=0.2, odds=odds)) for odds in ("ratio", "printed")}
    assert by["ratio"].copula("ferrari", "beast").metaphor
    assert not by["printed"].copula("ferrari", "beast").metaphor


def test_a_source_with_a_verb_of_its_target_is_the_second_type():
    isa = [("hand", "limb", 4), ("claw", "weapon", 4)]
    objects = [("hand", "wash", 5), ("claw", "sharpen", 3), ("weapon", "sharpen", 2)]
    reader = Reader(known_by(isa, [("hand", "claw", 2)], objects=objects))
    claws, hands = reader.clause("claw", "object", "wash"), reader.clause("hand", "object", "sharpen")
    assert claws.metaphor
    assert (claws.kind, claws.best.other) == (SOURCE, "hand")
    assert (hands.metaphor, hands.kind, hands.best.other) == (True, TARGET, "claw")
    assert not reader.clause("hand", "object", "wash").metaphor
    assert not reader.clause("claw", "object", "sharpen").metaphor


def test_subjects_and_objects_have_preferences_of_their_own():
    isa, similes = [("car", "vehicle", 4), ("horse", "animal", 4)], [("car", "horse", 2)]
    reader = Reader(known_by(isa, similes, subjects=[("horse", "drink", 2)], objects=[("horse", "feed", 2)]))
    assert reader.clause("car", "subject", "drink").metaphor
    assert not reader.clause("car", "object", "drink").metaphor
    assert reader.clause("car", "object", "feed").metaphor


def test_a_literal_reading_that_is_more_probable_wins_unless_it_may_not_compete():
    isa, similes = [("car", "vehicle", 90), ("horse", "animal", 10)], [("car", "horse", 1), ("hope", "light", 9)]
    subjects = [("vehicle", "stop", 5), ("horse", "stop", 1), ("horse", "drink", 4)]
    known = known_by(isa, similes, subjects=subjects)
    assert not Reader(known).clause("car", "subject", "stop").metaphor
    assert Reader(known, Thresholds(literal="none")).clause("car", "subject", "stop").metaphor
    assert Reader(known, Thresholds(clause=0.001)).clause("car", "subject", "stop").metaphor
    margin = Reader(known).clause("car", "subject", "stop").margin
    assert margin == pytest.approx((0.1 * 0.2) / (0.9 * 1.0))


def test_a_noun_that_is_used_so_itself_is_literal_whatever_its_concept_does():
    isa, similes = [("car", "vehicle", 6), ("horse", "animal", 2)], [("car", "horse", 2)]
    subjects = [("horse", "run", 2), ("horse", "drink", 2), ("car", "run", 8), ("animal", "run", 2)]
    known = known_by(isa, similes, subjects=subjects)
    own, printed = (Reader(known, Thresholds(literal=literal)) for literal in ("uses", "concepts"))
    assert not own.clause("car", "subject", "run").metaphor
    assert own.readings("car", "subject", "run")[0].other == "car"
    assert own.clause("car", "subject", "drink").metaphor
    contexts = Thresholds(contexts="words", literal="concepts")
    assert Reader(known, contexts).clause("car", "subject", "run").metaphor
    assert {each.other for each in printed.readings("car", "subject", "run")} == {"horse", "vehicle"}


def test_more_occurrences_make_a_decision_surer():
    sure = [
        Reader(known_by([*FERRARI], [("lamborghini", "beast", n), ("hope", "candle", 50)])).copula("ferrari", "beast")
        for n in (1, 10)
    ]
    assert 0.5 < sure[0].probability < sure[1].probability < 1.0


def test_thresholds_that_mean_nothing_are_refused():
    with pytest.raises(ConfigError, match="odds must be one of ratio, printed"):
        Thresholds(odds="even")
    with pytest.raises(ConfigError, match="literal must be one of uses, concepts, none"):
        Thresholds(literal="all")
    with pytest.raises(ConfigError, match="threshold of a clause must be at least 0"):
        Thresholds(clause=-1.0)
    with pytest.raises(ConfigError, match="threshold of a copula"):
        Thresholds(copula=math.nan)


def test_baselines_look_at_verbs_or_at_a_taxonomy_alone():
    subjects = [("dog", "bark", 8), ("dog", "move", 2), ("car", "move", 10)]
    known = known_by([("dog", "animal", 1), ("car", "vehicle", 1)], subjects=subjects)
    preferences = Preferences(known, "subject")
    # P(dog|move) = 1/6, P(car|move) = 5/6, both with prior 1/2
    strength = math.log(1 / 3) / 6 + 5 / 6 * math.log(5 / 3)
    assert preferences.strength("move") == pytest.approx(strength)
    assert preferences.association("car", "move") == pytest.approx(5 / 6 * math.log(5 / 3) / strength)
    total = sum(preferences.association(noun, "move") for noun in ("dog", "car"))
    assert total == pytest.approx(1.0)
    assert by_association(preferences, "car", "bark")
    assert not by_association(preferences, "dog", "bark")
    assert by_preference(known, "subject", "car", "bark")
    assert not by_preference(known, "subject", "car", "move")
    assert preferences.strength("unheard") == 0.0
    listed = {("dog", "animal")}
    assert [by_taxonomy(lambda x, y: (x, y) in listed, "dog", y) for y in ("animal", "prince")] == [False, True]
