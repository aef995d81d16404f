"""Features of a mention and a candidate antecedent, or of a mention that begins a new entity; scores and gradients.

Every base feature is a 64-bit key and appears in two versions: joined with the type of the current mention, and with
the types of both mentions (Durrett, Hall and Klein 2013). Types are NOMINAL, PROPER, and one for each pronoun
regardless of case. Keys are hashed into a table of weights. `codes` adds features that systems compute themselves: one
number per candidate and column, -1 for none.

Kernels compute features anew whenever they need them, so that a novel takes no more memory than its mentions do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Keys
from weft.hashing import hash_strings, join
from weft.kernel import inlined, inner_kernel, kernel
from weft.tasks.coreference.table import (
    ACRONYM,
    APPOSED,
    ARTICLE,
    END,
    ENTER,
    GENDER,
    GOVERNOR,
    HEAD,
    HEAD_FORM,
    INITIALS,
    KIND,
    LEAVE,
    PREDICATE,
    QUOTED,
    RELATIVE,
    ROLE,
    SENTENCE,
    SPEAKER,
    START,
    STRING,
    TALK,
    TYPE,
    UP_ENTER,
    UP_LEAVE,
    MentionTable,
)

_NAMES = (
    "new", "linked", "article", "mentions between", "sentences between", "commands", "roles", "nested", "appositive",
    "role appositive", "predicate", "relative", "acronym", "head match", "head inside", "head around", "string match",
    "string inside", "string around", "relaxed head", "value", "value before", "values", "speaker", "code", "word",
    "word before", "last",
)  # fmt: skip
_KEYS = hash_strings(_NAMES)
(
    _NEW, _LINKED, _ARTICLE, _MENTIONS, _SENTENCES, _COMMANDS, _ROLES, _NESTED, _APPOSITIVE, _ROLE_APPOSITIVE,
    _PREDICATE, _RELATIVE, _ACRONYM, _HEAD_MATCH, _HEAD_INSIDE, _HEAD_AROUND, _STRING_MATCH, _STRING_INSIDE,
    _STRING_AROUND, _RELAXED, _VALUE, _VALUE_BEFORE, _VALUES, _SPEAKER, _CODE, _WORD, _WORD_BEFORE, _LAST,
) = (np.uint64(key) for key in _KEYS)  # fmt: skip
_FARTHEST = 10
#: At most so many features per candidate, without codes.
MOST = 120
#: Which groups of features there are, as bits.
PHI, LEXICAL = 1, 2


def scores_of(
    table: MentionTable, offsets: Ints, antecedents: Ints, codes: Ints, weights: Floats, groups: int
) -> Floats:
    """The scores of all candidates: those of mention i are `offsets[i]:offsets[i + 1]`; -1 begins a new entity."""
    scores = np.zeros(len(antecedents))
    buffer = np.zeros(MOST + 4 * codes.shape[1], dtype=np.uint64)
    _score(*_arrays(table), offsets, antecedents, codes, weights, groups, buffer, scores)
    return scores


def features_of(table: MentionTable, current: int, antecedent: int, codes: Ints, groups: int) -> Keys:
    """The keys of the features of one candidate."""
    buffer = np.zeros(MOST + 4 * len(codes), dtype=np.uint64)
    count = _features(current, antecedent, *_arrays(table), codes, groups, buffer)
    return buffer[:count].copy()


def scatter(
    table: MentionTable, offsets: Ints, antecedents: Ints, codes: Ints, coefficients: Floats, groups: int,
    gradient: Floats, touched: Ints, marks: NDArray[np.uint8], count: int,
) -> int:  # fmt: skip
    """Add coefficients times features to a gradient; lists the weights touched, and gives their number."""
    buffer = np.zeros(MOST + 4 * codes.shape[1], dtype=np.uint64)
    return int(
        _scatter(*_arrays(table), offsets, antecedents, codes, coefficients, groups, buffer, gradient, touched, marks,
                 count)
    )  # fmt: skip


def _arrays(table: MentionTable) -> tuple[Ints, Keys, Ints, Ints, Ints, Keys]:
    return table.numbers, table.keys, table.words, table.content, table.offsets, table.lexical


@kernel
def _score(
    numbers: Ints, keys: Keys, words: Ints, content: Ints, bounds: Ints, lexical: Keys, offsets: Ints,
    antecedents: Ints, codes: Ints, weights: Floats, groups: int, buffer: Keys, scores: Floats,
) -> None:  # fmt: skip
    mask = np.uint64(len(weights) - 1)
    for i in range(len(offsets) - 1):
        for c in range(offsets[i], offsets[i + 1]):
            count = _features(
                i, antecedents[c], numbers, keys, words, content, bounds, lexical, codes[c], groups, buffer
            )
            total = 0.0
            for k in range(count):
                total += weights[np.int64(buffer[k] & mask)]
            scores[c] = total


@kernel
def _scatter(
    numbers: Ints, keys: Keys, words: Ints, content: Ints, bounds: Ints, lexical: Keys, offsets: Ints,
    antecedents: Ints, codes: Ints, coefficients: Floats, groups: int, buffer: Keys, gradient: Floats, touched: Ints,
    marks: NDArray[np.uint8], count: int,
) -> int:  # fmt: skip
    mask = np.uint64(len(gradient) - 1)
    for i in range(len(offsets) - 1):
        for c in range(offsets[i], offsets[i + 1]):
            if coefficients[c] == 0.0:
                continue
            n = _features(i, antecedents[c], numbers, keys, words, content, bounds, lexical, codes[c], groups, buffer)
            for k in range(n):
                slot = np.int64(buffer[k] & mask)
                if marks[slot] == 0:
                    marks[slot] = 1
                    touched[count] = slot
                    count += 1
                gradient[slot] += coefficients[c]
    return count


@inner_kernel
def code_key(current: np.uint64, other: np.uint64, linked: bool, k: int, code: int, version: int) -> np.uint64:
    """The key of a code in one of its two versions, for systems that look weights up as they decide."""
    kind = join(_LAST, current)
    both = join(kind, _NEW)
    if linked:
        both = join(join(kind, _LINKED), other)
        kind = join(kind, _LINKED)
    base = join(join(_CODE, np.uint64(k + 1)), np.uint64(code + 1))
    return join(base, kind if version == 0 else both)


@inlined
def _put(base: np.uint64, kind: np.uint64, both: np.uint64, buffer: Keys, n: int) -> int:
    """Both versions of a base feature; the table takes the low bits, so they are mixed well."""
    buffer[n] = join(base, kind)
    buffer[n + 1] = join(base, both)
    return n + 2


@inner_kernel
def _features(
    i: int, j: int, numbers: Ints, keys: Keys, words: Ints, content: Ints, bounds: Ints, lexical: Keys, codes: Ints,
    groups: int, buffer: Keys,
) -> int:  # fmt: skip
    kind = join(_LAST, keys[i, TYPE])
    n = 0
    if j < 0:
        both = join(kind, _NEW)
        n = _put(_NEW, kind, both, buffer, n)
        n = _put(join(_ARTICLE, keys[i, ARTICLE]), kind, both, buffer, n)
        if groups & PHI:
            for k in range(4):
                value = np.uint64(numbers[i, GENDER + k] + 2 + 16 * k)
                n = _put(join(_VALUE, value), kind, both, buffer, n)
        if groups & LEXICAL:
            for k in range(lexical.shape[1]):
                n = _put(join(_WORD, lexical[i, k]), kind, both, buffer, n)
    else:
        both = join(join(kind, _LINKED), keys[j, TYPE])
        kind = join(kind, _LINKED)
        n = _put(_LINKED, kind, both, buffer, n)
        n = _put(join(_ARTICLE, keys[i, ARTICLE]), kind, both, buffer, n)
        n = _place(i, j, numbers, keys, kind, both, buffer, n)
        n = _match(i, j, numbers, words, content, bounds, kind, both, buffer, n)
        if groups & PHI:
            for k in range(4):
                mine, other = np.uint64(numbers[i, GENDER + k] + 2 + 16 * k), np.uint64(numbers[j, GENDER + k] + 2)
                n = _put(join(_VALUE, mine), kind, both, buffer, n)
                n = _put(join(_VALUE_BEFORE, join(other, np.uint64(k + 1))), kind, both, buffer, n)
                n = _put(join(_VALUES, join(mine, other)), kind, both, buffer, n)
        if groups & LEXICAL:
            for k in range(lexical.shape[1]):
                n = _put(join(_WORD, lexical[i, k]), kind, both, buffer, n)
                n = _put(join(_WORD_BEFORE, lexical[j, k]), kind, both, buffer, n)
    for k in range(len(codes)):
        if codes[k] >= 0:
            base = join(join(_CODE, np.uint64(k + 1)), np.uint64(codes[k] + 1))
            n = _put(base, kind, both, buffer, n)
    return n


@inner_kernel
def _place(i: int, j: int, numbers: Ints, keys: Keys, kind: np.uint64, both: np.uint64, buffer: Keys, n: int) -> int:
    """Distance, syntax and discourse."""
    n = _put(join(_MENTIONS, np.uint64(min(i - j, _FARTHEST))), kind, both, buffer, n)
    far = min(max(numbers[i, SENTENCE] - numbers[j, SENTENCE], 0), _FARTHEST)
    n = _put(join(_SENTENCES, np.uint64(far + 1)), kind, both, buffer, n)
    n = _put(join(_ROLES, join(keys[i, ROLE], keys[j, ROLE])), kind, both, buffer, n)
    if far == 0:
        above = numbers[j, UP_ENTER] <= numbers[i, ENTER] < numbers[j, UP_LEAVE]
        below = numbers[j, ENTER] <= numbers[i, ENTER] < numbers[j, LEAVE]
        if above and not below:
            n = _put(_COMMANDS, kind, both, buffer, n)
        if numbers[j, END] >= numbers[i, END] or (
            numbers[j, START] == numbers[i, START] and numbers[i, END] >= numbers[j, END]
        ):
            n = _put(_NESTED, kind, both, buffer, n)
        if numbers[i, APPOSED] > 0 and numbers[i, GOVERNOR] == numbers[j, HEAD]:
            n = _put(_APPOSITIVE, kind, both, buffer, n)
        if numbers[j, GOVERNOR] == numbers[i, HEAD] and numbers[j, END] <= numbers[i, HEAD] and numbers[i, KIND] == 1:
            n = _put(_ROLE_APPOSITIVE, kind, both, buffer, n)
        if numbers[i, PREDICATE] == numbers[j, HEAD] or numbers[j, PREDICATE] == numbers[i, HEAD]:
            n = _put(_PREDICATE, kind, both, buffer, n)
        if numbers[i, RELATIVE] == numbers[j, HEAD]:
            n = _put(_RELATIVE, kind, both, buffer, n)
    same = 2
    if numbers[i, SPEAKER] >= 0 and numbers[j, SPEAKER] >= 0:
        same = 1 if numbers[i, SPEAKER] == numbers[j, SPEAKER] else 0
    quotes = 3 * (2 * numbers[i, QUOTED] + numbers[j, QUOTED]) + same
    return _put(join(_SPEAKER, np.uint64(2 * quotes + numbers[i, TALK] + 1)), kind, both, buffer, n)


@inner_kernel
def _match(
    i: int, j: int, numbers: Ints, words: Ints, content: Ints, bounds: Ints, kind: np.uint64, both: np.uint64,
    buffer: Keys, n: int,
) -> int:  # fmt: skip
    """Strings that agree; pronouns only match whole strings."""
    if numbers[i, STRING] == numbers[j, STRING]:
        n = _put(_STRING_MATCH, kind, both, buffer, n)
    if numbers[i, KIND] == 2 or numbers[j, KIND] == 2:
        return n
    if (numbers[i, INITIALS] >= 0 and numbers[i, INITIALS] == numbers[j, ACRONYM]) or (
        numbers[j, INITIALS] >= 0 and numbers[j, INITIALS] == numbers[i, ACRONYM]
    ):
        n = _put(_ACRONYM, kind, both, buffer, n)
    match = numbers[i, HEAD_FORM] == numbers[j, HEAD_FORM]
    if match:
        n = _put(_HEAD_MATCH, kind, both, buffer, n)
    inside = _holds(numbers[i, HEAD_FORM], j, words, bounds)
    if inside:
        n = _put(_HEAD_INSIDE, kind, both, buffer, n)
        if _runs(i, j, words, bounds):
            n = _put(_STRING_INSIDE, kind, both, buffer, n)
        if _covered(i, j, words, content, bounds):
            n = _put(_RELAXED, kind, both, buffer, n)
    if _holds(numbers[j, HEAD_FORM], i, words, bounds):
        n = _put(_HEAD_AROUND, kind, both, buffer, n)
        if _runs(j, i, words, bounds):
            n = _put(_STRING_AROUND, kind, both, buffer, n)
    return n


@inlined
def _holds(form: int, j: int, words: Ints, bounds: Ints) -> bool:
    """Whether mention j has a word of that form."""
    found = False
    for k in range(bounds[j], bounds[j + 1]):
        if words[k] == form:
            found = True
    return found


@inner_kernel
def _runs(i: int, j: int, words: Ints, bounds: Ints) -> bool:
    """Whether the words of mention i are a part of those of mention j, in this order."""
    size = bounds[i + 1] - bounds[i]
    for first in range(bounds[j], bounds[j + 1] - size + 1):
        k = 0
        while k < size and words[first + k] == words[bounds[i] + k]:
            k += 1
        if k == size:
            return True
    return False


@inner_kernel
def _covered(i: int, j: int, words: Ints, content: Ints, bounds: Ints) -> bool:
    """Whether mention j has all words of mention i that carry meaning."""
    for k in range(bounds[i], bounds[i + 1]):
        if content[k] != 0 and not _holds(words[k], j, words, bounds):
            return False
    return True
