"""Aligners: links of new pairs, streams, models on disk, and real bitexts in time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from weft import data
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.labels.word_alignment import score_alignment
from weft.formats.bitext import read_bitext
from weft.formats.pharaoh import read_gold_links
from weft.infer.alignment.symmetrize import METHODS
from weft.learn.bitext.fertility import STAGES, FertilitySettings
from weft.learn.bitext.word_alignment import AlignmentSettings
from weft.tasks.bitext.align import APART, CHOICES, Aligner, align
from weft.text.bitext import Links
from weft.text.words import word_spans


def translated(n_pairs: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]], Links]:
    """Sentences of 40 words, word-for-word translations with neighbours swapped, and the links."""
    rng = np.random.default_rng(seed)
    source, target, links = [], [], []
    for _ in range(n_pairs):
        words = rng.choice(40, rng.integers(3, 9), replace=False).tolist()
        order = list(range(len(words)))
        for k in range(len(order) - 1):
            if rng.random() < 0.2:
                order[k], order[k + 1] = order[k + 1], order[k]
        source.append([f"e{w}" for w in words])
        target.append([f"F{words[i]}" for i in order])
        links.append([(i, j) for j, i in enumerate(order)])
    return source, target, Links.of(sorted(pair) for pair in links)


@pytest.fixture(scope="module")
def trained() -> Aligner:
    aligner = Aligner()
    aligner.fit(*translated(600)[:2])
    return aligner


@pytest.mark.parametrize("choice", CHOICES)
def test_new_pairs_of_a_clean_bitext_are_aligned_nearly_without_error(trained, choice):
    source, target, gold = translated(100, seed=1)
    links = trained.align(source, target, choice)
    assert score_alignment(links, gold).aer < 0.03
    assert links.score.min() >= 0


def test_thresholds_leave_fewer_links_and_combinations_are_in_order(trained):
    source, target, _ = translated(60, seed=2)
    source = [[*words, "unheard"] for words in source]
    numbers = [len(trained.align(source, target, "union", threshold=t)) for t in (0.0, 0.5, 0.9, 0.99)]
    assert numbers == sorted(numbers, reverse=True)
    scores = [trained.align(source, target, "union", combine=name).score for name in ("product", "min", "mean")]
    assert np.all(scores[0] <= scores[1] + 1e-12)
    assert np.all(scores[1] <= scores[2] + 1e-12)


def test_posterior_links_are_those_whose_score_reaches_the_threshold(trained):
    source, target, _ = translated(20, seed=3)
    all_links = trained.align(source, target, "posterior", threshold=0.0)
    assert len(all_links) == sum(len(s) * len(t) for s, t in zip(source, target, strict=True))
    assert trained.align(source, target, "posterior", threshold=0.3).pairs() == all_links.above(0.3).pairs()


def test_posteriors_of_a_target_word_sum_to_at_most_one(trained):
    source, target, _ = translated(10, seed=4)
    grids = trained.grids(source, target)
    first = 0
    for words, others in zip(source, target, strict=True):
        cells = slice(first, first + len(words) * len(others))
        assert grids.forward[cells].reshape(len(others), len(words)).sum(axis=1).max() <= 1 + 1e-9
        assert grids.backward[cells].reshape(len(others), len(words)).sum(axis=0).max() <= 1 + 1e-9
        first = cells.stop


def test_streams_are_aligned_in_batches_as_they_come(trained):
    source, target, _ = translated(25, seed=5)
    asked = []

    def pairs():
        for number, pair in enumerate(zip(source, target, strict=True)):
            asked.append(number)
            yield pair

    batches = trained.stream(pairs(), "intersection", batch=10)
    assert next(batches).n_pairs == 10
    assert len(asked) == 10
    rest = Links.joined(batches)
    assert rest.pairs() == trained.align(source, target, "intersection").take(10).pairs()


def test_a_model_file_gives_the_same_links_and_translations(trained, tmp_path):
    source, target, _ = translated(30, seed=6)
    trained.save(tmp_path / "aligner.weft")
    loaded = Aligner.load(tmp_path / "aligner.weft")
    for choice in CHOICES:
        one, other = trained.align(source, target, choice), loaded.align(source, target, choice)
        assert one.pairs() == other.pairs()
        np.testing.assert_array_equal(one.score, other.score)
    assert loaded.translations("E7")[0][0] == trained.translations("e7")[0][0] == "f7"
    assert loaded.translations("F7", backward=True)[0][0] == "e7"
    assert loaded.translations("never seen") == []


def test_unknown_words_link_with_each_other_and_empty_sentences_have_no_links(trained):
    links = trained.align([["e1", "new", "e2"], [], ["e1"]], [["f1", "neu", "f2"], ["f1"], []], "intersection")
    assert links.pairs() == [[(0, 0), (1, 1), (2, 2)], [], []]


def test_learning_twice_gives_the_same_links():
    source, target, _ = translated(80, seed=7)
    one, other = align(source, target), align(source, target)
    assert one.pairs() == other.pairs()
    np.testing.assert_array_equal(one.score, other.score)


def test_case_counts_only_where_it_is_asked_to(tmp_path):
    aligner = Aligner(AlignmentSettings(1, 0), lower=False)
    aligner.fit([["The"], ["the"]], [["Die"], ["die"]])
    assert list(aligner.source_words) == ["The", "the"]
    aligner.save(tmp_path / "a.weft")
    assert not Aligner.load(tmp_path / "a.weft").lower


def test_what_cannot_be_done_is_said_in_plain_words(trained, tmp_path):
    with pytest.raises(ConfigError, match="not trained yet"):
        Aligner().align([["a"]], [["b"]])
    with pytest.raises(ConfigError, match="nothing to save"):
        Aligner().save(tmp_path / "a.weft")
    with pytest.raises(ConfigError, match=r"symmetrize must be one of .*, got 'grow'"):
        trained.align([], [], "grow")
    with pytest.raises(ConfigError, match=r"combine must be one of .*, got 'max'"):
        trained.align([], [], combine="max")
    with pytest.raises(ConfigError, match="threshold must be a probability from 0 to 1, got 2"):
        trained.align([], [], threshold=2)
    with pytest.raises(DataError, match="1 source and 0 target"):
        trained.align([["a"]], [])
    with pytest.raises(DataError, match="nothing to train on"):
        Aligner().fit([[]], [["a"]])
    from weft import storage

    storage.save(tmp_path / "tagger.weft", {"task": "tagger"}, {})
    with pytest.raises(ModelError, match="for tagger, not an aligner"):
        Aligner.load(tmp_path / "tagger.weft")


def captions(language: str, n: int) -> list[list[str]]:
    import gzip

    path = f"parallel/multi30k/task1/train.{language}.gz"
    if not data.have(path):
        pytest.skip(f"needs {path}")
    with gzip.open(data.find(path), "rt", encoding="utf-8") as lines:
        return [[line[a:b] for a, b in word_spans(line)] for _, line in zip(range(n), lines, strict=False)]


@pytest.mark.corpus
@pytest.mark.timing
def test_five_thousand_captions_are_learned_in_ten_seconds():
    source, target = captions("en", 5000), captions("de", 5000)
    start = time.process_time()
    Aligner().fit(source, target)
    assert time.process_time() - start < 10


@pytest.mark.corpus
def test_objectives_rise_over_five_thousand_captions_and_words_are_translated():
    aligner = Aligner()
    facts = aligner.fit(captions("en", 5000), captions("de", 5000))
    for stage, values in facts["objective"].items():
        assert np.all(np.diff(values) > 0) or stage == "both, HMM"
    assert aligner.translations("dog")[0][0] == "hund"
    assert aligner.translations("girl")[0][0] == "mädchen"


@pytest.mark.corpus
def test_gold_links_of_hansards_are_found_better_by_the_hmm_and_by_both_directions_learned_together():
    if not data.have("parallel/gold-alignments/enfr.gold"):
        pytest.skip("needs parallel/gold-alignments")
    pairs = list(read_bitext(data.find("parallel/gold-alignments/enfr.src-tgt")))
    sure, possible = read_gold_links(data.find("parallel/gold-alignments/enfr.gold"), first=1)
    source, target = (list(side) for side in zip(*pairs, strict=True))
    more = captions("en", 2000), captions("fr", 2000)
    rates, precision = {}, {}
    for name, settings in (("model 1", AlignmentSettings(hmm_iterations=0)), ("apart", APART), ("HMM", None)):
        aligner = Aligner(settings)
        aligner.fit(source + more[0], target + more[1])
        for choice in ("forward", "backward", *METHODS):
            score = score_alignment(aligner.align(source, target, choice), sure, possible)
            rates[name, choice], precision[name, choice] = score.aer, score.figures()["precision"]
    for choice in ("intersection", "grow-diag-final-and"):
        assert rates["HMM", choice] < rates["apart", choice] - 0.01, rates
    assert precision["apart", "intersection"] > precision["HMM", "intersection"]  # why projection learns them apart
    assert rates["HMM", "grow-diag-final-and"] < rates["model 1", "grow-diag-final-and"] - 0.05
    assert rates["HMM", "intersection"] < min(rates["HMM", "forward"], rates["HMM", "backward"])
    assert rates["HMM", "grow-diag-final-and"] < 0.35


@pytest.mark.parametrize("method", ["ibm3-nd", "ibm4", "ibm5"])
def test_models_with_fertilities_align_save_and_load(method, tmp_path):
    source, target, _ = translated(300)
    aligner = Aligner(method=method, fertility=FertilitySettings(2, 2, classes=4))
    facts = aligner.fit(source, target)
    assert list(facts["p0"]) == list(STAGES[method])
    new, others, gold = translated(60, seed=1)
    assert score_alignment(aligner.align(new, others), gold).aer < 0.03
    aligner.save(tmp_path / "a.weft")
    loaded = Aligner.load(tmp_path / "a.weft")
    unknown = [[*words, "unheard"] for words in new]
    one, other = (each.align(unknown, others, "posterior", threshold=0.2) for each in (aligner, loaded))
    assert one.pairs() == other.pairs()
    np.testing.assert_array_equal(one.score, other.score)
    assert loaded.fertilities("E7")[1] > 0.9
    assert loaded.method == method


def test_fertilities_belong_to_models_that_have_them(trained):
    with pytest.raises(ConfigError, match="no fertilities"):
        trained.fertilities("e1")
    with pytest.raises(ConfigError, match="method must be one of hmm, ibm3"):
        Aligner(method="ibm2")
    with pytest.raises(ConfigError, match="the HMM has no fertilities"):
        Aligner(fertility=FertilitySettings())
    assert align(["yes", "no", "yes no"], ["ja", "nein", "nein ja"], method="ibm3-nd").pairs()[0] == [(0, 0)]
