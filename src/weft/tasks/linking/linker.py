"""Links every noun and name of a text to the best vertex of a semantic network (Moro, Raganato and Navigli 2014).

Fragments and their candidates come from `candidates`, the readings that cohere from `interpretation`. A document is
linked as a whole, or sentence by sentence. Documents whose layer `links` has mentions keep them and get their readings,
for which the other fragments of the text are context; in others, all fragments are linked, overlapping ones included.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from weft.deadline import check
from weft.declared import Stored
from weft.errors import ConfigError
from weft.headers import Record, Table
from weft.lexical.network.names import NameIndex
from weft.lexical.network.network import Network
from weft.pipeline.component import Asked, State, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.linking.candidates import KINDS, LOOSE, Fragment, Search, fragments, mention
from weft.tasks.linking.interpretation import Interpretation, interpret
from weft.text.conventions.links import LAYER
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars

UNITS = ("document", "sentence")
#: What other fragments than given mentions may be.
CONTEXT = ("none", *KINDS)
HEADER = Record(settings=Table(), network=Table())
#: Words that are linked jointly; longer documents are linked in pieces, between sentences where there are any.
JOINT = 10_000
#: How many alternatives and decisive links are kept.
SHOWN = 5


@dataclass
class LinkSettings(Settings):
    """Options of a linker."""

    layer: str = option(LAYER, "Span layer of links.")
    kinds: str = option("all", "Link to concepts, entities, readings with sense keys, or all.", choices=KINDS)
    context: str = option("all", "With given mentions: other fragments that take part.", choices=CONTEXT)
    loose: str = option("names", "Fragments that longer names of entities match.", choices=LOOSE)
    unit: str = option("document", "What is linked jointly.", choices=UNITS)
    occurrences: bool = option(False, "Read every occurrence of a phrase by itself.")
    dense: bool = option(True, "Reduce ambiguity by the dense subgraph.")
    ambiguity: int = option(10, "Candidates per fragment in the dense subgraph, at most.")
    threshold: float = option(0.8, "Least score of a link to a concept.")
    entity_threshold: float = option(0.0, "Least score of a link to an entity.")
    first_sense: bool = option(True, "Link to the first sense below the threshold.")
    most: int = option(1000, "Most candidates of a fragment.")
    language: str = option("", "Language of names; by default that of the document, or the one that knows most words.")

    def check(self) -> None:
        for name, known in (("kinds", KINDS), ("context", CONTEXT), ("loose", LOOSE), ("unit", UNITS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.ambiguity < 1 or not 1 <= self.most <= 100_000:
            raise ConfigError("ambiguity must be at least 1, and most from 1 to 100,000")
        for name in ("threshold", "entity_threshold"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must lie between 0 and 1, got {getattr(self, name)}")

    @property
    def search(self) -> Search:
        """How candidates are found."""
        return Search(self.loose, self.kinds, self.most, self.occurrences)


class Linker(Trainable):
    """Links words and names to a network.

    >>> from weft.lexical.network.network import NetworkBuilder
    >>> builder = NetworkBuilder()
    >>> for id, name in (("Q1", "Mario Gomez"), ("Q2", "Mario Adorf"), ("Q3", "Bayern Munich"), ("Q4", "Munich")):
    ...     builder.vertex(id, name, entity=True)
    ...     builder.name(id, name)
    >>> builder.edge("Q1", "Q3")
    >>> linker = Linker(network=builder.network())
    >>> doc = Doc.from_words([["Mario", "left", "Munich"]], upos=[["PROPN", "VERB", "PROPN"]])
    >>> linker([doc])
    >>> doc.links
    [Link('Mario', 'Q1', 'Mario Gomez'), Link('Munich', 'Q3', 'Bayern Munich')]
    """

    task = "linker"
    settings_class = LinkSettings
    settings: LinkSettings
    requires = ("tokens", "upos")

    def __init__(self, settings: LinkSettings | None = None, network: Network | None = None) -> None:
        super().__init__(settings)
        self._network = network
        self.provides = (f"spans/{self.settings.layer}",)

    @property
    def network(self) -> Network:
        """The network that phrases are linked to."""
        return self.trained(self._network)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Documents teach a linker nothing: its network is built from lexicons and graphs."""
        raise ConfigError("a linker learns from no documents; build its network by `weft lexicon network`")

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            check()
            names = self._names(doc)
            links = SpanLayer(doc.strings)
            spans = _pieces(doc.sentence_offsets.tolist(), JOINT if self.settings.unit == "document" else 0)
            given = self._mentions(doc, names)
            rows: list[tuple[tuple[int, int], str, dict[str, Any]]] = []
            for first, end in spans:
                check()
                if given is None:
                    found = fragments(doc, self.network, names, self.settings.search, first, end)
                else:
                    found = [each for each in given if first <= each.places[0][0] < end]
                    asked_for = len(found)
                    found += self._context(doc, names, found, first, end)
                rows += self.read(found, None if given is None else asked_for)
            for place, label, attributes in sorted(rows, key=lambda row: row[0]):
                links.add([place], label, **attributes)
            doc.spans[self.settings.layer] = links

    def _context(self, doc: Doc, names: NameIndex, given: Sequence[Fragment], first: int, end: int) -> list[Fragment]:
        """The fragments of a part of a document beside given mentions."""
        if self.settings.context == "none":
            return []
        search = replace(self.settings.search, kinds=self.settings.context)
        taken = {place for fragment in given for place in fragment.places}
        every = fragments(doc, self.network, names, search, first, end)
        return [each for each in every if not taken.intersection(each.places)]

    def read(
        self, found: Sequence[Fragment], count: int | None = None
    ) -> list[tuple[tuple[int, int], str, dict[str, Any]]]:
        """The links of fragments, or of the first `count`: words, id and attributes of every occurrence."""
        interpretation = interpret(found, self.network.signatures, self.settings.ambiguity, self.settings.dense)
        rows = []
        for number, fragment in enumerate(found[:count]):
            chosen, score = self.choose(interpretation, number)
            if chosen < 0:
                continue
            vertex = int(interpretation.vertices[chosen])
            place = chosen - int(interpretation.graph.bounds[number])
            attributes = self._attributes(interpretation, number, chosen, score, fragment.keys[place])
            rows += [(where, self.network.ids[vertex], attributes) for where in fragment.places]
        return rows

    def choose(self, interpretation: Interpretation, number: int) -> tuple[int, float]:
        """The candidate that a fragment is linked to and its score, 0 for a fall-back; -1: none."""
        best, score = interpretation.best(number)
        settings = self.settings
        if best >= 0:
            entity = bool(self.network.entity[interpretation.vertices[best]])
            if score > 0 and score >= (settings.entity_threshold if entity else settings.threshold):
                return best, score
        fragment = interpretation.fragments[number]
        if settings.first_sense and fragment.vertices:
            return int(interpretation.graph.bounds[number]), 0.0
        return -1, 0.0

    def _attributes(
        self, interpretation: Interpretation, number: int, chosen: int, score: float, key: str
    ) -> dict[str, Any]:
        network = self.network
        vertex = int(interpretation.vertices[chosen])
        attributes: dict[str, Any] = {"title": network.labels[vertex], "kind": network.kind(vertex)}
        attributes |= {"key": key} if key else {}
        attributes |= {"description": network.descriptions[vertex]} if network.descriptions[vertex] else {}
        attributes["score"] = round(score, 4)
        others = [each for each in interpretation.ranked(number) if each != chosen][:SHOWN]
        if others:
            attributes["alternatives"] = [
                {
                    "id": network.ids[v],
                    "title": network.labels[v],
                    "score": round(float(interpretation.scores[each]), 4),
                }
                for each in others
                for v in [int(interpretation.vertices[each])]
            ]
        if score > 0:
            attributes["because"] = self._because(interpretation, chosen)
        return attributes

    def _because(self, interpretation: Interpretation, chosen: int) -> list[dict[str, str]]:
        """The candidates of other fragments that the chosen one is joined to, those that won first."""
        near, won = interpretation.neighbours(chosen), interpretation.winners
        found = sorted(near, key=lambda each: (each not in won, -interpretation.products[each], each))
        decisive: dict[int, int] = {}
        for each in found:
            decisive.setdefault(int(interpretation.graph.part[each]), int(interpretation.vertices[each]))
        return [
            {"phrase": interpretation.fragments[part].text, "id": self.network.ids[v], "title": self.network.labels[v]}
            for part, v in list(decisive.items())[:SHOWN]
        ]

    def _mentions(self, doc: Doc, names: NameIndex) -> list[Fragment] | None:
        """The mentions that a document gives, as fragments; None if it gives none."""
        if self.settings.layer not in doc.spans:
            return None
        layer = words_of_chars(doc, doc.spans[self.settings.layer])
        forms, lemmas = doc.column("form"), doc.column("lemma")
        found: dict[object, Fragment] = {}
        bounds = doc.sentence_offsets.tolist()
        for number, (pieces, _) in enumerate(layer):
            first, end = pieces[0][0], pieces[-1][1]
            lemma = " ".join(lemmas[first:end]).replace("_", " ").strip()
            fragment = mention(forms[first:end], lemma, self.network, names, self.settings.search, (first, end))
            sentence = bisect_right(bounds, first) if self.settings.unit == "sentence" else 0
            key: object = number if self.settings.occurrences else (sentence, fragment.text)
            if fragment.vertices:
                if key in found:
                    found[key].places.append((first, end))
                else:
                    found[key] = fragment
        return list(found.values())

    def _names(self, doc: Doc) -> NameIndex:
        """The names of the language asked for, of the document, or of the language that knows most of its words."""
        known = self.network.names
        if self.settings.language and self.settings.language not in known:
            named = ", ".join(known)
            raise ConfigError(f"the network has no names of the language {self.settings.language!r}; it has {named}")
        language = self.settings.language or str(doc.meta.get("language", ""))
        if language in known:
            return known[language]
        forms = {form.casefold() for form in doc.column("form")}
        return max(known.values(), key=lambda index: int((index.ids(forms) > 0).sum()))

    def state(self) -> State:
        header, arrays = self.network.state()
        return {"settings": self.saved_settings(), "network": header}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Linker:
        HEADER.check(header)
        settings = LinkSettings.from_saved(header["settings"])
        return cls(settings, Network.from_state(header["network"], Stored.of(arrays)))


def _pieces(bounds: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Sentences joined to pieces of at most so many words; a longer sentence is cut.

    >>> _pieces([0, 3, 5, 9], 6), _pieces([0, 3, 5], 0), _pieces([0, JOINT + 1], JOINT)
    ([(0, 5), (5, 9)], [(0, 3), (3, 5)], [(0, 10000), (10000, 10001)])
    """
    pieces: list[tuple[int, int]] = []
    for first, end in pairwise(bounds):
        if pieces and end - pieces[-1][0] <= size:
            pieces[-1] = pieces[-1][0], end
            continue
        step = max(size, JOINT)
        pieces += [(start, min(start + step, end)) for start in range(first, end, step)]
    return pieces
