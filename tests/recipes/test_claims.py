"""Claims: three outcomes, computed from figures, in a sentence that says what is tested."""

from __future__ import annotations

import math

import pytest

from weft.errors import ConfigError
from weft.evaluate.significance import Comparison
from weft.recipes.claims import Claim, Figure, compared, gain, mean_of, measured, of_scores, steps
from weft.recipes.framework import RecipeResult


@pytest.mark.parametrize(
    ("figure", "outcome"),
    [
        (gain(0.5, interval=(0.1, 0.9)), "yes"),
        (gain(0.5, interval=(-0.1, 1.1)), "level"),
        (gain(-0.5, interval=(-0.9, -0.1)), "no"),
        (gain(-0.5, interval=(-1.1, 0.1)), "level"),
        (gain(2.3, interval=(1.3, 3.2), bar=2.0), "level"),
        (gain(0.5, p=0.04), "yes"),
        (gain(0.5, p=0.05), "level"),
        (gain(-0.5, p=0.04), "no"),
        (gain(0.5, p=0.001, bar=1.0), "no"),
        (gain(0.5, p=0.6, bar=1.0), "level"),
        (gain(0.5), "level"),
        (gain(-0.5), "no"),
        (gain(-0.5, p=0.01, sense="<"), "yes"),
        (gain(0.5, p=0.01, sense="<="), "no"),
        (measured(94.3, ">=", 94.3), "yes"),
        (measured(94.29, ">=", 94.3), "no"),
        (compared(Comparison(0.9, 0.8, 0.05, 0.15, 0.001, 100)), "yes"),
    ],
)
def test_an_outcome_follows_from_the_bar_and_from_what_is_known_about_chance(figure: Figure, outcome: str) -> None:
    assert figure.outcome == outcome


def test_an_interval_decides_before_a_p_value() -> None:
    assert gain(0.5, interval=(-0.1, 1.1), p=0.01).outcome == "level"


def test_every_figure_must_hold_and_one_that_fails_decides() -> None:
    yes, level, no = gain(1.0, p=0.01), gain(0.1, p=0.5), gain(-1.0, p=0.01)
    assert Claim("better", [yes, yes]).outcome == "yes"
    assert Claim("better", [yes, level]).outcome == "level"
    assert Claim("better", [yes, level, no]).outcome == "no"
    assert Claim("better").outcome == "no"


def test_a_claim_of_no_difference_holds_unless_a_figure_opposes_it() -> None:
    level, opposed = gain(0.1, p=0.5, sense="<="), gain(1.0, p=0.01, sense="<=")
    assert Claim("no method helps", [level], rule="unopposed").outcome == "yes"
    assert Claim("no method helps", [level, opposed], rule="unopposed").outcome == "no"


def test_a_sentence_names_the_bar_that_is_tested() -> None:
    for bar in (94.3, 88.0):  # a full run and a quick one
        result = RecipeResult("crf-shallow-parsing")
        result.claim("the CRF reaches F {bar} (paper: 94.38)", measured(91.75, ">=", bar))
        assert result.claims[0].sentence == f"the CRF reaches F {bar:g} (paper: 94.38)"
        assert result.claims[0].outcome == ("yes" if bar == 88 else "no")


def test_a_text_that_hides_its_bar_is_refused() -> None:
    with pytest.raises(ConfigError, match="does not name its bar 88"):
        RecipeResult("crf-shallow-parsing").claim("the CRF reaches F 94.3", measured(91.75, ">=", 88))
    with pytest.raises(ConfigError, match="several bars: 1, 2"):
        RecipeResult("crf-shallow-parsing").claim("above {bar}", measured(3, ">", 1), measured(3, ">", 2))


def test_settings_of_one_claim_are_figures_of_it_and_stand_once() -> None:
    result = RecipeResult("flors")
    for genre in ("reviews", "email"):
        result.claim("FLORS is above the HMM", gain(1.0, p=0.01, where=genre))
    result.own("FLORS is above the HMM", measured(1, ">", 0))
    assert [(claim.paper, len(claim.figures)) for claim in result.claims] == [(True, 2), (False, 1)]


def test_a_required_claim_must_be_yes() -> None:
    result = RecipeResult("flors")
    result.claim("level", gain(1.0, p=0.5), required=True)
    result.claim("reported", gain(-1.0, p=0.01))
    result.claim("holds", gain(1.0, p=0.01), required=True)
    assert [claim.text for claim in result.failed] == ["level"]


def test_many_figures_are_summed_up_with_the_least_of_them() -> None:
    claim = Claim("better", [gain(float(k), p=0.01 if k else 0.7, where=f"language {k}") for k in range(8)])
    assert claim.evidence == "yes in 7, level in 1 of 8; least: language 0 +0.00, p = 0.7"


def test_a_mean_over_settings_lists_them() -> None:
    figure = mean_of({"de": 1.0, "fr": 1.5, "it": 1.1})
    assert Claim("better", [figure]).evidence == "+1.20 [+0.54, +1.86] (de +1.00, fr +1.50, it +1.10)"
    assert mean_of({"de": 1.0}).outcome == "level"


def test_independent_scores_need_more_items_for_smaller_differences() -> None:
    assert of_scores(81.0, 80.0, 1000).outcome == "level"
    assert of_scores(81.0, 80.0, 100_000).outcome == "yes"
    assert [figure.outcome for figure in steps({"a": 70.0, "b": 75.0, "c": 75.2}, 2000)] == ["yes", "level"]


def test_claims_survive_json_with_open_intervals_and_cells() -> None:
    result = RecipeResult("flors")
    at_least = Figure(1.7, ">=", 10, interval=(1.7, math.inf), cells=(("Calls", "GIS", "calls"),))
    result.claim("GIS needs at least {bar} times the calls", at_least, note="capped")
    again = RecipeResult.from_json(result.to_json())
    assert again.claims == result.claims
    assert "Infinity" not in result.to_json()
