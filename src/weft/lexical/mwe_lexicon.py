"""Lexicons of multiword expressions, matched in sentences with gaps, and the cheapest segmentation with them.

An entry is a sequence of lemmas, some of them variables (`take <something> into account`). A match has one word for
every lemma, in order, with at most `max_gap` words skipped between two of them; a variable is such a gap, nonempty.

Matches form a lattice over the sentence. The segmentation is its shortest path: an expression (a single word or a
match) costs 1, one inside a gap 1.25 (Schneider et al. 2014):

    D[n] = 0,   D[i] = min( 1 + D[i + 1],  min over matches m from i of  1 + 1.25 * sum_gaps G(gap) + D[end(m) + 1] )

where G(gap) is the minimum number of words and gapless matches that fill it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import ConfigError, FormatError
from weft.text.conventions.expressions import Expressions, Group, has_gap

GAP_COST = 1.25
_VARIABLE = ""  # in entries and in the trie
_END = 0  # key of the categories that end at a trie node


class Match(NamedTuple):
    """An entry matched in a sentence: the words that match its lemmas, and the entry's category."""

    words: Group
    category: str = ""


@dataclass(frozen=True)
class Segmentation:
    """A segmented sentence: the chosen matches (including those inside gaps) and the total cost."""

    matches: tuple[Match, ...]
    cost: float

    def expressions(self) -> Expressions:
        """The matches as strong groups: lexicons do not distinguish strengths."""
        return Expressions.of(match.words for match in self.matches)


@dataclass
class MweLexicon:
    """A named list of expressions; entries are space-separated lemmas, with variables written `<something>`.

    >>> lexicon = MweLexicon.of("verbs", ["take <something> into account", "take in"])
    >>> lexicon.matches(["take", "it", "all", "into", "account"], max_gap=2)
    [Match(words=(0, 3, 4), category='')]
    >>> lexicon.matches(["take", "it", "in"], max_gap=1), lexicon.matches(["take", "it", "in"], max_gap=0)
    ([Match(words=(0, 2), category='')], [])
    """

    name: str
    entries: dict[tuple[str, ...], str] = field(default_factory=dict)  # lemmas, "" for a variable; their category
    _trie: dict[Any, Any] = field(default_factory=dict, repr=False)
    _pairs: tuple[int, dict[str, int], Ints] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, name: str, entries: Iterable[str | tuple[str, str]]) -> MweLexicon:
        """A lexicon of entries, or of pairs of an entry and its category; single words are skipped."""
        lexicon = cls(name)
        for entry in entries:
            text, category = (entry, "") if isinstance(entry, str) else entry
            lexicon.add(_lemmas(text), category)
        return lexicon

    def add(self, lemmas: Sequence[str], category: str = "") -> None:
        """Add an entry; an entry keeps its first category."""
        key = tuple(lemmas)
        if sum(lemma != _VARIABLE for lemma in key) < 2 or key in self.entries:
            return
        self.entries[key] = category
        node = self._trie
        for lemma in key:
            node = node.setdefault(lemma, {})
        node[_END] = category

    def __len__(self) -> int:
        return len(self.entries)

    def matches(
        self, lemmas: Sequence[str], max_gap: int = 0, forms: Sequence[str] = (), starts: Sequence[int] | None = None
    ) -> list[Match]:
        """All matches in a sentence, ordered by first word; a word matches by its lemma or its form.

        `starts` are the only words that may be first words, if given.
        """
        pairs = zip(lemmas, forms or lemmas, strict=True)
        words = [(lemma,) if lemma == form else (lemma, form) for lemma, form in pairs]
        return self.matches_of(words, max_gap, range(len(words)) if starts is None else starts)

    def matches_of(self, words: Sequence[tuple[str, ...]], max_gap: int, starts: Iterable[int]) -> list[Match]:
        """All matches that begin at some words of a sentence; a word is given by what matches it, lemma or form."""
        matches: list[Match] = []
        for first in starts:
            for word in words[first]:
                node = self._trie.get(word)
                if node is not None:
                    _walk(node, words, (first,), max_gap, matches)
        return list(dict.fromkeys(matches))

    def places(self, lemmas: Sequence[str], forms: Sequence[str], words: Ids, max_gap: int = 0) -> Ints:
        """The places in a text where an entry may begin, by the first two lemmas of entries.

        `words[i]` is the number of word i among word types, which are given by lemma and form.

        >>> lexicon = MweLexicon.of("verbs", ["take <something> into account", "take in"])
        >>> types = ["take", "it", "in"]
        >>> lexicon.places(types, types, np.array([1, 0, 1, 2, 0, 1, 1, 2]), max_gap=1).tolist()
        [1]
        """
        numbers, pairs = self._beginnings()
        kinds = [np.array([numbers.get(word, 0) for word in each], dtype=np.int64)[words] for each in (lemmas, forms)]
        may_begin = np.zeros(len(words), dtype=np.bool_)
        for one in kinds:
            firsts = np.flatnonzero(one)
            for step in range(1, max_gap + 2):
                firsts = firsts[firsts + step < len(words)]
                for other in kinds:
                    keys = one[firsts] * len(numbers) + other[firsts + step]
                    found = pairs[np.minimum(np.searchsorted(pairs, keys), len(pairs) - 1)] == keys
                    may_begin[firsts[found]] = True
        return np.flatnonzero(may_begin)

    def _beginnings(self) -> tuple[dict[str, int], Ints]:
        """Numbers of lemmas, from 1, and the first two of every entry as one number each."""
        if self._pairs is None or self._pairs[0] != len(self.entries):
            firsts = [[lemma for lemma in entry if lemma != _VARIABLE][:2] for entry in self.entries]
            numbers = {lemma: k for k, lemma in enumerate(dict.fromkeys(chain.from_iterable(firsts)), 1)}
            keys = [numbers[one] * len(numbers) + numbers[other] for one, other in firsts]
            self._pairs = len(self.entries), numbers, np.unique(np.array(keys or [-1], dtype=np.int64))
        return self._pairs[1:]

    def segment(
        self, lemmas: Sequence[str], max_gap: int = 0, forms: Sequence[str] = (), starts: Sequence[int] | None = None
    ) -> Segmentation:
        """The cheapest segmentation of a sentence; `starts` are the only words that may begin a match, if given.

        >>> lexicon = MweLexicon.of("all", ["budge on", "a little"])
        >>> reading = lexicon.segment("budge a little on the price".split(), max_gap=2)
        >>> [match.words for match in reading.matches], reading.cost
        ([(0, 3), (1, 2)], 4.25)
        """
        return shortest_path(self.matches(lemmas, max_gap, forms, starts), len(lemmas))

    def lines(self) -> Iterator[str]:
        """The entries in the format that `read_lexicon` reads."""
        for lemmas, category in self.entries.items():
            entry = " ".join(lemma or "<something>" for lemma in lemmas)
            yield f"{entry}\t{category}" if category else entry


