"""The aligner of Flanigan et al. (2014): fourteen rules that tie the nodes of an AMR to spans of its sentence.

Each rule passes over the whole graph before the next one begins; it visits nodes in the order of annotation, and the
first span that matches and has no other node wins. A node is aligned once. Rules 1 to 7 open a fragment, the nodes of
one span; rules 8 to 14 only add nodes to one. Case is ignored.

     1  named entity       `name` and its `op` children, as they stand
     2  fuzzy entity       the same, each child by its longest common prefix of at least four letters
     3  date               `date-entity` with year, month and day in any order
     4  negation           `-` is no, not, non
     5  concept            without its sense, a word or a lemma of one
     6  fuzzy concept      by the longest common prefix of at least four letters
     7  United States      `name` "United" "States" is us, u.s., u. s.
     8  entity type        a concept with `name`           9  quantity     `*-quantity` with `unit`
    10  person, thing      with an inverse role            11  person      with one edge only
    12  government         `ARG*-of` of a `government-organization`
    13  prefix             `-` of a word in un-, in-, il-  14  degree      of a word in -est

`learn` adds a fifteenth rule, which the paper has not: a concept that no rule aligns goes to the free word with which
it occurs most often in the training data, by Dice's coefficient ("but" is contrast-01, "?" amr-unknown).

Further additions: a joint (`B @-@ Raf`) is read as part of a word in names, number words match digits, and the
constant of `:wiki` joins its entity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations

from weft.lexical.wordnet_lemmas import Lemmas
from weft.text.conventions.amr import Amr, Edge, is_inverse

#: The shortest common prefix of a fuzzy match.
PREFIX = 4
NEGATIONS = frozenset(("no", "not", "non", "n't"))
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
NUMBERS = {
    **{word: str(value) for value, word in enumerate(_ONES)},
    **{word: str(10 * value) for value, word in enumerate(_TENS, 2)},
    **{f"{ten}-{one}": str(10 * (t + 2) + o) for t, ten in enumerate(_TENS) for o, one in enumerate(_ONES[1:10], 1)},
    "hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000", "dozen": "12", "once": "1",
    "twice": "2",
}  # fmt: skip
_SENSE = re.compile(r"-\d+$")
_JOINT = re.compile(r"\s?@([^\s@])@\s?")
_LONGEST_DATE = 6


@dataclass
class Fragment:
    """Nodes that come from one span of words, root first, and the rule that opened it."""

    start: int
    end: int
    nodes: list[int]
    rule: int
    grown: list[int] = field(default_factory=list)  # rules that added nodes


class Aligner:
    """Aligns nodes with words; `lemmas` gives the lemmas of a lower-cased word.

    >>> from weft.formats.penman import parse_amr
    >>> amr = parse_amr('(w / want-01 :ARG0 (b / boy) :ARG1 (v / visit-01 :ARG0 b '
    ...                 ':ARG1 (c / city :name (n / name :op1 "New" :op2 "York"))))')
    >>> words = "The boy wants to visit New York".split()
    >>> for fragment in Aligner(Lemmas()).align(amr, words):
    ...     print(words[fragment.start : fragment.end], [amr.labels[node] for node in fragment.nodes])
    ['boy'] ['boy']
    ['wants'] ['want-01']
    ['visit'] ['visit-01']
    ['New', 'York'] ['city', 'name', '"New"', '"York"']
    """

    def __init__(self, lemmas: Callable[[str], set[str]] | None = None) -> None:
        self.lemmas = cache(lemmas if lemmas is not None else Lemmas.read())
        self.links: dict[tuple[str, str], float] = {}

    def learn(
        self, pairs: Iterable[tuple[Amr, Sequence[str], Sequence[str]]], least: int = 3, low: float = 0.1
    ) -> None:
        """Learn which words the concepts come from that the rules leave unaligned: graphs, words and lemmas.

        A link needs `least` sentences with both, and a coefficient of at least `low`.
        """
        concepts: Counter[str] = Counter()
        words: Counter[str] = Counter()
        both: Counter[tuple[str, str]] = Counter()
        self.links = {}
        for amr, sentence, lemmas in pairs:
            state = _Alignment(self, amr, sentence, lemmas)
            state.run()
            unaligned, free = (
                set(state.unaligned_labels()),
                {w for w, ok in zip(state.words, state.free, strict=True) if ok},
            )
            concepts.update(unaligned)
            words.update(free)
            both.update((concept, word) for concept in unaligned for word in free)
        for (concept, word), count in both.items():
            dice = 2 * count / (concepts[concept] + words[word])
            if count >= least and dice >= low:
                self.links[concept, word] = dice

    def align(self, amr: Amr, words: Sequence[str], lemmas: Sequence[str] = ()) -> list[Fragment]:
        """The fragments of a graph, by their spans; `lemmas` of the words in their context are used too."""
        return _Alignment(self, amr, words, lemmas).run()


class _Alignment:
    """The state of one alignment: which nodes and words are taken."""

    def __init__(self, aligner: Aligner, amr: Amr, words: Sequence[str], lemmas: Sequence[str]) -> None:
        self.amr, self.links = amr, aligner.links
        self.words = [word.lower() for word in words]
        self.lemmas = [
            {word, NUMBERS.get(word, word), *aligner.lemmas(word), *([lemmas[i].lower()] if lemmas else [])}
            for i, word in enumerate(self.words)
        ]
        self.labels = [label.strip('"').lower() for label in amr.labels]
        self.free = [True] * len(words)
        self.fragment: list[Fragment | None] = [None] * len(amr)
        self.out: list[list[Edge]] = [[] for _ in amr.labels]
        self.into: list[list[Edge]] = [[] for _ in amr.labels]
        for edge in amr.edges:
            self.out[edge.source].append(edge)
            self.into[edge.target].append(edge)
        self.wiki = {edge.target for edge in amr.edges if edge.role == "wiki" and amr.is_constant(edge.target)}

    def run(self) -> list[Fragment]:
        for rule in (self._name, self._fuzzy_name, self._date, self._negation, self._single, self._fuzzy, self._states):
            number = _OPENING.index(rule.__name__) + 1
            for node in range(len(self.amr)):
                if self.fragment[node] is None and node not in self.wiki:
                    self._open(rule(node), number)
        for number, name in enumerate(_GROWING, 8):
            grow: Callable[[int], Fragment | None] = getattr(self, name)
            for node in range(len(self.amr)):
                if self.fragment[node] is None and node not in self.wiki:
                    self._add(node, grow(node), number)
        for node in range(len(self.amr)):
            if self.links and self.fragment[node] is None and node not in self.wiki:
                self._open(self._linked(node), 15)
        for node in sorted(self.wiki):
            self._add(node, self._first(edge.source for edge in self.into[node]), 8)
        chosen = {id(fragment): fragment for fragment in self.fragment if fragment is not None}
        for fragment in chosen.values():
            fragment.nodes.sort()
        return sorted(chosen.values(), key=lambda fragment: fragment.start)

    def unaligned_labels(self) -> list[str]:
        """The labels of nodes without words."""
        rows = enumerate(zip(self.labels, self.fragment, strict=True))
        return [label for node, (label, fragment) in rows if fragment is None and node not in self.wiki]

    def _linked(self, node: int) -> tuple[int, int, list[int]] | None:
        best, place = 0.0, -1
        for i, word in enumerate(self.words):
            worth = self.links.get((self.labels[node], word), 0.0) if self.free[i] else 0.0
            if worth > best:
                best, place = worth, i
        return None if place < 0 else (place, place + 1, [node])

    def _open(self, found: tuple[int, int, list[int]] | None, rule: int) -> None:
        if found is None:
            return
        start, end, nodes = found
        fragment = Fragment(start, end, nodes, rule)
        for node in nodes:
            self.fragment[node] = fragment
        self.free[start:end] = [False] * (end - start)

    def _add(self, node: int, fragment: Fragment | None, rule: int) -> None:
        if fragment is not None:
            fragment.nodes.append(node)
            fragment.grown.append(rule)
            self.fragment[node] = fragment

    def _first(self, nodes: Iterator[int]) -> Fragment | None:
        """The fragment of the first of some nodes that has one."""
        return next((fragment for node in nodes if (fragment := self.fragment[node]) is not None), None)

    # Rules that open fragments: the span and the nodes, or None.

    def _parts(self, node: int) -> list[int]:
        """The `op` children of a name, in order."""
        if self.labels[node] != "name" or self.amr.is_constant(node):
            return []
        return [edge.target for edge in self.out[node] if re.fullmatch(r"op\d*", edge.role)]

    def _spans(self, longest: int) -> Iterator[tuple[int, int]]:
        """Spans of free words, from left to right, short ones first."""
        for start in range(len(self.words)):
            for end in range(start + 1, min(start + longest, len(self.words)) + 1):
                if not self.free[end - 1]:
                    break
                yield start, end

    def _name(self, node: int) -> tuple[int, int, list[int]] | None:
        parts = self._parts(node)
        wanted = " ".join(self.labels[part] for part in parts)
        if parts:
            for start, end in self._spans(2 * wanted.count("-") + len(wanted.split())):
                if _JOINT.sub(r"\1", " ".join(self.words[start:end])) == wanted:
                    return start, end, [node, *parts]
        return None

    def _fuzzy_name(self, node: int) -> tuple[int, int, list[int]] | None:
        parts = self._parts(node)
        matches = [self._nearest(self.labels[part]) for part in parts]
        if not matches or None in matches:
            return None
        places = [place for place in matches if place is not None]
        if places != list(range(places[0], places[0] + len(places))):
            return None
        return places[0], places[-1] + 1, [node, *parts]

    def _date(self, node: int) -> tuple[int, int, list[int]] | None:
        if self.labels[node] != "date-entity":
            return None
        children = [edge.target for edge in self.out[node] if edge.role in ("year", "month", "day")]
        roles = [edge.role for edge in self.out[node] if edge.role in ("year", "month", "day")]
        forms = [_date_forms(role, self.labels[child]) for role, child in zip(roles, children, strict=True)]
        if not forms or len(forms) > 3:
            return None
        wanted = {text for order in permutations(forms) for text in _joined(order)}
        best: tuple[int, int] | None = None
        for start, end in self._spans(_LONGEST_DATE):
            edges_bare = self.words[start][0].isalnum() and self.words[end - 1][-1].isalnum()
            if edges_bare and re.sub(r"[^a-z0-9]", "", "".join(self.words[start:end])) in wanted:
                best = (start, end)
                break
        return None if best is None else (*best, [node, *children])

    def _negation(self, node: int) -> tuple[int, int, list[int]] | None:
        if self.labels[node] != "-" or not self.amr.is_constant(node):
            return None
        return self._word(node, lambda i: self.words[i] in NEGATIONS)

    def _single(self, node: int) -> tuple[int, int, list[int]] | None:
        wanted = self._bare(node)
        return self._word(node, lambda i: wanted in self.lemmas[i])

    def _fuzzy(self, node: int) -> tuple[int, int, list[int]] | None:
        place = self._nearest(self._bare(node))
        return None if place is None else (place, place + 1, [node])

    def _states(self, node: int) -> tuple[int, int, list[int]] | None:
        parts = self._parts(node)
        if [self.labels[part] for part in parts[:2]] != ["united", "states"]:
            return None
        for start, end in self._spans(2):
            if " ".join(self.words[start:end]) in ("us", "u.s.", "u. s."):
                return start, end, [node, *parts]
        return None

    def _word(self, node: int, matches: Callable[[int], bool]) -> tuple[int, int, list[int]] | None:
        place = next((i for i, free in enumerate(self.free) if free and matches(i)), None)
        return None if place is None else (place, place + 1, [node])

    def _bare(self, node: int) -> str:
        return self.labels[node] if self.amr.is_constant(node) else _SENSE.sub("", self.labels[node])

    def _nearest(self, label: str) -> int | None:
        """The free word with the longest common prefix, if that is long enough."""
        best, place = PREFIX - 1, None
        for i, word in enumerate(self.words):
            size = len(_common(word, label))
            if self.free[i] and size > best:
                best, place = size, i
        return place

    # Rules that add nodes to fragments.

    def _entity_type(self, node: int) -> Fragment | None:
        return self._first(edge.target for edge in self.out[node] if edge.role == "name")

    def _quantity(self, node: int) -> Fragment | None:
        if not self.labels[node].endswith("-quantity"):
            return None
        return self._first(edge.target for edge in self.out[node] if edge.role == "unit")

    def _person_of(self, node: int) -> Fragment | None:
        if self.labels[node] not in ("person", "thing"):
            return None
        return self._first(edge.target for edge in self.out[node] if is_inverse(edge.role))

    def _person(self, node: int) -> Fragment | None:
        if self.labels[node] != "person" or len(self.out[node]) != 1:
            return None
        return self.fragment[self.out[node][0].target]

    def _government(self, node: int) -> Fragment | None:
        return self._first(
            edge.source
            for edge in self.into[node]
            if re.fullmatch(r"ARG\d+-of", edge.role) and self.labels[edge.source] == "government-organization"
        )

    def _prefix(self, node: int) -> Fragment | None:
        if self.labels[node] != "-":
            return None
        return self._above(node, "polarity", lambda word: word.startswith(("un", "in", "il")))

    def _degree(self, node: int) -> Fragment | None:
        return self._above(node, "degree", lambda word: word.endswith("est"))

    def _above(self, node: int, role: str, matches: Callable[[str], bool]) -> Fragment | None:
        for edge in self.into[node]:
            fragment = self.fragment[edge.source]
            if (
                edge.role == role
                and fragment is not None
                and any(map(matches, self.words[fragment.start : fragment.end]))
            ):
                return fragment
        return None


_OPENING = ("_name", "_fuzzy_name", "_date", "_negation", "_single", "_fuzzy", "_states")
_GROWING = ("_entity_type", "_quantity", "_person_of", "_person", "_government", "_prefix", "_degree")


def _common(one: str, other: str) -> str:
    size = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        size += 1
    return one[:size]


def _date_forms(role: str, value: str) -> list[str]:
    """How a part of a date may be written, without marks."""
    if not value.isdigit():
        return [value]
    number = int(value)
    forms = [value, str(number), f"{number:02d}"]
    if role == "year" and len(value) == 4:
        forms.append(value[2:])
    if role == "month" and 1 <= number <= 12:
        forms += [MONTHS[number - 1], MONTHS[number - 1][:3]]
    if role == "day":
        forms += [f"{number}{ending}" for ending in ("st", "nd", "rd", "th")]
    return list(dict.fromkeys(forms))


def _joined(parts: Sequence[Sequence[str]]) -> Iterator[str]:
    if not parts:
        yield ""
        return
    for rest in _joined(parts[1:]):
        for form in parts[0]:
            yield form + rest
