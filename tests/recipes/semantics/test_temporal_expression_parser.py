"""The readers of three corpora, the memorizer, and the checks of the sheet."""

from __future__ import annotations

from datetime import datetime

import pytest
from places import EXAMPLES
from recorded import curve, rows

from weft.pipeline import models
from weft.recipes.semantics.temporal_expression_parser import english
from weft.recipes.semantics.temporal_expression_parser.data import (
    AQUAINT,
    MEANTIME,
    TEMPEVAL,
    meantime_docs,
    read_meantime,
    read_phrases,
    read_timenorm,
    without_layer,
)
from weft.recipes.semantics.temporal_expression_parser.experiment import (
    Judged,
    System,
    memorizer,
    same,
)  # fmt: skip
from weft.tasks.time.learning import Example, Options, train
from weft.text.conventions.times import LAYER

SLUG = "temporal-expression-parser"
TABLE = "TempEval-2, given extents"
SAID = datetime(1998, 3, 4, 12)


def test_phrases_are_read_and_integer_codes_left_out(tmp_path):
    path = tmp_path / "korean.train"
    path.write_text(
        "DATE\t2000-01\t2000-01-13 12:00:00\t1월\n"
        "TIME\t2000-01-13T19:51\t2000-01-13 12:00:00\t003000000200001131951006\n"
        "DATE\t1931\t2002-01-16 19:51:00 1931\n"
    )
    assert [example.phrase for example in read_phrases(path)] == ["1월", "1931"]


