"""The aligner: every rule on a case of its own, the example of the paper, one span per fragment."""

from __future__ import annotations

import numpy as np
import pytest
from random_amrs import random_amr

from weft import data
from weft.formats import read
from weft.formats.penman import parse_amr
from weft.lexical.wordnet import WordNet
from weft.lexical.wordnet_lemmas import Lemmas
from weft.tasks.amr.aligner import Aligner
from weft.text.conventions.amr import amrs_of

LEMMAS = Lemmas(
    WordNet({"want": "nv", "boy": "n", "strike": "nv", "visit": "nv", "run": "v"}),
    {"v": {"struck": ["strike"], "ran": ["run"]}},
)


def aligned(graph: str, sentence: str) -> dict[str, tuple[list[str], list[int]]]:
    """The labels of each aligned span, and the rules that opened and grew it."""
    amr, words = parse_amr(graph), sentence.split()
    return {
        " ".join(words[fragment.start : fragment.end]): (
            [amr.labels[node] for node in fragment.nodes],
            [fragment.rule, *fragment.grown],
        )
        for fragment in Aligner(LEMMAS).align(amr, words)
    }


@pytest.mark.must_show("jamr", 5)
@pytest.mark.parametrize(
    ("graph", "sentence", "expected"),
    [
        ('(n / name :op1 "New" :op2 "York")', "in new York", {"new York": (["name", '"New"', '"York"'], [1])}),
        ('(n / name :op1 "B-Raf")', "the B @-@ Raf", {"B @-@ Raf": (["name", '"B-Raf"'], [1])}),
        ('(n / name :op1 "Russian" :op2 "Army")', "Russia armys",
         {"Russia armys": (["name", '"Russian"', '"Army"'], [2])}),
        ("(d / date-entity :year 2012 :month 5 :day 29)", "on 29 May 2012",
         {"29 May 2012": (["date-entity", "2012", "5", "29"], [3])}),
        ("(d / date-entity :year 2012 :month 5 :day 29)", "20120529 !",
         {"20120529": (["date-entity", "2012", "5", "29"], [3])}),
        ("(d / date-entity :year 1998 :month 2)", "Feb. '98", {"Feb. '98": (["date-entity", "1998", "2"], [3])}),
        ("(g / x-01 :polarity -)", "not now", {"not": (["-"], [4])}),
        ("(w / want-01)", "he wanted it", {"wanted": (["want-01"], [5])}),
        ("(s / strike-01)", "he struck", {"struck": (["strike-01"], [5])}),
        ("(m / x :quant 6)", "six", {"six": (["6"], [5])}),
        ("(a / accuse-01)", "accusations", {"accusations": (["accuse-01"], [6])}),
        ('(n / name :op1 "United" :op2 "States")', "the U.S. left", {"U.S.": (["name", '"United"', '"States"'], [7])}),
        ('(c / city :name (n / name :op1 "Rome"))', "Rome", {"Rome": (["city", "name", '"Rome"'], [1, 8])}),
        ("(t / temporal-quantity :quant 6 :unit (y / year))", "year",
         {"year": (["temporal-quantity", "year"], [5, 9])}),
        ("(p / person :ARG0-of (s / strike-01))", "strikers struck", {"struck": (["person", "strike-01"], [5, 10])}),
        ("(p / person :mod (b / boy))", "boy", {"boy": (["person", "boy"], [5, 11])}),
        ("(g / government-organization :ARG0-of (x / govern-01))", "government",
         {"government": (["government-organization", "govern-01"], [6, 12])}),
        ("(l / legal-02 :polarity -)", "illegal", {"illegal": (["legal-02", "-"], [5, 13])}),
        ("(b / big :degree (m / most))", "bigest", {"bigest": (["big", "most"], [5, 14])}),
    ],
)  # fmt: skip
def test_each_rule_fires_as_listed(graph, sentence, expected):
    if sentence == "illegal":
        LEMMAS.exceptions.setdefault("a", {})["illegal"] = ["legal"]  # type: ignore[index]
    if sentence == "bigest":
        LEMMAS.exceptions.setdefault("a", {})["bigest"] = ["big"]  # type: ignore[index]
    assert aligned(graph, sentence) == expected


@pytest.mark.must_show("jamr", 5)
def test_the_example_of_the_paper():
    graph = (
        "(w / want-01 :ARG0 (b / boy) :ARG1 (g / visit-01 :ARG0 b "
        ':ARG1 (c / city :name (n / name :op1 "New" :op2 "York" :op3 "City"))))'
    )
    assert {span: labels for span, (labels, _) in aligned(graph, "The boy wants to visit New York City .").items()} == {
        "boy": ["boy"],
        "wants": ["want-01"],
        "visit": ["visit-01"],
        "New York City": ["city", "name", '"New"', '"York"', '"City"'],
    }


def test_rules_pass_over_the_whole_graph_one_after_the_other():
    # The fuzzy match of the first concept must not take the word that the second one matches exactly.
    found = aligned("(r / runner :mod (w / want-01 :time (x / wanting)))", "wanted wanting")
    assert found["wanting"][0] == ["wanting"]
    assert found["wanted"][0] == ["want-01"]


def test_growing_rules_never_open_a_fragment():
    assert aligned('(c / city :name (n / name :op1 "Rome"))', "Paris") == {}
    assert aligned("(p / person :ARG0-of (s / strike-01))", "nobody") == {}


def test_the_constant_of_a_wiki_link_joins_its_entity_and_no_negation():
    found = aligned('(c / city :wiki - :name (n / name :op1 "Rome"))', "not Rome")
    assert found == {"Rome": (["city", "-", "name", '"Rome"'], [1, 8, 8])}


@pytest.mark.must_show("jamr", 5)
@pytest.mark.parametrize("seed", range(100))
def test_spans_and_nodes_are_used_once(seed):
    amr = random_amr(seed, 8)
    random = np.random.default_rng(seed)
    vocabulary = ["wants", "boy", "cities", "going", "and", "not", "six", "New", "York", "name", "citizen"]
    words = [str(random.choice(vocabulary)) for _ in range(6)]
    fragments = Aligner(LEMMAS).align(amr, words)
    nodes = [node for fragment in fragments for node in fragment.nodes]
    places = [place for fragment in fragments for place in range(fragment.start, fragment.end)]
    assert len(nodes) == len(set(nodes))
    assert len(places) == len(set(places))
    assert all(0 <= fragment.start < fragment.end <= 6 for fragment in fragments)


def test_lemmas_without_wordnet_follow_the_rules_alone():
    assert "want" in Lemmas()("wanted")
    assert Lemmas()("s") == set()


@pytest.mark.must_show(
    "jamr", 5, weaker="The links of the corpus are automatic: F1 above .55 is asked, not the paper's"
)
@pytest.mark.corpus
def test_links_agree_with_those_of_the_bio_corpus():
    (doc,) = read(data.find("amr/bio-amr-isi-alignments/dev.aligned.amr.gz"))
    aligner, both, ours, theirs = Aligner(), 0, 0, 0
    for sentence, amr in list(zip(doc.sentences, amrs_of(doc), strict=True))[:150]:
        gold = {(node, word) for node, words in enumerate(amr.words) for word in words}
        found = {
            (node, word)
            for fragment in aligner.align(amr, [word.form for word in sentence.words])
            for node in fragment.nodes
            for word in range(fragment.start, fragment.end)
        }
        both, ours, theirs = both + len(gold & found), ours + len(found), theirs + len(gold)
    assert 2 * both / (ours + theirs) > 0.55