def shortest_path(matches: Iterable[Match], length: int) -> Segmentation:
    """The cheapest segmentation of a sentence of `length` words into matches and single words.

    Among segmentations of equal cost, at the first difference the match with most words wins, then the first.

    >>> reading = shortest_path([Match((0, 2)), Match((0, 1)), Match((2, 3))], 4)
    >>> reading.matches, reading.cost
    ((Match(words=(0, 1), category=''), Match(words=(2, 3), category='')), 2.0)
    """
    starting: dict[int, list[Match]] = {}
    for match in matches:
        starting.setdefault(match.words[0], []).append(match)
    if not starting:
        return Segmentation((), float(length))
    for each in starting.values():
        each.sort(key=lambda match: (-len(match.words), match.words))
    flat = {i: [match for match in each if not has_gap(match.words)] for i, each in starting.items()}
    # Words before the first match and after the last one stand alone, each at a cost of 1.
    begin, end = min(starting), 1 + max(match.words[-1] for each in starting.values() for match in each)
    cost = [0.0] * (end - begin + 1)
    choice: dict[int, tuple[Match, ...]] = {}
    for i in range(end - 1, begin - 1, -1):
        cost[i - begin] = 1.0 + cost[i + 1 - begin]
        for match in starting.get(i, ()):
            filled: list[Match] = []
            total = 1.0 + cost[match.words[-1] + 1 - begin]
            for a, b in pairwise(match.words):
                if b > a + 1:
                    number, inside = _cover(flat, a + 1, b)
                    total += GAP_COST * number
                    filled += inside
            if total < cost[i - begin] - 1e-12:
                cost[i - begin] = total
                choice[i] = (match, *filled)
    chosen: list[Match] = []
    i = begin
    while i < end:
        chosen += choice.get(i, ())
        i = choice[i][0].words[-1] + 1 if i in choice else i + 1
    return Segmentation(tuple(sorted(chosen)), cost[0] + length - (end - begin))


