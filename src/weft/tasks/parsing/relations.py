"""Relations of finished trees: the second stage of a two-stage parser (McDonald, Lerman & Pereira 2006).

    relations of the dependents j_1 < ... < j_M of head i  =  argmax  sum_m  s(l_m, l_{m-1}, i, y, x)

Any tree y may be given: non-projective, with several roots, correct or wrong. The labeller labels all dependents of a
head together, left to right, so that one subject makes another unlikely; see `weft.learn.trees.sibling_labels`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.declared import ANY, Array, Stored
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.features.extract import write_column
from weft.features.morphology import Morphology
from weft.features.relation_templates import ARCS, MORPHOLOGY, PAIRS, compile_relation_templates
from weft.headers import Many, Record, Table, Text, Whole
from weft.infer.trees.projectivity import is_tree
from weft.learn.trees.sibling_labels import (
    AllowedLabels,
    LabelModel,
    Trees,
    allowed_labels,
    best_labels,
    check_trees,
    columns_of,
    keys_in_order,
    pair_keys,
    score_labels,
)
from weft.learn.trees.sibling_learner import SiblingLearner
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option, template_fields_option
from weft.storage import Arrays
from weft.tasks.parsing.relation_features import RELATION_FIELDS, RelationReader
from weft.text.doc import Doc

#: Trained weights are integers up to this limit, so that their sums are the same on every machine.
LARGEST = 32000
LABELLER = Record(fields=Text(), settings=Table(), labels=Whole(1, 2**20))
ARRAYS = (
    Array("slots", "uint32", ("weights",), below="places"),
    Array("weights", "int16", ("weights",), low=ANY),
    Array("allowed.keys", "uint64", ("keys",)),
    Array("allowed.offsets", "int64", ("keys+2",), offsets_of="allowed"),
    Array("allowed.labels", "int32", ("allowed",), below="known"),
)


@dataclass
class RelationSettings(Settings):
    """Options of a relation labeller."""

    sequence: bool = option(True, "Label the dependents of a head together.")
    morphology: bool = option(True, "Use morphological features and their agreement.")
    restrict: bool = option(True, "Allow only relations seen with the direction and the tags of head and dependent.")
    epochs: int = option(6, "Passes over the trees.")
    cap: float = option(math.inf, "Largest step of an update.")
    fields: dict[str, str] = template_fields_option(RELATION_FIELDS)
    templates: str = option("", "Feature templates of arcs; without any, the task's own.")
    bits: int = option(21, "Hash weights into 2^N places.", metavar="N")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.epochs < 1 or not self.cap > 0:
            raise ConfigError(f"epochs must be at least 1 and cap above 0, got {self.epochs} and {self.cap}")
        if not 8 <= self.bits <= 28:
            raise ConfigError(f"bits must be from 8 to 28, got {self.bits}")


class RelationLabeller:
    """Labels the arcs of finished trees given as arrays; parsers use it as a part.

    `fields` are the letters of the columns of its input tables (see `RELATION_FIELDS`); it ignores unknown fields, and
    missing fields fire no features.

    >>> words = np.array([[1, 1], [5, 2], [6, 3], [7, 2]], dtype=np.uint64)  # ROOT, noun, verb, noun
    >>> sentences, heads, labels = np.array([0, 3]), np.array([2, 0, 2]), np.array([1, 0, 2])
    >>> labeller = RelationLabeller("wt")
    >>> labeller.fit(words, Morphology.none(3), sentences, heads, labels)["wrong"][-1]
    0
    >>> labeller.label(words, Morphology.none(3), sentences, heads)
    array([1, 0, 2], dtype=int32)
    """

    def __init__(self, fields: Iterable[str], settings: RelationSettings | None = None) -> None:
        self.settings = settings if settings is not None else RelationSettings()
        self.settings.check()
        self.fields = "".join(fields)
        self.model: LabelModel | None = None

    def fit(
        self,
        words: Keys,
        feats: Morphology,
        sentences: NDArray[np.int64],
        heads: NDArray[np.int32],
        labels: NDArray[np.int32],
        n_labels: int | None = None,
    ) -> dict[str, Any]:
        """Train on gold or predicted trees; `labels` are the words' gold labels even if heads are wrong, -1 if unknown.

        The report counts the wrong labels in every epoch.
        """
        trees = check_trees(words, feats, sentences, heads)
        known = labels >= 0
        if not known.any():
            raise DataError("the training data has no relations: no word has a label")
        n_labels = int(labels.max()) + 1 if n_labels is None else n_labels
        settings = self.settings
        places = np.zeros((1 << settings.bits) + n_labels, np.float32)
        blank = self._model(places, self._allowed(trees, labels, n_labels), n_labels)
        learner = SiblingLearner(settings.epochs, settings.cap, seed=settings.seed)
        weights, wrong = learner.fit(blank, trees, labels)
        scale = LARGEST / max(float(np.abs(weights).max()), 1e-9)
        self.model = blank._replace(weights=np.rint(weights * scale).astype(np.int16))
        return {"words": int(known.sum()), "wrong": wrong}

    def _model(self, weights: NDArray[Any], allowed: AllowedLabels, n_labels: int) -> LabelModel:
        settings = self.settings
        arcs = settings.templates or ARCS + (MORPHOLOGY if settings.morphology else "")
        programs = compile_relation_templates(arcs), compile_relation_templates(PAIRS)
        columns = columns_of(self.fields)
        return LabelModel(weights, *programs, columns, allowed, n_labels, settings.sequence, settings.morphology)

    def _allowed(self, trees: Trees, labels: NDArray[np.int32], n_labels: int) -> AllowedLabels:
        known = labels >= 0 if self.settings.restrict else np.zeros(len(labels), np.bool_)
        whole, alone = pair_keys(trees, columns_of(self.fields))
        keys = np.concatenate([whole[known], alone[known]])
        return allowed_labels(keys, np.concatenate([labels[known], labels[known]]), n_labels)

    def label(
        self, words: Keys, feats: Morphology, sentences: NDArray[np.int64], heads: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Predict the label of every word's arc; the trees do not change."""
        return best_labels(self._trained(), check_trees(words, feats, sentences, heads))

    def scores(
        self,
        words: Keys,
        feats: Morphology,
        sentences: NDArray[np.int64],
        heads: NDArray[np.int32],
        labels: NDArray[np.int32],
    ) -> NDArray[np.float64]:
        """The model's score for the labels, one number per sentence, whether the labels are allowed or not."""
        return score_labels(self._trained(), check_trees(words, feats, sentences, heads), labels)

    def _trained(self) -> LabelModel:
        if self.model is None:
            raise WeftError("this labeller is not trained yet: call fit, or load a model")
        return self.model

    def state(self) -> State:
        """The contents of a model file."""
        model = self._trained()
        header = {"fields": self.fields, "settings": _plain(self.settings), "labels": model.n_labels}
        allowed, used = model.allowed, np.flatnonzero(model.weights)
        return header, {
            "slots": used.astype(np.uint32),
            "weights": model.weights[used],
            "allowed.keys": keys_in_order(allowed),
            "allowed.offsets": allowed.offsets,
            "allowed.labels": allowed.labels,
        }

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> RelationLabeller:
        """Restore the labeller from its state."""
        LABELLER.check(header, "labeller")
        labeller = cls(header["fields"], _settings(header["settings"]))
        n_labels, settings = header["labels"], labeller.settings
        size = (1 << settings.bits) + n_labels
        arrays = Stored.of(arrays).take(*ARRAYS, places=size, known=n_labels)
        keys, offsets, labels = arrays["allowed.keys"], arrays["allowed.offsets"], arrays["allowed.labels"]
        slots = arrays["slots"]
        # The first list holds all labels.
        if len(offsets) < 2 or int(offsets[1]) != n_labels or not bool((np.diff(offsets) > 0).all()):
            raise ModelError("the lists of relations do not fit together: the model file is damaged")
        own = np.repeat(np.arange(len(keys)), np.diff(offsets)[1:])
        allowed = allowed_labels(np.array(keys)[own], np.array(labels, np.int32)[offsets[1] :], n_labels)
        weights = np.zeros(size, np.int16)
        weights[slots] = arrays["weights"]
        labeller.model = labeller._model(weights, allowed, n_labels)
        return labeller

    def check_fits(self, fields: Iterable[str], labels: int) -> None:
        """Raise an error unless a labeller from a file reads these fields of words and names these labels."""
        if self.fields != "".join(fields) or len(self.fields) != len(list(fields)) or self._trained().n_labels > labels:
            raise ModelError("the relations do not fit the fields or the labels: the model file is damaged")


