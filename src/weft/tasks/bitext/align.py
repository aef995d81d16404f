"""Word alignment: which words of two sentences are translations of each other.

An aligner trains both directions of a bitext (`weft.learn.bitext.word_alignment`), and links the words of that bitext
or of new sentence pairs. A heuristic (`weft.infer.alignment.symmetrize`) combines the most probable alignments of the
two directions, or links are chosen by their posterior probabilities p(i, j) alone:

    posterior     all links with  combine(p_forward, p_backward) >= threshold,    combine: min, product or mean

The score of every link is this combined posterior, however the link was chosen.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from weft import storage
from weft.arrays import Bools, Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.headers import Flag, Many, Record, Table, Text
from weft.infer.alignment.links import Alignments, turned_cells
from weft.infer.alignment.symmetrize import METHODS, symmetrize_cells
from weft.learn.bitext.fertility import STAGES, FertilitySettings, learn_fertility
from weft.learn.bitext.translation_table import TranslationTable
from weft.learn.bitext.word_alignment import AlignmentSettings, DirectedModel, LearnedModels, Side, learn_alignment
from weft.learn.generative.cooccurrence import Cooccurrences, Types
from weft.pipeline.settings import checked_settings
from weft.ragged import Indices, States
from weft.tasks.bitext.fertility import FertilityTables, word_classes
from weft.tasks.bitext.symmetrize import links_of_cells
from weft.text.bitext import Links
from weft.text.doc import Doc

if TYPE_CHECKING:
    from weft.lexical.paraphrases import Paraphrases
    from weft.pipeline.pipeline import Pipeline
    from weft.tasks.similarity.aligner import Aligned

Words = Sequence[str]
#: One side of a bitext: a file, or sentences as texts or as lists of words.
Sentences = str | os.PathLike[str] | Iterable[str | Words]

#: How to choose links: one direction only, a heuristic over both, or posterior probabilities.
CHOICES = ("forward", "backward", *METHODS, "posterior")
COMBINATIONS = ("min", "product", "mean")
#: The models: the HMM, or one with fertilities that starts from it.
MODELS = ("hmm", *STAGES)
#: Independently trained directions. They agree on fewer but more precise links, which suits projection of annotation.
APART = AlignmentSettings(agreement=False)
#: The default threshold for `posterior`.
HALF = 0.5


@dataclass(frozen=True)
class Grids:
    """All cells of a batch of sentence pairs, ordered by target word: posteriors and best alignments."""

    source_sizes: Indices
    target_sizes: Indices
    forward: Floats
    backward: Floats
    forward_best: Bools
    backward_best: Bools


_NAMES = Many(Text(), distinct=True)
HEADER = Record(settings=Table(), lower=Flag(), source_words=_NAMES, target_words=_NAMES).with_optional(
    method=Text(MODELS), fertility=Table()
)
JUMPS = Array("jumps", "float64", ("*",), within=(0.0, 1e12))


class Aligner:
    """Learns to link the words of sentence pairs.

    >>> english = ["the house", "the book", "a book", "a red house", "the red book", "red"]
    >>> german = ["das Haus", "das Buch", "ein Buch", "ein rotes Haus", "das rote Buch", "rotes"]
    >>> aligner = Aligner()
    >>> facts = aligner.fit([s.split() for s in english], [s.split() for s in german])
    >>> aligner.align([["a", "book"]], [["ein", "Buch"]]).pairs()
    [[(0, 0), (1, 1)]]
    """

    def __init__(
        self,
        settings: AlignmentSettings | None = None,
        *,
        lower: bool = True,
        method: str = "hmm",
        fertility: FertilitySettings | None = None,
    ) -> None:
        if method not in MODELS:
            raise ConfigError(f"method must be one of {', '.join(MODELS)}, got {method!r}")
        if method == "hmm" and fertility is not None:
            raise ConfigError("the HMM has no fertilities; choose a method such as ibm4-nd")
        self.settings = settings or AlignmentSettings()
        self.lower = lower
        self.method = method
        self.fertility = fertility or FertilitySettings()
        self.fertile: tuple[FertilityTables, FertilityTables] | None = None
        self.source_words: dict[str, int] = {}
        self.target_words: dict[str, int] = {}
        self.tables: tuple[TranslationTable, TranslationTable] | None = None
        self.jumps: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))

    def fit(self, source: Iterable[Words], target: Iterable[Words]) -> dict[str, Any]:
        """Train on the sentence pairs of a bitext; returns a report."""
        self.source_words, self.target_words, self.fertile = {}, {}, None
        if self.method != "hmm":  # word classes need the text once more
            source, target = list(source), list(target)
        sides = (
            *self._numbered(source, self.source_words, grow=True),
            *self._numbered(target, self.target_words, grow=True),
        )
        pairs = Cooccurrences.of(*sides)
        if pairs.n_entries == 0:
            raise DataError("the bitext has no sentence pair with words on both sides; there is nothing to train on")
        learned = learn_alignment(pairs, self.settings)
        report: dict[str, Any] = {}
        forward, backward = learned.forward, learned.backward
        if self.method != "hmm":
            forward, backward = self._fit_fertility(pairs, learned, (source, target), report)
        self.tables = (
            TranslationTable.of(Side(pairs, turned=False), forward),
            TranslationTable.of(Side(pairs, turned=True), backward),
        )
        self.jumps = (learned.forward.jumps, learned.backward.jumps)
        return {
            "pairs": pairs.n_pairs,
            "source words": len(pairs.source),
            "target words": len(pairs.target),
            "source types": len(self.source_words),
            "target types": len(self.target_words),
            "objective": learned.objective,
            **report,
        }

    def _fit_fertility(
        self, pairs: Cooccurrences, hmm: LearnedModels, sides: Sequence[Iterable[Words]], report: dict[str, Any]
    ) -> tuple[DirectedModel, DirectedModel]:
        """Train the model with fertilities, from the HMM; its tables of translations."""
        texts = [[[w.lower() for w in words] if self.lower else list(words) for words in side] for side in sides]
        known = self.source_words, self.target_words
        source, target = (
            word_classes(text, names, self.fertility.classes) for text, names in zip(texts, known, strict=True)
        )
        learned = learn_fertility(pairs, hmm, self.method, self.fertility, (source, target), self.settings)
        self.fertile = (
            FertilityTables.of(learned.forward, target, source),
            FertilityTables.of(learned.backward, source, target),
        )
        report["objective"] = {**hmm.objective, **learned.objective}
        report["p0"] = learned.p_null
        return learned.forward.words, learned.backward.words

    def align(
        self,
        source: Sequence[Words],
        target: Sequence[Words],
        symmetrize: str = "grow-diag-final-and",
        *,
        threshold: float | None = None,
        combine: str = "min",
    ) -> Links:
        """The links of sentence pairs; with a threshold, only links with at least this score."""
        if len(source) != len(target):
            raise DataError(
                f"{len(source):,} source and {len(target):,} target sentences; a bitext needs equal numbers"
            )
        pairs = zip(source, target, strict=True)
        return Links.joined(self.stream(pairs, symmetrize, threshold=threshold, combine=combine))

    def stream(
        self,
        pairs: Iterable[tuple[Words, Words]],
        symmetrize: str = "grow-diag-final-and",
        *,
        threshold: float | None = None,
        combine: str = "min",
        batch: int = 1000,
    ) -> Iterator[Links]:
        """Align sentence pairs lazily, in batches."""
        _check(symmetrize, combine, threshold)
        if self.tables is None:
            raise ConfigError("this aligner is not trained yet; call fit(source, target) or load a model")
        waiting = iter(pairs)
        while held := list(islice(waiting, batch)):
            grids = self.grids([source for source, _ in held], [target for _, target in held])
            yield _links(grids, symmetrize, threshold, combine)

    def grids(self, source: Sequence[Words], target: Sequence[Words]) -> Grids:
        """Posterior probabilities and best alignments of both directions, for every cell of the sentence pairs."""
        words, offsets = self._numbered(source, self.source_words)
        others, other_offsets = self._numbered(target, self.target_words)
        sizes = np.diff(offsets), np.diff(other_offsets)
        assert self.tables is not None
        forward, forward_best = self._linked(0, words, offsets, others, other_offsets)
        backward, backward_best = self._linked(1, others, other_offsets, words, offsets)
        order = turned_cells(*sizes)
        return Grids(*sizes, forward, backward[order], forward_best, backward_best[order])

    def _linked(
        self, direction: int, given: Types, given_offsets: Indices, words: Types, offsets: Indices
    ) -> tuple[Floats, Bools]:
        """Posteriors and best links of one direction."""
        pairs = self._alignments(direction, given, given_offsets, words, offsets)
        best = pairs.best()
        if self.fertile is None:
            return pairs.marginals().link, _chosen(pairs, best)
        link = self.fertile[direction].alignments(pairs, given, words).marginals(best).link
        return np.clip(link, 0.0, 1.0), _chosen(pairs, best)

    def _alignments(
        self, direction: int, given: Types, given_offsets: Indices, words: Types, offsets: Indices
    ) -> Alignments:
        assert self.tables is not None
        cells, null = self.tables[direction].look_up(given, given_offsets, words, offsets)
        jumps = self.jumps[direction]
        return Alignments(
            cells, null, np.diff(given_offsets), offsets,
            jumps=jumps if len(jumps) else None, p_null=self.settings.p_null,
        )  # fmt: skip

    def translations(self, word: str, n: int = 10, *, backward: bool = False) -> list[tuple[str, float]]:
        """The most probable translations of a source word or, with `backward`, of a target word."""
        known, others = (self.source_words, self.target_words)[:: -1 if backward else 1]
        row = known.get(word.lower() if self.lower else word)
        if row is None or self.tables is None:
            return []
        names = list(others)
        return [(names[other], weight) for other, weight in self.tables[int(backward)].best(row, n)]

    def fertilities(self, word: str, *, backward: bool = False) -> list[float]:
        """The probabilities that a source word or, with `backward`, a target word has 0, 1, 2, ... words."""
        if self.fertile is None:
            raise ConfigError("this aligner has no fertilities; train one with a method such as ibm4-nd")
        known = (self.source_words, self.target_words)[int(backward)]
        return self.fertile[int(backward)].fertilities(known.get(word.lower() if self.lower else word, -1))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file."""
        if self.tables is None:
            raise ConfigError("this aligner is not trained yet; there is nothing to save")
        arrays: dict[str, NDArray[Any]] = {}
        for name, table, jumps in zip(("forward", "backward"), self.tables, self.jumps, strict=True):
            arrays |= {f"{name}/{key}": array for key, array in table.arrays().items()}
            arrays[f"{name}/jumps"] = jumps
        header: dict[str, Any] = {
            "task": "aligner",
            "settings": asdict(self.settings),
            "lower": self.lower,
            "source_words": list(self.source_words),
            "target_words": list(self.target_words),
        }
        if self.fertile is not None:
            header |= {"method": self.method, "fertility": asdict(self.fertility)}
            for name, tables in zip(("forward", "backward"), self.fertile, strict=True):
                arrays |= {f"{name}/fertile/{key}": array for key, array in tables.arrays().items()}
        storage.save(path, header, arrays, pack=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Aligner:
        """Load an aligner that `save` wrote."""
        header, arrays = storage.load(path)
        if header.get("task") != "aligner":
            raise ModelError(f"{os.fspath(path)} is a model for {header.get('task', 'something else')}, not an aligner")
        try:
            return cls._restored(header, Stored.of(arrays))
        except WeftError as error:
            raise ModelError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def _restored(cls, header: dict[str, Any], stored: Stored) -> Aligner:
        HEADER.check(header)
        settings = {name.replace("_rounds", "_iterations"): value for name, value in header["settings"].items()}
        method = header.get("method", "hmm")
        fertile = checked_settings(FertilitySettings, header.get("fertility", {}))
        aligner = cls(
            AlignmentSettings(**checked_settings(AlignmentSettings, settings)), lower=header["lower"], method=method,
            fertility=FertilitySettings(**fertile) if method != "hmm" else None,
        )  # fmt: skip
        aligner.source_words = {word: i for i, word in enumerate(header["source_words"])}
        aligner.target_words = {word: i for i, word in enumerate(header["target_words"])}
        sizes = len(aligner.source_words), len(aligner.target_words)
        forward, backward = stored.under("forward/"), stored.under("backward/")
        jumps = [np.array(each.take(JUMPS)["jumps"]) for each in (forward, backward)]
        if any(len(each) and len(each) % 2 == 0 for each in jumps):
            raise ModelError("a table of jumps has no middle: the file is damaged")
        aligner.jumps = (jumps[0], jumps[1])
        aligner.tables = (
            TranslationTable.from_arrays(forward, sizes[0], sizes[1]),
            TranslationTable.from_arrays(backward, sizes[1], sizes[0]),
        )
        if method != "hmm":
            aligner.fertile = (
                FertilityTables.from_arrays(STAGES[method][-1], forward.under("fertile/"), *sizes),
                FertilityTables.from_arrays(STAGES[method][-1], backward.under("fertile/"), *sizes[::-1]),
            )
        stored.refuse_rest()
        return aligner

    def _numbered(self, sentences: Iterable[Words], known: dict[str, int], grow: bool = False) -> tuple[Types, Indices]:
        """Number the words of sentences, -1 for unknown words; with `grow`, unknown words get a new number."""
        numbers: list[int] = []
        ends = [0]
        for sentence in sentences:
            words = [word.lower() for word in sentence] if self.lower else sentence
            if grow:
                numbers.extend([known.setdefault(word, len(known)) for word in words])
            else:
                numbers.extend([known.get(word, -1) for word in words])
            ends.append(len(numbers))
        return np.array(numbers, dtype=np.int32), np.array(ends, dtype=np.int64)


@overload
def align(
    source: Sentences,
    target: Sentences | None = None,
    symmetrize: str = ...,
    *,
    settings: AlignmentSettings | None = ...,
    method: str = ...,
    fertility: FertilitySettings | None = ...,
    threshold: float | None = ...,
    combine: str = ...,
    same_language: Literal[False] = False,
) -> Links: ...


@overload
def align(
    source: Sentences | Doc,
    target: Sentences | Doc,
    *,
    same_language: Literal[True],
    model: str | Pipeline | None = ...,
    paraphrases: str | os.PathLike[str] | Paraphrases | None = ...,
) -> Aligned: ...


@overload
def align(
    source: Doc,
    target: Doc,
    *,
    model: str | Pipeline | None = ...,
    paraphrases: str | os.PathLike[str] | Paraphrases | None = ...,
) -> Aligned: ...


def align(
    source: Sentences | Doc,
    target: Sentences | Doc | None = None,
    symmetrize: str = "grow-diag-final-and",
    *,
    settings: AlignmentSettings | None = None,
    method: str = "hmm",
    fertility: FertilitySettings | None = None,
    threshold: float | None = None,
    combine: str = "min",
    same_language: bool = False,
    model: str | Pipeline | None = "en",
    paraphrases: str | os.PathLike[str] | Paraphrases | None = None,
) -> Links | Aligned:
    """Train an aligner on a bitext and link its words: `align(english, german, "intersection", threshold=0.9)`.

    The two sides are sentences, each a list of words or a text with spaces between its words; or the names of files, as
    `weft align` reads them. An `Aligner` also links the words of sentence pairs outside its training data. `method` is
    the model: `hmm`, or one with fertilities such as `ibm4-nd` (`MODELS`), whose settings are `fertility`.

    Two documents, or with `same_language` all others, are compared as texts of one language: nothing is trained, texts
    are annotated by `model` where they are not yet, and the result also has similarities.

    >>> align([["yes"], ["no"], ["yes", "no"]], [["ja"], ["nein"], ["nein", "ja"]]).pairs()
    [[(0, 0)], [(0, 0)], [(0, 1), (1, 0)]]
    >>> align(["yes", "no", "yes no"], ["ja", "nein", "nein ja"]).pairs()
    [[(0, 0)], [(0, 0)], [(0, 1), (1, 0)]]
    """
    if same_language or isinstance(source, Doc) or isinstance(target, Doc):
        from weft.tasks.similarity.compare import align_texts, check_sides

        if target is None:
            raise ConfigError("give two documents, files or lists of texts of one language to compare")
        check_sides(source, target)
        return align_texts(source, target, model=model, paraphrases=paraphrases)
    _check(symmetrize, combine, threshold)
    sides = _bitext(source, target)
    aligner = Aligner(settings, method=method, fertility=fertility)
    aligner.fit(*sides)
    return aligner.align(*sides, symmetrize, threshold=threshold, combine=combine)


def _bitext(source: Sentences, target: Sentences | None) -> tuple[list[Words], list[Words]]:
    """The words of both sides of a bitext, given as sentences or as files."""
    if isinstance(source, str | os.PathLike) and (target is None or isinstance(target, str | os.PathLike)):
        from weft.formats.bitext import read_bitext

        pairs = list(read_bitext(source, target))
        return [one for one, _ in pairs], [other for _, other in pairs]
    if target is None or isinstance(source, str | os.PathLike) or isinstance(target, str | os.PathLike):
        raise ConfigError("give a file for each side of the bitext, or a list of sentences for each")
    return _words_of(source), _words_of(target)


def _words_of(sentences: Iterable[str | Words]) -> list[Words]:
    return [sentence.split() if isinstance(sentence, str) else sentence for sentence in sentences]


def _check(symmetrize: str, combine: str, threshold: float | None) -> None:
    if symmetrize not in CHOICES:
        raise ConfigError(f"symmetrize must be one of {', '.join(CHOICES)}, got {symmetrize!r}")
    if combine not in COMBINATIONS:
        raise ConfigError(f"combine must be one of {', '.join(COMBINATIONS)}, got {combine!r}")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"threshold must be a probability from 0 to 1, got {threshold}")


def _chosen(alignments: Alignments, best: States) -> Bools:
    """The cells of the most probable alignments."""
    cells = np.zeros(len(alignments.translation), dtype=np.bool_)
    sizes = np.repeat(alignments.source_sizes, np.diff(alignments.target_offsets))
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    linked = best >= 0
    cells[(starts + best)[linked]] = True
    return cells


def _links(grids: Grids, symmetrize: str, threshold: float | None, combine: str) -> Links:
    if combine == "min":
        score = np.minimum(grids.forward, grids.backward)
    elif combine == "product":
        score = grids.forward * grids.backward
    else:
        score = (grids.forward + grids.backward) / 2
    if symmetrize == "posterior":
        chosen = score >= (HALF if threshold is None else threshold)
    elif symmetrize == "forward":
        chosen, score = grids.forward_best, grids.forward
    elif symmetrize == "backward":
        chosen, score = grids.backward_best, grids.backward
    else:
        sizes = grids.source_sizes, grids.target_sizes
        chosen = symmetrize_cells(grids.forward_best, grids.backward_best, *sizes, symmetrize)
    links = links_of_cells(chosen, score, grids.source_sizes, grids.target_sizes)
    return links if threshold is None else links.above(threshold)
