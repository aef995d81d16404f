"""The parser of time expressions: learning, detecting, conventions, saving, and the command line."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from places import EXAMPLES

import weft as package
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.tasks.time.grammar import preterminals
from weft.tasks.time.learning import Example, Options, train
from weft.tasks.time.parser import TimeParser, TimeSettings
from weft.tasks.time.tokens import pieces
from weft.text import Doc

ITALIAN = EXAMPLES / "times" / "italian.times.tsv"
SAID = datetime(2026, 5, 1, 12)


@pytest.fixture(scope="module")
def parser() -> TimeParser:
    parser = TimeParser(TimeSettings(language="it", passes=6, beam=120))
    parser.fit(list(package.read(ITALIAN)))
    return parser


def value(parser: TimeParser, phrase: str, said: datetime = SAID) -> str:
    return parser.parse(phrase, said)[0][1].value


def test_words_are_learned_and_combined_anew(parser):
    assert value(parser, "ieri") == "2026-04-30"
    assert value(parser, "quattro settimane") == "P4W"
    assert value(parser, "nel 1987") == "1987"
    assert value(parser, "il 7 maggio") == "2026-05-07"
    assert parser.parse("sei mesi", SAID)[0][0] == "DURATION"


def test_no_word_is_tied_to_a_meaning():
    """The same phrases with every word spelled backwards are learned as well: there is no word list."""

    def turned(text: str) -> str:
        return " ".join(word if any(c.isdigit() for c in word) else word[::-1] for word in text.split())

    rows = [
        Example(timex.type, timex.value, datetime.fromisoformat(doc.meta["date"]), turned(doc.text))
        for doc in package.read(ITALIAN) for timex in doc.times
    ]  # fmt: skip
    _, curve, _ = train(rows, Options("other", passes=6, k=120))
    assert curve.right[-1] > 0.65


def test_answers_come_with_probabilities_and_derivations(parser):
    answers = parser.parse("lunedì scorso", SAID, 3)
    shares = [answer.probability for _, answer in answers]
    assert len(answers) == 3
    assert shares == sorted(shares, reverse=True)
    assert 0.0 < sum(shares) <= 1.0 + 1e-9
    assert answers[0][1].value == "2026-04-27"
    assert "[lunedi]" in answers[0][1].derivation


def test_numbers_are_only_what_they_can_be():
    model, _, _ = train([Example("DATE", "1999", SAID, "1999")], Options(passes=1, k=20))
    names = [symbol.name for symbol in preterminals()]
    open_to = {names[i] for i in np.flatnonzero(model.phrase(pieces("99", "en")).open[0])}
    assert {"Nil", "Number", "short_year"} <= open_to
    assert not open_to & {"year", "month", "day", "hour", "FRI"}


def test_times_are_found_in_text_and_counted_from_the_documents_date(parser):
    doc = Doc.from_words([["Il", "treno", "parte", "domani"], ["Lo", "scontro", "durò", "due", "mesi"]])
    doc.meta["date"] = "2026-05-01"
    parser([doc])
    assert [(time.text, time.type, time.value) for time in doc.times] == [
        ("domani", "DATE", "2026-05-02"), ("due mesi", "DURATION", "P2M"),
    ]  # fmt: skip
    assert doc.times[0].attributes["anchor_from"] == "document"


def test_given_extents_stay_and_a_given_date_comes_first(parser):
    [doc, *_] = package.read(ITALIAN)
    parser.reference = "2030-01-02"
    try:
        parser([doc])
    finally:
        parser.reference = ""
    [time] = doc.times
    assert (time.text, time.value, time.attributes["anchor_from"]) == ("oggi", "2030-01-02", "given")


def test_what_next_means_can_be_changed(parser):
    monday = datetime(2026, 5, 4, 12)
    assert value(parser, "martedì prossimo", monday) == "2026-05-05"
    parser.set_next("calendar")
    try:
        assert value(parser, "martedì prossimo", monday) == "2026-05-12"
    finally:
        parser.set_next("following")
    with pytest.raises(ConfigError, match="next must be one of"):
        parser.set_next("tuesday")


def test_a_saved_model_answers_as_before(parser, tmp_path):
    package.Pipeline([parser]).save(tmp_path / "it.weft")
    [again] = package.load(tmp_path / "it.weft").components
    for phrase in ("ieri", "tre anni fa", "il 16 maggio", "qualche mese", "mai visto"):
        before, after = parser.parse(phrase, SAID), again.parse(phrase, SAID)
        assert [(kind, each.value) for kind, each in before] == [(kind, each.value) for kind, each in after]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("places", lambda a: a + 10**7),
        ("places", lambda a: a[::-1].copy()),
        ("weights", lambda a: a * np.nan),
        ("uses", lambda a: a[:-1]),
        ("by_word", lambda a: -a - 1),
        ("by_shape", lambda a: a[:, :2].copy()),
    ],
)
def test_a_damaged_model_is_refused(parser, name, change):
    header, arrays = parser.state()
    arrays[name] = change(arrays[name])
    with pytest.raises(ModelError, match="damaged"):
        TimeParser.from_state(header, arrays)


def test_a_model_with_a_doubled_name_is_refused(parser):
    header, arrays = parser.state()
    header["grams"] = [header["grams"][0], *header["grams"][:-1]]
    with pytest.raises(ModelError, match="twice"):
        TimeParser.from_state(header, arrays)


def test_nothing_to_train_on_and_wrong_settings_are_plain_errors():
    with pytest.raises(DataError, match="no time expression has a value"):
        TimeParser().fit([Doc.from_words([["a"]])])
    for wrong in ({"next": "then"}, {"loss": "log"}, {"beam": 0}, {"language": "?"}):
        with pytest.raises(WeftError):
            TimeParser.from_options(wrong)


def test_values_that_are_none_are_told_and_nothing_is_learned_from_them(tmp_path):
    phrases = tmp_path / "phrases.times.tsv"
    said = "2026-05-01 12:00:00"
    phrases.write_text(f"DATE\t2026-05-02\t{said}\tdomani\nDATE\t2026-99-01\t{said}\tmai\n", encoding="utf-8")
    told = TimeParser(TimeSettings(language="it", passes=1, beam=20)).fit(list(package.read(phrases)))["training"]
    assert told["phrases"] == 2
    assert told["no TIMEX3 values"] == "1, such as '2026-99-01'"


def test_a_phrase_without_any_known_word_or_of_great_length_is_answered(parser):
    assert parser.parse("xyzzy " * 60, SAID)
    assert parser.parse("", SAID) == parser.parse("", SAID)
    doc = Doc.from_words([["xyzzy"] * 50])
    parser([doc])
    assert doc.times == []


def test_the_command_line_trains_annotates_scores_and_draws(weft, tmp_path):
    model = tmp_path / "it.weft"
    own = tmp_path / "phrases.tsv"
    own.write_text(ITALIAN.read_text(encoding="utf-8"), encoding="utf-8")
    trained = weft("train", "times", own, "--language", "it", "--passes", "4", "--beam", "80", "--out", model)
    assert trained.returncode == 0, trained.stderr
    done = weft(
        "annotate", "--text", "Ci vediamo domani.", "--model", model, "--reference-date", "2026-05-01", "--to", "show"
    )
    assert "[DATE 2026-05-02 domani]" in done.stdout
    assert "without a date" not in done.stderr
    undated = weft("annotate", "--text", "Ci vediamo domani.", "--model", model, "--to", "jsonl")
    assert "1 document without a date: times are counted from today's" in undated.stderr
    wrong = weft("annotate", "--text", "x", "--model", model, "--reference-date", "1 May")
    assert wrong.returncode != 0
    assert "'1 May' is not a date" in wrong.stderr
    other = weft("annotate", "--text", "x", "--model", "en", "--reference-date", "2026-05-01")
    assert "this model has none" in other.stderr
    predicted = tmp_path / "predicted.times.tsv"
    weft("annotate", ITALIAN, "--model", model, "--out", predicted)
    scored = weft("evaluate", ITALIAN, predicted, "--layer", "times")
    assert "value" in scored.stdout
    picture = tmp_path / "times.svg"
    drawn = weft(
        "annotate",
        "--text",
        "Ci vediamo domani.",
        "--model",
        model,
        "--reference-date",
        "2026-05-01",
        "--out",
        tmp_path / "a.jsonl",
    )
    assert drawn.returncode == 0, drawn.stderr
    weft("draw", tmp_path / "a.jsonl", "--sentence", "1", "--out", picture)
    assert "DATE 2026-05-02" in picture.read_text()
