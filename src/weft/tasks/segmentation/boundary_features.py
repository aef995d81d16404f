"""Features of candidate boundaries as 64-bit keys.

Features read the characters around a boundary and their classes, the chunks between spaces and the words next to it,
open quotation marks and brackets, and known tokens that end, start or continue here. Known tokens serve as a list of
abbreviations and, in scripts without spaces, as a dictionary. The templates are data
(`weft.tasks.segmentation.boundary_templates`); the kernels here compute the values of atoms and combine them.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Ints, Keys
from weft.features.characters import (
    IS_UNSPACED,
    IS_UPPER,
    IS_WORD,
    MARK_KIND,
    MARK_KINDS,
    NEWLINE,
    PARAGRAPH,
    SPACE,
    CharacterTable,
    Classes,
    Codes,
)
from weft.hashing import avalanche, join
from weft.kernel import inner_kernel, kernel
from weft.tasks.segmentation.boundaries import (
    BLANK,
    LINE,
    LINE_REACH,
    NO_GAP,
    Candidates,
    Squeezed,
    line_at,
    squeeze,
)
from weft.tasks.segmentation.boundary_templates import (
    AHEAD,
    BEFORE,
    BLANKS,
    CAPITALS,
    ENDING,
    EVERYWHERE,
    FIRST,
    FOLLOWER,
    GROUPS,
    HERE,
    HERE_SHAPE,
    KNOWN_TOKENS,
    LEFT,
    LEFT_CLASS,
    LENGTHS,
    LINE_ENDS,
    LINE_LENGTH,
    MARK,
    N_CHARACTERS,
    N_CLASSES,
    NEXT,
    NEXT_CLASS,
    NEXT_LINE,
    OPEN,
    PREVIOUS,
    RIGHT,
    RIGHT_CLASS,
    ROOM,
    SPACED,
    SPACED_GAPS,
    SPACED_WORDS,
    SPANNING,
    STARTING,
    THERE,
    THERE_SHAPE,
    WORD,
    WORD_LENGTH,
    Program,
    compile_templates,
)

#: Limits on the length of a chunk's part and on the segments of a dictionary entry in features.
REACH = 24
ENTRY_SEGMENTS = 6
#: Steps in which lengths of lines and of the space left in them are counted.
_LENGTH_STEPS, _ROOM_STEPS = (8, 16, 24, 34, 46, 60, 75, 100, LINE_REACH), (0, 4, 10, 24)
#: Limit for the previous chunk; it includes the space after the chunk and the character before it.
_PREVIOUS_REACH = REACH - 2
#: Maximum number of features per boundary.
WIDTH = sum(map(len, GROUPS.values()))
_STRING, _SHAPE = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
#: Counts of marks before a boundary, and the position up to which they were scanned.
_QUOTES, _BRACKETS, _SPACES, _SCANNED = range(4)
_CLOSES = 4  # among the kinds of marks
_QUOTE, _OPENING, _CLOSING = ord('"'), (ord("("), ord("[")), (ord(")"), ord("]"))


class _Text(NamedTuple):
    """A text as the kernels read it: characters, their classes, and properties of characters and classes."""

    codes: Codes
    classes: Classes
    lower: Codes
    is_word: Bools
    is_unspaced: Bools
    is_upper: Bools
    mark_kind: Ints


class _Room(NamedTuple):
    """Scratch space: values of atoms and of nodes, which groups apply, counts of marks."""

    values: Keys
    nodes: Keys
    applies: Bools
    marks: Ints


def entry_key(entry: str, table: CharacterTable) -> int:
    """The key under which features look up a dictionary entry."""
    text = squeeze(entry, table)
    return int(_string_key(text.codes, 0, len(text.codes), table.lower))


def feature_keys(
    text: Squeezed, candidates: Candidates, table: CharacterTable, entries: Keys, spaced: bool
) -> tuple[Keys, Ints]:
    """Keys of the features of candidates, with offsets.

    `entries` are the sorted keys of known tokens with candidates inside; `spaced` tells whether some contain spaces.
    """
    count = len(candidates.left)
    match = np.zeros((3, count + 1), dtype=np.int64)
    _match(
        text.codes, text.classes, candidates.left, candidates.right, candidates.paragraph, candidates.bounds,
        entries, spaced, table.lower, match,
    )  # fmt: skip
    keys = np.empty(count * WIDTH, dtype=np.uint64)
    offsets = np.zeros(count + 1, dtype=np.int64)
    seen = _Text(text.codes, text.classes, table.lower, IS_WORD, IS_UNSPACED, IS_UPPER, MARK_KIND)
    program = _program()
    room = _Room(
        program.values.copy(),
        program.nodes.copy(),
        np.zeros(len(program.groups) - 1, dtype=np.bool_),
        np.zeros(4, dtype=np.int64),
    )
    size = _features(seen, candidates, match, program, room, keys, offsets)
    return keys[:size], offsets


@cache
def _program() -> Program:
    return compile_templates(GROUPS)


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
    """The key of a shape, in which runs of the same class count once."""
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
        for i in range(b - a):  # the last segment cannot start a longer entry
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


@inner_kernel
def _features(
    text: _Text, candidates: Candidates, match: Ints, program: Program, room: _Room, keys: Keys, offsets: Ints
) -> int:
    """Write the keys of all candidates and return how many there are."""
    size = 0
    values, nodes, applies, marks = room.values, room.nodes, room.applies, room.marks
    applies[EVERYWHERE] = True
    before = -1  # paragraph of the last candidate
    for c in range(len(candidates.left)):
        left, right, paragraph = candidates.left[c], candidates.right[c], candidates.paragraph[c]
        first, end = candidates.bounds[2 * paragraph], candidates.bounds[2 * paragraph + 1]
        if paragraph != before:
            before = paragraph
            marks[:] = 0
            marks[_SCANNED] = first
        _scan_marks(text.codes, text.classes, left, marks)
        gap = NO_GAP if right == left + 1 else LINE if text.classes[left + 1] == NEWLINE else BLANK
        _set_characters(text.codes, text.classes, left, right, first, end, values)
        values[ENDING], values[STARTING], values[SPANNING] = match[0, c], match[1, c], match[2, c]
        applies[KNOWN_TOKENS] = match[0, c] + match[1, c] + match[2, c] > 0
        spaced = not (text.is_unspaced[text.classes[left]] and text.is_unspaced[text.classes[right]])
        applies[SPACED] = applies[SPACED_WORDS] = spaced
        applies[SPACED_GAPS] = spaced and gap != NO_GAP
        applies[LINE_ENDS] = gap == LINE
        if gap == LINE:
            _set_lines(text.classes, left, right, first, end, values)
        if spaced or gap == LINE:  # the templates of line ends read words and marks too
            start, stop = _set_chunks(text.codes, text.classes, text.lower, left, right, first, end, values)
            _set_words(text, left, right, start, stop, values)
            values[OPEN] = (marks[_QUOTES] & 1) * 2 + (marks[_BRACKETS] > 0)
            values[BLANKS] = min(marks[_SPACES], 6)
            values[AHEAD] = min(end - right, 12) // 3
        for group in range(len(applies)):
            if applies[group]:
                sources = program.sources[gap if group == LINE_ENDS else min(gap, BLANK)]
                for n in range(program.joins[group], program.joins[group + 1]):
                    nodes[n] = join(nodes[sources[n]], values[program.atoms[n]])
                for t in range(program.groups[group], program.groups[group + 1]):
                    keys[size] = avalanche(nodes[program.ends[t]])
                    size += 1
        offsets[c + 1] = size
    return size


@inner_kernel
def _scan_marks(codes: Codes, classes: Classes, left: int, marks: Ints) -> None:
    """Count quotation marks, open brackets and spaces up to the character on the left of a boundary."""
    for i in range(marks[_SCANNED], left + 1):
        code = codes[i]
        if code == _QUOTE:
            marks[_QUOTES] += 1
        elif code in _OPENING:
            marks[_BRACKETS] += 1
        elif code in _CLOSING and marks[_BRACKETS]:
            marks[_BRACKETS] -= 1
        elif classes[i] == SPACE:
            marks[_SPACES] += 1
    marks[_SCANNED] = max(marks[_SCANNED], left + 1)


@inner_kernel
def _set_characters(codes: Codes, classes: Classes, left: int, right: int, first: int, end: int, values: Keys) -> None:
    """Characters and, counted from 1, classes on both sides; 0 outside the paragraph."""
    for k in range(N_CHARACTERS):
        i, j = left - k, right + k
        values[LEFT + k] = codes[i] if i >= first else 0
        values[RIGHT + k] = codes[j] if j < end else 0
        if k < N_CLASSES:
            values[LEFT_CLASS + k] = classes[i] + 1 if i >= first else 0
            values[RIGHT_CLASS + k] = classes[j] + 1 if j < end else 0


@inner_kernel
def _set_chunks(
    codes: Codes, classes: Classes, lower: Codes, left: int, right: int, first: int, end: int, values: Keys
) -> tuple[int, int]:
    """Set the parts of chunks on both sides and the adjacent chunks; return where the parts start and end."""
    start = _chunk_start(classes, left, first, REACH)
    stop = _chunk_end(classes, right, end)
    values[HERE] = _string_key(codes, start, left + 1, lower)
    values[THERE] = _string_key(codes, right, stop, lower)
    values[HERE_SHAPE] = _shape_key(classes, start, left + 1)
    values[THERE_SHAPE] = _shape_key(classes, right, stop)
    values[LENGTHS] = min(left - start, 9) * 10 + min(stop - right, 9)
    values[PREVIOUS] = values[NEXT] = values[NEXT_CLASS] = values[BEFORE] = 0
    if start > first and classes[start - 1] <= PARAGRAPH:
        values[BEFORE] = (NEWLINE if classes[start - 1] == NEWLINE else classes[start - 2]) + 1
        previous = _chunk_start(classes, start - 1, first, _PREVIOUS_REACH)
        values[PREVIOUS] = _string_key(codes, previous, start - 1, lower)
    if stop + 1 < end and classes[stop] <= PARAGRAPH:
        values[NEXT] = _string_key(codes, stop + 1, _chunk_end(classes, stop, end), lower)
        values[NEXT_CLASS] = classes[stop + 1] + 1
    return start, stop


@inner_kernel
def _chunk_start(classes: Classes, at: int, first: int, reach: int) -> int:
    """The start of the run of non-space characters before `at`."""
    start = at
    while start > first and classes[start - 1] > PARAGRAPH and at - start < reach:
        start -= 1
    return start


@inner_kernel
def _chunk_end(classes: Classes, at: int, end: int) -> int:
    """The end of the run of non-space characters after `at`."""
    stop = at + 1
    while stop < end and classes[stop] > PARAGRAPH and stop - at < REACH:
        stop += 1
    return stop


@inner_kernel
def _set_lines(classes: Classes, left: int, right: int, first: int, end: int, values: Keys) -> None:
    """Set the lengths of the lines on both sides of a line end, and the space that the next chunk would have found."""
    start, stop, room = line_at(classes, left, right, first, end)
    values[LINE_LENGTH] = _step(left + 1 - start, _LENGTH_STEPS)
    values[NEXT_LINE] = _step(stop - right, _LENGTH_STEPS)
    values[ROOM] = _step(room, _ROOM_STEPS)
    values[FIRST] = classes[start] + 1


@inner_kernel
def _mark(text: _Text, left: int, start: int) -> int:
    """The kind of the mark on the left; behind closing marks, that of the mark before them with a number of its own."""
    kind = text.mark_kind[text.classes[left]]
    if kind != _CLOSES:
        return kind
    at = left
    while at > start and text.mark_kind[text.classes[at]] == _CLOSES:
        at -= 1
    return _CLOSES + text.mark_kind[text.classes[at]] * len(MARK_KINDS)


@inner_kernel
def _step(value: int, steps: tuple[int, ...]) -> int:
    """The number of steps up to a value."""
    count = 0
    for step in steps:
        count += value >= step
    return count


@inner_kernel
def _set_words(text: _Text, left: int, right: int, start: int, stop: int, values: Keys) -> None:
    """Set the last word on the left and the first word on the right, without surrounding punctuation."""
    classes, is_word = text.classes, text.is_word
    last = left
    while last > start and not is_word[classes[last]]:
        last -= 1
    head = last
    while head > start and is_word[classes[head - 1]]:
        head -= 1
    lead = right
    while lead < stop - 1 and not is_word[classes[lead]]:
        lead += 1
    rest = lead + 1
    while rest < stop and is_word[classes[rest]]:
        rest += 1
    values[WORD] = _string_key(text.codes, head, last + 1, text.lower)
    values[FOLLOWER] = _string_key(text.codes, lead, rest, text.lower)
    values[WORD_LENGTH] = min(last - head, 6)
    values[MARK] = _mark(text, left, start)
    values[CAPITALS] = text.is_upper[classes[lead]] * 2 + text.is_upper[classes[head]]
