"""Context automata as extractors: one pass over a text collects what fills their slots.

At every occurrence of a trigger, its automaton starts reading; at a slot transition, the slot takes 1 to L words, the
fewest after which a right boundary of the automaton follows in the same sentence; it takes no quotation marks or
brackets. What was read is the *pattern* (`analyst at -ENT- and`); what the slot took is the *candidate*.

Candidates are trimmed: a word is droppable (D) if it is a stop word, a number, a single letter or not capitalized, else
kept (K); the entity is the longest part that matches K [D K]* K or is one K. A candidate without K is not an entity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Ids, Ints, Keys
from weft.features.index import FeatureIndex
from weft.hashing import hash_string, join
from weft.kernel import kernel
from weft.lexical.growth.automata import TokenAutomaton
from weft.lexical.growth.token_store import EDGE, SLOT, Piece, TokenStore
from weft.progress import track

_IN_NAMES = frozenset(".,'’&-/")


class Match(NamedTuple):
    """Matches in a piece of text, one entry each."""

    automaton: Ints  # index of the automaton
    trigger: Ints  # position of the trigger
    first: Ints  # first word of the slot
    end: Ints  # one past its last word


class Matcher:
    """Many automata as flat arrays; `limits[a]` is the maximum number of words in the slot of automaton `a`.

    `barrier[w]` says whether a slot must not take word `w`.

    >>> automaton = TokenAutomaton.induce([[9, 8, SLOT, 7], [9, 8, SLOT, 6]])
    >>> matcher = Matcher([automaton], [5], barrier=np.zeros(12, dtype=bool))
    >>> text = Piece(np.array([5, 9, 8, 3, 4, 7, 9, 8, 4, 3], dtype=np.int32), np.array([0, 6, 10]))
    >>> [array.tolist() for array in matcher.scan(text)]
    [[0], [1], [3], [5]]
    """

    def __init__(self, automata: Sequence[TokenAutomaton], limits: Sequence[int], barrier: Bools) -> None:
        usable = [i for i, automaton in enumerate(automata) if automaton.state(SLOT) >= 0]
        order = sorted(usable, key=lambda i: (int(automata[i].labels[automata[i].start]), i))
        triggers = np.array([automata[i].labels[automata[i].start] for i in order], dtype=np.int64)
        self.numbers = np.array(order, dtype=np.int64)
        self._limits = np.array([limits[i] for i in order], dtype=np.int64)
        self._by_word = np.searchsorted(triggers, np.arange(len(barrier) + 1)).astype(np.int64)
        self._barrier = barrier
        steps, starts, rights, right_bounds = [0], [], [], [0]
        labels: list[Ints] = []
        targets: list[Ints] = []
        slots: list[Bools] = []
        total = 0
        for i in order:
            automaton = automata[i]
            slot = automaton.state(SLOT)
            ending = automaton.successors(slot)
            rights.append(automaton.labels[ending[automaton.ends[ending] > 0]])
            right_bounds.append(right_bounds[-1] + len(rights[-1]))
            starts.append(total + automaton.start)
            literal = automaton.targets != slot
            sizes = np.bincount(automaton.sources[literal], minlength=automaton.n_states)
            steps += (steps[-1] + np.cumsum(sizes)).tolist()
            labels.append(automaton.labels[automaton.targets[literal]])
            targets.append(automaton.targets[literal] + total)
            slots.append(np.bincount(automaton.sources[~literal], minlength=automaton.n_states) > 0)
            total += automaton.n_states
        self._starts = np.array(starts, dtype=np.int64)
        self._steps = np.array(steps, dtype=np.int64)
        self._labels, self._targets = _joined(labels), _joined(targets)
        self._slots = np.concatenate([np.zeros(0, dtype=bool), *slots])
        self._rights, self._right_bounds = _joined(rights), np.array(right_bounds, dtype=np.int64)
        self._longest = max((automata[i].longest for i in order), default=0)

    def scan(self, piece: Piece) -> Match:
        """All matches in a piece of text, in text order."""
        arrays = (
            self._by_word, self._starts, self._limits, self._steps, self._labels, self._targets, self._slots,
            self._rights, self._right_bounds, self._longest, self._barrier, piece.tokens, piece.sentences,
        )  # fmt: skip
        rows = np.empty((max(64, len(piece.tokens) // 16), 4), dtype=np.int64)
        count = _scan(*arrays, rows)
        if count > len(rows):
            rows = np.empty((count, 4), dtype=np.int64)
            _scan(*arrays, rows)
        rows = rows[:count]
        return Match(self.numbers[rows[:, 0]], rows[:, 1], rows[:, 2], rows[:, 3])


def droppable(words: Sequence[str], stop_words: Collection[str] = (), capitalized: bool = True) -> Bools:
    """Whether each word may be dropped from the ends of a candidate.

    >>> droppable(["The", "the", "University", "1999", "-", "I'm", "O'Hara", "CD4"], {"the"}).tolist()
    [True, True, False, True, True, True, False, False]
    """
    return np.array([
        word.lower() in stop_words
        or word[:1].isdigit()
        or _too_short(word)
        or (capitalized and not word[0].isupper())
        for word in words
    ], dtype=bool)  # fmt: skip


def barriers(words: Sequence[str]) -> Bools:
    """Which words cannot be part of a name: marks other than those of abbreviations and compounds.

    >>> barriers(["Smith", ".", "&", "-", "!", '"', "("]).tolist()
    [False, False, False, False, True, True, True]
    """
    return np.array([not (set(word) <= _IN_NAMES or any(map(str.isalnum, word))) for word in words], dtype=bool)


def _too_short(word: str) -> bool:
    """Whether a word has no letters, or only one before an ending: I, I'm, but not O'Hara."""
    return not any(map(str.isalpha, word)) or len(word) == 1 or (word[1] in "'’" and word[2:].islower())


def trim(words: Sequence[str], stop_words: Collection[str] = (), capitalized: bool = True) -> tuple[str, ...]:
    """The entity within a candidate, or () if there is none.

    >>> trim("the University of California".split())
    ('University', 'of', 'California')
    >>> trim("in 1999 the".split())
    ()
    """
    kept = np.flatnonzero(~droppable(words, stop_words, capitalized))
    return tuple(words[kept[0] : kept[-1] + 1]) if len(kept) else ()


@dataclass
class Extractions:
    """Which patterns extracted which entities: rows of `patterns` and `entities`, distinct pairs."""

    patterns: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)  # group and tokens, in reading direction
    entities: list[tuple[int, ...]] = field(default_factory=list)
    of_pattern: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    of_entity: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    counts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # number of occurrences of each pair


class Group(NamedTuple):
    """The automata of one class and one side of the slot; `right` automata read sentences backwards."""

    automata: Sequence[TokenAutomaton]
    limit: int
    right: bool


def extract(store: TokenStore, groups: Sequence[Group], drop: Bools, workers: int = 1) -> Extractions:
    """Run the automata of all groups over a text and trim what they extract; threads scan the pieces of text."""
    barrier = barriers(store.words)
    sides = [right for right in (False, True) if any(group.right == right for group in groups)]
    owners = [
        [(g, a) for g, group in enumerate(groups) if group.right == right for a in group.automata] for right in sides
    ]
    matchers = [Matcher([a for _, a in owned], [groups[g].limit for g, _ in owned], barrier) for owned in owners]
    group_of = [np.array([g for g, _ in owned], dtype=np.int64) for owned in owners]
    gathered = _Gathered()

    def scan(number: int) -> list[tuple[Piece, Ints, Ints, Keys]]:
        forward = store.piece(number)
        results = []
        for right, matcher, group in zip(sides, matchers, group_of, strict=True):
            piece = forward.reversed() if right else forward
            match = matcher.scan(piece)
            places, keys = _trimmed(match, group[match.automaton], piece, store.keys, drop, right)
            results.append((piece, places, group[match.automaton], keys))
        return results

    with ThreadPoolExecutor(workers) as pool:
        for results in track(pool.map(scan, range(len(store))), "extracting", total=len(store), unit="pieces"):
            for right, (piece, places, group, keys) in zip(sides, results, strict=True):
                gathered.add(piece, places, group, keys, right)
    return gathered.result()


class _Gathered:
    """Distinct patterns, entities and pairs, numbered in order of appearance."""

    def __init__(self) -> None:
        self._patterns, self._entities, self._pairs = FeatureIndex(), FeatureIndex(), FeatureIndex()
        self._all = Extractions()
        self._of_pattern: list[Ids] = []
        self._of_entity: list[Ids] = []

    def add(self, piece: Piece, places: Ints, groups: Ints, keys: Keys, right: bool) -> None:
        """Add matches: positions (trigger, slot, end of slot, entity, end of entity), keys of pattern and entity."""
        kept = places[:, 3] < places[:, 4]
        places, groups, keys = places[kept], groups[kept], keys[kept]
        patterns = self._patterns.add(np.ascontiguousarray(keys[:, 0]))
        for i in _new(patterns, len(self._all.patterns)):
            trigger, slot, end = places[i, :3].tolist()
            last = self._behind(piece, end)
            tokens = (*piece.tokens[trigger:slot].tolist(), SLOT, last)
            self._all.patterns.append((int(groups[i]), tokens))
        entities = self._entities.add(np.ascontiguousarray(keys[:, 1]))
        for i in _new(entities, len(self._all.entities)):
            tokens = tuple(piece.tokens[places[i, 3] : places[i, 4]].tolist())
            self._all.entities.append(tokens[::-1] if right else tokens)
        before = len(self._pairs)
        pairs = self._pairs.add(np.ascontiguousarray(keys[:, 2]))
        new = _new(pairs, before)
        self._of_pattern.append(patterns[new])
        self._of_entity.append(entities[new])

    def _behind(self, piece: Piece, end: int) -> int:
        at = int(np.searchsorted(piece.sentences, end))
        ends = at < len(piece.sentences) and piece.sentences[at] == end
        return EDGE if ends else int(piece.tokens[end])

    def result(self) -> Extractions:
        self._all.of_pattern = np.concatenate([np.zeros(0, dtype=np.int64), *self._of_pattern])
        self._all.of_entity = np.concatenate([np.zeros(0, dtype=np.int64), *self._of_entity])
        self._all.counts = self._pairs.counts.astype(np.int64)
        return self._all


def _new(rows: Ids, known: int) -> Ints:
    """The first positions of rows not seen before, by row."""
    fresh = np.flatnonzero(rows >= known)
    _, first = np.unique(rows[fresh], return_index=True)
    return fresh[first]


def _trimmed(match: Match, groups: Ints, piece: Piece, keys: Keys, drop: Bools, right: bool) -> tuple[Ints, Keys]:
    places = np.column_stack([match.trigger, match.first, match.end, match.first, match.end]).astype(np.int64)
    out = np.empty((len(places), 3), dtype=np.uint64)
    _trim_and_key(places, groups, piece.tokens, piece.sentences, keys, drop, right, _SALT, out)
    return places, out


def _joined(parts: Iterable[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


_SALT = np.uint64(hash_string("context pattern"))


@kernel
def _scan(
    by_word: Ints,
    starts: Ints,
    limits: Ints,
    steps: Ints,
    labels: Ints,
    targets: Ints,
    slots: Bools,
    rights: Ints,
    right_bounds: Ints,
    longest: int,
    barrier: Bools,
    tokens: Ids,
    sentences: Ints,
    found: Ints,
) -> int:
    """Store as many matches as fit and count all."""
    count = 0
    for s in range(len(sentences) - 1):
        stop = sentences[s + 1]
        for i in range(sentences[s], stop):
            for a in range(by_word[tokens[i]], by_word[tokens[i] + 1]):
                state, at, read = starts[a], i, 1
                while state >= 0:
                    if slots[state]:
                        for end in range(at + 2, min(at + 1 + limits[a], stop) + 1):
                            if barrier[tokens[end - 1]]:
                                break
                            after = tokens[end] if end < stop else EDGE
                            if _search(rights, right_bounds[a], right_bounds[a + 1], after) >= 0:
                                if count < len(found):
                                    found[count, 0], found[count, 1] = a, i
                                    found[count, 2], found[count, 3] = at + 1, end
                                count += 1
                                break
                    at += 1
                    read += 1
                    if at >= stop or read + 2 > longest:
                        break
                    e = _search(labels, steps[state], steps[state + 1], tokens[at])
                    state = targets[e] if e >= 0 else -1
    return count


@kernel
def _search(values: Ints, low: int, high: int, wanted: int) -> int:
    """The index of a number in ascending numbers, or -1."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else -1


@kernel
def _trim_and_key(
    places: Ints,
    groups: Ints,
    tokens: Ids,
    sentences: Ints,
    keys: Keys,
    drop: Bools,
    right: bool,
    salt: np.uint64,
    out: Keys,
) -> None:
    """Narrow columns 3 and 4 of the positions to the entity, and compute the keys of pattern, entity and pair."""
    s = 0
    for i in range(len(places)):
        trigger, slot, end = places[i, 0], places[i, 1], places[i, 2]
        while sentences[s + 1] <= trigger:
            s += 1
        key = join(salt, np.uint64(groups[i]))
        for j in range(trigger, slot):
            key = join(key, keys[tokens[j]])
        key = join(key, keys[SLOT])
        out[i, 0] = join(key, keys[tokens[end]] if end < sentences[s + 1] else keys[EDGE])
        first, last = slot, end
        while first < last and drop[tokens[first]]:
            first += 1
        while last > first and drop[tokens[last - 1]]:
            last -= 1
        places[i, 3], places[i, 4] = first, last
        key = salt
        for j in range(last - first):
            key = join(key, keys[tokens[last - 1 - j if right else first + j]])
        out[i, 1] = key
        out[i, 2] = join(out[i, 0], key)
