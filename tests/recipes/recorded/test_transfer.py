"""Checks of systems for transfer and weak supervision that need the size of the recorded run, from its tables."""

from __future__ import annotations

import pytest
from recorded import recorded, rows
from scipy.stats import spearmanr

GERMANIC, ROMANCE, OUTLIERS = {"de", "en", "sv"}, {"es", "fr", "it", "pt"}, {"ko", "tr"}


@pytest.mark.must_show("token-type-constraints", 6)
def test_the_dictionary_wins_before_the_union_and_the_union_before_the_projection():
    found = {name: row["de"] for name, row in rows("token-type-constraints", "Coupled CRF, wik: where").items()}
    assert found["the dictionary wins"] >= found["the union of both"] >= found["the projection wins"]
    assert found["the dictionary wins"] > found["the projection wins"] + 1


@pytest.mark.must_show(
    "token-type-constraints",
    5,
    fails="type-only HMMs are below the token-only CRF, and word clusters add nothing to the coupled CRF",
)
def test_coupled_models_lead_but_types_alone_and_clusters_do_less_than_in_the_paper():
    found = {name: row["de"] for name, row in rows("token-type-constraints", "German-GSD test").items()}
    assert found["coupled CRF, wik"] > found["coupled HMM, wik"] > found["token CRF"] > found["token HMM"]
    assert found["coupled CRF, wik"] > found["token CRF"] + 3
    assert found["type HMM, wik"] < found["token CRF"]
    assert found["coupled CRF, wik + C"] < found["coupled CRF, wik"] + 1.5


@pytest.mark.must_show("cliper", 6)
def test_with_1000_labelled_sentences_the_bitext_is_worth_two_points_in_the_mean_of_three_seeds():
    found = {name: row["1,000"] for name, row in rows("cliper", "Pseudo-language, F by").items()}
    assert found["CLiPER soft"] >= found["CRF"] + 2


@pytest.mark.must_show("cross-lingual-clusters", 7)
def test_clusters_make_up_for_half_of_what_a_parser_without_words_loses():
    las = {name: row["LAS"] for name, row in rows("cross-lingual-clusters", "English parsers on EWT").items()}
    gap = las["words"] - las["delexicalized"]
    assert gap > 0
    assert las["delexicalized, clusters"] - las["delexicalized"] > gap / 2


@pytest.mark.must_show(
    "cross-lingual-clusters",
    5,
    fails="errors fall by 8.7 % with 500 sentences and by 9.3 % with 2,000; parsers gain nothing",
)
def test_recognizers_gain_in_every_language_but_no_more_with_less_annotation():
    found = rows("cross-lingual-clusters", "A. Entity recognizers")
    assert all(row["with clusters"] > row["without"] for row in found.values())
    cut = {
        size: [row["errors less, %"] for name, row in found.items() if name.endswith(f" {size} sentences")]
        for size in ("500", "2,000")
    }
    assert len(cut["500"]) == len(cut["2,000"]) == 3
    assert sum(cut["500"]) < sum(cut["2,000"])


@pytest.mark.must_show(
    "cross-lingual-clusters",
    6,
    fails="parsers gain 0.9 (projected) and 0.6 (x-lingual) in UAS, not 1.5; recognizers gain at most 2.5 F1, not 8",
)
def test_clusters_help_transferred_parsers_by_less_than_the_sheet_asks():
    uas = {
        name: row["mean"]
        for name, row in rows("cross-lingual-clusters", "B. English parsers on other languages, UAS").items()
    }
    assert uas["none"] < uas["xlingual"] < uas["projected"] < uas["none"] + 1.5
    names = rows("cross-lingual-clusters", "C. English entity recognizers")
    assert max(row["gain"] for row in names.values()) < 8


