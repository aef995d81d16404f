"""From typed words to terminals: a trie of all accepted phrases, read through spelling and prefixes.

    token -> known tokens, each at a cost:   itself 0; a neighbour within 1 edit from 4 letters, 2 from 8;
                                             for the last token of unfinished input, any known token it begins
    tokens [i, j) -> word classes            paths of the trie over those alternatives; costs add up

A deletion neighbourhood finds neighbours: two words within d edits share a string that is at most d deletions of each.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from weft.infer.agenda.lattice import Arc
from weft.tasks.questions.synchronous import QuestionGrammar

_TOKEN = re.compile(r"'s\b|(?<=s)'(?=\s|$)|n't\b|[^\W_]+(?:[.'’-][^\W_]+)*|,", re.UNICODE)
#: What asks politely or stands for nothing: cheap to skip.
STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "find",
        "show",
        "list",
        "give",
        "get",
        "tell",
        "me",
        "please",
        "what",
        "which",
        "who",
        "where",
        "when",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "all",
        "any",
        "every",
        "there",
        "can",
        "could",
        "you",
        "i",
        "want",
        "to",
        "see",
        "that",
        "?",
        "of",
        "in",
        "at",
        "on",
        "with",
        "for",
        ",",
        "how",
        "whose",
        "it",
        "its",
        "has",
        "have",
    ]
)
#: Prefixes of a typed token that are completed, at most.
_COMPLETED = 40


def tokens_of(text: str) -> list[str]:
    """The tokens of a question, in lower case.

    >>> tokens_of("Alice's friends, who don't live in San-Remo?")
    ['alice', "'s", 'friends', ',', 'who', "don't", 'live', 'in', 'san-remo']
    """
    found: list[str] = []
    for token in _TOKEN.findall(text.lower().replace("’", "'")):
        if token == "'":
            found.append("'s")
        elif token.endswith("'s") and len(token) > 2:
            found += [token[:-2], "'s"]
        else:
            found.append(token)
    return found


def edits(one: str, other: str, most: int) -> int:
    """The number of edits between two words, swaps of neighbours included; `most + 1` if there are more.

    >>> edits("freinds", "friends", 2), edits("bergen", "berlin", 1)
    (1, 2)
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, last = list(range(len(other) + 1)), list[int]()
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        last, before = before, row
    return min(before[-1], most + 1)


def _distance(word: str) -> int:
    return 0 if not 4 <= len(word) <= 24 or word.isdigit() else 1 if len(word) < 8 else 2


class Neighbours:
    """Known words, by spelling and by prefix.

    >>> known = Neighbours(["friends", "lives", "living", "live"])
    >>> known.near("freinds"), known.beginning("liv", 9)
    ([('friends', 1)], ['live', 'lives', 'living'])
    """

    def __init__(self, known: Iterable[str], least: int = 0) -> None:
        self.words = sorted(set(known))
        self._exact = set(self.words)
        self._deletions: dict[str, list[str]] = {}
        for word in self.words:
            for key in _deletions(word, min(_distance(word), 1 if least else 2)):
                self._deletions.setdefault(key, []).append(word)

    def __contains__(self, word: str) -> bool:
        return word in self._exact

    def near(self, word: str) -> list[tuple[str, int]]:
        """Words within the edits that a word of its length may have, with their number."""
        most = _distance(word)
        candidates = {each for key in _deletions(word, most) for each in self._deletions.get(key, ())}
        found = [(each, edits(word, each, most)) for each in candidates if each != word]
        return sorted([(each, count) for each, count in found if count <= most], key=lambda pair: (pair[1], pair[0]))

    def span(self, prefix: str) -> tuple[int, int]:
        """The words with a prefix, as a range of the sorted words."""
        return bisect_left(self.words, prefix), bisect_left(self.words, prefix + "\U0010ffff")

    def beginning(self, prefix: str, most: int) -> list[str]:
        """The first words with a prefix."""
        low, high = self.span(prefix)
        return self.words[low : min(high, low + most)]


def _deletions(word: str, most: int) -> set[str]:
    found = {word}
    for count in range(1, most + 1):
        for places in combinations(range(len(word)), count):
            found.add("".join(letter for place, letter in enumerate(word) if place not in places))
    return found


class Alternative(NamedTuple):
    """A known token that a typed one may stand for."""

    token: str
    cost: float
    prefix: bool = False


class Lexicon:
    """The phrases of a grammar's word classes as a trie of tokens."""

    def __init__(self, grammar: QuestionGrammar) -> None:
        self.grammar = grammar
        self._trie: dict[str, Any] = {}
        vocabulary: set[str] = set()
        self.phrases: list[tuple[int, float]] = []
        for name, number in grammar.symbols.items():
            if name not in grammar.classes:
                continue
            for text, cost in grammar.classes[name].accepted.items():
                tokens = tokens_of(text)
                vocabulary.update(tokens)
                node = self._trie
                for token in tokens:
                    node = node.setdefault(token, {})
                node.setdefault("", []).append((number, cost))
        self.known = Neighbours(vocabulary)

    def alternatives(self, token: str, partial: bool = False, strict: bool = False) -> list[Alternative]:
        """What a token may stand for."""
        found = [Alternative(token, 0.0)] if token in self.known else []
        costs = self.grammar.costs
        if strict:
            return found
        if partial:
            missing = [(word, len(word) - len(token)) for word in self.known.beginning(token, _COMPLETED)]
            found += [Alternative(word, 0.05 + 0.01 * count, True) for word, count in missing if count]
        if not found:
            found = [Alternative(word, costs.misspelt * count) for word, count in self.known.near(token)]
        return found

    def arcs(self, tokens: Sequence[str], partial: bool = False, strict: bool = False, first: int = 0) -> list[Arc]:
        """All word classes over the tokens, of which the last may be unfinished; spans that end after `first`."""
        n = len(tokens)
        read = [self.alternatives(token, partial and at == n - 1, strict) for at, token in enumerate(tokens)]
        best: dict[tuple[int, int, int], float] = {}
        for i in range(n):
            level = [(self._trie, 0.0)]
            for j in range(i, n):
                level = [
                    (node[option.token], cost + option.cost)
                    for node, cost in level for option in read[j] if option.token in node
                ]  # fmt: skip
                if not level:
                    break
                for node, cost in level:
                    for number, more in node.get("", ()):
                        key = (number, i, j + 1)
                        if cost + more < best.get(key, float("inf")):
                            best[key] = cost + more
                if partial and j == n - 1:
                    self._finish(level, i, n, best)
        return [Arc(number, i, j, cost) for (number, i, j), cost in best.items() if j > first]

    def _finish(
        self, level: list[tuple[dict[str, Any], float]], i: int, n: int, best: dict[tuple[int, int, int], float]
    ) -> None:
        """Phrases that the input has begun and not finished."""
        waiting = [(node, cost, 0) for node, cost in level]
        while waiting:
            node, cost, depth = waiting.pop()
            for token, below in node.items():
                if token == "":
                    continue
                more = cost + 0.1
                for number, own in below.get("", ()):
                    key = (number, i, n)
                    if more + own < best.get(key, float("inf")):
                        best[key] = more + own
                if depth < 2:
                    waiting.append((below, more, depth + 1))
