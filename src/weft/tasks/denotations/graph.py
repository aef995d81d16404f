"""Denotation graphs: phrases of captions, which images they describe, and which phrase is more generic than which.

    [[s]]     the images of which a caption reduces to s
    edges     generic -> specific, by the kind of reduction; the images of a child are among those of its parents

`build` parses captions, writes the expansions of every one (`rules`), and lets the agenda expand what two
captions share (`weft.graph.denotations`).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Bools, Ids, Ints
from weft.errors import DataError, WeftError, did_you_mean
from weft.graph.denotations.agenda import Agenda
from weft.graph.denotations.closure import acyclic, inherited, supported
from weft.graph.denotations.counts import Denotations, Overlaps, npmi
from weft.graph.denotations.units import Unit, Units
from weft.progress import progress
from weft.tasks.denotations.captions import Caption, CaptionParser, Parses, Token
from weft.tasks.denotations.phrases import Content, Heads, analysed
from weft.tasks.denotations.rules import KIND, KINDS, units_of
from weft.tasks.denotations.words import CHILDREN, WOMEN

_BATCH = 5000  # captions whose units are made together
#: Phrases that are shown beside another one share at least so many images.
_SHARED = 2
#: The share of a node's captions that must reduce to its parent by themselves; the others then follow.
SUPPORT = 0.1


class Similar(NamedTuple):
    """A phrase that shares images with another one."""

    phrase: str
    npmi: float
    p: float
    images: int


class DenotationGraph:
    """A graph of captions; see `build`.

    >>> graph = DenotationGraph.of_parses(*_example())
    >>> graph.images("dog run"), graph.p("run", given="dog"), sorted(graph.parents("dog run"))
    (['a', 'b'], 1.0, ['dog', 'run'])
    """

    def __init__(self, heads: Heads) -> None:
        self.heads = heads
        self.agenda = Agenda()
        self.captions: list[Caption] = []
        self.parses = Parses()
        self.attested: dict[tuple[str, str], int] = {}
        self.symbols: list[str] = []
        self._symbol: dict[str, int] = {}
        self._waiting: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._ids: set[str] = set()
        self._parser: CaptionParser | None = None
        self._to_note = False

    # Building

    @classmethod
    def build(
        cls, captions: Iterable[Caption], hypernyms: Mapping[str, Sequence[str]] | None = None, nlp: Any = None
    ) -> DenotationGraph:
        """The graph of captions.

        `hypernyms` are those of nouns; if None, they are learned from WordNet and from captions of one image
        (`weft.tasks.denotations.lexicon`). `nlp` parses captions; if None, the English model does.
        """
        from weft.tasks.denotations.lexicon import learned

        captions = list(captions)
        parser = CaptionParser(nlp)
        parses = parser.parse((caption.text for caption in captions), len(captions))
        if hypernyms is None:
            hypernyms = learned(parses, [caption.image for caption in captions])
        graph = cls(Heads(hypernyms))
        graph._parser = parser
        graph._add(captions, parses)
        return graph

    @classmethod
    def of_parses(cls, captions: Sequence[Caption], parses: Parses, heads: Heads) -> DenotationGraph:
        """The graph of captions that are parsed already."""
        graph = cls(heads)
        graph._add(captions, parses)
        return graph

    def add(self, captions: Iterable[Caption], nlp: Any = None) -> None:
        """Add captions; the graph is then that of all captions, with the same hypernyms."""
        captions = list(captions)
        if self._parser is None or nlp is not None:
            self._parser = CaptionParser(nlp)
        self._add(captions, self._parser.parse((caption.text for caption in captions), len(captions)))

    def _add(self, captions: Sequence[Caption], parses: Parses) -> None:
        for caption in captions:
            if caption.id in self._ids:
                raise DataError(f"the caption {caption.id} is there twice: every caption has a name of its own")
            self._ids.add(caption.id)
        if self._to_note:
            self._note_waiting()
        if self.captions and self._other_senses(captions, parses):
            everything, old = [*self.captions, *captions], self.parses
            for tokens in parses:
                old.add(tokens)
            again = DenotationGraph.of_parses(everything, old, self.heads)
            again._parser = self._parser
            self.__dict__.clear()
            self.__dict__.update(again.__dict__)
            return
        start = len(self.captions)
        self.captions += captions
        for tokens in parses:
            self.parses.add(tokens)
        girls = self._girls()
        new, seen = range(start, len(self.captions)), set()
        with progress("phrases", len(new), "captions") as bar:
            for number in new:
                seen |= self._attest(self._content(number, girls))
                bar.advance(1)
        changed = {number for pair in seen for number in self._waiting.pop(pair, ())}
        if changed:
            self._more_rules(sorted(changed), girls)
        parts: list[Units] = []
        with progress("rules", len(new), "captions") as bar:
            for begin in range(0, len(new), _BATCH):
                units: list[Unit] = []
                sources: list[int] = []
                for number in new[begin : begin + _BATCH]:
                    content = self._content(number, girls)
                    own = self._units_of(content)
                    units += own
                    sources += [number] * len(own)
                    for pair in _pairs(content):
                        if pair not in self.attested:
                            self._waiting[pair].add(number)
                    bar.advance(1)
                parts.append(Units.of(units, sources))
        self.agenda.add(Units.all(parts))
        self._forget()

    def _note_waiting(self) -> None:
        """Note which modifiers would give a caption more rules, of a graph that was loaded."""
        self._to_note = False
        girls = self._girls()
        for caption in range(len(self.captions)):
            for pair in _pairs(self._content(caption, girls)):
                if pair not in self.attested:
                    self._waiting[pair].add(caption)

    def _forget(self) -> None:
        for name in ("_edges", "_sources", "sets", "_hashes", "_children", "_parents", "overlaps", "image_names"):
            self.__dict__.pop(name, None)

    def _units_of(self, content: Content) -> list[Unit]:
        return units_of(content, self.heads, self._number, lambda modifier, head: (modifier, head) in self.attested)

    def _number(self, word: str) -> int:
        number = self._symbol.get(word)
        if number is None:
            number = self._symbol[word] = len(self.symbols)
            self.symbols.append(word)
        return number

    def _attest(self, content: Content) -> set[tuple[str, str]]:
        """Note which modifiers stand right before which heads; those that were new."""
        new = set()
        for entity in content.entities:
            if entity.modifiers:
                pair = (entity.modifiers[-1].text, entity.name)
                if pair not in self.attested:
                    new.add(pair)
                self.attested[pair] = self.attested.get(pair, 0) + 1
        return new

    def _more_rules(self, changed: list[int], girls: set[str]) -> None:
        """Let sources go on whose modifiers are seen with their heads only now."""
        units = self.agenda.units
        assert units is not None
        need = units.need.copy()
        numbers = []
        for caption in changed:
            first, last = np.searchsorted(units.source, [caption, caption + 1]).tolist()
            for number, unit in zip(range(first, last), self._units_of(self._content(caption, girls)), strict=True):
                begin, end = units.rule_offsets[number], units.rule_offsets[number + 1]
                if end - begin != len(unit.rules):  # two rules have become one: nothing to gain by keeping both
                    raise WeftError("a unit has other rules than before")
                need[begin:end] = np.array([rule.need for rule in unit.rules], dtype=np.uint64)
                numbers.append(number)
        self.agenda.replace_rules(replace(units, need=need), np.array(numbers))

    def _girls(self) -> set[str]:
        """Captions whose "girl" is a woman: other captions of the image name women or teens, and no children."""
        if "girl_woman" not in self.heads.known:
            return set()
        said = self._said(self.captions, self.parses)
        found = set()
        for own in said.values():
            for name, lemmas in own:
                if "girl" in lemmas:
                    others = set().union(*(more for other, more in own if other != name)) if len(own) > 1 else set()
                    if others & WOMEN and not others & CHILDREN:
                        found.add(name)
        return found

    def _said(self, captions: Sequence[Caption], parses: Parses) -> dict[str, list[tuple[str, set[str]]]]:
        """The telling lemmas of every caption, by image."""
        telling = WOMEN | CHILDREN | {"girl"}
        found: dict[str, list[tuple[str, set[str]]]] = defaultdict(list)
        for k, caption in enumerate(captions):
            found[caption.image].append((caption.id, {t.lemma for t in parses[k]} & telling))
        return found

    def _other_senses(self, captions: Sequence[Caption], parses: Parses) -> bool:
        """Whether new captions of known images change what "girl" is in them."""
        if "girl_woman" not in self.heads.known:
            return False
        known = {caption.image for caption in self.captions}
        touched = {caption.image for caption in captions} & known
        return any(
            "girl" in lemmas
            for image, own in self._said(self.captions, self.parses).items()
            if image in touched
            for _, lemmas in own
        )

    def _tokens(self, caption: int, girls: set[str]) -> list[Token]:
        tokens = self.parses[caption]
        if girls and self.captions[caption].id in girls:
            return [t._replace(lemma="girl_woman") if t.lemma == "girl" else t for t in tokens]
        return tokens

    def _content(self, caption: int, girls: set[str]) -> Content:
        return analysed(self._tokens(caption, girls), self.heads)

    # The graph

    @property
    def n_nodes(self) -> int:
        return self.agenda.n_nodes

    @cached_property
    def image_names(self) -> list[str]:
        """All images, in the order of their first captions."""
        return list(dict.fromkeys(caption.image for caption in self.captions))

    @cached_property
    def caption_images(self) -> Ids:
        """The image of every caption, as a number."""
        numbers = {name: k for k, name in enumerate(self.image_names)}
        return np.array([numbers[caption.image] for caption in self.captions], dtype=np.int32)

    @cached_property
    def _edges(self) -> tuple[Ids, Ids, Ids]:
        parents, children, kinds = self.agenda.edges()
        offsets, _ = self.agenda.strings(np.arange(self.n_nodes))
        kept = acyclic(parents, children, self.n_nodes, np.diff(offsets))
        parents, children, kinds = parents[kept], children[kept], kinds[kept]
        kept = supported(*self.agenda.incidences(), parents, children, self.n_nodes, SUPPORT)
        return parents[kept], children[kept], kinds[kept]

    @cached_property
    def _sources(self) -> tuple[Ids, Ids]:
        nodes, sources = self.agenda.incidences()
        parents, children, _ = self._edges
        return inherited(nodes, sources, parents, children, self.n_nodes)

    def edges(self) -> tuple[Ids, Ids, Ids]:
        """Parents, children and kinds (numbers in `rules.KINDS`) of all edges."""
        return self._edges

    def caption_incidences(self) -> tuple[Ids, Ids]:
        """Pairs of nodes and captions, sorted by node."""
        return self._sources

    @cached_property
    def sets(self) -> Denotations:
        """The images of every node."""
        nodes, captions = self.caption_incidences()
        images = self.caption_images
        return Denotations.of(nodes, images[captions], self.n_nodes, len(self.image_names))

    @cached_property
    def overlaps(self) -> Overlaps:
        """Overlaps of one node with all nodes of two images and more."""
        return Overlaps(self.sets, _SHARED)

    def strings(self, nodes: Sequence[int] | Ids | Ints | None = None) -> list[str]:
        """The phrases of nodes, of all if None."""
        wanted = np.arange(self.n_nodes) if nodes is None else np.asarray(nodes, dtype=np.int64)
        offsets, symbols = self.agenda.strings(wanted)
        words, bounds = [self.symbols[s] for s in symbols.tolist()], offsets.tolist()
        return [" ".join(words[begin:end]) for begin, end in pairwise(bounds)]

    def string(self, node: int) -> str:
        """The phrase of a node."""
        return self.strings([node])[0]

    def find(self, phrase: str) -> int:
        """The node of a phrase, -1 if it has none."""
        numbers = [self._symbol.get(word, -1) for word in phrase.split()]
        return self.agenda.find(numbers) if numbers and min(numbers) >= 0 else -1

    def node(self, phrase: str) -> int:
        """The node of a phrase; a `WeftError` if it has none."""
        found = self.find(phrase)
        if found < 0:
            near = [word for word in phrase.split() if word not in self._symbol]
            hint = f"; no caption has {near[0]!r}" if near else ""
            if near:
                hint += f", {did_you_mean(near[0], self.symbols[:20000], 'nor anything like it')}"
            raise WeftError(
                f"the graph has no node {phrase!r}{hint}. Phrases are lemmatized, without articles: 'dog run'"
            )
        return found

    def images(self, phrase: str) -> list[str]:
        """The images that a phrase describes."""
        found = self.find(phrase)
        return [] if found < 0 else [self.image_names[k] for k in self.sets[found].tolist()]

    def p(self, phrase: str, given: str | None = None) -> float:
        """P(phrase), or P(phrase | given), from images; 0 if either is no node."""
        if given is not None and phrase == given:
            return 1.0
        a, b = self.find(phrase), -1 if given is None else self.find(given)
        return 0.0 if a < 0 or (given is not None and b < 0) else self.sets.p(a, None if given is None else b)

    def npmi(self, a: str, b: str) -> float:
        """Normalized pointwise mutual information of two phrases; 0 if either is no node."""
        if a == b:
            return 1.0
        one, other = self.find(a), self.find(b)
        return 0.0 if one < 0 or other < 0 else self.sets.npmi(one, other)

    def shared(self, a: str, b: str) -> list[str]:
        """The images of both phrases: what their similarity rests on."""
        one, other = self.find(a), self.find(b)
        if one < 0 or other < 0:
            return []
        both = np.intersect1d(self.sets[one], self.sets[other], assume_unique=True)
        return [self.image_names[k] for k in both.tolist()]

    def similar(self, phrase: str, n: int = 10, least: int = 2, related: bool = False) -> list[Similar]:
        """Phrases of `least` images and more by nPMI; without `related`, none that a reduction links to the phrase."""
        node = self.node(phrase)
        joint = self.overlaps.of(node)
        joint[(self.sets.sizes < least) | (joint < min(_SHARED, self.sets.size(node)))] = 0
        joint[node] = 0
        if not related:
            joint[np.fromiter(self._related(node), dtype=np.int64)] = 0
        nodes = np.flatnonzero(joint)
        scores = npmi(joint[nodes], self.sets.sizes[nodes], np.full(len(nodes), self.sets.size(node)), self.sets.items)
        best = np.lexsort((nodes, -self.sets.sizes[nodes], -scores))[:n]
        return [
            Similar(name, float(scores[k]), int(joint[nodes[k]]) / self.sets.size(node), int(joint[nodes[k]]))
            for name, k in zip(self.strings(nodes[best]), best.tolist(), strict=True)
        ]

    def _related(self, node: int) -> set[int]:
        """A node, what it reduces to and what reduces to it."""
        found = {node}
        for row in (self._parents, self._children):
            work, seen = [node], {node}
            while work:
                for other, _ in row(work.pop()):
                    if other not in seen:
                        seen.add(other)
                        work.append(other)
            found |= seen
        return found

    @cached_property
    def _rows(self) -> dict[str, tuple[Ints, Ids, Ids]]:
        parents, children, kinds = self._edges
        found = {}
        for name, ends, others in (("up", children, parents), ("down", parents, children)):
            order = np.argsort(ends, kind="stable")
            offsets = np.zeros(self.n_nodes + 1, dtype=np.int64)
            np.cumsum(np.bincount(ends, minlength=self.n_nodes), out=offsets[1:])
            found[name] = (offsets, others[order], kinds[order])
        return found

    def _neighbours(self, name: str, node: int) -> list[tuple[int, int]]:
        offsets, others, kinds = self._rows[name]
        part = slice(offsets[node], offsets[node + 1])
        return list(zip(others[part].tolist(), kinds[part].tolist(), strict=True))

    def _parents(self, node: int) -> list[tuple[int, int]]:
        return self._neighbours("up", node)

    def _children(self, node: int) -> list[tuple[int, int]]:
        return self._neighbours("down", node)

    def parents(self, phrase: str) -> dict[str, str]:
        """More generic phrases, with the kinds of their edges."""
        return {self.string(other): KINDS[kind] for other, kind in self._parents(self.node(phrase))}

    def children(self, phrase: str) -> dict[str, str]:
        """More specific phrases, with the kinds of their edges."""
        return {self.string(other): KINDS[kind] for other, kind in self._children(self.node(phrase))}

    def leaves(self) -> tuple[Ids, Ids]:
        """Pairs of leaves and the captions that reduce to them: edges of kind ORIG."""
        offsets = self._rows["down"][0]
        nodes, captions = self.caption_incidences()
        kept = np.diff(offsets)[nodes] == 0
        return nodes[kept], captions[kept]

    def nodes_of(self, tokens: list[Token], among: Bools | None = None) -> Ids:
        """The nodes that a parsed sentence reduces to, without adding it; with `among`, only those."""
        number = _Numbers(self._symbol)
        content = analysed(tokens, self.heads)
        found: set[int] = set()
        for unit in units_of(content, self.heads, number, lambda modifier, head: (modifier, head) in self.attested):
            found |= self.agenda.reached(unit, among)
        return np.array(sorted(found), dtype=np.int32)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DenotationGraph:
        """Read a graph that `save` wrote: a file, or the folder that `weft lexicon denotations` made."""
        from weft.tasks.denotations.files import load

        return load(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph as one file."""
        from weft.tasks.denotations.files import save

        save(self, path)


class _Numbers:
    """Numbers of words, with new ones for words that the graph has not."""

    def __init__(self, known: Mapping[str, int]) -> None:
        self.known, self.own = known, dict[str, int]()

    def __call__(self, word: str) -> int:
        number = self.known.get(word, -1)
        return number if number >= 0 else self.own.setdefault(word, len(self.known) + len(self.own))


def _pairs(content: Content) -> Iterable[tuple[str, str]]:
    """Modifiers and heads that matter to the rules of a caption."""
    for entity in content.entities:
        for modifier in entity.modifiers[:-1]:
            yield modifier.text, entity.name


def _example() -> tuple[list[Caption], Parses, Heads]:
    parses = Parses()
    for _ in range(2):
        parses.add([Token("dogs", "dog", "NNS", "nsubj", 1), Token("run", "run", "VBP", "root", -1)])
    return [Caption("a", "0", "dogs run"), Caption("b", "0", "dogs run")], parses, Heads({})


assert len(KIND) == len(KINDS)
