"""Data frames of pandas or Polars: one row per document, one row per word, or one row per span.

| frame | columns |
|---|---|
| documents | `document` (its index), `id`, `text` |
| words | `document`, `sentence`, `word` (number in the sentence, from 1), `token`, `start`, `end` (characters), `form`, the documents' columns, `head` |
| spans | `document`, `id`, `layer`, `label`, `text`, `start`, `end` (characters), `probability`, `unit` and `pieces` (of the layer; JSON) |

`docs_of_frames` reassembles documents. Not preserved: comments, empty nodes, columns of multiword tokens other than
their form, names and attributes of spans, probabilities of words, relations, clusters, graphs, phrases, metadata except the id.
"""  # noqa: E501

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from weft.errors import ConfigError, WeftError
from weft.packages import needed
from weft.text.doc import Doc, Multiword
from weft.text.layers import SpanLayer
from weft.text.strings import StringTable
from weft.text.views import Span

Library = Literal["pandas", "polars"]
Columns = dict[str, list[Any]]
_PLACES = ("document", "sentence", "word", "token", "start", "end")


def documents_frame(docs: Iterable[Doc], library: Library = "pandas") -> Any:
    """One row per document."""
    rows = [(number, doc.id, doc.text) for number, doc in enumerate(docs)]
    columns = dict(zip(("document", "id", "text"), map(list, zip(*rows, strict=True)), strict=False))
    return _frame(columns or {"document": [], "id": [], "text": []}, library)


def words_frame(docs: Iterable[Doc], library: Library = "pandas") -> Any:
    """One row per word.

    >>> frame = words_frame([Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])])
    >>> frame[["word", "start", "end", "form", "upos"]].values.tolist()
    [[1, 0, 4, 'Dogs', 'NOUN'], [2, 5, 9, 'bark', 'VERB']]
    """
    columns: Columns = {name: [] for name in (*_PLACES, "form")}
    total = 0
    for number, doc in enumerate(docs):
        word_columns = _word_columns(doc, number)
        for name, values in word_columns.items():
            columns.setdefault(name, _missing(name) * total).extend(values)
        total += doc.n_words
        for name, values in columns.items():
            values += _missing(name) * (total - len(values))
    return _frame(columns, library)


def spans_frame(docs: Iterable[Doc], library: Library = "pandas") -> Any:
    """One row per span of any layer.

    >>> doc = Doc.from_words([["Ada", "slept"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> spans_frame([doc])[["layer", "label", "text", "start", "end"]].values.tolist()
    [['entities', 'PER', 'Ada', 0, 3]]
    """
    names = ("document", "id", "layer", "label", "text", "start", "end", "probability", "unit", "pieces")
    columns: Columns = {name: [] for name in names}
    for number, doc in enumerate(docs):
        for layer_name, layer in doc.spans.items():
            for i, (pieces, label) in enumerate(layer):
                span = Span(doc, layer_name, i)
                place = (span.start, span.end, span.probability, layer.unit, json.dumps(pieces))
                row = (number, doc.id, layer_name, label, span.text, *place)
                for name, value in zip(names, row, strict=True):
                    columns[name].append(value)
    return _frame(columns, library)


def docs_of_frames(documents: Any, words: Any = None, spans: Any = None) -> list[Doc]:
    """Rebuild documents from pandas or Polars frames.

    >>> docs = [Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]], head=[[2, 0], [2, 0]])]
    >>> docs_of_frames(documents_frame(docs), words_frame(docs), spans_frame(docs))[0].same(docs[0])
    True
    """
    strings = StringTable()
    by_number: dict[int, Doc] = {}
    table = _columns(documents)
    for number, text in zip(table["document"], table["text"], strict=True):
        by_number[number] = Doc(text, strings)
    for number, name in zip(table["document"], table.get("id", []), strict=False):
        if name:
            by_number[number].meta["id"] = name
    if words is not None:
        for number, rows in _parted(_columns(words)).items():
            _set_words(_doc(by_number, number), rows)
    if spans is not None:
        for number, rows in _parted(_columns(spans)).items():
            _set_spans(_doc(by_number, number), rows)
    return list(by_number.values())


def _missing(column: str) -> list[Any]:
    return [-1] if column == "head" else [""]


