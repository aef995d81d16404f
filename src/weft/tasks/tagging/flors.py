"""FLORS, a tagger that adapts to other domains through distributional word vectors (Schnabel and Schütze 2014).

    F(i) = f(w_i-l), ..., f(w_i), ..., f(w_i+l)        tag(i) = argmax over tags t of  weights_t . F(i)

f(w) holds the counts of a word's neighbours in all available text, including raw text of the target domain, its
suffixes and its shape (`weft.features.representations.words`). A word that is missing from the labelled text therefore
has the same kind of vector as any other. There is one linear support vector machine per tag and no search: tags depend
on words only.

    weights_t . F(i) = sum over places p of  weights_tp . f(w_i+p)

so the contribution of a word type at each position is computed once, and tagging a text means adding rows. New text
only changes counts: with `streaming`, the tagger counts each text before it tags it, without retraining.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints, Singles
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError
from weft.features.extract import read_column, runs_of, sentence_offsets
from weft.features.representations.counts import BOUNDARY, NeighbourCounts
from weft.features.representations.words import PARTS, ClassVectors, DenseVectors, WordVectors
from weft.formats.vectors import read_vectors
from weft.headers import Many, Record, Table, Text
from weft.kernel import kernel
from weft.learn.linear.squared_hinge import WindowDesign, fit_squared_hinge
from weft.lexical.clusters.monolingual import load_clusters
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays, from_sparse, to_sparse
from weft.text.doc import Doc
from weft.text.strings import StringTable

CONTEXTS = ("counts", "clusters", "embeddings")
#: Number of words per batch; each word has a row of margins in memory.
_BATCH = 20_000

#: The widest window: a bound on the memory that a model can ask for.
WIDEST = 100
HEADER = Record(tags=Many(Text(), least=1, distinct=True), vectors=Table())


@dataclass
class FlorsSettings(Settings):
    """Options of the tagger; the defaults are the configuration of the paper."""

    column: str = option("upos", "Column to learn and to write.")
    indicators: int = option(500, "Number of frequent words whose counts as neighbours are features.")
    window: int = option(2, "Words on either side.")
    centre: str = option(
        "contexts,suffixes,shape",
        "Parts of the word's own vector: contexts, suffixes, shape, identity.",
        metavar="PARTS",
    )
    neighbours: str = option(
        "contexts,suffixes,shape",
        "Parts of the vectors of the surrounding words.",
        flag="--neighbour-parts",
        metavar="PARTS",
    )
    contexts: str = option("counts", "How contexts are represented.", choices=CONTEXTS)
    clusters: str = option("", "File of word clusters, for --contexts clusters.", metavar="FILE")
    embeddings: str = option(
        "", "File of word vectors (a word and numbers per line), for --contexts embeddings.", metavar="FILE"
    )
    mark_words: bool = option(False, "Mark the start of words, so that a whole word is not a suffix of longer ones.")
    left_to_right: bool = option(False, "Use the predicted tag of the previous word as a feature.")
    streaming: bool = option(False, "Count each text before tagging it.")
    c: float = option(1.0, "Weight of the loss.")
    tolerance: float = option(0.1, "Tolerance of the solver.")
    prune: float = option(0.002, "Drop weights below this share of the largest from the saved model.")
    seed: int = option(0, "Random seed; training draws nothing at random.", hidden=True)
    workers: int = option(1, "Number of threads.")

    def check(self) -> None:
        """Check the values."""
        for name in ("centre", "neighbours"):
            unknown = [part for part in _parts(getattr(self, name)) if part not in PARTS]
            if unknown:
                raise ConfigError(f"{name}: unknown part {unknown[0]!r}; the parts are: {', '.join(PARTS)}")
        if not _parts(self.centre) and not _parts(self.neighbours):
            raise ConfigError("there are no features: centre and neighbours are both empty; name at least one part")
        if self.contexts not in CONTEXTS:
            raise ConfigError(f"contexts must be one of {', '.join(CONTEXTS)}, got {self.contexts!r}")
        for name in ("indicators", "window"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        if self.window > WIDEST:
            raise ConfigError(f"window must be at most {WIDEST}, got {self.window}")
        for name in ("c", "tolerance", "workers"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.streaming and self.contexts != "counts":
            raise ConfigError("streaming updates counts while tagging: it needs contexts=counts")


class Flors(Trainable):
    """Tags words by the vectors of the words in a window.

    >>> news = Doc.from_words([["the", "dog", "runs"], ["a", "cat", "sleeps"]],
    ...                     xpos=[["DT", "NN", "VBZ"], ["DT", "NN", "VBZ"]])
    >>> chat = Doc.from_words([["the", "doggo", "zooms"], ["a", "doggo", "naps"]])
    >>> tagger = Flors(FlorsSettings(column="xpos", indicators=5))
    >>> report = tagger.adapt([news], [chat])
    >>> new = Doc.from_words([["the", "doggo", "sleeps"]])
    >>> tagger([new])
    >>> new.column("xpos")
    ['DT', 'NN', 'VBZ']
    """

    task = "flors"
    settings_class = FlorsSettings
    settings: FlorsSettings
    requires = ("tokens",)

    def __init__(self, settings: FlorsSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (self.settings.column,)
        self.tags: list[str] = []
        self.vectors: WordVectors | None = None
        self.weights: Singles = np.zeros((0, 0, 0), np.float32)  # [place, column, tag]
        self.history: Singles = np.zeros((0, 0), np.float32)  # [previous tag, tag]; the last row starts a sentence
        self._lock = threading.Lock()  # one thread may add counts while another reads them

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on tagged documents alone; `adapt` also reads raw text."""
        return self.adapt(train, (), (), dev)

    def adapt(
        self,
        source: Iterable[Doc],
        target_raw: Iterable[Doc] = (),
        source_raw: Iterable[Doc] = (),
        dev: Iterable[Doc] | None = None,
        dense: DenseVectors | None = None,
        classes: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Train on tagged documents of the source domain and raw documents of the source and target domains.

        `dense` and `classes` replace the files named in the settings. `dev` is only used for scoring.
        """
        watch = Stopwatch()
        settings = self.settings
        docs = [doc for doc in source if doc.n_words]
        gold = self._gold(docs)
        self.tags = sorted(set(gold))
        if len(self.tags) < 2:
            raise DataError(f"a tagger needs at least two different tags; {settings.column} has {len(self.tags)}")
        contexts, counted = self._contexts(docs, target_raw, source_raw, dense, classes)
        used = {*_parts(settings.centre), *_parts(settings.neighbours)}
        sentences = _sentences(docs)
        self.vectors = vectors = WordVectors.from_training(contexts, sentences, settings.mark_words, used)
        forms, initial, window = self._window(docs)
        rows = vectors.rows(forms, initial)
        kinds = {key: _only(rows, vectors, _parts(key)) for key in (settings.centre, settings.neighbours)}
        keys = [settings.centre if p == settings.window else settings.neighbours for p in range(window.shape[1])]
        number = {tag: i for i, tag in enumerate(self.tags)}
        labels = np.array([number[tag] for tag in gold], dtype=np.int64)
        before = self._previous(labels, _closed(sentence_offsets(docs), len(gold))) if settings.left_to_right else None
        design = WindowDesign([kinds[key] for key in keys], window, before, np.float32)
        fitted = fit_squared_hinge(
            design, labels, len(self.tags), settings.c, tolerance=settings.tolerance, workers=settings.workers
        )
        places, more = design.spread(fitted)
        self.weights = np.zeros((len(keys), vectors.width, len(self.tags)), np.float32)
        for table, place, key in zip(self.weights, places, keys, strict=True):
            table[_columns(vectors, _parts(key))] = place
        self.history = np.array(more, dtype=np.float32) if settings.left_to_right else np.zeros((0, 0), np.float32)
        report: dict[str, Any] = {
            "training": {
                "sentences": len(sentences), "words": len(gold), "tags": len(self.tags), **counted,
                "columns": sum(place.shape[0] for place in places), "weights": int(np.count_nonzero(self.weights)),
                **watch.seconds(),
            }
        }  # fmt: skip
        if dev is not None:
            held_out = [doc for doc in dev if doc.n_words]
            system = self._found(self.margins(held_out), sentence_offsets(held_out))
            right = [self.tags[i] == tag for i, tag in zip(system.tolist(), self._gold(held_out), strict=True)]
            report["scores"] = {"dev accuracy": float(np.mean(right))}
        return report

    def margins(self, docs: Sequence[Doc]) -> Singles:
        """The margin of every tag at every word, `[word, tag]`, without the contribution of the previous tag."""
        vectors = self._trained()
        with self._lock:
            if self.settings.streaming and isinstance(vectors.contexts, NeighbourCounts):
                vectors.contexts.add_docs(docs)
            forms, initial, window = self._window(docs)
            rows = vectors.rows(forms, initial).astype(np.float32)
        margins = np.zeros((len(window), len(self.tags)), np.float32)
        for place, table in enumerate(self.weights):
            margins += np.asarray(rows @ table)[window[:, place]]
        return margins

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for batch in _batches(docs):
            predicted = self._found(self.margins(batch), sentence_offsets(batch))
            first = 0
            for table, group in groupby(batch, key=lambda doc: doc.strings):
                ids = table.ids(self.tags)
                for doc in group:
                    doc.set_column(self.settings.column, ids[predicted[first : first + doc.n_words]])
                    first += doc.n_words

    def observe(self, docs: Iterable[Doc]) -> None:
        """Count the words of raw documents: this updates the vectors without retraining.

        >>> tagger = Flors(FlorsSettings(indicators=2))
        >>> _ = tagger.fit([Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])])
        >>> tagger.observe([Doc.from_words([["cats", "purr"]])])
        >>> tagger.vectors.contexts.frequency("cats")
        1
        """
        contexts = self._trained().contexts
        if not isinstance(contexts, NeighbourCounts):
            raise ConfigError(
                f"raw text cannot update a tagger with contexts={self.settings.contexts}; use contexts=counts"
            )
        with self._lock:
            contexts.add_docs(docs)

    def state(self) -> State:
        header, arrays = self._trained().state()
        settings = self.saved_settings() | {"clusters": "", "embeddings": ""}  # paths of the training machine
        weights = np.where(np.abs(self.weights) < self.settings.prune * np.abs(self.weights).max(), 0, self.weights)
        arrays = {f"vectors/{name}": array for name, array in arrays.items()} | to_sparse("weights", weights.ravel())
        arrays["history"] = self.history
        return {"settings": settings, "tags": self.tags, "vectors": header}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        tagger = cls(FlorsSettings.from_saved(header["settings"]))
        HEADER.check(header)
        tagger.tags = header["tags"]
        stored, n = Stored.of(arrays), len(tagger.tags)
        tagger.vectors = WordVectors.from_state(header["vectors"], stored.under("vectors/"))
        shape = 2 * tagger.settings.window + 1, tagger.vectors.width, len(tagger.tags)
        tagger.weights = from_sparse("weights", stored, math.prod(shape)).reshape(shape)
        history = (n + 1, n) if tagger.settings.left_to_right else (0, 0)
        tagger.history = np.array(stored.take(Array("history", "float32", history))["history"])
        return tagger

    def _trained(self) -> WordVectors:
        return self.trained(self.vectors)

    def _gold(self, docs: Sequence[Doc]) -> list[str]:
        for doc in docs:
            if not doc.has(self.settings.column):
                known = ", ".join(column for column in doc.columns if doc.has(column))
                raise DataError(f"the tagged text has no {self.settings.column} (it has: {known}); set column=NAME")
        if not docs:
            raise DataError("there is nothing to train on: the documents have no tagged words")
        return [tag for doc in docs for tag in doc.column(self.settings.column)]

    def _contexts(
        self,
        docs: Sequence[Doc],
        target_raw: Iterable[Doc],
        source_raw: Iterable[Doc],
        dense: DenseVectors | None,
        classes: Mapping[str, str] | None,
    ) -> tuple[NeighbourCounts | ClassVectors | DenseVectors | None, dict[str, int]]:
        """The representation of contexts, and the number of words and types it was counted on."""
        settings = self.settings
        if "contexts" not in (*_parts(settings.centre), *_parts(settings.neighbours)):
            return None, {}
        if settings.contexts == "clusters":
            if classes is None and not settings.clusters:
                raise ConfigError("contexts=clusters needs the file of word clusters: set clusters=FILE")
            return ClassVectors(load_clusters(settings.clusters) if classes is None else classes), {}
        if settings.contexts == "embeddings":
            if dense is None and not settings.embeddings:
                raise ConfigError("contexts=embeddings needs the file of dense vectors: set embeddings=FILE")
            return DenseVectors(*read_vectors(settings.embeddings)) if dense is None else dense, {}
        counts = NeighbourCounts()
        for text in (docs, source_raw, target_raw):
            counts.add_docs(doc for doc in text if doc.n_words)
        counts.freeze(settings.indicators)
        return counts, {"counted_words": counts.tokens, "counted_types": len(counts)}

    def _window(self, docs: Sequence[Doc]) -> tuple[list[str], list[bool], Ints]:
        """Word types (form and whether it starts a sentence), the boundary last, and the types in the window of each
        word."""
        offsets = _closed(sentence_offsets(docs), sum(doc.n_words for doc in docs))
        opens = np.zeros(int(offsets[-1]), dtype=np.int64)
        opens[offsets[:-1][offsets[:-1] < offsets[1:]]] = 1
        forms: list[str] = []
        initial: list[bool] = []
        numbers = np.zeros(len(opens), dtype=np.int64)
        at = 0
        for table, group in runs_of(docs):
            types, type_numbers = _types(table, read_column(group, "form"), opens, at)
            numbers[at : at + len(type_numbers)] = type_numbers + len(forms)
            at += len(type_numbers)
            forms += [form for form, _ in types]
            initial += [first for _, first in types]
        size, reach = len(forms), self.settings.window
        sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        window = np.full((len(numbers), 2 * reach + 1), size, dtype=np.int64)
        for place in range(2 * reach + 1):
            there = np.arange(len(numbers)) + place - reach
            inside = (there >= offsets[sentence]) & (there < offsets[sentence + 1])
            window[inside, place] = numbers[there[inside]]
        return [*forms, BOUNDARY], [*initial, False], window

    def _previous(self, labels: Ints, offsets: Ints) -> Any:
        """The previous tag of every word as a one-hot row; the last column marks the start of a sentence."""
        from scipy.sparse import csr_matrix

        before = np.roll(labels, 1)
        before[offsets[:-1][offsets[:-1] < offsets[1:]]] = len(self.tags)
        rows = np.arange(len(labels))
        return csr_matrix((np.ones(len(labels)), (rows, before)), shape=(len(labels), len(self.tags) + 1))

    def _found(self, margins: Singles, offsets: Ints) -> Ints:
        if not self.settings.left_to_right:
            return margins.argmax(axis=1)
        return _left_to_right(margins, self.history, _closed(offsets, len(margins)))


@kernel
def _left_to_right(margins: Singles, history: Singles, offsets: Ints) -> Ints:
    """Tag greedily from left to right, each word with the tag predicted before it."""
    found = np.zeros(len(margins), dtype=np.int64)
    n_tags = margins.shape[1]
    for s in range(len(offsets) - 1):
        before = n_tags
        for i in range(offsets[s], offsets[s + 1]):
            best = 0
            for tag in range(1, n_tags):
                if margins[i, tag] + history[before, tag] > margins[i, best] + history[before, best]:
                    best = tag
            found[i] = before = best
    return found


def _parts(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _columns(vectors: WordVectors, parts: Sequence[str]) -> Ints:
    """The columns of some parts."""
    return np.concatenate(
        [np.zeros(0, np.int64), *(np.array(vectors.columns[p], np.int64) for p in PARTS if p in parts)]
    )


def _only(rows: Any, vectors: WordVectors, parts: Sequence[str]) -> Any:
    columns = _columns(vectors, parts)
    return rows if len(columns) == rows.shape[1] else rows[:, columns]


def _types(table: StringTable, ids: NDArray[np.int32], opens: Ints, first: int) -> tuple[list[tuple[str, bool]], Ints]:
    """Word types as pairs (form, whether it starts a sentence), and the type number of each word."""
    codes, numbers = np.unique(2 * ids.astype(np.int64) + opens[first : first + len(ids)], return_inverse=True)
    forms = table.strings(codes // 2)
    return list(zip(forms, (codes % 2 == 1).tolist(), strict=True)), numbers.reshape(-1)


def _closed(offsets: Ints, n_words: int) -> Ints:
    """Offsets of sentences; text without sentences counts as one sentence."""
    return offsets if int(offsets[-1]) == n_words else np.array([0, n_words])


def _sentences(docs: Sequence[Doc]) -> list[list[str]]:
    forms = [form for doc in docs for form in doc.column("form")]
    offsets = _closed(sentence_offsets(docs), len(forms)).tolist()
    return [forms[first:end] for first, end in pairwise(offsets)]


def _batches(docs: Sequence[Doc]) -> list[list[Doc]]:
    """Batches of documents with at least `_BATCH` words each."""
    batches: list[list[Doc]] = [[]]
    size = 0
    for doc in docs:
        if size >= _BATCH:
            batches.append([])
            size = 0
        batches[-1].append(doc)
        size += doc.n_words
    return [batch for batch in batches if batch]
