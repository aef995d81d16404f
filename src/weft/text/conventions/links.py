"""Links of phrases to a knowledge base as a span layer: the label is the id of what is meant.

    spans/links     label: a sense key such as dog%1:05:00::, or the id of an entity, such as Q312
    attributes      title, description, kind (concept, entity), key (the sense key), score, alternatives, because

Links may overlap: *Major League Soccer*, *major league* and *league* have one each. In gold data several ids may be
right; the others stand in the attribute `also`. A mention that the knowledge base lacks has the label NIL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weft.text.views import Span

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "links"
#: The label of a mention of something that the knowledge base lacks, or that nobody linked.
NIL = "NIL"


class Link(Span):
    """A linked phrase of a document.

    >>> from weft.text import Doc, SpanLayer
    >>> doc = Doc.from_words([["Mario", "scored"]])
    >>> doc.spans["links"] = SpanLayer(doc.strings)
    >>> doc.spans["links"].add([(0, 1)], "Q1", title="Mario Gomez", kind="entity", score=0.75)
    0
    >>> doc.links
    [Link('Mario', 'Q1', 'Mario Gomez')]
    >>> doc.links[0].score
    0.75
    """

    __slots__ = ()

    @property
    def id(self) -> str:
        """The id of what is meant."""
        return self.label

    @property
    def title(self) -> str:
        """What it is called in the knowledge base."""
        return str(self.attributes.get("title", ""))

    @property
    def description(self) -> str:
        """Its gloss or description."""
        return str(self.attributes.get("description", ""))

    @property
    def kind(self) -> str:
        """concept or entity."""
        return str(self.attributes.get("kind", ""))

    @property
    def key(self) -> str:
        """The sense key of the phrase in this reading; empty for entities that WordNet lacks."""
        return str(self.attributes.get("key", ""))

    @property
    def score(self) -> float:
        """The share of the coherence of all candidates of the phrase; 0 for a fall-back."""
        return float(self.attributes.get("score", 0.0))

    @property
    def alternatives(self) -> list[dict[str, Any]]:
        """Further candidates: id, title and score."""
        return list(self.attributes.get("alternatives", []))

    @property
    def because(self) -> list[dict[str, Any]]:
        """The links of other phrases that decided: phrase, id and title."""
        return list(self.attributes.get("because", []))

    def __repr__(self) -> str:
        return f"Link({self.text!r}, {self.label!r}, {self.title!r})"


def links_of(doc: Doc, layer: str = LAYER) -> Iterator[Link]:
    """The links of a document."""
    for index in range(len(doc.spans[layer]) if layer in doc.spans else 0):
        yield Link(doc, layer, index)


def right_ids(label: str, attributes: dict[str, Any]) -> set[str]:
    """All ids that gold data accepts for a mention.

    >>> sorted(right_ids("art%1:06:00::", {"also": ["art%1:04:00::"]}))
    ['art%1:04:00::', 'art%1:06:00::']
    """
    return {label, *attributes.get("also", ())}
