"""Words from utterances without boundaries: vote, model files, stress patterns against known shares."""

from dataclasses import replace

import numpy as np
import pytest

from weft import storage
from weft.errors import ConfigError, ModelError
from weft.formats.phonemes import sounds_of
from weft.learn.adaptor.grammar import AdaptorSettings
from weft.learn.adaptor.mcmc import Schedule
from weft.tasks.segmentation.induce_words import WordModel, WordSettings, find_grammar, learn_words, vote
from weft.tasks.segmentation.stress_patterns import pattern_shares

VOWELS, CONSONANTS = ("a", "i", "o", "u"), ("b", "d", "g", "k", "l", "m", "n", "s", "t")


def nursery(n, seed=0, words=200):
    """Utterances of a made-up language: 87 % of types begin with stress, frequent ones have none."""
    random = np.random.default_rng(seed)

    def syllable(stressed):
        sounds = [random.choice(CONSONANTS), random.choice(VOWELS)]
        return [*sounds, "*"] if stressed else sounds

    lexicon = []
    for w in range(words):
        pattern = [False] if w < 0.06 * words else [False, True] if w % 14 == 7 else [True, False][: 1 + w % 2]
        lexicon.append([str(sound) for stressed in pattern for sound in syllable(stressed)])
    weights = 1.0 / np.arange(1, words + 1)
    drawn = [random.choice(words, size=random.integers(1, 5), p=weights / weights.sum()) for _ in range(n)]
    return [[lexicon[w] for w in utterance] for utterance in drawn]


@pytest.fixture(scope="module")
def learnt():
    gold = nursery(400)
    settings = WordSettings(
        "colloc3-nophon-stress", vowels=VOWELS, chains=2, schedule=Schedule.of(40, 4),
        sampler=AdaptorSettings(relabel_every=2), seed=3,
    )  # fmt: skip
    model, run = learn_words([sounds_of(utterance) for utterance in gold], settings)
    return gold, settings, model, run


@pytest.mark.must_show(
    "stress-adaptor-grammars", 6, weaker="0.06 at 500 utterances in place of 0.02 at 5,000, which the recorded run has"
)
def test_learnt_stress_patterns_are_near_the_shares_of_types_that_were_put_in(learnt):
    gold, _, model, _ = learnt
    shares = pattern_shares(gold, VOWELS)
    found = model.stress_patterns()
    assert sum(found.values()) == pytest.approx(1.0)
    for name in ("initial", "unstressed"):
        assert abs(found[name] - shares["type"][name]) < abs(found[name] - shares["token"][name]), name
    assert found["initial"] == pytest.approx(shares["type"]["initial"], abs=0.15)
    assert found["several"] < 0.15  # 16 of 30 patterns under the prior


def test_a_model_comes_back_from_its_file_and_cuts_new_utterances_alike(learnt, tmp_path):
    _, _, model, _ = learnt
    model.save(tmp_path / "m.weft")
    again = WordModel.load(tmp_path / "m.weft")
    others = [sounds_of(utterance) for utterance in nursery(20, seed=1)]
    for best in (False, True):
        assert again.segment(others, best, seed=7) == model.segment(others, best, seed=7)
    assert again.training_words() == model.training_words()
    assert again.lexicon() == model.lexicon()
    assert again.segment([]) == []


def test_known_words_are_found_in_new_utterances(learnt):
    gold, _, model, _ = learnt
    counts = {}
    for utterance in gold:
        for word in utterance:
            counts[tuple(word)] = counts.get(tuple(word), 0) + 1
    one, two = (list(word) for word in sorted(counts, key=counts.get, reverse=True)[:2])
    assert model.segment([one + two], best=True) == [[one, two]]


def test_chains_that_stopped_go_on_to_the_same_words(learnt, tmp_path):
    gold, settings, _, _ = learnt
    said = [sounds_of(utterance) for utterance in gold[:40]]
    chosen = replace(settings, chains=1, schedule=replace(Schedule.of(12, 2), checkpoint_every=4))
    whole, _ = learn_words(said, chosen)
    first = replace(chosen, checkpoints=str(tmp_path))
    learn_words(said, first)
    resumed, run = learn_words(said, first)
    assert resumed.training_words() == whole.training_words()
    assert len(run.chains[0].trace) == 12


def test_the_vote_takes_whole_segmentations_not_single_boundaries():
    rows = [[0, 0, 1], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]]
    assert vote([0, 3], [np.array(row, dtype=bool) for row in rows]).tolist() == [False, False, True]


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(ConfigError, match="no grammar 'colloc4'; did you mean colloc"):
        find_grammar("colloc4", [["a"]], VOWELS)
    with pytest.raises(ConfigError, match="none of the vowels"):
        find_grammar("colloc", [["x"]], VOWELS)
    with pytest.raises(ConfigError, match="no symbol 'Wort'"):
        learn_words([["b", "a"]], WordSettings("colloc", unit="Wort", vowels=VOWELS))
    storage.save(tmp_path / "other.weft", {"task": "tagger"}, {})
    with pytest.raises(ModelError, match="not for words"):
        WordModel.load(tmp_path / "other.weft")
