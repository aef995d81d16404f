"""Kernels that turn words, trees and candidates into the features of triggers, of arguments and of pairs of both.

Words of a batch are numbered through; trees are given as the head of every word, -1 for a root or no tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Halves, Ints, Keys
from weft.hashing import join
from weft.kernel import inlined, kernel
from weft.tasks.events.templates import BETWEEN, CHILD, PAIR_ATOMS, TRIGGER_ATOMS, WORD_ATOMS

_HALF = np.uint64(32)
_ZERO = np.uint64(0)
_EDGE = np.uint64(0x5E17)
_UP, _DOWN = np.uint64(3), np.uint64(5)
LOWER, STEM, TAG, REL, NORM = (WORD_ATOMS.index(name) for name in ("lower", "prefix5", "tag", "rel", "norm"))
LEMMA, SYNSET = WORD_ATOMS.index("lemma"), WORD_ATOMS.index("synset")
_WORDS = len(WORD_ATOMS)
_OF_TRIGGER, _OF_PAIR = len(TRIGGER_ATOMS), len(PAIR_ATOMS)
#: Longest path in a tree, and most words between, that are told one by one.
DEEP, FAR = 40, 12
_CLOSE, _SHORT = 4, 6


class Words(NamedTuple):
    """The words of a batch."""

    atoms: Keys  # [word, atom]
    heads: Ints  # numbers of words, -1
    first: Ints  # of every word the first word of its sentence
    end: Ints
    punctuation: NDArray[np.uint8]
    clauses: NDArray[np.uint8]  # whether the relation of a word begins a clause


class Spans(NamedTuple):
    """Candidates: their words, heads and types, and the type as a key."""

    start: Ints
    end: Ints
    head: Ints
    kind: NDArray[np.int32]
    name: Keys


@inlined
def _bin(n: int) -> int:
    if n <= 5:
        return n
    if n <= 10:
        return 6 + (n > 7)
    return 8 + (n > 15) + (n > 25)


@kernel
def _value(words: Words, own: Keys, word: int, atom: int, offset: int) -> np.uint64:
    """An atom of the word at an offset, or one of the trigger or pair itself."""
    if atom >= _WORDS:
        return own[atom - _WORDS]
    at = word + offset
    if at < words.first[word] or at >= words.end[word]:
        return _EDGE + np.uint64(abs(offset))
    return words.atoms[at, atom]


@kernel
def _fire(words: Words, own: Keys, word: int, templates: NDArray[np.int16], out: Halves, count: int) -> int:
    """Write the features of all templates; atoms that are absent leave a 0 in the place of the feature."""
    for t in range(len(templates)):
        h = np.uint64(t + 1)
        there = True
        for a in range(3):
            atom = templates[t, a, 0]
            if atom < 0:
                break
            value = _value(words, own, word, atom, templates[t, a, 1])
            if value == _ZERO:
                there = False
                break
            h = join(h, value)
        out[count] = _short(h) if there else np.uint32(0)
        count += 1
    return count


@inlined
def _short(h: np.uint64) -> np.uint32:
    key = np.uint32(join(h, _UP) >> _HALF)
    return key if key != 0 else np.uint32(1)


@inlined
def _set_key(kind: int, value: np.uint64, other: np.uint64) -> np.uint32:
    return _short(join(join(np.uint64(kind), value), other))


@inlined
def synonymous(words: Words, one: int, other: int) -> bool:
    """Whether two words begin alike or are of one synset."""
    synset = words.atoms[one, SYNSET]
    return words.atoms[one, STEM] == words.atoms[other, STEM] or (
        synset != _ZERO and synset == words.atoms[other, SYNSET]
    )


@kernel
def path_between(words: Words, one: int, other: int, up: Ints, down: Ints) -> tuple[int, int]:
    """The words from one word up to the common ancestor, with it, and from the other one; -1 if there is no path."""
    n = 0
    at = one
    while at >= 0 and n < DEEP:
        up[n] = at
        n += 1
        at = words.heads[at]
    m = 0
    at = other
    while at >= 0 and m < DEEP:
        down[m] = at
        m += 1
        for k in range(n):
            if up[k] == at:
                return k + 1, m
        at = words.heads[at]
    return -1, -1


@kernel
def _near(words: Words, spans: Spans, first: int, end: int, word: int) -> tuple[int, int]:
    """The nearest candidate of a word, -1 if there is none, and how far it is."""
    best, far = -1, 1 << 30
    for c in range(first, end):
        gap = _gap(spans, c, word)
        if gap < far:
            best, far = c, gap
    return best, far


@inlined
def _gap(spans: Spans, c: int, word: int) -> int:
    if word >= spans.end[c]:
        return word - spans.end[c] + 1
    if word < spans.start[c]:
        return spans.start[c] - word
    return 0


@kernel
def _path_key(words: Words, up: Ints, n: int, down: Ints, m: int, lexical: bool) -> np.uint64:
    h = np.uint64(17)
    for k in range(n - 1):
        h = join(join(h, _UP), words.atoms[up[k], REL])
        if lexical and k > 0:
            h = join(h, words.atoms[up[k], LEMMA])
    if lexical:
        h = join(h, words.atoms[up[n - 1], LEMMA])
    for k in range(m - 2, -1, -1):
        h = join(join(h, _DOWN), words.atoms[down[k], REL])
        if lexical and k > 0:
            h = join(h, words.atoms[down[k], LEMMA])
    return h


@kernel
def label_features(
    words: Words, spans: Spans, first: int, end: int, word: int, templates: NDArray[np.int16], out: Halves, count: int
) -> int:
    """Write the features of a trigger; candidates `first:end` are those of its sentence."""
    own = np.zeros(_OF_TRIGGER, np.uint64)
    up, down = np.zeros(DEEP, np.int64), np.zeros(DEEP, np.int64)
    head = words.heads[word]
    if head >= 0:
        own[0], own[1] = words.atoms[head, LEMMA], words.atoms[head, TAG]
    near, far = _near(words, spans, first, end, word)
    own[5] = np.uint64(1 + min(4, end - first))
    own[2] = own[3] = np.uint64(99)
    if near >= 0:
        own[2] = join(spans.name[near], np.uint64(_bin(far)))
        own[3] = np.uint64(2 if word < spans.start[near] else 1)
        own[4] = words.atoms[spans.head[near], LOWER]
        n, m = path_between(words, word, spans.head[near], up, down)
        if n > 0:
            own[6] = _path_key(words, up, n, down, m, False)
    before, after, left, right = _EDGE, _EDGE, 1 << 30, 1 << 30
    for c in range(first, end):
        gap = _gap(spans, c, word)
        if gap == 0:
            own[9] = spans.name[c]
        elif spans.start[c] > word and gap < right:
            after, right = join(spans.name[c], np.uint64(_bin(gap))), gap
        elif spans.start[c] < word and gap < left:
            before, left = join(spans.name[c], np.uint64(_bin(gap))), gap
    own[7], own[8] = before, after
    count = _fire(words, own, word, templates, out, count)
    return count


@kernel
def child_features(words: Words, word: int, out: Halves, count: int) -> int:
    """Write a few features per child of a word in its tree."""
    for at in range(words.first[word], words.end[word]):
        if words.heads[at] == word and not words.punctuation[at]:
            rel = words.atoms[at, REL]
            out[count] = _set_key(CHILD, rel, _ZERO)
            out[count + 1] = _set_key(CHILD + 1, rel, words.atoms[at, NORM])
            out[count + 2] = _set_key(CHILD + 2, rel, words.atoms[word, STEM])
            out[count + 3] = _set_key(CHILD + 3, words.atoms[at, NORM], words.atoms[word, STEM])
            count += 4
    return count


@kernel
def role_features(
    words: Words, spans: Spans, first: int, end: int, word: int, c: int, templates: NDArray[np.int16], out: Halves,
    count: int,
) -> int:  # fmt: skip
    """Write the features of a trigger and a candidate."""
    own = np.zeros(_OF_PAIR, np.uint64)
    up, down = np.zeros(DEEP, np.int64), np.zeros(DEEP, np.int64)
    head, start, stop = spans.head[c], spans.start[c], spans.end[c]
    gap = _gap(spans, c, word)
    before = start > word  # the trigger stands before the candidate
    own[0], own[1], own[2] = words.atoms[word, LOWER], words.atoms[word, STEM], words.atoms[word, TAG]
    own[3], own[4], own[5] = spans.name[c], words.atoms[head, LOWER], words.atoms[head, TAG]
    own[26] = words.atoms[head, STEM]
    own[6] = np.uint64(1 + _bin(gap))
    own[7] = np.uint64(1 if gap == 0 else (2 if before else 3))
    low, high = (word + 1, start) if before else (stop, word)
    marks, inner, tags = 0, np.uint64(7), np.uint64(7)
    for at in range(low, high):
        marks += words.punctuation[at]
        inner, tags = join(inner, words.atoms[at, NORM]), join(tags, words.atoms[at, TAG])
    own[8] = np.uint64(1 + min(marks, 3))
    closer, same, passed, closer_here = 0, 0, 0, 0
    for other in range(first, end):
        if other != c:
            theirs = _gap(spans, other, word)
            if spans.kind[other] == spans.kind[c]:
                same += 1
                closer += theirs < gap
            if low <= spans.start[other] and spans.end[other] <= high:
                passed += 1
            closer_here += (theirs < gap) and ((spans.start[other] > word) == before)
    own[9] = np.uint64(1 + min(closer, 3))
    own[10] = np.uint64(1 + min(same, 3))
    own[22] = np.uint64(1 + min(passed, 4) + 8 * min(closer_here, 3))
    if high - low <= _CLOSE:
        own[16] = inner
    if high - low <= _SHORT:
        own[23] = tags
    own[17] = words.atoms[start - 1, NORM] if start > words.first[head] else _EDGE
    own[18] = words.atoms[stop, NORM] if stop < words.end[head] else _EDGE
    own[20] = words.atoms[word + 1, NORM] if word + 1 < words.end[word] else _EDGE
    own[21] = words.atoms[word - 1, NORM] if word > words.first[word] else _EDGE
    own[25] = np.uint64(2 if words.first[word] == words.first[head] else (1 if before else 3))
    n, m = path_between(words, word, head, up, down)
    if n > 0:
        own[11] = _path_key(words, up, n, down, m, False)
        own[12] = np.uint64(1 + _bin(n + m - 2))
        own[13] = _path_key(words, up, n, down, m, True)
        own[14] = words.atoms[up[n - 1], LEMMA]
        own[15] = np.uint64(1 + min(n, 6) + 8 * min(m, 6))
        clauses = 0
        for k in range(n - 1):
            clauses += words.clauses[up[k]]
        for k in range(m - 1):
            clauses += words.clauses[down[k]]
        own[19] = np.uint64(1 + min(clauses, 2))
        if n > 1:
            own[24] = join(words.atoms[up[0], REL], _UP)
        elif m > 1:
            own[24] = join(words.atoms[down[m - 2], REL], _DOWN)
    count = _fire(words, own, word, templates, out, count)
    if high - low <= FAR and words.first[word] == words.first[head]:
        for at in range(low, high):
            out[count] = _set_key(BETWEEN, words.atoms[at, NORM], own[7])
            out[count + 1] = _set_key(BETWEEN + 1, words.atoms[at, NORM], own[1])
            count += 2
    return count


@kernel
def contexts_of(words: Words, one: int, other: int, out: Halves, at: int) -> None:
    """Contexts of two words, the first of which stands first: always, their path or distance, the words between."""
    up, down = np.zeros(DEEP, np.int64), np.zeros(DEEP, np.int64)
    out[at] = 1
    n, m = path_between(words, one, other, up, down)
    if n > 0:
        out[at + 1] = _short(_path_key(words, up, n, down, m, False))
    else:
        out[at + 1] = np.uint32(2 + _bin(max(0, other - one)))
    out[at + 2] = _between(words, one + 1, other)


@kernel
def _between(words: Words, low: int, high: int) -> np.uint32:
    if high - low > _CLOSE:
        return np.uint32(0)
    h = np.uint64(7)
    for at in range(low, high):
        h = join(h, words.atoms[at, LOWER])
    return _short(h)


@kernel
def joint_of(words: Words, spans: Spans, a: int, b: int, out: Halves, at: int) -> int:
    """Contexts of two candidates, their path and the words between; returns how they overlap, 0 if they do not."""
    up, down = np.zeros(DEEP, np.int64), np.zeros(DEEP, np.int64)
    n, m = path_between(words, spans.head[a], spans.head[b], up, down)
    if n > 0:
        out[at] = _short(_path_key(words, up, n, down, m, False))
    low, high = min(spans.end[a], spans.end[b]), max(spans.start[a], spans.start[b])
    out[at + 1] = _between(words, low, high) if low <= high else np.uint32(0)
    if high >= low:
        return 0
    same_start, same_end = spans.start[a] == spans.start[b], spans.end[a] == spans.end[b]
    if same_start and same_end:
        return 1
    if same_start:
        return 2
    if same_end:
        return 3
    inside = (spans.start[a] < spans.start[b]) == (spans.end[a] > spans.end[b])
    return 4 if inside else 5
