"""Agreement of annotators: Krippendorff's alpha, and tables of F1 and alpha.

    alpha = 1 - D_o / D_e

    D_o = sum over units u of  1 / (m_u - 1)  sum over ordered pairs of its m_u values (a, b) of  d(a, b)   / n
    D_e = sum over ordered pairs of all n values of  d(a, b)  / (n (n - 1))

A unit counts if at least two annotators gave it a value; n is the number of values in such units. The distance d is 1
for different values (nominal), or any other one. Alpha is 1 for perfect agreement and 0 for that of chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import permutations
from typing import NamedTuple

from weft.errors import WeftError

Distance = Callable[[Hashable, Hashable], float]
#: What two annotators say of one thing.
Unit = tuple[Hashable, Hashable]
#: What an annotator says of a thing that only the other one marked.
NONE = "none"


def nominal(a: Hashable, b: Hashable) -> float:
    """The distance of values that are equal or different.

    >>> nominal("a", "b"), nominal("a", "a")
    (1.0, 0.0)
    """
    return float(a != b)


def krippendorff_alpha(units: Iterable[Sequence[Hashable | None]], distance: Distance = nominal) -> float:
    """Alpha of units, each with one value per annotator, None for a missing one.

    1 if all values are the same, since then nobody disagreed; an error if no unit has two values.

    >>> units = [("a", "a"), ("b", "b"), ("a", "b"), ("c", "c"), (None, "a")]
    >>> round(krippendorff_alpha(units), 4)
    0.6667
    """
    observed, total = 0.0, 0
    values: Counter[Hashable] = Counter()
    for unit in units:
        given = [value for value in unit if value is not None]
        if len(given) < 2:
            continue
        values.update(given)
        total += len(given)
        observed += sum(distance(a, b) for a, b in permutations(given, 2)) / (len(given) - 1)
    if not total:
        raise WeftError("alpha needs units with values of at least two annotators; there are none")
    expected = sum(values[a] * values[b] * distance(a, b) for a in values for b in values if a != b) / (total - 1)
    return 1.0 - observed / expected if expected else 1.0


class Agreement(NamedTuple):
    """F1 and alpha of two annotators, over what at least one of them marked; with the number of such units.

    `alpha_all` also counts what neither marked (words without a mention, pairs of mentions without a link), where that
    is known.
    """

    f1: float
    alpha: float
    alpha_all: float | None
    units: int


class AgreementTable:
    """Collects units by name, and the matches that F1 counts, for the agreement on each name.

    >>> table = AgreementTable()
    >>> table.add_matches("names", both=3, first=4, second=3, everything=50)
    >>> table.add_values("type", [("person", "person"), ("place", "place"), ("place", "person")])
    >>> table.results()["type"]
    Agreement(f1=0.6666666666666666, alpha=0.4444444444444444, alpha_all=None, units=3)
    >>> round(table.results()["names"].f1, 3), table.results()["names"].units
    (0.857, 4)
    """

    def __init__(self) -> None:
        self._units: dict[str, list[Unit]] = {}
        self._sums: dict[str, list[int]] = {}

    def add(
        self, name: str, units: list[Unit], marked: tuple[int, int], matched: tuple[int, int], everything: int = 0
    ) -> None:
        """Add units, how many of them each annotator marked and how many of these the other one matches.

        `everything` is the number of units there might have been, 0 if that is not known.
        """
        self._units.setdefault(name, []).extend(units)
        sums = self._sums.setdefault(name, [0] * 5)
        self._sums[name] = [a + b for a, b in zip(sums, (*marked, *matched, everything), strict=True)]

    def add_matches(self, name: str, both: int, first: int, second: int, everything: int) -> None:
        """Add things that annotators marked or not: both of them, the first one, the second one."""
        sides: list[tuple[Unit, int]] = [
            ((name, name), both), ((name, NONE), first - both), ((NONE, name), second - both),
        ]  # fmt: skip
        units = [unit for unit, times in sides for _ in range(times)]
        self.add(name, units, (first, second), (both, both), everything)

    def add_values(self, name: str, values: list[Unit]) -> None:
        """Add the values that two annotators gave to the same things."""
        same = sum(a == b for a, b in values)
        self.add(name, values, (len(values), len(values)), (same, same))

    def results(self) -> dict[str, Agreement]:
        """The agreement on every name that has units."""
        found = {}
        for name, units in self._units.items():
            if units:
                first, second, first_matched, second_matched, everything = self._sums[name]
                rest = everything - len(units)
                every = krippendorff_alpha([*units, *[(NONE, NONE)] * rest]) if rest > 0 else None
                one, other = (a / b if b else 1.0 for a, b in ((first_matched, first), (second_matched, second)))
                f1 = 2 * one * other / (one + other) if one + other else 0.0
                found[name] = Agreement(f1, krippendorff_alpha(units), every, len(units))
        return found