def read_lexicon(path: str | Path, name: str = "") -> MweLexicon:
    """A lexicon from a file with one entry per line, a tab before its category if it has one, and `#` for comments."""
    from weft.formats.streams import read_text

    lexicon = MweLexicon(name or Path(path).name.removesuffix(".gz").rsplit(".", 1)[0])
    for number, line in enumerate(read_text(str(path)).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        fields = text.split("\t")
        if len(fields) > 2:
            raise FormatError(str(path), number, "an entry and its category", f"{len(fields)} columns")
        lexicon.add(_lemmas(fields[0]), fields[1] if len(fields) == 2 else "")
    if not lexicon.entries:
        raise FormatError(str(path), None, "multiword entries, one per line", "none")
    return lexicon


def union(name: str, lexicons: Iterable[MweLexicon]) -> MweLexicon:
    """One lexicon with all entries of several.

    >>> len(union("both", [MweLexicon.of("a", ["of course"]), MweLexicon.of("b", ["of course", "at all"])]))
    2
    """
    whole = MweLexicon(name)
    for lexicon in lexicons:
        for lemmas, category in lexicon.entries.items():
            whole.add(lemmas, category)
    return whole


def lexicon_of(name: str, sentences: Iterable[tuple[Sequence[str], Expressions]], min_count: int = 1) -> MweLexicon:
    """The expressions that occur at least `min_count` times in annotated sentences, by lemmas without gaps.

    >>> sentences = [(["give", "it", "up"], Expressions.of(strong=[(0, 2)]))] * 2
    >>> lexicon_of("seen", sentences, min_count=2).entries
    {('give', 'up'): 'strong'}
    """
    if min_count < 1:
        raise ConfigError(f"min_count must be at least 1, but is {min_count}")
    counts: Counter[tuple[tuple[str, ...], str]] = Counter()
    for lemmas, expressions in sentences:
        for strength, groups in zip(("strong", "weak"), expressions, strict=True):
            counts.update((tuple(lemmas[word] for word in group), strength) for group in groups)
    lexicon = MweLexicon(name)
    for (lemmas, strength), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if count >= min_count:
            lexicon.add(lemmas, strength)
    return lexicon


def _lemmas(text: str) -> list[str]:
    """The lemmas of a written entry; variables at its ends say nothing about its words and are dropped."""
    lemmas = [
        _VARIABLE if word.startswith("<") and word.endswith(">") else word.lower()
        for word in text.replace("_", " ").split()
    ]
    while lemmas and lemmas[0] == _VARIABLE:
        lemmas.pop(0)
    while lemmas and lemmas[-1] == _VARIABLE:
        lemmas.pop()
    return [lemma for k, lemma in enumerate(lemmas) if lemma != _VARIABLE or lemmas[k - 1] != _VARIABLE]


def _walk(
    node: dict[Any, Any],
    words: Sequence[tuple[str, ...]],
    so_far: Group,
    max_gap: int,
    found: list[Match],
    least: int = 0,
) -> None:
    """Follow the trie after the last word; at least `least` words must be skipped before the next (a variable)."""
    if _END in node and not least:
        found.append(Match(so_far, node[_END]))
    last = so_far[-1] + 1
    for place in range(last + least, min(last + max_gap + 1, len(words))):
        for word in words[place]:
            after = node.get(word)
            if after is not None:
                _walk(after, words, (*so_far, place), max_gap, found)
    if _VARIABLE in node and max_gap:
        _walk(node[_VARIABLE], words, so_far, max_gap, found, least=1)


def _cover(flat: Mapping[int, Sequence[Match]], first: int, end: int) -> tuple[int, list[Match]]:
    """The minimum number of words and gapless matches that fill `first:end`, and those matches."""
    best: list[tuple[int, list[Match]]] = [(0, [])] * (end - first + 1)
    for i in range(end - 1, first - 1, -1):
        number, inside = best[i + 1 - first]
        best[i - first] = (number + 1, inside)
        for match in flat.get(i, ()):
            after = match.words[-1] + 1
            if after <= end and best[after - first][0] + 1 < best[i - first][0]:
                best[i - first] = (best[after - first][0] + 1, [match, *best[after - first][1]])
    return best[0]
