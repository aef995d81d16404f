"""Features of candidate boundaries as 64-bit keys.

Around a boundary: characters and their classes up to five on each side, alone and as runs; the parts of chunks (what
stands between blanks) on both sides, their shapes, and the chunks beside them; the word before it without its marks and
the word behind it; quotation marks and brackets still open; and known tokens that end, begin or go on here, which take
the place of a list of abbreviations and, in scripts without blanks, of a dictionary.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints, Keys
from weft.features.characters import (
    IS_UNSPACED,
    IS_UPPER,
    IS_WORD,
    NEWLINE,
    PARAGRAPH,
    SPACE,
    CharacterTable,
    Classes,
    Codes,
)
from weft.hashing import avalanche, join
from weft.kernel import kernel
from weft.tasks.segmentation.boundaries import Candidates, Squeezed, squeeze

#: Longest part of a word, and most segments of a dictionary entry, that features look at.
REACH = 24
ENTRY_SEGMENTS = 6
#: Features of one boundary at most.
WIDTH = 60
_STRING, _SHAPE = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)


def entry_key(entry: str, table: CharacterTable) -> int:
    """The key of a dictionary entry, as features look it up."""
    text = squeeze(entry, table)
    return int(_string_key(text.codes, 0, len(text.codes), table.lower))


def feature_keys(
    text: Squeezed, candidates: Candidates, table: CharacterTable, entries: Keys, spaced: bool
) -> tuple[Keys, Ints]:
    """Keys of the features of candidates, with offsets.

    `entries` are the sorted keys of known tokens that hold candidates inside; `spaced` says that some hold blanks.
    """
    count = len(candidates.left)
    match = np.zeros((3, count + 1), dtype=np.int64)
    _match(
        text.codes, text.classes, candidates.left, candidates.right, candidates.paragraph, candidates.bounds,
        entries, spaced, table.lower, match,
    )  # fmt: skip
    keys = np.empty(count * WIDTH, dtype=np.uint64)
    offsets = np.zeros(count + 1, dtype=np.int64)
    size = _features(
        text.codes, text.classes, candidates.left, candidates.right, candidates.paragraph, candidates.bounds,
        table.lower, match, IS_WORD, IS_UNSPACED, IS_UPPER, keys, offsets,
    )  # fmt: skip
    return keys[:size], offsets


@kernel
def _lower(code: int, lower: Codes) -> int:
    return lower[code] if code < len(lower) else code


@kernel
def _string_key(codes: Codes, first: int, end: int, lower: Codes) -> np.uint64:
    key = _STRING
    for i in range(first, end):
        key = join(key, np.uint64(_lower(codes[i], lower)))
    return key


@kernel
def _shape_key(classes: Classes, first: int, end: int) -> np.uint64:
    """Runs of the same class count once."""
    key = _SHAPE
    last = -1
    for i in range(first, end):
        if classes[i] != last:
            last = classes[i]
            key = join(key, np.uint64(last + 1))
    return key


@kernel
def _is_entry(key: np.uint64, entries: Keys) -> bool:
    low, high = 0, len(entries)
    while low < high:
        middle = (low + high) // 2
        if entries[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(entries) and entries[low] == key


@kernel
def _match(
    codes: Codes,
    classes: Classes,
    lefts: Ints,
    rights: Ints,
    paragraphs: Ints,
    bounds: Ints,
    entries: Keys,
    spaced: bool,
    lower: Codes,
    match: Ints,
) -> None:
    """Longest dictionary entries, in segments between candidates, that end at, begin at or span every candidate."""
    a = 0
    while a < len(lefts):
        paragraph = paragraphs[a]
        b = a
        while b < len(lefts) and paragraphs[b] == paragraph:
            b += 1
        for i in range(b - a):  # the last segment cannot begin an entry of several
            begin = rights[a + i - 1] if i else bounds[2 * paragraph]
            reached = begin
            key = _STRING
            for j in range(i, min(b - a, i + ENTRY_SEGMENTS - 1) + 1):
                end = lefts[a + j] + 1 if j < b - a else bounds[2 * paragraph + 1]
                if end - begin > REACH:
                    break
                blank = False
                for k in range(reached, end):
                    blank |= classes[k] <= PARAGRAPH
                    key = join(key, np.uint64(_lower(codes[k], lower)))
                if blank and not spaced:
                    break
                reached = end
                if j > i and _is_entry(key, entries):
                    if i:
                        match[1, a + i - 1] = j - i + 1
                    if j < b - a:
                        match[0, a + j] = max(match[0, a + j], j - i + 1)
                    for k in range(a + i, a + j):
                        match[2, k] = max(match[2, k], j - i + 1)
        a = b


@kernel
def _features(
    codes: Codes,
    classes: Classes,
    lefts: Ints,
    rights: Ints,
    paragraphs: Ints,
    bounds: Ints,
    lower: Codes,
    match: Ints,
    is_word: NDArray[np.bool_],
    is_unspaced: NDArray[np.bool_],
    is_upper: NDArray[np.bool_],
    keys: Keys,
    offsets: Ints,
) -> int:
    size = 0
    code = np.zeros(12, dtype=np.uint64)  # six characters on the left, six on the right
    kind = np.zeros(12, dtype=np.uint64)
    before = -1  # paragraph of the last candidate
    quotes, open_brackets, scanned, words = 0, 0, 0, 0
    for c in range(len(lefts)):
        left, right = lefts[c], rights[c]
        first, end = bounds[2 * paragraphs[c]], bounds[2 * paragraphs[c] + 1]
        if paragraphs[c] != before:
            before = paragraphs[c]
            quotes, open_brackets, scanned, words = 0, 0, first, 0
        while scanned <= left:
            if codes[scanned] == 34:
                quotes += 1
            elif codes[scanned] == 40 or codes[scanned] == 91:
                open_brackets += 1
            elif (codes[scanned] == 41 or codes[scanned] == 93) and open_brackets:
                open_brackets -= 1
            elif classes[scanned] == SPACE:
                words += 1
            scanned += 1
        gap = right - left - 1
        if gap and classes[left + 1] == NEWLINE:
            gap = 2
        for k in range(6):
            i, j = left - k, right + k
            code[5 - k] = np.uint64(codes[i]) if i >= first else np.uint64(0)
            kind[5 - k] = np.uint64(classes[i]) + np.uint64(1) if i >= first else np.uint64(0)
            code[6 + k] = np.uint64(codes[j]) if j < end else np.uint64(0)
            kind[6 + k] = np.uint64(classes[j]) + np.uint64(1) if j < end else np.uint64(0)
        base = np.uint64(gap + 1)
        t = size
        l0, r0, kl, kr = code[5], code[6], kind[5], kind[6]
        # Characters: single ones, runs that end or begin here, runs around the boundary.
        keys[t] = join(join(join(base, np.uint64(1)), kl), kr)
        for k in range(1, 6):
            keys[t + k] = join(join(base, np.uint64(1 + k)), code[5 - k])
        for k in range(5):
            keys[t + 6 + k] = join(join(base, np.uint64(10 + k)), code[6 + k])
        t += 11
        key, mirror = join(base, np.uint64(20)), join(base, np.uint64(21))
        for k in range(5):
            key, mirror = join(key, code[5 - k]), join(mirror, code[6 + k])
            if k:
                keys[t], keys[t + 1] = key, mirror
                t += 2
        key = join(join(join(base, np.uint64(22)), l0), r0)
        keys[t] = key
        keys[t + 1] = join(key, code[4])
        keys[t + 2] = join(join(key, code[7]), np.uint64(1))
        keys[t + 3] = join(join(join(key, code[4]), code[7]), np.uint64(2))
        keys[t + 4] = join(join(join(key, code[4]), code[3]), np.uint64(3))
        keys[t + 5] = join(join(join(key, code[7]), code[8]), np.uint64(4))
        keys[t + 6] = join(join(join(base, np.uint64(50)), code[4]), r0)
        keys[t + 7] = join(join(join(base, np.uint64(51)), l0), code[7])
        t += 8
        # Classes of characters.
        key = join(join(join(join(join(base, np.uint64(23)), kind[4]), kl), kr), kind[7])
        keys[t] = key
        key = join(join(key, kind[3]), kind[8])
        keys[t + 1] = key
        keys[t + 2] = join(join(key, kind[2]), kind[9])
        keys[t + 3] = join(join(join(join(join(base, np.uint64(24)), kl), kind[4]), kind[3]), kind[2])
        keys[t + 4] = join(join(join(join(join(base, np.uint64(25)), kr), kind[7]), kind[8]), kind[9])
        t += 5
        # Dictionary entries.
        ending, starting, spanning = match[0, c], match[1, c], match[2, c]
        if ending + starting + spanning:
            keys[t] = join(join(base, np.uint64(26)), np.uint64(ending))
            keys[t + 1] = join(join(base, np.uint64(27)), np.uint64(starting))
            keys[t + 2] = join(join(base, np.uint64(28)), np.uint64(spanning))
            keys[t + 3] = join(
                join(join(join(base, np.uint64(29)), np.uint64(ending)), np.uint64(starting)), np.uint64(spanning)
            )
            t += 4
        if not (is_unspaced[classes[left]] and is_unspaced[classes[right]]):
            # Parts of chunks between blanks on both sides of the boundary, and the chunks beside them.
            part = left
            while part > first and classes[part - 1] > PARAGRAPH and left - part < REACH:
                part -= 1
            stop = right + 1
            while stop < end and classes[stop] > PARAGRAPH and stop - right < REACH:
                stop += 1
            here = _string_key(codes, part, left + 1, lower)
            there = _string_key(codes, right, stop, lower)
            shape, other_shape = _shape_key(classes, part, left + 1), _shape_key(classes, right, stop)
            keys[t] = join(join(base, np.uint64(30)), here)
            keys[t + 1] = join(join(base, np.uint64(31)), there)
            keys[t + 2] = join(join(join(base, np.uint64(32)), here), there)
            keys[t + 3] = join(join(base, np.uint64(33)), shape)
            keys[t + 4] = join(join(base, np.uint64(34)), other_shape)
            keys[t + 5] = join(join(join(base, np.uint64(35)), shape), other_shape)
            keys[t + 6] = join(join(join(base, np.uint64(36)), here), kr)
            keys[t + 7] = join(join(join(base, np.uint64(37)), there), l0)
            t += 8
            begin = part - 2
            while begin >= first and classes[begin] > PARAGRAPH and part - begin < REACH:
                begin -= 1
            past = np.uint64(0)
            if part > first and classes[part - 1] <= PARAGRAPH:
                past = _string_key(codes, max(begin + 1, first), part - 1, lower)
            keys[t] = join(join(join(base, np.uint64(38)), past), here)
            finish = stop + 1
            while finish < end and classes[finish] > PARAGRAPH and finish - stop < REACH:
                finish += 1
            future = np.uint64(0)
            next_kind = np.uint64(0)
            if stop + 1 < end and classes[stop] <= PARAGRAPH:
                future = _string_key(codes, stop + 1, finish, lower)
                next_kind = np.uint64(classes[stop + 1]) + np.uint64(1)
            keys[t + 1] = join(join(join(base, np.uint64(39)), there), future)
            lengths = np.uint64(min(left - part, 9) * 10 + min(stop - right, 9))
            keys[t + 2] = join(join(join(join(base, np.uint64(40)), lengths), kl), kr)
            t += 3
            if gap:
                keys[t] = join(join(base, np.uint64(52)), past)
                keys[t + 1] = join(join(base, np.uint64(53)), future)
                keys[t + 2] = join(join(join(join(base, np.uint64(54)), past), here), there)
                keys[t + 3] = join(join(join(join(base, np.uint64(55)), here), there), future)
                t += 4
            # The word before, without the marks behind it, and the word behind.
            tail = left
            while tail > part and not is_word[classes[tail]]:
                tail -= 1
            head = tail
            while head > part and is_word[classes[head - 1]]:
                head -= 1
            word = _string_key(codes, head, tail + 1, lower)
            lead = right
            while lead < stop - 1 and not is_word[classes[lead]]:
                lead += 1
            rest = lead + 1
            while rest < stop and is_word[classes[rest]]:
                rest += 1
            follower = _string_key(codes, lead, rest, lower)
            capital = np.uint64(is_upper[classes[lead]]) * np.uint64(2) + np.uint64(is_upper[classes[head]])
            keys[t] = join(join(join(join(base, np.uint64(41)), word), l0), kr)
            keys[t + 1] = join(join(join(join(base, np.uint64(42)), follower), l0), capital)
            keys[t + 2] = join(join(join(base, np.uint64(43)), word), follower)
            size_of_word = np.uint64(min(tail - head, 6))
            keys[t + 3] = join(join(join(join(join(base, np.uint64(44)), size_of_word), l0), kr), capital)
            keys[t + 4] = join(join(join(join(base, np.uint64(45)), kl), capital), next_kind)
            t += 5
            # Quotation marks and brackets still open, and how far the paragraph has come.
            state = np.uint64((quotes & 1) * 2 + (open_brackets > 0))
            keys[t] = join(join(join(join(base, np.uint64(46)), state), l0), r0)
            keys[t + 1] = join(join(join(join(base, np.uint64(47)), state), kl), kr)
            ahead = np.uint64(min(end - right, 12) // 3)
            keys[t + 2] = join(join(join(join(base, np.uint64(48)), np.uint64(min(words, 6))), ahead), kl)
            t += 3
        for k in range(size, t):
            keys[k] = avalanche(keys[k])
        size = t
        offsets[c + 1] = size
    return size
