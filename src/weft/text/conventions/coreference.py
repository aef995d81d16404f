"""Coreference as layers: mentions, and which of them refer to the same entity.

    spans/coref        one span per mention; its label is the type of the entity, if one is known
    clusters/coref     the number of every mention's entity

Both are ordinary layers, so JSON Lines, Parquet and brat keep them. CoNLL-U holds them in MISC, as CorefUD does: an
entity `e3` opens with `Entity=(e3-person` at the first word of a mention and closes with `e3)` at its last one. Files
of CoNLL-2012, LitBank and OntoGUM have the same brackets in their last column (`weft.formats.coref`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from weft.errors import DataError, WeftError
from weft.text.layers import ClusterLayer, Pieces, SpanLayer
from weft.text.views import Span

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "coref"
KEY = "Entity"
HEADER = "# global.Entity = eid-etype-head"
_ITEM = re.compile(r"\(([^()|]+)(\)?)|(?<![^()|])([^()|]+)\)")  # looks at every run of letters once
_PART = re.compile(r"\[(\d{1,4})/(\d{1,4})\]$")
#: More parts of one mention than anybody writes.
_MOST_PARTS = 1000


class Bracketed(NamedTuple):
    """A mention as brackets spell it: its pieces in words, the entity's name and its other fields."""

    pieces: Pieces
    entity: str
    fields: tuple[str, ...]


class Entity(NamedTuple):
    """What several mentions refer to: its number in the layer and its mentions, in text order.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["Ada", "said", "she", "slept"]])
    >>> set_entities(doc, [(0, 1), (2, 3)], [0, 0])
    >>> doc.entities_of("coref")
    [Entity('Ada', 2 mentions)]
    >>> [mention.text for mention in doc.entities_of("coref")[0].mentions]
    ['Ada', 'she']
    """

    number: int
    mentions: list[Span]

    @property
    def text(self) -> str:
        """The words of the most telling mention: the first one with a name, else a noun, else the first."""
        return self.main.text

    @property
    def main(self) -> Span:
        """The mention that names the entity best."""
        for wanted in ("PROPN", "NOUN"):
            for mention in self.mentions:
                if any(word.upos == wanted for word in mention.words):
                    return mention
        return self.mentions[0]

    @property
    def label(self) -> str:
        """The type of the entity, "" if none of its mentions has one."""
        return next((mention.label for mention in self.mentions if mention.label), "")

    def __repr__(self) -> str:
        number = len(self.mentions)
        return f"Entity({self.text!r}, {number} mention{'s' if number != 1 else ''})"


def set_entities(
    doc: Doc,
    mentions: Sequence[tuple[int, int]] | Sequence[Pieces],
    clusters: Iterable[int],
    layer: str = LAYER,
    labels: Sequence[str] = (),
) -> None:
    """Write mentions, as `(start, end)` or pieces in words, and the number of each one's entity into the layers.

    Mentions are put in text order, longer ones first, and entities numbered by their first mention; a negative number
    stands for an entity that nothing else refers to.
    """
    rows: list[tuple[Pieces, int, str]] = []
    numbers = list(clusters)
    if len(numbers) != len(mentions):
        raise WeftError(f"there are {len(numbers)} numbers of entities for {len(mentions)} mentions")
    for place, given in enumerate(mentions):
        pieces: Pieces = (given,) if isinstance(given[0], int) else given  # type: ignore[assignment]
        rows.append((pieces, numbers[place], labels[place] if labels else ""))
    spans, names, cluster = SpanLayer(doc.strings), {}, []  # type: ignore[var-annotated]
    for place, (pieces, number, label) in enumerate(sorted(rows, key=lambda row: (row[0][0][0], -row[0][-1][1]))):
        spans.add(pieces, label)
        cluster.append(names.setdefault(number if number >= 0 else ("alone", place), len(names)))
    doc.spans[layer], doc.clusters[layer] = spans, ClusterLayer(layer, cluster)


def coreference_of(doc: Doc, layer: str = LAYER) -> tuple[SpanLayer, ClusterLayer] | None:
    """The mentions of a document and their entities: its layers, else what MISC spells, else None."""
    if layer in doc.clusters:
        clusters = doc.clusters[layer]
        return doc.spans[clusters.spans], clusters
    if layer == LAYER and doc.has("misc"):
        return _of_misc(doc)
    return None


def entities_of(doc: Doc, layer: str = LAYER) -> list[Entity]:
    """The entities of a document in the order of their first mentions; mentions without an entity are left out."""
    found = coreference_of(doc, layer)
    if found is None:
        known = ", ".join(doc.clusters) or "none"
        raise WeftError(f"the document has no clusters {layer!r}; it has: {known}")
    spans, clusters = found
    name = clusters.spans
    if doc.spans.get(name) is not spans:
        doc.spans[name], doc.clusters[layer] = spans, clusters
    return [
        Entity(int(clusters.cluster[group[0]]), [Span(doc, name, mention) for mention in group])
        for group in clusters.groups()
    ]


