"""Documents as pages: highlighted spans, the dependency tree with roles, phrases and scopes of every sentence.

A notebook displays `weft.show(doc)` directly; elsewhere `save` writes it as a self-contained page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from weft.errors import ConfigError, WeftError
from weft.pictures.arcs import draw_tree
from weft.pictures.events import DrawnEvent, draw_events, events_by_sentence
from weft.pictures.meaning import draw_amr
from weft.pictures.opinions import draw_opinions, opinions_by_sentence
from weft.pictures.phrases import draw_phrases
from weft.pictures.relations import draw_relations
from weft.pictures.scopes import draw_scope
from weft.pictures.spans import draw_spans, highlight_spans, span_layers, spans_by_sentence
from weft.pictures.style import clean, is_right_to_left, style_sheet, svg, text_width
from weft.pictures.timelines import draw_timeline
from weft.text.conventions.amr import LAYER as AMR
from weft.text.conventions.amr import amrs_of
from weft.text.conventions.events import LAYER as EVENTS
from weft.text.conventions.names import layer_name
from weft.text.conventions.opinions import LAYER as OPINIONS
from weft.text.conventions.opinions import Opinion
from weft.text.conventions.scope import LAYER as SCOPE
from weft.text.conventions.timeline import LAYER as TIMELINE
from weft.text.conventions.tuples import LAYER as RELATIONS
from weft.text.conventions.tuples import RelationTuple
from weft.text.doc import Doc
from weft.text.frames import LAYER as FRAMES
from weft.text.frames import frame_rows, frames_by_sentence
from weft.text.views import Sentence

#: What can be drawn: all but the timeline for a sentence, the timeline for a document.
KINDS = ("tree", "phrases", "scope", "amr", "relations", "events", "opinions", "spans", "timeline")
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
    ".weft-doc{padding:.25rem 1rem;border-radius:.4rem}.weft-doc figure{margin:1rem 0;overflow-x:auto;"
    "scrollbar-width:thin;scrollbar-color:var(--weft-line) transparent}"
    ".weft-doc figcaption{font-size:.8rem;color:var(--weft-soft)}.weft-doc svg{display:block;max-width:none}"
    ".weft-doc section+section{border-top:1px solid color-mix(in srgb,var(--weft-line) 35%,transparent)}"
    ".weft-doc h2{margin:1rem 0 0;font-size:.8rem;font-weight:400;color:var(--weft-soft)}"
    ".weft-doc .sentence-text{margin:.25rem 0}"
    ".weft-search{position:sticky;top:0;padding:.6rem 0;background:var(--weft-paper)}"
    ".weft-search input{font:inherit;width:min(24rem,60vw);padding:.3rem .5rem}"
    ".weft-doc figure[data-more~=left]{mask-image:linear-gradient(90deg,transparent,#000 3rem)}"
    ".weft-doc figure[data-more~=right]{mask-image:linear-gradient(270deg,transparent,#000 3rem)}"
    ".weft-doc figure[data-more='left right']"
    "{mask-image:linear-gradient(90deg,transparent,#000 3rem,#000 calc(100% - 3rem),transparent)}"
)
#: The search box of a page of several sentences.
_SEARCH = (
    '<p class="weft-search"><label>Search <input type="search" placeholder="words, or the id of a sentence"></label> '
    '<output aria-live="polite"></output></p>'
)


class Picture:
    """A picture: its `html` as text, displayed by notebooks, written by `save`."""

    def __init__(self, body: str, title: str, sentences: int, figures: int) -> None:
        self.html, self.title, self.sentences, self.figures = body, title, sentences, figures

    def _repr_html_(self) -> str:
        return self.html

    def page(self) -> str:
        """A self-contained page; with several sentences it has a search box."""
        script = (files("weft.pictures") / "pictures.js").read_text(encoding="utf-8")
        search = _SEARCH if self.sentences > 1 else ""
        body = self.html.replace("</style>", f"</style>{search}", 1)
        return _PAGE.format(title=clean(self.title), body=f"{body}\n<script>{script}</script>")

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
    """A picture of a document or of sentences.

    `kinds` selects from `tree`, `phrases`, `scope`, `amr`, `relations`, `events`, `opinions`, `spans` and `timeline`
    (default: all available), `layers` the span layers (default: all), and `limit` is the maximum number of sentences.

    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
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
    drawn: DocPictures | None = None
    parts, figures = [], 0
    for sentence in sentences[:limit]:
        if drawn is None or drawn.doc is not sentence.doc:
            drawn = DocPictures(sentence.doc, kinds, layers)
            if timeline := drawn.timeline(styled=False):
                figures += 1
                parts.append(
                    f"<section><h2>{clean(sentence.doc.id) or 'timeline'}</h2><figure>{timeline}</figure></section>"
                )
        own = _figures(drawn, sentence)
        figures += len(own)
        parts.append(_section(sentence, own))
    if len(sentences) > limit:
        parts.append(f"<p>{len(sentences) - limit:,} more sentences; show(doc, limit=N) shows more</p>")
    title = sentences[0].text if len(sentences) == 1 else f"{sentences[0].text} ..."
    body = f'<div class="weft weft-doc"><style>{style_sheet()}{_FRAME}</style>{"".join(parts)}</div>'
    return Picture(body, title, min(limit, len(sentences)), figures)


