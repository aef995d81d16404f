"""Documents as bytes, without pickle: a safetensors block whose arrays are the columns and whose header is JSON.

Word columns are ids into the list of the document's own strings, kept in the header, so that the bytes of a document
stand alone whatever table it was read with.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from weft.declared import Array, Stored
from weft.errors import WeftError
from weft.headers import Many, Record, Row, Table, Text, Whole, check_same
from weft.text.doc import Doc, EmptyNode, Multiword
from weft.text.record import layers_from_record, layers_to_record
from weft.text.strings import StringTable
from weft.text.validity import check_doc

VERSION = 1
HEADER = Record(
    text=Text(),
    meta=Table(),
    columns=Many(Text(), distinct=True),
    strings=Many(Text()),
    comments=Many(Many(Text())),
    multiwords=Many(Row((Whole(), Whole(), Many(Text())))),
    empty_nodes=Many(Row((Whole(), Whole(), Whole(), Many(Text())))),
    layers=Table(),
)
ARRAYS = (
    Array("token_start", "int32", ("tokens",)),
    Array("token_end", "int32", ("tokens",)),
    Array("word_token", "int32", ("words",)),
    Array("sentence_offsets", "int32", ("sentences+1",)),
    Array("columns", "int32", ("columns", "words"), below="strings"),
    Array("head", "int32", ("words",), low=-1, optional=True),
)


def doc_to_bytes(doc: Doc) -> bytes:
    """Everything in a document, as bytes that `doc_from_bytes` reads without running code.

    >>> doc_from_bytes(doc_to_bytes(Doc.from_words([["Dogs", "bark"]]))).text
    'Dogs bark'
    """
    from safetensors.numpy import save

    arrays: dict[str, Any] = {
        "token_start": doc.token_start, "token_end": doc.token_end, "word_token": doc.word_token,
        "sentence_offsets": doc.sentence_offsets,
    }  # fmt: skip
    names = list(doc.columns)
    used, places = np.unique(np.concatenate([doc.columns[name] for name in names]), return_inverse=True)
    arrays["columns"] = places.astype(np.int32).reshape(len(names), doc.n_words)
    if doc.head is not None:
        arrays["head"] = doc.head
    for name, values in doc.confidence.items():
        arrays[f"confidence/{name}"] = values
    header = {
        "version": VERSION, "text": doc.text, "meta": doc.meta, "columns": names, "strings": doc.strings.strings(used),
        "comments": doc.comments, "multiwords": doc.multiwords, "empty_nodes": doc.empty_nodes,
        "layers": layers_to_record(doc),
    }  # fmt: skip
    try:
        packed = json.dumps(header)
    except TypeError as error:
        raise WeftError(f"the document's metadata or attributes hold what JSON cannot: {error}") from error
    return bytes(save({key: np.ascontiguousarray(value) for key, value in arrays.items()}, {"weft": packed}))


def doc_from_bytes(data: bytes, strings: StringTable | None = None) -> Doc:
    """The document that `doc_to_bytes` wrote; its strings go into `strings` if a table is given."""
    from safetensors.numpy import load

    try:
        arrays = load(data)
        length = int.from_bytes(data[:8], "little")
        header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["weft"])
    except Exception as error:
        raise WeftError(f"these bytes are no Weft document, or are damaged: {error}") from error
    try:
        Record(version=Whole()).check(header)
        if header["version"] > VERSION:
            raise WeftError(
                f"it has version {header['version']}, this Weft reads up to {VERSION}: install a newer Weft"
            )
        return _restored(header, Stored.of(arrays), strings)
    except WeftError as error:
        raise WeftError(f"the document cannot be read: {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise WeftError(f"the document is damaged: {error!r}") from None


def _restored(header: dict[str, Any], stored: Stored, strings: StringTable | None) -> Doc:
    """The document of a header and arrays, which are checked."""
    HEADER.check(header)
    arrays = stored.take(*ARRAYS, columns=len(header["columns"]), strings=len(header["strings"]))
    length, tokens, words = len(header["text"]), len(arrays["token_start"]), len(arrays["word_token"])
    sentences = 0 if len(arrays["sentence_offsets"]) == 1 else words
    stored.take(
        Array("token_start", "int32", (tokens,), below=length + 1),
        Array("token_end", "int32", (tokens,), below=length + 1),
        Array("word_token", "int32", (words,), below=tokens),
        Array("sentence_offsets", "int32", ("sentences+1",), offsets_of=sentences),
        *(Array(name, "float32 float64", ("*",)) for name in stored if name.startswith("confidence/")),
    )
    stored.refuse_rest()
    if header["comments"]:
        check_same("comments", header["comments"], len(arrays["sentence_offsets"]) - 1)
    doc = Doc(header["text"], strings, header["meta"])
    doc.token_start, doc.token_end = arrays["token_start"], arrays["token_end"]
    doc.word_token, doc.sentence_offsets = arrays["word_token"], arrays["sentence_offsets"]
    ids = doc.strings.ids(header["strings"])
    doc.columns = {name: ids[row] for name, row in zip(header["columns"], arrays["columns"], strict=True)}
    doc.head = arrays.get("head")
    doc.confidence = {key[11:]: value for key, value in stored.items() if key.startswith("confidence/")}
    doc.comments = [tuple(lines) for lines in header["comments"]]
    doc.multiwords = [Multiword(first, end, tuple(fields)) for first, end, fields in header["multiwords"]]
    doc.empty_nodes = [EmptyNode(s, after, n, tuple(fields)) for s, after, n, fields in header["empty_nodes"]]
    layers_from_record(doc, header["layers"])
    check_doc(doc, trees=False, strict=False)
    return doc