@pytest.mark.must_show("direct-transfer-ner", 6)
def test_native_and_shared_clusters_are_at_least_as_good_as_native_ones_and_these_as_shared_ones():
    found = rows("direct-transfer-ner", "Clusters in training")
    for code in ("es", "nl"):
        assert found["both"][code] >= found["native"][code] >= found["shared"][code]


@pytest.mark.must_show("direct-transfer-ner", 7)
def test_curves_of_five_systems_are_told_and_sources_help_up_to_tens_of_thousands_of_words():
    for code in ("es", "de"):
        found = {
            int(size.replace(",", "")): row
            for size, row in rows("direct-transfer-ner", f"F1 by labelled words, {code}").items()
        }
        systems = {"target", "single", "multi", "single+self", "multi+self"}
        assert all(set(row) == systems for size, row in found.items() if size)
        assert max(found) > 40_000
        best = max(found[0].values())
        reached = [size for size, row in found.items() if size and row["target"] >= best]
        assert 2_000 < min(reached) <= 16_000  # the crossing point lies in the curve
        for size, row in found.items():
            if size:
                assert max(row[name] for name in systems - {"target"}) >= row["target"]
                assert row["multi"] >= row["target"]


@pytest.mark.must_show(
    "direct-transfer-ner",
    5,
    fails="several sources gain 8 points over one, self-training with native clusters nothing over several sources",
)
def test_several_sources_do_what_self_training_was_to_do():
    found = rows("direct-transfer-ner", "Transfer, F1 on test sentences")
    codes = ("de", "es", "pt", "nl")
    mean = {
        name: sum(found[name][code] for code in codes) / len(codes)
        for name in ("SINGLE", "MULTI", "SINGLE+SELF/NATIVE", "MULTI+SELF/NATIVE")
    }
    assert mean["SINGLE"] < mean["SINGLE+SELF/NATIVE"] < mean["MULTI"]
    assert mean["MULTI+SELF/NATIVE"] > mean["SINGLE"] + 4
    assert mean["MULTI+SELF/NATIVE"] < mean["MULTI"] + 0.5


@pytest.mark.must_show(
    "transfer-parser-adaptation",
    5,
    fails="Family is 2.0 above Delex in the mean, not 3, and Bare is below it on Turkish and Korean",
)
def test_families_lead_by_two_points_and_bare_parsers_lose_on_two_of_four_languages_with_verbs_last():
    found = rows("transfer-parser-adaptation", "UAS of 13 targets")
    mean = {name: row["mean of 12"] for name, row in found.items()}
    assert mean["Delex"] + 1 < mean["Family"] < mean["Delex"] + 3
    assert mean["Bare"] < mean["Share"] < mean["Family"]
    ahead = [code for code in ("hi", "tr", "ko", "eu") if found["Bare"][code] > found["Delex"][code]]
    assert len(ahead) == 2


@pytest.mark.must_show(
    "transfer-parser-adaptation",
    6,
    fails="adaptation without words gains as much as with them; sets of heads lead best trees in 6 of 13 languages",
)
def test_sets_of_heads_lead_best_trees_in_the_mean_alone_and_words_are_not_what_helps():
    found = rows("transfer-parser-adaptation", "UAS of 13 targets")
    codes = [code for code in found["AAST"] if not code.startswith("mean")]
    gains = [found["AAST"][code] - found["Viterbi-ST"][code] for code in codes]
    assert sum(gain >= 0 for gain in gains) < len(codes) / 2
    assert 0 < sum(gains) / len(gains) < 1
    assert found["AAET"]["mean of all"] > found["AAST"]["mean of all"]
    assert found["AAET"]["mean of 12"] < found["AAST"]["mean of 12"]
    assert found["AAST, no words"]["mean of all"] > found["Family"]["mean of all"] + 1


