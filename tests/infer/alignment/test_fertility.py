"""Alignments with fertilities against their definition, one number at a time, and enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.alignment.fertility import FertilityAlignments, PlacementSums
from weft.infer.alignment.links import Alignments
from weft.infer.alignment.placement import HMM, KINDS, Placing, new_placing

NONDEFICIENT = ("ibm3-nd", "ibm4-nd", "ibm5")
MODELS = KINDS[:-1]


@dataclass
class Case:
    """A sentence pair with a model; alignments are tuples of source words from 1, 0 for none."""

    kind: str
    placing: Placing
    cells: np.ndarray  #: [target word, source word]
    null: np.ndarray
    fertility: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    p_null: float = 0.2

    @classmethod
    def random(cls, kind: str, rng: np.random.Generator, size: int, length: int, classes: int = 2) -> Case:
        """Random tables."""
        placing = new_placing(kind, size, length, classes, classes)
        rows, columns = placing.table.shape
        return cls(
            kind, placing._replace(table=rng.dirichlet(np.full(columns, 0.7), rows) * 0.999 + 0.001 / columns),
            rng.random((length, size)) ** 3 + 1e-3, rng.random(length) * 0.3 + 1e-3,
            rng.dirichlet(np.ones(length + 1), size), rng.integers(0, classes, length).astype(np.int32),
            rng.integers(0, classes, size).astype(np.int32),
        )  # fmt: skip

    @property
    def size(self) -> int:
        return self.cells.shape[1]

    @property
    def length(self) -> int:
        return len(self.null)

    def pairs(self) -> FertilityAlignments:
        words = Alignments(self.cells, self.null, [self.size], [0, self.length])
        rows = np.arange(self.size)
        return FertilityAlignments(words, self.placing, self.fertility, rows, self.alpha, self.beta, p_null=self.p_null)

    def alignments(self) -> list[tuple[int, ...]]:
        """All that are not impossible."""
        found = itertools.product(range(self.size + 1), repeat=self.length)
        return [each for each in found if each.count(0) <= self.length // 2]

    def score(self, alignment: Sequence[int]) -> float:
        """The logarithm of the joint probability."""
        total = sum(math.log(self.null[j] if i == 0 else self.cells[j, i - 1]) for j, i in enumerate(alignment))
        for i in range(1, self.size + 1):
            n = list(alignment).count(i)
            total += math.log(self.fertility[i - 1, n]) + (math.lgamma(n + 1) if self.kind == "ibm3" else 0.0)
        none = list(alignment).count(0)
        others = self.length - none
        total += math.log(math.comb(others, none) * self.p_null**none * (1 - self.p_null) ** (others - none))
        if self.kind not in NONDEFICIENT:
            total += math.lgamma(none + 1) - none * math.log(self.length)
        return total + sum(math.log(factor) for factor in self.factors(alignment))

    def factors(self, alignment: Sequence[int]) -> list[float]:
        """The placement factors, in the order in which words are placed."""
        found: list[float] = []
        opened, before, centre = list(range(self.length)), 0, -1
        for i in range(1, self.size + 1):
            places = [j for j in range(self.length) if alignment[j] == i]
            if not places:
                continue
            at_start = list(opened)
            for k, j in enumerate(places, 1):
                admissible = range(self.length)
                if self.kind in NONDEFICIENT:
                    later = [q for q in opened if k == 1 or q > places[k - 2]]
                    admissible = later[: len(later) - (len(places) - k)]
                weights = {q: self._weight(i, k, q, places, before, centre, at_start, j) for q in admissible}
                whole = 1.0 if self.kind == "ibm4" else sum(weights.values())
                found.append(weights[j] / whole)
            opened = [q for q in opened if q not in places]
            before, centre = i, math.floor(sum(places) / len(places) + 0.5)
        return found

    def _weight(
        self, i: int, k: int, position: int, places: list[int], before: int, centre: int, opened: list[int], word: int
    ) -> float:
        table, n, m = self.placing.table, self.placing.n_alpha, self.placing.n_beta
        if self.kind.startswith("ibm3"):
            return float(table[i - 1, position])
        alpha, anchor = self.alpha[word], centre if k == 1 else places[k - 2]
        if k > 1:
            row = n * m + alpha
        elif before == 0:
            row = n * m + n
        else:
            row = alpha * m + (0 if self.kind == "ibm5" else self.beta[before - 1])
        if self.kind == "ibm5":
            vacant = [sum(q <= end for q in opened) for end in (position, anchor)]
            return float(table[row, vacant[0] - vacant[1] + self.placing.reach])
        return float(table[row, position - anchor + self.placing.reach])

    def neighbours(self, alignment: tuple[int, ...]) -> set[tuple[int, ...]]:
        """The alignment itself, all moves and all swaps."""
        found = {alignment}
        for j in range(self.length):
            for i in range(self.size + 1):
                found.add((*alignment[:j], i, *alignment[j + 1 :]))
            for k in range(j):
                other = list(alignment)
                other[j], other[k] = other[k], other[j]
                found.add(tuple(other))
        return {each for each in found if each.count(0) <= self.length // 2}


def mass_of_placements(case: Case, fertilities: Sequence[int]) -> float:
    """The sum of products of placement factors over all placements of so many words of each source word; positions
    that remain go to words from none. All else of a score is the same for all of them, and is taken away."""
    case.cells, case.null, case.fertility = (np.ones_like(part) for part in (case.cells, case.null, case.fertility))
    every = [
        each
        for each in itertools.product(range(case.size + 1), repeat=case.length)
        if all(each.count(i) == n for i, n in enumerate(fertilities, 1))
    ]
    pairs = case.pairs()
    scores = [float(pairs.score(np.array(each, np.int32) - 1)[0]) for each in every]
    rest = case.score(every[0]) - sum(map(math.log, case.factors(every[0])))
    return sum(math.exp(score - rest) for score in scores)


SEEDS = st.integers(0, 2**32 - 1)


def case_of(seed: int, kind: str, most_size: int = 3, most_length: int = 4, classes: int = 2) -> Case:
    rng = np.random.default_rng(seed)
    return Case.random(kind, rng, int(rng.integers(1, most_size + 1)), int(rng.integers(1, most_length + 1)), classes)


@pytest.mark.must_show("nondeficient-ibm", 1)
@pytest.mark.parametrize("kind", MODELS)
def test_placement_factors_sum_to_one_only_in_models_that_are_not_deficient(kind: str) -> None:
    rng = np.random.default_rng(5)
    for fertilities in ((1, 2, 1), (0, 2, 2), (3, 1, 3), (2, 0, 1)):
        for length in (7,) if sum(fertilities) == 7 else (4, 5):
            if sum(fertilities) > length:
                continue
            case = Case.random(kind, rng, 3, length, classes=1)
            mass = mass_of_placements(case, fertilities)
            if kind in NONDEFICIENT:
                assert abs(mass - 1) < 1e-9
            else:
                assert mass < 0.99


@pytest.mark.must_show("nondeficient-ibm", 1)
@pytest.mark.parametrize("kind", MODELS)
def test_scores_are_those_of_the_definition(kind: str) -> None:
    for seed in range(6):
        case = case_of(seed, kind)
        pairs = case.pairs()
        for alignment in case.alignments():
            got = pairs.score(np.array(alignment, np.int32) - 1)[0]
            assert abs(got - case.score(alignment)) < 1e-9


@pytest.mark.must_show("nondeficient-ibm", 2)
@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_climbing_ends_at_a_local_optimum_with_the_posteriors_of_its_neighbours(kind: str, seed: int) -> None:
    case = case_of(seed, kind, 4, 5)
    scores = {each: case.score(each) for each in case.alignments()}
    owner = np.array(list(scores)[seed % len(scores)], np.int32) - 1
    sums = PlacementSums(case.placing)
    found = case.pairs().marginals(owner, sums, rare=0.0)
    best = tuple(int(i) for i in owner + 1)
    near = case.neighbours(best)
    assert scores[best] >= max(scores[each] for each in near) - 1e-8
    covered = math.log(sum(math.exp(scores[each]) for each in near))
    assert abs(found.log_partition[0] - covered) < 1e-3
    link = np.zeros((case.length, case.size + 1))
    fertility = np.zeros_like(case.fertility)
    placed = 0.0
    for each in near:
        p = math.exp(scores[each] - covered)
        link[np.arange(case.length), each] += p
        for i in range(case.size):
            fertility[i, each.count(i + 1)] += p
        placed += p * sum(math.log(factor) for factor in case.factors(each))
    assert np.allclose(found.link.reshape(case.length, case.size), link[:, 1:], atol=1e-3)
    assert np.allclose(found.null, link[:, 0], atol=1e-3)
    assert np.allclose(found.fertility, fertility, atol=1e-3)
    assert np.allclose(found.empty, [link[:, 0].sum(), link[:, 1:].sum()], atol=1e-3)
    assert abs(expected_log_factor(sums, case) - placed) < 0.05


def expected_log_factor(sums: PlacementSums, case: Case) -> float:
    """The expectation of the logarithm of all factors, from the choices noted."""
    choices, table = sums.choices(), case.placing.table
    total = float((choices.counts * np.log(table)).sum())
    for row in range(len(table)):
        for e in range(choices.rows[row], choices.rows[row + 1]):
            columns = choices.column[choices.starts[e] : choices.starts[e + 1]]
            total -= choices.weight[e] * math.log(table[row, columns].sum())
    return total


@pytest.mark.must_show("nondeficient-ibm", 2)
def test_gains_of_neighbours_are_those_of_whole_scores_in_longer_sentences() -> None:
    rng = np.random.default_rng(2)
    for kind in ("ibm3-nd", "ibm4-nd", "ibm5"):
        case = Case.random(kind, rng, 6, 9)
        case.cells[:], case.null[:], case.fertility[:] = 0.5, 0.2, 0.1  # so that placement decides
        case.fertility[:, 1] = 0.9
        rows, columns = case.placing.table.shape  # nearly even: neighbours far away count too
        case.placing = case.placing._replace(table=rng.dirichlet(np.full(columns, 20.0), rows))
        pairs = case.pairs()
        owner = rng.integers(0, 6, 9).astype(np.int32)
        found = pairs.marginals(owner)
        best = tuple(int(i) for i in owner + 1)
        near = {each: case.score(each) for each in case.neighbours(best)}
        covered = math.log(sum(math.exp(score) for score in near.values()))
        assert abs(found.log_partition[0] - covered) < 5e-4
        link = np.zeros((9, 7))
        for each, score in near.items():
            link[np.arange(9), each] += math.exp(score - covered)
        assert np.allclose(found.link.reshape(9, 6), link[:, 1:], atol=3e-4)


def test_exact_expectations_are_sums_over_all_alignments() -> None:
    for seed, kind in enumerate(MODELS):
        case = case_of(seed, kind, 3, 4)
        scores = {each: case.score(each) for each in case.alignments()}
        whole = math.log(sum(map(math.exp, scores.values())))
        sums = PlacementSums(case.placing)
        found = case.pairs().marginals(np.zeros(case.length, np.int32), sums, exact=True)
        assert abs(found.log_partition[0] - whole) < 1e-9
        link = np.zeros((case.length, case.size + 1))
        placed = 0.0
        for each, score in scores.items():
            link[np.arange(case.length), each] += math.exp(score - whole)
            placed += math.exp(score - whole) * sum(math.log(factor) for factor in case.factors(each))
        assert np.allclose(found.link.reshape(case.length, case.size), link[:, 1:], atol=1e-9)
        assert abs(expected_log_factor(sums, case) - placed) < 1e-6


def test_the_hmm_scores_neighbours_by_its_jumps() -> None:
    words = Alignments([0.9, 0.1, 0.2, 0.7], [0.1, 0.1], [2], [0, 2], jumps=[0.1, 0.2, 0.7], p_null=0.1)
    hmm = Placing(HMM, np.ones((1, 1)), 0, 1, 1)
    owner = words.best()
    found = FertilityAlignments(words, hmm, np.ones((2, 3)), [0, 1]).marginals(owner)
    step = {(b, i): w for b, row in ((-1, (0.7, 0.7)), (0, (0.2, 0.7)), (1, (0.1, 0.2))) for i, w in enumerate(row)}
    cells, scores = np.array([[0.9, 0.1], [0.2, 0.7]]), {}
    for each in itertools.product((-1, 0, 1), repeat=2):
        place, total = -1, 1.0
        for j, i in enumerate(each):
            if i < 0:
                total *= 0.1 * 0.1
            else:
                total *= 0.9 * step[place, i] / (step[place, 0] + step[place, 1]) * cells[j, i]
                place = i
        scores[each] = total
    best = tuple(owner.tolist())
    near = [e for e in scores if e.count(-1) < 2 and (sum(a != b for a, b in zip(e, best, strict=True)) < 2)]
    near += [best[::-1]] if best[::-1] not in near else []
    assert abs(found.log_partition[0] - math.log(sum(scores[each] for each in near))) < 1e-3


def test_events_that_do_not_fit_get_more_room() -> None:
    case = case_of(11, "ibm4-nd", 4, 6)
    start = case.cells.argmax(axis=1).astype(np.int32)
    large, small = PlacementSums(case.placing), PlacementSums(case.placing, 8)
    case.pairs().marginals(start.copy(), large)
    case.pairs().marginals(start.copy(), small)
    one, other = large.choices(), small.choices()
    assert np.array_equal(one.weight, other.weight)
    assert np.array_equal(one.column, other.column)
    assert np.array_equal(one.counts, other.counts)


def test_pairs_without_words_on_one_side_have_no_links() -> None:
    words = Alignments([0.5], [0.5, 0.5], [0, 1], [0, 1, 2])
    pairs = FertilityAlignments(words, new_placing("ibm3-nd", 1, 1), np.array([[0.5, 0.5]]), [0])
    assert pairs.best(np.array([-1, -1], np.int32)).tolist() == [-1, 0]  # one word may not come from none


def test_what_cannot_be_is_refused() -> None:
    words = Alignments([0.5], [0.5], [1], [0, 1])
    with pytest.raises(InferenceError, match="1 source words"):
        FertilityAlignments(words, new_placing("ibm3-nd", 1, 1), np.ones((1, 2)), [0, 0])
    with pytest.raises(InferenceError, match="between 0 and 1"):
        FertilityAlignments(words, new_placing("ibm3-nd", 1, 1), np.ones((1, 2)), [0], p_null=1.0)
    with pytest.raises(InferenceError, match="no model of placement 'ibm2'"):
        new_placing("ibm2", 1, 1)
    case = Case.random("ibm3-nd", np.random.default_rng(0), 4, 9)
    with pytest.raises(InferenceError, match="exact sums"):
        case.pairs().marginals(np.zeros(9, np.int32), exact=True)
