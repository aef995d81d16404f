"""A tagger for an unannotated domain, by structural correspondence learning (Blitzer et al. 2006).

    score(y, x) = sum_i  w[y_i] . f_i  +  v[y_i] . s theta f_i  +  t[y_{i-1}, y_i]

f_i are the binary features of a token and theta f_i their projection (`weft.tasks.tagging.scl_projection`), learned
from raw text of both domains; s scales its mean L1 norm to five times that of f_i. Training is averaged MIRA on the
five best taggings. Half of the dimensions of theta suffice: those whose weights vary most between tags after a few
passes of stochastic gradient descent. Without a projection this is the supervised tagger; with a projection from raw
target text alone it is semi-supervised ASO. After training, v and theta are folded into w, so tagging is as fast as
without a projection.

Given some annotated target sentences, a second tagger is trained on them with the first tagger's predictions as
additional features: the tag of the word, and pairs of adjacent tags in a window of five words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.features.extract import Binding
from weft.formats import read
from weft.headers import Record, Text
from weft.learn.chains.model import ChainModel, DenseRows
from weft.learn.online.sgd import SGD
from weft.pipeline.component import Component, State
from weft.pipeline.registry import component_class
from weft.pipeline.settings import option
from weft.storage import Arrays
from weft.tasks.labelling.chain_data import ChainData
from weft.tasks.labelling.column_labeller import ColumnLabeller, ColumnSettings
from weft.tasks.labelling.labeller import LabellerSettings
from weft.tasks.tagging.scl_projection import FEATURES, ProjectionSettings, TokenProjection, sentences_of
from weft.text.doc import Doc
from weft.text.strings import StringTable

#: Tags predicted by the source tagger: the current one, and pairs in a window of five.
SOURCE_TEMPLATES = "s[0] s[-2]|s[-1] s[-1]|s[0] s[0]|s[1] s[1]|s[2]"
_SOURCE_COLUMN = "source_tag"
#: Sentences on which the learning rate of stochastic gradient descent is tuned.
SAMPLE = 50


@dataclass
class SCLSettings(ColumnSettings):
    """Options of an adapted tagger."""

    column: str = option("", "Column to learn and to write; by default xpos where the data has it, else upos.")
    learner: str = "mira"
    epochs: int = 5
    factor: float = option(5.0, "Mean L1 norm of the projection relative to that of the binary features.")
    keep: float = option(0.5, "Share of the projection's dimensions to keep.", flag="--keep-share")
    selection_epochs: int = option(2, "Passes of stochastic gradient descent before dimensions are chosen.")
    selection_sentences: int = option(500, "Maximum number of sentences to choose dimensions on.")
    raw: str = option(
        "both",
        "Raw text to learn the projection from: both domains (SCL), the target's (ASO) or none.",
        choices=("both", "target", "none"),
        flag="--project-from",
    )
    pivot_count: int = option(50, "Pivots are words that occur more often than this in every raw text.")
    pivots: int = option(0, "Maximum number of pivots, the most frequent words; 0 takes all.")
    raw_words: int = option(150_000, "Words of each raw text to learn predictors from; 0 takes all.")
    h: int = option(25, "Directions of the projection per kind of feature.")
    projection: str = option(
        "", "File of the projection; it is read if it exists and written otherwise.", metavar="FILE"
    )
    target: str = option(
        "", "Annotated text of the target domain, to train a second tagger on top of the first.", metavar="FILE"
    )

    def check(self) -> None:
        super().check()
        if not 0.0 < self.keep <= 1.0:
            raise ConfigError(f"keep, the share of dimensions to keep, must be above 0 and at most 1, got {self.keep}")
        for name in ("factor", "selection_epochs", "selection_sentences"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.raw not in ("both", "target", "none"):
            raise ConfigError(f"raw must be both, target or none, got {self.raw!r}")
        self.from_projection().check()
        if self.hash_bits:
            raise ConfigError("an adapted tagger looks features up by their keys: leave hash_bits at 0")

    def from_projection(self) -> ProjectionSettings:
        """The settings of the projection."""
        return ProjectionSettings(
            pivot_count=self.pivot_count, pivots=self.pivots, words=self.raw_words, h=self.h, seed=self.seed
        )


class SCLTagger(ColumnLabeller):
    """Tags words of a domain without tagged text.

    `source` is a trained tagger whose predictions become features when training on annotated target sentences.

    >>> tagger = SCLTagger(SCLSettings(pivot_count=5))
    >>> source = Doc.from_words([["the", "cat", "of", "the", "cat", "sleeps"]] * 9, xpos=[list("DNPDNV")] * 9)
    >>> raw = Doc.from_words([["the", "gene", "of", "the", "gene", "sleeps"]] * 9)
    >>> report = tagger.adapt([source], [raw])
    >>> new = Doc.from_words([["the", "gene", "of", "the", "gene", "sleeps"]])
    >>> tagger([new])
    >>> new.column("xpos")
    ['D', 'N', 'P', 'D', 'N', 'V']
    """

    task = "scl-tagger"
    settings_class = SCLSettings
    settings: SCLSettings

    def __init__(
        self,
        settings: LabellerSettings | None = None,
        projection: TokenProjection | None = None,
        source: Component | None = None,
    ) -> None:
        super().__init__(settings)
        self.projection = projection
        self.narrowed: TokenProjection | None = None  # as used in training: scaled, selected dimensions
        self.source = source
        self.provides = (self.settings.column or "xpos",)

    def gold(self, doc: Doc) -> list[str]:
        tags = doc.column(self.settings.column)
        if not all(tags):
            raise DataError(
                f"{'some words' if any(tags) else 'the words'} of the training data have no {self.settings.column}; "
                "give data with a tag for every word, or set column=NAME"
            )
        return tags

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        features = FEATURES if self.projection is None else self.projection.templates
        extra_templates = f" {SOURCE_TEMPLATES}" if self.source is not None else ""
        return f"y[-1] {features}{extra_templates}", {"w": "form"}

    def bindings(self) -> Mapping[str, Binding]:
        return {**self.settings.fields, "s": _SOURCE_COLUMN}

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        docs = [doc for doc in train if doc.n_words]
        if not self.settings.column:
            self.settings.column = "xpos" if any(doc.has("xpos") for doc in docs) else "upos"
        self.provides = (self.settings.column,)
        report = super().fit(docs, dev)
        if self.narrowed is not None:
            report["training"] |= {"pivots": len(self.narrowed.pivots), "dimensions": self.narrowed.size}
        return report

    def adapt(
        self,
        source: Sequence[Doc],
        target_raw: Sequence[Doc],
        source_raw: Sequence[Doc] = (),
        dev: Sequence[Doc] | None = None,
    ) -> dict[str, Any]:
        """Learn the projection from raw text, including the annotated source text, and train the tagger on the source.
        If the settings name annotated target text, train on that, with the source tagger's predictions as features."""
        settings = self.settings
        if settings.target:
            target = list(read(settings.target))
            self.source = type(self)(replace(settings, target=""))
            before = self.source.adapt(source, target_raw, source_raw)
            return self.fit(target, dev) | {"source": before["training"]}
        kept = Path(settings.projection) if settings.projection else None
        if kept is not None and kept.exists():
            self.projection = TokenProjection.load(kept)
        elif settings.raw != "none":
            texts = [list(target_raw)] if settings.raw == "target" else [[*source, *source_raw], list(target_raw)]
            self.projection = TokenProjection.learn(texts, settings.from_projection())
            if kept is not None:
                self.projection.save(kept)
        return self.fit(source, dev)

    def extended(self, data: ChainData, observed: Sequence[Doc]) -> ChainData:
        if self.projection is None:
            return data
        settings = self.settings
        wide = _scaled(data.projected(self.projection, observed), self.projection, settings.factor)
        if settings.keep < 1.0:
            projection = _narrow(wide, settings)
            wide = _scaled(wide, projection, settings.factor)
        assert isinstance(wide.projection, TokenProjection)
        self.narrowed = wide.projection
        return wide

    def observed(self, docs: Sequence[Doc], training: bool = False) -> Sequence[Doc]:
        if self.source is None:
            return docs
        strings = StringTable()
        observed = []
        for doc in docs:
            new = Doc.from_words(sentences_of(doc), strings=strings)
            self.source([new])
            new.set_column(_SOURCE_COLUMN, new.column(self.source.provides[0]))
            observed.append(new)
        return observed

    def state(self) -> State:
        header, arrays = super().state()
        header["settings"]["projection"] = header["settings"]["target"] = ""  # paths of the training machine
        if self.source is not None:
            source_header, tables = self.source.state()
            header["source"] = {"task": self.source.task, **source_header}
            arrays.update({f"source/{name}": array for name, array in tables.items()})
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        self.provides = (self.settings.column,)
        if "source" in header:
            Record(source=Record(task=Text())).check(header)
            kind = component_class(header["source"]["task"])
            self.source = kind.from_state(header["source"], Stored.of(arrays).under("source/"))