@pytest.mark.must_show("universal-treebank", 4)
def test_with_whole_treebanks_sisters_are_the_best_sources_and_the_diagonal_is_the_maximum():
    found = rows("universal-treebank", "UAS, source by target (whole treebanks)")
    languages = list(found)
    assert len(languages) >= 6
    for target in languages:
        column = {source: found[source][target] for source in languages}
        assert max(column, key=column.__getitem__) == target
        foreign = max((source for source in languages if source != target), key=column.__getitem__)
        for genus in (GERMANIC, ROMANCE):
            assert target not in genus or foreign in genus
        if target not in OUTLIERS:
            assert min(column, key=column.__getitem__) in OUTLIERS
            assert min(found[target], key=found[target].__getitem__).split("-")[0] in OUTLIERS


@pytest.mark.must_show("universal-treebank", 8)
def test_larger_grids_than_the_sheets_took_less_than_thirty_minutes_of_one_core():
    """The whole recipe, which holds a grid of whole treebanks and three smaller ones, 90 cells each."""
    run = recorded("universal-treebank")
    found = rows("universal-treebank", "UAS, source by target (whole treebanks)")
    assert len(found) * len(next(iter(found.values()))) >= 36
    assert run.cpu_seconds < 30 * 60


@pytest.mark.must_show(
    "latent-sentiment",
    4,
    fails="on reviews FineToCoarse is level with Interpolated, and Cascaded stays below FineToCoarse",
)
def test_on_reviews_interpolated_leads_coarse_and_cascaded_and_is_level_with_fine():
    found = rows("latent-sentiment", "Sentence accuracy by labelled")
    for setting, interpolated in found["Interpolated"].items():
        assert interpolated > found["Coarse"][setting]
        assert interpolated > found["Cascaded"][setting]
        assert found["Cascaded"][setting] < found["FineToCoarse"][setting]
    behind = [setting for setting, own in found["Interpolated"].items() if own < found["FineToCoarse"][setting]]
    assert 0 < len(behind) < 5


@pytest.mark.must_show(
    "latent-sentiment",
    5,
    fails="on reviews positive sentences of negative documents: Interpolated 23, Coarse 17, not far above",
)
def test_on_reviews_coarse_finds_the_polarity_of_the_document_and_interpolated_little_more():
    found = rows("latent-sentiment", "F1 of sentences by polarity")
    coarse, interpolated = found["Coarse"], found["Interpolated"]
    assert coarse["pos in neg"] < 0.5 * coarse["pos in pos"]
    assert coarse["pos in neg"] < interpolated["pos in neg"] < 2 * coarse["pos in neg"]


@pytest.mark.must_show(
    "scl-sentiment",
    5,
    fails="SCL loses 7.3 points, SCL-MI 7.7: pivots by mutual information are not ahead of frequent ones",
)
def test_adaptation_helps_and_label_pivots_are_not_ahead_of_frequent_ones():
    average = rows("scl-sentiment", "Adaptation loss")["average"]
    assert average["SCL-MI+50"] < average["SCL"] < average["base"]
    assert average["SCL"] < average["SCL-MI"] < average["base"]
    pairs = rows("scl-sentiment", "Accuracy by source and target")
    assert sum(row["SCL-MI"] > row["base"] for row in pairs.values()) >= 9


@pytest.mark.must_show(
    "scl-sentiment", 6, fails="Spearman's correlation of distance and loss is 0.49 over six pairs; Pearson's is 0.96"
)
def test_near_domains_lose_least_and_far_ones_are_not_told_apart():
    found = rows("scl-sentiment", "Proxy A-distance")
    pairs = {name: row for name, row in found.items() if row["loss"] is not None}
    assert len(pairs) == 6
    near = sorted(pairs, key=lambda name: pairs[name]["distance"])[:2]
    assert set(near) == {"electronics, kitchen", "books, dvd"}
    correlation = spearmanr([row["distance"] for row in pairs.values()], [row["loss"] for row in pairs.values()])
    assert 0.3 < correlation.statistic < 0.6
    assert max(pairs[name]["loss"] for name in near) < min(
        row["loss"] for name, row in pairs.items() if name not in near
    )
