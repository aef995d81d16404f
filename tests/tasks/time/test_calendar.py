"""The calendar algebra: units, sequences, grounding, and what the paper says of them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from weft.tasks.time.calendar import MONTHS, UNITS, NoTime, add, floor
from weft.tasks.time.grammar import nth
from weft.tasks.time.ground import Convention, element, ground, shift
from weft.tasks.time.timex import print_range, read_value
from weft.tasks.time.values import Duration, Named, Range, Relative, Sequence, intersect

MOMENTS = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1))
SAID = datetime(2013, 8, 6, 3, 25)
COPY = Convention("following", {})
#: Sequences of one field each.
FIELDS = st.one_of(
    st.integers(1, 7).map(lambda n: Sequence.of(weekday=n)), st.integers(1, 12).map(lambda n: Sequence.of(month=n)),
    st.integers(1, 31).map(lambda n: Sequence.of(day=n)), st.integers(1, 53).map(lambda n: Sequence.of(week=n)),
    st.integers(1, 4).map(lambda n: Sequence.of(quarter=n)), st.integers(0, 23).map(lambda n: Sequence.of(hour=n)),
    st.integers(0, 59).map(lambda n: Sequence.of(minute=n)), st.integers(1900, 2100).map(lambda n: Sequence.of(year=n)),
    st.sampled_from(["SP", "SU", "FA", "WI"]).map(lambda code: Sequence.of(season=code)),
    st.sampled_from(["MO", "AF", "EV", "NI"]).map(lambda code: Sequence.of(part=code)),
    st.sampled_from(["day", "week", "month", "quarter", "year", "decade"]).map(lambda unit: Sequence(unit=unit)),
    st.integers(0, 9).map(lambda n: Sequence.of(decade=n)), st.integers(0, 99).map(lambda n: Sequence.of(short_year=n)),
)  # fmt: skip


def day_of(value, said=SAID, convention=COPY) -> str:
    found = ground(value, said, convention)
    assert isinstance(found, Range)
    return print_range(found)


@settings(max_examples=150, deadline=None)
@given(MOMENTS, st.sampled_from([unit for unit in UNITS if unit not in ("part", "weekend")]))
def test_a_unit_begins_at_or_before_its_moments_and_ends_after_them(moment, unit):
    begin = floor(moment, unit)
    assert begin <= moment < add(begin, unit, 1)
    assert floor(begin, unit) == begin


@settings(max_examples=100, deadline=None)
@given(MOMENTS, st.sampled_from(sorted(MONTHS)), st.integers(-30, 30))
def test_adding_months_keeps_the_day_or_takes_the_last_of_the_month(moment, unit, count):
    assume(abs(MONTHS[unit] * count) < 12 * 500)
    found = add(moment, unit, count)
    months = (found.year - moment.year) * 12 + found.month - moment.month
    assert months == MONTHS[unit] * count
    assert found.day == moment.day or (found.day < moment.day and (found + timedelta(1)).day == 1)


@pytest.mark.must_show("temporal-expression-parser", 1)
@settings(max_examples=100, deadline=None)
@given(MOMENTS, st.sampled_from(["second", "minute", "hour", "day", "week"]), st.integers(1, 5000))
def test_shifting_back_and_forth_by_a_fixed_duration_is_the_identity(moment, unit, count):
    day = Range(floor(moment, "day"), floor(moment, "day") + timedelta(1), "day")
    duration = Duration.of(unit, count)
    assert duration.fixed
    assert shift(shift(day, duration, -1), duration, 1) == day


@pytest.mark.must_show("temporal-expression-parser", 1)
@settings(max_examples=200, deadline=None)
@given(FIELDS, FIELDS, st.sampled_from([-1, 0, 1]))
def test_intersection_is_commutative(one, other, moves):
    def result(a, b):
        try:
            return intersect(a, b)
        except NoTime:
            return None

    if moves and one.period:
        one = one.move(moves)
    assert result(one, other) == result(other, one)


@pytest.mark.must_show("temporal-expression-parser", 1)
@settings(max_examples=100, deadline=None)
@given(FIELDS, MOMENTS)
def test_moving_right_and_left_again_is_the_identity(sequence, moment):
    assume(sequence.period)
    assert sequence.move(1).move(-1) == sequence == sequence.move(-1).move(1)
    assert ground_or_none(sequence.move(1).move(-1), moment) == ground_or_none(sequence, moment)


def ground_or_none(value, moment, convention=Convention()):
    try:
        return ground(value, moment, convention)
    except NoTime:
        return None


@pytest.mark.must_show("temporal-expression-parser", 1)
def test_every_example_of_the_paper_is_grounded():
    friday, november_27 = Sequence.of(weekday=5), Sequence.of(month=11, day=27)
    week = Sequence(unit="week")
    assert day_of(november_27) == "2013-11-27"
    assert day_of(intersect(friday, week)) == "2013-08-09"  # Friday of this week
    assert day_of(friday.move(-1)) == "2013-08-02"  # last Friday
    assert day_of(Relative("shift_left", Duration.of("week", 3))) == "2013-W29"  # 3 weeks ago
    two_days = Duration.of("day", 2)
    month = ground(Sequence(unit="month"), SAID)
    first = ground(Relative("shrink_begin", two_days, Sequence(unit="month")), SAID)
    assert (first.begin, first.end) == (month.begin, month.begin + timedelta(2))  # the first two days of the month
    last = ground(Relative("cat_left", two_days), SAID)
    assert (last.begin, last.end) == (datetime(2013, 8, 4), datetime(2013, 8, 6))  # the last 2 days
    following = ground(Relative("cat_right", two_days, Sequence(unit="week")), SAID)
    assert (following.begin, following.end) == (datetime(2013, 8, 12), datetime(2013, 8, 14))
    assert day_of(intersect(nth(4, Sequence.of(weekday=7)), Sequence.of(month=11))) == "2013-11-24"
    before_last = Relative("shift_left", Duration.of("week", 2))
    found = ground(before_last, datetime(2013, 8, 20))
    assert (found.begin, found.end) == (datetime(2013, 8, 5), datetime(2013, 8, 12))  # the week before last
    assert ground(Named("PAST_REF"), SAID) == Named("PAST_REF")
    with pytest.raises(NoTime):  # Friday the 13th
        intersect(friday, Sequence.of(day=13))
    with pytest.raises(NoTime):  # February 30
        ground(Sequence.of(month=2, day=30), SAID)
    moved = Sequence.of(weekday=1).move(1)
    august = intersect(moved, Sequence.of(month=8))
    assert day_of(august, datetime(2013, 8, 28)) == "2014-08-04"  # the next Monday in August
    assert day_of(august, datetime(2013, 8, 6)) == "2013-08-12"


@pytest.mark.must_show("temporal-expression-parser", 1)
@settings(max_examples=300, deadline=None)
@given(st.lists(FIELDS, min_size=1, max_size=3), MOMENTS, st.sampled_from([-2, -1, 0, 1, 2]), st.booleans())
def test_what_is_printed_is_a_date_that_the_calendar_has(parts, moment, moves, nearest):
    value = parts[0]
    try:
        for part in parts[1:]:
            value = intersect(value, part)
        if moves and value.period:
            value = value.move(moves)
        found = ground(value, moment, Convention() if nearest else COPY)
    except NoTime:
        return
    assert isinstance(found, Range)
    text = print_range(found)
    again = read_value(text)  # raises an error for February 30 or week 54
    assert str(again) == text
    if isinstance(again.value, Range):
        assert again.value.begin == found.begin or found.unit == "hour"


@pytest.mark.parametrize(
    ("said", "meant"),
    [((2013, 8, 6), "2012-02-29"), ((2014, 8, 6), "2016-02-29"), ((2016, 3, 1), "2016-02-29")],
)
def test_february_29_means_one_that_there_is(said, meant):
    found = ground(Sequence.of(month=2, day=29), datetime(*said), Convention.of("following", 0.0))
    assert print_range(found) == meant


def test_iso_weeks_belong_to_the_year_of_their_thursday():
    week = Sequence(unit="week")
    assert print_range(ground(week, datetime(2021, 1, 2))) == "2020-W53"
    assert print_range(ground(week.move(1), datetime(2020, 12, 31))) == "2021-W01"
    with pytest.raises(NoTime):
        element(Sequence.of(year=2021, week=53), SAID)


@pytest.mark.parametrize(
    ("convention", "said", "meant"),
    [
        ("following", (2026, 5, 1), "2026-05-05"),  # a Friday: the first Tuesday to come
        ("calendar", (2026, 5, 1), "2026-05-05"),
        ("nearest", (2026, 5, 1), "2026-05-05"),  # after Tuesday, April 28
        ("following", (2026, 5, 4), "2026-05-05"),  # a Monday: tomorrow
        ("calendar", (2026, 5, 4), "2026-05-12"),
        ("nearest", (2026, 5, 4), "2026-05-12"),
    ],
)
def test_what_next_tuesday_means_is_a_setting(convention, said, meant):
    found = ground(Sequence.of(weekday=2).move(1), datetime(*said, 12), Convention(convention))
    assert print_range(found) == meant


def test_the_pragmatic_offset_looks_back():
    """On Wednesday, Friday is last Friday with the mean distance of news, and this week's if fields are copied."""
    said = datetime(2013, 8, 7, 12)
    assert day_of(Sequence.of(weekday=5), said, Convention()) == "2013-08-02"
    assert day_of(Sequence.of(weekday=5), said, COPY) == "2013-08-09"


def test_hours_take_the_half_of_the_day_from_its_part():
    afternoon = intersect(Sequence.of(hour=2), Sequence.of(part="AF"))
    assert afternoon == Sequence.of(hour=14)
    assert intersect(Sequence.of(hour=12), Sequence.of(part="MO")) == Sequence.of(hour=0)


def test_a_range_is_not_longer_than_what_it_is_a_part_of():
    with pytest.raises(NoTime):
        ground(Relative("shrink_begin", Duration.of("month", 2), Sequence(unit="week")), SAID)


def test_winter_begins_in_december():
    winter = element(Sequence.of(year=1998, season="WI"), SAID)
    assert (winter.begin, winter.end) == (datetime(1998, 12, 1), datetime(1999, 3, 1))
    assert floor(datetime(1999, 2, 20), "season") == winter.begin