def _scaled(data: ChainData, projection: TokenProjection, factor: float) -> ChainData:
    """A training set with its projection replaced by a scaled one over the same features."""
    dense = data.batch.dense
    assert dense is not None
    features = dense.features
    scaled = projection.scaled(features.rows, features.offsets, factor)
    model = data.model
    wider = ChainModel(model.space, model.node, model.transitions, model.edge, scaled.size)
    batch = replace(data.batch, dense=DenseRows(features, scaled))
    return replace(data, model=wider, batch=batch, projection=scaled)


def _narrow(data: ChainData, settings: SCLSettings) -> TokenProjection:
    """The projection reduced to the dimensions whose weights vary most between tags."""
    assert isinstance(data.projection, TokenProjection)
    generator = np.random.default_rng(settings.seed)
    some = generator.permutation(len(data.batch))[: settings.selection_sentences]
    sentences = list(data.batch.select(some.tolist()).batches(1))
    learner = SGD(epochs=settings.selection_epochs, seed=settings.seed, sample=SAMPLE)
    weights = learner.fit(data.model, sentences).weights
    variance = data.model.dense_weights(weights).var(axis=0)
    kept = max(1, round(settings.keep * data.projection.size))
    return data.projection.select(np.argsort(-variance, kind="stable")[:kept])
