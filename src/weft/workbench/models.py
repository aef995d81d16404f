"""The model of a project: it proposes answers, and is trained from the answers of people."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import weft
from weft.errors import WeftError
from weft.pipeline.pipeline import Pipeline
from weft.text.doc import Doc
from weft.text.record import from_record
from weft.workbench import classify
from weft.workbench.answers import Schema, Value
from weft.workbench.layers import prepare, value_of, write_value
from weft.workbench.project import Project, kept_models, newest
from weft.workbench.store import Item

#: Kinds of task whose items are labelled as wholes.
TEXTS = ("labels", "questions")
#: Items to annotate at once.
_BATCH = 64


class Proposal(NamedTuple):
    """What is proposed for an item: a value, the probabilities of its parts, and the round of training (0: none)."""

    value: Value
    sure: list[float | None]
    round: int

    @property
    def confidence(self) -> float:
        """That of the least certain part; 1 if no part has one."""
        return min((each for each in self.sure if each is not None), default=1.0)


class Predictor(Protocol):
    """Predicts the values of items."""

    def predict(self, items: Sequence[Item], docs: Mapping[int, Doc]) -> list[tuple[Value, list[float | None]] | None]:
        """A value with the probabilities of its parts for every item, or None."""


class LayerPredictor:
    """A pipeline whose layers are read as values."""

    def __init__(self, schema: Schema, layer: str, nlp: Pipeline) -> None:
        self.schema, self.layer, self.nlp = schema, layer, nlp

    def predict(self, items: Sequence[Item], docs: Mapping[int, Doc]) -> list[tuple[Value, list[float | None]] | None]:
        cut = [cut_out(docs[item.doc], item) for item in items]
        asked = [bare(doc) for doc, _ in cut]
        annotated = list(self.nlp.pipe(asked, probabilities=self.nlp.gives_probabilities))
        layer = self.layer
        found = []
        for item, (_, first), doc in zip(items, cut, annotated, strict=True):
            found.append(value_of(self.schema, doc, layer, first, first + item.words))
        return found


class TextPredictor:
    """A classifier of whole texts."""

    def __init__(self, schema: Schema, model: classify.TextClassifier) -> None:
        self.schema, self.model = schema, model

    def predict(self, items: Sequence[Item], docs: Mapping[int, Doc]) -> list[tuple[Value, list[float | None]] | None]:
        texts = [classify.text_of(self.schema, item.shown) for item in items]
        return [classify.value_of(self.schema, labels) for labels in self.model.predict(texts)]


def cut_out(doc: Doc, item: Item) -> tuple[Doc, int]:
    """The sentences of a document that an item lies in, and the item's first word there."""
    offsets = doc.sentence_offsets.tolist()
    inside = [n for n in range(doc.n_sentences) if offsets[n] < item.end and offsets[n + 1] > item.first]
    return doc.subset(inside), item.first - offsets[inside[0]]


def bare(doc: Doc) -> Doc:
    """The words of a document, as they are spaced, without anything that was said of them."""
    ends = [*doc.word_start.tolist()[1:], len(doc.text) + 1]
    spaces = [end < start for end, start in zip(doc.word_end.tolist(), ends, strict=True)]
    forms, offsets = doc.column("form"), doc.sentence_offsets.tolist()
    pairs = list(pairwise(offsets))
    return Doc.from_words([forms[a:b] for a, b in pairs], spaces=[spaces[a:b] for a, b in pairs])


def load_predictor(project: Project, number: int) -> Predictor | None:
    """The model of a round of training; for round 0 the one that the settings name, or None."""
    settings = project.settings
    schema = settings.schema()
    if number:
        path = project.model_file(number)
        if schema.kind in TEXTS:
            return TextPredictor(schema, classify.TextClassifier.load(path))
        return LayerPredictor(schema, settings.layer, weft.load(path))
    if not settings.model or schema.kind in TEXTS:
        return None
    name = settings.model
    beside = project.folder / name
    return LayerPredictor(schema, settings.layer, weft.load(beside if beside.is_file() else name))


