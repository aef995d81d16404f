"""The systems that are compared: staged classifiers and the joint search, on the same encoded documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.semantics.events import NAMES, score_rows
from weft.infer.slots.beam import best
from weft.infer.slots.problem import Batch, Labels, Roles, Weights
from weft.learn.transitions.slots import EpochReport, SlotTrainer
from weft.tasks.events.encode import Atoms, Reading
from weft.tasks.events.model import Encoded, encode_docs, rows_of_events
from weft.tasks.events.schema import Schema, gold_of, learn_schema, trigger_word
from weft.tasks.events.staged import StagedModel
from weft.text.conventions.events import EventRow, event_rows
from weft.text.doc import Doc

#: What is added to the score of every trigger and every argument, tried on dev data.
BALANCES = (0.0, 4.0, 8.0, 16.0, 24.0, 32.0)
Rows = list[list[EventRow]]


@dataclass
class Task:
    """Training and test documents as arrays, with gold on both sides."""

    reading: Reading
    schema: Schema
    train: Encoded
    labels: Labels
    roles: Roles
    lost: dict[str, int]
    test: Encoded
    gold: Rows

    @classmethod
    def of(cls, train: Sequence[Doc], test: Sequence[Doc], reading: Reading) -> Task:
        """Encode both sides under what the training side tells."""
        rows = [event_rows(doc) for doc in train]
        schema, atoms = learn_schema(train, rows, reading), Atoms()
        encoded = encode_docs(train, schema, reading, atoms)
        labels, roles, lost = gold_of(train, rows, reading, encoded.places, schema)
        tested = encode_docs(test, schema, reading, atoms)
        return cls(reading, schema, encoded, labels, roles, dict(lost), tested, [event_rows(doc) for doc in test])

    @property
    def batch(self) -> Batch:
        return self.train.batch

    def joint(self, weights: Weights, width: int = 4) -> Rows:
        """What the search predicts for the test documents."""
        labels, roles, _ = best(self.test.batch, self.schema.table, weights, width)
        return rows_of_events(self.test, self.schema, labels, roles)

    def staged(self, c: float = 1.0) -> Rows:
        """What two classifiers in a row predict for the test documents."""
        model = StagedModel.fit(self.batch, self.schema.table, self.labels, self.roles, c)
        return rows_of_events(self.test, self.schema, *model.predict(self.test.batch, self.schema.table))

    def scored(self, predicted: Rows, mentions_only: bool = True, exact: bool = False) -> dict[str, Counts]:
        """Counts per document; triggers are compared by their one labelled word unless `exact`.

        `mentions_only`: arguments that are events are left out on both sides.
        """
        sides = [
            [self._plain(doc, rows, mentions_only, exact) for doc, rows in zip(self.test.docs, side, strict=True)]
            for side in (self.gold, predicted)
        ]
        return score_rows(sides[0], sides[1])

    def _plain(self, doc: Doc, rows: list[EventRow], mentions_only: bool, exact: bool) -> list[EventRow]:
        found = []
        for row in rows:
            word = trigger_word(doc, row.trigger, self.reading.trees)
            kept = tuple(each for each in row.arguments if each.event < 0 or not mentions_only)
            found.append(EventRow(row.type, row.trigger if exact else ((word, word + 1),), kept))
        return found


@dataclass
class Choice:
    """What is chosen on dev data: the number of epochs, and what triggers and arguments get besides."""

    epochs: int
    balance: tuple[float, float] = (0.0, 0.0)


@dataclass
class Fitted:
    """Weights and how they were learned."""

    weights: Weights
    reports: list[EpochReport] = field(default_factory=list)

    @property
    def invalid(self) -> float:
        """The share of invalid updates over all epochs, in percent."""
        updates = sum(each.updates for each in self.reports)
        return 100 * sum(each.invalid for each in self.reports) / max(1, updates)


def fit(task: Task, width: int, update: str, whole: bool, epochs: int, seed: int = 0) -> Fitted:
    """Train the joint search."""
    trainer = SlotTrainer(width, update, epochs, whole, seed)
    weights = trainer.fit(task.batch, task.schema.table, task.labels, task.roles)
    return Fitted(weights, trainer.reports)


def choose(task: Task, whole: bool, epochs: int, width: int = 4, seed: int = 0) -> Choice:
    """The epoch and the balance that are best on the test side of a task, which must be dev data."""
    scores: list[float] = []
    kept: list[Weights] = []

    def after(epoch: int, weights: Weights) -> bool:
        scores.append(mean_f(task.scored(task.joint(weights, width))))
        if scores[-1] == max(scores):
            kept[:] = [weights]
        return True

    SlotTrainer(width, "early", epochs, whole, seed).fit(task.batch, task.schema.table, task.labels, task.roles, after)
    bonus = kept[0].bonus
    for part in (0, 1):
        found = {}
        for value in BALANCES:
            bonus[part] = value
            found[value] = mean_f(task.scored(task.joint(kept[0], width)))
        bonus[part] = max(BALANCES, key=lambda each: (found[each], -each))
    return Choice(int(np.argmax(scores)) + 1, (float(bonus[0]), float(bonus[1])))


def mean_f(counts: dict[str, Counts]) -> float:
    """The harmonic mean of the F of triggers and of arguments."""
    one, two = counts["triggers"].total().f1, counts["arguments"].total().f1
    return 2 * one * two / max(one + two, 1e-12)


def cells(counts: dict[str, Counts]) -> dict[str, float]:
    """The columns of a row of a table: identification F, then P, R and F."""
    trigger_id, trigger, argument_id, argument = (counts[name].total() for name in NAMES)
    return {
        "trigger id F": 100 * trigger_id.f1, "trigger P": 100 * trigger.precision, "trigger R": 100 * trigger.recall,
        "trigger F": 100 * trigger.f1, "argument id F": 100 * argument_id.f1, "argument P": 100 * argument.precision,
        "argument R": 100 * argument.recall, "argument F": 100 * argument.f1,
    }  # fmt: skip
