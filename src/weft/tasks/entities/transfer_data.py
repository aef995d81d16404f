"""Sentences of several languages with one feature index, to train entity recognizers on any mixture of them.

    theta_0 = learn(sources + labelled target sentences, if any)
    theta_i = learn(the same + target sentences with p(y* | x; theta_{i-1}) >= threshold, each weighing p)

All languages share features: words and affixes, universal tags, cross-lingual clusters. Only target sentences have
features of native clusters, so their weights are exactly 0 until the first self-labelled sentence is added. Labels
follow the scheme IO, as not every corpus marks where a name begins. If the target is German, capitalization is ignored:
words are lower-cased, and templates of capitals are left out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.features.lexicon import WordClasses
from weft.features.templates import Templates
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainBatch
from weft.learn.self_training import WAYS, SelfTraining, best_labels, self_train_weights
from weft.learn.signals import Gold, Partial
from weft.pipeline.settings import option
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.text.conventions.label_types import harmonize
from weft.text.doc import Doc

#: Table 2 of Täckström, McDonald and Uszkoreit (2012), with transitions independent of observations.
WORDS = (
    "true y[-1] w[-1..1] w[-1]|w[0] w[0]|w[1] w[-1]|w[0]|w[1] w[-1..1].prefix1..5 w[-1..1].suffix1..5 w[-1..1].hyphen"
)
CAPITALS = (
    "w[-1..1].capital w[-1].capital|w[0].capital w[0].capital|w[1].capital w[-1].capital|w[0].capital|w[1].capital"
)
TAGS = "t[-1..1] t[-1]|t[0] t[0]|t[1] t[-1]|t[0]|t[1] t[-2]|t[-1]|t[0]|t[1] t[-1]|t[0]|t[1]|t[2]"
CLUSTERS, NATIVE = TAGS.replace("t[", "c["), TAGS.replace("t[", "n[")
#: Languages in which capitals do not indicate names.
WITHOUT_CAPITALS = ("de",)
#: The column of universal tags; other tags differ between languages.
TAG_COLUMN = "upos"
LEARNERS = ("crf", "adagrad", "sgd")
_SHARED, _NATIVE = "shared cluster", "native cluster"


@dataclass
class TransferSettings(EntitySettings):
    """Options of a recognizer trained on other languages."""

    scheme: str | None = option("IO", "Labels of words for spans; only IO.", metavar="SCHEME")
    learner: str = option("crf", "Learning algorithm.", choices=LEARNERS)
    epochs: int = option(4, "Passes of the first training, for adagrad and sgd.")
    retrain_epochs: int = option(2, "Passes of every retraining, for adagrad and sgd.")
    iterations: int = option(60, "Maximum number of iterations of the first training, for crf.")
    retrain_iterations: int = option(20, "Maximum number of iterations of every retraining, for crf.")
    features: str = option(
        "all",
        "Weights for all labels, as target text does not show which labels a feature occurs with.",
        choices=("all",),
    )
    min_count: int = 2
    window: int = 0
    capitals: str = option(
        "auto",
        "Whether templates see capitals; auto decides by the target language.",
        choices=("auto", "see", "ignore"),
    )
    sources: dict[str, str] = option(
        {}, "Files with annotated entities of other languages, by language code.", metavar="CODE=FILE,..."
    )
    target: str = option("", "Text of the language to learn.", metavar="[CODE=]FILE")
    columns: str = option("", "What the columns of these files hold, where they have more than two.", hidden=True)
    types: str = option("common", "Entity types: common to all languages, all, or a space-separated list.")
    self_train: int = option(5, "Iterations of self-training.", metavar="N")
    threshold: float = option(0.5, "Learn from sentences whose labels have at least this probability.")
    by: str = option("weight", "How the chosen sentences count.", choices=WAYS)

    def check(self) -> None:
        super().check()
        choices = {"scheme": ("IO",), "learner": LEARNERS, "features": ("all",), "by": WAYS}
        choices["capitals"] = ("auto", "see", "ignore")
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.sources and not self.target:
            raise ConfigError("transfer needs text of the target language: set target=CODE=FILE (--target)")
        for name in ("retrain_epochs", "retrain_iterations"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.self_train < 0 or self.threshold < 0:
            raise ConfigError(
                f"self_train and threshold must be at least 0, got {self.self_train} and {self.threshold}"
            )
        if self.nested or self.order != 1:
            raise ConfigError("transfer trains a first-order model of flat names; leave out nested and order")


@dataclass(frozen=True)
class Languages:
    """Documents by language, all with the same entity types, and those of the target language.

    `target` are unlabelled documents and `labelled` optional labelled ones of the target language, whose code is
    `code`. `clusters` are cluster paths of words by language (also the target's), `native` those of the target alone.
    """

    sources: Mapping[str, Sequence[Doc]]
    target: Sequence[Doc]
    code: str = "target"
    labelled: Sequence[Doc] = ()
    clusters: Mapping[str, Mapping[str, str]] | None = None
    native: Mapping[str, str] | None = None


@dataclass(frozen=True)
class _Known:
    """Likelihood of gold labels, summed over the compatible labellings if a corpus does not annotate some type."""

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        return (Gold() if batch.allowed is None else Partial())(structure, batch)


class TransferData:
    """Sentences of several languages with one feature index; models can be trained on any mixture of them.

    >>> data = TransferData(TransferSettings(self_train=1, min_count=1, threshold=0.2), small_example())
    >>> outcome = data.train(["en"], native=True)
    >>> [told.chosen for told in outcome.rounds]
    [3]
    >>> unseen = Doc.from_words([["il", "vit", "Oslo"]])
    >>> data.predict(outcome.model, [unseen])[0]
    [['O', 'O', 'I-LOC']]
    """

    def __init__(self, settings: TransferSettings, languages: Languages) -> None:
        self.settings = settings
        if languages.code in languages.sources:
            raise ConfigError(
                f"{languages.code} is both a source language and the target; pass its sentences as labelled"
            )
        corpora = {code: _filled(docs) for code, docs in languages.sources.items()}
        if languages.labelled:
            corpora[languages.code] = _filled(languages.labelled)
        if not any(corpora.values()):
            raise DataError("there is nothing to train on: no language has labelled sentences")
        types = settings.types if settings.types in ("common", "all") else settings.types.split()
        corpora, self.types = harmonize(corpora, settings.layer, types)
        self.code = languages.code
        self.sources = {code: corpora[code] for code in languages.sources}
        self.labelled = corpora.get(languages.code, []) if languages.labelled else []
        self.target = _filled(languages.target)
        self.classes = {code: WordClasses(paths) for code, paths in (languages.clusters or {}).items()}
        self.native = None if languages.native is None else WordClasses(languages.native)
        everything = [*(doc for docs in corpora.values() for doc in docs), *self.target]
        self.tagged = all(doc.has(TAG_COLUMN) for doc in everything)
        self.templates, self.fields = self._features()
        self.reader = ChainReader(Templates(self.templates), {**self.fields, "c": _SHARED, "n": _NATIVE})
        self._cut: dict[str, tuple[int, int]] = {}
        self._masks: dict[str, NDArray[np.bool_]] = {}
        self.data = self._index()
        self._unlabelled: dict[bool, ChainBatch] = {}

    def _features(self) -> tuple[str, dict[str, str]]:
        settings = self.settings
        see = settings.capitals == "see" or (settings.capitals == "auto" and self.code not in WITHOUT_CAPITALS)
        parts = {WORDS: True, CAPITALS: see, TAGS: self.tagged, CLUSTERS: bool(self.classes),
                 NATIVE: self.native is not None}  # fmt: skip
        words = "form" if see else "form:lower"
        templates = settings.templates or " ".join(part for part, wanted in parts.items() if wanted)
        used = Templates(templates).fields()
        bound = {"w": words, "t": TAG_COLUMN, **settings.fields}
        return templates, {field: column for field, column in bound.items() if field in used}

    def _index(self) -> ChainData:
        """Index the features of all sentences; target sentences also have native clusters, and no labels yet."""
        gold = EntityRecognizer(EntitySettings(layer=self.settings.layer, scheme="IO"))
        docs: list[Doc] = []
        labels: list[str] = []
        at = 0
        parts = {**self.sources, "": self.labelled}
        for code, corpus in parts.items():
            first = at
            for doc in corpus:
                labels += gold.gold(doc)
                docs.append(self.seen(doc, code or self.code))
                at += doc.n_sentences
            self._cut[code] = (first, at)
        labels += ["O"] * sum(doc.n_words for doc in self.target)
        docs += [self.seen(doc, self.code) for doc in self.target]
        space = LabelSpace(sorted({"O", *(f"I-{kept}" for kept in self.types.types)}), 1, "IO")
        tags = space.ids(labels)
        self._open_missing(space, tags, docs)
        return ChainData.build(self.reader, docs, tags, space, False, self.settings.min_count, self.settings.hash_bits)

    def _open_missing(self, space: LabelSpace, tags: NDArray[np.int32], docs: Sequence[Doc]) -> None:
        """Masks for corpora that do not annotate some type: words outside names may have it."""
        at = 0
        outside = space.labels.index("O")
        for code, corpus in {**self.sources, "": self.labelled}.items():
            end = at + sum(doc.n_words for doc in corpus)
            missing = self.types.missing.get(code or self.code, ()) if corpus else ()
            if missing:
                allowed = np.zeros((end - at, len(space.labels)), dtype=np.bool_)
                allowed[np.arange(end - at), tags[at:end]] = True
                for label in missing:
                    allowed[tags[at:end] == outside, space.labels.index(f"I-{label}")] = True
                self._masks[code] = allowed
            at = end

    def seen(self, doc: Doc, code: str, native: bool = True) -> Doc:
        """The document with the clusters of its language, and native ones for the target language, for feature
        extraction."""
        with_clusters = copy.copy(doc)
        with_clusters.columns = dict(doc.columns)
        shared = self.classes.get(code)
        kinds = {_SHARED: shared, _NATIVE: self.native if native and code == self.code else None}
        for column, classes in kinds.items():
            if classes is not None:
                with_clusters.columns[column] = class_ids(with_clusters, classes)
        return with_clusters

    def coverage(self, docs: Sequence[Doc] | None = None) -> dict[str, float]:
        """The shares of target words with a shared cluster and with a native cluster."""
        chosen = self.target if docs is None else docs
        words = sum(doc.n_words for doc in chosen)
        shares = {}
        for name, classes in {"shared": self.classes.get(self.code), "native": self.native}.items():
            if classes is not None and words:
                shares[name] = sum(int((class_ids(doc, classes) > 0).sum()) for doc in chosen) / words
        return shares

    def batch(self, code: str) -> ChainBatch:
        """The sentences of a source language; the labelled target sentences for an empty code."""
        batch = self.data.batch.cut(*self._cut[code])
        return replace(batch, allowed=self._masks[code]) if code in self._masks else batch

    def encode(self, docs: Sequence[Doc], native: bool = True) -> ChainBatch:
        """Documents of the target language as a batch."""
        return self.data.encode([self.seen(doc, self.code, native) for doc in docs])

    def unlabelled(self, native: bool) -> ChainBatch:
        """The target text, with or without the features of native clusters."""
        if native not in self._unlabelled:
            first = max(end for _, end in self._cut.values())
            self._unlabelled[native] = (
                replace(self.data.batch.cut(first, len(self.data.batch)), gold=None)
                if native or self.native is None
                else self.encode(self.target, native=False)
            )
        return self._unlabelled[native]

    def train(
        self,
        sources: Sequence[str] | None = None,
        *,
        native: bool = True,
        labelled: Sequence[int] | None = None,
        rounds: int | None = None,
        seed: int | None = None,
        start: Floats | None = None,
        first: Floats | None = None,
    ) -> SelfTraining[Floats]:
        """Train on source languages (default: all) and labelled target sentences, given by their numbers (default:
        all), then self-train on the target text. `first` are the weights before self-training, if they are known."""
        settings = self.settings
        size = 256 if settings.learner == "crf" else 8
        batches: list[ChainBatch] = []
        for code in self.sources if sources is None else sources:
            if code not in self.sources:
                raise ConfigError(f"there is no source language {code!r}; there are {', '.join(self.sources)}")
            batches += self.batch(code).batches(size)
        if self.labelled:
            labelled_batch = self.batch("") if native or self.native is None else self._labelled_plain()
            batches += (labelled_batch if labelled is None else labelled_batch.select(labelled)).batches(size)
        if not batches:
            raise DataError("there is nothing to train on: name a source language, or give labelled sentences")
        rounds = settings.self_train if rounds is None else rounds
        seed = settings.seed if seed is None else seed
        return self_train_weights(
            self.data.model,
            batches,
            list(self.unlabelled(native).batches(size)) if rounds and self.target else [],
            _Fit(self.data.model, settings, seed, first),
            start=start,
            rounds=rounds,
            threshold=settings.threshold,
            by=settings.by,
            seed=seed,
        )

    def _labelled_plain(self) -> ChainBatch:
        batch = self.batch("")
        return replace(
            self.encode(self.labelled, native=False), gold=batch.gold, allowed=batch.allowed, weight=batch.weight
        )

    def predict(self, weights: Floats, docs: Sequence[Doc], native: bool = True) -> tuple[list[list[str]], Floats]:
        """The predicted labels of every sentence of target documents, and their probabilities p(y* | x)."""
        batch = self.encode(docs, native)
        (states,), probability, _ = best_labels(self.data.model, [batch], weights)
        space = self.data.model.space
        labels = np.array(space.labels)[space.tags(states)].tolist()
        return [labels[a:b] for a, b in pairwise(batch.sentences.tolist())], probability

    def native_weights(self, weights: Floats) -> Floats:
        """The weights of native cluster features: those that fire on the target text with native clusters but not
        without."""
        with_them, without = self.unlabelled(True), self.unlabelled(False)
        native_rows = np.setdiff1d(with_them.node.rows, without.node.rows)
        starts = self.data.model.node.starts
        chosen = [weights[starts[row] : starts[row + 1]] for row in native_rows[native_rows >= 0].tolist()]
        return np.concatenate(chosen) if chosen else np.zeros(0)


class _Fit:
    """The learner of the settings; the first training takes more iterations than those that start from its weights."""

    def __init__(self, model: Any, settings: TransferSettings, seed: int, first: Floats | None = None) -> None:
        self.model, self.settings, self.seed, self.first, self.calls = model, settings, seed, first, 0

    def __call__(self, batches: Sequence[Any], start: Floats) -> Floats:
        from weft import learn as room

        settings, later = self.settings, self.calls > 0
        self.calls += 1
        if not later and self.first is not None:
            return self.first
        describe = f"round {self.calls - 1}"
        if settings.learner == "crf":
            objective = room.Objective(
                self.model, batches, _Known(), sigma=settings.sigma, workers=settings.workers
            )  # fmt: skip
            most = settings.retrain_iterations if later else settings.iterations
            result = room.minimize(
                objective, start, room.LBFGS(settings.memory), max_iterations=most, describe=describe
            )  # fmt: skip
            weights: Floats = result.weights
            return weights
        epochs = settings.retrain_epochs if later else settings.epochs
        learner = (
            room.AdaGrad(epochs=epochs, seed=self.seed, signal=_Known())
            if settings.learner == "adagrad"
            else room.SGD(epochs=epochs, seed=self.seed, l2=1 / settings.sigma**2, signal=_Known())
        )
        trained: Floats = learner.fit(self.model, batches, start, describe=describe).weights
        return trained


def small_example() -> Languages:
    """A few sentences in two languages, for examples.

    >>> small_example().code
    'fr'
    """
    from weft.text.layers import SpanLayer

    english = Doc.from_words([["he", "saw", "Rome"], ["Ada", "left"], ["they", "saw", "Bonn"], ["Bo", "left"]])
    english.spans["entities"] = SpanLayer.of(
        english.strings, [(2, 3, "LOC"), (3, 4, "PER"), (7, 8, "LOC"), (8, 9, "PER")]
    )
    french = Doc.from_words([["elle", "vit", "Rome"], ["Ada", "partit"], ["elle", "vit", "Bonn"]])
    return Languages({"en": [english]}, [french], "fr", native={"vit": "0", "elle": "10", "il": "10"})


def _filled(docs: Sequence[Doc]) -> list[Doc]:
    return [doc for doc in docs if doc.n_words]


def class_ids(doc: Doc, classes: WordClasses) -> NDArray[np.int32]:
    """The cluster of every word as string ids of the document."""
    types, inverse = np.unique(doc.columns["form"], return_inverse=True)
    ids: NDArray[np.int32] = doc.strings.ids([classes.of(form) for form in doc.strings.strings(types)])[inverse]
    return ids
