"""Agreement of annotators: Krippendorff's alpha.

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

from weft.errors import WeftError

Distance = Callable[[Hashable, Hashable], float]


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
