"""Events with their arguments, found by one search over triggers and roles (Li, Ji and Huang, 2013).

Every word that may be a trigger gets a type or none; then every mention of its sentence gets a role in that event or
none; so arguments can correct their trigger, and events each other (`weft.infer.slots`). The role table, learned from
training data, is a hard constraint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.evaluate.semantics.events import score_rows
from weft.headers import Flag, Record, Table
from weft.infer.slots.beam import best
from weft.infer.slots.problem import Weights
from weft.learn.transitions.slots import UPDATES, SlotTrainer
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.explanation import Explanation
from weft.pipeline.settings import Settings, clusters_option, option
from weft.progress import progress
from weft.storage import Arrays
from weft.tasks.events.encode import Atoms, Reading
from weft.tasks.events.explain import explain
from weft.tasks.events.model import EventModel, encode_docs, rows_of_events
from weft.tasks.events.schema import Schema, gold_of, learn_schema
from weft.text.conventions.events import LAYER, event_rows, set_events
from weft.text.conventions.tuples import MENTIONS
from weft.text.doc import Doc
from weft.text.split import with_words

#: Longer sentences are annotated in windows: the number of slots grows with the square of a sentence's length.
LONGEST = 200
#: What is added to the score of every trigger and of every argument, tried on dev data.
GRID = (-8.0, -4.0, -1.0, 0.0, 1.0, 4.0, 8.0, 16.0, 24.0, 32.0)
HEADER = Record(settings=Table(), schema=Table(), tagged=Flag(), lemmas=Flag())


@dataclass
class EventSettings(Settings):
    """Options of an extractor of events."""

    mentions: str = option(MENTIONS, "Span layer of mentions that may fill roles; their labels are types.")
    layer: str = option(LAYER, "Graph layer of events to learn, and to write.")
    update: str = option("early", "When the beam loses gold, or at its largest error, or at the end.", choices=UPDATES)
    beam: int = option(4, "Width of the beam.")
    epochs: int = option(20, "Passes over the training data; dev data choose the best one.")
    whole: bool = option(True, "Use features of several events and arguments.", flag="--global")
    nested: bool = option(True, "Events may be arguments of events.")
    reach: int = option(0, "Arguments may stand so many sentences before or after their trigger.")
    trees: bool = option(False, "Use dependency trees.")
    wordnet: str = option("", "Folder of a WordNet database: synonyms, and the verbs behind nouns.", metavar="FOLDER")
    clusters: str = clusters_option()
    tags: str = option("upos", "Column of tags to use if the training data have it.")
    common: int = option(10, "Words met so often and never as a trigger are not searched; 0: search all.")
    balance: bool = option(True, "Choose on dev data how readily events and arguments are predicted.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.update not in UPDATES:
            raise ConfigError(f"update must be one of {', '.join(UPDATES)}, got {self.update!r}")
        for name, low, high in (("beam", 1, 256), ("epochs", 1, 10_000), ("reach", 0, 10), ("common", 0, 10**9)):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"{name} must be from {low} to {high}, got {getattr(self, name)}")


class EventExtractor(Trainable):
    """Finds events: triggers with types, and the mentions and events that fill their roles.

    >>> from weft.text.conventions.events import EventRow, Filler
    >>> from weft.text.layers import SpanLayer
    >>> def note(who, verb, what, event=""):
    ...     doc = Doc.from_words([[who, verb, what]])
    ...     doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person"), (2, 3, "thing")])
    ...     fillers = Filler("Who", -1, ((0, 1),), "person"), Filler("What", -1, ((2, 3),), "thing")
    ...     set_events(doc, [EventRow(event, ((1, 2),), fillers)] if event else [])
    ...     return doc
    >>> train = [note("Ada", "sold", "boats", "Sale"), note("Bo", "sold", "bread", "Sale"),
    ...          note("Ada", "saw", "boats"), note("Bo", "liked", "bread")]
    >>> extractor = EventExtractor(EventSettings(common=0))
    >>> report = extractor.fit(train)
    >>> new = note("Zoe", "sold", "ink")
    >>> extractor([new])
    >>> [event.told for event in new.events]
    ['Sale(sold, Who: Zoe, What: ink)']
    """

    task = "events"
    settings_class = EventSettings
    settings: EventSettings
    unsaved = ("workers", "wordnet", "clusters")
    explains = True

    def __init__(self, settings: EventSettings | None = None) -> None:
        super().__init__(settings)
        self.model: EventModel | None = None
        self.tagged = self.lemmas = False
        self._set_layers()

    def _set_layers(self) -> None:
        settings = self.settings
        tags = (settings.tags,) if self.tagged else ()
        lemmas = ("lemma",) if self.lemmas else ()
        trees = ("head", "deprel") if settings.trees else ()
        self.requires = ("tokens", f"spans/{settings.mentions}", *tags, *lemmas, *trees)
        self.provides = (f"graphs/{settings.layer}", f"spans/{settings.layer}")

    @property
    def reading(self) -> Reading:
        """What of documents is read."""
        settings = self.settings
        tags = settings.tags if self.tagged else ""
        return Reading(
            settings.mentions, settings.layer, tags, self.lemmas, settings.trees, settings.reach, settings.nested
        )

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with mentions and events; dev data choose the epoch, and the balance."""
        watch, settings = Stopwatch(), self.settings
        docs = training_docs(train)
        self.tagged = bool(settings.tags) and all(doc.has(settings.tags) for doc in docs)
        self.lemmas = all(doc.has("lemma") for doc in docs)
        self._set_layers()
        self._check(docs)
        reading = self.reading
        rows = [event_rows(doc, settings.layer) for doc in docs]
        schema = learn_schema(docs, rows, reading, settings.common)
        if len(schema.labels) < 2:
            raise DataError(
                f"there is nothing to train on: no document has an event in the layer {settings.layer!r}; events are "
                "read from brat (E lines) and from .events.jsonl"
            )
        atoms = Atoms.for_words(docs, reading, settings.wordnet, settings.clusters)
        encoded = encode_docs(docs, schema, reading, atoms)
        labels, roles, lost = gold_of(docs, rows, reading, encoded.places, schema)
        trainer = SlotTrainer(settings.beam, settings.update, settings.epochs, settings.whole, settings.seed)
        held_out = None if dev is None else self._held_out(with_words(dev))
        chosen: dict[str, Any] = {"score": -1.0}
        with progress("train events", settings.epochs, "epochs") as bar:

            def after(epoch: int, weights: Weights) -> bool:
                bar.advance()
                if held_out is not None:
                    score = self._balance_of(EventModel(schema, reading, weights, atoms), *held_out)
                    if score["mean F"] > chosen["score"]:
                        chosen.update(score=score["mean F"], epoch=epoch + 1, weights=weights)
                return True

            weights = trainer.fit(encoded.batch, schema.table, labels, roles, after)
        self.model = EventModel(schema, reading, chosen.get("weights", weights), atoms)
        if held_out is not None and settings.balance:
            self._set_balance(self.model, *held_out)
        report: dict[str, Any] = {
            "training": {
                "documents": len(docs),
                "sentences with open words": len(encoded.places.doc),
                "events": int((labels > 0).sum()),
                "arguments": int((roles > 0).sum()),
                "events lost": lost["triggers"],
                "arguments lost": lost["arguments"],
                "types": len(schema.labels) - 1,
                "roles": len(schema.roles) - 1,
                "epoch": chosen.get("epoch", len(trainer.reports)),
                "invalid updates": sum(each.invalid for each in trainer.reports),
                "weights": self.model.size,
                **watch.seconds(),
            }
        }
        if held_out is not None:
            scores = self._balance_of(self.model, *held_out)
            report["scores"] = {f"dev {name}": value for name, value in scores.items()}
        return report

    def _check(self, docs: Sequence[Doc]) -> None:
        for doc in docs:
            missing = [layer for layer in self.requires if not doc.has(layer)]
            if missing:
                raise DataError(f"{doc.id or 'a document'} has no {', '.join(missing)}; annotate it before training")

    def _held_out(self, docs: Sequence[Doc]) -> tuple[Sequence[Doc], list[Any]]:
        self._check(docs)
        return docs, [event_rows(doc, self.settings.layer) for doc in docs]

    def _balance_of(self, model: EventModel, docs: Sequence[Doc], gold: list[Any]) -> dict[str, float]:
        """F of triggers and arguments, and their harmonic mean."""
        counts = score_rows(gold, model.predict(model.encode(docs), self.settings.beam))
        one, two = counts["triggers"].total().f1, counts["arguments"].total().f1
        return {"trigger F": one, "argument F": two, "mean F": 2 * one * two / max(one + two, 1e-12)}

    def _set_balance(self, model: EventModel, docs: Sequence[Doc], gold: list[Any]) -> None:
        """Choose what every trigger and every argument gets besides, one after the other."""
        encoded, table = model.encode(docs), model.schema.table
        for part in (0, 1, 0):
            scores = {}
            for value in GRID:
                model.weights.bonus[part] = value
                labels, roles, _ = best(encoded.batch, table, model.weights, self.settings.beam)
                counts = score_rows(gold, rows_of_events(encoded, model.schema, labels, roles))
                one, two = counts["triggers"].total().f1, counts["arguments"].total().f1
                scores[value] = 2 * one * two / max(one + two, 1e-12)
            model.weights.bonus[part] = max(GRID, key=lambda each: (scores[each], -abs(each)))

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        model, settings = self.trained(self.model), self.settings
        able = [doc for doc in docs if doc.n_words and settings.mentions in doc.spans]
        if able:
            for doc, rows in zip(able, model.predict(model.encode(able), settings.beam), strict=True):
                set_events(doc, rows, settings.layer)

    def _explain(self, doc: Doc, word: int) -> Explanation:
        """Why a word has the event that it has: its features, its arguments, the rest."""
        return explain(self.trained(self.model), self.settings.beam, self.task, doc, word)

    def state(self) -> State:
        model = self.trained(self.model)
        header = {
            "settings": self.saved_settings(), "schema": model.schema.to_dict(), "tagged": self.tagged,
            "lemmas": self.lemmas,
        }  # fmt: skip
        return header, model.arrays()

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> EventExtractor:
        extractor = cls(EventSettings.from_saved(header["settings"]))
        HEADER.check(header)
        extractor.tagged, extractor.lemmas = header["tagged"], header["lemmas"]
        extractor._set_layers()
        schema = Schema.from_dict(header["schema"])
        stored = Stored.of(arrays)
        extractor.model = EventModel.from_arrays(stored, schema, extractor.reading, extractor.settings.whole)
        return extractor
