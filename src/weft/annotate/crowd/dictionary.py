"""A bilingual dictionary from the answers of a crowd: the translations of a word, weighted by who gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from weft.annotate.crowd.answers import AnswerLog
from weft.arrays import Bools, Floats


class Entry(NamedTuple):
    """A translation of a word: the sum of its workers' qualities, and how many gave it."""

    language: str
    word: str
    translation: str
    weight: float
    workers: int


def dictionary(
    log: AnswerLog, qualities: Mapping[tuple[str, str], float] | None = None, *, least_quality: float = 0.0,
    agreement: int = 1, rows: Bools | None = None, most: int = 3, unknown: float = 0.5,
) -> list[Entry]:  # fmt: skip
    """The best translations of every word, best first.

    `qualities` are by language and worker (`unknown` for others); workers below `least_quality` are left out, and so
    are answers that fewer than `agreement` workers gave, and those outside `rows`.

    >>> log = AnswerLog.of([("w", "pani", "water"), ("v", "pani", "Water"), ("u", "pani", "river")])
    >>> dictionary(log, {("", "u"): 0.2}, least_quality=0.3)
    [Entry(language='', word='pani', translation='water', weight=1.0, workers=2)]
    """
    worth = _worth(log, qualities or {}, unknown)
    usable = worth >= least_quality
    if rows is not None:
        usable &= rows
    usable &= np.array([bool(answer) for answer in log.answers])[log.answer] if len(log) else usable
    pair, _ = log.groups("language", "item", "answer", "worker")
    _, once = np.unique(np.where(usable, pair, -1), return_index=True)
    once = once[usable[once]]
    group, first = log.groups("language", "item", "answer")
    weight = np.bincount(group[once], worth[once], len(first))
    givers = np.bincount(group[once], minlength=len(first))
    found: dict[tuple[str, str], list[Entry]] = {}
    for k in np.flatnonzero(givers >= max(1, agreement)).tolist():
        row = int(first[k])
        language, word = log.languages[log.language[row]], log.items[log.item[row]]
        entry = Entry(language, word, log.answers[log.answer[row]], float(weight[k]), int(givers[k]))
        found.setdefault((language, word), []).append(entry)
    return [
        entry for place in sorted(found)
        for entry in sorted(found[place], key=lambda each: (-each.weight, each.translation))[:most]
    ]  # fmt: skip


def _worth(log: AnswerLog, qualities: Mapping[tuple[str, str], float], unknown: float) -> Floats:
    group, first = log.groups("language", "worker")
    own = [
        qualities.get((log.languages[log.language[row]], log.workers[log.worker[row]]), unknown)
        for row in first.tolist()
    ]  # fmt: skip
    values: Floats = np.nan_to_num(np.array(own, dtype=np.float64), nan=unknown)
    return values[group] if len(log) else np.zeros(0)
