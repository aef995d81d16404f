"""Words in generated clips: EM from the right nouns keeps them, and loses them without exclusion."""

from __future__ import annotations

import numpy as np
import pytest

from weft.learn.generative.word_hmms import WordLexicon, WordModel, expect, maximize
from weft.learn.generative.word_learning import WordSchedule, random_lexicon
from weft.recipes.grounding.video_grounded_words.systems import (
    WORDS,
    Corpus,
    Fold,
    apart,
    nouns_right,
    sample_of,
    tracked,
)
from weft.recipes.grounding.video_grounded_words.world import KINDS, Noise, generate, is_true


@pytest.fixture(scope="module")
def fold() -> Fold:
    """Twelve clips of 25 frames."""
    corpus = Corpus.make(12, 200, Noise(frames=25))
    return Fold(corpus, np.arange(12), np.arange(12))


def with_nouns(fold: Fold, exclusive: bool) -> WordLexicon:
    """Random models of all words but the nouns, which mean their kinds."""
    plain = random_lexicon(fold.classes, 1, exclusive=exclusive)
    models = list(plain.models)
    for number, kind in enumerate(KINDS):
        masses = np.full(4, 0.05)
        masses[number] = 0.85
        models[WORDS.index(kind)] = WordModel(np.ones(1), np.ones((1, 1)), (masses[None],))
    return WordLexicon(plain.classes, models, exclusive)


def after(fold: Fold, lexicon: WordLexicon, rounds: int = 6) -> tuple[WordLexicon, list[float]]:
    samples = [sample_of(fold.scene(clip), sentence) for clip, sentence in fold.corpus.pairs]
    values = []
    for _ in range(rounds):
        found = expect(samples, lexicon)
        values.append(sum(found.log_likelihoods))
        lexicon = maximize(found, lexicon)
    return lexicon, values


@pytest.mark.must_show(
    "video-grounded-words",
    4,
    weaker="started at the true nouns on 12 clips; four corpora and random starts are recorded",
)
def test_from_the_true_nouns_the_score_rises_every_round_and_nouns_stay(fold):
    lexicon, values = after(fold, with_nouns(fold, exclusive=True))
    assert values == sorted(values)
    assert values[-1] > values[0] + 100
    assert nouns_right(lexicon) == 4


def shared(fold: Fold, lexicon: WordLexicon) -> float:
    """How much of the time the first two participants are one detection."""
    found = []
    for clip, sentence in fold.corpus.pairs:
        picks = lexicon.marginals(sample_of(fold.scene(clip), sentence)).picks
        found.append((picks[:, 0] * picks[:, 1]).sum(axis=1).mean())
    return float(np.mean(found))


@pytest.mark.must_show("video-grounded-words", 5)
def test_without_exclusion_participants_collapse_and_wrong_nouns_are_likelier(fold):
    free, values = after(fold, with_nouns(fold, exclusive=False))
    bound, bound_values = after(fold, with_nouns(fold, exclusive=True))
    assert values[-1] > bound_values[-1]  # a better score for worse words
    assert shared(fold, bound) < 0.02
    assert shared(fold, free) > 0.15
    lost, lost_values = after(fold, random_lexicon(fold.classes, 5, exclusive=False), 8)
    assert lost_values[-1] > values[-1] + 100
    assert nouns_right(lost) <= 1
    kinds = [int(np.argmax(lost.models[WORDS.index(kind)].outputs[0][0])) for kind in KINDS]
    assert max(map(kinds.count, kinds)) >= 3  # most nouns mean one detector


def test_words_apart_have_participants_of_their_own(fold):
    clip, sentence = fold.corpus.pairs[0]
    whole = sample_of(fold.scene(clip), sentence)
    parts = apart(whole)
    assert [len(part.words) for part in parts] == [1] * len(whole.words)
    assert [part.participants for part in parts] == [len(word.participants) for word in whole.words]


def test_fixed_tracks_never_change_places():
    world = generate(5)
    corpus = Corpus([world], [], {}, {})
    fold = Fold(corpus, np.arange(1), np.arange(1))
    scene = tracked(fold.scene(0), {kind.name: kind.arity for kind in fold.classes} | {"VI": 1}, 3)
    assert scene.unary.shape[1] == 3
    assert np.isneginf(scene.pair[:, 0, 1]).all()
    sentence = "The person approached the chair"
    best = with_nouns(fold, exclusive=True).best(sample_of(scene, sentence))
    assert (best.picks == best.picks[0]).all()


def test_worlds_are_seeded_and_their_sentences_true():
    one, again = generate(7), generate(7)
    assert np.array_equal(one.clip.boxes, again.clip.boxes)
    assert not np.array_equal(one.clip.boxes, generate(8).clip.boxes)
    corpus = Corpus.make(6, 3, Noise(frames=25))
    assert all(is_true(corpus.worlds[clip], sentence) for clip, sentence in corpus.pairs)
    wrong = Corpus.make(6, 3, Noise(frames=25), wrong=0.5)
    assert len(wrong.pairs) == len(corpus.pairs)
    assert not all(is_true(wrong.worlds[clip], sentence) for clip, sentence in wrong.pairs)


def test_a_start_is_learned_from_the_training_clips_only():
    corpus = Corpus.make(6, 3, Noise(frames=25))
    fold = Fold(corpus, np.arange(3), np.arange(3, 6))
    learned = fold.learn("Learned", WordSchedule(1, 1, 1, 1))
    assert learned is not None
    inside = [sample_of(fold.scene(clip), sentence) for clip, sentence in corpus.pairs if clip < 3]
    first = random_lexicon(fold.classes, 0)
    assert np.isclose(learned.starts[0].log_likelihoods[0], sum(first.log_likelihood(sample) for sample in inside))
