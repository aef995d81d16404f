"""Annotated documents as responses: JSON for programs and the page, files in every format for download."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from weft.errors import ConfigError
from weft.formats import FORMATS, write
from weft.pictures import DocPictures, show, span_layers, stacked
from weft.pipeline.explanation import MOST
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.windows import KEY as WINDOWS
from weft.scale.job import fit
from weft.text.conventions.alternatives import KEY
from weft.text.doc import Doc
from weft.text.language import foreign_language, other_script
from weft.text.layers import SpanLayer
from weft.text.nesting import levels_of
from weft.text.records import record_of
from weft.text.views import Sentence

#: Longer sentences (in words) are not drawn: nobody could read the tree.
WIDEST = 250
_MEDIA = {
    "records": "application/x-ndjson", "jsonl": "application/x-ndjson", "tuples": "application/x-ndjson",
    "links": "application/x-ndjson", "parquet": "application/vnd.apache.parquet", "nif": "text/turtle; charset=utf-8",
    "bioscope": "application/xml", "timeml": "application/xml", "anafora": "application/xml", "xmi": "application/xml",
    "brat": "application/zip", "html": "text/html; charset=utf-8", "svg": "image/svg+xml",
}  # fmt: skip
#: Relation layers that are no cues and scopes.
_OWN_LINKS = ("scope", "timeline", "frames", "relations", "preferences")
_SUFFIX = {
    "anafora": ".anafora.xml",
    "brat": ".zip",
    "links": ".links.jsonl",
    "html": ".html",
    "svg": ".svg",
    "plain": ".txt",
}


class File(NamedTuple):
    """A file for download."""

    name: str
    media: str
    content: bytes


def formats_of(provides: Sequence[str]) -> list[str]:
    """The formats that can represent something of a model's predictions, most common first.

    >>> formats_of(["tokens", "upos", "head"])
    ['conllu', 'records', 'jsonl', 'parquet', 'columns', 'plain', 'html', 'svg']
    """
    spans = [layer for layer in provides if layer.startswith("spans/")]
    pictures = spans or any(layer in provides for layer in ("head", "constituents"))
    formats = ["conllu", "records", "jsonl", "parquet", "columns", "plain", *(["html", "svg"] if pictures else [])]
    formats += ["brat"] if spans else []
    formats += ["links", "nif"] if "spans/links" in provides else []
    formats += ["times", "timeml"] if "spans/times" in provides else []
    formats += ["anafora", "xmi"] if "spans/timeline" in provides else []
    formats += ["coref"] if "spans/coref" in provides else []
    formats += ["penn"] if "constituents" in provides else []
    formats += ["streusle"] if "spans/mwe" in provides else []
    links = {layer for layer in provides if layer.startswith("relations/")}
    formats += ["tuples"] if "relations/relations" in links else []
    formats += ["bioscope"] if links - {f"relations/{name}" for name in _OWN_LINKS} else []
    return formats


def explained(nlp: Pipeline, doc: Doc, word: int) -> list[dict[str, Any]]:
    """Why every component that can say so decided as it did about a word; the strongest reasons of each."""
    found = [
        component.explain(doc, word).to_dict()
        for component in nlp.components
        if component.explains and all(doc.has(layer) for layer in component.requires)
    ]
    return [{**each, "reasons": each["reasons"][:MOST]} for each in found]


def to_json(
    doc: Doc, model: str, seconds: float, pictures: bool = False, language: str = "",
    explanations: Sequence[dict[str, Any]] | None = None,
) -> bytes:  # fmt: skip
    """A document as its record (`weft.text.records`) with facts about the answer, as `weft.serve.schemas.Answer` says.

    With pictures there is a notice if the language of the text is another than that of the model.

    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> json.loads(to_json(doc, "en", 0.1))["words"][1]
    {'start': 5, 'end': 9, 'form': 'bark', 'upos': 'VERB'}
    """
    answer: dict[str, Any] = {**record_of(doc), "model": model, "seconds": round(seconds, 4)}
    if pictures:
        drawn = DocPictures(doc)
        for sentence, row in zip(doc.sentences, answer["sentences"], strict=True):
            row["pictures"] = _pictures(sentence, drawn)
        if timeline := drawn.timeline(styled=False):
            answer["timeline"] = timeline
    foreign = None
    if pictures and language:
        foreign = foreign_language(doc.text, language) or other_script(doc.text, language)
    if foreign is not None:
        answer["notice"] = f"the text looks like {foreign.name}; the model {model} is {language}"
    if explanations is not None:
        answer["explanations"] = explanations
    if WINDOWS in doc.meta:
        answer["notes"] = [f"{task}: {note}" for task, note in doc.meta[WINDOWS].items()]
    return json.dumps(answer, ensure_ascii=False).encode()


def to_file(doc: Doc, format: str) -> File:
    """A document as a file in a format.

    >>> to_file(Doc.from_words([["Dogs", "bark"]]), "plain")
    File(name='weft.txt', media='text/plain; charset=utf-8', content=b'Dogs bark\\n')
    """
    name = f"weft{_SUFFIX.get(format) or FORMATS[format][0]}"
    media = _MEDIA.get(format, "text/plain; charset=utf-8")
    if format == "html":
        return File(name, media, show(doc, limit=1000).page().encode())
    if format == "svg":
        every = DocPictures(doc)
        pictures = [
            picture for each in doc.sentences if len(each) <= WIDEST for picture in every.svgs(each, styled=False)
        ]
        if not pictures:
            raise ConfigError("there is nothing to draw: the text has no words or its sentences are too long")
        return File(name, media, stacked(pictures, doc.text[:200]).encode())
    _fit(doc, format)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "weft") if format == "brat" else Path(folder, name)
        write([doc], place, format, **({"comments": "add"} if format == "conllu" else {}))
        return File(name, media, _zipped(place) if place.is_dir() else place.read_bytes())


def _fit(doc: Doc, format: str) -> None:
    """Put spans, probabilities and alternatives where a format has room for them; labels keep only outermost spans."""
    if format in ("conllu", "columns"):
        for name, layer in span_layers(doc).items():
            if not layer.is_flat() and (format == "columns" or name != "mwe"):
                doc.spans[name] = _outermost(layer)
    if format not in ("records", "jsonl", "conllu"):
        doc.meta.pop(KEY, None)
    fit(doc, format, kbest=len(doc.meta.get(KEY, {})))


def _outermost(layer: SpanLayer) -> SpanLayer:
    """The spans of a layer that are not inside another; those with gaps are dropped."""
    whole = [(number, row) for number, row in enumerate(layer) if len(row.pieces) == 1]
    levels = levels_of([(*row.pieces[0], row.label) for _, row in whole])
    outer = SpanLayer(layer.strings)
    for (number, row), level in zip(whole, levels, strict=True):
        if level == 0:
            outer.add(row.pieces, row.label, **layer.attributes.get(number, {}))
    return outer


def _zipped(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    return packed.getvalue()


def _pictures(sentence: Sentence, drawn: DocPictures) -> dict[str, Any]:
    drawings: dict[str, Any] = {"spans": drawn.highlighted(sentence)}
    if len(sentence) <= WIDEST:
        kinds = [kind for kind in drawn.kinds if kind in ("tree", "phrases")]
        drawings |= zip(kinds, drawn.trees(sentence, styled=False), strict=False)
        others = {
            "scope": drawn.scope, "amr": drawn.amr, "relations": drawn.relations, "events": drawn.events,
            "opinions": drawn.opinions,
        }  # fmt: skip
        for name, draw in others.items():
            if picture := draw(sentence, styled=False):
                drawings[name] = picture
    return drawings