def show_timelines(docs: Iterable[Doc]) -> Picture:
    """A page of the timelines of documents, which need no words; those without events and times are left out.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc("surgery on Monday", meta={"id": "note"})
    >>> doc.spans["timeline"] = SpanLayer.of(doc.strings, [(0, 7, "EVENT"), (11, 17, "TIMEX3")], "chars")
    >>> show_timelines([doc]).figures
    1
    """
    parts, names = [], []
    for doc in docs:
        if len(doc.spans.get(TIMELINE, ())):
            names.append(doc.id or "timeline")
            picture = draw_timeline(doc, styled=False)
            parts.append(f"<section><h2>{clean(names[-1])}</h2><figure>{picture}</figure></section>")
    return page_of(parts, names[0] if len(names) == 1 else "Timelines", len(names))


def page_of(parts: Sequence[str], title: str, figures: int) -> Picture:
    """A page of sections with one figure each."""
    body = f'<div class="weft weft-doc"><style>{style_sheet()}{_FRAME}</style>{"".join(parts)}</div>'
    return Picture(body, title, figures, figures)


class DocPictures:
    """What can be drawn for a document, computed once for all its sentences.

    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> drawn = DocPictures(doc)
    >>> drawn.kinds, len(drawn.svgs(doc.sentences[0]))
    (['tree'], 1)
    """

    def __init__(self, doc: Doc, kinds: Sequence[str] | None = None, layers: Sequence[str] | None = None) -> None:
        known = span_layers(doc)
        for name in layers or ():
            if name not in known:
                raise ConfigError(f"there is no span layer {name!r}; available layers: {', '.join(known) or 'none'}")
        unknown = [kind for kind in kinds or () if kind not in KINDS]
        if unknown:
            raise ConfigError(f"cannot draw {', '.join(unknown)}; choose from {', '.join(KINDS)}")
        # Scopes are drawn as boxes, AMRs as graphs, frames above trees; as spans only if they are asked for.
        elsewhere = {SCOPE, AMR, *([FRAMES] if doc.head is not None else [])} - set(layers or ())
        known = {name: layer for name, layer in known.items() if name not in elsewhere}
        self._frames = frames_by_sentence(doc, frame_rows(doc)) if FRAMES in elsewhere & set(doc.spans) else None
        self._amrs = amrs_of(doc) if AMR in doc.graphs else [None] * doc.n_sentences
        self._scopes = {scope.sentence.index: scope for scope in doc.scope} if SCOPE in doc.relations else {}
        self._relations = _tuples_by_sentence(doc)
        self._events, self._opinions = _events_by_sentence(doc), _opinions_by_sentence(doc)
        there = {
            "tree": doc.head is not None, "phrases": doc.constituents is not None, "scope": bool(self._scopes),
            "amr": any(amr is not None for amr in self._amrs), "relations": bool(self._relations),
            "events": bool(self._events), "opinions": bool(self._opinions), "spans": bool(known),
        }  # fmt: skip
        self.doc = doc
        self.kinds = [kind for kind in KINDS[:-1] if there[kind] and (kinds is None or kind in kinds)]
        self.has_timeline = len(doc.spans.get(TIMELINE, ())) > 0 and (kinds is None or KINDS[-1] in kinds)
        self.layers = {name: layer for name, layer in known.items() if layers is None or name in layers}
        self._numbers = {name: spans_by_sentence(doc, layer) for name, layer in self.layers.items()}

    def svgs(self, sentence: Sentence, styled: bool = True) -> list[str]:
        """The SVG pictures of a sentence that are available: those of `trees`, and spans by layer."""
        drawn = self.trees(sentence, styled)
        if "spans" in self.kinds:
            drawn += [
                draw_spans(sentence, layer, styled, self._numbers[name][sentence.index], name)
                for name, layer in self.layers.items()
            ]
        return drawn

    def trees(self, sentence: Sentence, styled: bool = True) -> list[str]:
        """The pictures of a sentence's tree, phrases, scopes, AMR, relations, events and opinions."""
        frames = self._frames[sentence.index] if self._frames is not None else ()
        drawn = [draw_tree(sentence, styled, frames)] if "tree" in self.kinds else []
        drawn += [draw_phrases(sentence, styled)] if "phrases" in self.kinds else []
        scope = self.scope(sentence, styled)
        others = (
            scope, self.amr(sentence, styled), self.relations(sentence, styled), self.events(sentence, styled),
            self.opinions(sentence, styled),
        )  # fmt: skip
        return [*drawn, *(picture for picture in others if picture)]

    def scope(self, sentence: Sentence, styled: bool = True) -> str:
        """The picture of a sentence's scopes, "" if it has none."""
        found = self._scopes.get(sentence.index) if "scope" in self.kinds else None
        return draw_scope(found, styled) if found is not None else ""

    def relations(self, sentence: Sentence, styled: bool = True) -> str:
        """The picture of a sentence's relations, "" if it has none."""
        found = self._relations.get(sentence.index) if "relations" in self.kinds else None
        return draw_relations(sentence, found, styled) if found else ""

    def events(self, sentence: Sentence, styled: bool = True) -> str:
        """The picture of a sentence's events, "" if it has none."""
        found = self._events.get(sentence.index) if "events" in self.kinds else None
        return draw_events(sentence, found, styled) if found else ""

    def opinions(self, sentence: Sentence, styled: bool = True) -> str:
        """The picture of a sentence's opinions, "" if it has none."""
        found = self._opinions.get(sentence.index) if "opinions" in self.kinds else None
        return draw_opinions(sentence, found, styled) if found else ""

    def timeline(self, styled: bool = True) -> str:
        """The picture of the document's timeline, "" if it has none."""
        return draw_timeline(self.doc, styled) if self.has_timeline else ""

    def amr(self, sentence: Sentence, styled: bool = True) -> str:
        """The picture of a sentence's AMR, "" if it has none."""
        found = self._amrs[sentence.index] if "amr" in self.kinds else None
        return draw_amr(sentence, found, styled) if found is not None else ""

    def highlighted(self, sentence: Sentence) -> dict[str, str]:
        """A sentence with highlighted spans as HTML, by layer."""
        if "spans" not in self.kinds:
            return {}
        return {
            name: highlight_spans(sentence, layer, self._numbers[name][sentence.index], name)
            for name, layer in self.layers.items()
        }


