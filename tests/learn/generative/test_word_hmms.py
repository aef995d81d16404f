"""Words learned from scenes: expected counts against enumeration, EM that never falls, the same with any workers."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.generative.word_hmms import (
    Occurrence,
    Sample,
    Scene,
    WordClass,
    WordLexicon,
    expect,
    floored,
    maximize,
)
from weft.learn.generative.word_learning import WordSchedule, learn_words, random_lexicon

NOUN, VERB = WordClass("N", 1, 1, (2,)), WordClass("V", 2, 2, (2, 3))
CLASSES = [NOUN, NOUN, VERB]

#: An enumeration is too slow to repeat it for smaller and smaller examples.
NO_SHRINKING = (Phase.generate,)


def random_samples(seed: int, count: int = 1, frames: int = 3, width: int = 2) -> list[Sample]:
    """Sentences of two nouns and a verb about random scenes."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        codes = {
            "N": rng.integers(0, NOUN.codes, (frames, width)).astype(np.int32),
            "V": rng.integers(0, VERB.codes, (frames, width * width)).astype(np.int32),
        }
        scene = Scene(rng.normal(size=(frames, width)), rng.normal(size=(frames - 1, width, width)), codes)
        words = (Occurrence(0, (0,)), Occurrence(2, (0, 1)), Occurrence(1, (1,)))
        found.append(Sample(scene, words, 2))
    return found


def enumerated(sample: Sample, lexicon: WordLexicon):
    """The likelihood and the expected outputs of every word, over all picks and states."""
    scene, frames = sample.scene, len(sample.scene.unary)
    width = scene.unary.shape[1]
    numerator, denominator = 0.0, 0.0
    outputs = [np.zeros((lexicon.classes[w.entry].codes, lexicon.classes[w.entry].states)) for w in sample.words]
    moves = [np.zeros((lexicon.classes[w.entry].states,) * 2) for w in sample.words]
    joint = list(product(*(range(lexicon.classes[w.entry].states) for w in sample.words)))
    for picks in product(permutations(range(width), 2), repeat=frames):
        value = sum(scene.unary[t, j] for t in range(frames) for j in picks[t])
        value += sum(scene.pair[t, picks[t][p], picks[t + 1][p]] for t in range(frames - 1) for p in range(2))
        weight = np.exp(value)
        denominator += weight
        for states in product(joint, repeat=frames):
            chance, seen = weight, []
            for number, word in enumerate(sample.words):
                model, kind = lexicon.models[word.entry], lexicon.classes[word.entry]
                for t in range(frames):
                    q = states[t][number]
                    place = 0
                    for p in word.participants:
                        place = place * width + picks[t][p]
                    code = scene.codes[kind.name][t, place]
                    chance *= model.initial[q] if t == 0 else model.transition[states[t - 1][number], q]
                    for n, h in enumerate(np.unravel_index(code, kind.bins)):
                        chance *= model.outputs[n][q, h]
                    seen.append((number, t, code, q))
            numerator += chance
            for number, t, code, q in seen:
                outputs[number][code, q] += chance
                if t:
                    moves[number][states[t - 1][number], q] += chance
    return np.log(numerator / denominator), [o / numerator for o in outputs], [m / numerator for m in moves]


@pytest.mark.must_show("video-grounded-words", 1)
@settings(max_examples=4, deadline=None, phases=NO_SHRINKING)
@given(st.integers(0, 10_000))
def test_likelihood_and_counts_of_a_sentence_equal_enumeration(seed):
    (sample,) = random_samples(seed)
    lexicon = random_lexicon(CLASSES, seed, noise=1.0)
    value, outputs, moves = enumerated(sample, lexicon)
    found = expect([sample], lexicon)
    assert abs(found.log_likelihoods[0] - value) < 1e-10
    assert abs(lexicon.log_likelihood(sample) - value) < 1e-10
    for number, word in enumerate(sample.words):
        assert np.abs(found.codes[word.entry] - outputs[number]).max() < 1e-10
        assert np.abs(found.moves[word.entry] - moves[number]).max() < 1e-10


@pytest.mark.must_show("video-grounded-words", 2)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_em_never_lowers_the_score_and_counts_sum_to_the_frames(seed, exclusive):
    samples = random_samples(seed, 6, frames=5, width=3)
    lexicon, before = random_lexicon(CLASSES, seed, noise=1.0, exclusive=exclusive), -np.inf
    for _ in range(6):
        found = expect(samples, lexicon)
        value = sum(found.log_likelihoods)
        assert value >= before - 1e-9
        for entry in (0, 1, 2):
            assert np.isclose(found.codes[entry].sum(), 6 * 5)
            assert np.isclose(found.moves[entry].sum(), 6 * 4)
            assert np.isclose(found.initial[entry].sum(), 6)
        lexicon, before = maximize(found, lexicon), value


