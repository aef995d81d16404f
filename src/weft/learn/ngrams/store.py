"""Models as files that are mapped into memory: pages are read when they are used, and shared by processes.

Loading runs no code. Kernels index without checks, so all that they follow is checked first, in one pass: types, sizes
and ranges of all arrays; that children lie where the sizes of the levels say, in the order of their words; that every
suffix is one word shorter; that words are different UTF-8 strings.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np

from weft import storage
from weft.arrays import Ids, Ints
from weft.declared import Array, Arrays, Stored
from weft.errors import ModelError
from weft.headers import Record, Text, Whole
from weft.kernel import kernel
from weft.learn.ngrams.model import NEVER, NgramModel
from weft.learn.ngrams.trie import Trie
from weft.learn.ngrams.vocabulary import SPECIAL, Vocabulary

KIND = "n-gram model"
_HEADER = Record(kind=Text((KIND,)), order=Whole(1, 100)).with_optional(method=Text())
_LEVELS = Array("levels", "int64", ("levels",))
_ARRAYS = (
    Array("words", "int32", ("nodes",), below="vocabulary"),
    Array("suffix", "int32", ("nodes",), below="histories"),
    Array("first", "int32", ("histories+1",), low=1, below="ends"),
    Array("logp", "float32", ("nodes",), within=(NEVER, 0.001)),
    Array("backoff", "float32", ("histories",), within=(NEVER, -NEVER)),
)
_LETTERS = Array("letters", "uint8", ("letters",))
_OFFSETS = Array("letter_ends", "int64", ("vocabulary+1",), offsets_of="letters")


def save(model: NgramModel, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that `load` maps.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["a", "b"], ["a"]], order=2)
    >>> model = NgramModel.of(vocabulary, estimate(counts, "absolute"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "model.lm"))
    ...     again = load(Path(folder, "model.lm"))
    ...     print(again.counts(), again.score(["a"]) == model.score(["a"]))
    [5, 4] True
    """
    storage.save(path, {"kind": KIND, "order": model.order, "method": model.method}, to_arrays(model))


def to_arrays(model: NgramModel) -> Arrays:
    """The arrays of a model, for a file of its own or within another one."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in model.vocabulary.words]
    ends = np.concatenate([[0], np.cumsum([len(word) for word in encoded])]).astype(np.int64)
    trie = model.trie
    return {
        "levels": trie.levels, "words": trie.words, "suffix": trie.suffix, "first": trie.first,
        "logp": model.logp, "backoff": model.backoff,
        "letters": np.frombuffer(b"".join(encoded), dtype=np.uint8), "letter_ends": ends,
    }  # fmt: skip


def load(path: str | os.PathLike[str]) -> NgramModel:
    """Map the model of a file. The file must not be written to while the model is in use; `save` replaces it."""
    header, arrays = storage.load_mapped(path)
    if header.get("kind") != KIND:
        raise ModelError(f"{path} is no n-gram model; make one with `weft lm train`")
    try:
        _HEADER.check(header)
        stored = Stored.of(arrays)
        model = from_arrays(header, stored)
        stored.refuse_rest()
        return model
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def from_arrays(header: dict[str, Any], stored: Stored) -> NgramModel:
    """The model of a header with its order, and of arrays that are checked here."""
    levels: Ints = np.asarray(stored.take(_LEVELS)["levels"])
    if len(levels) < 3 or levels[:2].tolist() != [0, 1] or (np.diff(levels) < 0).any() or levels[-1] >= 2**31:
        raise ModelError("its levels do not rise: the file is damaged")
    nodes, histories, vocabulary = int(levels[-1]), int(levels[-2]), int(levels[2]) - 1
    sizes = {"nodes": nodes, "histories": histories, "vocabulary": vocabulary, "ends": nodes + 1}
    arrays = stored.take(*_ARRAYS, **sizes)
    text = stored.take(_LETTERS, _OFFSETS, vocabulary=vocabulary)
    if header["order"] != len(levels) - 2:
        raise ModelError("its order is not that of its levels: the file is damaged")
    fault = _fault(arrays["first"], arrays["words"], arrays["suffix"], levels)
    if fault >= 0:
        raise ModelError(f"n-gram {fault} is not where it must be: the file is damaged")
    trie = Trie(arrays["words"], arrays["suffix"], arrays["first"], levels)
    known = _vocabulary(text["letters"].tobytes(), text["letter_ends"])
    return NgramModel(known, trie, arrays["logp"], arrays["backoff"], header.get("method", ""))


@kernel
def _fault(first: Ids, words: Ids, suffix: Ids, levels: Ints) -> int:
    """The first node whose place, word or suffix is impossible, -1 if there is none."""
    if words[0] != 0 or suffix[0] != 0:
        return 0
    for k in range(len(levels) - 2):
        at = levels[k + 1]
        if first[levels[k]] != at:
            return levels[k]
        for h in range(levels[k], levels[k + 1]):
            if first[h + 1] < first[h] or first[h + 1] > levels[k + 2]:
                return h
            for g in range(first[h], first[h + 1]):
                if g > first[h] and words[g] <= words[g - 1]:
                    return g
                if k == 0 and (words[g] != g - 1 or suffix[g] != 0):
                    return g
                if k > 0:
                    # The suffix follows the suffix of the history.
                    lower = suffix[h]
                    if not (first[lower] <= suffix[g] < first[lower + 1] and words[suffix[g]] == words[g]):
                        return g
        if first[levels[k + 1]] != levels[k + 2]:
            return levels[k + 1]
    return -1


def _vocabulary(letters: bytes, ends: Ints) -> Vocabulary:
    try:
        words = [letters[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(ends.tolist())]
    except UnicodeDecodeError:
        raise ModelError("its words are not UTF-8: the file is damaged") from None
    if tuple(words[: len(SPECIAL)]) != SPECIAL or len(set(words)) < len(words):
        raise ModelError("its words are not different, or do not begin with <unk>, <s> and </s>: the file is damaged")
    return Vocabulary(words[len(SPECIAL) :])