def _word_columns(doc: Doc, number: int) -> Columns:
    lengths = np.diff(doc.sentence_offsets) if doc.n_sentences else np.array([doc.n_words])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else np.zeros(0, dtype=np.int64)
    columns: Columns = {
        "document": [number] * doc.n_words,
        "sentence": np.repeat(np.arange(1, len(lengths) + 1), lengths).tolist(),
        "word": (np.arange(1, doc.n_words + 1) - np.repeat(starts, lengths)).tolist(),
        "token": doc.word_token.tolist(),
        "start": doc.word_start.tolist(),
        "end": doc.word_end.tolist(),
        "form": doc.column("form"),
    }
    columns |= {name: doc.column(name) for name, ids in doc.columns.items() if name != "form" and ids.any()}
    if doc.head is not None:
        columns["head"] = doc.head.tolist()
    clash = [name for name in doc.columns if name in (*_PLACES, "head")]
    if clash:
        raise WeftError(f"the column {clash[0]!r} of the document clashes with a column of the frame; rename it first")
    return columns


def _set_words(doc: Doc, rows: Columns) -> None:
    tokens = np.asarray(rows["token"], dtype=np.int64)
    firsts = np.flatnonzero(np.diff(tokens, prepend=-1))
    starts, ends = np.asarray(rows["start"]), np.asarray(rows["end"])
    if len(ends) and int(ends.max()) > len(doc.text):
        raise WeftError(f"a word ends at character {int(ends.max())}, but the text has {len(doc.text)} characters")
    doc.set_offsets(starts[firsts], ends[firsts])
    doc.word_token = np.cumsum(np.diff(tokens, prepend=-1) != 0).astype(np.int32) - 1
    doc.set_column("form", [str(form) for form in rows["form"]])
    sentences = np.asarray(rows["sentence"])
    doc.set_sentences([*np.flatnonzero(np.diff(sentences, prepend=-1)).tolist(), len(sentences)])
    for name, values in rows.items():
        if name == "head":
            doc.head = np.array(values, dtype=np.int32) if any(value >= 0 for value in values) else None
        elif name not in (*_PLACES, "form") and any(values):
            doc.set_column(name, [str(value) for value in values])
    for first, end in pairwise([*firsts.tolist(), doc.n_words]):
        text = doc.text[int(starts[first]) : int(ends[first])]
        if end - first > 1 or rows["form"][first] != text:
            doc.multiwords.append(Multiword(first, end, (text, *[""] * 8)))


def _set_spans(doc: Doc, rows: Columns) -> None:
    names = ("layer", "unit", "label", "pieces", "probability")
    for layer, unit, label, packed, probability in zip(*(rows[name] for name in names), strict=True):
        spans = doc.spans.setdefault(layer, SpanLayer(doc.strings, unit))
        pieces = [(int(start), int(end)) for start, end in json.loads(packed)]
        limit = doc.n_words if unit == "words" else len(doc.text)
        if pieces[-1][1] > limit:
            raise WeftError(f"a span in the layer {layer!r} ends at {pieces[-1][1]}, but there are {limit} {unit}")
        number = spans.add(pieces, label)
        if probability is not None and probability == probability:  # pandas writes None as NaN
            spans.attributes[number] = {"probability": float(probability)}


def _frame(columns: Columns, library: Library) -> Any:
    if library not in ("pandas", "polars"):
        raise ConfigError(f"library={library!r}: expected 'pandas' or 'polars'")
    return needed(library, f"a {library} frame").DataFrame(columns)


def _columns(frame: Any) -> Columns:
    """The columns of a frame from either library as lists."""
    if hasattr(frame, "to_dict") and hasattr(frame, "iloc"):
        return {str(name): values for name, values in frame.to_dict("list").items()}
    if hasattr(frame, "to_dict"):
        return dict(frame.to_dict(as_series=False))
    if isinstance(frame, Mapping):
        return {name: list(values) for name, values in frame.items()}
    raise WeftError(f"expected a pandas or Polars frame, but got {type(frame).__name__}")


def _parted(columns: Columns) -> dict[int, Columns]:
    """The rows of every document, in order."""
    if "document" not in columns:
        raise WeftError(f"the frame has no column 'document'; its columns are {', '.join(columns) or 'none'}")
    places: dict[int, list[int]] = {}
    for place, number in enumerate(columns["document"]):
        places.setdefault(number, []).append(place)
    return {
        number: {name: [values[place] for place in positions] for name, values in columns.items() if name != "document"}
        for number, positions in places.items()
    }


def _doc(by_number: Mapping[int, Doc], number: int) -> Doc:
    if number not in by_number:
        raise WeftError(f"the document frame has no document {number}")
    return by_number[number]
