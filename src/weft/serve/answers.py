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
from weft.pipeline.windows import KEY as WINDOWS
from weft.scale.job import fit
from weft.text.conventions.alternatives import KEY, alternatives
from weft.text.doc import Doc
from weft.text.language import foreign_language
from weft.text.layers import SpanLayer, chars_of_words
from weft.text.nesting import levels_of
from weft.text.views import Sentence

#: Longer sentences (in words) are not drawn: nobody could read the tree.
WIDEST = 250
_MEDIA = {
    "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet", "bioscope": "application/xml",
    "brat": "application/zip", "html": "text/html; charset=utf-8", "svg": "image/svg+xml",
}  # fmt: skip
_SUFFIX = {"brat": ".zip", "html": ".html", "svg": ".svg", "plain": ".txt"}


class File(NamedTuple):
    """A file for download."""

    name: str
    media: str
    content: bytes


def formats_of(provides: Sequence[str]) -> list[str]:
    """The formats that can represent something of a model's predictions, most common first.

    >>> formats_of(["tokens", "upos", "head"])
    ['conllu', 'jsonl', 'parquet', 'columns', 'plain', 'html', 'svg']
    """
    spans = [layer for layer in provides if layer.startswith("spans/")]
    pictures = spans or any(layer in provides for layer in ("head", "constituents"))
    formats = ["conllu", "jsonl", "parquet", "columns", "plain", *(["html", "svg"] if pictures else [])]
    formats += ["brat"] if spans else []
    formats += ["penn"] if "constituents" in provides else []
    formats += ["streusle"] if "spans/mwe" in provides else []
    formats += ["bioscope"] if any(layer.startswith("relations/") for layer in provides) else []
    return formats


def to_json(doc: Doc, model: str, seconds: float, pictures: bool = False, language: str = "") -> bytes:
    """A document as the JSON of `weft.serve.schemas.Answer`; with pictures, with a notice if its language is another.

    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> json.loads(to_json(doc, "en", 0.1))["sentences"][0]["words"][1]
    {'number': 2, 'index': 1, 'form': 'bark', 'start': 5, 'end': 9, 'upos': 'VERB'}
    """
    drawn = DocPictures(doc)
    answer: dict[str, Any] = {
        "model": model,
        "text": doc.text,
        "seconds": round(seconds, 4),
        "sentences": _sentences(doc, drawn if pictures else None),
        "spans": {name: _spans(doc, layer) for name, layer in drawn.layers.items()},
    }
    foreign = foreign_language(doc.text, language) if pictures and language else None
    if foreign is not None:
        answer["notice"] = f"the text looks like {foreign.name}; the model {model} is {language}"
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
    if format not in ("jsonl", "conllu"):
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


def _sentences(doc: Doc, drawn: DocPictures | None) -> list[dict[str, Any]]:
    columns = {name: doc.column(name) for name in doc.columns if name == "form" or doc.has(name)}
    heads = None if doc.head is None else doc.head.tolist()
    confidence = {name: values.tolist() for name, values in doc.confidence.items()}
    starts, ends = doc.word_start.tolist(), doc.word_end.tolist()
    ranked = {task: alternatives(doc, task) for task in doc.meta.get(KEY, {})}
    sentences = []
    for sentence in doc.sentences:
        first, end = sentence.first, sentence.end
        words = []
        for i in range(first, end):
            word: dict[str, Any] = {"number": i - first + 1, "index": i, "form": columns["form"][i]}
            word |= {"start": starts[i], "end": ends[i]}
            word |= {name: values[i] for name, values in columns.items() if name != "form" and values[i]}
            if heads is not None and heads[i] >= 0:
                word["head"] = heads[i]
            if confidence:
                word["confidence"] = {name: round(values[i], 4) for name, values in confidence.items()}
            words.append(word)
        each: dict[str, Any] = {"number": sentence.index + 1, "start": starts[first] if words else 0}
        each |= {"end": ends[end - 1] if words else 0, "text": sentence.text, "words": words}
        if ranked:
            each["alternatives"] = {task: rows[sentence.index] for task, rows in ranked.items()}
        if drawn is not None:
            each["pictures"] = _pictures(sentence, drawn)
        sentences.append(each)
    return sentences


def _pictures(sentence: Sentence, drawn: DocPictures) -> dict[str, Any]:
    drawings: dict[str, Any] = {"spans": drawn.highlighted(sentence)}
    if len(sentence) <= WIDEST:
        kinds = [kind for kind in drawn.kinds if kind != "spans"]
        drawings |= zip(kinds, drawn.trees(sentence, styled=False), strict=True)
    return drawings


def _spans(doc: Doc, layer: SpanLayer) -> list[dict[str, Any]]:
    spans = []
    for number, (row, letters) in enumerate(zip(layer, chars_of_words(doc, layer), strict=True)):
        each: dict[str, Any] = {
            "label": row.label,
            "text": " ... ".join(doc.text[start:end] for start, end in letters.pieces),
            "words": row.pieces,
            "characters": letters.pieces,
        }
        if "probability" in layer.attributes.get(number, {}):
            each["probability"] = layer.attributes[number]["probability"]
        spans.append(each)
    return spans
