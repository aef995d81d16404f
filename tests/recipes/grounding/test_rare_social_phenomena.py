"""The recipe of rare-social-phenomena: its corpora, the generated chats, and the recorded run."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from recorded import recorded, rows

from weft import data
from weft.errors import DataError
from weft.recipes.framework import RecipeResult
from weft.recipes.grounding.rare_social_phenomena import experiment
from weft.recipes.grounding.rare_social_phenomena.chats import FILES, LABELS, read_chats
from weft.recipes.grounding.rare_social_phenomena.planted import CUE, planted_chats

SLUG = "rare-social-phenomena"
#: Instances, labels and conversations of the corpora, as the plan counts them.
COUNTS = {
    "NPS": (1232, {"NA": 846, "POS": 204, "NEG": 182}, 15),
    "ESConv": (2034, {"NA": 1130, "POS": 491, "NEG": 413}, 617),
    "CaSiNo": (792, {"NA": 526, "POS": 160, "NEG": 106}, 396),
}


@pytest.mark.corpus
@pytest.mark.parametrize("corpus", FILES)
def test_instances_of_the_corpora_are_those_of_the_plan(corpus):
    try:
        path = data.find(FILES[corpus])
    except DataError as missing:
        pytest.skip(str(missing))
    found = read_chats(corpus, path)
    number, labels, conversations = COUNTS[corpus]
    assert len(found) == number
    assert Counter(each.label for each in found) == labels
    assert len({each.conversation for each in found}) == conversations


def test_the_planted_cue_stands_between_what_misleads_and_what_tells():
    for instance in planted_chats(3, chats=2, each=60):
        lines = [text.split() for text in instance.texts]
        cued = [number for number, words in enumerate(lines) if CUE in words]
        told = [number for number, words in enumerate(lines) if any(word.startswith(("neg", "pos")) for word in words)]
        misleading = [
            number for number, words in enumerate(lines) if any(word[0] == "n" and word[1:].isdigit() for word in words)
        ]
        assert misleading
        if instance.label == "NA":
            assert not told
        else:
            assert max(misleading) < cued[0] < told[0]
    shuffled = planted_chats(3, control=True, chats=2, each=60)
    rare = [each for each in shuffled if each.label != "NA"]
    places = [next(n for n, text in enumerate(each.texts) if CUE in text.split()) / len(each.texts) for each in rare]
    assert np.mean(places) < 0.6
    assert len(LABELS) == 3


def test_claims_about_kappa_come_from_paired_answers():
    gold = np.array([0, 0, 1, 2, 0, 1, 2, 0] * 10)
    worse = np.where(np.arange(80) % 3 == 0, 0, gold)
    result = RecipeResult(SLUG)
    figure = experiment._difference(gold, gold, worse, experiment.QUICK, "here")
    result.claim("better", figure)
    assert result.claims[0].outcome == "yes"
    assert experiment._difference(gold, worse, worse, experiment.QUICK, "here").outcome != "yes"


@pytest.mark.must_show("rare-social-phenomena", 5)
def test_the_planted_rule_is_found_in_the_recorded_run():
    """Ten seeds of 21 chats of 90 instances, as the sheet asks."""
    sizes = recorded(SLUG).sizes
    assert (sizes["seeds"], sizes["chats"], sizes["each"]) == (10, 21, 90)
    table = rows(SLUG, "Generated chats with a planted cue")
    planted, control = table["cue in its place"], table["control: lines shuffled"]
    assert planted["planted among first 3"] >= 9
    assert planted["selection"] - planted["LR"] >= 0.05
    assert control["selection"] - control["LR"] >= -0.02
    assert control["rules"] <= 2


@pytest.mark.must_show(
    "rare-social-phenomena",
    6,
    weaker="precision at 10 % recall above LR and minority over averaged voting are reported, not asserted",
)
def test_the_recorded_run_on_chat_rooms():
    table = rows(SLUG, "NPS, 5 folds")
    assert abs(table["committee without rules"]["kappa"] - table["LR"]["kappa"]) <= 0.01
    votes = rows(SLUG, "NPS, voting")
    assert votes["minority"]["rare labels"] >= max(
        votes["averaged"]["rare labels"], votes["pandemonium"]["rare labels"]
    )
    assert {"selection", "stump", "stump and selection", "LR, balanced"} <= set(table)
    # The floor of the plan is .364 on other folds of the same instances, with an interval of about .03.
    assert table["LR"]["kappa"] > 0.33
