"""Checks of translating into dependency trees that need corpora."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.infer.decoding.syntax import Reductions
from weft.infer.trees.well_formed import CATEGORIES, categories
from weft.learn.transitions.reductions import fit_reductions
from weft.recipes.framework import RecipeOptions
from weft.recipes.translation.shift_reduce_string_to_dependency.data import (
    captions,
    lower,
    parse,
    parse_leniently,
    parsed,
    parser,
    trees_of,
)
from weft.recipes.translation.shift_reduce_string_to_dependency.experiment import Bitext, classes_of
from weft.recipes.translation.shift_reduce_string_to_dependency.generated import generate, head_final
from weft.tasks.bitext.align import Aligner
from weft.tasks.translation.translator import TranslatorSettings
from weft.tasks.translation.trees import TreeSettings, tree_events

FILES = [f"parallel/multi30k/task1/{name}" for name in ("train.de.gz", "train.en.gz", "val.de", "val.en")]


@pytest.mark.corpus
@pytest.mark.must_show("shift-reduce-string-to-dependency", 3)
def test_spans_of_a_treebank_have_the_categories_that_were_counted_apart(corpus_file: Callable[[str], Path]) -> None:
    sentences = parsed(list(weft.read(corpus_file("treebanks/ud/English-EWT/dev.conllu.gz"))))
    assert len(sentences) == 1970
    counts = np.zeros(4)
    for heads in sentences.heads:
        counts += np.bincount(categories(np.array(heads, np.int32), 7)[2], minlength=4)
    shares = dict(zip(CATEGORIES, 100 * counts / counts.sum(), strict=True))
    wanted = {"fixed": 37.4, "left floating": 7.2, "right floating": 1.7, "ill-formed": 53.7}
    assert shares == pytest.approx(wanted, abs=0.1)


@cache
def bitext() -> Bitext:
    """A translator of 1,500 captions with trees."""
    options, nlp = RecipeOptions(progress=False), parser()
    source = lower(captions(options, "train", "de", 1500))
    target = parse(nlp, captions(options, "train", "en", 1500))
    aligner = Aligner()
    aligner.fit(source, target.words)
    dev = tuple(lower(captions(options, "val", language, 60)) for language in ("de", "en"))
    links = aligner.align(source, target.words)
    settings = TranslatorSettings(100, 200)
    return Bitext.of(source, target, trees_of(target), links, 3, 600, settings, dev, [])


@pytest.mark.corpus
@pytest.mark.must_show(
    "shift-reduce-string-to-dependency",
    5,
    fails="89 % with predicted trees of captions; with gold trees of 500 pairs 76 %",
)
def test_most_held_out_decisions_are_foreseen(corpus_file: Callable[[str], Path]) -> None:
    for name in FILES:
        corpus_file(name)
    made = bitext()
    train, test = range(800), range(800, 1000)
    classes = classes_of(made.material, made.trees, train)
    events, labels, _ = tree_events(made.material, made.trees, classes, TreeSettings(), train)
    weights = fit_reductions(events, labels)
    held_out, wanted, _ = tree_events(made.material, made.trees, classes, TreeSettings(), test)
    none = np.zeros(0, np.int32)
    found = Reductions(weights, none, none).probabilities(held_out).argmax(axis=1)
    accuracy = (found == wanted).mean()
    assert accuracy >= 0.85
    assert accuracy >= np.bincount(wanted).max() / len(wanted) + 0.2


@pytest.mark.corpus
@pytest.mark.must_show(
    "shift-reduce-string-to-dependency",
    6,
    fails="trees agree with a parser, but do not raise BLEU, and all rules are no better than well-formed ones",
)
def test_heads_of_translations_agree_with_a_parser(corpus_file: Callable[[str], Path]) -> None:
    for name in FILES:
        corpus_file(name)
    made = bitext()
    done = [made.translator(TreeSettings()).translate(words) for words in made.dev[0]]
    own, right, total = 0, 0, 0
    for each, heads in zip(done, parse_leniently(parser(), [list(each.words) for each in done]), strict=True):
        own += sum(a == b for a, b in zip(each.heads, heads, strict=True))
        right += sum(a == b for a, b in zip(range(len(heads)), heads, strict=True))
        total += len(heads)
    assert own / total > right / total + 0.3


@pytest.mark.corpus
@pytest.mark.timing
@pytest.mark.must_show(
    "shift-reduce-string-to-dependency",
    7,
    weaker="less than twice the time, on any machine; the recorded run has less than 1.5",
)
def test_trees_take_less_than_twice_as_long(corpus_file: Callable[[str], Path]) -> None:
    for name in FILES:
        corpus_file(name)
    made = bitext()
    best = {}
    for _ in range(4):
        for tree in (None, TreeSettings()):
            translator = made.translator(tree)
            begin = time.process_time()
            for words in made.dev[0]:
                translator.translate(words)
            best[tree] = min(best.get(tree, np.inf), time.process_time() - begin)
    assert best[TreeSettings()] <= 2 * best[None]


def test_in_the_generated_language_every_head_follows_its_dependents() -> None:
    heads = [2, 3, 0, 5, 3]
    order = head_final(heads)
    assert all(order.index(k) < order.index(head - 1) for k, head in enumerate(heads) if head)
    docs = [weft.Doc.from_words([["A", "dog", "sees", "a", "dog"]], head=[heads], upos=[["D", "N", "V", "D", "N"]])]
    made = generate(parsed(docs))
    assert made.source == [["w0", "w1", "w0", "w1", "w2"]]
    assert made.links.pairs() == [[(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]]
    assert replace(TreeSettings(), stops=True).stops
