"""Checks of systems about people that need the size of the recorded run, recomputed from its tables."""

from __future__ import annotations

import pytest
from recorded import recorded, rows

CROWD = "mturk-language-demographics"


@pytest.mark.must_show("mturk-language-demographics", 2)
def test_of_500_crowds_spammers_and_copyists_are_found_and_intervals_hold() -> None:
    found = rows(CROWD, "Simulated crowds: who is taken out")
    assert min(found["spam"]["precision"], found["spam"]["recall"]) >= 0.95
    assert min(found["machine"]["precision"], found["machine"]["recall"]) >= 0.9
    assert rows(CROWD, "Simulated crowds: the quality of the language")["without cheats"]["interval holds"] >= 0.93
    assert recorded(CROWD).sizes["crowds"] == 500


@pytest.mark.must_show("mturk-language-demographics", 8)
def test_ten_million_rows_take_less_than_two_minutes() -> None:
    (row,) = rows(CROWD, "Rows of a crowd").values()
    assert row["rows"] == 10_000_000
    assert row["CPU s"] < 120


@pytest.mark.must_show("mturk-language-demographics", 7)
def test_the_dictionary_raises_bleu_in_every_language() -> None:
    for language in ("Urdu", "Telugu", "Tamil", "Bengali"):
        found = rows(CROWD, f"{language}: translation")
        for bleu in ("BLEU", "word for word"):
            assert found["+ raw dictionary"][bleu] > found["bitext"][bleu]
        assert found["+ raw dictionary"]["known words"] > found["bitext"]["known words"] + 0.05


PLANS = "annotation-cost-utility"


@pytest.mark.must_show("annotation-cost-utility", 4)
def test_the_logarithm_of_recorded_times_predicts_short_segments_better_for_everybody() -> None:
    found = rows(PLANS, "Recorded times of post-editors")
    largest = {name: row for name, row in found.items() if name.endswith(" 300 segments")}
    assert len(largest) == 5
    assert all(row["short log"] < row["short raw"] for row in largest.values())


@pytest.mark.must_show("annotation-cost-utility", 5)
def test_calibrated_errors_of_the_tagger_are_true_within_a_twentieth_over_ten_halves() -> None:
    found = rows(PLANS, "Expected over true errors")
    for corpus in ("EWT dev", "GUM dev"):
        assert abs(found[corpus]["calibrated"] - 1) < 0.05
        assert abs(found[corpus]["calibrated"] - 1) < abs(found[corpus]["as they are"] - 1)


@pytest.mark.must_show("annotation-cost-utility", 6)
def test_what_a_switch_costs_decides_between_words_and_units_and_a_plan_is_never_dearer() -> None:
    found = rows(PLANS, "Generated bursts: what a switch costs")
    assert all(row["plan"] <= 1.01 * min(row["nine words"], row["single words"]) for row in found.values())
    assert found["0 s"]["single words"] < 1.02 * found["0 s"]["plan"]
    assert found["30 s"]["nine words"] < found["30 s"]["single words"]
    bursts = rows(PLANS, "Generated bursts, 40 %")
    assert all(row["saved on nine %"] > 15 and row["single words"] > 1.4 * row["plan"] for row in bursts.values())
    stretches = rows(PLANS, "The tagger's errors on GUM dev").values()
    assert all(row["true errors known"] < row["plan"] for row in stretches)
    assert min(row["saved on nine %"] for row in stretches) > 18


@pytest.mark.must_show("annotation-cost-utility", 7)
def test_plans_of_thousands_of_words_are_quick_and_near_the_optimum() -> None:
    found = rows(PLANS, "Plans for 40 % of the errors, by number of words")
    assert found["200,000 words"]["CPU s"] < 120
    for size in ("2,000 words", "5,000 words"):
        assert found[size]["gap %"] <= 1.5
        assert found[size]["CPU s"] < 10


VIDEOS = "video-grounded-words"


@pytest.mark.must_show("video-grounded-words", 4, weaker="nouns alone: seven rounds of all sentences")
def test_the_likeliest_start_has_all_nouns_right_in_every_corpus() -> None:
    found = rows(VIDEOS, "starts")
    assert len(found) == 4
    assert [row["nouns of the likeliest"] for row in found.values()] == [4, 4, 4, 4]
    assert all(row["mass on the right kind"] > 0.66 for row in found.values())


