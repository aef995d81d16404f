"""Documents as pages: for every sentence its highlighted spans, its dependency tree and its phrases.

`weft.show(doc)` is a value that a notebook displays by itself; elsewhere `save` writes it as a page that needs nothing
else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from weft.errors import ConfigError, WeftError
from weft.pictures.arcs import draw_tree
from weft.pictures.phrases import draw_phrases
from weft.pictures.spans import draw_spans, highlight_spans, span_layers
from weft.pictures.style import clean, style_sheet, svg
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.views import Sentence

#: What can be drawn of a sentence.
KINDS = ("tree", "phrases", "spans")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
</head>
<body>
{body}
</body>
</html>
"""
_FRAME = (
    ".weft-doc{padding:.25rem 1rem;border-radius:.4rem}.weft-doc figure{margin:1rem 0;overflow-x:auto}"
    ".weft-doc figcaption{font-size:.8rem;color:var(--weft-soft)}.weft-doc svg{display:block;max-width:none}"
)


class Picture:
    """Something to look at: `html` as text, displayed by notebooks, written by `save`."""

    def __init__(self, body: str, title: str, sentences: int, figures: int) -> None:
        self.html, self.title, self.sentences, self.figures = body, title, sentences, figures

    def _repr_html_(self) -> str:
        return self.html

    def page(self) -> str:
        """A page that stands by itself."""
        return _PAGE.format(title=clean(self.title), body=self.html)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page."""
        Path(path).write_text(self.page(), encoding="utf-8")

    def __repr__(self) -> str:
        return f"Picture({self.title!r}); notebooks display it, save('page.html') writes it"


def show(
    item: Doc | Sentence | Iterable[Sentence],
    kinds: Sequence[str] | None = None,
    layers: Sequence[str] | None = None,
    limit: int = 50,
) -> Picture:
    """A document or sentences to look at.

    `kinds` are what to draw, of `tree`, `phrases` and `spans` (all that is there), `layers` the layers of spans (all),
    `limit` the most sentences.

    >>> doc = Doc.of_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> show(doc)
    Picture('Dogs bark'); notebooks display it, save('page.html') writes it
    >>> show(Doc("Dogs bark"))
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: there is nothing to show: the document has no sentences; annotate it first
    """
    sentences = list(item.sentences if isinstance(item, Doc) else [item] if isinstance(item, Sentence) else item)
    if not sentences:
        raise WeftError("there is nothing to show: the document has no sentences; annotate it first")
    of_doc: dict[int, dict[str, SpanLayer]] = {}
    parts = []
    for sentence in sentences[:limit]:
        known = of_doc.setdefault(id(sentence.doc), span_layers(sentence.doc))
        parts += _figures(sentence, chosen_kinds(sentence.doc, kinds), chosen_layers(known, layers))
    figures = len(parts)
    if len(sentences) > limit:
        parts.append(f"<p>{len(sentences) - limit:,} more sentences; show(doc, limit=N) shows more</p>")
    title = sentences[0].text if len(sentences) == 1 else f"{sentences[0].text} ..."
    body = f'<div class="weft weft-doc"><style>{style_sheet()}{_FRAME}</style>{"".join(parts)}</div>'
    return Picture(body, title, min(limit, len(sentences)), figures)


def pictures_of(
    sentence: Sentence, kinds: Sequence[str] | None = None, layers: Sequence[str] | None = None, styled: bool = True
) -> list[str]:
    """The SVG pictures of a sentence: its tree, its phrases, one of spans a layer, as far as there are.

    >>> doc = Doc.of_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> len(pictures_of(doc.sentences[0]))
    1
    """
    found = chosen_layers(span_layers(sentence.doc), layers)
    drawn = []
    for kind in chosen_kinds(sentence.doc, kinds):
        if kind == "tree":
            drawn.append(draw_tree(sentence, styled))
        elif kind == "phrases":
            drawn.append(draw_phrases(sentence, styled))
        else:
            drawn += [draw_spans(sentence, layer, styled) for layer in found.values()]
    return drawn


def chosen_kinds(doc: Doc, kinds: Sequence[str] | None) -> list[str]:
    """What to draw: what was asked for, else what the document has."""
    if kinds is None:
        there = {"tree": doc.head is not None, "phrases": doc.constituents is not None, "spans": bool(span_layers(doc))}
        return [kind for kind in KINDS if there[kind]]
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ConfigError(f"cannot draw {', '.join(unknown)}: there are {', '.join(KINDS)}")
    return list(kinds)


def chosen_layers(known: dict[str, SpanLayer], layers: Sequence[str] | None) -> dict[str, SpanLayer]:
    """The layers of spans to draw: those asked for, else all."""
    for name in layers or ():
        if name not in known:
            raise ConfigError(f"there is no span layer {name!r}; there are: {', '.join(known) or 'none'}")
    return {name: layer for name, layer in known.items() if layers is None or name in layers}


def stacked(pictures: Sequence[str], title: str) -> str:
    """Pictures without a style of their own, one below the other, as one that has it.

    >>> from weft.pictures.style import svg
    >>> stacked([svg("", 10, 5, "", "", styled=False), svg("", 20, 5, "", "", styled=False)], "two").split(">")[0][-42:]
    'width="20" height="10" viewBox="0 0 20 10"'
    """
    parts, width, height = [], 0.0, 0.0
    for picture in pictures:
        own_width, own_height = (
            float(picture.split(f'{side}="', 1)[1].split('"', 1)[0]) for side in ("width", "height")
        )
        parts.append(picture.strip().replace("<svg ", f'<svg y="{height:.0f}" ', 1))
        width, height = max(width, own_width), height + own_height
    return svg("".join(parts), width, height, title, f"{len(pictures)} pictures")


def _figures(sentence: Sentence, kinds: Sequence[str], layers: dict[str, SpanLayer]) -> list[str]:
    figures = []
    if "spans" in kinds:
        figures += [
            f"<figure>{highlight_spans(sentence, layer)}<figcaption>{clean(name)}</figcaption></figure>"
            for name, layer in layers.items()
        ]
    if "tree" in kinds:
        figures.append(f"<figure>{draw_tree(sentence, styled=False)}</figure>")
    if "phrases" in kinds:
        figures.append(f"<figure>{draw_phrases(sentence, styled=False)}</figure>")
    return figures
