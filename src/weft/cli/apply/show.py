"""Human-readable documents: words with their spans, tags or trees, in colour on a terminal."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.text import Doc, Sentence
from weft.text.conventions.names import label_with_value, layer_name

if TYPE_CHECKING:
    from rich.text import Text

PALETTE = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")
#: The spans to draw, by their first word: the index after the last word, and the label.
Drawn = dict[int, tuple[int, str]]


def lines(doc: Doc) -> Iterator[Text]:
    """A document as coloured lines: for each sentence one line per span layer that has spans in it, then its tree.

    A sentence with neither shows its tags.

    >>> doc = Doc.from_words([["Dogs", "bark", "."]], upos=[["NOUN", "VERB", "PUNCT"]])
    >>> [line.plain for line in lines(doc)]
    ['Dogs/NOUN bark/VERB ./PUNCT']
    >>> from weft.text import SpanLayer
    >>> doc.spans["chunks"] = SpanLayer.of(doc.strings, [(0, 1, "NP"), (1, 2, "VP")])
    >>> [line.plain for line in lines(doc)]
    ['chunks: [NP Dogs] [VP bark] .']
    """
    from rich.text import Text

    layers = {name: _drawn(doc, name) for name, layer in doc.spans.items() if layer.unit == "words"}
    relations = _relations(doc)
    for sentence in doc.sentences:
        some = {
            name: drawn
            for name, drawn in layers.items()
            if any(sentence.first <= start < sentence.end for start in drawn)
        }
        for name, drawn in some.items():
            yield Text(f"{layer_name(name)}: ", style="dim").append_text(_spans(sentence, drawn))
        for told in relations.get(sentence.first, ()):
            yield Text("relation: ", style="dim").append(told)
        if sentence.root is not None:
            yield from map(Text, sentence.tree().split("\n"))
        elif not some:
            yield _tags(sentence)


def colour(label: str) -> str:
    """A fixed colour for each label.

    >>> colour("NP") == colour("NP")
    True
    """
    return PALETTE[zlib.crc32(label.encode()) % len(PALETTE)]


def _relations(doc: Doc) -> dict[int, list[str]]:
    """The tuples of mentions and the opinions in words, by the first word of the sentence that they begin in."""
    found: dict[int, list[str]] = {}
    for each in doc.tuples:
        sentence = each.sentence
        if sentence is not None:
            found.setdefault(sentence.first, []).append(each.told)
    for opinion in doc.opinions if doc.n_words else []:
        word = opinion.words[0] if opinion.words else None
        if word is not None:
            found.setdefault(word.sentence.first, []).append(opinion.told)
    return found


def _drawn(doc: Doc, layer: str) -> Drawn:
    """The spans to draw; of spans with the same start, the longest."""
    drawn: Drawn = {}
    attributes = doc.spans[layer].attributes
    for number, row in enumerate(doc.spans[layer]):
        start, end = row.pieces[0][0], row.pieces[-1][1]
        if start not in drawn or end > drawn[start][0]:
            drawn[start] = (end, label_with_value(layer, row.label, attributes.get(number, {})))
    return drawn


def _spans(sentence: Sentence, drawn: Drawn) -> Text:
    """Words with brackets around spans; spans that begin inside another are left out."""
    from rich.text import Text

    text, position, forms = Text(), sentence.first, [word.form for word in sentence]
    while position < sentence.end:
        if text:
            text.append(" ")
        end, label = drawn.get(position, (position + 1, ""))
        words = " ".join(forms[position - sentence.first : end - sentence.first])
        if label:
            text.append(f"[{label} ", style=f"bold {colour(label)}").append(words, style=colour(label))
            text.append("]", style=f"bold {colour(label)}")
        else:
            text.append(words)
        position = end
    return text


def _tags(sentence: Sentence) -> Text:
    from rich.text import Text

    text = Text()
    for word in sentence:
        tag = word.upos or word.xpos
        text.append(" " if text else "").append(word.form)
        if tag:
            text.append(f"/{tag}", style=colour(tag))
    return text
