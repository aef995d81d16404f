"""The terms of titles: phrases of the words that matter, by TextRank (Mihalcea and Tarau 2004), and cleaned.

    words    neighbours in a title, with no stop word between them, are joined; the weight is how often that occurs
    kept     the third of the words with the highest PageRank
    terms    runs of kept words; a run that is too rare is cut into its longest parts that are not

Terms are cleaned by a list of words that say nothing, by length, and by the number of titles that they occur in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from weft.errors import ConfigError
from weft.graph.network import network_of
from weft.graph.rankings.pagerank import pagerank

#: Words of English titles that belong to no term.
_STOP = """
    a about above across after against all along also although am among an and another any are as at away based be
    because been before behind being below between beyond both but by can could did do does doing done down during each
    either else etc even ever every for from further had has have having he her here him his how however i if in into is
    it its itself just let like made make makes making many may me might more most much must my near neither no non nor
    not now of off on once one only onto or other our out over own per quite rather same several shall she should since
    so some still such than that the their them then there these they this those though through thus to together too
    toward towards two under until up upon us use used using very via was we well were what when where whether which
    while who whom whose why will with within without would yet you your
    approach approaches based new novel paper study case some first second three four towards
"""
STOP = frozenset(_STOP.split())
_WORD = re.compile(r"[^\W\d_][\w'’-]*|[^\w\s'’-]")
SHARE, LONGEST = 1 / 3, 4


def title_words(title: str) -> list[str]:
    """The words of a title that may belong to terms, in lower case; an empty text stands where a run of them ends.

    >>> title_words("Towards tide tables: a study of harbour tides")
    ['', 'tide', 'tables', '', '', '', '', 'harbour', 'tides']
    """
    words = [word.lower().strip("-'’") for word in _WORD.findall(title)]
    return [word if len(word) > 1 and word not in STOP else "" for word in words]


def single_terms(titles: Sequence[str], least: int = 3, most: int = 400) -> list[list[str]]:
    """The words of every title that occur in `least` to `most` titles.

    >>> single_terms(["tide tables", "harbour tide", "harbour tables by night"], least=2)
    [['tide', 'tables'], ['harbour', 'tide'], ['harbour', 'tables']]
    """
    words = [list(dict.fromkeys(word for word in title_words(title) if word)) for title in titles]
    counts = Counter(word for own in words for word in own)
    return [[word for word in own if least <= counts[word] <= most] for own in words]


def title_terms(
    titles: Sequence[str], least: int = 3, most: int = 400, share: float = SHARE, longest: int = LONGEST
) -> list[list[str]]:
    """The terms of every title.

    >>> titles = ["Tide tables of harbours", "On tide tables", "Harbours and tide tables", "Harbours by night"]
    >>> title_terms(titles, least=2, share=1.0)
    [['tide tables', 'harbours'], ['tide tables'], ['harbours', 'tide tables'], ['harbours']]
    """
    if not 0 < share <= 1 or longest < 1 or least < 1:
        raise ConfigError("terms need a share of words above 0 and up to 1, and a length and a count of at least 1")
    runs = [_runs(title_words(title)) for title in titles]
    kept = _kept(runs, share)
    runs = [[part for run in own for part in _runs([word if word in kept else "" for word in run])] for own in runs]
    counts: Counter[tuple[str, ...]] = Counter()
    for own in runs:
        counts.update({part for run in own for part in _parts(run, longest)})
    terms = []
    for own in runs:
        found = [" ".join(part) for run in own for part in _cut(run, counts, least, longest) if counts[part] <= most]
        terms.append(list(dict.fromkeys(found)))
    return terms


def _runs(words: Sequence[str]) -> list[list[str]]:
    """Runs of words between empty ones."""
    runs: list[list[str]] = [[]]
    for word in words:
        if word:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _parts(run: Sequence[str], longest: int) -> list[tuple[str, ...]]:
    """All parts of a run up to a length."""
    n = len(run)
    return [tuple(run[i:j]) for i in range(n) for j in range(i + 1, min(i + longest, n) + 1)]


def _kept(runs: Sequence[Sequence[Sequence[str]]], share: float) -> set[str]:
    """The share of the words with the highest PageRank."""
    numbers: dict[str, int] = {}
    pairs: Counter[tuple[int, int]] = Counter()
    for own in runs:
        for run in own:
            places = [numbers.setdefault(word, len(numbers)) for word in run]
            pairs.update((min(a, b), max(a, b)) for a, b in pairwise(places) if a != b)
    if not numbers:
        return set()
    ends = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    network = network_of(len(numbers), ends[:, 0], ends[:, 1], np.array(list(pairs.values()), dtype=np.float64))
    order = np.argsort(-pagerank(network), kind="stable")
    words = list(numbers)
    return {words[number] for number in order[: max(1, round(share * len(words)))].tolist()}


def _cut(run: Sequence[str], counts: Counter[tuple[str, ...]], least: int, longest: int) -> list[tuple[str, ...]]:
    """The longest parts of a run that occur often enough, leftmost first."""
    for size in range(min(longest, len(run)), 0, -1):
        for first in range(len(run) - size + 1):
            part = tuple(run[first : first + size])
            if counts[part] >= least:
                return [
                    *_cut(run[:first], counts, least, longest), part, *_cut(run[first + size :], counts, least, longest)
                ]  # fmt: skip
    return []
