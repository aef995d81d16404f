"""The grammar of time: preterminals that no word is tied to, and typed rules that combine them.

    intersect  (Range | Sequence)^2           multiply  Number x Duration         add   Duration x Duration
    apply      a function to its argument     nil       a span without a meaning  ref   a function to the reference time

A preterminal has a type and a value. Those of numbers are open to numbers within their bounds; all others are open to
every span of words, and what they mean is learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from weft.infer.forests.kbest import LEFT, OWN, RIGHT, TypedGrammar
from weft.tasks.time.calendar import NoTime
from weft.tasks.time.numbers import Number
from weft.tasks.time.values import Duration, Named, Relative, Sequence, Value, inside

RANGE, SEQUENCE, DURATION, NUMBER, NIL, MOVE, SHIFT, SHIFTED, VAGUE = range(9)
TYPE_NAMES = ("Range", "Sequence", "Duration", "Number", "Nil", "Move", "Shift", "Shifted", "Vague")
INTERSECT, MULTIPLY, ADD, APPLY, ABSORB = range(5)
FUNCTIONS = ("intersect", "multiply", "add", "apply", "nil")
_SHIFTS = ("shift_left", "shift_right", "shrink_begin", "shrink_end", "cat_left", "cat_right")
_BITS = {
    "century": 1, "decade": 1, "year": 1, "short_year": 1, "half": 2, "quarter": 2, "season": 2, "month": 2, "week": 4,
    "weekend": 8, "nth": 8, "day": 8, "weekday": 8, "part": 16, "hour": 32, "minute": 64, "second": 128,
}  # fmt: skip


@dataclass(frozen=True)
class Function:
    """A function of the grammar, by its name; a move also has its number."""

    name: str
    count: int = 0
    duration: Duration | None = None


#: Anything that an item of the chart may be worth.
Meaning = Value | Function | int | None


@dataclass(frozen=True)
class Preterminal:
    """A symbol of the grammar: its type, its value or how it is made of a number, and the calendar fields it sets."""

    name: str
    type: int
    value: Meaning = None
    of_number: Callable[[Number], Meaning] | None = None
    bits: int = 0

    def meaning(self, number: Number | None) -> Meaning:
        """Its value."""
        return self.value if self.of_number is None or number is None else self.of_number(number)


def _field(name: str, low: int, high: int, ordinal: bool | None = None) -> Preterminal:
    def build(number: Number) -> Sequence:
        if not low <= number.value <= high or (ordinal is False and number.ordinal):
            raise NoTime(f"{number.value} is no {name}")
        return Sequence.of(**{name: number.value})

    return Preterminal(name, RANGE if name == "year" else SEQUENCE, None, build, _BITS[name])


def _decade(number: Number) -> Sequence:
    if number.value % 10 or not 1000 <= number.value < 2100:
        raise NoTime("no decade")
    return Sequence.of(century=number.value // 100, decade=number.value // 10 % 10)


def _decade_of_century(number: Number) -> Sequence:
    if number.value % 10 or not 10 <= number.value < 100:
        raise NoTime("no decade")
    return Sequence.of(decade=number.value // 10)


def _century(number: Number) -> Sequence:
    if not 1 <= number.value <= 21:
        raise NoTime("no century")
    return Sequence.of(century=number.value - 1)


def _nth(number: Number) -> Function:
    if not number.ordinal or not 1 <= number.value <= 53:
        raise NoTime("no ordinal")
    return Function("nth", number.value)


@cache
def preterminals() -> tuple[Preterminal, ...]:
    """All preterminals; those of words come first.

    >>> len(preterminals()), preterminals()[0].name
    (83, 'PAST')
    """
    found = [
        Preterminal("PAST", RANGE, Named("PAST_REF")),
        Preterminal("FUTURE", RANGE, Named("FUTURE_REF")),
        Preterminal("REF", RANGE, Named("PRESENT_REF")),
        Preterminal("YESTERDAY", RANGE, Sequence(unit="day", offset=-1), bits=8),
        Preterminal("TODAY", RANGE, Sequence(unit="day"), bits=8),
        Preterminal("TOMORROW", RANGE, Sequence(unit="day", offset=1), bits=8),
    ]
    for place, name in enumerate(("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"), 1):
        found.append(Preterminal(name, SEQUENCE, Sequence.of(weekday=place), bits=8))
    months = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
    for place, name in enumerate(months, 1):
        found.append(Preterminal(name, SEQUENCE, Sequence.of(month=place), bits=2))
    for name, code in (("SPRING", "SP"), ("SUMMER", "SU"), ("FALL", "FA"), ("WINTER", "WI")):
        found.append(Preterminal(name, SEQUENCE, Sequence.of(season=code), bits=2))
    for name, code in (("MORNING", "MO"), ("AFTERNOON", "AF"), ("EVENING", "EV"), ("NIGHT", "NI")):
        found.append(Preterminal(name, SEQUENCE, Sequence.of(part=code), bits=16))
    found.append(Preterminal("WEEKEND", SEQUENCE, Sequence.of(weekend=1), bits=8))
    found.append(Preterminal("NOON", SEQUENCE, Sequence.of(hour=12, minute=0), bits=96))
    found.append(Preterminal("MIDNIGHT", SEQUENCE, Sequence.of(hour=0, minute=0), bits=96))
    units = {"day": 8, "week": 4, "month": 2, "quarter": 2, "half": 2, "year": 1, "decade": 1, "century": 1,
             "hour": 32, "minute": 64, "second": 128}  # fmt: skip
    for unit, bits in units.items():
        found.append(Preterminal(f"Every{unit.title()}", SEQUENCE, Sequence(unit=unit), bits=bits))
    for unit in ("second", "minute", "hour", "day", "week", "weekend", "month", "quarter", "half", "year", "decade",
                 "century"):  # fmt: skip
        found.append(Preterminal(unit.title(), DURATION, Duration.of(unit)))
    found += [Preterminal(name, SHIFT, Function(name)) for name in _SHIFTS]
    found += [
        Preterminal("move_left", MOVE, Function("move", -1)),
        Preterminal("move_right", MOVE, Function("move", 1)),
        Preterminal("last", MOVE, Function("nth", -1)),
        Preterminal("approximate", VAGUE, Function("approximate")),
        Preterminal("Nil", NIL),
    ]
    found += [
        Preterminal("Number", NUMBER, None, lambda number: number.value),
        _field("year", 1000, 2100, False),
        _field("short_year", 0, 99, False),
        _field("quarter", 1, 4),
        _field("month", 1, 12),
        _field("day", 1, 31),
        _field("hour", 0, 23, False),
        _field("minute", 0, 59, False),
        _field("second", 0, 59, False),
        Preterminal("Decade", RANGE, None, _decade, 1),
        Preterminal("DecadeOfCentury", SEQUENCE, None, _decade_of_century, 1),
        Preterminal("CenturyOf", RANGE, None, _century, 1),
        Preterminal("nth", MOVE, None, _nth),
    ]
    return tuple(found)


@cache
def word_preterminals() -> int:
    """How many preterminals are open to words."""
    return sum(symbol.of_number is None for symbol in preterminals())


def nil() -> int:
    """The number of Nil."""
    return word_preterminals() - 1


@cache
def grammar() -> TypedGrammar:
    """The rules as tables. Tops are preterminals, then one per function, then that of the reference rule.

    >>> grammar().types, grammar().tops == len(preterminals()) + 6
    (9, True)
    """
    own = len(preterminals())
    times = (RANGE, SEQUENCE)
    rules: list[tuple[int, int, int, int, int, int, int]] = []
    for a in times:
        for b in times:
            parent = SEQUENCE if a == b == SEQUENCE else RANGE
            rules.append((a, b, parent, INTERSECT, OWN, own + INTERSECT, 1))
    for a, b in ((NUMBER, DURATION), (DURATION, NUMBER)):
        rules.append((a, b, DURATION, MULTIPLY, OWN, own + MULTIPLY, 0))
    rules.append((DURATION, DURATION, DURATION, ADD, OWN, own + ADD, 0))
    applied = [(MOVE, SEQUENCE, SEQUENCE), (SHIFT, DURATION, SHIFTED), (VAGUE, DURATION, DURATION)]
    applied += [(SHIFTED, time, RANGE) for time in times]
    for function, argument, parent in applied:
        rules.append((function, argument, parent, APPLY, LEFT, 0, 0))
        rules.append((argument, function, parent, APPLY, RIGHT, 0, 0))
    for other in range(len(TYPE_NAMES)):
        if other != NIL:
            rules.append((NIL, other, other, ABSORB, RIGHT, 0, 0))
            rules.append((other, NIL, other, ABSORB, LEFT, 0, 0))
    unary = [(SHIFTED, RANGE, own + len(FUNCTIONS))]
    return TypedGrammar.of(len(TYPE_NAMES), own + len(FUNCTIONS) + 1, rules, unary, [RANGE, SEQUENCE, DURATION])


def combine(rule: int, left: Meaning, right: Meaning) -> Meaning:
    """The value of a rule's parent; raises `NoTime` if there is none. Rule -2 applies a function to the reference time.

    >>> combine(0, Sequence.of(month=8), Sequence.of(day=12)) == Sequence.of(month=8, day=12)
    True
    """
    if rule < 0:
        assert isinstance(left, Function)
        assert left.duration is not None
        return Relative(left.name, left.duration)
    function = int(grammar().binary[rule, 3])
    if function == ABSORB:
        return right if int(grammar().binary[rule, 0]) == NIL else left
    if function == INTERSECT:
        if isinstance(left, Sequence | Relative) and isinstance(right, Sequence | Relative):
            return inside(left, right)
        raise NoTime("a time without borders is not intersected")
    if function == MULTIPLY:
        number, duration = (left, right) if isinstance(left, int) else (right, left)
        assert isinstance(number, int)
        assert isinstance(duration, Duration)
        return duration.times(number)
    if function == ADD:
        assert isinstance(left, Duration)
        assert isinstance(right, Duration)
        return left.plus(right)
    return _apply(left, right) if isinstance(left, Function) else _apply(right, left)


def _apply(function: Meaning, argument: Meaning) -> Meaning:
    assert isinstance(function, Function)
    if isinstance(argument, Duration):
        if function.name == "approximate":
            return argument.vague()
        return Function(function.name, 0, argument)
    if isinstance(argument, Named):
        raise NoTime("a time without borders is not moved")
    if function.duration is not None:
        assert isinstance(argument, Sequence | Relative)
        return Relative(function.name, function.duration, argument)
    assert isinstance(argument, Sequence)
    if function.name == "move":
        return argument.move(function.count)
    return nth(function.count, argument)


def nth(count: int, sequence: Sequence) -> Sequence:
    """The n-th element of a sequence in the unit above it: the third quarter, the fourth Sunday of a month.

    >>> nth(3, Sequence(unit="quarter")) == Sequence.of(quarter=3)
    True
    >>> nth(4, Sequence.of(weekday=7)).fields
    (('nth', (4, 7)),)
    """
    if sequence.offset or sequence.inside is not None:
        raise NoTime("what was moved is not counted")
    if not sequence.fields:
        most = {"month": 12, "quarter": 4, "half": 2, "week": 53, "day": 31}.get(sequence.unit, 0)
        if 1 <= count <= most:
            return Sequence.of(**{sequence.unit: count})
        if count == -1 and most in (2, 4, 12):
            return Sequence.of(**{sequence.unit: most})
    weekday = sequence.get("weekday")
    if len(sequence.fields) == 1 and isinstance(weekday, int) and (1 <= count <= 5 or count == -1):
        return Sequence.of(nth=(count, weekday))
    raise NoTime("it is not counted")
