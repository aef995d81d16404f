"""Opinions as a span layer: what is judged or compared, how, and the words that say so.

    spans/mentions    what can be judged; labels `entity` (a product) and `aspect` (its lens)
    spans/opinions    one span per opinion, the words that carry it; its label is positive, negative, better or worse

| attribute of an opinion | what it says |
|---|---|
| entity, aspect | the numbers of the mentions that are judged; no entity: the context names it; no aspect: as a whole |
| other | of a comparison: the mention of the entity than which the first is better or worse |
| score | the model's score of the label on these words, if it was predicted |

The span of an opinion whose words nobody marked covers its mentions, and its attribute `evidence` is false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import DataError, WeftError
from weft.text.layers import SpanLayer
from weft.text.views import Span, Word

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER, MENTIONS = "opinions", "mentions"
LABELS = ("positive", "negative", "better", "worse")


class OpinionRow(NamedTuple):
    """An opinion as plain values: its label, the numbers of its mentions (-1: none), its words, if they are known."""

    label: str
    entity: int = -1
    aspect: int = -1
    other: int = -1
    evidence: tuple[int, int] | None = None
    score: float | None = None

    @property
    def mentions(self) -> list[int]:
        return [number for number in (self.entity, self.aspect, self.other) if number >= 0]


class Opinion:
    """A view of one opinion; see `Doc.opinions`.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["The", "lens", "is", "great"]])
    >>> doc.spans["mentions"] = SpanLayer.of(doc.strings, [(1, 2, "aspect")])
    >>> set_opinions(doc, [OpinionRow("positive", aspect=0, evidence=(2, 4))])
    >>> [opinion] = doc.opinions
    >>> opinion, opinion.aspect.text, opinion.evidence.text, opinion.entity
    (Opinion('positive: lens (is great)'), 'lens', 'is great', None)
    """

    __slots__ = ("doc", "index", "row")

    def __init__(self, doc: Doc, index: int, row: OpinionRow) -> None:
        self.doc, self.index, self.row = doc, index, row

    @property
    def label(self) -> str:
        """positive, negative, better or worse."""
        return self.row.label

    @property
    def entity(self) -> Span | None:
        """The thing that is judged, or the first of two that are compared; None if only the context names it."""
        return self._mention(self.row.entity)

    @property
    def aspect(self) -> Span | None:
        """The aspect by which it is judged, None if it is judged as a whole."""
        return self._mention(self.row.aspect)

    @property
    def other(self) -> Span | None:
        """The thing with which the first one is compared."""
        return self._mention(self.row.other)

    @property
    def preferred(self) -> Span | None:
        """Which of two compared things is the better one."""
        return self.other if self.label == "worse" else self.entity if self.label == "better" else None

    @property
    def evidence(self) -> Span | None:
        """The words that carry the opinion, None if nobody marked them."""
        return None if self.row.evidence is None else Span(self.doc, LAYER, self.index)

    @property
    def words(self) -> list[Word]:
        """The words of its span: the evidence, or what its mentions cover."""
        return Span(self.doc, LAYER, self.index).words

    @property
    def score(self) -> float | None:
        return self.row.score

    @property
    def told(self) -> str:
        """The opinion in words."""
        aspect = self.aspect.text if self.aspect else ""
        entity = self.entity.text if self.entity else ""
        words = f" ({self.evidence.text})" if self.evidence else ""
        if self.other is not None:
            by = f" by {aspect}" if aspect else ""
            return f"{entity} {self.label} than {self.other.text}{by}{words}"
        return f"{self.label}: {', '.join(name for name in (entity, aspect) if name)}{words}"

    def _mention(self, number: int) -> Span | None:
        return Span(self.doc, MENTIONS, number) if number >= 0 else None

    def __repr__(self) -> str:
        return f"Opinion({self.told!r})"


def opinion_rows(doc: Doc) -> list[OpinionRow]:
    """The opinions of a document as plain values; none if the layer is missing."""
    layer = doc.spans.get(LAYER)
    if layer is None:
        return []
    limit = len(doc.spans[MENTIONS]) if MENTIONS in doc.spans else 0
    rows = []
    for number, span in enumerate(layer):
        given = layer.attributes.get(number, {})
        values = [given.get(name, -1) for name in ("entity", "aspect", "other")]
        numbers = [int(value) if str(value).removeprefix("-").isdecimal() else -2 for value in values]
        where = f"{doc.id or 'the document'}, opinion {number}"
        if span.label not in LABELS:
            raise DataError(f"{where}: expected one of {', '.join(LABELS)}, got {span.label!r}")
        if not all(-1 <= each < limit for each in numbers) or max(numbers) < 0:
            raise DataError(f"{where}: entity, aspect and other are numbers of mentions below {limit}, got {values}")
        if (numbers[2] >= 0) != (span.label in LABELS[2:]):
            raise DataError(f"{where}: better and worse, and nothing else, need an `other` to compare with")
        known = given.get("evidence", True) not in (False, "false", "False")
        evidence = (span.pieces[0][0], span.pieces[-1][1]) if known else None
        score = None if given.get("score") is None else float(given["score"])
        rows.append(OpinionRow(span.label, numbers[0], numbers[1], numbers[2], evidence, score))
    return rows


def set_opinions(doc: Doc, rows: Iterable[OpinionRow]) -> None:
    """Write opinions into the layer, in place of what is there. Evidence is in the unit of the mentions.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["It", "jams"]])
    >>> set_opinions(doc, [OpinionRow("better", 0)])
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: an opinion needs mentions from 0 to -1, and better and worse need two, got [0]
    """
    mentions = doc.spans.get(MENTIONS)
    limit = 0 if mentions is None else len(mentions)
    layer = SpanLayer(doc.strings, "words" if mentions is None else mentions.unit)
    for row in rows:
        own = row.mentions
        if not own or max(own) >= limit or (row.other >= 0) != (row.label in LABELS[2:]) or row.label not in LABELS:
            raise WeftError(
                f"an opinion needs mentions from 0 to {limit - 1}, and better and worse need two, got {own}"
            )
        given: dict[str, Any] = {
            name: number
            for name, number in (("entity", row.entity), ("aspect", row.aspect), ("other", row.other))
            if number >= 0
        }
        place = row.evidence
        assert mentions is not None
        if place is None:
            pieces = [mentions[number].pieces for number in own]
            place = min(piece[0][0] for piece in pieces), max(piece[-1][1] for piece in pieces)
            given["evidence"] = False
        if row.score is not None:
            given["score"] = row.score
        layer.add([place], row.label, **given)
    doc.spans[LAYER] = layer


def opinions(doc: Doc) -> Iterator[Opinion]:
    """Views of all opinions of a document."""
    return (Opinion(doc, number, row) for number, row in enumerate(opinion_rows(doc)))