@pytest.mark.must_show("video-grounded-words", 4, weaker="Chance < Blind < Learned, at 142 pairs")
def test_seeing_beats_guessing_and_the_best_of_twelve_sentences_is_mostly_right() -> None:
    found = rows(VIDEOS, "F1")
    for group in ("NV", "ALL"):
        assert found["Chance"][group] < found["Blind"][group] < found["Learned"][group] - 0.1
    assert found["Learned"]["NV"] > 0.41
    assert found["Learned"]["best of 12 right"] >= 0.5


@pytest.mark.must_show(
    "video-grounded-words", 4,
    fails="hand-written models are level with learned ones, and long sentences with short ones, at 142 pairs",
)  # fmt: skip
def test_neither_hand_written_models_nor_longer_sentences_are_better() -> None:
    found = rows(VIDEOS, "F1")
    outcomes = {claim.text: claim.outcome for claim in recorded(VIDEOS).claims}
    assert outcomes["Hand beats Learned"] == "level"
    assert outcomes["longer sentences carry more evidence: F1(ALL) is above F1(NV)"] == "level"
    for group in ("NV", "ALL"):
        assert abs(found["Hand"][f"area {group}"] - found["Learned"][f"area {group}"]) < 0.05
        assert found["Hand"][group] > found["Blind"][group] + 0.1


@pytest.mark.must_show("video-grounded-words", 5)
def test_every_part_is_worth_its_work() -> None:
    found = rows(VIDEOS, "F1")
    for name in ("no exclusion", "fixed tracks", "no coindexing"):
        assert found[name]["NV"] < found["Learned"]["NV"] - 0.1
        assert found[name]["ALL"] < found["Learned"]["ALL"] - 0.05
    assert found["no exclusion"]["nouns right"] < 3


@pytest.mark.must_show("video-grounded-words", 7)
def test_nouns_survive_misses_false_boxes_and_wrong_sentences() -> None:
    found = rows(VIDEOS, "stress")
    for name in ("20 % missed", "50 % more false boxes", "10 % wrong sentences"):
        assert found[name]["nouns right"] == 4
        assert found["as it is"]["area NV"] - 0.1 < found[name]["area NV"] < found["as it is"]["area NV"]


@pytest.mark.must_show("video-grounded-words", 8)
def test_a_round_over_a_hundred_clips_takes_less_than_a_minute() -> None:
    (row,) = rows(VIDEOS, "a round of EM").values()
    assert (row["clips"], row["frames"]) == (100, 100)
    assert row["seconds"] < 60


CAPTIONS = "visual-denotations"


@pytest.mark.must_show(
    "visual-denotations",
    5,
    weaker="1,500 images; nothing is claimed of sums and products, and no margin of two points",
)
@pytest.mark.parametrize("kind", ["VP", "S"])
def test_denotations_beat_vectors_which_beat_bags_of_words(kind: str) -> None:
    found = {name: row["accuracy"] for name, row in rows(CAPTIONS, f"{kind} hypotheses").items()}
    assert found["BoW"] - 0.5 <= found["BoW-H"] < found["cos (cap)"] < found["nPMI, P"]
    assert found["cos (img+hyp)"] < found["nPMI, P"]
    assert rows(CAPTIONS, f"{kind} hypotheses")["cos (cap)"]["McNemar p"] < 0.01


@pytest.mark.must_show("visual-denotations", 6)
def test_the_gap_to_bags_of_words_is_largest_for_hypotheses_of_one_word() -> None:
    found = rows(CAPTIONS, "VP hypotheses")
    gaps = [found["nPMI, P"][column] - found["BoW-H"][column] for column in ("1 word", "2 words and more")]
    assert gaps[0] > gaps[1]


@pytest.mark.must_show("visual-denotations", 7, weaker="time and growth of the images of the recorded run, on one core")
def test_twice_the_captions_take_at_most_two_and_a_half_times_as_long() -> None:
    half, whole = (rows(CAPTIONS, "From captions to denotations")[name]["CPU s"] for name in ("half", "all"))
    assert whole / half <= 2.5
