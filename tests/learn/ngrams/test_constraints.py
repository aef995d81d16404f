"""Marginal constraints: the recursions equal sums over all histories, and what they are for is reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_twins import SENTENCES, Plain, counted

from weft.errors import ConfigError
from weft.learn.ngrams.constraints import ConstraintSettings, constrain, constrained, expected, reestimated, sums
from weft.learn.ngrams.counting import count_ids
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.pruning import prune
from weft.learn.ngrams.sampling import sample_ids
from weft.learn.ngrams.smoothing import Estimates, backing_off, estimate
from weft.learn.ngrams.steady import steady_state
from weft.learn.ngrams.vocabulary import BEGIN_ID, END_ID, Vocabulary

INPUTS = ("absolute", "witten-bell", "katz", "ristad")


def pruned(sentences: list[list[str]], order: int, method: str, share: float) -> tuple[NgramModel, NgramModel]:
    vocabulary, counts, _ = counted(sentences, order)
    model = NgramModel.of(vocabulary, estimate(counts, method))
    own = model.counts()
    return model, prune(model, size=own[0] + int(share * sum(own[1:])))


def exact(model: NgramModel) -> Estimates:
    """A model whose histories sum up to 1 in double precision."""
    trie, prob, _ = model.estimates()
    prob[trie.level(1)] /= prob[trie.level(1)].sum()
    return Estimates(trie, prob, backing_off(trie, prob))


@pytest.mark.must_show("marginal-constraint-lm", 1)
@settings(max_examples=25, deadline=None)
@given(SENTENCES, st.integers(1, 4), st.sampled_from(INPUTS), st.floats(0, 1))
def test_histories_sum_to_one_before_and_after_and_no_ngram_comes_or_goes(
    sentences: list[list[str]], order: int, method: str, share: float
) -> None:
    _, model = pruned(sentences, order, method, share)
    new = constrain(model)
    assert abs(model.sums() - 1).max() < 1e-6
    assert abs(new.sums() - 1).max() < 1e-6
    assert (new.trie.words == model.trie.words).all()
    assert (new.trie.first == model.trie.first).all()
    plain = Plain(new.estimates())
    for history in plain.alpha:
        assert sum(plain.p(history, word) for word in plain.words) == pytest.approx(1, abs=1e-6)


@pytest.mark.must_show("marginal-constraint-lm", 2)
@settings(max_examples=25, deadline=None)
@given(SENTENCES, st.sampled_from(INPUTS), st.floats(0, 1), st.integers(2, 3))
def test_recursions_equal_sums_over_all_full_histories(
    sentences: list[list[str]], method: str, share: float, order: int
) -> None:
    _, model = pruned(sentences, order, method, share)
    given_ = exact(model)
    plain = Plain(given_)
    states, full = plain.chain()
    pi = steady_state(given_, 1e-15, 5000)
    trie = given_.trie
    histories = {trie.ngram(g): g for g in range(trie.n_histories)}
    # The mass of a history that the model has not falls on its longest suffix that it has.
    fallen = np.zeros(trie.n_histories)
    for state, mass in zip(states, full, strict=True):
        while state not in histories:
            state = state[1:]
        fallen[histories[state]] += mass
    assert pi == pytest.approx(fallen, abs=1e-10)
    found = sums(given_, pi)
    parents = trie.parents()
    for g in range(1, len(trie)):
        gram = trie.ngram(g)
        s, word = gram[:-1], gram[-1]
        if END_ID in s:
            continue
        ending = [(h, p) for h, p in zip(states, full, strict=True) if h[len(h) - len(s) :] == s]
        wanted = {"S": 0.0, "A": 0.0, "D": 0.0, "N": 0.0}
        for h, p in ending:
            at = h
            while (*at, word) not in plain.prob:
                at = at[1:]
            wanted["S"] += p
            wanted["A"] += plain.cost(h, s) * p
            if len(at) > len(s):
                wanted["N"] += p * plain.cost(h, at) * plain.prob[(*at, word)]
            else:
                wanted["D"] += p * plain.cost(h, s)
        h = parents[g]
        assert found.S[h] == pytest.approx(wanted["S"], abs=1e-10)
        assert found.A[h] == pytest.approx(wanted["A"], abs=1e-10)
        assert found.D[g] == pytest.approx(wanted["D"], abs=1e-10)
        assert found.N[g] == pytest.approx(wanted["N"], abs=1e-10)


def text_of(n: int, seed: int = 1, n_words: int = 200, fixed: int = 12) -> np.ndarray:
    """Numbered sentences of topics, with fixed expressions: words that nearly always follow one other word."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(5, n_words + 5)
    topics = [rng.permutation(n_words) for _ in range(8)]
    parts = []
    for _ in range(n):
        topic = topics[rng.integers(8)]
        length = int(rng.geometric(0.12)) - 1
        words = topic[rng.choice(n_words, length, p=chances / chances.sum())] + 3 + 2 * fixed
        at = rng.random(length) < 0.1
        pairs = rng.integers(0, fixed, length)
        own: list[int] = []
        for word, is_pair, pair in zip(words.tolist(), at.tolist(), pairs.tolist(), strict=True):
            own += [3 + pair, 3 + fixed + pair] if is_pair else [word]
        parts += [BEGIN_ID, *own, END_ID]
    return np.array(parts, dtype=np.int32)


N_WORDS = 200 + 3 + 24