def _tuples_by_sentence(doc: Doc) -> dict[int, list[RelationTuple]]:
    """The tuples of every sentence that has some; of a contradictory layer there are none."""
    found: dict[int, list[RelationTuple]] = {}
    try:
        tuples = doc.tuples if RELATIONS in doc.relations else []
    except WeftError:
        return found
    for each in tuples:
        sentence = each.sentence
        if sentence is not None:
            found.setdefault(sentence.index, []).append(each)
    return found


def _events_by_sentence(doc: Doc) -> dict[int, list[DrawnEvent]]:
    """The events of every sentence that has some; of a contradictory layer there are none."""
    try:
        return events_by_sentence(doc) if EVENTS in doc.graphs else {}
    except WeftError:
        return {}


def _opinions_by_sentence(doc: Doc) -> dict[int, list[Opinion]]:
    """The opinions of every sentence that has some; of a contradictory layer there are none."""
    try:
        return opinions_by_sentence(doc) if OPINIONS in doc.spans else {}
    except WeftError:
        return {}


def pictures_of(
    sentence: Sentence, kinds: Sequence[str] | None = None, layers: Sequence[str] | None = None, styled: bool = True
) -> list[str]:
    """The SVG pictures of one sentence; for many sentences of a document see `DocPictures`.

    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> len(pictures_of(doc.sentences[0]))
    1
    """
    return DocPictures(sentence.doc, kinds, layers).svgs(sentence, styled)


