"""Candidate boundaries of tokens and sentences, and the labels each of them may have.

A boundary lies between two characters, or spans the whitespace between them. Its label is one of

    INSIDE    the token continues        TOKEN    a token ends          SENTENCE    a token and a sentence end

The classes of the characters on both sides decide most boundaries: nothing ends between two lower-case letters, and a
token ends at the space between them. Only boundaries whose classes occur with several labels in training are
candidates, and only candidates are scored. Nothing ends inside an emoji of several characters, and no sentence where a
line is full, between a lower-case letter or comma and a lower-case letter. An empty line ends the sentence; no feature
reads beyond it, so paragraphs are independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.features.characters import (
    CLASSES,
    COMMA,
    EMOJI,
    FORMAT,
    IS_JOINED,
    LOWER,
    NEWLINE,
    PARAGRAPH,
    SPACE,
    CharacterTable,
    Classes,
    Codes,
    code_points,
)
from weft.kernel import inner_kernel, kernel

Labels = NDArray[np.int8]
Masks = NDArray[np.uint8]

INSIDE, TOKEN, SENTENCE = 0, 1, 2
#: A pair of classes allows a label only if they occur together at least this often ...
RARE_SHARE = 0.002
#: ... rarer pairs of classes allow the labels that are usual for their kind of gap ...
RARE_PAIR = 10
#: ... and line ends count as spaces if the training data has fewer of them than this.
FEW_LINES = 20

#: The gap between the characters of a boundary.
NO_GAP, BLANK, LINE = 0, 1, 2

#: Limits on the length of a line that is looked at, the number of lines before and after it that are looked at too, and
#: the shortest line that may be full.
LINE_REACH, LINES_AROUND, FULL_LINE = 160, 2, 40
#: What makes several characters one emoji: joiners and variation selectors, skin tones, tags and pairs of letters.
_JOINER, _SELECTORS = 0x200D, (0xFE0E, 0xFE0F, 0x20E3)
_TONES, _TAGS, _FLAG_LETTERS = (0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F), (0x1F1E6, 0x1F1FF)


class Squeezed(NamedTuple):
    """A text with each run of whitespace as one symbol: a space, a line end or, for an empty line, a paragraph end."""

    codes: Codes
    classes: Classes
    origin: Codes  # position in the text


class Candidates(NamedTuple):
    """Candidate boundaries in order, with the characters beside them and their paragraphs."""

    left: Ints
    right: Ints
    mask: Masks  # bit y: label y is allowed
    paragraph: Ints  # number of the paragraph
    bounds: Ints  # paragraphs in squeezed characters: first and end, flat


def squeeze(text: str, table: CharacterTable, lines: bool = True) -> Squeezed:
    """Collapse runs of whitespace; with `lines=False`, line ends count as spaces.

    >>> squeezed = squeeze(" a  b\\n\\nc ", CharacterTable())
    >>> "".join(map(chr, squeezed.codes)), squeezed.origin.tolist()
    ('a b\\u2029c', [1, 2, 4, 5, 7])
    """
    codes = code_points(text)
    out = np.empty(len(codes), dtype=np.int32)
    origin = np.empty(len(codes), dtype=np.int32)
    classes = table.classes(codes)
    kept = np.empty(len(codes), dtype=np.uint8)
    size = _squeeze(codes, classes, lines, out, kept, origin)
    return Squeezed(out[:size], kept[:size], origin[:size])


@kernel
def _squeeze(codes: Codes, classes: Classes, lines: bool, out: Codes, kept: Classes, origin: Codes) -> int:
    size = 0
    i = 0
    while i < len(codes):
        if classes[i] > PARAGRAPH:
            out[size] = codes[i]
            kept[size] = classes[i]
            origin[size] = i
            size += 1
            i += 1
            continue
        begin = i
        ends = 0
        while i < len(codes) and classes[i] <= PARAGRAPH:
            if classes[i] == PARAGRAPH:
                ends += 2
            elif classes[i] == NEWLINE and not (codes[i] == 13 and i + 1 < len(codes) and codes[i + 1] == 10):
                ends += 1
            i += 1
        if size == 0 or i == len(codes):
            continue
        if ends > 1:
            out[size], kept[size] = 0x2029, PARAGRAPH
        elif ends == 1 and lines:
            out[size], kept[size] = 10, NEWLINE
        else:
            out[size], kept[size] = 32, SPACE
        origin[size] = begin
        size += 1
    return size


def count_labels(text: Squeezed, ends: NDArray[np.bool_], sentence_ends: NDArray[np.bool_], counts: Ints) -> None:
    """Count labels by class, gap and class; `ends[i]` tells whether a token ends before character i of the text."""
    _count(text.codes, text.classes, text.origin, ends, sentence_ends, counts)


def new_counts() -> Ints:
    """An empty table of counts [class on the left, gap, class on the right, label]."""
    return np.zeros((len(CLASSES), 3, len(CLASSES), 3), dtype=np.int64)


@kernel
def _label(place: int, ends: NDArray[np.bool_], sentence_ends: NDArray[np.bool_]) -> int:
    return SENTENCE if sentence_ends[place] else TOKEN if ends[place] else INSIDE


@kernel
def _count(
    codes: Codes,
    classes: Classes,
    origin: Codes,
    ends: NDArray[np.bool_],
    sentence_ends: NDArray[np.bool_],
    counts: Ints,
) -> None:
    for left in range(len(codes) - 1):
        if classes[left] <= PARAGRAPH or classes[left + 1] == PARAGRAPH:
            continue
        gap = NO_GAP if classes[left + 1] > PARAGRAPH else BLANK if classes[left + 1] == SPACE else LINE
        right = left + 1 if gap == NO_GAP else left + 2
        label = _label(origin[left] + 1, ends, sentence_ends)
        counts[classes[left], gap, classes[right], label] += 1


def allowed_labels(counts: Ints) -> Masks:
    """The allowed labels between two classes, as bits [class, gap, class]: those seen often enough."""
    total = counts.sum(axis=3)
    seen = (counts > 0) & (counts >= RARE_SHARE * total[..., None])
    bits = np.array([1, 2, 4])
    mask = (seen * bits).sum(axis=3)
    usual = np.full(total.shape, 1 << TOKEN | 1 << SENTENCE)
    inside = IS_JOINED[:, None] & IS_JOINED[None, :]
    # Where lines always end sentences, they do so between rare classes too.
    at_lines = counts[:, LINE].sum(axis=(0, 1))
    seen_at_lines = int(bits[at_lines >= np.maximum(1, RARE_SHARE * at_lines.sum())].sum())
    usual[:, LINE] = seen_at_lines & (1 << TOKEN | 1 << SENTENCE) or 1 << TOKEN | 1 << SENTENCE
    usual[:, NO_GAP] = np.where(inside, 1 << INSIDE, 1 << INSIDE | 1 << TOKEN)
    rare = total < RARE_PAIR
    mask[rare] |= usual[rare]
    result: Masks = mask.astype(np.uint8)
    return result


def find_candidates(text: Squeezed, allowed: Masks, decided: Labels) -> Candidates:
    """The boundaries to score; the labels of all others are written to `decided` at the preceding character."""
    size = len(text.codes)
    left, right = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    mask, paragraph = np.empty(size, dtype=np.uint8), np.empty(size, dtype=np.int64)
    bounds = np.zeros(2 * (int((text.classes == PARAGRAPH).sum()) + 1), dtype=np.int64)
    count = _find(text.codes, text.classes, allowed, decided, left, right, mask, paragraph, bounds)
    return Candidates(left[:count], right[:count], mask[:count], paragraph[:count], bounds)


@kernel
def _continues_emoji(codes: Codes, classes: Classes, at: int) -> bool:
    """Whether a character, of class emoji or format, belongs to the emoji or letter before it."""
    code = codes[at]
    if code == _JOINER or code in _SELECTORS or _TONES[0] <= code <= _TONES[1] or _TAGS[0] <= code <= _TAGS[1]:
        return True
    if codes[at - 1] == _JOINER:
        return classes[at] == EMOJI
    letters = 0  # of flags before this character
    while letters <= at and _FLAG_LETTERS[0] <= codes[at - letters] <= _FLAG_LETTERS[1]:
        letters += 1
    return letters > 0 and letters % 2 == 0


@inner_kernel
def line_at(classes: Classes, left: int, right: int, first: int, end: int) -> tuple[int, int, int]:
    """Where the line before a line end starts, where the next line ends, and how many characters the longest line
    around would have left after this line and the first chunk of the next one: below 0, the line is full."""
    start, stop = _line_start(classes, left, first), _line_stop(classes, right, end)
    longest = max(left + 1 - start, stop - right)
    begin, until = start, stop
    for _ in range(LINES_AROUND):
        if begin - 1 > first and classes[begin - 1] == NEWLINE:
            before = _line_start(classes, begin - 2, first)
            longest = max(longest, begin - 1 - before)
            begin = before
        if until + 1 < end and classes[until] == NEWLINE:
            after = _line_stop(classes, until + 1, end)
            longest = max(longest, after - until - 1)
            until = after
    chunk = right
    while chunk < stop and classes[chunk] > PARAGRAPH:
        chunk += 1
    return start, stop, longest - (left + 1 - start) - 1 - (chunk - right)


@inner_kernel
def _line_start(classes: Classes, at: int, first: int) -> int:
    start = at
    while start > first and classes[start - 1] != NEWLINE and at - start < LINE_REACH:
        start -= 1
    return start


@inner_kernel
def _line_stop(classes: Classes, at: int, end: int) -> int:
    stop = at + 1
    while stop < end and classes[stop] != NEWLINE and classes[stop] != PARAGRAPH and stop - at < LINE_REACH:
        stop += 1
    return stop


@kernel
def _find(
    codes: Codes,
    classes: Classes,
    allowed: Masks,
    decided: Labels,
    lefts: Ints,
    rights: Ints,
    masks: Masks,
    paragraphs: Ints,
    bounds: Ints,
) -> int:
    found = 0
    paragraph = 0
    bounds[1] = len(classes)
    for left in range(len(classes)):
        if classes[left] == PARAGRAPH:
            bounds[2 * paragraph + 1] = left
            paragraph += 1
            bounds[2 * paragraph] = left + 1
            bounds[2 * paragraph + 1] = len(classes)
            continue
        if classes[left] < PARAGRAPH:
            continue
        if left + 1 >= len(classes) or classes[left + 1] == PARAGRAPH:
            decided[left] = SENTENCE
            continue
        gap = NO_GAP if classes[left + 1] > PARAGRAPH else BLANK if classes[left + 1] == SPACE else LINE
        right = left + 1 if gap == NO_GAP else left + 2
        mask = allowed[classes[left], gap, classes[right]]
        if gap == NO_GAP and classes[right] in (EMOJI, FORMAT) and _continues_emoji(codes, classes, right):
            mask = 1 << INSIDE
        full = mask >> TOKEN & 1 and classes[right] in LOWER and (classes[left] in LOWER or classes[left] == COMMA)
        if gap == LINE and full:
            start, _, room = line_at(classes, left, right, bounds[2 * paragraph], len(classes))
            if room < 0 and left + 1 - start >= FULL_LINE:
                mask = 1 << TOKEN
        if mask == 1:
            decided[left] = INSIDE
        elif mask == 2:
            decided[left] = TOKEN
        elif mask == 4:
            decided[left] = SENTENCE
        else:
            lefts[found] = left
            rights[found] = right
            masks[found] = mask
            paragraphs[found] = paragraph
            found += 1
    return found


def labels_at(
    text: Squeezed, candidates: Candidates, ends: NDArray[np.bool_], sentence_ends: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """The gold labels of candidates."""
    place = text.origin[candidates.left] + 1
    return np.where(sentence_ends[place], SENTENCE, np.where(ends[place], TOKEN, INSIDE)).astype(np.int32)
