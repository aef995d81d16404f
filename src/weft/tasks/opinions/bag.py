"""Bags of opinions (Qu, Ifrim and Weikum 2010): what words and their modifiers are worth, from the stars of reviews.

    stars of a review - mean  ~  mean over its opinions o of  value(o)          ridge regression

An opinion is a word with the negator or intensifier before it, if there is one: `good`, `not good`, `very good`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from weft.errors import DataError
from weft.lexical.polarity_lexicon import negated

INTENSIFIERS = frozenset(
    [
        "very",
        "really",
        "so",
        "too",
        "extremely",
        "quite",
        "pretty",
        "highly",
        "incredibly",
        "rather",
        "fairly",
        "absolutely",
    ]
)


def opinions_of(words: Sequence[str]) -> list[str]:
    """The opinions of a text, one per word.

    >>> opinions_of("not very good".split())
    ['not', 'not very', 'not very good']
    """
    found = []
    before = ""
    for word, flag in zip(words, negated(words), strict=True):
        lower = word.lower()
        strong = f"{before} " if before in INTENSIFIERS else ""
        found.append(("not " if flag else "") + strong + lower)
        before = lower
    return found


class BagOfOpinions:
    """Values of opinions, by name.

    >>> bag = BagOfOpinions({"good": 0.5, "not good": -0.75})
    >>> bag.values("not good , lens good".split())
    [0.0, -0.75, 0.0, 0.0, 0.5]
    """

    def __init__(self, known: dict[str, float]) -> None:
        self.known = known

    @classmethod
    def fit(
        cls, reviews: Iterable[tuple[Sequence[str], float]], least: int = 4, penalty: float = 10.0
    ) -> BagOfOpinions:
        """Learn from reviews as words with stars; opinions of fewer than `least` reviews are left out."""
        from scipy.sparse import csr_array
        from scipy.sparse.linalg import lsqr

        bags = [(Counter(opinions_of(words)), stars) for words, stars in reviews]
        if not bags:
            raise DataError("there are no rated reviews to learn the worth of opinions from")
        seen = Counter(name for bag, _ in bags for name in bag)
        names = [name for name, count in seen.items() if count >= least and any(c.isalpha() for c in name)]
        numbers = {name: number for number, name in enumerate(names)}
        starts, columns, values = [0], [], []
        for bag, _ in bags:
            own = [(numbers[name], np.log1p(count)) for name, count in bag.items() if name in numbers]
            size = float(np.sqrt(sum(value * value for _, value in own))) or 1.0
            columns += [number for number, _ in own]
            values += [value / size for _, value in own]
            starts.append(len(columns))
        table = csr_array((values, columns, starts), shape=(len(bags), len(names)))
        stars = np.array([stars for _, stars in bags])
        found = lsqr(table, stars - stars.mean(), damp=float(np.sqrt(penalty)) / 3, iter_lim=60)[0]
        return cls({name: float(value) for name, value in zip(names, found.tolist(), strict=True) if abs(value) > 0.02})

    def values(self, words: Sequence[str]) -> list[float]:
        """The value of the opinion at every word; an unknown combination counts as its word, turned if negated."""
        found = []
        for name in opinions_of(words):
            value = self.known.get(name)
            if value is None:
                last = name.rsplit(" ", 1)[-1]
                value = self.known.get(last, 0.0) * (-0.5 if name.startswith("not ") and last != "not" else 1.0)
            found.append(value)
        return found
