"""The model of pairs and naive enumeration: samples, probabilities, schemas."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from weft.evaluate.calibration import calibration
from weft.recipes.extraction.complex_relations.generated import LABEL, SCHEMA, SLOTS, generated_sentences
from weft.tasks.relations.enumeration import EnumerationModel, candidates_of
from weft.tasks.relations.pairs import PairModel, PairTable, fit_logistic
from weft.tasks.relations.samples import Mention, Sample
from weft.tasks.relations.schema import Schema, Slot, learn_schemas


def ceos() -> Sample:
    """John and Jane are CEOs at Inc. and Biz. respectively."""
    words = ["john", "and", "jane", "are", "ceos", "at", "inc", "and", "biz", "respectively"]
    mentions = [Mention(0, 1, "person"), Mention(2, 3, "person"), Mention(4, 5, "job"), Mention(6, 7, "company"),
                Mention(8, 9, "company")]  # fmt: skip
    gold = [
        ("ceo", frozenset([("person", 0), ("job", 2), ("company", 3)])),
        ("ceo", frozenset([("person", 1), ("job", 2), ("company", 4)])),
    ]
    return Sample(words, mentions, tuples=gold)


CEO = Schema("ceo", tuple(Slot(name, (name,)) for name in ("person", "job", "company")))


def test_positive_and_negative_pairs_of_the_paper() -> None:
    table = PairTable.of([ceos()], [CEO])
    edges, _ = table.edges(CEO)
    found = {
        (edge.one.mention, edge.other.mention): bool(y) for edge, y in zip(edges, table.labels(CEO, edges), strict=True)
    }
    assert found == {
        (0, 2): True, (0, 3): True, (0, 4): False, (1, 2): True, (1, 3): False, (1, 4): True, (2, 3): True,
        (2, 4): True,
    }  # fmt: skip


def test_candidates_of_enumeration_are_all_consistent_sets() -> None:
    fillers = CEO.fillers(ceos().types)
    found = {frozenset(each) for each in candidates_of(CEO, fillers)}
    wanted = {
        frozenset(own) for size in (2, 3) for own in combinations(fillers, size)
        if len({each.slot for each in own}) == size
    }  # fmt: skip
    assert found == wanted
    assert len(found) == 12
    assert all(len(each) == 2 for each in candidates_of(CEO, fillers, most=2))


def test_enumeration_keeps_maximal_tuples_and_learns_incomplete_ones_as_right() -> None:
    samples = generated_sentences(120, seed=1)
    model = EnumerationModel.fit(samples, SCHEMA)
    test = generated_sentences(40, seed=2)
    right = total = 0
    for sample, rows in zip(test, model.predict(test), strict=True):
        found = [frozenset(row.members) for row in rows]
        assert not any(one < other for one in found for other in found)
        wanted = {members for _, members in sample.tuples}
        right, total = right + len(wanted & set(found)), total + len(wanted | set(found))
    assert right / total > 0.8


def test_probabilities_of_pairs_are_calibrated_on_noisy_labels() -> None:
    """One pair in five has a wrong label, so nothing is more certain than 0.8."""
    draw = np.random.default_rng(0)
    halves = np.concatenate([np.array([1, 10 + k], dtype=np.uint32) for k in draw.integers(0, 2, 4000)])
    kinds = halves[1::2] == 10
    labels = kinds ^ (draw.random(4000) < 0.2)
    names, weights = fit_logistic(halves, np.arange(0, 8001, 2), labels, 1.0)
    scores = {int(name): float(w) for name, w in zip(names, weights, strict=True)}
    p = np.array([1 / (1 + np.exp(-scores[1] - scores[int(own)])) for own in halves[1::2]])
    assert calibration(p, labels).error < 0.02
    assert p.max() == pytest.approx(0.8, abs=0.03)


def test_labels_of_one_kind_give_odds() -> None:
    halves, offsets = np.array([7, 8, 7, 9], dtype=np.uint32), np.array([0, 2, 4])
    for labels, positive in (([True, True], True), ([False, False], False)):
        names, weights = fit_logistic(halves, offsets, np.array(labels), 1.0)
        assert names.tolist() == [7]
        assert (weights[0] > 0) == positive


def test_relations_do_not_share_weights() -> None:
    samples = generated_sentences(40, seed=3)
    other = Schema("other", SCHEMA.slots)
    table = PairTable.of(samples, [SCHEMA, other])
    both, one = PairModel.fit(table, [SCHEMA, other]), PairModel.fit(table, [SCHEMA])
    edges, _ = table.edges(SCHEMA)
    assert np.allclose(both.probabilities(table, SCHEMA, edges), one.probabilities(table, SCHEMA, edges), atol=1e-6)
    assert both.probabilities(table, other, edges).max() < 0.5  # it has no tuples


def test_schemas_leave_out_rare_types_and_rare_relations() -> None:
    rows = [("r", [("a", "X"), ("b", "Y")])] * 300 + [("r", [("a", "Z"), ("b", "Y")]), ("s", [("a", "X"), ("b", "Y")])]
    assert learn_schemas(rows, least=2) == [Schema("r", (Slot("a", ("X",)), Slot("b", ("Y",))))]
    [schema] = learn_schemas([("mix", [("drug", "D")] * 3)])
    assert schema.slots[0].limit == 3
    assert learn_schemas([("mix", [("drug", "D")] * 3)], "any")[0].slots[0].limit == 0


def test_generated_sentences_have_what_they_say() -> None:
    samples = generated_sentences(200, seed=5)
    sizes = {len(members) for sample in samples for _, members in sample.tuples}
    assert sizes == {2, 3, 4}
    assert {label for sample in samples for label, _ in sample.tuples} == {LABEL}
    assert {mention.type for sample in samples for mention in sample.mentions} == set(SLOTS)