def stacked(pictures: Sequence[str], title: str, caption: str = "") -> str:
    """Combine pictures without style sheets into one below the other, with one style sheet, below a caption if any.

    >>> from weft.pictures.style import svg
    >>> stacked([svg("", 10, 5, "", "", styled=False), svg("", 20, 5, "", "", styled=False)], "two").split(">")[0][-42:]
    'width="20" height="10" viewBox="0 0 20 10"'
    """
    parts, width, height = [], 0.0, 0.0
    if caption:
        parts.append(f'<text class="caption" x="18" y="20" font-size="12" text-anchor="start">{clean(caption)}</text>')
        width, height = 36 + text_width(caption, 12), 24.0
    for picture in pictures:
        own_width, own_height = (
            float(picture.split(f'{side}="', 1)[1].split('"', 1)[0]) for side in ("width", "height")
        )
        parts.append(picture.strip().replace("<svg ", f'<svg y="{height:.0f}" ', 1))
        width, height = max(width, own_width), height + own_height
    return svg("".join(parts), width, height, title, f"{len(pictures)} pictures")


def _figures(drawn: DocPictures, sentence: Sentence) -> list[str]:
    """The pictures of a sentence; a layer without spans in it is left out unless nothing else is shown."""
    trees = drawn.trees(sentence, styled=False)
    layers = drawn.highlighted(sentence)
    shown = {name: html for name, html in layers.items() if "<mark" in html}
    if not shown and not trees:
        shown = dict(list(layers.items())[:1])
    figures = [
        f"<figure>{html}<figcaption>{clean(layer_name(name))}</figcaption></figure>" for name, html in shown.items()
    ]
    direction = ' dir="rtl"' if is_right_to_left(sentence.text) else ""
    return figures + [f"<figure{direction}>{picture}</figure>" for picture in trees]


def sentence_id(sentence: Sentence) -> str:
    """The `# sent_id` of a sentence, "" if it has none.

    >>> sentence_id(Doc.from_words([["Dogs", "bark"]]).sentences[0])
    ''
    """
    return str(sentence.meta.get("sent_id", ""))


def _section(sentence: Sentence, figures: Sequence[str]) -> str:
    """The pictures of a sentence below its number, its id and its text."""
    name = sentence_id(sentence)
    anchor = f' id="{clean(name)}"' if name else ""
    title = f"{sentence.index + 1}" + (f" <code>{clean(name)}</code>" if name else "")
    has_text = any('class="weft spans"' in figure for figure in figures)
    text = "" if has_text else f'<p class="sentence-text" dir="auto">{clean(sentence.text)}</p>'
    return f"<section{anchor}><h2>{title}</h2>{text}{''.join(figures)}</section>"