class Relations(Trainable):
    """Labels the relations of trees, replacing existing ones.

    >>> tags, heads = [["NOUN", "VERB"]] * 2, [[2, 0]] * 2
    >>> relations = [["nsubj", "root"]] * 2
    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=tags, head=heads, deprel=relations)
    >>> relations = Relations()
    >>> report = relations.fit([doc])
    >>> new = Doc.from_words([["birds", "sing"]], upos=[["NOUN", "VERB"]], head=[[2, 0]])
    >>> relations([new])
    >>> new.column("deprel")
    ['nsubj', 'root']
    """

    task = "relations"
    settings_class = RelationSettings
    settings: RelationSettings
    provides = ("deprel",)

    def __init__(self, settings: RelationSettings | None = None) -> None:
        super().__init__(settings)
        self.requires: tuple[str, ...] = ("tokens", "head")
        self.labels: list[str] = []
        self.labeller = RelationLabeller(self.settings.fields, self.settings)
        self._reader = RelationReader(self.settings.fields)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with heads and relations; dev data is labelled on its gold trees and scored."""
        watch = Stopwatch()
        docs = [doc for doc in train if doc.n_words]
        if not any(doc.head is not None and doc.has("deprel") for doc in docs):
            raise DataError(
                "the training data has no heads with relations; expected them in the columns HEAD and DEPREL of CoNLL-U"
            )
        docs, left_out = _with_trees(docs)
        names = [name for doc in docs for name in doc.column("deprel")]
        self.labels = [name for name, _ in Counter(names).most_common() if name]
        number = {name: i for i, name in enumerate(self.labels)}
        labels = np.array([number.get(name, -1) for name in names], dtype=np.int32)
        words, feats, sentences = self._reader.read(docs)
        report = self.labeller.fit(words, feats, sentences, _heads(docs), labels, len(self.labels))
        if any(doc.has("upos") for doc in docs):
            self.requires = ("tokens", "upos", "head")
        training = {
            "sentences": len(sentences) - 1,
            "broken trees": left_out,
            "words": report["words"],
            "relations": len(self.labels),
            "epochs": self.settings.epochs,
            **watch.seconds(),
        }
        scores = {} if dev is None else {f"dev {name}": value for name, value in self.scores(list(dev)).items()}
        return {"training": training, **({"scores": scores} if scores else {})}

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        write_column(docs, "deprel", self.labels, self._find(docs))

    def _find(self, docs: Sequence[Doc]) -> NDArray[np.int32]:
        for doc in docs:
            _check_heads(doc)
        words, feats, sentences = self._reader.read(docs)
        return self.labeller.label(words, feats, sentences, _heads(docs))

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """The share of correct relations on the gold trees of the documents, with and without subtypes."""
        docs, _ = _with_trees([doc for doc in docs if doc.n_words])
        if not docs:
            raise DataError("the documents to score have no trees; expected them in the column HEAD of CoNLL-U")
        gold = [name for doc in docs for name in doc.column("deprel")]
        predicted = [self.labels[label] for label in self._find(docs).tolist()]
        whole = sum(a == b for a, b in zip(gold, predicted, strict=True)) / len(gold)
        base = sum(a.split(":")[0] == b.split(":")[0] for a, b in zip(gold, predicted, strict=True)) / len(gold)
        return {"relations": base, "relations with subtypes": whole}

    def state(self) -> State:
        header, arrays = self.labeller.state()
        return {"labels": self.labels, "requires": list(self.requires), "labeller": header}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Relations:
        Record(labels=Many(Text()), requires=Many(Text()), labeller=Table()).check(header)
        labeller = RelationLabeller.from_state(header["labeller"], arrays)
        component = cls(labeller.settings)
        labeller.check_fits(component.settings.fields, len(header["labels"]))
        component.labeller = labeller
        component.labels = header["labels"]
        component.requires = tuple(header["requires"])
        return component


def _heads(docs: Sequence[Doc]) -> NDArray[np.int32]:
    parts = [doc.head for doc in docs if doc.head is not None]
    return np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32)


def _check_heads(doc: Doc) -> None:
    lengths = np.diff(doc.sentence_offsets)
    if doc.head is not None and bool(((doc.head >= 0) & (doc.head <= np.repeat(lengths, lengths))).all()):
        return
    name = f"document {doc.id!r}" if doc.id else "the document"
    raise DataError(f"{name} has words without a head inside their sentence; relations need complete trees: parse it")


def _with_trees(docs: Sequence[Doc]) -> tuple[list[Doc], int]:
    """The documents reduced to their sentences with complete trees, and the number of sentences left out."""
    kept: list[Doc] = []
    left_out = 0
    for doc in docs:
        bounds = list(pairwise(doc.sentence_offsets.tolist()))
        whole = [s for s, (a, b) in enumerate(bounds) if doc.head is not None and is_tree(doc.head[a:b])]
        left_out += len(bounds) - len(whole)
        if whole:
            kept.append(doc if len(whole) == len(bounds) else doc.subset(whole))
    return kept, left_out


def _plain(settings: RelationSettings) -> dict[str, Any]:
    """Settings for JSON, which has no infinity."""
    return {name: None if value == math.inf else value for name, value in asdict(settings).items() if name != "workers"}


def _settings(plain: Mapping[str, Any]) -> RelationSettings:
    return RelationSettings.from_saved({**plain, "cap": math.inf if plain.get("cap") is None else plain["cap"]})
