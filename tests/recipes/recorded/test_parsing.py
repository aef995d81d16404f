"""Checks of parsers that need the size of the recorded run, recomputed from its tables and curves."""

from __future__ import annotations

from itertools import pairwise

import pytest
from recorded import rows


@pytest.mark.must_show("dynamic-oracles", 5, weaker="easy-first gains 0.3 points, not 0.5 to 1.5; arc-eager gains 0.9")
def test_both_systems_gain_by_the_dynamic_oracle_in_five_seeds_of_ten_treebanks():
    found = rows("dynamic-oracles", "UAS, dynamic less static")
    assert 0.5 < found["eager"]["mean"] < 1.5
    assert 0.5 < found["eager"]["eng"] < 1.5
    assert found["easyfirst"]["mean"] > 0
    for system in ("eager", "easyfirst"):
        ahead, runs = (int(number) for number in found[system]["seeds ahead"].split(" of "))
        assert ahead > 0.7 * runs


@pytest.mark.must_show("dynamic-oracles", 6)
def test_accuracy_falls_over_the_whole_map_when_p_goes_to_0():
    found = rows("dynamic-oracles", "UAS of arc-eager by k")
    assert set(found) == {"k 0", "k 1", "k 2", "k 5"}
    assert all(list(row) == ["p 0", "p 0.3", "p 0.6", "p 0.9", "p 1"] for row in found.values())
    for k in ("k 0", "k 1", "k 2"):  # with k = 5 of 5 epochs nothing is explored
        assert found[k]["p 0"] == min(found[k].values())
        assert found[k]["p 0.9"] > found[k]["p 0"] + 0.5


@pytest.mark.must_show("tabular-dynamic-oracles", 5)
def test_static_nondeterministic_and_exploring_follow_each_other_and_lr_spine_leads_arc_standard():
    found = rows("tabular-dynamic-oracles", "UAS, mean of 5 seeds")
    mean = {name: row["mean"] for name, row in found.items()}
    assert len([column for column in found["lrs static"] if column != "mean"]) >= 3
    assert mean["lrs static"] < mean["lrs nondet"] < mean["lrs explore"]
    for oracle in ("static", "nondet", "explore"):
        assert mean[f"lrs {oracle}"] > mean[f"std {oracle}"]
    assert 0.5 <= found["lrs explore"]["wsj"] - found["lrs static"]["wsj"] <= 1.5


@pytest.mark.must_show(
    "lr-spine-parser",
    5,
    fails="spines or easy-first alone are below arc-standard on newspaper text; easy-first alone is level on web text",
)
def test_the_full_parser_leads_arc_standard_and_arc_eager_and_its_halves_do_not_always_help():
    for treebank in ("wsj", "English-EWT"):
        uas = {name: row["UAS"] for name, row in rows("lr-spine-parser", f"{treebank}, test").items()}
        assert uas["full"] > uas["arc-standard"]
        assert uas["full"] > uas["arc-eager"] + 1
    newspaper, web = (rows("lr-spine-parser", f"{name}, test") for name in ("wsj", "English-EWT"))
    assert newspaper["arc-standard + spine"]["UAS"] < newspaper["arc-standard"]["UAS"]
    assert web["arc-standard + easy-first"]["UAS"] > web["full"]["UAS"]


@pytest.mark.must_show("chinese-character-parser", 5)
def test_wider_beams_parse_better_by_shrinking_steps_and_take_time_nearly_in_proportion():
    found = rows("chinese-character-parser", "Width of the beam")
    f, speed = ([found[width][column] for width in ("1", "4", "16")] for column in ("Parse F", "sentences/s"))
    first, second = (b - a for a, b in pairwise(f))
    assert first > second > 0
    for slow, fast in ((speed[1], speed[0]), (speed[2], speed[1])):
        assert 4 / 2 < fast / slow < 4 * 2  # roughly: within a factor of two


@pytest.mark.must_show("chinese-character-parser", 6)
def test_unknown_words_with_right_tags_have_the_right_structure_in_four_of_five_cases():
    (row,) = rows("chinese-character-parser", "Structures of words").values()
    assert row["words"] > 300
    assert row["R if tagged"] > 80