class Proposer:
    """Proposes values with the newest model; without one, what the files said."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.round = 0
        self._lock = threading.Lock()
        self._docs: dict[int, Doc] = {}
        self._made: dict[tuple[int, int], Proposal | None] = {}
        self._predictor: Predictor | None = None
        self.refresh(first=True)

    def refresh(self, first: bool = False) -> None:
        """Take up a newer model, if there is one."""
        number = newest(kept_models(self.project.folder))
        if first or number > self.round:
            predictor = load_predictor(self.project, number)
            if predictor is not None:
                self._warm(predictor)
            with self._lock:
                self.round, self._predictor = number, predictor
                self._made.clear()

    def _warm(self, predictor: Predictor) -> None:
        """Let a new model predict once before anybody waits for it: compiled code is loaded on first use."""
        items = self.project.store.items(only_open=True)[:2]
        docs = {number: from_record(record) for number, record in self.project.store.docs(i.doc for i in items).items()}
        with suppress(WeftError):
            predictor.predict(items, docs)

    def propose(self, items: Sequence[Item]) -> list[Proposal | None]:
        """A proposal for every item."""
        with self._lock:
            missing = [item for item in items if (self.round, item.id) not in self._made]
            if missing:
                self._predict(missing)
            return [self._made[self.round, item.id] for item in items]

    def _predict(self, items: Sequence[Item]) -> None:
        if len(self._made) > 20_000:
            self._made.clear()
            self._docs.clear()
        needed = {item.doc for item in items} - set(self._docs)
        self._docs |= {number: from_record(record) for number, record in self.project.store.docs(needed).items()}
        found: list[Any] = [None] * len(items)
        if self._predictor is not None:
            with suppress(WeftError):  # an item that the model cannot take is answered without a proposal
                found = self._predictor.predict(items, self._docs)
        for item, pair in zip(items, found, strict=True):
            own = None if pair is None else Proposal(pair[0], pair[1], self.round)
            if item.given is not None and (own is None or self.round == 0):
                own = Proposal(item.given, [], 0)
            self._made[self.round, item.id] = own


def predictions(
    predictor: Predictor, items: Sequence[Item], docs: Mapping[int, Doc]
) -> list[tuple[Value, list[float | None]] | None]:
    """The predictions for many items, batch by batch."""
    found: list[tuple[Value, list[float | None]] | None] = []
    for start in range(0, len(items), _BATCH):
        found += predictor.predict(items[start : start + _BATCH], docs)
    return found


def train(project: Project, items: Sequence[tuple[Item, Value]], docs: Mapping[int, Doc], out: Path) -> Predictor:
    """Train a model of the project's task, save it and return it."""
    settings = project.settings
    schema = settings.schema()
    if schema.kind in TEXTS:
        texts = [classify.text_of(schema, item.shown) for item, _ in items]
        labels = [classify.labels_of(schema, value) for _, value in items]
        model = classify.TextClassifier.train(texts, labels, schema.several)
        model.save(out)
        return TextPredictor(schema, model)
    layer = settings.layer
    labelled = []
    for item, value in items:
        doc, first = cut_out(docs[item.doc], item)
        own = bare(doc)
        prepare(schema, own, layer)
        write_value(schema, own, layer, first, value)
        labelled.append(own)
    return LayerPredictor(schema, layer, _trained(schema, layer, labelled, out))


def _trained(schema: Schema, layer: str, docs: list[Doc], out: Path) -> Pipeline:
    if schema.kind == "tags":
        return weft.train("tagger", docs, out=out, column="" if layer == "upos" else layer)
    if schema.kind == "trees":
        return weft.train("parser", docs, out=out)
    if all(doc.spans[layer].is_flat() for doc in docs):
        nlp = weft.train("ner", docs, out=out, layer=layer, learner="crf", sigma=10, window=0)
    else:
        nlp = weft.train("spans", docs, out=out, layer=layer)
    if schema.kind == "relations" and any(len(doc.relations[layer]) for doc in docs):
        related = weft.train("relations", docs, out=out, mentions=layer, layer=layer)
        nlp = Pipeline([*nlp.components, *related.components])
        nlp.save(out)
    return nlp
