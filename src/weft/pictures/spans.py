"""Spans as pictures: highlighted text (HTML), or words in lines with bars in lanes below them (SVG).

Spans may be flat, nested, crossing, or have gaps. Lanes are the levels of `weft.text.nesting`, so that a span is below
those inside it; in highlighted text, a span that cannot stay in one piece continues in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.pictures.style import clean, hue, is_right_to_left, svg, text_width
from weft.text.conventions.coreference import LAYER as COREFERENCE
from weft.text.conventions.coreference import coreference_of
from weft.text.conventions.misc_spans import spans_of_misc
from weft.text.conventions.names import label_with_value
from weft.text.doc import Doc
from weft.text.layers import ClusterLayer, SpanLayer, words_of_chars
from weft.text.nesting import levels_of
from weft.text.views import Sentence

_GAP, _LANE, _MARGIN, _WIDTH = 7, 19, 18, 900


class _Shown(NamedTuple):
    """A span in a sentence: its index in the layer, pieces in words of the document, label, probability."""

    number: int
    pieces: tuple[tuple[int, int], ...]
    label: str
    probability: float | None


def span_layers(doc: Doc) -> dict[str, SpanLayer]:
    """The span layers that can be shown, in words; entities are also read from CoNLL-U's MISC column.

    Mentions of coreference are labelled by the numbers of their entities.

    >>> doc = Doc.from_words([["Ada", "slept"]], misc=[["NER=B-PER", ""]])
    >>> list(span_layers(doc)["entities"])
    [SpanRow(pieces=((0, 1),), label='PER')]
    """
    layers = {name: words_of_chars(doc, layer) for name, layer in doc.spans.items()}
    if not layers and (named := spans_of_misc(doc)) is not None:
        layers["entities"] = named
    found = coreference_of(doc, COREFERENCE)
    if found is not None:
        layers[found[1].spans] = _chains(doc, words_of_chars(doc, found[0]), found[1])
    return layers


def _chains(doc: Doc, spans: SpanLayer, clusters: ClusterLayer) -> SpanLayer:
    """Mentions labelled by the numbers of their entities, so that each chain has a colour; single ones are left out."""
    shown = SpanLayer(doc.strings)
    for number, group in enumerate((group for group in clusters.groups() if len(group) > 1), 1):
        for mention in group:
            shown.add(spans[mention].pieces, str(number), **spans.attributes.get(mention, {}))
    return shown


def spans_by_sentence(doc: Doc, layer: SpanLayer) -> list[list[int]]:
    """For every sentence, the indices of the spans that begin in it.

    >>> doc = Doc.from_words([["Ada", "slept"], ["Bo", "ran"]])
    >>> spans_by_sentence(doc, SpanLayer.of(doc.strings, [(2, 3, "PER"), (0, 1, "PER")]))
    [[1], [0]]
    """
    by_sentence: list[list[int]] = [[] for _ in range(doc.n_sentences)]
    firsts = layer.pieces[layer.offsets[:-1], 0]
    for number, place in enumerate(np.searchsorted(doc.sentence_offsets, firsts, side="right").tolist()):
        if 0 < place <= doc.n_sentences:
            by_sentence[place - 1].append(number)
    return by_sentence


def highlight_spans(sentence: Sentence, layer: SpanLayer, numbers: Sequence[int] | None = None, name: str = "") -> str:
    """A sentence as HTML text with highlighted spans; its words and spans carry their indices.

    `numbers` are the spans to consider, from `spans_by_sentence`; by default, the whole layer. `name` is
    that of the layer, whose labels may be shown in words.

    >>> from weft.text import SpanLayer
    >>> doc = Doc.from_words([["Ada", "slept"]])
    >>> print(highlight_spans(doc.sentences[0], SpanLayer.of(doc.strings, [(0, 1, "PER")])).replace("><", ">\\n<"))
    <p class="weft spans" dir="auto">
    <mark class="h0" data-span="0">
    <span class="word" data-word="0">Ada</span>
    <small>PER</small>
    </mark> <span class="word" data-word="1">slept</span>
    </p>
    """
    doc, shown = sentence.doc, _of_sentence(sentence, layer, numbers, name)
    levels = dict(zip((each.number for each in shown), _levels(shown), strict=True))
    inside: dict[int, list[_Shown]] = {}
    for each in sorted(shown, key=lambda each: levels[each.number]):
        for start, end in each.pieces:
            for number in range(start, end):
                inside.setdefault(number, []).append(each)
    parts: list[str] = []
    open_now: list[_Shown] = []
    begun: set[int] = set()
    reached = doc.word_start[sentence.first] if len(sentence) else 0
    for word in sentence:
        wanted = inside.get(word.index, [])
        common = next((i for i, (a, b) in enumerate(zip(open_now, wanted, strict=False)) if a is not b), None)
        common = min(len(open_now), len(wanted)) if common is None else common
        while len(open_now) > common:
            parts.append(_closing(open_now.pop(), word.index))
        parts.append(clean(doc.text[reached : word.start]))
        for each in wanted[common:]:
            goes_on = " on" if each.number in begun else ""
            parts.append(f'<mark class="{hue(each.label)}{goes_on}" data-span="{each.number}"{_sure(each)}>')
            begun.add(each.number)
            open_now.append(each)
        if word.start >= reached:  # the words of a multiword token share their text
            parts.append(f'<span class="word" data-word="{word.index}">{clean(word.text)}</span>')
            reached = word.end
    while open_now:
        parts.append(_closing(open_now.pop(), sentence.end))
    return f'<p class="weft spans" dir="auto">{"".join(parts)}</p>'


def draw_spans(
    sentence: Sentence,
    layer: SpanLayer,
    styled: bool = True,
    numbers: Sequence[int] | None = None,
    name: str = "",
) -> str:
    """A sentence with its spans as SVG: bars below the words, in lanes; gaps are dotted.

    >>> from weft.text import SpanLayer
    >>> doc = Doc.from_words([["She", "wrote", "it", "down"]])
    >>> layer = SpanLayer(doc.strings)
    >>> _ = layer.add([(1, 2), (3, 4)], "MWE")
    >>> draw_spans(doc.sentences[0], layer).count("<rect")
    2
    """
    words = sentence.words
    shown = _of_sentence(sentence, layer, numbers, name)
    levels = _levels(shown)
    lanes = max(levels, default=-1) + 1
    halves = [max(text_width(word.form, 15), 6) / 2 for word in words]
    for each in shown:  # make room for the label in the bar
        start, end = each.pieces[0][0] - sentence.first, each.pieces[0][1] - sentence.first
        lacking = text_width(each.label, 11) + 12 - sum(2 * half + _GAP for half in halves[start:end])
        halves[start:end] = [half + max(0.0, lacking) / (2 * (end - start)) for half in halves[start:end]]
    places, height = _lines(halves, 26 + _LANE * lanes + 10)
    width = max((x + half for (x, _), half in zip(places, halves, strict=True)), default=0.0) + _MARGIN
    mirrored = is_right_to_left(sentence.text)
    if mirrored:
        places = [(width - x, y) for x, y in places]
    parts = [
        f'<text class="word" data-word="{word.index}" x="{x:.1f}" y="{y:.0f}">{clean(word.form)}</text>'
        for word, (x, y) in zip(words, places, strict=True)
    ]
    for each, level in zip(shown, levels, strict=True):
        parts.append(_bars(each, lanes - 1 - level, sentence.first, halves, places))
    body = "".join(parts)
    description = "; ".join(f"{_text(each, sentence)}: {each.label}" for each in shown)
    return svg(body, width, height, f"Spans of: {sentence.text}", description or "no spans", "lanes", styled, mirrored)


def _of_sentence(sentence: Sentence, layer: SpanLayer, numbers: Sequence[int] | None, name: str) -> list[_Shown]:
    """The spans that lie within a sentence."""
    inside = []
    for number in range(len(layer)) if numbers is None else numbers:
        pieces, label = layer[number]
        if pieces[0][0] >= sentence.first and pieces[-1][1] <= sentence.end:
            attributes = layer.attributes.get(number, {})
            p = attributes.get("probability")
            told = label_with_value(name, label, attributes)
            inside.append(_Shown(number, pieces, told, None if p is None else float(p)))
    return inside


def _text(each: _Shown, sentence: Sentence) -> str:
    forms, first = [word.form for word in sentence], sentence.first
    return " ... ".join(" ".join(forms[a - first : b - first]) for a, b in each.pieces)


def _levels(shown: Sequence[_Shown]) -> list[int]:
    """The level of every span; a span with gaps takes up all the space from its first word to its last."""
    return levels_of([(each.pieces[0][0], each.pieces[-1][1], each.label) for each in shown])


def _closing(each: _Shown, at: int) -> str:
    """The end of a highlight; the label follows each piece of the span."""
    label = f"<small>{clean(each.label)}</small>" if any(end == at for _, end in each.pieces) else ""
    return f"{label}</mark>"


def _sure(each: _Shown) -> str:
    return "" if each.probability is None else f' data-probability="{each.probability:.4g}"'


def _lines(halves: Sequence[float], step: float) -> tuple[list[tuple[float, float]], float]:
    """The bottom centre of every word, in lines of bounded width, and the total height."""
    places: list[tuple[float, float]] = []
    x, y = float(_MARGIN), _MARGIN + 14.0
    for half in halves:
        if x > _MARGIN and x + 2 * half > _WIDTH - _MARGIN:
            x, y = float(_MARGIN), y + step
        places.append((x + half, y))
        x += 2 * half + _GAP
    return places, y + step - 16


def _bars(each: _Shown, lane: int, first: int, halves: Sequence[float], places: Sequence[tuple[float, float]]) -> str:
    parts = []
    label = clean(each.label)
    begin, end = each.pieces[0][0] - first, each.pieces[-1][1] - first
    held = {word - first for a, b in each.pieces for word in range(a, b)}
    runs: list[tuple[int, int]] = []  # words in one line that are all inside a piece or all in a gap
    for word in range(begin, end):
        same = runs and places[word][1] == places[runs[-1][0]][1] and (word in held) == (runs[-1][0] in held)
        runs[-1:] = [(runs[-1][0], word + 1)] if same else [*runs[-1:], (word, word + 1)]
    for a, b in runs:
        left = min(places[word][0] - halves[word] for word in (a, b - 1))
        right = max(places[word][0] + halves[word] for word in (a, b - 1))
        y = places[a][1] + 8 + _LANE * lane
        if a in held:
            parts.append(
                f'<rect class="bar" fill="#e3ecf8" x="{left:.1f}" y="{y:.0f}" width="{right - left:.1f}" height="16" '
                'rx="3"/>'
            )
            parts.append(
                f'<text class="kind" x="{(left + right) / 2:.1f}" y="{y + 12:.0f}" font-size="11">{label}</text>'
            )
        else:
            parts.append(
                f'<path class="bar gap" fill="none" stroke="#8793a0" '
                f'd="M{left - _GAP:.1f},{y + 8:.0f} H{right + _GAP:.1f}"/>'
            )
    return f'<g class="{hue(each.label)}" data-span="{each.number}">{"".join(parts)}</g>'