@pytest.mark.must_show(
    "chinese-character-parser",
    4,
    fails="with 1,000 sentences the joint parser is below the pipeline, by 6.7 F with beam 4 and 1.4 with beam 16",
)
def test_the_pipeline_leads_the_joint_parser_and_less_so_with_a_wider_beam():
    found = {name: row["Parse F"] for name, row in rows("chinese-character-parser", "Test").items()}
    annotated = found["joint, annotated words"]
    assert annotated < found["joint, flat words"] + 0.5
    assert annotated < found["joint, annotated, no head characters"] + 0.5
    narrow = found["pipeline"] - annotated
    wide = found["pipeline, beam 16"] - found["joint, annotated words, beam 16"]
    assert 0 < wide < narrow - 3


@pytest.mark.must_show(
    "chinese-character-parser",
    4,
    fails="with 1,000 sentences the joint parser is below the pipeline, by 6.7 F with beam 4 and 1.4 with beam 16",
)
def test_more_sentences_and_a_wider_beam_each_narrow_the_lead_of_the_pipeline():
    found = rows("chinese-character-parser", "What the joint parser needs")
    few = [found[f"250 sentences, beam {beam}"]["Parse F, joint - pipeline"] for beam in (4, 16, 64)]
    more = [found[f"1000 sentences, beam {b}, systems of the test"]["Parse F, joint - pipeline"] for b in (4, 16)]
    assert few[0] < few[1] < few[2] < 0
    assert all(after > before for before, after in zip(few, more, strict=False))


@pytest.mark.must_show(
    "mira-dependency-parsing",
    7,
    weaker="on Gothic only: on Basque, trees that keep their crossing arcs teach 0.8 points more than lifted ones",
)
def test_lifted_training_trees_are_at_least_as_good_as_crossing_ones_on_gothic():
    found = rows("mira-dependency-parsing", "UAS by what is done with training trees")
    assert len(found) >= 2
    gothic = found["Gothic-PROIEL"]
    assert max(gothic["lift"], gothic["reorder"]) >= gothic["keep"]
    assert all(row["skip"] < row["keep"] for row in found.values())


@pytest.mark.must_show("nonprojective-mst", 6)
def test_factored_spanning_trees_lead_on_the_main_treebank_that_crosses_and_lose_a_little_on_one_that_does_not():
    """On Basque without punctuation, which stood for the paper's treebank before anything was trained; the mean of all
    four is asserted too. Single treebanks differ: Gothic gains 0.3, and small Czech loses 0.7.

    Of the two learners of the paper the better one; single-best MIRA leads on crossing sentences alone.
    """
    found = rows("nonprojective-mst", "CLE, factored MIRA")
    whole = {name: row for name, row in found.items() if "test file alone" not in name}
    newspaper = whole.pop(next(name for name in whole if name.startswith("wsj")))
    assert len(whole) == 4
    (main,) = (row for name, row in whole.items() if name.startswith("Basque without punctuation"))
    assert 0.5 <= main["A Acc"] <= 1.5
    assert main["McNemar p"] < 0.05
    assert main["B Acc"] > 2
    assert 0.5 <= sum(row["A Acc"] for row in whole.values()) / 4 <= 1.5
    assert sum(row["B Acc"] for row in whole.values()) / 4 > 2
    assert all(row["B Acc"] > 1 for row in whole.values())
    assert -1 < newspaper["A Acc"] < 0


@pytest.mark.must_show(
    "second-order-mst",
    5,
    fails="2nd order over all trees is level with or below projective 2nd order on Gothic, Basque and Czech",
)
def test_second_order_leads_first_order_and_rearranging_adds_nothing():
    for name in ("Gothic", "Basque without punctuation", "Czech"):
        accuracy = {row: own["Acc"] for row, own in rows("second-order-mst", f"Trees of {name}").items()}
        assert accuracy["1st order, projective"] < accuracy["2nd order, projective"]
        assert accuracy["1st order, non-projective"] < accuracy["2nd order, non-projective"]
        assert accuracy["2nd order, non-projective"] < accuracy["2nd order, projective"] + 0.5