def test_a_word_that_occurs_twice_counts_twice():
    samples = random_samples(3, 1, frames=4, width=3)
    twice = [Sample(s.scene, (Occurrence(0, (0,)), Occurrence(0, (1,))), 2) for s in samples]
    found = expect(twice, random_lexicon(CLASSES, 0))
    assert np.isclose(found.codes[0].sum(), 2 * 4)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 50), min_size=2, max_size=6))
def test_floored_counts_have_no_better_distribution(counts):
    given_counts = np.array(counts)
    best = floored(given_counts, 0.05)
    assert np.isclose(best.sum(), 1)
    assert best.min() >= 0.05 - 1e-12
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = 0.05 + (1 - 0.05 * len(counts)) * rng.dirichlet(np.ones(len(counts)))
        assert given_counts @ np.log(best) >= given_counts @ np.log(other) - 1e-9


def same(one, other) -> bool:
    """Whether two lexicons are the same number for number."""
    return all(
        np.array_equal(a.transition, b.transition)
        and np.array_equal(a.initial, b.initial)
        and all(np.array_equal(x, y) for x, y in zip(a.outputs, b.outputs, strict=True))
        for a, b in zip(one.lexicon.models, other.lexicon.models, strict=True)
    )


QUICK = WordSchedule(starts=2, trials=2, finalists=1, rounds=4)


def test_processes_learn_the_same_words():
    samples = random_samples(1, 20, frames=4, width=3)
    assert same(learn_words(samples, CLASSES, QUICK), learn_words(samples, CLASSES, QUICK, workers=2))


def test_a_dask_cluster_learns_the_same_words():
    distributed = pytest.importorskip("distributed")
    samples = random_samples(1, 20, frames=4, width=3)
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, set_as_default=False
    ) as client:
        assert same(learn_words(samples, CLASSES, QUICK), learn_words(samples, CLASSES, QUICK, client=client))


def test_an_interrupted_training_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    from weft.learn.generative import word_learning

    samples, path = random_samples(1, 12, frames=4, width=3), tmp_path / "part.weft"
    rounds = []

    def stopped(expected, lexicon, floor):
        rounds.append(1)
        if len(rounds) == 4:
            raise KeyboardInterrupt
        return maximize(expected, lexicon, floor)

    with monkeypatch.context() as patch:
        patch.setattr(word_learning, "maximize", stopped)
        with pytest.raises(KeyboardInterrupt):
            learn_words(samples, CLASSES, QUICK, checkpoint=path)
    counted = []
    with monkeypatch.context() as patch:
        patch.setattr(word_learning, "maximize", lambda *given: counted.append(1) or maximize(*given))
        again = learn_words(samples, CLASSES, QUICK, checkpoint=path)
    assert same(again, learn_words(samples, CLASSES, QUICK))
    assert len(counted) == sum(len(run.trials) + len(run.log_likelihoods) for run in again.starts) - 3
    with pytest.raises(ConfigError, match="no checkpoint of this training"):
        learn_words(samples, CLASSES, WordSchedule(starts=2, rounds=9), checkpoint=path)


def test_the_likeliest_start_is_kept():
    found = learn_words(random_samples(2, 10, 5, 3), CLASSES, WordSchedule(starts=4, trials=2, finalists=2, rounds=6))
    assert [len(run.trials) for run in found.starts] == [2, 2, 2, 2]
    assert [bool(run.log_likelihoods) for run in found.starts] == [True, True, False, False]
    assert found.starts[0].log_likelihoods[-1] > found.starts[1].log_likelihoods[-1]
    assert min(run.trials[-1] for run in found.starts[:2]) > max(run.trials[-1] for run in found.starts[2:])
    assert found.lexicon is found.starts[0].lexicon


def test_starts_are_tried_on_the_sentences_with_the_fewest_participants():
    samples = random_samples(2, 6, 5, 3)
    longer = [Sample(s.scene, (*s.words, Occurrence(0, (2,))), 3) for s in random_samples(3, 4, 5, 3)]
    found = learn_words([*longer, *samples], CLASSES, WordSchedule(starts=2, trials=1, finalists=1, rounds=1))
    first = random_lexicon(CLASSES, 0)
    (run,) = [run for run in found.starts if run.number == 0]
    assert np.isclose(run.trials[0], sum(first.log_likelihood(sample) for sample in samples))


def test_states_in_order_lead_forward():
    model = random_lexicon([WordClass("V", 1, 3, (2,))], 0, ordered=True).models[0]
    assert np.tril(model.transition, -1).max() < 0.01
    assert model.initial.argmax() == 0


def test_longer_sentences_are_scored_beside_what_chance_explains():
    (sample,) = random_samples(1, 1, 6, 3)
    uniform = WordLexicon(CLASSES, random_lexicon(CLASSES, 0, noise=0.0, stay=0.5).models)
    chance = np.log(2) + np.log(2) + np.log(2 * 6)
    assert np.isclose(uniform.log_likelihood(sample), -6 * (chance - np.log(2)))
    assert np.isclose(uniform.score(sample), np.log(2))  # states cost nothing if all are alike