def parse_brackets(cells: Sequence[str], strict: bool = True) -> list[Bracketed]:
    """The mentions that a column of brackets spells, in the order in which they open.

    Entities follow each other with or without `|`; `(e1[1/2]` begins the first of two pieces of a mention. A bracket
    that never closes, or closes without having opened, raises `BracketError`, or is dropped if not `strict`.

    >>> parse_brackets(["(3(4)", "", "3)|(5)"])
    [Bracketed(pieces=((0, 3),), entity='3', fields=()), Bracketed(pieces=((0, 1),), entity='4', fields=()), \
Bracketed(pieces=((2, 3),), entity='5', fields=())]
    >>> parse_brackets(["(e1[1/2]-person", "e1[1/2])", "", "(e1[2/2])"])
    [Bracketed(pieces=((0, 2), (3, 4)), entity='e1', fields=('person',))]
    """
    waiting: dict[str, list[tuple[int, int, tuple[str, ...]]]] = {}
    found: list[tuple[int, Bracketed, int, int]] = []  # order, mention, part, parts
    order = 0
    for word, cell in enumerate(cells):
        if not cell or cell in "_-*":
            continue
        reached = 0
        for item in _ITEM.finditer(cell):
            if cell[reached : item.start()].strip("|"):
                break
            reached = item.end()
            opened, closed, closing = item.groups()
            if opened is not None:
                name, *fields = opened.split("-")
                waiting.setdefault(name, []).append((order, word, tuple(fields)))
                order += 1
            if closed or closing is not None:
                name = name if closed else closing.split("-")[0]
                if not waiting.get(name):
                    if strict:
                        raise BracketError(word, f"{name!r} closes without having opened")
                    continue
                place, start, own = waiting[name].pop()
                entity, part, parts = _part(name, word)
                found.append((place, Bracketed(((start, word + 1),), entity, own), part, parts))
        if cell[reached:].strip("|"):
            raise BracketError(word, f"{cell[:40]!r} is not made of brackets")
    for name, rows in waiting.items():
        if rows and strict:
            raise BracketError(rows[0][1], f"{name!r} opens but never closes")
    return _joined(sorted(found, key=lambda row: row[0]))


class BracketError(WeftError):
    """A word at which brackets do not fit together."""

    def __init__(self, word: int, fault: str) -> None:
        super().__init__(fault)
        self.word, self.fault = word, fault


def brackets(mentions: Sequence[tuple[Pieces, str]], n_words: int, separator: str = "") -> list[str]:
    """A column of brackets from pieces and what to write after the opening bracket (`e1-person`), "" if nothing.

    >>> brackets([(((0, 3),), "3"), (((0, 1),), "4")], 3), brackets([(((0, 1), (2, 3)), "e1-x")], 3)
    (['(3(4)', '', '3)'], ['(e1[1/2]-x)', '', '(e1[2/2]-x)'])
    """
    opened: list[list[tuple[int, str]]] = [[] for _ in range(n_words)]
    alone: list[list[str]] = [[] for _ in range(n_words)]
    closed: list[list[tuple[int, str]]] = [[] for _ in range(n_words)]
    for pieces, text in mentions:
        name, dash, rest = text.partition("-")
        for number, (start, end) in enumerate(pieces, 1):
            full = f"{name}[{number}/{len(pieces)}]" if len(pieces) > 1 else name
            if end - start == 1:
                alone[start].append(f"({full}{dash}{rest})")
            else:
                opened[start].append((-end, f"({full}{dash}{rest}"))
                closed[end - 1].append((-start, f"{full})"))
    return [
        separator.join([
            *(text for _, text in sorted(closed[word], key=lambda row: row[0])),
            *(text for _, text in sorted(opened[word], key=lambda row: row[0])), *alone[word],
        ])
        for word in range(n_words)
    ]  # fmt: skip