@pytest.mark.must_show(
    "second-order-mst",
    6,
    fails="recall of edges rises by 0.8, not by several points, and F by 0.2, which is no more than chance",
)
def test_graphs_raise_recall_a_little_at_a_small_loss_of_precision():
    for name in ("English-EWT", "Czech"):
        found = rows("second-order-mst", f"Graphs of {name}")
        trees, graphs = found["2nd order, non-projective"], found["several heads"]
        assert 0 < graphs["R"] - trees["R"] < 2
        assert -1 < graphs["P"] - trees["P"] < 0
        assert 0 < graphs["F"] - trees["F"] < 1


@pytest.mark.must_show(
    "two-stage-multilingual-parser",
    3,
    fails="only morphology adds; projective search or single arcs instead are level in the mean of five treebanks",
)
def test_the_full_parser_leads_the_bare_one_and_owes_it_to_morphology():
    la = {name: row["mean LA"] for name, row in rows("two-stage-multilingual-parser", "Ablation").items()}
    assert la["N+S+M"] > la["P+A+B"] + 1
    assert la["N+S+M"] > la["N+S+B"] + 1
    assert abs(la["N+S+M"] - la["P+S+M"]) < 0.5
    assert abs(la["N+S+M"] - la["N+A+M"]) < 0.5
    assert la["N+S+M, jackknifed"] < la["N+S+M"]


@pytest.mark.must_show(
    "two-stage-multilingual-parser",
    4,
    weaker="means of fourteen languages have the order, 0.1 for all relations, 0.3 for subjects, 0.5 for objects, but "
    "within chance",
)
def test_sequences_add_a_little_on_gold_trees_and_most_for_objects_and_subjects_in_the_mean():
    found = rows("two-stage-multilingual-parser", "Relations of gold trees")
    assert len(found) == 15
    mean = found["mean"]
    assert 0 < mean["right"] < mean["subjects F"]
    assert mean["right"] < mean["objects F"]


@pytest.mark.must_show(
    "two-stage-multilingual-parser",
    5,
    fails="the search on held-out sentences picks non-projective trees for one of three treebanks in which arcs cross "
    "like in the paper's Dutch, and for Vietnamese, where hardly any do",
)
def test_the_shape_is_right_for_chinese_and_for_one_treebank_of_latin():
    found = rows("two-stage-multilingual-parser", "The shape that is chosen")
    chosen = {name: row["chosen"] for name, row in found.items()}
    assert chosen == {
        "Ancient Greek": "projective", "Latin, Perseus": "nonprojective", "Latin, UDante": "projective",
        "Chinese": "projective", "Vietnamese": "nonprojective",
    }  # fmt: skip
    dutch = rows("two-stage-multilingual-parser", "Languages")["nl"]
    assert dutch["chosen"].startswith("projective")


@pytest.mark.must_show(
    "crossing-sensitive-third-order",
    4,
    weaker="with the paper's pruning the ratio is 2.5 to 4.3, above 4 on four of eight treebanks",
)
def test_crossing_sensitive_parsers_take_two_to_four_times_as_long_with_the_pruning_of_the_paper():
    found = rows("crossing-sensitive-third-order", "Arcs that the filter keeps")
    ratios = [row["ratio as in the paper"] for row in found.values() if row]
    assert len(ratios) == 8
    assert 2 < min(ratios) < max(ratios) < 4.5
    assert 2 < sum(ratios) / len(ratios) < 4


@pytest.mark.must_show(
    "crossing-sensitive-third-order",
    5,
    weaker="on English level with projective trees, 0.15 below, which is within chance; Latin and Ancient Greek, whose "
    "arcs cross like those of the paper's Dutch, gain 1 to 3",
)
def test_crossing_sensitive_trees_lead_projective_and_edge_factored_ones_and_are_level_on_english():
    uas = rows("crossing-sensitive-third-order", "UAS")
    against = {
        name: rows("crossing-sensitive-third-order", f"1-EC CS-GSib less {name}") for name in ("Proj GSib", "1-EC Edge")
    }
    for treebank in ("Gothic", "Basque without punctuation", "Latin", "Ancient Greek"):
        for other, found in against.items():
            assert uas["1-EC CS-GSib"][treebank] > uas[other][treebank]
            assert found[treebank]["sign test p"] < 0.05
    for treebank in ("Latin", "Ancient Greek"):
        assert 1 <= against["Proj GSib"][treebank]["UAS"] <= 3
    english = against["Proj GSib"]["English"]
    assert english["sign test p"] > 0.05
    assert english["McNemar p"] > 0.05


