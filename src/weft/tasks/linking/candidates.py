"""Fragments of a text and the vertices that they may mean.

A fragment is a phrase of at most five words with a noun in it that occurs in a name. Its candidates are the vertices
with that name (or that of its lemmas) and, for entities alone, those with a longer name: *Mario* may be Mario Gomez.
Fragments overlap. Phrases with the same words are one fragment, since a document uses a name in one sense, unless
`occurrences` asks for one each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Ids, Ints
from weft.lexical.network.names import LONGEST, NameIndex, tokens_of
from weft.lexical.network.network import Network
from weft.text.doc import Doc

NOUNS = ("NOUN", "PROPN")
#: For which fragments longer names of entities count: those with a proper noun, all, or none.
LOOSE = ("names", "all", "none")
#: What candidates may be: any vertex, concepts, entities, or whatever has a sense key under this name.
KINDS = ("all", "concepts", "entities", "senses")


@dataclass
class Fragment:
    """A phrase, its occurrences as words of the document, and its candidates: vertices, and their sense keys."""

    text: str
    places: list[tuple[int, int]]
    vertices: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    exact: int = 0  #: how many of the candidates have this very name: the first ones


@dataclass(frozen=True)
class Search:
    """How candidates are found."""

    loose: str = "names"
    kinds: str = "all"
    most: int = 1000  #: more candidates of a fragment are cut to the best connected ones
    occurrences: bool = False


def fragments(
    doc: Doc, network: Network, names: NameIndex, search: Search, first: int = 0, end: int | None = None
) -> list[Fragment]:
    """The fragments of the words `first` to `end` of a document, in text order; none goes beyond a sentence."""
    end = doc.n_words if end is None else end
    words = _Words.of(doc, names, first, end)
    found: dict[object, Fragment] = {}
    for tokens, of_lemmas in ((words.lemmas, True), (words.surface, False)):
        phrases = names.phrases(tokens, words.ends)
        for start, length, low, high in zip(*(each.tolist() for each in phrases), strict=True):
            place = words.place(start, start + length)
            if place is None or not words.noun[place[0] - first : place[1] - first].any():
                continue
            text = words.text(*place)
            key = place if search.occurrences else text
            fragment = found.setdefault(key, Fragment(text, []))
            if place not in fragment.places:
                fragment.places.append(place)
            named = bool(words.proper[place[0] - first : place[1] - first].any())
            if fragment.places[0] == place or named:
                _add(fragment, network, names, (low, high, length), named and not of_lemmas, search)
    kept = [fragment for fragment in found.values() if fragment.vertices]
    return sorted(kept, key=lambda fragment: fragment.places[0])


def mention(
    words: Sequence[str], lemma: str, network: Network, names: NameIndex, search: Search, place: tuple[int, int]
) -> Fragment:
    """The fragment of a given mention: its candidates by its text and its lemma, whatever its tags are."""
    text = " ".join(words)
    fragment = Fragment(lemma or text.casefold(), [place])
    # Readings of the lemma come first: "steps" as a form of "step" is not the entry "steps".
    for phrase, loose in ((lemma, False), (text, True)):
        tokens = names.ids(tokens_of(phrase)) if phrase else np.zeros(0, dtype=np.int32)
        if 0 < len(tokens) <= LONGEST:
            low, high, length = names._range(phrase)
            _add(fragment, network, names, (low, high, length), loose, search)
    return fragment


def _add(
    fragment: Fragment, network: Network, names: NameIndex, found: tuple[int, int, int], named: bool, search: Search
) -> None:
    low, high, length = found
    if low >= high:
        return
    name = names.whole(low, high, length)
    known = set(fragment.vertices)
    if name >= 0:
        # Senses of WordNet are in the order of their frequency; entities have none, and the best connected come first.
        senses = list(zip(*names.senses(name), strict=True))
        for vertex, key in sorted(senses, key=lambda row: (not row[1], 0 if row[1] else -int(network.degree[row[0]]))):
            if vertex not in known and _is_wanted(search.kinds, bool(network.entity[vertex]), key):
                fragment.vertices.insert(fragment.exact, vertex)
                fragment.keys.insert(fragment.exact, key)
                fragment.exact += 1
                known.add(vertex)
    if search.kinds in ("all", "entities") and (search.loose == "all" or (search.loose == "names" and named)):
        longer = names.vertices_of(names.names_of(low, high))
        longer = longer[network.entity[longer]]
        order = np.argsort(-network.degree[longer].astype(np.int64), kind="stable")
        for vertex in longer[order][: search.most].tolist():
            if vertex not in known:
                fragment.vertices.append(vertex)
                fragment.keys.append("")
    del fragment.vertices[search.most :], fragment.keys[search.most :]


def _is_wanted(kinds: str, entity: bool, key: str) -> bool:
    if kinds == "senses":
        return bool(key)
    return kinds == "all" or (kinds == "entities") == entity


@dataclass
class _Words:
    """The words of a part of a document as tokens of names; a word may have several, as in corpora of word senses."""

    doc: Doc
    forms: list[str]
    noun: np.ndarray[tuple[int], np.dtype[np.bool_]]
    proper: np.ndarray[tuple[int], np.dtype[np.bool_]]
    surface: Ids
    lemmas: Ids
    ends: Ids  #: for every token, the end of its sentence, in tokens
    starts: dict[int, int]  #: tokens at which a word begins, and one past the last
    shown: list[str]

    @classmethod
    def of(cls, doc: Doc, names: NameIndex, first: int, end: int) -> _Words:
        forms, lemmas, tagged = (_column(doc, name, first, end) for name in ("form", "lemma", "upos"))
        tags = np.array(tagged, dtype=object)
        sentences = np.searchsorted(doc.sentence_offsets, np.arange(first, end), side="right").tolist()
        surface: list[str] = []
        by_lemma: list[str] = []
        starts, bounds = {}, []
        shown = []
        for number, (form, lemma, sentence) in enumerate(zip(forms, lemmas, sentences, strict=True)):
            starts[len(surface)] = first + number
            own = [form.casefold()] if form.isalnum() else tokens_of(form) or [""]
            other = own if not lemma else [lemma.casefold()] if lemma.isalnum() else tokens_of(lemma)
            if len(other) != len(own):  # a lemma of other tokens: both are padded, and match as a whole only
                width = max(len(own), len(other), 1)
                own, other = own + [""] * (width - len(own)), other + [""] * (width - len(other))
            surface += own
            by_lemma += other
            bounds += [sentence] * len(own)
            shown.append(" ".join(filter(None, other)) or form)
        starts[len(surface)] = end
        sentence_of = np.array(bounds, dtype=np.int64)
        ends: Ints = np.searchsorted(sentence_of, sentence_of, side="right")
        return cls(
            doc, forms, np.isin(tags, NOUNS), tags == "PROPN", names.ids(surface), names.ids(by_lemma),
            ends.astype(np.int32), starts, shown,
        )  # fmt: skip

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """The words of a range of tokens; None if it does not begin and end with a word."""
        first, last = self.starts.get(start), self.starts.get(end)
        return None if first is None or last is None else (first, last)

    def text(self, first: int, end: int) -> str:
        """The lemmas of words, which say which phrases are the same."""
        base = self.starts[0]
        return " ".join(self.shown[first - base : end - base])


def _column(doc: Doc, name: str, first: int, end: int) -> list[str]:
    """A part of a column; the whole one would be converted anew for every sentence."""
    if name not in doc.columns:
        return [""] * (end - first)
    return doc.strings.strings(doc.columns[name][first:end])
