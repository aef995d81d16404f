"""Trees for training a translator, from a parser or a file, and what a translator's file keeps of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from weft.declared import Array, Arrays, Stored
from weft.errors import DataError, ModelError
from weft.headers import Many, Record, Table, Text
from weft.infer.decoding.pieces import Pieces
from weft.learn.ngrams.dependencies import DependencyModel
from weft.learn.ngrams.store import from_arrays, to_arrays
from weft.pipeline.settings import checked_settings
from weft.tasks.translation.trees import TreeExtension, TreeSettings
from weft.text.doc import Doc

#: Sentences that are parsed at a time.
_BATCH = 500
_HEADER = Record(settings=Table(), tags=Many(Text(), distinct=True))
_ARRAYS = (
    Array("first", "int64", ("pairs+2",), offsets_of="pieces"),
    Array("logp", "float32", ("pieces",), within=(-1e6, 1e-3)),
    Array("offsets", "int64", ("pieces+1",), offsets_of="words"),
    Array("tokens", "int32", ("words",), below="kinds"),
    Array("heads", "int32", ("words",), low=-1),
    Array("type", "int32", ("pieces",), below=3),
    Array("ill_formed", "uint8", ("pieces",), below=2),
    Array("word", "int32", ("kinds",), below="vocabulary"),
    Array("tag", "int32", ("kinds",), low=-1, below="tags"),
    Array("slots", "int32", ("slots",), below="table", rising=True),
    Array("weights", "float32", ("slots", 3), within=(-1e6, 1e6)),
    Array("size", "int32", (1,), low=1, below=1 << 30),
)

Heads = list[list[int]]
Tags = list[list[str]]


def read_trees(source: str | os.PathLike[str], sentences: Sequence[Sequence[str]]) -> tuple[Heads, Tags]:
    """Heads and tags of sentences: from a file of trees for the same words, or by a pipeline that parses.

    `source` is a file that ends in .conllu or .conllu.gz, or what `weft.load` takes.
    """
    import weft

    name = os.fspath(source)
    if name.endswith((".conllu", ".conllu.gz")):
        docs = list(weft.read(name))
    else:
        docs = [Doc.from_words(sentences[k : k + _BATCH]) for k in range(0, len(sentences), _BATCH)]
        docs = list(weft.load(name).pipe(docs))
    rows = [list(sentence.words) for doc in docs for sentence in doc.sentences]
    full = [k for k, sentence in enumerate(sentences) if len(sentence)]
    if len(rows) != len(full):
        raise DataError(f"{name} has trees of {len(rows):,} sentences, but {len(full):,} target lines have words")
    heads: Heads = [[] for _ in sentences]
    tags: Tags = [[] for _ in sentences]
    for k, words in zip(full, rows, strict=True):
        if len(words) != len(sentences[k]):
            raise DataError(
                f"{name}: the tree for target line {k + 1} has {len(words)} words, but the line has "
                f"{len(sentences[k])}; parse the file that you train on"
            )
        first = words[0].index
        heads[k] = [0 if word.head is None else word.head.index - first + 1 for word in words]
        tags[k] = [word.upos or "_" for word in words]
    return heads, tags


def header_of(extension: TreeExtension) -> dict[str, Any]:
    """What a header says of an extension."""
    return {"settings": asdict(extension.settings), "tags": extension.tags, "stops": extension.model.stops}


def arrays_of(extension: TreeExtension) -> Arrays:
    """The arrays of an extension."""
    pieces = extension.pieces
    slots = np.flatnonzero(extension.weight_table.any(axis=1))
    found: Arrays = {
        "first": extension.first, "logp": extension.logp.astype(np.float32), "offsets": pieces.offsets,
        "tokens": pieces.tokens, "heads": pieces.heads, "type": pieces.kind,
        "ill_formed": pieces.ill_formed.astype(np.uint8), "word": extension.word, "tag": extension.tag,
        "slots": slots.astype(np.int32), "weights": extension.weight_table[slots],
        "size": np.array([len(extension.weight_table)], np.int32),
    }  # fmt: skip
    for side, model in (("left", extension.model.left), ("right", extension.model.right)):
        found |= {f"{side}/{name}": array for name, array in to_arrays(model).items()}
    return found


def restored(header: dict[str, Any], stored: Stored, pairs: int) -> TreeExtension:
    """The extension of a file's header and arrays."""
    _HEADER.check(header, "trees")
    settings = TreeSettings(**checked_settings(TreeSettings, header["settings"]))
    left, right = (
        from_arrays({"order": 3, "method": "witten-bell"}, stored.under(f"{side}/")) for side in ("left", "right")
    )
    if left.vocabulary.words != right.vocabulary.words:
        raise ModelError("the two sides of the dependency model have different words: the file is damaged")
    size = int(stored.take(_ARRAYS[-1])["size"][0])
    arrays = stored.take(
        *_ARRAYS[:-1], pairs=pairs, vocabulary=len(left.vocabulary), tags=len(header["tags"]), table=size
    )
    if size & (size - 1) or int(arrays["first"][0]) != 0:
        raise ModelError("the classifier's table or the numbers of pieces are not as they must be: the file is damaged")
    sizes = np.repeat(np.diff(arrays["offsets"]), np.diff(arrays["offsets"]))
    if bool((arrays["heads"] >= sizes).any()):
        raise ModelError("a head is not within its piece: the file is damaged")
    pieces = Pieces.of_arrays(
        np.asarray(arrays["offsets"]), np.asarray(arrays["tokens"]), np.asarray(arrays["heads"]),
        np.asarray(arrays["type"]), np.asarray(arrays["ill_formed"]).astype(np.bool_),
    )  # fmt: skip
    weights = np.zeros((size, 3), np.float32)
    weights[arrays["slots"]] = arrays["weights"]
    model = DependencyModel(left.vocabulary, left, right, bool(header.get("stops")))
    return TreeExtension(
        np.asarray(arrays["first"]), np.asarray(arrays["logp"], np.float64), pieces, model, weights,
        np.asarray(arrays["word"]), np.asarray(arrays["tag"]), list(header["tags"]), settings, {},
    )  # fmt: skip
