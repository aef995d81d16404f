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
    _known: tuple[int, _Trie] | None = field(default=None, repr=False, compare=False)

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

    def matches(self, lemmas: Sequence[str], max_gap: int = 0, forms: Sequence[str] = ()) -> list[Match]:
        """All matches in a sentence, ordered by first word; a word matches by its lemma or its form."""
        pairs = zip(lemmas, forms or lemmas, strict=True)
        words = [(lemma,) if lemma == form else (lemma, form) for lemma, form in pairs]
        matches: list[Match] = []
        for first, readings in enumerate(words):
            for word in readings:
                node = self._trie.get(word)
                if node is not None:
                    _walk(node, words, (first,), max_gap, matches)
        return list(dict.fromkeys(matches))

    def find(
        self, lemmas: Sequence[str], forms: Sequence[str], words: Ids, sentences: Ints, max_gap: int = 0
    ) -> list[Match]:
        """All matches in the sentences of a text, ordered by their words, which are counted from the text's first.

        `words[i]` is the number of word i among word types, which are given by lemma and form. Among matches of the
        same words, the one that `matches` gives first comes first.

        >>> lexicon = MweLexicon.of("verbs", ["take <something> into account", "take in"])
        >>> types = ["take", "it", "in"]
        >>> lexicon.find(types, types, np.array([1, 0, 1, 2, 0, 1, 1, 2]), np.array([0, 8]), max_gap=1)
        [Match(words=(1, 3), category='')]
        """
        trie = self._arrays()
        by_lemma = np.array([trie.numbers.get(lemma, 0) for lemma in lemmas], dtype=np.int64)
        by_form = np.array([trie.numbers.get(form, 0) for form in forms], dtype=np.int64)
        by_form[[lemma == form for lemma, form in zip(lemmas, forms, strict=True)]] = 0  # what matches once is enough
        readings = by_lemma[words], by_form[words]
        ends = np.repeat(sentences[1:], np.diff(sentences))
        found: list[tuple[Group, int, str]] = []
        paths = _Paths.beginning(readings, trie)
        while len(paths.nodes):
            whole = np.flatnonzero(trie.categories[paths.nodes] >= 0)
            categories = [trie.names[k] for k in trie.categories[paths.nodes[whole]].tolist()]
            codes = paths.choices[whole].tolist()
            found += zip(map(tuple, paths.words[whole].tolist()), codes, categories, strict=True)
            paths = paths.longer(readings, ends, trie, max_gap)
        found.sort()
        return list(dict.fromkeys(Match(group, category) for group, _, category in found))

    def _arrays(self) -> _Trie:
        if self._known is None or self._known[0] != len(self.entries):
            self._known = len(self.entries), _Trie.of(self.entries)
        return self._known[1]

    def segment(self, lemmas: Sequence[str], max_gap: int = 0, forms: Sequence[str] = ()) -> Segmentation:
        """The cheapest segmentation of a sentence.

        >>> lexicon = MweLexicon.of("all", ["budge on", "a little"])
        >>> reading = lexicon.segment("budge a little on the price".split(), max_gap=2)
        >>> [match.words for match in reading.matches], reading.cost
        ([(0, 3), (1, 2)], 4.25)
        """
        return shortest_path(self.matches(lemmas, max_gap, forms), len(lemmas))

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


def segment_text(matches: Sequence[Match]) -> list[Match]:
    """The matches of the cheapest segmentation of every sentence of a text, from those that `find` gives.

    Matches that share no words with others, gaps included, are judged alone.

    >>> segment_text([Match((0, 1)), Match((0, 2)), Match((2, 3)), Match((7, 9))])
    [Match(words=(0, 1), category=''), Match(words=(2, 3), category=''), Match(words=(7, 9), category='')]
    """
    chosen: list[Match] = []
    together: list[Match] = []
    reach = -1
    for match in matches:
        if match.words[0] > reach:
            chosen += _cheapest(together)
            together = []
        together.append(match)
        reach = max(reach, match.words[-1])
    return [*chosen, *_cheapest(together)]


