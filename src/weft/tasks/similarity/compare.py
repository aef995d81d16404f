"""Pairs of texts from files, lists or documents, compared: links, similarity, and what differs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from weft.errors import ConfigError, DataError, FormatError
from weft.formats.bitext import holds_words
from weft.formats.doors import read
from weft.formats.streams import numbered_lines
from weft.lexical.paraphrases import Paraphrases
from weft.pipeline.pipeline import Pipeline
from weft.tasks.similarity.aligner import Aligned, SameLanguageAligner, SimilaritySettings, Unit
from weft.text.doc import Doc

PathLike = str | os.PathLike[str]
#: One side: a document, texts, lists of words, or the name of a file.
Texts = Doc | PathLike | Iterable[str | Sequence[str] | Doc]


@dataclass(frozen=True)
class Compared:
    """A pair of texts with what links them and what does not.

    >>> pair = Compared(["He", "left"], ["He", "went"], [(0, 0, "sequences")], 0.5)
    >>> pair.differs
    (['left'], ['went'])
    >>> print(pair)
    He [left]
    He [went]
    """

    source: Sequence[str]
    target: Sequence[str]
    links: Sequence[tuple[int, int, str]]
    similarity: float

    @property
    def differs(self) -> tuple[list[str], list[str]]:
        """The words of both sides that correspond to nothing."""
        left, right = self._linked()
        return (
            [word for i, word in enumerate(self.source) if i not in left],
            [word for j, word in enumerate(self.target) if j not in right],
        )

    def _linked(self) -> tuple[set[int], set[int]]:
        return {i for i, _, _ in self.links}, {j for _, j, _ in self.links}

    def __str__(self) -> str:
        sides = zip((self.source, self.target), self._linked(), strict=True)
        return "\n".join(
            " ".join(word if i in linked else f"[{word}]" for i, word in enumerate(words)) for words, linked in sides
        )

    def to_json(self) -> str:
        """A line of JSON.

        >>> Compared(["a"], ["a"], [(0, 0, "sequences")], 1.0).to_json()
        '{"similarity": 1.0, "source": ["a"], "target": ["a"], "links": [[0, 0, "sequences"]]}'
        """
        record = {
            "similarity": round(self.similarity, 6), "source": list(self.source), "target": list(self.target),
            "links": [list(link) for link in self.links],
        }  # fmt: skip
        return json.dumps(record, ensure_ascii=False)


def compared(aligned: Aligned) -> Iterator[Compared]:
    """Every pair of a batch."""
    rows = zip(aligned.source, aligned.target, aligned.why(), aligned.similarity.tolist(), strict=True)
    for source, target, links, similarity in rows:
        yield Compared(source, target, links, similarity)


def read_compared(path: PathLike, *, encoding: str = "utf-8") -> Iterator[Compared]:
    """The pairs of a JSON Lines file that `weft align --same-language` wrote."""
    name = os.fspath(path)
    for number, line in numbered_lines(name, encoding):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            source, target = [str(x) for x in record["source"]], [str(x) for x in record["target"]]
            links = [(int(i), int(j), str(why)) for i, j, why in record["links"]]
            pair = Compared(source, target, links, float(record["similarity"]))
            fits = all(0 <= i < len(source) and 0 <= j < len(target) for i, j, _ in links)
        except (ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            raise FormatError(name, number, "a pair as weft align --same-language writes it to .jsonl", repr(line[:60]))
        yield pair


def align_texts(
    source: Texts,
    target: Texts,
    *,
    model: str | Pipeline | None = "en",
    paraphrases: PathLike | Paraphrases | None = None,
    settings: SimilaritySettings | None = None,
) -> Aligned:
    """Align two texts of one language, or many pairs; what is no document with words is annotated by a model first.

    Without a model (`model=None`) texts are split at spaces, and there are no trees to use.

    >>> found = align_texts(["He wrote a book ."], ["I read the book he wrote ."], model=None)
    >>> print(next(compared(found)))
    He wrote [a] book .
    [I] [read] [the] book he wrote .
    """
    return Aligned.joined(stream_texts(source, target, model=model, paraphrases=paraphrases, settings=settings))


def stream_texts(
    source: Texts,
    target: Texts,
    *,
    model: str | Pipeline | None = "en",
    paraphrases: PathLike | Paraphrases | None = None,
    settings: SimilaritySettings | None = None,
    encoding: str = "utf-8",
    workers: int = 1,
    batch: int = 500,
) -> Iterator[Aligned]:
    """The same in batches, in bounded memory."""
    pairs = paraphrases if isinstance(paraphrases, Paraphrases | None) else Paraphrases.read(paraphrases)
    aligner = SameLanguageAligner(settings, pairs)
    annotate = _Annotator(model, workers)
    sides = (_units(aligner, side, annotate, encoding) for side in (source, target))
    held: tuple[list[Unit], list[Unit]] = ([], [])
    for number, (one, other) in enumerate(zip_longest(*sides)):
        if one is None or other is None:
            shorter, longer = ("first", "second") if one is None else ("second", "first")
            raise DataError(
                f"the {shorter} side ends after {number:,} texts, but the {longer} one continues; they are compared in "
                "pairs, a text per line"
            )
        held[0].append(one)
        held[1].append(other)
        if len(held[0]) == batch:
            yield aligner.align_units(*held)
            held = ([], [])
    if held[0]:
        yield aligner.align_units(*held)


class _Annotator:
    """Annotates texts with a model, which is loaded when the first one comes."""

    def __init__(self, model: str | Pipeline | None, workers: int) -> None:
        self._model, self._workers = model, workers
        self._pipeline: Pipeline | None = model if isinstance(model, Pipeline) else None

    def __call__(self, texts: Iterable[str | Doc]) -> Iterator[Doc]:
        if self._model is None:
            for each in texts:
                yield Doc.from_words([each.split()]) if isinstance(each, str) else each
            return
        if self._pipeline is None:
            from weft import load

            self._pipeline = load(str(self._model))
        yield from self._pipeline.pipe(texts, self._workers)


def _units(aligner: SameLanguageAligner, side: Texts, annotate: _Annotator, encoding: str) -> Iterator[Unit]:
    if isinstance(side, Doc):
        yield aligner.unit(side if side.n_words else next(annotate([side])))
        return
    if isinstance(side, str | os.PathLike):
        name = os.fspath(side)
        if not holds_words(name):
            lines = (line.strip() for _, line in numbered_lines(name, encoding))
            yield from map(aligner.unit, annotate(lines))
            return
        for doc in read(name, encoding=encoding):
            if doc.text.strip() and not doc.n_words:
                raise DataError(f"{name} contains text without words; split it first with `weft convert --split`")
            yield from aligner.units(doc if doc.head is not None else next(annotate([doc])))
        return
    for each in side:
        if isinstance(each, Doc):
            yield aligner.unit(each if each.n_words else next(annotate([each])))
        elif isinstance(each, str):
            yield aligner.unit(next(annotate([each])))
        else:
            yield aligner.unit(next(annotate([Doc.from_words([list(each)])])))


def check_sides(source: Any, target: Any) -> None:
    """Raise an error unless both sides are of one kind."""
    if isinstance(source, Doc) != isinstance(target, Doc):
        raise ConfigError("give two documents, or two files, or two lists of texts")
