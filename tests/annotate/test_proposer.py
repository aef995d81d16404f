"""Taggers trained for recall: k-best labellings, losses over mentions, updates, and what is proposed."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from weft.annotate.mentions import Reference, mistakes, references_of, right_sets, score_mentions
from weft.annotate.proposer import BeatReferences, MentionBatch, MentionLoss, Proposer, ProposerSettings, marks, propose
from weft.annotate.simulate import break_even, effort, filtered_f1, resolve, simulate
from weft.errors import ConfigError, WeftError
from weft.features.templates import Templates
from weft.infer.chains.chain import Chain
from weft.learn import MIRA
from weft.learn.chains.labels import LabelSpace
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.text import Doc, SpanLayer
from weft.text.schemes import decode, encode

LABELS = ["B-G", "I-G", "O"]


@pytest.mark.must_show("semi-automated-ne-annotation", 1)
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 10**6))
def test_k_best_labellings_are_those_of_enumeration_and_all_legal(n, k, seed):
    random = np.random.default_rng(seed)
    space = LabelSpace(LABELS, 1, "IOB2")
    offsets = np.array([0, n])
    node, edge = random.normal(size=(n, 3)), random.normal(size=(3, 3))
    chain = Chain(node, edge, offsets, space.allowed(offsets), space.legal)
    scored = []
    for states in product(range(3), repeat=n):
        try:
            decode([LABELS[state] for state in states], "IOB2", strict=True)
        except WeftError:
            continue
        value = node[np.arange(n), states].sum() + sum(edge[a, b] for a, b in pairwise(states))
        scored.append((value, states))
    scored.sort(reverse=True)
    found = [tuple(path.tolist()) for path in chain.kbest(k)[0]]
    assert found == [states for _, states in scored[:k]]
    assert len(set(found)) == len(found)


def mention_batch(seed: int, n: int = 5) -> tuple[ChainData, MentionBatch]:
    """One sentence of few word types, with a mention, its alternative, and a second mention."""
    random = np.random.default_rng(seed)
    words = [f"w{i}" for i in random.integers(0, 4, n)]
    mentions = [(0, 2, "G"), (3, 4, "G")]
    references = (Reference(mentions[0], ((0, 1, "G"),)), Reference(mentions[1]))
    space = LabelSpace(LABELS, 1, "IOB2")
    reader = ChainReader(Templates("true w[0] w[-1] y[-1]"), {"w": "form"})
    tags = space.ids(encode(mentions, n, "IOB2"))
    data = ChainData.build(reader, [Doc.from_words([words])], tags, space, seen_only=False)
    return data, MentionBatch(**vars(data.batch), references=references, names=tuple(LABELS), scheme="IOB2")


@pytest.mark.must_show("semi-automated-ne-annotation", 2)
@pytest.mark.parametrize("target", ["gold", "best"])
@pytest.mark.parametrize("seed", range(3))
def test_an_update_meets_its_demands_by_the_smallest_change(seed, target):
    data, batch = mention_batch(seed)
    model = data.model
    start = np.random.default_rng(seed).normal(scale=0.3, size=model.size)
    demands = BeatReferences(MentionLoss(miss=5.0), target)
    demand = demands(model.score(batch, start), batch, 5)
    assert demand.missing
    assert max(demand.missing) > 0
    rows = np.zeros((len(demand.parts), model.size))
    for row, parts in zip(rows, demand.parts, strict=True):
        model.scatter(batch, parts, row)
    change = MIRA(k=5, epochs=1, average=False, demands=demands).fit(model, [batch], start).weights - start
    missing = np.array(demand.missing)
    assert (rows @ change >= missing - 1e-6).all()
    solved = minimize(
        lambda x: 0.5 * x @ x,
        np.zeros(model.size),
        jac=lambda x: x,
        constraints={"type": "ineq", "fun": lambda x: rows @ x - missing, "jac": lambda x: rows},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert np.linalg.norm(change) == pytest.approx(np.linalg.norm(solved.x), rel=1e-4)


@pytest.mark.must_show("semi-automated-ne-annotation", 2)
def test_losses_by_hand():
    gold = [Reference((0, 2, "G"), ((0, 1, "G"), (1, 2, "G"))), Reference((4, 6, "G"))]
    assert mistakes(gold, [(0, 2, "G"), (4, 6, "G")]) == (0, 0)
    assert mistakes(gold, [(0, 1, "G"), (4, 6, "G")]) == (0, 0)  # an alternative costs nothing
    assert mistakes(gold, [(0, 1, "G"), (1, 2, "G"), (4, 6, "G")]) == (1, 0)  # the second one for a mention does
    assert mistakes(gold, [(4, 5, "G")]) == (1, 2)
    assert mistakes(gold, []) == (0, 2)
    assert mistakes([], [(0, 1, "G")]) == (1, 0)
    assert mistakes(gold, [(0, 2, "H"), (4, 6, "G")]) == (1, 1)  # the label counts
    _, batch = mention_batch(0)
    all_outside = np.full(5, LABELS.index("O"), dtype=np.int32)
    assert MentionLoss(miss=7.0)(None, batch, all_outside) == 14.0
    assert MentionLoss(miss=7.0)(None, batch, batch.gold) == 0.0
    assert right_sets(batch.references) == [[(0, 2, "G"), (3, 4, "G")], [(0, 1, "G"), (3, 4, "G")]]


def test_scores_count_alternatives():
    gold = [[Reference((0, 2, "G"), ((0, 1, "G"),))], [Reference((3, 4, "G"))], []]
    total = score_mentions(gold, [[(0, 1, "G")], [], [(5, 6, "G")]]).total()
    assert (total.gold, total.system, total.correct) == (2, 2, 1)


def test_alternatives_belong_to_the_mention_they_overlap_most():
    doc = Doc.from_words([["a", "b", "c", "d"], ["e"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "G"), (1, 3, "G")])
    doc.spans["other"] = SpanLayer.of(doc.strings, [(0, 3, "G"), (4, 5, "G")])
    first, second = references_of(doc, "entities", "other")
    assert first == [Reference((0, 1, "G")), Reference((1, 3, "G"), ((0, 3, "G"),))]
    assert second == []


def noisy_doc(seed: int, sentences: int) -> Doc:
    """Sentences in which names are told from words only by chance: half of the capitalized words are names."""
    random = np.random.default_rng(seed)
    words, spans, at = [], [], 0
    for _ in range(sentences):
        row = []
        for _ in range(6):
            kind = random.random()
            if kind < 0.35:
                row.append(f"N{random.integers(0, 60)}")
                if random.random() < 0.5:
                    spans.append((at + len(row) - 1, at + len(row), "G"))
            else:
                row.append(f"v{random.integers(0, 10)}")
        words.append(row)
        at += len(row)
    doc = Doc.from_words(words)
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    return doc


def test_a_dear_miss_raises_recall_and_a_saved_proposer_proposes_the_same(tmp_path):
    import weft as package
    from weft.pipeline.pipeline import Pipeline

    train, test = noisy_doc(1, 150), noisy_doc(2, 80)
    gold = references_of(test, "entities")
    scores = []
    for miss in (1.0, 10.0):
        proposer = Proposer(ProposerSettings(miss=miss, epochs=4))
        proposer.fit([train])
        found = [[(each.start, each.end, each.label) for each in s] for s in propose([proposer], test, top=1)]
        scores.append(score_mentions(gold, found).total())
    assert scores[1].recall > scores[0].recall + 0.1
    Pipeline([proposer]).save(tmp_path / "p.weft")
    (again,) = package.load(tmp_path / "p.weft").components
    assert propose([again], test, top=2) == propose([proposer], test, top=2)
    assert "marks" not in again.requires
    assert "marks" not in test.columns


def test_proposals_of_several_taggers_and_ranks_are_united():
    train, other, test = noisy_doc(1, 100), noisy_doc(3, 100), noisy_doc(2, 40)
    one, two = Proposer(ProposerSettings(epochs=2)), Proposer(ProposerSettings(epochs=2))
    one.fit([train])
    two.fit([other])
    united = propose([one, two], test, top=2)
    for number, sentence in enumerate(united):
        spans = {(each.start, each.end) for each in sentence}
        assert len(spans) == len(sentence)
        for tagger in (one, two):
            assert spans >= {(each.start, each.end) for each in propose([tagger], test, top=1)[number]}
    assert any(each.votes > 2 for sentence in united for each in sentence)
    assert any(each.rank == 2 for sentence in united for each in sentence)


@pytest.mark.must_show("semi-automated-ne-annotation", 5)
def test_simulated_filtering_has_precision_one_and_the_recall_of_the_proposer():
    train, test = noisy_doc(1, 120), noisy_doc(2, 120)
    proposer = Proposer(ProposerSettings(miss=5.0, epochs=3))
    proposer.fit([train])
    gold, asked = references_of(test, "entities"), propose([proposer], test, top=2)
    proposed = score_mentions(gold, [[(p.start, p.end, p.label) for p in s] for s in asked]).total()
    filtered = simulate(gold, asked)
    kept = score_mentions(gold, filtered.mentions).total()
    assert kept.precision == 1.0
    assert kept.recall == proposed.recall < 1.0
    assert kept.f1 == pytest.approx(filtered_f1(proposed.recall))
    assert filtered.decisions == proposed.system
    assert filtered.per_sentence == pytest.approx(proposed.system / 120)
    assert filtered_f1(0.896) == pytest.approx(0.945, abs=5e-4)


@pytest.mark.must_show(
    "semi-automated-ne-annotation",
    6,
    weaker="only that answers help at all; the recorded run has the sentences by hand",
)
def test_effort_and_break_even_are_those_of_the_paper():
    assert effort(1.67, 10 / 40) == pytest.approx(0.42, abs=0.003)
    assert break_even([(0, 81.0), (2000, 82.0), (4000, 83.0)], 82.8) == pytest.approx(3600)
    assert break_even([(0, 81.0), (2000, 82.0)], 80.0) == 0.0


def test_bad_settings_are_told():
    for wrong in ({"learner": "crf"}, {"target": "any"}, {"miss": -1}, {"miss": 0, "false_alarm": 0}):
        with pytest.raises(ConfigError):
            Proposer.from_options(wrong)
    with pytest.raises(ConfigError, match="overlaps"):
        resolve([], "shortest")


def test_marks_show_what_names_of_genes_have():
    assert {"digit", "hyphen", "greek"} <= set(marks("TGF-beta1").split("|"))
    assert {"roman", "capitals"} <= set(marks("II").split("|"))
    assert "mixed" in marks("StAR").split("|")
    assert marks("a") == ""
