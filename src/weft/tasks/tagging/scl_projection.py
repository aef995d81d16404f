"""A projection of token features that captures correspondences between domains, learned from raw text of both.

    features of a token   58 kinds, as Ratnaparkhi (1996): affixes and shapes in a window of five, words in one of three
    pivots                <word on the left>, <word here>, <word on the right>, for words frequent in every raw text
    predictors            does the pivot hold here?  from features of the other positions only
    theta                 25 directions per kind of feature (`weft.features.representations.correspondence`)

A projection looks features up by their keys, so any learner over the same templates can use it, and it can be saved to
its own file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weft import storage
from weft.arrays import Floats, Ints, Keys
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.features.extract import Extractor
from weft.features.index import FeatureIndex
from weft.features.program import Features
from weft.features.representations.correspondence import Correspondence, select_pivots_by_count
from weft.features.templates import Template, Templates
from weft.headers import Many, Record, Text
from weft.learn.chains.model import Dense
from weft.learn.linear.pivots import pivot_predictors
from weft.pipeline.settings import Settings, option
from weft.text.doc import Doc

#: The 58 kinds of features: eleven per word in a window of five, and the words in a window of three. The paper gives
#: only their number; this is a set of that size.
FEATURES = (
    "w[-2..2].prefix1..4 w[-2..2].suffix1..4 w[-2..2].digit w[-2..2].upper w[-2..2].hyphen w[-1..1]"
)  # fmt: skip
_KIND = "scl-projection"
_POSITIONS = 4096  # projected at a time to compute the mean norm


@dataclass
class ProjectionSettings(Settings):
    """Options of a projection."""

    features: str = option(FEATURES, "Kinds of features: templates that look at one word each.")
    pivot_count: int = option(50, "Pivots are words that occur more often than this in every raw text.")
    pivots: int = option(0, "Maximum number of pivots, the most frequent words; 0 takes all.")
    words: int = option(150_000, "Words of each raw text to learn predictors from; 0 takes all.")
    min_count: int = option(2, "Features that occur less often have no projection.")
    h: int = option(25, "Directions per kind of feature.")
    l2: float = option(1e-4, "Penalty of the predictors.")
    passes: int = option(3, "Passes over the data to learn predictors.")
    intercept: bool = option(
        True, "Give predictors an intercept, so that weights do not model how frequent a pivot is."
    )
    seed: int = option(0, "Random seed.")

    def check(self) -> None:
        """Check the values."""
        for name in ("h", "l2", "passes", "min_count"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("pivot_count", "pivots", "words"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")


@dataclass(frozen=True)
class RawTokens:
    """Tokens of raw texts as rows of a sparse 0/1 matrix, with descriptions of its columns.

    >>> raw = [[Doc.from_words([["a", "cat"], ["a", "dog"]])], [Doc.from_words([["a", "gene"], ["a", "cell"]])]]
    >>> tokens = RawTokens.from_texts(raw, ProjectionSettings(features="w[-1] w[0]", pivot_count=1))
    >>> tokens.matrix.shape, tokens.names, tokens.place.tolist()
    ((8, 3), ['w[-1]=a', 'w[0]=a'], [-1, 0, -1])
    """

    matrix: sparse.csr_matrix
    keys: Keys  # of the columns
    kind: NDArray[np.int32]  # number of each column's template
    place: Ints  # offset from the token of the position that each column reads
    pivots: Ints  # columns
    names: list[str]  # of the pivots

    @classmethod
    def from_texts(cls, raw: Sequence[Iterable[Doc]], settings: ProjectionSettings) -> RawTokens:
        """Tokens of sampled sentences of every text; pivots are chosen by their counts in all texts."""
        settings.check()
        texts = [[row for doc in docs for row in sentences_of(doc)] for docs in raw]
        if not texts or not all(texts):
            raise DataError("a projection is learned from raw text, but at least one of the texts has no words")
        words = frequent_words(texts, settings.pivot_count, settings.pivots)
        sampled = Doc.from_words([row for k, text in enumerate(texts) for row in _sample(text, settings, k)])
        templates = _single_places(Templates(settings.features))
        extractor = Extractor(templates, {"w": "form"})
        matrix, keys, kind = _matrix(extractor.features([sampled])[0], settings.min_count)
        place = np.array([template.atoms[0].lo for template in templates])[kind]
        pivots, names = _pivot_columns(extractor, templates, words, keys)
        return cls(matrix, keys, kind, place, pivots, names)

    def predictors(
        self, settings: ProjectionSettings, labels: sparse.csr_matrix | None = None, positive_only: bool = False
    ) -> sparse.csr_matrix:
        """Weights, features x pivots; features of the pivot's own position are masked."""
        return pivot_predictors(
            self.matrix,
            self.pivots,
            self.place,
            settings.l2,
            labels=labels,
            positive_only=positive_only,
            intercept=settings.intercept,
            passes=settings.passes,
            seed=settings.seed,
        )


