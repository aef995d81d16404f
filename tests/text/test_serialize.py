"""Documents as bytes whose arrays or header are wrong: refused with a plain error."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from weft.errors import WeftError
from weft.text import Doc


def parts() -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and arrays of a document's bytes."""
    doc = Doc.from_words(
        [["Dogs", "bark"], ["Why", "?"]], upos=[["NOUN", "VERB"], ["ADV", "PUNCT"]], head=[[2, 0], [0, 1]]
    )
    doc.confidence["upos"] = np.ones(4, dtype=np.float32)
    data = doc.to_bytes()
    length = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["weft"]), load(data)


def read(header: Any, arrays: dict[str, Any]) -> Doc:
    return Doc.from_bytes(save(arrays, {"weft": json.dumps(header)}))


def test_the_parts_make_the_document_again() -> None:
    assert read(*parts()).column("upos") == ["NOUN", "VERB", "ADV", "PUNCT"]


@pytest.mark.parametrize(
    "name", ["token_start", "token_end", "word_token", "sentence_offsets", "columns", "head", "confidence/upos"]
)
@pytest.mark.parametrize("change", ["negative", "large", "longer", "shorter", "flat", "floats", "wide"])
def test_hostile_arrays_are_refused(name: str, change: str) -> None:
    header, arrays = parts()
    array = arrays[name]
    is_float = array.dtype.kind == "f"
    arrays[name] = {
        "negative": np.full_like(array, np.nan if is_float else -7),
        "large": np.full_like(array, np.inf if is_float else 2**31 - 1),
        "longer": np.concatenate([array, array[-1:]]),
        "shorter": array[:-1],
        "flat": array.reshape(1, 1, -1),
        "floats": array.astype(np.int64 if is_float else np.float32),
        "wide": array.astype(np.float16 if is_float else np.int64),
    }[change]
    if is_float and change in ("longer", "shorter"):  # a confidence may be that of tokens
        return
    with pytest.raises(WeftError, match="the document cannot be read: "):
        read(header, arrays)


def test_missing_and_further_arrays_are_refused() -> None:
    header, arrays = parts()
    with pytest.raises(WeftError, match="'more' does not belong"):
        read(header, arrays | {"more": np.zeros(1)})
    del arrays["word_token"]
    with pytest.raises(WeftError, match="'word_token' is missing"):
        read(header, arrays)


@pytest.mark.parametrize("value", [None, -1, 10**30, "x", [], {}, [None], [[1]], {"x": {"rows": [[0]]}}, True])
def test_hostile_headers_are_refused_or_harmless(value: Any) -> None:
    header, arrays = parts()
    for name in header:
        try:
            read(header | {name: value}, arrays).to_bytes()
        except WeftError:
            continue
    with pytest.raises(WeftError):
        read(value, arrays)
    if value not in ([], {}):
        with pytest.raises(WeftError):
            read({**header, "layers": {"spans": value, "constituents": value}}, arrays)
