"""Scores of phrase pairs: relative frequencies, lexical weights, orientations, and how surprising a pair is.

    p(t|s)    = count(s, t) / count(s)                                  of places of the pair
    lex(t|s)  = prod over words t_j of t of the mean of w(t_j|s_i) over its links, w(t_j|NULL) without any
    w(t|s)    = links of s and t / links of s                           words without links count as links to NULL
    surprise  = -log P(C(s, t) or more common sentences | C(s), C(t), N)    Fisher's exact test

A pair that occurs once, of phrases that occur once, has surprise log N; Johnson et al. (2007) leave out what does not
exceed that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.kernel import inner_kernel, kernel
from weft.ragged import sentence_of
from weft.tasks.translation.phrases import Extraction, Grams

_SMALLEST = 1e-7


class WordTable(NamedTuple):
    """w(t|s) in rows of source words, the last of which is NULL."""

    first: Ints
    words: Ids
    weight: Floats


def word_tables(extraction: Extraction, keep: Bools) -> tuple[WordTable, WordTable]:
    """w(t|s) and w(s|t), from links of the sentences to keep."""
    source, target, links = extraction.source, extraction.target, extraction.links
    of_link = links.sentence()
    at = source.offsets[of_link] + links.source, target.offsets[of_link] + links.target
    chosen = keep[of_link]
    linked = np.zeros(len(source.text), np.bool_), np.zeros(len(target.text), np.bool_)
    linked[0][at[0]], linked[1][at[1]] = True, True
    alone = [
        side.text[~mask & keep[sentence_of(side.offsets)]] for side, mask in zip((source, target), linked, strict=True)
    ]
    s, t = source.text[at[0][chosen]], target.text[at[1][chosen]]
    n_source, n_target = len(source.words), len(target.words)
    forward = _table(np.append(s, np.full(len(alone[1]), n_source)), np.append(t, alone[1]), n_source, n_target)
    backward = _table(np.append(t, np.full(len(alone[0]), n_target)), np.append(s, alone[0]), n_target, n_source)
    return forward, backward


def _table(given: Ids, words: Ids, n_given: int, n_words: int) -> WordTable:
    keys, counts = np.unique(given.astype(np.int64) * max(1, n_words) + words, return_counts=True)
    rows = keys // max(1, n_words)
    total = np.bincount(rows, counts, n_given + 1)
    first = np.searchsorted(rows, np.arange(n_given + 2))
    return WordTable(first.astype(np.int64), (keys % max(1, n_words)).astype(np.int32), counts / total[rows])


@inner_kernel
def _weight(first: Ints, words: Ids, weight: Floats, row: int, word: int) -> float:
    low, high = first[row], first[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low < first[row + 1] and words[low] == word:
        return float(weight[low])
    return 0.0


@kernel
def _lexical(
    first: Ints, words: Ids, weight: Floats, null: int, given_text: Ids, given_at: Ints, given_sizes: Ints,
    text: Ids, text_at: Ints, sizes: Ints, inside: Ints, turned: bool, out: Floats,
) -> None:  # fmt: skip
    """The logarithms of lexical weights of phrases, given by where they begin in their texts and their sizes."""
    for p in range(len(out)):
        total = 0.0
        for j in range(sizes[p]):
            word, mass, links = text[text_at[p] + j], 0.0, 0
            for i in range(given_sizes[p]):
                bit = 7 * j + i if turned else 7 * i + j
                if (inside[p] >> bit) & 1:
                    mass += _weight(first, words, weight, given_text[given_at[p] + i], word)
                    links += 1
            if links == 0:
                mass, links = _weight(first, words, weight, null, word), 1
            total += math.log(max(mass / links, _SMALLEST))
        out[p] = total


class Places(NamedTuple):
    """One place for each of some pairs, with the links that the pair has most often."""

    row: Ints
    inside: Ints


def typical_places(extraction: Extraction, keep: Bools, number: Ints, n: int) -> Places:
    """The first place of every pair with its most frequent links; `number` numbers the pairs, -1 for those left out."""
    rows = np.flatnonzero(keep[extraction.sentence])
    own = number[extraction.pair[rows]]
    rows, own = rows[own >= 0], own[own >= 0]
    order = np.lexsort((extraction.inside[rows], own))
    rows, own = rows[order], own[order]
    inside = extraction.inside[rows]
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = (own[1:] != own[:-1]) | (inside[1:] != inside[:-1])
    begin = np.flatnonzero(starts)
    size = np.diff(np.append(begin, len(rows)))
    ranked = np.lexsort((-size, own[begin]))
    best = ranked[np.searchsorted(own[begin][ranked], np.arange(n))]
    return Places(rows[begin[best]], inside[begin[best]])


def lexical_weights(extraction: Extraction, places: Places, tables: tuple[WordTable, WordTable]) -> Floats:
    """The logarithms of lex(t|s) and lex(s|t), a row per pair."""
    source, target = extraction.source, extraction.target
    spans = extraction.spans[places.row].astype(np.int64)
    at = source.offsets[spans[:, 0]] + spans[:, 1], target.offsets[spans[:, 0]] + spans[:, 3]
    sizes = spans[:, 2] - spans[:, 1], spans[:, 4] - spans[:, 3]
    forward, backward = np.empty(len(spans)), np.empty(len(spans))
    _lexical(
        *tables[0], len(source.words), source.text, at[0], sizes[0], target.text, at[1], sizes[1],
        places.inside, False, forward,
    )  # fmt: skip
    _lexical(
        *tables[1], len(target.words), target.text, at[1], sizes[1], source.text, at[0], sizes[0],
        places.inside, True, backward,
    )  # fmt: skip
    return np.column_stack([forward, backward])


def orientation_table(extraction: Extraction, keep: Bools, number: Ints, n: int, smoothing: float = 0.5) -> Floats:
    """Log probabilities of monotone, swap and discontinuous before and after every pair: six per row.

    `smoothing` is added to each count.
    """
    rows = np.flatnonzero(keep[extraction.sentence])
    own = number[extraction.pair[rows]]
    rows, own = rows[own >= 0], own[own >= 0]
    halves = []
    for kinds in (extraction.before, extraction.after):
        counts = np.bincount(3 * own + kinds[rows], minlength=3 * n).reshape(n, 3) + smoothing
        halves.append(np.log(counts / counts.sum(axis=1, keepdims=True)))
    return np.hstack(halves)


def surprises(extraction: Extraction, keep: Bools, chosen: Ints) -> Floats:
    """How surprising it is that the phrases of chosen pairs occur in as many common sentences as they do."""
    source = extraction.source_grams.sentences_with(extraction.source.offsets, keep)
    target = extraction.target_grams.sentences_with(extraction.target.offsets, keep)
    both = common_sentences(extraction, keep)
    s, t = extraction.pair_source[chosen], extraction.pair_target[chosen]
    found = np.empty(len(chosen))
    _fisher(both[chosen], source[s], target[t], int(keep.sum()), found)
    return found


def common_sentences(extraction: Extraction, keep: Bools) -> Ints:
    """In how many of the sentences to keep both phrases of a pair occur, linked or not; 0 for pairs not seen there."""
    found = np.zeros(extraction.n_pairs, np.int64)
    first = np.searchsorted(extraction.pair_source, np.arange(len(extraction.source_grams.parent) + 1))
    n_source, n_target = len(extraction.source_grams.parent), len(extraction.target_grams.parent)
    _common(
        np.flatnonzero(keep), extraction.source.offsets, extraction.target.offsets, extraction.source_grams.at,
        extraction.target_grams.at, first.astype(np.int64), extraction.pair_target,
        np.full(n_source, -1, np.int32), np.full(n_target, -1, np.int32), found,
    )  # fmt: skip
    return found


@kernel
def _common(
    sentences: Ints, source_offsets: Ints, target_offsets: Ints, source_at: Ids, target_at: Ids, first: Ints,
    pair_target: Ids, source_seen: Ids, target_seen: Ids, found: Ints,
) -> None:  # fmt: skip
    for s in sentences:
        for k in range(len(target_at)):
            for position in range(target_offsets[s], target_offsets[s + 1]):
                if target_at[k, position] >= 0:
                    target_seen[target_at[k, position]] = s
        for k in range(len(source_at)):
            for position in range(source_offsets[s], source_offsets[s + 1]):
                node = source_at[k, position]
                if node < 0 or source_seen[node] == s:
                    continue
                source_seen[node] = s
                for pair in range(first[node], first[node + 1]):
                    if target_seen[pair_target[pair]] == s:
                        found[pair] += 1


@kernel
def _fisher(both: Ints, source: Ints, target: Ints, n: int, out: Floats) -> None:
    """-log of the hypergeometric tail."""
    for p in range(len(out)):
        s, t = source[p], target[p]
        fixed = (
            math.lgamma(s + 1) + math.lgamma(n - s + 1) + math.lgamma(t + 1) + math.lgamma(n - t + 1)
            - math.lgamma(n + 1)
        )  # fmt: skip
        top, total = -np.inf, 0.0
        for k in range(both[p], min(s, t) + 1):
            if n - s - t + k < 0:
                continue
            value = fixed - (
                math.lgamma(k + 1) + math.lgamma(s - k + 1) + math.lgamma(t - k + 1) + math.lgamma(n - s - t + k + 1)
            )
            if value > top:
                total = total * math.exp(top - value) + 1.0 if total > 0 else 1.0
                top = value
            else:
                total += math.exp(value - top)
                if value < top - 40:
                    break
        out[p] = -(top + math.log(total))


def node_words(grams: Grams, nodes: Ids) -> tuple[Ints, Ids]:
    """The words of nodes, one after the other, and where those of each begin."""
    size = np.zeros(len(nodes), np.int64)
    at = nodes.copy()
    while (at > 0).any():
        size += at > 0
        at = np.where(at > 0, grams.parent[at], 0)
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    words = np.empty(offsets[-1], np.int32)
    at, end = nodes.copy(), offsets[1:].copy()
    while (at > 0).any():
        going = np.flatnonzero(at > 0)
        end[going] -= 1
        words[end[going]] = grams.word[at[going]]
        at[going] = grams.parent[at[going]]
    return offsets, words