@dataclass(frozen=True)
class TokenProjection:
    """Dense features of tokens: sums over their binary features (`weft.tasks.labelling.chain_data.Projection`).

    >>> raw = [[Doc.from_words([["the", noun, "of", "the", noun, "sleeps"]] * 9)] for noun in ("cat", "gene")]
    >>> projection = TokenProjection.learn(raw, ProjectionSettings(pivot_count=5, h=2))
    >>> projection.pivots[:2], projection.similar("gene", ["the", "of", "cat", "sleeps"], 1)[0][0]
    (['w[-1]=the', 'w[-1]=of'], 'cat')
    """

    templates: str
    keys: Keys  # of the features that have a projection
    correspondence: Correspondence
    pivots: list[str]
    chosen: Ints | None = None  # dimensions in use; None: all

    @classmethod
    def learn(cls, raw: Sequence[Iterable[Doc]], settings: ProjectionSettings | None = None) -> TokenProjection:
        """Learn from raw texts, one per domain. With two it is structural correspondence learning; with the target text
        alone, semi-supervised alternating structure optimization (Ando and Zhang 2005)."""
        options = settings if settings is not None else ProjectionSettings()
        return cls.from_tokens(RawTokens.from_texts(raw, options), options)

    @classmethod
    def from_tokens(
        cls, tokens: RawTokens, settings: ProjectionSettings, labels: sparse.csr_matrix | None = None
    ) -> TokenProjection:
        """Learn a projection from tokens; `labels` (tokens x pivots) may replace the occurrences of pivots."""
        predictors = tokens.predictors(settings, labels, positive_only=True)
        theta = Correspondence.from_predictors(predictors, tokens.kind, settings.h, seed=settings.seed)
        return cls(settings.features, tokens.keys, theta, tokens.names)

    @cached_property
    def _index(self) -> FeatureIndex:
        index = FeatureIndex()
        index.add(self.keys)
        return index

    @property
    def size(self) -> int:
        return self.correspondence.size if self.chosen is None else len(self.chosen)

    def rows(self, keys: Keys) -> NDArray[np.int32]:
        """The rows of keys in theta, -1 for features without a projection."""
        return self._index.rows(keys)

    def sums(self, rows: NDArray[np.int32], offsets: Ints) -> Dense:
        """The projection of positions, given the rows of their features."""
        return self.correspondence.project_rows(rows, offsets, chosen=self.chosen)

    def fold(self, weights: Floats) -> tuple[Keys, Floats]:
        """What weights `[label, dimension]` add to each feature: its row of theta times the weights of its block."""
        theta = self.correspondence
        every = np.zeros((len(weights), theta.size))
        every[:, slice(None) if self.chosen is None else self.chosen] = weights
        scores = np.zeros((len(self.keys), len(weights)))
        for b, (first, end) in enumerate(pairwise(theta.starts.tolist())):
            block = theta.block == b
            scores[block] = theta.scale * (theta.rows[block, : end - first] @ every[:, first:end].T)
        return self.keys, scores

    def project(self, docs: Sequence[Doc]) -> Dense:
        """The projection of every word of documents."""
        features, _ = Extractor(list(Templates(self.templates)), {"w": "form"}).features(docs)
        return self.sums(self.rows(features.keys), features.offsets)

    def scaled(self, rows: NDArray[np.int32], offsets: Ints, factor: float) -> TokenProjection:
        """Rescale the projection: its mean L1 norm becomes `factor` times the number of features per position."""
        size = 0.0
        for first in range(0, len(offsets) - 1, _POSITIONS):
            batch_offsets = offsets[first : first + _POSITIONS + 1]
            part = self.sums(rows[batch_offsets[0] : batch_offsets[-1]], batch_offsets - batch_offsets[0])
            size += float(np.abs(part).sum(dtype=np.float64))
        if size <= 0.0:
            raise DataError("no feature of the training set has a projection: it shares no features with the raw text")
        scale = self.correspondence.scale * factor * len(rows) / size
        return replace(self, correspondence=replace(self.correspondence, scale=scale))

    def select(self, dimensions: Ints) -> TokenProjection:
        """Select dimensions, numbered among those in use."""
        used = np.arange(self.correspondence.size) if self.chosen is None else self.chosen
        return replace(self, chosen=np.sort(used[dimensions]))

    def similar(self, word: str, among: Iterable[str], k: int = 10) -> list[tuple[str, float]]:
        """The k words, among those given, whose rows of theta as the current word are nearest to that of `word`, with
        their cosines."""
        names = [word, *(each for each in dict.fromkeys(among) if each != word)]
        rows = self._rows_of(names)
        if rows[0] < 0:
            raise DataError(f"{word!r} has no projection: it is not in the raw text, or too rare")
        named = {int(row): name for row, name in zip(rows, names, strict=True) if row >= 0}
        allowed = np.zeros(len(self.keys), dtype=bool)
        allowed[list(named)] = True
        nearest, cosines = self.correspondence.similar(int(rows[0]), k, allowed)
        return [(named[int(row)], float(cosine)) for row, cosine in zip(nearest, cosines, strict=True)]

    def from_words(self, words: Sequence[str]) -> tuple[list[str], NDArray[np.float32]]:
        """The words that have a projection as the current word, and their rows of theta."""
        rows = self._rows_of(words)
        known = rows >= 0
        kept = [word for word, there in zip(words, known, strict=True) if there]
        return kept, self.correspondence.rows[rows[known]]

    def _rows_of(self, words: Sequence[str]) -> NDArray[np.int32]:
        here = [template for template in Templates(self.templates) if str(template) == "w[0]"]
        if not here:
            raise ConfigError("words can only be compared if the word itself, w[0], is among the features")
        features, _ = Extractor(here, {"w": "form"}).features([Doc.from_words([[word] for word in words])])
        return self._index.rows(features.keys)

    def state(self) -> tuple[dict[str, Any], storage.Arrays]:
        """The contents of a file."""
        arrays = {"keys": self.keys, **self.correspondence.arrays()}
        if self.chosen is not None:
            arrays["chosen"] = self.chosen
        return {"templates": self.templates, "pivots": self.pivots}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: storage.Arrays) -> TokenProjection:
        Record(templates=Text(), pivots=Many(Text())).check(header)
        stored = Stored.of(arrays)
        theta = Correspondence.from_arrays(stored)
        keys, *chosen = stored.take(
            Array("keys", "uint64", (len(theta.rows),)),
            Array("chosen", "int64", ("chosen",), below=theta.size, rising=True, optional=True),
        ).values()
        stored.refuse_rest()
        return cls(
            header["templates"], np.array(keys), theta, list(header["pivots"]), np.array(chosen[0]) if chosen else None
        )

    def save(self, path: str | Path) -> None:
        """Save the projection to its own file."""
        header, arrays = self.state()
        storage.save(path, {"task": _KIND, **header}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> TokenProjection:
        header, arrays = storage.load(path)
        if header.get("task") != _KIND:
            raise ModelError(f"{path} contains a {header.get('task')!r}, not a projection; give a file written by save")
        return cls.from_state(header, arrays)


def frequent_words(texts: Sequence[Sequence[Sequence[str]]], more_than: int, at_most: int = 0) -> list[str]:
    """The words that occur more than `more_than` times in every text, sorted by their lowest count, highest first.

    >>> frequent_words([[["a", "b", "a"]], [["b", "a", "c", "a"]]], more_than=1)
    ['a']
    """
    counts = [Counter(word for row in text for word in row) for text in texts]
    words = sorted(set.intersection(*(set(each) for each in counts)))
    if not words:
        raise DataError("the raw texts have no word in common: no pivots can be chosen")
    chosen = select_pivots_by_count([[each[word] for word in words] for each in counts], more_than)
    if not len(chosen):
        raise DataError(f"no word occurs more than {more_than} times in every raw text; lower pivot_count")
    return [words[k] for k in chosen[: at_most or None]]


def sentences_of(doc: Doc) -> list[list[str]]:
    """The forms of a document, sentence by sentence.

    >>> sentences_of(Doc.from_words([["Dogs", "bark"], ["Stop"]]))
    [['Dogs', 'bark'], ['Stop']]
    """
    forms = doc.column("form")
    return [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]


def _sample(text: Sequence[list[str]], options: ProjectionSettings, number: int) -> list[list[str]]:
    """A random sample of sentences with about as many words as the settings ask for, in text order."""
    sizes = np.array([len(row) for row in text])
    if not options.words or sizes.sum() <= options.words:
        return list(text)
    order = np.random.default_rng((options.seed, number)).permutation(len(text))
    end = int(np.searchsorted(np.cumsum(sizes[order]), options.words)) + 1
    return [text[k] for k in np.sort(order[:end])]


def _single_places(templates: Templates) -> list[Template]:
    """Check that each template reads one word; others could not be masked at a pivot's position."""
    for template in templates:
        if template.order or len(template.atoms) != 1 or template.atoms[0].bag or template.atoms[0].field != "w":
            raise ConfigError(
                f"template {template}: each feature of a projection reads a single word, such as w[-1] or w[0].suffix3"
            )
    return list(templates)


def _matrix(features: Features, min_count: int) -> tuple[sparse.csr_matrix, Keys, NDArray[np.int32]]:
    """Tokens x features as a 0/1 matrix, the key of every column and the number of its template."""
    index = FeatureIndex()
    rows = index.add(features.keys)
    kind = np.zeros(len(index), dtype=np.int32)
    kind[rows] = features.template
    kept = index.counts >= min_count
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    columns = number[rows]
    there = columns >= 0
    bounds = np.concatenate([[0], np.cumsum(there)])[features.offsets]
    n = len(features.offsets) - 1
    matrix = sparse.csr_matrix((np.ones(int(there.sum()), dtype=np.float32), columns[there], bounds), (n, kept.sum()))
    return matrix, index.keys()[kept], kind[kept]


def _pivot_columns(
    extractor: Extractor, templates: Sequence[Template], words: Sequence[str], keys: Keys
) -> tuple[Ints, list[str]]:
    """Columns of the features that are one of these words at some position, and their names."""
    whole = [template for template in templates if template.atoms[0].attribute == "form"]
    if not whole:
        raise ConfigError("pivots are words at a position: the features need templates such as w[-1], w[0], w[1]")
    reach = max(abs(template.atoms[0].lo) for template in whole)
    # In the middle of a sentence that repeats one word, every word template reads that word.
    repeated = Doc.from_words([[word] * (2 * reach + 1) for word in words])
    features, _ = extractor.restricted(whole).features([repeated])
    middles = features.keys[
        features.offsets[reach :: 2 * reach + 1][: len(words), None] + np.arange(len(whole))[None, :]
    ]  # [word, template]
    index = FeatureIndex()
    index.add(keys)
    columns = index.rows(middles.T.ravel())
    names = [f"{template}={word}" for template in whole for word in words]
    known = columns >= 0
    return columns[known].astype(np.int64), [name for name, there in zip(names, known, strict=True) if there]
