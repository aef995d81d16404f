"""BLEU from sufficient statistics, which add up over sentences.

    BLEU = min(1, exp(1 - r / c)) * (prod over n <= 4 of matches_n / total_n) ^ (1/4)

A row of statistics holds the matches and totals of n-grams of 1 to 4 words, the length c of the translation, and the
length r of the reference that is nearest to it. Sentences are scored with one added to all counts and to r, minus what
a translation of this length without any match would get (Nakov et al. 2012), so that long ones are not preferred.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.kernel import kernel

ORDER = 4
#: Columns of statistics: matches, totals, the length, the reference's length.
WIDTH = 2 * ORDER + 2


def statistics(words: Ids, offsets: Ints, references: Sequence[Ids]) -> Ints:
    """The statistics of translations of one sentence, a row each; translation k is words[offsets[k]:offsets[k + 1]].

    >>> statistics(np.array([1, 2, 1], np.int32), np.array([0, 3]), [np.array([1, 2, 3, 4], np.int32)]).tolist()
    [[2, 1, 0, 0, 3, 2, 1, 0, 3, 4]]
    """
    found = np.zeros((len(offsets) - 1, WIDTH), np.int64)
    text = np.concatenate([np.asarray(each, np.int32) for each in references])
    ends = np.concatenate([[0], np.cumsum([len(each) for each in references])]).astype(np.int64)
    _statistics(np.asarray(words, np.int32), np.asarray(offsets, np.int64), text, ends, found)
    return found


@kernel
def _statistics(words: Ids, offsets: Ints, references: Ids, ends: Ints, out: Ints) -> None:
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        length = end - begin
        out[row, 8] = length
        nearest = ends[1] - ends[0]
        for r in range(len(ends) - 1):
            size = ends[r + 1] - ends[r]
            if abs(size - length) < abs(nearest - length) or (
                abs(size - length) == abs(nearest - length) and size < nearest
            ):
                nearest = size
        out[row, 9] = nearest
        for n in range(1, 5):
            out[row, 3 + n] = max(0, length - n + 1)
            for i in range(begin, end - n + 1):
                before = 0  # equal n-grams of the translation so far
                for k in range(begin, i):
                    same = True
                    for m in range(n):
                        if words[k + m] != words[i + m]:
                            same = False
                            break
                    before += same
                for r in range(len(ends) - 1):
                    times = 0
                    for k in range(ends[r], ends[r + 1] - n + 1):
                        same = True
                        for m in range(n):
                            if references[k + m] != words[i + m]:
                                same = False
                                break
                        times += same
                    if times > before:
                        out[row, n - 1] += 1
                        break


def corpus_bleu(sums: Ints | Floats) -> Floats:
    """BLEU (0 to 1) of rows of summed statistics, of which there may be any number.

    >>> corpus_bleu(np.array([[4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [4, 3, 2, 1, 4, 3, 2, 1, 4, 8]])).round(3).tolist()
    [1.0, 0.368]
    """
    rows = np.asarray(sums, np.float64)
    matches, totals = rows[..., :ORDER], rows[..., ORDER : 2 * ORDER]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(matches / totals).sum(axis=-1) / ORDER
        short = np.minimum(0.0, 1.0 - rows[..., 9] / rows[..., 8])
        found = np.exp(precision + short)
    possible: Floats = np.where((matches > 0).all(axis=-1), found, 0.0)
    return possible


def sentence_bleu(rows: Ints | Floats) -> Floats:
    """Grounded and smoothed BLEU of single sentences, one per row of statistics.

    >>> sentence_bleu(np.array([[4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [0, 0, 0, 0, 4, 3, 2, 1, 4, 4]])).round(3).tolist()
    [0.543, 0.0]
    """
    rows = np.asarray(rows, np.float64)
    matches, totals = rows[..., :ORDER], rows[..., ORDER : 2 * ORDER]
    short = np.minimum(0.0, 1.0 - (rows[..., 9] + 1.0) / np.maximum(rows[..., 8], 1e-9))
    base = np.log(totals + 1.0).sum(axis=-1) / ORDER
    found: Floats = np.exp(short - base) * (np.exp(np.log(matches + 1.0).sum(axis=-1) / ORDER) - 1.0)
    return found