def with_entities(doc: Doc, layer: str = LAYER) -> Doc:
    """A copy of a document whose MISC column spells its entities, with the comment that names their fields.

    The document itself if it does so already: further fields of its entities stay as they are.
    """
    from weft.text.conventions.misc_spans import set_attribute

    found = coreference_of(doc, layer)
    if found is None or not doc.n_words or _is_spelled(doc, *found):
        return doc
    copy, (spans, clusters) = _copied(doc), found
    if spans.unit != "words":
        from weft.text.layers import words_of_chars

        spans = words_of_chars(doc, spans)
    alone = int(clusters.cluster.max(initial=-1)) + 1
    rows: list[tuple[Pieces, str]] = []
    for number, (pieces, label) in enumerate(spans):
        entity = int(clusters.cluster[number])
        if entity < 0:
            entity, alone = alone, alone + 1
        kind = re.sub(r"[-()|=\s]", "_", label)
        rows.append((pieces, f"e{entity + 1}-{kind}-{_head(doc, pieces)}"))
    cells = brackets(rows, doc.n_words)
    set_attribute(copy, KEY, {word: cell for word, cell in enumerate(cells) if cell})
    copy.comments = [tuple(line for line in lines if not line.startswith("# global.Entity")) for lines in doc.comments]
    if copy.comments:
        lines = copy.comments[0]
        at = 1 if lines and lines[0].startswith("# newdoc") else 0
        copy.comments[0] = (*lines[:at], HEADER, *lines[at:])
    return copy


def _is_spelled(doc: Doc, spans: SpanLayer, clusters: ClusterLayer) -> bool:
    """Whether MISC spells these mentions and entities."""
    try:
        written = _of_misc(doc) if doc.has("misc") else None
    except DataError:
        return False
    if written is None or [row.pieces for row in written[0]] != [row.pieces for row in spans]:
        return False
    return written[1].groups() == clusters.groups()


def _copied(doc: Doc) -> Doc:
    from weft.text.doc import Doc

    copy = Doc(doc.text, doc.strings, doc.meta)
    for name in Doc.__slots__:
        setattr(copy, name, getattr(doc, name))
    copy.columns = dict(doc.columns)
    return copy


def _head(doc: Doc, pieces: Pieces) -> int:
    """Which word of a mention governs the others, counted from 1."""
    words = [word for start, end in pieces for word in range(start, end)]
    if doc.head is None:
        return 1
    inside = set(words)
    for place, word in enumerate(words, 1):
        head = int(doc.head[word])
        first = int(doc.sentence_offsets[doc.sentence_offsets.searchsorted(word, side="right") - 1])
        if head <= 0 or first + head - 1 not in inside:
            return place
    return 1


def _of_misc(doc: Doc) -> tuple[SpanLayer, ClusterLayer] | None:
    """What the attribute Entity of MISC says; mentions that stand at empty nodes are left out."""
    cells = [_cell(misc) for misc in doc.column("misc")]
    if not any(cells):
        return None
    try:
        rows = parse_brackets(cells, strict=not doc.empty_nodes)
    except BracketError as error:
        where = doc.id or "the document"
        raise DataError(f"{where}, word {error.word + 1}: in the attribute Entity of MISC, {error.fault}") from error
    kind = _type_field(doc)
    spans, names, cluster = SpanLayer(doc.strings), dict[str, int](), []
    for row in sorted(rows, key=lambda row: (row.pieces[0][0], -row.pieces[-1][1])):
        spans.add(row.pieces, row.fields[kind] if 0 <= kind < len(row.fields) else "")
        cluster.append(names.setdefault(row.entity, len(names)))
    return spans, ClusterLayer(LAYER, cluster)


def _cell(misc: str) -> str:
    if KEY not in misc:
        return ""
    return next((item[len(KEY) + 1 :] for item in misc.split("|") if item.startswith(f"{KEY}=")), "")


def _type_field(doc: Doc) -> int:
    """The place of the entity's type among the fields after its name, -1 if there is none."""
    for lines in doc.comments:
        for line in lines:
            if line.startswith("# global.Entity"):
                names = line.partition("=")[2].strip().split("-")[1:]
                return names.index("etype") if "etype" in names else -1
    return -1


def _part(name: str, word: int) -> tuple[str, int, int]:
    """The entity of a bracket, and which piece of how many it is."""
    found = _PART.search(name)
    if found is None:
        return name, 1, 1
    part, parts = int(found[1]), int(found[2])
    if not 1 <= part <= parts <= _MOST_PARTS:
        raise BracketError(word, f"{name!r} is not a part of a mention")
    return name[: found.start()], part, parts


def _joined(found: Sequence[tuple[int, Bracketed, int, int]]) -> list[Bracketed]:
    """Mentions whose pieces are put together; a mention that lacks some of them keeps those it has."""
    result: list[Bracketed | None] = []
    waiting: dict[tuple[str, int], int] = {}
    for _, row, part, parts in found:
        key = (row.entity, parts)
        if part > 1 and key in waiting:
            begun = result[waiting[key]]
            assert begun is not None
            if begun.pieces[-1][1] <= row.pieces[0][0]:
                result[waiting[key]] = begun._replace(pieces=(*begun.pieces, *row.pieces))
            if part == parts:
                del waiting[key]
            continue
        if part < parts:
            waiting[key] = len(result)
        result.append(row)
    return [row for row in result if row is not None]
