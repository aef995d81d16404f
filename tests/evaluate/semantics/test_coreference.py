"""Scores of coreference against the reference scorer's cases, and against definitions."""

from __future__ import annotations

import csv
import io
import tarfile
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.data import find, have
from weft.errors import WeftError
from weft.evaluate.semantics.coreference import METRICS, evaluate_coreference, score_entities
from weft.evaluate.significance import paired_bootstrap
from weft.formats.coref import read
from weft.text.conventions.coreference import set_entities
from weft.text.doc import Doc

CASES = "coref/conll-scorer-cases/cases.tar.gz"
NAMES = {"muc": "MUC", "bcub": "B3", "ceafm": "CEAFm", "ceafe": "CEAFe", "blanc": "BLANC"}
#: Rows of `expected.tsv` that the scorer's own tests do not ask for: its list of cases has them as comments, with 1 as
#: a placeholder, and the table was made from the list with its comments. Their recall, precision and F1, by hand:
#:
#: B: key {a b} {c d e}, response {c b x} {d e}; C has {f g} on both sides besides. Response x is no mention of the key.
#:     MUC      links kept: of the key, none of {a b} (1 link) and one of {c d e} (2); of the response, none of {c b x}
#:              (2) and one of {d e} (1). Each side of C has another link, which is kept.
#:     B3       recall: a 0, b 1/2, c 1/3, d and e 2/3; precision: c and b 1/3, x 0, d and e 1; f and g 1.
#: D: key of 5, 2 and 5 mentions, response of 5 and 2 + 5. E: the same key, response of 5 + 5 and 2.
#:     CEAFm    mentions in common under the best alignment: D 5 + 5, E 5 + 2, of 12.
#:     CEAFe    D 1 + 2 * 5 / (5 + 7), E 2 * 5 / (5 + 10) + 1, over 3 entities of the key and 2 of the response.
#:     BLANC    of 66 pairs the key links 21; the response links 31 in D and 46 in E, the 21 among them.
#:
#: N1, whose mentions are all single on both sides, has three such rows as well; for them 1 is right.
BY_HAND = {
    ("B1", "muc"): (1 / 3, 1 / 3), ("C1", "muc"): (2 / 4, 2 / 4),
    ("B1", "bcub"): ((1 / 2 + 1 / 3 + 4 / 3) / 5, (2 / 3 + 2) / 5),
    ("C1", "bcub"): ((1 / 2 + 1 / 3 + 4 / 3 + 2) / 7, (2 / 3 + 2 + 2) / 7),
    ("D1", "ceafm"): (10 / 12, 10 / 12), ("E1", "ceafm"): (7 / 12, 7 / 12),
    ("D1", "ceafe"): ((1 + 10 / 12) / 3, (1 + 10 / 12) / 2), ("E1", "ceafe"): ((10 / 15 + 1) / 3, (10 / 15 + 1) / 2),
    ("D1", "blanc"): ((21 / 21 + 35 / 45) / 2, (21 / 31 + 35 / 35) / 2, (42 / 52 + 70 / 80) / 2),
    ("E1", "blanc"): ((21 / 21 + 20 / 45) / 2, (21 / 46 + 20 / 20) / 2, (42 / 67 + 40 / 65) / 2),
}  # fmt: skip


@pytest.mark.must_show("entity-level-coreference", 4)
def test_scores_are_those_of_the_reference_scorer(tmp_path):
    if not have(CASES):
        pytest.skip("the cases of the reference scorer are not here")
    with tarfile.open(find(CASES)) as tar:
        files = {member.name.removeprefix("./"): tar.extractfile(member) for member in tar if member.isfile()}
        texts = {name: file.read() for name, file in files.items() if file is not None}
    rows = list(csv.DictReader(io.StringIO(texts["expected.tsv"].decode()), delimiter="\t"))
    assert len(rows) == 104
    for row in rows:
        sides = []
        for side in ("key", "response"):
            (tmp_path / row[side]).write_bytes(texts[row[side]])
            sides.append(list(read(str(tmp_path / row[side]))))
        score = evaluate_coreference(*sides).counts()[NAMES[row["metric"]]].total()
        expected = tuple(float(row[name]) for name in ("recall", "precision", "f1"))
        if (row["case"], row["metric"]) in BY_HAND:
            assert expected == (1, 1, 1)
            recall, precision, *f1 = BY_HAND[row["case"], row["metric"]]
            expected = recall, precision, *(f1 or [2 * recall * precision / (recall + precision)])
        assert (score.recall, score.precision, score.f1) == pytest.approx(expected, abs=6e-6), row


def pairs(entities):
    return {frozenset(pair) for entity in entities for pair in combinations(entity, 2)}


