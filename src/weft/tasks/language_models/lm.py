"""`weft.lm`: train, prune, constrain, mix, load and save n-gram language models.

>>> import weft
>>> model = weft.lm.train([["the", "tide", "is", "in"], ["the", "tide", "is", "out"]], order=2)
>>> round(model.score(["the", "tide"]), 2)
-1.43
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

from weft.errors import DataError
from weft.learn.ngrams.arpa import read_arpa, write_arpa
from weft.learn.ngrams.constraints import ConstraintSettings
from weft.learn.ngrams.constraints import constrain as constrain_model
from weft.learn.ngrams.counting import count
from weft.learn.ngrams.mixture import mix as mix
from weft.learn.ngrams.model import NgramModel as NgramModel
from weft.learn.ngrams.pruning import prune as prune
from weft.learn.ngrams.sampling import sample as sample
from weft.learn.ngrams.smoothing import METHODS as METHODS
from weft.learn.ngrams.smoothing import estimate
from weft.learn.ngrams.store import load as load_mapped
from weft.learn.ngrams.store import save as save_mapped
from weft.learn.ngrams.vocabulary import BEGIN, END, UNKNOWN

#: How the names of ARPA files end; all other files are mapped ones.
ARPA = (".arpa", ".arpa.gz", ".lm.gz")
Text = Iterable[Sequence[str]] | str | os.PathLike[str]


def train(
    text: Text | Sequence[str | os.PathLike[str]],
    order: int = 3,
    method: str = "modified-kneser-ney",
    interpolate: bool = True,
    min_count: int = 1,
    cutoffs: Sequence[int] = (),
    lower: bool = False,
    memory: int = 400,
    workers: int = 1,
) -> NgramModel:
    """Train a model on sentences, given as lists of words or as the names of files in any format that Weft reads.

    Words with fewer than `min_count` occurrences become `<unk>`. N-grams of length k that occur no more than
    `cutoffs[k - 1]` times are left out; the last cutoff is for all longer ones. Counting takes about `memory` MB at a
    time, and the disk for the rest.
    """
    words = _lower(sentences(text)) if lower else sentences(text)
    vocabulary, counts = count(words, order, least=min_count, memory=memory * 1_000_000, workers=workers)
    return NgramModel.of(vocabulary, estimate(counts, method, interpolate, cutoffs), method)


def constrain(
    model: NgramModel,
    iterations: int = 5,
    backoff_updates: int = 10,
    floor: float = 0.1,
    denominator: str = "exact",
) -> NgramModel:
    """The model with the same n-grams, the shorter of which occur in its text as often as they should.

    The input must not be a Kneser-Ney model: its shorter n-grams are no estimates of how often they occur.
    """
    return constrain_model(model, ConstraintSettings(iterations, backoff_updates, floor=floor, denominator=denominator))


def load(path: str | os.PathLike[str]) -> NgramModel:
    """Load a model: an ARPA file (.arpa, .arpa.gz) of any tool, or a file of `save`, which is mapped into memory."""
    return read_arpa(path) if os.fspath(path).endswith(ARPA) else load_mapped(path)


def save(model: NgramModel, path: str | os.PathLike[str]) -> None:
    """Save a model as an ARPA file (.arpa, .arpa.gz), or for mapping under any other name."""
    if os.fspath(path).endswith(ARPA):
        strange = next((word for word in model.vocabulary.words if not word or set(word) & set(" \t\n\r\v\f")), None)
        if strange is not None:
            raise DataError(f"{path}: an ARPA file cannot hold the word {strange!r}, which has a blank in it")
        write_arpa(model, path)
    else:
        save_mapped(model, path)


def sentences(text: Text | Sequence[str | os.PathLike[str]]) -> Iterator[Sequence[str]]:
    """The words of sentences, of lists or of files.

    >>> list(sentences([["a", "b"]]))
    [['a', 'b']]
    """
    if isinstance(text, str | os.PathLike):
        yield from of_files([Path(text)])
        return
    items = iter(text)
    first = next(items, None)
    if first is None:
        return
    if isinstance(first, str | os.PathLike):
        yield from of_files([Path(each) for each in (first, *items)])  # type: ignore[arg-type]
        return
    yield from chain([first], items)


def of_files(paths: Sequence[str | os.PathLike[str]]) -> Iterator[list[str]]:
    """The words of the sentences of files; raw text is split by rule."""
    from weft.formats import read

    yield from of_documents(read(paths))


def of_documents(docs: Iterable[object]) -> Iterator[list[str]]:
    """The words of the sentences of documents; those without words are split by rule.

    >>> from weft.text.doc import Doc
    >>> list(of_documents([Doc("It sank. Why?")]))
    [['It', 'sank', '.'], ['Why', '?']]
    """
    from weft.text.doc import Doc
    from weft.text.split import split_by_rule

    for doc in docs:
        assert isinstance(doc, Doc)
        if not doc.n_words:
            split_by_rule(doc)
        # ARPA files separate words by blanks, so words with blanks inside are joined.
        forms = [form if " " not in form else form.replace(" ", "_") for form in doc.column("form")]
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            if end > first:
                yield forms[first:end]


def of_lines(paths: Sequence[str | os.PathLike[str]], encoding: str = "utf-8") -> Iterator[list[str]]:
    """The words of the lines of files, separated by spaces; `-` is standard input, .gz files are uncompressed."""
    from weft.formats.streams import numbered_lines

    for path in paths:
        for _, line in numbered_lines(os.fspath(path), encoding):
            yield line.split()


def _lower(text: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    for words in text:
        yield [word.lower() for word in words]


__all__ = [
    "BEGIN", "END", "METHODS", "UNKNOWN", "NgramModel", "constrain", "load", "mix", "of_documents", "of_files",
    "of_lines", "prune", "sample", "save", "sentences", "train",
]  # fmt: skip
