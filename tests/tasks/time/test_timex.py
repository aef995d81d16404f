"""TIMEX3 values: round trips, odd ones, and what is refused."""

from __future__ import annotations

from datetime import datetime

import pytest

from weft.errors import DataError
from weft.tasks.time.calendar import NoTime
from weft.tasks.time.timex import normal, print_open, print_sequence, read_value, type_of
from weft.tasks.time.types import TypeModel
from weft.tasks.time.values import Duration, Sequence

LANGUAGES = ("english", "spanish", "italian", "chinese", "korean", "french")


@pytest.mark.parametrize(
    "value",
    [
        "1998",
        "1998-03",
        "1998-03-01",
        "1998-W07",
        "1998-Q1",
        "1998-H2",
        "1998-SU",
        "1998-WI",
        "199",
        "19",
        "1998-W07-WE",
        "1998-03-01T14:00",
        "1998-03-01T14:05:59",
        "1998-03-01TMO",
        "P3W",
        "PT10H",
        "P1Y6M",
        "PT2H30M",
        "PXY",
        "PTXM",
        "PXE",
        "XXXX-WXX-5",
        "XXXX-WXX-2TNI",
        "XXXX-SU",
        "XXXX-Q4",
        "1998-XX-12",
        "XXXX-03-12",
        "XXXX-XX-XX",
        "1998-WXX",
        "1998-QX",
        "T14:30",
        "TNI",
        "2000-05-16T22:00Z",
        "PAST_REF",
        "PRESENT_REF",
        "FUTURE_REF",
        "P1W2DT12H",
    ],
)
def test_values_come_out_as_they_went_in(value):
    assert str(read_value(value)) == value


@pytest.mark.parametrize(
    ("given", "printed"),
    [("2000-W7", "2000-W07"), ("2003-5-9T3:15", "2003-05-09T03:15"), ("1998-03-01T14", "1998-03-01T14:00")],
)
def test_sloppy_values_are_filled_up(given, printed):
    assert normal(given) == printed


@pytest.mark.parametrize(
    "value",
    [
        "1998-02-30",
        "1998-13",
        "2021-W53",
        "1998-03-01T25:00",
        "P",
        "PT",
        "PXX",
        "undef",
        "",
        "XXXX-02-30",
        "1998-03-01T1:99",
    ],
)
def test_what_is_no_time_is_refused_and_kept_as_it_is(value):
    with pytest.raises(DataError, match="not a TIMEX3 value"):
        read_value(value)
    assert normal(value) == value


@pytest.mark.corpus
@pytest.mark.must_show(
    "temporal-expression-parser",
    3,
    weaker="95% of the distinct values of all six languages together; French (91%) has months without zeros, which are "
    "filled in on purpose, Korean (94%) weeks without zeros",
)
def test_gold_values_of_six_languages_come_out_as_they_went_in(corpus_file):
    kept: dict[str, list[bool]] = {}
    for language in LANGUAGES:
        values: set[str] = set()
        for part in ("train", "test"):
            path = corpus_file(f"time/tempeval2/{language}.{part}")
            values |= {line.split("\t")[1] for line in path.read_text(encoding="utf-8").splitlines()}
        kept[language] = [normal(value) == value and value != "undef" for value in values]
    assert {len(each) for each in kept.values()} == {323, 461, 216, 168, 183, 228}
    every = [each for own in kept.values() for each in own]
    assert sum(every) / len(every) >= 0.95
    shares = {language: sum(own) / len(own) for language, own in kept.items()}
    assert min(shares.values()) >= 0.88
    assert sum(share >= 0.94 for share in shares.values()) >= 4


def test_units_are_printed_as_what_repeats_or_with_an_open_number():
    assert print_sequence(Sequence(unit="year")) == "P1Y"
    assert print_sequence(Sequence.of(month=3, day=12)) == "XXXX-03-12"
    assert print_open(Sequence(unit="quarter", offset=-1), datetime(1989, 11, 1)) == "1989-QX"
    with pytest.raises(NoTime):
        print_sequence(Sequence.of(weekday=5).move(1))


def test_durations_are_multiplied_and_added_only_if_that_means_something():
    with pytest.raises(NoTime):
        Duration.of("week", 3).times(2)
    with pytest.raises(NoTime):
        Duration.of("week", 3).plus(Duration.of("week"))
    assert Duration.of("year").plus(Duration.of("month", 6)).amounts == (("year", 1), ("month", 6))


def test_types_follow_the_training_data_where_it_says_something():
    model = TypeModel.fit([("TIME", "1989-Q3", [1]), ("TIME", "1988-Q1", [1]), ("DATE", "1988-Q1", [2])] * 3, 4)
    assert model.type("1990-Q2", [1]) == "TIME"
    assert model.type("1990-Q2", [2]) == "DATE"
    assert model.type("P3D", [1]) == type_of("P3D") == "DURATION"
