"""Check that trees satisfy a scheme, and find inconsistently annotated words.

    errors     heads in range, one root, every word connected to it, no cycles; tags and relations in the scheme;
               objects of adpositions (`adpobj`, `adpcomp`) below adpositions, the root relation only on roots
    warnings   determiners tagged DET, punctuation relations on punctuation, conjuncts after their heads
    suspects   the rarer relations of the same form and tag below the same tag

Suspects follow the idea of variation n-grams (Dickinson & Meurers 2003): what looks the same should be annotated the
same, all the more if the neighbouring words are also the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.text.doc import Doc
from weft.treebanks.rewriting import sentence_name
from weft.treebanks.scheme import Scheme, scheme_named

#: Kinds of findings that make a treebank invalid; the others are warnings.
ERRORS = ("no head", "head out of range", "cycle", "roots", "tag", "relation", "head tag", "root relation")
WARNINGS = ("dependent tag", "order")


class Finding(NamedTuple):
    """A problem with a word (0: the whole sentence)."""

    kind: str
    sentence: str
    word: int
    message: str

    @property
    def is_error(self) -> bool:
        """Whether it makes the treebank invalid."""
        return self.kind in ERRORS


class Suspect(NamedTuple):
    """Words with one form and tag below one tag whose relations differ: counts, and the locations of the rare ones.

    `same_neighbours` counts rare ones between the same two words as one with the usual relation.
    """

    form: str
    tag: str
    head_tag: str
    relations: dict[str, int]
    places: list[tuple[str, int]]
    same_neighbours: int


class _Uses:
    """Relations of a form below a tag: counts, first locations, and neighbours by relation."""

    __slots__ = ("counts", "neighbours", "places")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.places: dict[str, list[tuple[str, int]]] = {}
        self.neighbours: dict[str, Counter[tuple[str, str]]] = {}


class Validator:
    """Checks documents one after the other; suspects are available at the end.

    >>> doc = Doc.from_words([["in", "the", "house"]], upos=[["ADP", "DET", "NOUN"]], head=[[0, 3, 1]],
    ...                    deprel=[["ROOT", "det", "adpobj"]])
    >>> validator = Validator("universal")
    >>> list(validator.check(doc))
    []
    >>> doc.set_column("upos", ["ADV", "DET", "NOUN"])
    >>> [(finding.kind, finding.word) for finding in validator.check(doc)]
    [('head tag', 3)]
    """

    #: Locations kept per relation of a suspect.
    PLACES = 5

    def __init__(self, scheme: str | Scheme = "universal", suspects: bool = True) -> None:
        self.scheme = scheme_named(scheme) if isinstance(scheme, str) else scheme
        self.sentences = self.words = 0
        self.counts: Counter[str] = Counter()
        self._uses: dict[tuple[str, str, str], _Uses] | None = {} if suspects else None

    def check(self, doc: Doc) -> Iterator[Finding]:
        """The problems in a document, sentence by sentence."""
        forms, tags, relations = (doc.column(name) for name in ("form", "upos", "deprel"))
        heads = [-1] * doc.n_words if doc.head is None else doc.head.tolist()
        for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
            name = sentence_name(doc, number, self.sentences - number)
            words = slice(first, end)
            for finding in self.check_tree(name, heads[words], relations[words], tags[words]):
                self.counts[finding.kind] += 1
                yield finding
            if self._uses is not None:
                self._note(name, forms[words], heads[words], relations[words], tags[words])
            self.sentences += 1
            self.words += end - first

    def check_tree(
        self, name: str, heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]
    ) -> Iterator[Finding]:
        """The problems with one tree."""
        n = len(heads)
        for word, head in enumerate(heads, start=1):
            if head == -1:
                yield Finding("no head", name, word, "has no head")
            elif not 0 <= head <= n:
                yield Finding("head out of range", name, word, f"has the head {head}; heads are 0 to {n}")
        roots = [word for word, head in enumerate(heads, start=1) if head == 0]
        if len(roots) != 1:
            yield Finding("roots", name, 0, f"has {len(roots)} roots {roots[:10]}; a tree has one")
        for cycle in _cycles(heads):
            yield Finding("cycle", name, cycle[0], f"is in a cycle: {' -> '.join(map(str, (*cycle, cycle[0])))}")
        scheme = self.scheme
        for word, (head, relation, tag) in enumerate(zip(heads, relations, tags, strict=True), start=1):
            if tag not in scheme.tags:
                yield Finding("tag", name, word, f"has the tag {tag or '_'!r}, which is not in {scheme.name}")
            if not scheme.knows(relation):
                yield Finding(
                    "relation", name, word, f"has the relation {relation or '_'!r}, which is not in {scheme.name}"
                )
                continue
            if 0 <= head <= n:
                yield from self._check_arc(name, word, head, relation, tag, tags)

    def _check_arc(
        self, name: str, word: int, head: int, relation: str, tag: str, tags: Sequence[str]
    ) -> Iterator[Finding]:
        scheme = self.scheme
        base = relation.partition(":")[0]
        if (head == 0) != (base == scheme.root):
            expected = scheme.root if head == 0 else f"a relation other than {scheme.root}"
            yield Finding("root relation", name, word, f"has the head {head} and {relation!r}; expected {expected}")
        above = tags[head - 1] if head else "the root"
        if base in scheme.head_tags and above not in scheme.head_tags[base]:
            allowed = " or ".join(sorted(scheme.head_tags[base]))
            yield Finding("head tag", name, word, f"is {base} below {above}; only {allowed} has {base}")
        if base in scheme.dependent_tags and tag not in scheme.dependent_tags[base]:
            allowed = " or ".join(sorted(scheme.dependent_tags[base]))
            yield Finding("dependent tag", name, word, f"is {base} and tagged {tag}; expected {allowed}")
        if base in scheme.head_first and head > word:
            yield Finding("order", name, word, f"is {base} and precedes its head {head}")

    def _note(
        self, name: str, forms: Sequence[str], heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]
    ) -> None:
        assert self._uses is not None
        lower = ["", *(form.lower() for form in forms), ""]
        for word, (head, relation, tag) in enumerate(zip(heads, relations, tags, strict=True), start=1):
            above = tags[head - 1] if 0 < head <= len(tags) else "ROOT"
            uses = self._uses.setdefault((lower[word], tag, above), _Uses())
            uses.counts[relation] += 1
            places = uses.places.setdefault(relation, [])
            if len(places) < self.PLACES:
                places.append((name, word))
            uses.neighbours.setdefault(relation, Counter())[lower[word - 1], lower[word + 1]] += 1

    def suspects(self, most: int = 50, share: float = 0.1, least: int = 10) -> list[Suspect]:
        """Uses with a relation that makes up at most this share of at least so many words; the most telling first."""
        suspects = []
        for (form, tag, above), uses in (self._uses or {}).items():
            total = uses.counts.total()
            rare = [relation for relation, count in uses.counts.items() if count <= share * total]
            if total < least or not rare:
                continue
            usual = uses.counts.most_common(1)[0][0]
            same = sum(
                count
                for relation in rare
                for beside, count in uses.neighbours[relation].items()
                if beside in uses.neighbours[usual]
            )
            places = [place for relation in rare for place in uses.places[relation]]
            suspects.append(Suspect(form, tag, above, dict(uses.counts.most_common()), places[: self.PLACES], same))
        suspects.sort(key=lambda suspect: (-suspect.same_neighbours, -sum(suspect.relations.values()), suspect.form))
        return suspects[:most]


def _cycles(heads: Sequence[int]) -> Iterable[list[int]]:
    """The cycles of heads, each once, starting at its smallest word; heads outside the sentence end a path."""
    n = len(heads)
    state = [0] * (n + 1)  # 0: not visited, otherwise the path that visited it
    cycles = []
    for start in range(1, n + 1):
        word = start
        while 0 < word <= n and state[word] == 0:
            state[word] = start
            word = heads[word - 1]
        if 0 < word <= n and state[word] == start:
            cycle = [word]
            while (following := heads[cycle[-1] - 1]) != word:
                cycle.append(following)
            least = cycle.index(min(cycle))
            cycles.append(cycle[least:] + cycle[:least])
    return cycles
