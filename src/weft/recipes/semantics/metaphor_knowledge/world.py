"""A generated world in which every metaphor is known: concepts with words, verbs with preferences, planted mappings.

    40 concepts of 25 words under 8 wider concepts; 30 mappings of a target concept to a source concept; 60 verbs with
    preferences for concepts as subjects and objects (Dirichlet 0.1). Words of a concept are drawn by Zipf's law; one in
    five also belongs to a second concept.

It speaks in tagged and parsed sentences: isA statements (Hearst's patterns and "x is a h"), similes and metaphors
"x is a y" of the mappings, and clauses, one in twenty of them metaphoric; 3 in 100 statements are about random words. A
third of the words of every target concept never occurs in a metaphor before the test, nor does a simile about them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weft.lexical.harvest.clauses import RELATIONS, SUBJECT
from weft.tasks.metaphor.readings import SOURCE, TARGET
from weft.text.doc import Doc

CONCEPTS, WORDS, WIDER, VERBS, MAPPINGS = 40, 25, 8, 60, 30
NOISE, METAPHORIC, NAMED, AMBIGUOUS = 0.03, 0.05, 0.1, 0.2
_ONSETS, _VOWELS = "bdfgklmnprstvz", "aeiou"
#: Sentences per document.
BATCH = 10_000


@dataclass(frozen=True)
class Amounts:
    """How many sentences the world speaks."""

    isa: int = 200_000
    similes: int = 20_000
    metaphors: int = 20_000
    clauses: int = 300_000

    def times(self, share: float) -> Amounts:
        """A share of all."""
        return Amounts(*(int(share * each) for each in (self.isa, self.similes, self.metaphors, self.clauses)))


class Copula(NamedTuple):
    """A test sentence "x is a y"."""

    x: str
    y: str
    metaphor: bool


class Clause(NamedTuple):
    """A test clause: a noun with a verb; what is explicit of a metaphor, and which concept the other side is of."""

    noun: str
    relation: str
    verb: str
    kind: str = ""  #: target or source, "" for a literal clause
    other: int = -1
    unseen: bool = False  #: whether the noun never occurred in a metaphor

    @property
    def metaphor(self) -> bool:
        return bool(self.kind)


class World:
    """A world made from a seed.

    >>> world = World(0)
    >>> len(world.names), len(world.words[0]), len(world.mappings), len(world.held_out) > 100
    (40, 25, 30, True)
    """

    def __init__(self, seed: int) -> None:
        random = self.random = np.random.default_rng(seed)
        names = _pseudowords(CONCEPTS * (WORDS + 1) + WIDER + VERBS, random)
        self.wider, self.names = names[:WIDER], names[WIDER : WIDER + CONCEPTS]
        rest = names[WIDER + CONCEPTS :]
        self.words = [rest[c * WORDS : (c + 1) * WORDS] for c in range(CONCEPTS)]
        self.verbs = rest[CONCEPTS * WORDS :]
        self.above = random.integers(0, WIDER, CONCEPTS)  # the wider concept of each
        self.second: dict[str, int] = {
            word: int(random.integers(CONCEPTS)) for own in self.words for word in own if random.random() < AMBIGUOUS
        }
        self.zipf = 1.0 / np.arange(1, WORDS + 1)
        self.zipf /= self.zipf.sum()
        self.preferences = {r: random.dirichlet(np.full(CONCEPTS, 0.1), VERBS) for r in RELATIONS}
        self.mappings: list[tuple[int, int]] = []
        while len(self.mappings) < MAPPINGS:
            a, b = (int(c) for c in random.integers(0, CONCEPTS, 2))
            if self.above[a] != self.above[b] and (a, b) not in self.mappings:
                self.mappings.append((a, b))
        targets = sorted({a for a, _ in self.mappings})
        self.held_out = {
            self.words[a][i] for a in targets for i in random.choice(WORDS, WORDS // 3, replace=False).tolist()
        }
        may = {a: np.array([word not in self.held_out for word in self.words[a]]) for a in targets}
        # Cumulative distributions, for draws by bisection: of words, of targets, of concepts by verb and the reverse.
        self._of_words = _sums(self.zipf)
        self._of_targets = {(a, new): _sums(self.zipf * (may[a] != new)) for a in targets for new in (False, True)}
        self._of_concepts = {r: [_sums(row) for row in table] for r, table in self.preferences.items()}
        self._of_verbs = {r: [_sums(row) for row in table.T] for r, table in self.preferences.items()}
        self._chances: list[float] = []

    def chance(self) -> float:
        """A number between 0 and 1; many are drawn at a time."""
        if not self._chances:
            self._chances = self.random.random(50_000).tolist()
        return self._chances.pop()

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return min(int(self.chance() * n), n - 1)

    # Text.

    def docs(self, amounts: Amounts) -> Iterator[Doc]:
        """Parsed documents; every kind of sentence in its own documents."""
        yield from _docs(self._isa(amounts.isa))
        yield from _docs(self._pairs(amounts.similes, simile=True))
        yield from _docs(self._pairs(amounts.metaphors, simile=False))
        yield from _docs(self._clauses(amounts.clauses))

    def _isa(self, count: int) -> Iterator[_Said]:
        for _ in range(count):
            kind = self.below(4)
            if self.chance() < NOISE:
                x, z, h = (self._any_word() for _ in range(3))
            else:
                c = self.below(CONCEPTS)
                if self.chance() < 0.1:  # what the concept itself is a kind of
                    x, z, h = self.names[c], "", self.wider[self.above[c]]
                else:
                    x, z, h = self._member(c), self._member(c), self.names[c]
            if kind == 0 and z:
                yield _said(f"{h} such as {x} and {z}", "NOUN ADJ ADP NOUN CCONJ NOUN")
            elif kind == 1:
                yield _said(f"{x} and other {h}", "NOUN CCONJ ADJ NOUN")
            else:
                yield _said(f"a {x} is a {h}", "DET NOUN AUX DET NOUN")

    def _pairs(self, count: int, simile: bool) -> Iterator[_Said]:
        for _ in range(count):
            x, y = (self._any_word(), self._any_word()) if self.chance() < NOISE else self.metaphor()
            if simile:
                yield _said(f"{x} is like a {y}", "NOUN AUX ADP DET NOUN")
            else:
                yield _said(f"a {x} is a {y}", "DET NOUN AUX DET NOUN")

    def _clauses(self, count: int) -> Iterator[_Said]:
        for _ in range(count):
            clause = self.metaphoric_clause() if self.chance() < METAPHORIC else self.literal_clause()
            if clause.relation == SUBJECT:
                yield _said(f"the {clause.noun} {clause.verb}", "DET NOUN VERB", [2, 3, 0], "det nsubj root")
            else:
                yield _said(f"they {clause.verb} the {clause.noun}", "PRON VERB DET NOUN", [2, 0, 4, 2], _OBJECT)

    # What is said.

    def metaphor(self, unseen: bool = False) -> tuple[str, str]:
        """A target and a source of some mapping; the target is one that was held out, or one that was not."""
        a, b = self.mappings[self.below(MAPPINGS)]
        return self._target(a, unseen), self._member(b, named=NAMED)

    def metaphoric_clause(self, unseen: bool = False) -> Clause:
        """A target with a verb of its source, or a source with a verb of its target."""
        a, b = self.mappings[self.below(MAPPINGS)]
        relation = RELATIONS[self.below(2)]
        if unseen or self.chance() < 0.5:
            return Clause(self._target(a, unseen), relation, self._verb(b, relation), TARGET, b, unseen)
        return Clause(self._member(b), relation, self._verb(a, relation), SOURCE, a)

    def literal_clause(self) -> Clause:
        """A verb with a word of a concept that it prefers."""
        relation = RELATIONS[self.below(2)]
        verb = self.below(VERBS)
        c = bisect(self._of_concepts[relation][verb], self.chance())
        return Clause(self._member(c, named=NAMED), relation, self.verbs[verb])

    def copula_tests(self, count: int, metaphoric: float = 0.5) -> list[Copula]:
        """Sentences "x is a y": half of the metaphors about held-out words, half of the rest about wider concepts."""
        found = []
        for k in range(count):
            if k < metaphoric * count:
                found.append(Copula(*self.metaphor(unseen=k % 2 == 0), metaphor=True))
            else:
                c = self.below(CONCEPTS)
                h = self.names[c] if k % 2 else self.wider[self.above[c]]
                found.append(Copula(self._member(c), h, metaphor=False))
        return found

    def clause_tests(self, count: int, metaphoric: float = 0.3) -> list[Clause]:
        """Clauses, a share of them metaphoric, half of those about held-out words."""
        many = int(metaphoric * count)
        found = [self.metaphoric_clause(unseen=k % 2 == 0) for k in range(many)]
        return found + [self.literal_clause() for _ in range(count - many)]

    def is_of(self, word: str, concept: int) -> bool:
        """Whether a word names a concept or one of its words."""
        return word == self.names[concept] or word in self.words[concept] or self.second.get(word) == concept

    def taxonomy(self, coverage: float, seed: int) -> dict[str, set[str]]:
        """What a list made by hand knows: for a share of the words, their concept and the wider one."""
        random = np.random.default_rng(seed)
        known: dict[str, set[str]] = {}
        for c, own in enumerate(self.words):
            known[self.names[c]] = {self.wider[self.above[c]]}
            for word in own:
                if random.random() < coverage:
                    known[word] = {self.names[c], self.wider[self.above[c]]}
        return known

    def neighbours(self, seed: int, links: int = 8, found: float = 0.6) -> list[tuple[int, int]]:
        """Pairs of concepts that a net of shared properties links: siblings, chance, and most of the mappings."""
        random = np.random.default_rng(seed)
        pairs = {pair for pair in self.mappings if random.random() < found}
        for a in range(CONCEPTS):
            pairs |= {(a, b) for b in range(CONCEPTS) if a != b and self.above[a] == self.above[b]}
            pairs |= {(a, int(b)) for b in random.choice(CONCEPTS, links, replace=False) if b != a}
        return sorted(pairs)

    def _member(self, c: int, named: float = 0.0) -> str:
        if named and self.chance() < named:
            return self.names[c]
        return self.words[c][bisect(self._of_words, self.chance())]

    def _target(self, a: int, unseen: bool) -> str:
        return self.words[a][bisect(self._of_targets[a, unseen], self.chance())]

    def _verb(self, c: int, relation: str) -> str:
        return self.verbs[bisect(self._of_verbs[relation][c], self.chance())]

    def _any_word(self) -> str:
        return self.words[self.below(CONCEPTS)][self.below(WORDS)]


def _sums(weights: Any) -> list[float]:
    """The cumulative distribution of weights, without its last value: a bisection never goes beyond the last item."""
    sums = np.cumsum(weights) / np.sum(weights)
    last = int(np.flatnonzero(weights)[-1])
    return [float(value) for value in sums[:last]]


_OBJECT = "nsubj root det obj"
_Said = tuple[list[str], list[str], list[int], list[str]]


def _said(text: str, tags: str, heads: list[int] | None = None, labels: str = "") -> _Said:
    words = text.split()
    if heads is None:
        return words, tags.split(), [0] * len(words), ["dep"] * len(words)
    return words, tags.split(), heads, labels.split()


def _docs(sentences: Iterator[_Said]) -> Iterator[Doc]:
    batch: list[_Said] = []

    def doc() -> Doc:
        words, tags, heads, labels = (list(column) for column in zip(*batch, strict=True))
        lemmas = [["be" if word == "is" else word for word in row] for row in words]
        columns: dict[str, Any] = {"lemma": lemmas, "upos": tags, "head": heads, "deprel": labels}
        return Doc.from_words(words, **columns)

    for sentence in sentences:
        batch.append(sentence)
        if len(batch) == BATCH:
            yield doc()
            batch.clear()
    if batch:
        yield doc()


def _pseudowords(count: int, random: np.random.Generator) -> list[str]:
    """Different words of three syllables."""
    syllables = [onset + vowel for onset in _ONSETS for vowel in _VOWELS]
    found: dict[str, None] = {}
    while len(found) < count:
        word = "".join(syllables[int(k)] for k in random.integers(0, len(syllables), 3))
        found.setdefault(word)
    return list(found)
