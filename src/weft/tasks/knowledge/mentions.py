"""Which node of a knowledge graph every mention of a document names.

A mention that is linked to a knowledge base names what it is linked to, by title or else by id. Mentions of one entity
(coreference) name the same node: the linked one if any is, else the most frequent name among them, the longest if there
are several. Other mentions with a label are named by their words. Mentions of an entity without any name have no node,
and neither have times and numbers, nor phrases that merely hold a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator
from typing import NamedTuple

from weft.text.conventions.coreference import coreference_of
from weft.text.conventions.links import LAYER as LINKS
from weft.text.conventions.links import NIL
from weft.text.conventions.tuples import MENTIONS
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars

#: Types of spans that are values rather than things.
VALUES = frozenset({
    "TIME", "NUM", "DATE", "ORDINAL", "CARDINAL", "QUANTITY", "PERCENT", "MONEY", "TIMEX3", "DOCTIME", "SECTIONTIME",
})  # fmt: skip
Place = tuple[int, int]
PEOPLE = frozenset({"PER", "PERSON"})
_ARTICLES = frozenset({"the", "a", "an"})


class Mention(NamedTuple):
    """A mention: its first and last word but one, its node, its type, and whether it is a name."""

    start: int
    end: int
    name: str
    type: str = ""
    named: bool = True


def mentions_of(doc: Doc, layer: str = MENTIONS, values: Collection[str] = VALUES) -> list[Mention]:
    """The mentions of a document in text order, each place once.

    >>> from weft.text.conventions.coreference import set_entities
    >>> doc = Doc.from_words([["Mara", "Lind", "left", "Bergen"], ["She", "slept"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 2, "PER"), (3, 4, "LOC")])
    >>> set_entities(doc, [(0, 2), (4, 5)], [0, 0])
    >>> [(each.start, each.name, each.type) for each in mentions_of(doc)]
    [(0, 'Mara Lind', 'PER'), (3, 'Bergen', 'LOC'), (4, 'Mara Lind', 'PER')]
    """
    kinds = {place: label for place, label in _places(doc, layer) if label not in values}
    ids = _linked(doc)
    names: dict[Place, tuple[str, str]] = {}
    found = coreference_of(doc)
    if found is not None:
        spans, clusters = found
        whole = [(row.pieces[0][0], row.pieces[-1][1]) for row in _in_words(doc, spans)]
        for group in clusters.groups():
            places = [_inner(doc, whole[number], kinds) for number in group]
            known = [kinds[place] for place in places if place in kinds]
            linked = [ids[place] for place in places if place in ids]
            proper = [_text(doc, place) for place in places if place in kinds]
            proper = proper or [_text(doc, place) for place in places if _is_name(doc, place)]
            labels = known or [spans[number].label for number in group if spans[number].label]
            if labels and all(label in values for label in labels):
                continue
            if not (linked or known) and any(_holds(place, kinds) for place in places):
                continue  # "the harbour of Bergen" is no name, although it holds one
            if linked or proper:
                name = _most(linked) if linked else _most(proper)
                names.update(dict.fromkeys(places, (name, _most(labels) if labels else "")))
    for place, label in kinds.items():
        names.setdefault(place, (ids.get(place) or _text(doc, place), label))
    for place, title in ids.items():
        names.setdefault(place, (title, ""))
    return [
        Mention(*place, name, kind, place in kinds or place in ids) for place, (name, kind) in sorted(names.items())
    ]


def with_surnames(mentions: Iterable[Mention]) -> list[Mention]:
    """People who are called by their last name are those of the full name, if only one of them has it.

    >>> [each.name for each in with_surnames([Mention(0, 2, "Sten Holm", "PER"), Mention(5, 6, "Holm", "PER")])]
    ['Sten Holm', 'Sten Holm']
    """
    own = list(mentions)
    full: dict[str, set[str]] = {}
    for each in own:
        first, _, last = each.name.rpartition(" ")
        if first and each.type in PEOPLE:
            full.setdefault(last, set()).add(each.name)
    alone = {last: next(iter(names)) for last, names in full.items() if len(names) == 1}
    return [each._replace(name=alone.get(each.name, each.name)) if each.type in PEOPLE else each for each in own]


def node_at(mentions: Collection[Mention]) -> dict[Place, str]:
    """The node of every place that is a mention."""
    return {(each.start, each.end): each.name for each in mentions}


def _inner(doc: Doc, place: Place, kinds: Container[Place]) -> Place:
    """The entity that a mention is: itself, without its article, or before its apposition."""
    if place in kinds:
        return place
    start, end = place
    words = doc.column("form")[start:end]
    if words[0].lower() in _ARTICLES and (start + 1, end) in kinds:
        return start + 1, end
    if "," in words and (start, start + words.index(",")) in kinds:
        return start, start + words.index(",")
    return place


def _holds(place: Place, kinds: Iterable[Place]) -> bool:
    return any(place[0] <= start and end <= place[1] for start, end in kinds)


def _in_words(doc: Doc, spans: SpanLayer) -> SpanLayer:
    return words_of_chars(doc, spans)


def _places(doc: Doc, layer: str) -> Iterator[tuple[Place, str]]:
    if layer in doc.spans and doc.n_words:
        for row in _in_words(doc, doc.spans[layer]):
            yield (row.pieces[0][0], row.pieces[-1][1]), row.label


def _linked(doc: Doc) -> dict[Place, str]:
    """Titles, or else ids, of entities that phrases are linked to; senses of common words are left out."""
    if LINKS not in doc.spans or not doc.n_words:
        return {}
    layer = doc.spans[LINKS]
    found = {}
    for number, row in enumerate(_in_words(doc, layer)):
        own = layer.attributes.get(number, {})
        if row.label != NIL and str(own.get("kind", "entity")) != "concept":
            found[row.pieces[0][0], row.pieces[-1][1]] = str(own.get("title") or row.label)
    return found


def _is_name(doc: Doc, place: Place) -> bool:
    return doc.has("upos") and any(tag == "PROPN" for tag in doc.column("upos")[place[0] : place[1]])


def _text(doc: Doc, place: Place) -> str:
    return " ".join(doc.text[int(doc.word_start[place[0]]) : int(doc.word_end[place[1] - 1])].split())


def _most(texts: Collection[str]) -> str:
    return max(Counter(texts).items(), key=lambda item: (item[1], len(item[0]), item[0]))[0]