def _cheapest(matches: Sequence[Match]) -> Sequence[Match]:
    if len(matches) != 1:
        return shortest_path(matches, 0).matches
    words = matches[0].words
    skipped = words[-1] - words[0] + 1 - len(words)
    return matches if 1.0 + GAP_COST * skipped < len(words) + skipped - 1e-12 else ()


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


class _Trie(NamedTuple):
    """The entries of a lexicon as arrays; node 0 is the root."""

    numbers: dict[str, int]  # of lemmas, from 1
    edges: Ints  # node * (lemmas + 1) + lemma, sorted
    children: Ints
    variables: Ints  # the node after a variable, or -1
    categories: Ints  # of the entry that ends at a node, or -1
    names: list[str]  # of categories

    @classmethod
    def of(cls, entries: Mapping[tuple[str, ...], str]) -> _Trie:
        numbers = {lemma: k for k, lemma in enumerate(dict.fromkeys(chain.from_iterable(entries)), 1)}
        nodes: dict[tuple[int, str], int] = {}
        ending: dict[int, str] = {}
        for entry, category in entries.items():
            node = 0
            for lemma in entry:
                node = nodes.setdefault((node, lemma), len(nodes) + 1)
            ending[node] = category
        plain = sorted((node * (len(numbers) + 1) + numbers[lemma], child) for (node, lemma), child in nodes.items())
        edges, children = np.array(plain or [(-1, 0)], dtype=np.int64).T.copy()
        variables, categories = (np.full(len(nodes) + 1, -1, dtype=np.int64) for _ in range(2))
        for (node, lemma), child in nodes.items():
            if lemma == _VARIABLE:
                variables[node] = child
        names = list(dict.fromkeys(ending.values()))
        categories[list(ending)] = [names.index(category) for category in ending.values()]
        return cls(numbers, edges, children, variables, categories, names)

    def follow(self, nodes: Ints, lemmas: Ints) -> tuple[Ints, Ints]:
        """Which nodes have an edge of their lemma, and the nodes that these edges lead to."""
        keys = nodes * (len(self.numbers) + 1) + lemmas
        places = np.minimum(np.searchsorted(self.edges, keys), len(self.edges) - 1)
        found = np.flatnonzero((self.edges[places] == keys) & (lemmas > 0))
        return found, self.children[places[found]]


class _Paths(NamedTuple):
    """Beginnings of entries in a text, all of the same number of words."""

    nodes: Ints
    words: Ints  # [path, rank]
    choices: Ints  # by lemma, by form, the same after a variable: 0 to 3 per word, in the order of `_walk`

    @classmethod
    def beginning(cls, readings: Sequence[Ints], trie: _Trie) -> _Paths:
        """Paths of one word."""
        parts = []
        for choice, lemmas in enumerate(readings):
            words = np.flatnonzero(lemmas)
            found, nodes = trie.follow(np.zeros(len(words), dtype=np.int64), lemmas[words])
            parts.append(cls(nodes, words[found, None], np.full(len(found), choice)))
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def longer(self, readings: Sequence[Ints], ends: Ints, trie: _Trie, max_gap: int) -> _Paths:
        """The paths that go on, by one word."""
        parts = [(self.nodes[:0], self.words[:0, [0, *range(self.words.shape[1])]], self.choices[:0])]
        own, nodes, least = np.arange(len(self.nodes)), self.nodes, 0
        while len(own):
            last = self.words[own, -1]
            for step in range(least, max_gap + 1):
                inside = np.flatnonzero(last + 1 + step < ends[last])
                for choice, lemmas in enumerate(readings):
                    places = last[inside] + 1 + step
                    found, after = trie.follow(nodes[inside], lemmas[places])
                    paths = own[inside[found]]
                    words = np.column_stack([self.words[paths], places[found]])
                    parts.append((after, words, 4 * self.choices[paths] + 2 * least + choice))
            behind = np.flatnonzero(trie.variables[nodes] >= 0) if max_gap else own[:0]
            own, nodes, least = own[behind], trie.variables[nodes[behind]], 1
        return _Paths(*map(np.concatenate, zip(*parts, strict=True)))


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
