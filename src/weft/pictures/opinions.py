"""Opinions over the text, by aspect: one band per opinion, from what is judged to the words that say so.

lens       o--------========      positive
zoom                      o----====  negative
       The lens is great but the zoom jams
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.pictures.over_text import WordLine, dot, ray
from weft.pictures.style import clean, text_width
from weft.text.conventions.opinions import Opinion
from weft.text.doc import Doc
from weft.text.views import Sentence, Span

#: Green, red, and for comparisons blue and violet.
HUES = {"positive": "h1", "negative": "h4", "better": "h0", "worse": "h3"}
_BAND = 24.0
WHOLE = "as a whole"


def opinions_by_sentence(doc: Doc) -> dict[int, list[Opinion]]:
    """The opinions of every sentence that has some."""
    found: dict[int, list[Opinion]] = {}
    for each in doc.opinions:
        if each.words:
            found.setdefault(each.words[0].sentence.index, []).append(each)
    return found


def by_aspect(opinions: Sequence[Opinion]) -> list[tuple[str, list[Opinion]]]:
    """Opinions by the name of the aspect, in the order of the text; those about a thing as a whole come last.

    >>> from weft.text.conventions.opinions import OpinionRow, set_opinions
    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Lens", "and", "zoom", "jam"]])
    >>> doc.spans["mentions"] = SpanLayer.of(doc.strings, [(0, 1, "aspect"), (2, 3, "aspect")])
    >>> set_opinions(doc, [OpinionRow("negative", aspect=number, evidence=(3, 4)) for number in (1, 0)])
    >>> [(name, len(own)) for name, own in by_aspect(list(doc.opinions))]
    [('lens', 1), ('zoom', 1)]
    """
    groups: dict[str, list[Opinion]] = {}
    for each in sorted(opinions, key=lambda one: (one.aspect is None, one.row.aspect, one.index)):
        groups.setdefault(each.aspect.text.lower() if each.aspect is not None else WHOLE, []).append(each)
    return list(groups.items())


def draw_opinions(sentence: Sentence, opinions: Sequence[Opinion], styled: bool = True) -> str:
    """The opinions of a sentence as SVG: points on the mentions, a bar over the evidence.

    >>> from weft.text.conventions.opinions import OpinionRow, set_opinions
    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["The", "lens", "is", "great"]])
    >>> doc.spans["mentions"] = SpanLayer.of(doc.strings, [(1, 2, "aspect")])
    >>> set_opinions(doc, [OpinionRow("positive", aspect=0, evidence=(2, 4))])
    >>> picture = draw_opinions(doc.sentences[0], doc.opinions)
    >>> picture.count("<circle"), picture.count("<rect"), "<desc>positive: lens (is great)</desc>" in picture
    (1, 1, True)
    """
    groups = by_aspect(opinions)
    label = {id(each): _label(name, each) for name, own in groups for each in own}
    line = WordLine(sentence, left=18 + 14 + max((text_width(text, 12) for text in label.values()), default=0.0))
    for _, own in groups:
        for each in own:
            y = line.height + 12
            kind = HUES[each.label]
            mentions = [span for span in (each.entity, each.aspect, each.other) if span is not None]
            points = [line.middle(_pieces(span)) for span in mentions]
            reach = list(points)
            parts = [
                f'<text class="kind start {kind}" x="18" y="{y + 4:.1f}" font-size="12" text-anchor="start">'
                f"{clean(label[id(each)])}</text>"
            ]
            if each.evidence is not None:
                low, high = line.ends(_pieces(each.evidence))
                reach += [low, high]
                parts.append(
                    f'<rect class="bar {kind}" stroke="#8793a0" x="{low:.1f}" y="{y - 4:.1f}" '
                    f'width="{high - low:.1f}" height="8" rx="3"/>'
                )
            parts.insert(1, ray(min(reach), y, max(reach), y))
            parts += [dot(x, y, kind) for x in points]
            line.band(_BAND, "".join(parts))
    told = "; ".join(each.told for _, own in groups for each in own)
    return line.picture(f"Opinions of: {sentence.text}", told, "opinions", styled)


def _label(name: str, each: Opinion) -> str:
    return f"{name}: {each.label}" if each.other is None else f"{name}: {each.told.split(' by ')[0].split(' (')[0]}"


def _pieces(span: Span) -> list[tuple[int, int]]:
    return [(word.index, word.index + 1) for word in span.words]
