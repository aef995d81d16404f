"""From documents to sentences with mentions, trees and gold opinions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise

from weft.errors import DataError
from weft.tasks.opinions.candidates import brackets_of_heads, brackets_of_words
from weft.tasks.opinions.sentences import ASPECT, ENTITY, LABELS, Edge, Mention, OpinionSentence
from weft.text.conventions.opinions import LAYER, MENTIONS, OpinionRow, opinion_rows
from weft.text.doc import Doc
from weft.text.layers import words_of_chars

KINDS = (ENTITY, ASPECT)


def from_words(
    doc: Doc, mentions: Sequence[Mention], gold: Mapping[Edge, int], names: Sequence[str] = (), number: int = 0
) -> OpinionSentence:
    """One sentence of a document, with what layers the document has.

    >>> doc = Doc.from_words([["The", "lens", "jams"]])
    >>> from_words(doc, [Mention(1, 2, ASPECT)], {}).brackets
    [(0, 3)]
    """
    first, end = doc.sentence_offsets[number : number + 2].tolist()
    words = list(doc.column("form")[first:end])
    lemmas = [lemma.lower() for lemma in doc.column("lemma")[first:end]] if doc.has("lemma") else []
    if not all(lemmas):
        lemmas = []
    tags = list(doc.column("upos")[first:end]) if doc.has("upos") else []
    heads: list[int] = []
    relations: list[str] = []
    if doc.head is not None:
        heads = [head - 1 if head > 0 else -1 for head in doc.head[first:end].tolist()]
        relations = list(doc.column("deprel")[first:end]) if doc.has("deprel") else [""] * len(heads)
    brackets = brackets_of_heads(heads) if heads else brackets_of_words(words)
    if doc.has("constituents") and doc.constituents is not None:
        own = doc.constituents.between(first, end)
        brackets = sorted({(doc.constituents[k].start - first, doc.constituents[k].end - first) for k in own})
    return OpinionSentence(
        words, list(mentions), dict(gold), lemmas, tags, heads, relations, brackets, list(names),
        spans=[-1] * len(mentions),
    )  # fmt: skip


def sentences_of(doc: Doc, gold: bool = False) -> tuple[list[OpinionSentence], int]:
    """The sentences of a document that mention something, and how many gold opinions are not within one of them."""
    if MENTIONS not in doc.spans:
        known = ", ".join(doc.spans) or "none"
        raise DataError(f"{doc.id or 'a document'} has no span layer {MENTIONS!r} of mentions (it has: {known})")
    bounds = doc.sentence_offsets.tolist()
    placed: list[list[tuple[Mention, int, str]]] = [[] for _ in range(len(bounds) - 1)]
    layer = words_of_chars(doc, doc.spans[MENTIONS])
    for number, span in enumerate(layer):
        if span.label not in KINDS:
            raise DataError(
                f"{doc.id or 'a document'}: a mention is {' or '.join(map(repr, KINDS))}, but one is {span.label!r}"
            )
        start, end = span.pieces[0][0], span.pieces[-1][1]
        at = bisect_right(bounds, start) - 1
        if 0 <= at < len(placed) and end <= bounds[at + 1]:
            name = str(doc.spans[MENTIONS].attributes.get(number, {}).get("name", ""))
            first = bounds[at]
            placed[at].append((Mention(start - first, end - first, span.label), number, name))
    rows = opinion_rows(doc) if gold else []
    found: list[OpinionSentence] = []
    used = 0
    for place, ((first, end), own) in enumerate(zip(pairwise(bounds), placed, strict=True)):
        if not own:
            continue
        own.sort()
        words = doc.column("form")[first:end]
        names = [name or " ".join(words[m.start : m.end]).lower() for m, _, name in own]
        numbers = {number: k for k, (_, number, _) in enumerate(own)}
        sentence = from_words(doc, [mention for mention, _, _ in own], {}, names, place)
        sentence.spans = [number for _, number, _ in own] + [-1] * (len(sentence.mentions) - len(own))
        for row in rows:
            edge = _edge(row, numbers, sentence)
            if edge is not None:
                used += 1
                one, label = edge
                sentence.gold[one] = label
        found.append(sentence)
    return found, len(rows) - used


def _edge(row: OpinionRow, numbers: Mapping[int, int], sentence: OpinionSentence) -> tuple[Edge, int] | None:
    """A gold opinion as an edge: comparisons are put into text order."""
    given = [number for number in (row.entity, row.other, row.aspect) if number >= 0]
    if not given or any(number not in numbers for number in given):
        return None
    entity, other, aspect = (numbers.get(number, -1) for number in (row.entity, row.other, row.aspect))
    label = LABELS.index(row.label)
    if entity < 0:
        entity = sentence.entities[-1]
        if not sentence.mentions[entity].in_context and len(sentence.entities) > 1:
            return None
    if other >= 0 and sentence.mentions[other] < sentence.mentions[entity]:
        entity, other = other, entity
        label = LABELS.index("worse" if row.label == "better" else "better")
    return Edge(entity, other, aspect), label


__all__ = ["LAYER", "MENTIONS", "from_words", "sentences_of"]
