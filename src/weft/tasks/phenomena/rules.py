"""Rules that select content: a cue word, and which lines around it are suppressed.

| kind | suppresses |
|---|---|
| A | the two lines after each line with the cue |
| B | all lines after the first line with the cue |
| C | the two lines before each line with the cue |
| D | all lines before the last line with the cue |

Windows are computed from all lines with the cue at once; such a line stays unless the window of another one covers it.
A rule looks at the lines that earlier rules left, at the places that they had: rules are applied in order, and a rule
applied twice does no more than once. Instances without the cue do not change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ids
from weft.kernel import inner_kernel, kernel
from weft.learn.linear.softmax import Longs, Rows, descend, probabilities
from weft.tasks.phenomena.instances import Lines

KINDS = "ABCD"
KIND_NAMES = {
    "A": "ignore local future", "B": "ignore all future", "C": "ignore local history", "D": "ignore all history",
}  # fmt: skip
_NEAR = 2  # lines of a local window


class Rule(NamedTuple):
    """A cue, as a number of the vocabulary, and a kind.

    >>> Rule(7, "D").kind
    'D'
    """

    cue: int
    kind: str

    @property
    def number(self) -> int:
        return KINDS.index(self.kind)


def all_lines(lines: Lines) -> Bools:
    """A mark for every line that says it is not suppressed."""
    return np.ones(len(lines.places), dtype=np.bool_)


def extract(lines: Lines, left: Bools) -> Rows:
    """The binary vectors of instances from the lines that are left, with room for the words of all lines."""
    room = np.array(
        [lines.starts[end] - lines.starts[begin] for begin, end in zip(lines.first[:-1], lines.first[1:], strict=True)],
        dtype=np.int64,
    )
    starts = np.concatenate([[0], np.cumsum(room)])[:-1].astype(np.int64)
    rows = Rows(starts, np.zeros(len(lines), dtype=np.int64), np.zeros(int(room.sum()), dtype=np.int32), lines.size)
    _fill(lines.first, lines.starts, lines.words, left, rows.starts, rows.lengths, rows.columns, lines.size)
    return rows


def apply_rule(lines: Lines, left: Bools, rule: Rule, rows: Rows | None = None) -> NDArray[np.int64]:
    """Suppress lines in place; patches the vectors of the instances that change, whose numbers are returned."""
    changed = np.zeros(len(lines), dtype=np.bool_)
    _suppress(lines.first, lines.places, lines.starts, lines.words, left, rule.cue, rule.number, changed)
    if rows is not None:
        seen = np.zeros(lines.size, dtype=np.int64)
        for stamp, i in enumerate(np.flatnonzero(changed), start=1):
            rows.lengths[i] = _row(
                lines.first[i], lines.first[i + 1], lines.starts, lines.words, left, rows.starts[i], rows.columns,
                seen, stamp,
            )  # fmt: skip
    return np.flatnonzero(changed)


@kernel
def _fill(
    first: Longs, starts: Longs, words: Ids, left: Bools, row_starts: Longs, lengths: Longs, columns: Ids, size: int
) -> None:
    seen = np.zeros(size, dtype=np.int64)
    for i in range(len(first) - 1):
        lengths[i] = _row(first[i], first[i + 1], starts, words, left, row_starts[i], columns, seen, i + 1)


@kernel
def _row(
    begin: int, end: int, starts: Longs, words: Ids, left: Bools, place: int, columns: Ids, seen: Longs, stamp: int
) -> int:
    """Write the words of the lines that are left, each once, from `place` on; returns their number."""
    n = 0
    for line in range(begin, end):
        if left[line]:
            for at in range(starts[line], starts[line + 1]):
                word = words[at]
                if seen[word] != stamp:
                    seen[word] = stamp
                    columns[place + n] = word
                    n += 1
    return n


@inner_kernel
def _has(starts: Longs, words: Ids, line: int, cue: int) -> bool:
    for at in range(starts[line], starts[line + 1]):
        if words[at] >= cue:
            return bool(words[at] == cue)
    return False


@kernel
def _suppress(
    first: Longs, places: Longs, starts: Longs, words: Ids, left: Bools, cue: int, kind: int, changed: Bools
) -> None:
    """Suppress the lines of all instances that a rule covers."""
    cued = np.zeros(len(places), dtype=np.bool_)
    for i in range(len(first) - 1):
        begin, end = first[i], first[i + 1]
        some = False
        for line in range(begin, end):
            cued[line] = left[line] and _has(starts, words, line, cue)
            some = some or cued[line]
        if not some:
            continue
        earliest, latest = -1, -1
        for line in range(begin, end):
            if cued[line]:
                earliest = line if earliest < 0 else earliest
                latest = line
        for line in range(begin, end):
            if not left[line]:
                continue
            covered = (kind == 1 and line > earliest) or (kind == 3 and line < latest)
            if kind == 0:
                other = line - 1
                while other >= begin and places[line] - places[other] <= _NEAR:
                    covered = covered or cued[other]
                    other -= 1
            if kind == 2:
                other = line + 1
                while other < end and places[other] - places[line] <= _NEAR:
                    covered = covered or cued[other]
                    other += 1
            if covered:
                left[line] = False
                changed[i] = True


@kernel
def score_rule(
    first: Longs, places: Longs, starts: Longs, words: Ids, left: Bools, row_starts: Longs, lengths: Longs,
    columns: Ids, labels: Longs, costs: Floats, judged: Bools, weights: Floats, cue: int, kind: int, tolerance: float,
    most: int,
) -> float:  # fmt: skip
    """How probable the labels of the judged instances are after a rule, on average; -1 if it changes nothing.

    Lines, vectors and weights are copied; those of instances without the cue are as they were, and the fit starts from
    the weights without the rule.
    """
    now = left.copy()
    changed = np.zeros(len(first) - 1, dtype=np.bool_)
    _suppress(first, places, starts, words, now, cue, kind, changed)
    if not changed.any():
        return -1.0
    new_lengths, new_columns, new_weights = lengths.copy(), columns.copy(), weights.copy()
    seen = np.zeros(len(weights), dtype=np.int64)
    for i in range(len(changed)):
        if changed[i]:
            new_lengths[i] = _row(first[i], first[i + 1], starts, words, now, row_starts[i], new_columns, seen, i + 1)
    descend(row_starts, new_lengths, new_columns, labels, costs, new_weights, tolerance, most)
    return mean_probability(row_starts, new_lengths, new_columns, labels, judged, new_weights)


@kernel
def mean_probability(
    starts: Longs, lengths: Longs, columns: Ids, labels: Longs, judged: Bools, weights: Floats
) -> float:
    """The mean probability of the labels of the judged instances."""
    row = np.empty(weights.shape[1])
    total, n = 0.0, 0
    for i in range(len(labels)):
        if judged[i]:
            probabilities(columns, starts[i], starts[i] + lengths[i], weights, row)
            total += row[labels[i]]
            n += 1
    return total / max(n, 1)
