"""Learning models with fertilities: likelihoods, the transfer from the HMM, p0, and a model that is known."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.infer.alignment.fertility import FertilityAlignments
from weft.infer.alignment.links import Alignments
from weft.learn.bitext.fertility import STAGES, FertilityModel, FertilitySettings, learn_fertility
from weft.learn.bitext.word_alignment import AlignmentSettings, Side, learn_alignment
from weft.learn.generative.cooccurrence import Cooccurrences

PLAIN = AlignmentSettings(alpha=0.0, jump_pseudo=0.1, agreement=False)
FREE = {"fertility_pseudo": 0.0, "placement_pseudo": 0.0, "p_null": 0.0}


def bitext(pairs: list[tuple[list[int], list[int]]]) -> Cooccurrences:
    source = np.concatenate([one for one, _ in pairs]).astype(np.int32)
    target = np.concatenate([other for _, other in pairs]).astype(np.int32)
    ends = [np.concatenate([[0], np.cumsum([len(each[k]) for each in pairs])]) for k in (0, 1)]
    return Cooccurrences.of(source, ends[0], target, ends[1])


def sampled(n: int, seed: int, n_words: int = 40, most: int = 6, p0: float = 0.05) -> tuple[list, np.ndarray]:
    """Pairs from IBM-3 without deficiency: each word has one translation in 9 of 10 cases, and a fertility."""
    rng = np.random.default_rng(seed)
    fertility = np.array([[0.1, 0.7, 0.2], [0.05, 0.9, 0.05], [0.3, 0.7, 0.0]])
    true = np.zeros((n_words, n_words))
    order = rng.permutation(n_words)
    for e in range(n_words):
        true[e, order[e]], true[e, order[(e + 1) % n_words]] = 0.9, 0.1
    pairs = []
    while len(pairs) < n:
        source = rng.integers(0, n_words, rng.integers(2, most + 1))
        counts = [int(rng.choice(3, p=fertility[e % 3])) for e in source]
        real = sum(counts)
        none = int(rng.binomial(real, p0))
        length = real + none
        if real == 0:
            continue
        target = np.full(length, -1)
        opened = list(range(length))
        for i, (e, count) in enumerate(zip(source, counts, strict=True)):
            last = -1
            for k in range(1, count + 1):
                later = [j for j in opened if j > last]
                later = later[: len(later) - (count - k)]
                weights = np.array([0.5 ** abs(j - i * length / len(source)) for j in later])
                last = int(rng.choice(later, p=weights / weights.sum()))
                opened.remove(last)
                target[last] = rng.choice(n_words, p=true[e])
        for j in opened:
            target[j] = rng.integers(0, 5)
        pairs.append((source.tolist(), target.tolist()))
    return pairs, true


@pytest.fixture(scope="module")
def tiny() -> Cooccurrences:
    pairs, _ = sampled(20, 3, n_words=8, most=4)
    return bitext([(one, other[:4]) for one, other in pairs])


@pytest.mark.must_show("nondeficient-ibm", 4)
@pytest.mark.parametrize("method", ["ibm3-nd", "ibm4-nd", "ibm5", "ibm4-reduced"])
@pytest.mark.parametrize("placement", ["gradient", "minorize"])
def test_with_exact_sums_the_likelihood_never_falls(tiny: Cooccurrences, method: str, placement: str) -> None:
    settings = FertilitySettings(6, 6, classes=1, placement=placement, exact=True, **FREE)
    learned = learn_fertility(tiny, learn_alignment(tiny, PLAIN), method, settings, None, PLAIN)
    values = learned.objective[STAGES[method][-1]][1:]  # the first is that of the model before
    assert all(b >= a - 1e-4 for a, b in pairwise(values))
    assert values[-1] > values[0] + 0.01


@pytest.mark.must_show("nondeficient-ibm", 4, weaker="a sampled bitext; the recipe records it for the novels")
def test_with_neighbours_the_likelihood_rises_in_every_iteration() -> None:
    pairs = bitext(sampled(300, 4)[0])
    learned = learn_fertility(pairs, learn_alignment(pairs, PLAIN), "ibm4-nd", FertilitySettings(classes=1, **FREE),
                              None, PLAIN)  # fmt: skip
    for stage in ("ibm3-nd", "ibm4-nd"):
        values = learned.objective[stage][1:]
        assert all(b > a - 1.0 for a, b in pairwise(values))
        assert values[-1] > values[0]


@pytest.mark.must_show("nondeficient-ibm", 5, weaker="a sampled bitext with p0 = .05; the naive scheme is compared")
def test_p0_stays_low_with_the_proper_estimate_of_placement() -> None:
    pairs = bitext(sampled(400, 5)[0])
    hmm = learn_alignment(pairs, PLAIN)
    found = {}
    for placement in ("gradient", "counts"):
        settings = FertilitySettings(8, 1, classes=1, placement=placement, **FREE)
        found[placement] = learn_fertility(pairs, hmm, "ibm3-nd", settings, None, PLAIN).p_null["ibm3-nd"]
    assert found["gradient"][-1][0] < 0.3
    assert found["gradient"][-1][0] <= found["counts"][-1][0] + 0.01


@pytest.mark.must_show("nondeficient-ibm", 2)
@pytest.mark.parametrize("method", ["ibm3-nd", "ibm4-nd"])
def test_from_the_alignment_of_the_hmm_the_climb_finds_the_best_of_all(method: str) -> None:
    learned_from, short = sampled(300, 10)[0], []
    for pair in sampled(150, 11)[0]:
        if max(map(len, pair)) <= 5 and len(short) < 40:
            short.append(pair)
    words = bitext(learned_from + short)
    hmm = learn_alignment(words, PLAIN)
    learned = learn_fertility(words, hmm, method, FertilitySettings(classes=1), None, PLAIN)
    side, hits = Side(words, turned=False), 0
    for s in range(len(learned_from), words.n_pairs):
        source = words.source[words.source_offsets[s] : words.source_offsets[s + 1]]
        pair = side.alignments(learned.forward.words, s, s + 1, PLAIN)

        def batch(
            n: int, pair: Alignments = pair, source: np.ndarray = source, model: FertilityModel = learned.forward
        ) -> FertilityAlignments:
            length = len(pair.null)
            words = Alignments(np.tile(pair.translation, n), np.tile(pair.null, n), [len(source)] * n,
                               np.arange(n + 1) * length, jumps=pair.jumps)  # fmt: skip
            return FertilityAlignments(words, model.placing, model.fertility, np.tile(source, n), p_null=model.p_null)

        length = len(pair.null)
        every = [each for each in product(range(-1, len(source)), repeat=length) if each.count(-1) <= length // 2]
        scores = batch(len(every)).score(np.array(every, np.int32).ravel())
        best = batch(1).best(pair.best())
        hits += batch(1).score(best)[0] >= scores.max() - 1e-9
    assert len(short) == 40
    assert hits >= 0.95 * len(short)


def test_a_known_model_is_recovered() -> None:
    for seed in (6, 7, 8):
        pairs, true = sampled(500, seed)
        words = bitext(pairs)
        learned = learn_fertility(words, learn_alignment(words, PLAIN), "ibm3-nd",
                                  FertilitySettings(classes=1, **FREE), None, PLAIN)  # fmt: skip
        weights = np.zeros_like(true)
        size = true.shape[1]
        rows = words.entry_source, np.minimum(words.entry_target, size - 1)
        weights[rows] = learned.forward.words.entry
        assert (weights.argmax(axis=1) == true.argmax(axis=1)).mean() >= 0.9
        assert learned.forward.p_null < 0.25


def test_word_classes_matter_where_placement_depends_on_them() -> None:
    rng = np.random.default_rng(9)
    pairs = []
    for _ in range(150):  # words from 10 on go to the end of the target sentence
        source = rng.integers(0, 20, rng.integers(3, 7)).tolist()
        pairs.append((source, [w for w in source if w < 10] + [w for w in source if w >= 10]))
    words = bitext(pairs)
    classes = (np.arange(20) >= 10).astype(np.int32)
    hmm = learn_alignment(words, PLAIN)
    one = learn_fertility(words, hmm, "ibm4-nd", FertilitySettings(**FREE), None, PLAIN)
    two = learn_fertility(words, hmm, "ibm4-nd", FertilitySettings(**FREE), (classes, classes), PLAIN)
    assert two.objective["ibm4-nd"][-1] > one.objective["ibm4-nd"][-1] + 20
    assert two.forward.placing.table.shape[0] == 2 * 2 + 2 + 1


def test_a_fixed_p0_stays_and_priors_fill_fertilities(tiny: Cooccurrences) -> None:
    hmm = learn_alignment(tiny, PLAIN)
    settings = FertilitySettings(2, 1, p_null=0.03, fertility_pseudo=2.0)
    learned = learn_fertility(tiny, hmm, "ibm3-nd", settings, None, PLAIN)
    assert learned.forward.p_null == 0.03
    assert np.allclose(learned.forward.fertility.sum(axis=1), 1)
    assert learned.forward.fertility[:, 1].min() > 0
    again = learn_fertility(tiny, hmm, "ibm3-nd", settings, None, PLAIN)
    assert again.objective == learned.objective


def test_what_cannot_be_is_refused(tiny: Cooccurrences) -> None:
    hmm = learn_alignment(tiny, PLAIN)
    with pytest.raises(ConfigError, match="there are ibm3, ibm3-nd"):
        learn_fertility(tiny, hmm, "ibm2")
    with pytest.raises(ConfigError, match="start from the HMM"):
        learn_fertility(tiny, learn_alignment(tiny, AlignmentSettings(hmm_iterations=0)), "ibm3")
    for wrong in ({"ibm3_iterations": 0}, {"classes": 0}, {"fertility_pseudo": -1.0}, {"placement": "newton"}):
        with pytest.raises(ConfigError):
            FertilitySettings(**wrong)
