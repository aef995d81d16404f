"""Relations of any number of mentions as layers: tuples whose slots are filled by spans.

    spans/entities         the mentions; their labels are types
    relations/relations    one row per pair of mentions of a tuple, labelled with the relation

    employment(person = Ada Byrd, job = editor, company = ⊥)      Ada Byrd and editor, roles person and job

| attribute of a row | what it says |
|---|---|
| roles | the slots of its two mentions, if they are not called Arg1 and Arg2 |
| tuple | the number of the tuple, for tuples of three or more mentions: rows with the same number belong together |
| probability | of the pair, if it was predicted |

A tuple is a clique: all pairs of its mentions have a row. A slot that nothing fills has none. Both are ordinary layers,
so every format that keeps spans and relations with attributes keeps tuples; brat writes them as relations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import exp, log
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import DataError, WeftError
from weft.text.layers import RelationLayer
from weft.text.views import Sentence, Span, Word

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "relations"
MENTIONS = "entities"
#: The slots of a relation of two mentions that says nothing else.
PLAIN = ("Arg1", "Arg2")


class TupleRow(NamedTuple):
    """A tuple as plain values: its relation, its slots with the numbers of their spans, the probability of each pair.

    Pairs are in the order of `itertools.combinations` of the members; they are empty if nothing was predicted.
    """

    label: str
    members: tuple[tuple[str, int], ...]
    pairs: tuple[float, ...] = ()

    @property
    def probability(self) -> float | None:
        """The geometric mean of the probabilities of all pairs, None if there are none.

        >>> TupleRow("met", (("Arg1", 0), ("Arg2", 1)), (0.8,)).probability
        0.8
        """
        if not self.pairs:
            return None
        return exp(sum(map(log, self.pairs)) / len(self.pairs)) if min(self.pairs) > 0 else 0.0


class PairOfTuple(NamedTuple):
    """A pair of a tuple: an edge of its clique."""

    first: Span
    second: Span
    probability: float | None


class RelationTuple:
    """A view of one tuple; see `Doc.tuples`.

    >>> from weft.text.doc import Doc
    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Ada", "edits", "for", "Quill", "Press"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person"), (3, 5, "company")])
    >>> set_tuples(doc, [TupleRow("employment", (("person", 0), ("company", 1)), (0.9,))])
    >>> [found] = doc.tuples
    >>> found, found["company"], found["job"]
    (RelationTuple('employment', person='Ada', company='Quill Press'), Span('Quill Press', 'company'), None)
    >>> found.pairs
    [PairOfTuple(first=Span('Ada', 'person'), second=Span('Quill Press', 'company'), probability=0.9)]
    """

    __slots__ = ("doc", "mentions", "row")

    def __init__(self, doc: Doc, row: TupleRow, mentions: str = MENTIONS) -> None:
        self.doc, self.row, self.mentions = doc, row, mentions

    @property
    def label(self) -> str:
        """The name of the relation."""
        return self.row.label

    @property
    def probability(self) -> float | None:
        return self.row.probability

    @property
    def members(self) -> list[tuple[str, Span]]:
        """The filled slots with their spans; a slot may be filled several times."""
        return [(slot, Span(self.doc, self.mentions, number)) for slot, number in self.row.members]

    @property
    def pairs(self) -> list[PairOfTuple]:
        """The edges of the clique, with their probabilities: why these mentions belong together."""
        known = self.row.pairs or (None,) * (len(self.row.members) * (len(self.row.members) - 1) // 2)
        spans = [span for _, span in self.members]
        return [PairOfTuple(*ends, p) for ends, p in zip(combinations(spans, 2), known, strict=True)]

    @property
    def sentence(self) -> Sentence | None:
        """The sentence of the first mention, None in a document without words."""
        layer = self.doc.spans[self.mentions]
        first = min(layer[number].pieces[0][0] for _, number in self.row.members)
        if layer.unit == "chars":
            first = bisect_right(self.doc.word_end.tolist(), first)
        return Word(self.doc, first).sentence if first < self.doc.n_words else None

    @property
    def told(self) -> str:
        """The tuple in words.

        >>> from weft.text.doc import Doc
        >>> from weft.text.layers import SpanLayer
        >>> doc = Doc.from_words([["Ada", "edits", "for", "Quill"]])
        >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person"), (3, 4, "company")])
        >>> rows = TupleRow("works for", (("Arg1", 0), ("Arg2", 1))), TupleRow("job", (("who", 0), ("at", 1)))
        >>> set_tuples(doc, rows)
        >>> [each.told for each in doc.tuples]
        ['Ada — works for — Quill', 'job(who: Ada, at: Quill)']
        """
        members = self.members
        if tuple(slot for slot, _ in members) == PLAIN:
            return f"{members[0][1].text} — {self.label} — {members[1][1].text}"
        return f"{self.label}({', '.join(f'{slot}: {span.text}' for slot, span in members)})"

    def __getitem__(self, slot: str) -> Span | None:
        """What fills a slot, the first span if there are several, None if there is none."""
        return next((span for name, span in self.members if name == slot), None)

    def __len__(self) -> int:
        """The number of filled slots."""
        return len(self.row.members)

    def __repr__(self) -> str:
        slots = "".join(f", {slot}={span.text!r}" for slot, span in self.members)
        return f"RelationTuple({self.label!r}{slots})"


def tuple_rows(doc: Doc, layer: str = LAYER) -> list[TupleRow]:
    """The tuples of a document as plain values; none if the layer is missing.

    >>> from weft.text.doc import Doc
    >>> tuple_rows(Doc.from_words([["Ada", "left"]]))
    []
    """
    relations = doc.relations.get(layer)
    if relations is None:
        return []
    groups: dict[object, list[int]] = {}
    rows = list(relations)
    for number in range(len(rows)):
        own = relations.attributes.get(number, {}).get("tuple")
        groups.setdefault(("row", number) if own is None else ("tuple", str(own)), []).append(number)
    return [_row(doc, layer, relations, rows, numbers) for numbers in groups.values()]


def set_tuples(doc: Doc, tuples: Iterable[TupleRow], layer: str = LAYER, mentions: str = MENTIONS) -> None:
    """Write tuples into the layer, in place of what is there: one relation per pair of their mentions.

    >>> from weft.text.doc import Doc
    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Ada", "edits", "books"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "who"), (1, 2, "does"), (2, 3, "what")])
    >>> set_tuples(doc, [TupleRow("work", (("who", 0), ("does", 1), ("what", 2)))])
    >>> list(doc.relations["relations"]), doc.relations["relations"].attributes[2]
    ([(0, 1, 'work'), (0, 2, 'work'), (1, 2, 'work')], {'tuple': 0, 'roles': ['does', 'what']})
    """
    relations = RelationLayer(doc.strings, mentions)
    limit = len(doc.spans[mentions]) if mentions in doc.spans else 0
    for number, (label, members, pairs) in enumerate(tuples):
        spans = [span for _, span in members]
        if len(spans) < 2 or len(set(spans)) < len(spans) or not all(0 <= span < limit for span in spans):
            raise WeftError(f"a tuple needs two or more different spans of {mentions!r}, got {list(members)}")
        ends = list(combinations(members, 2))
        if pairs and len(pairs) != len(ends):
            raise WeftError(f"a tuple of {len(members)} mentions has {len(ends)} pairs, got {len(pairs)} probabilities")
        for place, ((slot, one), (other_slot, other)) in enumerate(ends):
            attributes: dict[str, Any] = {"tuple": number} if len(members) > 2 else {}
            if (slot, other_slot) != PLAIN:
                attributes["roles"] = [slot, other_slot]
            if pairs:
                attributes["probability"] = pairs[place]
            relations.add(one, other, label, **attributes)
    doc.relations[layer] = relations


def tuple_views(doc: Doc, layer: str = LAYER) -> Iterator[RelationTuple]:
    """Views of all tuples of a document."""
    rows = tuple_rows(doc, layer)
    return (RelationTuple(doc, row, doc.relations[layer].spans) for row in rows)


def _probability(value: object) -> float | None:
    """A probability as a number; brat keeps it as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number <= 1 + 1e-6 else None


