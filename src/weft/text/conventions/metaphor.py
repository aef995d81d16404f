"""Metaphors as a span layer: the label says which side the text names.

    spans/metaphor    both      "Juliet is the sun": the span is the source; `target_words` are those of the target
                      source    "wash your claws": the span is the source, the target (hands) is implied
                      target    "your words cut deep": the span is the target, the source (knife) is implied

Attributes: `target`, `source`, `concept` (the concept of the target that is known for this source, "" if only the pair
itself is), `probability` (how sure), `verb` and `relation` of the last two types, `alternatives`: other explanations
with their scores, best first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weft.text.views import Span, Word

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "metaphor"


class Metaphor(Span):
    """A metaphor of a document and its explanation.

    >>> from weft.text import Doc, SpanLayer
    >>> doc = Doc.from_words([["Wash", "your", "claws"]])
    >>> doc.spans["metaphor"] = SpanLayer(doc.strings)
    >>> doc.spans["metaphor"].add([(2, 3)], "source", target="hand", source="claw", probability=0.9)
    0
    >>> doc.metaphors
    [Metaphor('claws', 'source', 'hand ~ claw', 0.90)]
    """

    __slots__ = ()

    @property
    def type(self) -> int:
        """1 if both sides are named, 2 if the source is, 3 if the target is; 0 for another label."""
        return {"both": 1, "source": 2, "target": 3}.get(self.label, 0)

    @property
    def target(self) -> str:
        """What is spoken of."""
        return str(self.attributes.get("target", ""))

    @property
    def source(self) -> str:
        """What it is spoken of as."""
        return str(self.attributes.get("source", ""))

    @property
    def concept(self) -> str:
        """The concept that target and known targets of this source share; empty if the pair itself is known."""
        return str(self.attributes.get("concept", ""))

    @property
    def verb(self) -> str:
        """The verb of a metaphor with one side implied."""
        return str(self.attributes.get("verb", ""))

    @property
    def probability(self) -> float:
        """How sure the decision is."""
        value = self.attributes.get("probability", 0.0)
        return float(value) if isinstance(value, int | float) else 0.0

    @property
    def alternatives(self) -> list[dict[str, Any]]:
        """Other explanations, best first."""
        return list(self.attributes.get("alternatives", []))

    @property
    def target_words(self) -> list[Word]:
        """The words of the target, if the text names it."""
        if self.label == "target":
            return self.words
        start, end = self.attributes.get("target_words", (0, 0))
        return self.doc.words[start:end]

    def __repr__(self) -> str:
        return f"Metaphor({self.text!r}, {self.label!r}, '{self.target} ~ {self.source}', {self.probability:.2f})"


def metaphors(doc: Doc, layer: str = LAYER) -> Iterator[Metaphor]:
    """The metaphors of a document."""
    for index in range(len(doc.spans[layer]) if layer in doc.spans else 0):
        yield Metaphor(doc, layer, index)