@pytest.fixture(scope="module")
def small() -> tuple[np.ndarray, dict[str, NgramModel]]:
    """Text and pruned models of it."""
    text = text_of(12_000)
    counts = count_ids(text, 3, N_WORDS)
    vocabulary = Vocabulary(str(number) for number in range(N_WORDS - 3))
    models = {}
    for method in (*INPUTS, "kneser-ney"):
        model = NgramModel.of(vocabulary, estimate(counts, method, interpolate=False), method)
        models[method] = prune(model, size=N_WORDS + sum(model.counts()[1:]) // 40)
    return text, models


EXACT = ConstraintSettings(
    floor=0.0, iterations=12, backoff_updates=40, backoff_tolerance=1e-13, steady_tolerance=1e-13
)


@pytest.mark.must_show("marginal-constraint-lm", 3)
@pytest.mark.parametrize("method", ["absolute", "witten-bell", "katz"])
def test_expected_frequencies_become_those_of_the_input(small, method: str) -> None:
    given_ = small[1][method].estimates()
    trie = given_.trie
    parents = trie.parents()

    def violations(model: Estimates) -> tuple[float, float]:
        """Mean absolute differences of words, and of pairs up to their normalization."""
        pi = steady_state(model, 1e-13)
        found = sums(model, pi)
        target = given_.prob * found.S[np.minimum(parents, trie.n_histories - 1)]
        off = expected(model, pi) - target
        own = found.D * model.prob
        left = target - found.N
        here = trie.level(2)
        local = parents[here] - 1
        n = trie.n_words
        free = np.bincount(local, weights=left[here] <= 0, minlength=n) == 0
        with np.errstate(invalid="ignore", divide="ignore"):
            scale = np.bincount(local, own[here], n) / np.bincount(local, left[here], n)
        chosen = free[local] & np.isfinite(scale[local])
        pairs = (own[here] - scale[local] * left[here])[chosen]
        assert chosen.sum() > 20
        words = slice(1 + END_ID, trie.level(1).stop)
        # The floor is not active for words, whose frequencies must fit without any scale.
        assert (left[words] >= 0).all() or model is given_
        return float(np.abs(off[words]).mean()), float(np.abs(pairs).mean())

    before, after = violations(given_), violations(constrained(given_, EXACT))
    assert after[0] < before[0] / 10
    assert after[1] < before[1] / 10


@pytest.mark.must_show("marginal-constraint-lm", 4)
def test_a_million_sampled_words_have_the_frequencies_of_the_text(small) -> None:
    text, models = small
    wanted = np.bincount(text[text != BEGIN_ID], minlength=N_WORDS) + 0.0
    wanted /= wanted.sum()

    def divergence(model: NgramModel) -> float:
        drawn = sample_ids(model, 150_000, seed=11, longest=60).text
        assert len(drawn) >= 1_000_000
        own = np.bincount(drawn[:1_000_000], minlength=N_WORDS) + 0.5
        own /= own.sum()
        seen = wanted > 0
        return float((wanted[seen] * np.log(wanted[seen] / own[seen])).sum())

    for method in ("absolute", "witten-bell"):
        assert divergence(constrain(models[method])) < 0.5 * divergence(models[method])


def test_constraints_help_pruned_models(small) -> None:
    _, models = small
    held = text_of(13_000)[len(text_of(12_000)) :]
    inside = held[held != BEGIN_ID]
    offsets = np.concatenate([[0], np.flatnonzero(inside == END_ID) + 1])

    def perplexity(model: NgramModel) -> float:
        return float(10 ** -model.scores(inside, offsets).mean())

    for method in INPUTS:
        assert perplexity(constrain(models[method])) < 0.99 * perplexity(models[method])


def test_every_part_of_the_procedure_changes_the_result(small) -> None:
    given_ = small[1]["absolute"].estimates()
    pi = steady_state(given_)
    full = reestimated(given_, pi)
    variants = {
        "one division": ConstraintSettings(backoff_updates=0),
        "constant": ConstraintSettings(denominator="constant"),
        "floor": ConstraintSettings(floor=0.5),
    }
    for name, settings_ in variants.items():
        other = reestimated(given_, pi, settings_)
        assert np.abs(other.prob - full.prob).max() > 1e-6, name
    assert np.abs(constrained(given_).prob - full.prob).max() > 1e-6  # the second steady state
    # Longest n-grams and the mass of backing off stay.
    longest = given_.trie.level(3)
    assert (full.prob[longest] == given_.prob[longest]).all()
    assert given_.trie.per_history(full.prob) == pytest.approx(given_.trie.per_history(given_.prob))


def test_a_fixed_expression_takes_mass_from_its_last_word(small) -> None:
    model = small[1]["absolute"]
    new = constrain(model)
    last = 1 + 3 + 12 + np.arange(12)
    assert (new.logp[last] < model.logp[last] - 0.3).all()


def test_settings_that_make_no_sense_are_refused(small) -> None:
    for wrong in ({"iterations": 0}, {"floor": 1.0}, {"denominator": "some"}, {"backoff_updates": -1}):
        with pytest.raises(ConfigError):
            constrain(small[1]["absolute"], ConstraintSettings(**wrong))


def test_kneser_ney_is_no_input(small) -> None:
    with pytest.raises(ConfigError, match="smoothed by kneser-ney"):
        constrain(small[1]["kneser-ney"])