def _row(
    doc: Doc, layer: str, relations: RelationLayer, rows: list[tuple[int, int, str]], numbers: list[int]
) -> TupleRow:
    """The tuple of some rows; which slot a mention fills must not depend on the row."""
    where = f"{doc.id or 'the document'}, relation layer {layer!r}"
    slots: dict[int, str] = {}
    known: dict[frozenset[int], float] = {}
    for number in numbers:
        attributes = relations.attributes.get(number, {})
        roles = attributes.get("roles", PLAIN)
        if not (isinstance(roles, list | tuple) and len(roles) == 2 and all(isinstance(each, str) for each in roles)):
            raise DataError(f"{where}: the roles of a relation must be two names, got {roles!r}")
        head, tail, _ = rows[number]
        for span, slot in zip((head, tail), roles, strict=True):
            if slots.setdefault(span, slot) != slot:
                raise DataError(f"{where}: span {span} fills {slots[span]!r} and {slot!r} of one tuple")
        p = _probability(attributes.get("probability"))
        if p is not None:
            known[frozenset((head, tail))] = p
    labels = {rows[number][2] for number in numbers}
    if len(labels) > 1 or len(slots) < 2:
        found = f"the relations {', '.join(sorted(labels))}" if len(labels) > 1 else "a span related to itself"
        raise DataError(f"{where}: the rows of one tuple have {found}")
    members = tuple((slot, span) for span, slot in slots.items())
    pairs = [known.get(frozenset((one, other))) for (_, one), (_, other) in combinations(members, 2)]
    kept = tuple(p for p in pairs if p is not None)
    return TupleRow(labels.pop(), members, kept if len(kept) == len(pairs) else ())
