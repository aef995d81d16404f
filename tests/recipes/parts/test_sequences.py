"""Parts of the systems for sequences that scores on a corpus do not tell apart: each of them changes the result."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from weft.features.templates import Templates
from weft.formats.grammar import parse_grammar
from weft.infer.chains.chain import Chain
from weft.infer.chains.multilabel import Restrictions, Segment
from weft.learn import Objective
from weft.learn.adaptor.grammar import AdaptorGrammar, AdaptorSettings
from weft.learn.chains.labels import LabelSpace
from weft.lexical.growth.grow import GrowthSettings, grow
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.tasks.spans.gapped import GappedSpanFinder, GappedSpanSettings
from weft.tasks.spans.mwe import MweSettings, MweTagger
from weft.tasks.uncertainty import models
from weft.tasks.uncertainty.features import observe
from weft.text import Corpus, Doc
from weft.text.layers import SpanLayer


def test_pruning_leaves_out_patterns_of_rare_contexts():
    often = [f"We met {name} at noon ." for name in ("Ann Lee", "Bo Day", "Cy Fox", "Di Ash", "Ed Orr", "Flo Ray")]
    text = " ".join([*often, "We met Ann Lee near noon ."])
    seeds = {"person": ["Ann Lee", "Bo Day", "Cy Fox", "Di Ash", "Ed Orr"]}
    found = {
        k: {each.text for each in grow(Corpus([Doc(text)]), seeds, GrowthSettings(k=k, min_seeds=1)).patterns}
        for k in (0.01, 0.5)
    }
    assert found[0.5] < found[0.01]
    assert any("near" in pattern for pattern in found[0.01])
    assert not any("near" in pattern for pattern in found[0.5])


def small_chain() -> ChainData:
    doc = Doc.from_words([["a", "b", "a"], ["b", "b"]])
    reader = ChainReader(Templates("true w[0] y[-1]"), {"w": "form"})
    return ChainData.build(reader, [doc], np.array([0, 1, 0, 1, 1], np.int32), LabelSpace(["x", "y"]), False)


def test_the_prior_is_part_of_the_likelihood_and_of_its_gradient():
    data = small_chain()
    weights = np.random.default_rng(0).normal(size=data.model.size)
    plain, narrow = (Objective(data.model, [data.batch], **each) for each in ({}, {"sigma": 0.5}))
    gain, slope = narrow.value(weights) - plain.value(weights), narrow(weights)[1].copy()
    assert gain == pytest.approx(0.5 * 4.0 * float(weights @ weights))
    np.testing.assert_allclose(slope - plain(weights)[1], 4.0 * weights)


def test_no_second_order_labelling_begins_with_i_or_has_it_after_o():
    space = LabelSpace(["B-NP", "I-NP", "O"], order=2, scheme="IOB2")
    offsets = np.array([0, 4])
    rng = np.random.default_rng(0)
    for _ in range(50):
        edge = np.where(space.legal, rng.normal(size=space.legal.shape), -np.inf)
        chain = Chain(rng.normal(size=(4, space.n_states)), edge, offsets, space.allowed(offsets))
        labels = [space.labels[tag] for tag in space.tags(chain.best())]
        assert labels[0] != "I-NP"
        assert ("O", "I-NP") not in set(pairwise(labels))


def test_tags_of_expressions_follow_each_other_as_their_scheme_allows():
    space = MweTagger(MweSettings(tags=8)).label_space([], 1)
    follows = {(a, b) for i, a in enumerate(space.labels) for j, b in enumerate(space.labels) if space.legal[i, j]}
    assert {("O", "B"), ("B", "I")} <= {(a[:1], b[:1]) for a, b in follows}
    assert not {("O", "I"), ("O", "i"), ("B", "O")} & {(a[:1], b[:1]) for a, b in follows}
    assert not any(space.start[i] for i, label in enumerate(space.labels) if label[:1] in "Iio")


def test_a_step_of_a_chain_draws_parameters_and_labels_of_tables_anew(monkeypatch):
    grammar = parse_grammar("Words -> Word+\n@Word -> Sound+\nSound -> a | b")
    chain = AdaptorGrammar(grammar, [list("abab"), list("ab")] * 3, AdaptorSettings(relabel_every=2), seed=1)
    relabelled = []
    relabel = chain.relabel
    monkeypatch.setattr(chain, "relabel", lambda: relabelled.append(chain.iteration) or relabel())
    drawn = []
    for _ in range(4):
        chain.step()
        drawn.append((*chain.restaurants.discount.tolist(), *chain.restaurants.strength.tolist()))
    assert len(set(drawn)) == 4
    assert relabelled == [2, 4]


def test_segments_in_conflict_with_a_better_one_are_dropped():
    long, inner, crossing, apart = (Segment(0, words) for words in ((1, 2, 3), (2, 3), (3, 4), (5,)))
    every = [long, inner, crossing, apart]
    kept = {name: Restrictions.read(name, 0).accept(every) for name in ("none", "no-embedding", "no-overlap")}
    assert kept == {"none": [0, 1, 2, 3], "no-embedding": [0, 2, 3], "no-overlap": [0, 3]}


def test_restrictions_hold_in_training_too():
    doc = Doc.from_words([["red", "cells", "grow"]] * 2)
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 2, "C"), (3, 5, "C")])
    finder = GappedSpanFinder(
        GappedSpanSettings(restrictions="contiguous no-overlap", templates="w[0]", fields={"w": "form"})
    )
    data = finder.encode([doc], finder.gold(doc))
    structure = data.model.score(data.batches[0], np.zeros(data.model.size))
    assert structure.restrictions == Restrictions.read("contiguous no-overlap", 0)
    assert structure.restrictions != Restrictions()


def test_the_rare_class_weighs_more_in_a_balanced_sentence_model(monkeypatch):
    given = []
    machine = models.linear_svm

    def note(rows, gold, weight, **options):
        given.append(np.asarray(weight))
        return machine(rows, gold, weight, **options)

    monkeypatch.setattr(models, "linear_svm", note)
    doc = observe([Doc.from_words([["it", "may", "rain"], ["it", "rains"], ["it", "snows"], ["we", "wait"]])])
    templates = Templates("TOKEN[0]")
    observed = models.look(doc, templates)
    for balanced in (True, False):
        models.SentenceModel.fit(templates, observed, np.array([1, 0, 0, 0]), "l2", 1.0, balanced)
    assert given[0][0] > given[0][1]
    assert len(set(given[1].tolist())) == 1