def by_definition(gold, system):
    """Recall of B3, CEAFm and LEA, mention by mention and alignment by alignment."""
    ours = {mention: set(entity) for entity in gold for mention in entity}
    theirs = {mention: set(entity) for entity in system for mention in entity}
    b3 = sum(len(ours[m] & theirs.get(m, set())) / len(ours[m]) for m in ours) / len(ours)
    wide = [*system, *[[]] * len(gold)]
    best = max(
        sum(len(set(a) & set(b)) for a, b in zip(gold, order, strict=False)) for order in permutations(wide, len(gold))
    )
    lea = 0.0
    for entity in gold:
        if len(entity) == 1:
            lea += float(theirs.get(entity[0]) == {entity[0]})
        else:
            links = pairs([entity])
            lea += len(entity) * len(links & pairs(system)) / len(links)
    return {"B3": b3, "CEAFm": best / len(ours), "LEA": lea / len(ours)}


partitions = st.lists(st.integers(-1, 2), min_size=5, max_size=5)


def entities_of(numbers):
    groups = {}
    for mention, number in enumerate(numbers):
        if number >= 0:
            groups.setdefault(number, []).append(mention)
    return list(groups.values())


@settings(max_examples=40, deadline=None)
@given(partitions, partitions)
def test_recall_is_what_definitions_say_and_precision_its_mirror_image(first, second):
    gold, system = entities_of(first), entities_of(second)
    there, back = (score_entities([a], [b]).counts() for a, b in ((gold, system), (system, gold)))
    for name in METRICS:
        assert there[name].total().f1 == pytest.approx(back[name].total().f1) or name == "BLANC"
        if name != "BLANC":
            assert there[name].total().recall == pytest.approx(back[name].total().precision)
    if gold:
        for name, value in by_definition(gold, system).items():
            assert there[name].total().recall == pytest.approx(value)


@settings(max_examples=20, deadline=None)
@given(partitions)
def test_what_equals_gold_scores_one_wherever_gold_has_links(numbers):
    gold = entities_of(numbers)
    scores = score_entities([gold], [gold]).as_dict()
    if gold:
        names = METRICS if pairs(gold) else [name for name in METRICS if name != "MUC"]
        assert [scores[name] for name in names] == pytest.approx([1.0] * len(names))


def test_the_conll_score_is_the_mean_of_three_f1_over_summed_documents():
    gold, system = [["abc", "de"], ["fg"]], [["ab", "cde"], ["f", "g"]]
    counts = score_entities(gold, system).counts()
    assert counts["CoNLL"].total().f1 == pytest.approx(
        np.mean([counts[name].total().f1 for name in ("MUC", "B3", "CEAFe")])
    )
    assert counts["MUC"].total().recall == pytest.approx(2 / 4)  # summed, not the mean of 2/3 and 0
    assert counts["CoNLL"].select([0]).total().f1 == score_entities(gold[:1], system[:1]).conll


def test_the_bootstrap_resamples_documents():
    gold = [["ab", "cd"]] * 30
    good, bad = (
        score_entities(gold, gold).counts()["CoNLL"],
        score_entities(gold, [["ac", "bd"]] * 30).counts()["CoNLL"],
    )
    result = paired_bootstrap(good, bad, good.measure, 200, 0)
    assert result.difference == pytest.approx(good.total().f1 - bad.total().f1)
    assert result.p < 0.05


def test_a_mention_that_is_marked_twice_counts_once():
    once, twice = score_entities([["ab"]], [["ab"]]), score_entities([["ab", "ac"]], [["ab"]])
    assert twice.mentions.tolist() == [[3, 2, 2]]
    assert once.conll == 1.0


def test_mentions_that_only_the_system_has_lower_precision():
    counts = score_entities([["ab"]], [["ab", "cd"]]).counts()
    assert [counts[name].total().precision for name in ("MUC", "B3", "CEAFe", "CEAFm", "LEA")] == [0.5] * 5
    assert counts["B3"].total().recall == 1


def test_documents_with_other_words_and_other_numbers_are_refused():
    doc = Doc.from_words([["Ada", "slept"]])
    set_entities(doc, [(0, 1)], [0])
    with pytest.raises(WeftError, match="2 words in the gold data and 1"):
        evaluate_coreference([doc], [Doc.from_words([["Ada"]])])
    with pytest.raises(WeftError, match="1 documents, the system has 0"):
        score_entities([["ab"]], [])


def test_singletons_are_kept_or_dropped_on_both_sides():
    gold, system = (Doc.from_words([["a", "b", "c"]]) for _ in range(2))
    set_entities(gold, [(0, 1), (1, 2), (2, 3)], [0, 0, 1])
    set_entities(system, [(0, 1), (1, 2)], [0, 0])
    assert evaluate_coreference([gold], [system]).as_dict()["B3"] < 1
    assert evaluate_coreference([gold], [system], singletons=False).as_dict()["B3"] == 1
