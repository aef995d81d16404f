"""Checks of the sheet of dynamic-oracles on English-EWT, in the sizes of a minute (1 to 4: tests/infer)."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from steps import steps_of

from weft.data import find, have
from weft.formats import read
from weft.recipes.parsing import dynamic_oracles as recipe
from weft.text import Corpus, Doc

TRAIN = "treebanks/ud/English-EWT/train.conllu.gz"
DEV = "treebanks/ud/English-EWT/dev.conllu.gz"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not have(TRAIN), reason="UD_English-EWT is not at hand: set WEFT_DATA (see `weft data list`)"),
]


@pytest.fixture(scope="module")
def train():
    return list(read(find(TRAIN)).take_sentences(3000))


@pytest.fixture(scope="module")
def dev():
    return list(read(find(DEV)))


@pytest.fixture(scope="module")
def mean_uas(train, dev):
    @cache
    def uas(system, oracle, seed, **options):
        return recipe.train(train, system, oracle, 5, seed, **options).scores(dev)["UAS"]

    def mean(system, oracle, seeds, **options):
        return float(np.mean([uas(system, oracle, seed, **options) for seed in range(seeds)]))

    return mean


@pytest.mark.must_show("dynamic-oracles", 5, weaker="any gain at all in place of 0.5 to 1.5 points")
@pytest.mark.parametrize("system", ["arc-eager", "easy-first"])
def test_dynamic_oracles_are_better_than_static_ones_on_the_mean_of_seeds(mean_uas, system):
    assert mean_uas(system, "dynamic", 5) > mean_uas(system, "static", 5)


@pytest.mark.must_show(
    "dynamic-oracles", 6, weaker="two points of the map on English; the recorded run has the whole map"
)
def test_without_exploring_accuracy_falls(mean_uas):
    assert mean_uas("arc-eager", "dynamic", 4, p=0.0) < mean_uas("arc-eager", "dynamic", 4)


@pytest.mark.must_show("dynamic-oracles", 7)
def test_a_parser_takes_as_many_steps_whatever_its_oracle_and_is_linear_in_the_length_of_sentences():
    few, some = (list(read(find(path)).take_sentences(n)) for path, n in ((TRAIN, 200), (DEV, 10)))
    static, dynamic = (recipe.train(few, "arc-eager", oracle, 1) for oracle in ("static", "dynamic"))
    steps = [steps_of(lambda parser=parser: parser(some)) for parser in (static, dynamic)]
    assert abs(steps[1] / steps[0] - 1) < 0.05, steps
    forms, tags = some[0].column("form"), some[0].column("upos")
    steps = []
    for length in (25, 50, 200):
        rows = [[forms[i % len(forms)] for i in range(length)]] * (200 // length)
        marks = [[tags[i % len(tags)] for i in range(length)]] * (200 // length)
        doc = Doc.from_words(rows, upos=marks)
        steps.append(steps_of(lambda doc=doc: dynamic([doc])))
    assert steps[-1] < 1.6 * steps[0], steps  # as many words in fewer, longer sentences


@pytest.mark.must_show("dynamic-oracles", 7)
@pytest.mark.timing
def test_a_parser_is_as_fast_whatever_its_oracle_and_linear_in_the_length_of_sentences(train, dev):
    static, dynamic = (recipe.train(train, "arc-eager", oracle, 3) for oracle in ("static", "dynamic"))
    best = [0.0, 0.0]
    for done in range(60):  # in turn, until the best of both have been seen: a busy machine changes its mind
        for i, parser in enumerate((static, dynamic)):
            best[i] = max(best[i], recipe.parsing_speed(parser, Corpus(dev), rounds=1))
        if done >= 5 and abs(best[1] / best[0] - 1) < 0.05:
            break
    assert abs(best[1] / best[0] - 1) < 0.05, best
    forms, tags = dev[0].column("form"), dev[0].column("upos")
    seconds = []
    for length in (250, 500, 1000, 2000):
        rows = [[forms[i % len(forms)] for i in range(length)]] * (8000 // length)
        marks = [[tags[i % len(tags)] for i in range(length)]] * (8000 // length)
        docs = [Doc.from_words(rows, upos=marks)]
        best = 1e9
        for _ in range(5):
            started = time.process_time()
            dynamic(docs)
            best = min(best, time.process_time() - started)
        seconds.append(best)
    assert seconds[-1] < 1.6 * seconds[0], seconds  # as many words in fewer, longer sentences
