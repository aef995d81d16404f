"""Events, times and temporal links as layers (THYME-TimeML, Styler et al. 2014).

    spans/timeline        EVENT, TIMEX3, DOCTIME, SECTIONTIME; words or characters
    relations/timeline    x R y: BEFORE, CONTAINS, OVERLAP, BEGINS-ON, ENDS-ON, or a relation of ISO-TimeML

| attribute | of | values |
|---|---|---|
| DocTimeRel | EVENT | BEFORE, BEFORE/OVERLAP, OVERLAP, AFTER: its relation to the time of the document |
| ContextualModality | EVENT | ACTUAL, HYPOTHETICAL, HEDGED, GENERIC |
| ContextualAspect | EVENT | N/A, INTERMITTENT, NOVEL |
| Polarity, Degree | EVENT | POS, NEG; N/A, MOST, LITTLE |
| Type, Permanence | EVENT | N/A, ASPECTUAL, EVIDENTIAL; UNDETERMINED, FINITE, PERMANENT |
| Class | TIMEX3 | DATE, TIME, DURATION, QUANTIFIER, SET, PREPOSTEXP |
| value | TIMEX3 | a TIMEX3 value such as 2014-12-19, if it is known |
| link | relation | ALINK for aspectual links (INITIATES, ...), else TLINK, which need not be said |

Only what somebody or a model has said is in the layers; what follows from it is computed (`Doc.timeline`). Both are
ordinary layers, so every format that keeps spans and relations with attributes keeps timelines.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import DataError
from weft.text.layers import Pieces, RelationLayer, SpanLayer
from weft.text.offsets import word_offsets

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "timeline"
EVENT, TIMEX3, DOCTIME, SECTIONTIME = KINDS = ("EVENT", "TIMEX3", "DOCTIME", "SECTIONTIME")
TLINK, ALINK = "TLINK", "ALINK"
DOC_TIME_REL = ("BEFORE", "BEFORE/OVERLAP", "OVERLAP", "AFTER")
CLASSES = ("DATE", "TIME", "DURATION", "QUANTIFIER", "SET", "PREPOSTEXP")
#: The attributes of events and their values, the most common first.
ATTRIBUTES = {
    "DocTimeRel": ("OVERLAP", "BEFORE", "AFTER", "BEFORE/OVERLAP"),
    "ContextualModality": ("ACTUAL", "HYPOTHETICAL", "HEDGED", "GENERIC"),
    "ContextualAspect": ("N/A", "INTERMITTENT", "NOVEL"),
    "Polarity": ("POS", "NEG"),
    "Degree": ("N/A", "LITTLE", "MOST"),
    "Type": ("N/A", "EVIDENTIAL", "ASPECTUAL"),
    "Permanence": ("UNDETERMINED", "FINITE", "PERMANENT"),
}
#: Values of other schemes as THYME names them: the event-document links of TimeML, and E3C.
_VALUES = {
    ("DocTimeRel", "IS-CONTAINED"): "OVERLAP", ("DocTimeRel", "CONTAINS"): "OVERLAP",
    ("DocTimeRel", "INCLUDES"): "OVERLAP", ("DocTimeRel", "IS_INCLUDED"): "OVERLAP",
    ("DocTimeRel", "SIMULTANEOUS"): "OVERLAP", ("DocTimeRel", "IDENTITY"): "OVERLAP",
    ("DocTimeRel", "DURING"): "OVERLAP", ("DocTimeRel", "DURING_INV"): "OVERLAP",
    ("DocTimeRel", "BEGINS"): "OVERLAP", ("DocTimeRel", "BEGUN_BY"): "BEFORE/OVERLAP",
    ("DocTimeRel", "ENDS"): "OVERLAP", ("DocTimeRel", "ENDED_BY"): "BEFORE/OVERLAP",
    ("DocTimeRel", "IBEFORE"): "BEFORE", ("DocTimeRel", "IAFTER"): "AFTER",
    ("ContextualModality", "HYPOTHETICAL-IF"): "HYPOTHETICAL",
    ("ContextualModality", "HYPOTHETICAL-OTHER"): "HYPOTHETICAL",
}  # fmt: skip
#: Longer names of the same relation.
_RELATIONS = {"INCLUDES": "CONTAINS"}


class Mention(NamedTuple):
    """An event or a time: its number in the layer, its kind, its words (an empty range if it has none), attributes."""

    number: int
    kind: str
    start: int
    end: int
    attributes: dict[str, Any]

    def get(self, name: str) -> str:
        """The value of an attribute in the terms of THYME, "" if it is not set."""
        return thyme_value(name, str(self.attributes.get(name) or ""))

    @property
    def is_time(self) -> bool:
        return self.kind in (TIMEX3, DOCTIME, SECTIONTIME)


class TemporalLink(NamedTuple):
    """A link of the layer: numbers of its mentions, its relation, and its number in the relation layer."""

    first: int
    relation: str
    second: int
    number: int


def thyme_value(name: str, value: str) -> str:
    """The value of an attribute in the terms of THYME.

    >>> thyme_value("DocTimeRel", "IS-CONTAINED"), thyme_value("ContextualModality", "HEDGED")
    ('OVERLAP', 'HEDGED')
    """
    return _VALUES.get((name, value), value)


def thyme_relation(relation: str) -> str:
    """The relation of a link in the terms of THYME, where it has one for it.

    >>> thyme_relation("INCLUDES"), thyme_relation("IBEFORE")
    ('CONTAINS', 'IBEFORE')
    """
    return _RELATIONS.get(relation, relation)


def mentions_of(doc: Doc, layer: str = LAYER) -> list[Mention]:
    """All events and times of a document, in the order of the layer.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["She", "bled", "on", "Monday"]])
    >>> doc.spans["timeline"] = SpanLayer.of(doc.strings, [(1, 2, "EVENT"), (3, 4, "TIMEX3")])
    >>> [(mention.kind, mention.start, mention.end) for mention in mentions_of(doc)]
    [('EVENT', 1, 2), ('TIMEX3', 3, 4)]
    """
    spans = spans_of(doc, layer)
    if spans.unit == "words":
        places = [(row.pieces[0][0], row.pieces[-1][1]) for row in spans]
    else:
        starts, ends = (each.tolist() for each in word_offsets(doc))
        places = [words_at(starts, ends, row.pieces) for row in spans]
    return [
        Mention(number, row.label, *places[number], spans.attributes.get(number, {}))
        for number, row in enumerate(spans)
    ]


def words_at(starts: list[int], ends: list[int], pieces: Pieces) -> tuple[int, int]:
    """The words that a span of characters touches; an empty range where there are none.

    >>> words_at([0, 4, 9], [3, 8, 12], ((5, 8),)), words_at([0, 4], [3, 8], ((3, 4),))
    ((1, 2), (1, 1))
    """
    first = bisect_right(ends, pieces[0][0])
    return first, max(first, bisect_left(starts, pieces[-1][1]))


def temporal_links(doc: Doc, layer: str = LAYER) -> list[TemporalLink]:
    """The temporal links of a document, without aspectual ones."""
    relations = doc.relations.get(layer)
    if relations is None:
        return []
    if relations.spans != layer:
        raise DataError(
            f"{doc.id or 'the document'}: the links of {layer!r} join spans of the layer {relations.spans!r}"
        )
    return [
        TemporalLink(first, thyme_relation(label), second, number)
        for number, (first, second, label) in enumerate(relations)
        if relations.attributes.get(number, {}).get("link", TLINK) == TLINK
    ]


def document_date(doc: Doc) -> str:
    """The date that a document is about: a reference date that was given, or else its own; "" if there is none.

    >>> from weft.text.doc import Doc
    >>> document_date(Doc("", meta={"date": "2014-12-19"})), document_date(Doc(""))
    ('2014-12-19', '')
    """
    return str(doc.meta.get("reference_date") or doc.meta.get("date") or "")


def spans_of(doc: Doc, layer: str = LAYER) -> SpanLayer:
    """The layer of events and times; an error that lists the others if a document has none."""
    if layer not in doc.spans:
        known = ", ".join(doc.spans) or "none"
        raise DataError(f"{doc.id or 'the document'} has no span layer {layer!r} of events and times (it has: {known})")
    return doc.spans[layer]


def new_layers(doc: Doc, layer: str = LAYER) -> tuple[SpanLayer, RelationLayer]:
    """Empty layers of events, times and links, in words, in place of any that the document has."""
    doc.spans[layer], doc.relations[layer] = SpanLayer(doc.strings), RelationLayer(doc.strings, layer)
    return doc.spans[layer], doc.relations[layer]