@pytest.mark.must_show(
    "crossing-sensitive-third-order",
    6,
    fails="37 to 81 % fewer edges are crossed than in gold trees; on Gothic less than half as many",
)
def test_fewer_edges_are_crossed_than_in_gold_trees():
    found = {
        name: row["crossed"]
        for name, row in rows("crossing-sensitive-third-order", "Parts of the trees").items()
        if row
    }
    share = {
        name.removesuffix(", gold"): found[name.replace("gold", "1-EC CS-GSib")] / value
        for name, value in found.items()
        if name.endswith(", gold")
    }
    assert len(share) == 8
    assert all(0 < value < 0.7 for value in share.values())
    assert share["Gothic"] < 0.5


@pytest.mark.must_show(
    "disfluency-parser",
    5,
    fails="joint parsing is below the pipeline in UAS on all four sets of repairs; Edit lowers F on "
    "French and adds none on Norwegian",
)
def test_features_raise_f_everywhere_edit_not_and_joint_parsing_is_below_the_pipeline():
    for name in ("English", "French", "Norwegian", "generated"):
        found = rows("disfluency-parser", f"{name}, ", "training words")
        uas, f = ({row: own[column] for row, own in found.items()} for column in ("UAS", "F"))
        assert uas["+ edit"] < uas["pipeline (CRF)"] < uas["oracle pipeline"]
        assert f["baseline joint"] + 5 < f["+ features"]
        assert (f["+ edit"] > f["+ features"]) == (name in ("English", "generated"))


@pytest.mark.must_show(
    "disfluency-parser",
    6,
    fails="with five seeds ranking by means is level with ranking by sums, and behind on three of four sets",
)
def test_ranking_by_means_is_level_with_ranking_by_sums():
    behind = 0
    for name in ("English", "French", "Norwegian", "generated"):
        found = rows("disfluency-parser", f"{name}, ", "training words")
        tests = rows("disfluency-parser", f"{name}, Wilcoxon")
        assert tests["+ edit against + edit, ranked by sums"]["F"] > 0.05
        behind += found["+ edit"]["F"] < found["+ edit, ranked by sums"]["F"]
    assert behind == 3


@pytest.mark.must_show(
    "mira-dependency-parsing",
    3,
    fails="five trees lead one tree and the perceptron, but 20 trees are still better than 10",
)
def test_five_trees_lead_one_and_one_is_level_with_the_perceptron_on_three_treebanks():
    slug = "mira-dependency-parsing"
    found = rows(slug, "Heads, roots and complete sentences")
    for code in ("wsj", "cze", "por"):
        perceptron, one, five = (
            found[f"{row}"][f"{code} UAS"] for row in ("averaged perceptron", "MIRA k = 1", "MIRA k = 5")
        )
        assert five >= one >= perceptron - 0.3
    by_k = rows(slug, "MIRA by k")
    assert by_k["k = 20"]["UAS"] > by_k["k = 10"]["UAS"]
    assert by_k["k = 20"]["seconds"] < 2 * by_k["k = 10"]["seconds"]


@pytest.mark.must_show(
    "hard-domain-adaptation", 3, fails="on split B, where only the guideline differs, D1 helps by 2 points"
)
def test_on_another_guideline_some_method_helps_though_it_should_not():
    found = {name: row["UAS"] for name, row in rows("hard-domain-adaptation", "methods, split B").items()}
    base = next(iter(found.values()))
    assert found["D1"] > base + 0.5


@pytest.mark.must_show(
    "hard-domain-adaptation",
    5,
    fails="half of the methods differ from the parser without them by more than half a point",
)
def test_methods_differ_by_more_than_half_a_point_in_real_transfer():
    found = {name: row["UAS"] for name, row in rows("hard-domain-adaptation", "methods, wsj to answers, mst1").items()}
    base = next(iter(found.values()))
    assert sum(abs(uas - base) > 0.5 for uas in found.values()) > 3
