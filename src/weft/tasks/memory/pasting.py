"""What came before: parts of a match that are pasted in ahead of the search, which translates the rest.

frame   (Koehn and Senellart 2010)   the match's translation; what belongs to words that differ is taken out, and
        the differing words of the sentence are put in its place to be translated
inlay   (Ma et al. 2011)             the sentence; phrases that the match has, too, are given its translations
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from weft.infer.decoding.options import Options
from weft.tasks.memory.counterparts import MatchedSentence, Span
from weft.tasks.translation.sentences import PHRASES, WORDS

#: What a place of a frame is: a span of the match's translation that stays, or a word of the sentence.
Item = Span | int


def frame(match: MatchedSentence) -> list[Item]:
    """The places of a frame.

    >>> match = MatchedSentence([1, 8, 3], [1, 2, 3], [11, 12, 13, 14], [(0, 0), (1, 1), (2, 3)], 2 / 3)
    >>> frame(match)
    [(0, 1), 1, (2, 4)]
    """
    linked = [[j for i, j in match.links if i == place] for place in range(len(match.source))]
    removed, put = set[int](), dict[int, list[int]]()
    at = 0  # after the translation of the last word that matches
    for words, places in differences(match):
        if words is None:
            ends = [j for place in places for j in linked[place]]
            at = max(ends) + 1 if ends else at
            continue
        gone = sorted(j for place in places for j in linked[place])
        removed.update(gone)
        put.setdefault(gone[0] if gone else at, []).extend(words)
    items: list[Item] = []
    for j in range(len(match.target) + 1):
        items.extend(put.get(j, ()))
        if j == len(match.target) or j in removed:
            continue
        last = items[-1] if items else None
        if isinstance(last, tuple) and last[1] == j:
            items[-1] = (last[0], j + 1)
        else:
            items.append((j, j + 1))
    return items


def differences(match: MatchedSentence) -> list[tuple[list[int] | None, list[int]]]:
    """Words of the sentence and of the match's source side in order: None and a place where they are the same."""
    found: list[tuple[list[int] | None, list[int]]] = []
    words: list[int] = []
    places: list[int] = []
    other = 0
    for own, place in [*enumerate(match.edits), (len(match.words), len(match.source))]:
        if place < 0:
            words.append(own)
            continue
        places.extend(range(other, place))
        other = place + 1
        if own < len(match.words) and match.words[own] != match.source[place]:
            words.append(own)
            places.append(place)
            continue
        if words or places:
            found.append((words, places))
            words, places = [], []
        if own < len(match.words):
            found.append((None, [place]))
    return found


def frame_options(options: Options, match: MatchedSentence) -> Options:
    """The options of a frame: its spans as they are, and all options for neighbouring words of the sentence."""
    items = frame(match)
    place = {item: at for at, item in enumerate(items) if isinstance(item, int)}
    rows, starts, ends = [], [], []
    for o, (start, end) in enumerate(zip(options.start.tolist(), options.end.tolist(), strict=True)):
        places = [place.get(word) for word in range(start, end)]
        known = [at for at in places if at is not None]
        if len(known) == len(places) and all(b == a + 1 for a, b in pairwise(known)):
            rows.append(o)
            starts.append(known[0])
            ends.append(known[-1] + 1)
    chosen = options.take(np.array(rows, np.int64))
    moved = Options(
        len(items), np.array(starts, np.int32), np.array(ends, np.int32), chosen.offsets, chosen.words, chosen.scores,
        chosen.names, chosen.pair, chosen.sparse_offsets, chosen.sparse_ids, chosen.sparse_values,
    )  # fmt: skip
    fixed = [
        (at, at + 1, list(match.target[item[0] : item[1]])) for at, item in enumerate(items) if isinstance(item, tuple)
    ]
    return _joined(moved, fixed)


def inlay(match: MatchedSentence) -> list[tuple[Span, Span]]:
    """Phrases of the sentence that the match has, too, and their translations there; as long as they can be."""
    found = []
    begin, n = 0, len(match.words)
    while begin < n:
        end = begin
        while end < n and _same(match, begin, end):
            end += 1
        while end > begin:
            part = match.counterpart(begin, end)
            if part.core is not None:
                found.append(((begin, end), part.core))
                break
            end -= 1
        begin = max(end, begin + 1)
    return found


def _same(match: MatchedSentence, begin: int, at: int) -> bool:
    """Whether a word continues a phrase that the match has, too."""
    place = match.edits[at]
    if place < 0 or match.words[at] != match.source[place]:
        return False
    return at == begin or match.edits[at - 1] + 1 == place


def inlay_options(options: Options, match: MatchedSentence) -> Options:
    """The options of a sentence with inlays: nothing else may translate their words."""
    fixed = inlay(match)
    closed = np.zeros(options.length + 1, np.int64)
    for (start, end), _ in fixed:
        closed[start:end] = 1
    before = np.concatenate([[0], np.cumsum(closed)])
    free = before[options.end] == before[options.start]
    rows = [(*span, list(match.target[there[0] : there[1]])) for span, there in fixed]
    return _joined(options.take(free), rows)


def _joined(options: Options, fixed: Sequence[tuple[int, int, list[int]]]) -> Options:
    """Options with those that are given: a phrase each, of so many words, without any other score."""
    scores = np.zeros((len(fixed), len(options.names)))
    scores[:, options.names.index(PHRASES)] = 1.0
    scores[:, options.names.index(WORDS)] = [len(words) for _, _, words in fixed]
    return Options.joined([options, Options.of(options.length, fixed, scores, options.names)])