def test_documents_of_timenorm_begin_with_their_date(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text(
        "2013-03-22\tDATE\t2013-03-22\na month\tDURATION\tP1M\n\n2013-03-25\tDATE\t2013-03-25\n2009\tDATE\t2009\n"
    )
    first, second = read_timenorm(path)
    assert first == Example("DURATION", "P1M", datetime(2013, 3, 22, 12), "a month")
    assert second.now == datetime(2013, 3, 25, 12)


def test_expressions_of_meantime_are_joined(tmp_path):
    path = tmp_path / "en.tsv"
    path.write_text(
        '*!-DCTVALUE="2005-10-04"-!*\tO\t-\n\nWithin\tO\t-\none\tB-DURATION\tP1M\nmonth\tI-DURATION\tP1M\nor\tO\t-\n'
        "2006\tB-DATE\t2006\n"
    )
    assert read_meantime(path) == [
        Example("DURATION", "P1M", datetime(2005, 10, 4, 12), "one month"),
        Example("DATE", "2006", datetime(2005, 10, 4, 12), "2006"),
    ]


def test_a_memorizer_keeps_values_and_offsets():
    known = [Example("DATE", "1998-03-03", SAID, "yesterday"), Example("DATE", "1999", SAID, "1999")]
    later = datetime(1998, 5, 9, 12)
    test = [
        Example("DATE", "1998-05-08", later, "yesterday"), Example("DATE", "1999", later, "1999"),
        Example("DATE", "1998-05-10", later, "tomorrow"),
    ]  # fmt: skip
    assert memorizer([*known, Example("DATE", "1998-04-01", datetime(1998, 4, 2, 12), "yesterday")], test, True) == [
        True, True, False,
    ]  # fmt: skip


def test_values_are_compared_as_strings_or_with_zeros_filled_in():
    assert not same("2000-W7", "2000-W07", strict=True)
    assert same("2000-W7", "2000-W07", strict=False)
    assert not same("2000-W8", "2000-W07", strict=False)


@pytest.mark.corpus
@pytest.mark.must_show(
    "temporal-expression-parser",
    4,
    weaker="a third of the phrases and 4 passes: above the memorizer; full sizes are recorded",
)
@pytest.mark.must_show(
    "temporal-expression-parser", 6, weaker="English, 300 phrases and 4 passes; all languages are recorded"
)
def test_a_few_hundred_english_phrases_beat_a_memorizer_and_bootstrap(corpus_file):
    training = read_phrases(corpus_file("time/tempeval2/english.train"))
    days = sorted({example.now for example in training})
    held_out = [example for example in training if example.now in days[::4]][:150]
    own = [example for example in training if example.now not in days[::4]][:300]
    system = System.fit(own, Options(passes=4, k=100), 30)
    judged = Judged.of(system, held_out, True)
    floor = memorizer(own, held_out, True)
    assert sum(judged.value) > sum(floor)
    assert system.curve.reached[-1] > system.curve.reached[0] + 0.02


@pytest.mark.must_show("temporal-expression-parser", 4)
def test_english_and_spanish_reach_the_bars_of_the_sheet():
    table = rows(SLUG, TABLE)
    assert table["english"]["test value"] >= 70
    assert table["spanish"]["test value"] >= 65
    assert table["english"]["test type"] >= 85
    for name in ("english", "spanish"):
        assert table[name]["test value"] > table[name]["memorizer"]


@pytest.mark.must_show(
    "temporal-expression-parser",
    5,
    fails="only the pragmatic offset makes a difference, on English test phrases; without Nil-lexical features or "
    "value bracketing, and in Spanish without the offset too, the test value changes by less than chance",
)
def test_of_the_ablations_only_the_pragmatic_offset_lowers_test_values():
    table = rows(SLUG, "Without parts of the model, english")
    full = table["full"]
    assert table["no pragmatic offset"]["test value"] < full["test value"] - 5
    for name in ("no Nil-lexical features", "no value bracketing"):
        assert abs(table[name]["test value"] - full["test value"]) < 3
        assert table[name]["train value"] < full["train value"] - 1
    spanish = rows(SLUG, "Without parts of the model, spanish")
    for name in ("no Nil-lexical features", "no value bracketing", "no pragmatic offset"):
        assert abs(spanish[name]["test value"] - spanish["full"]["test value"]) < 3
    assert spanish["no pragmatic offset"]["test value"] < spanish["full"]["test value"]


def test_a_chain_finds_extents_better_than_the_words_of_phrases():
    table = rows(SLUG, "Extents in English text")
    assert table["AQUAINT, chain"]["F1"] > table["AQUAINT, words of phrases"]["F1"] + 10
    assert table["MEANTIME, chain"]["F1"] > table["MEANTIME, words of phrases"]["F1"]


@pytest.mark.must_show("temporal-expression-parser", 6)
def test_more_training_phrases_are_reached_in_later_passes():
    series = curve(SLUG, "Training phrases with a right derivation").series
    assert set(series) == {"english", "spanish", "italian", "chinese", "korean", "french"}
    for points in series.values():
        shares = [share for _, share in points]
        assert shares[-1] > shares[0] + 3
        assert max(shares) - shares[-1] < 2


@pytest.mark.must_show("temporal-expression-parser", 7)
def test_small_training_files_show_high_train_and_low_test_values():
    table = rows(SLUG, TABLE)
    for name in ("italian", "french"):
        assert table[name]["train value"] > table[name]["test value"] + 10


@pytest.mark.corpus
def test_the_model_of_the_package_is_rebuilt_from_its_phrases_byte_for_byte(corpus_file, tmp_path):
    for name in (AQUAINT, MEANTIME.format("en"), TEMPEVAL.format("english", "test"), "time/timenorm-en/test.tsv"):
        corpus_file(name)
    english.build(tmp_path / "en-times.weft", EXAMPLES / "times" / "english.times.tsv")
    assert (tmp_path / "en-times.weft").read_bytes() == models.find("en-times").read_bytes()


def test_running_text_with_labels_keeps_its_sentences_dates_and_expressions(tmp_path):
    rows = [
        '*!-DCTVALUE="2005-10-04"-!*\tO\t-', "", "It\tO\t-", "ended\tO\t-", "one\tB-DURATION\tP1M",
        "month\tI-DURATION\tP1M", "", "Today\tB-DATE\t2005-10-04", '*!-DCTVALUE="2006-01-02"-!*\tO\t-', "No\tO\t-",
    ]  # fmt: skip
    (tmp_path / "x.tsv").write_text("\n".join(rows) + "\n")
    first, second = meantime_docs(tmp_path / "x.tsv")
    assert [(time.text, time.type, time.value) for time in first.times] == [
        ("one month", "DURATION", "P1M"), ("Today", "DATE", "2005-10-04"),
    ]  # fmt: skip
    assert (first.n_sentences, first.meta["date"], second.meta["date"]) == (2, "2005-10-04", "2006-01-02")
    assert not second.times
    assert LAYER not in without_layer(first).spans


def test_features_left_out_are_never_learned():
    examples = [Example("DATE", "1998-03-03", SAID, "yesterday"), Example("DURATION", "P2D", SAID, "two days")]
    model, _, _ = train(examples, Options(passes=3, k=3000, left_out=("nil",)))
    begins = model.layout.begins
    assert not model.weights[begins[1] : begins[3]].any()
    assert model.weights[begins[3] : begins[4]].any()
