"""Judging the examples of tables by given and by predicted arguments, and scoring what was flagged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.significance import confidence_interval
from weft.recipes.framework import Table
from weft.recipes.semantics.david_preference_violations.data import Example
from weft.recipes.semantics.david_preference_violations.sentences import Roles
from weft.tasks.preferences.fillers import Filler
from weft.tasks.preferences.judge import Judgement, concluded, judge
from weft.tasks.preferences.resources import Resources
from weft.text.conventions.preferences import UNKNOWN, VIOLATION

COLUMNS = ["examples", "base rate", "flagged", "unknown", "P", "R", "F"]
DIGITS = {"examples": 0, "base rate": 1, "flagged": 0, "unknown": 0}


@dataclass(frozen=True)
class Size:
    """Seeds and sentences of the generated world, and samples of the bootstrap."""

    seeds: int = 5
    sentences: int = 2000
    samples: int = 2000


QUICK = Size(seeds=2, sentences=400, samples=1000)


def assignments(example: Example, use: str = "SO") -> list[dict[str, Filler]]:
    """How the arguments of a table may be labelled: a subject without an object is A0 or A1.

    >>> [sorted(each) for each in assignments(Example("turn", "talk", "", "", True))]
    [['A0'], ['A1']]
    """
    subject, object = (Filler.of_word(text) if text else None for text in (example.subject, example.object))
    if "S" in use and "O" in use and subject and object:
        return [{"A0": subject, "A1": object}]
    if "O" in use and object:
        return [{"A1": object}]
    if "S" in use and subject:
        return [{"A0": subject}] if example.object else [{"A0": subject}, {"A1": subject}]
    return []


def judge_given(example: Example, resources: Resources, use: str = "SO") -> Judgement:
    """Judge an example by the arguments of its table; every way to label them gives further readings."""
    found = [judge(example.verb, each, resources) for each in assignments(example, use)]
    if not found:
        return Judgement(example.verb, UNKNOWN, why="no core arguments")
    if not any(each.readings for each in found):
        return found[0]
    return concluded(example.verb, [reading for each in found for reading in each.readings])


def judge_predicted(example: Example, roles: Roles, resources: Resources) -> Judgement:
    """Judge an example by the arguments that were predicted for its sentence."""
    if roles.why:
        return Judgement(example.verb, UNKNOWN, why=roles.why)
    return judge(example.verb, roles.fillers, resources)


def counts_of(examples: Sequence[Example], judgements: Sequence[Judgement]) -> Counts:
    """Metaphors, flags and right flags of every example."""
    gold = np.array([example.metaphor for example in examples], dtype=np.int64)
    flagged = np.array([judgement.outcome == VIOLATION for judgement in judgements], dtype=np.int64)
    return Counts.of(gold, flagged, gold * flagged)


@dataclass
class Cell:
    """What one setting reaches on a set."""

    examples: Sequence[Example]
    judgements: Sequence[Judgement]

    @property
    def counts(self) -> Counts:
        return counts_of(self.examples, self.judgements)

    @property
    def wrong(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which examples are judged wrongly: metaphors that are not flagged, and others that are."""
        flagged = np.array([each.outcome == VIOLATION for each in self.judgements], dtype=bool)
        return flagged != np.array([example.metaphor for example in self.examples], dtype=bool)

    def row(self, samples: int) -> tuple[dict[str, Any], dict[str, tuple[float, float]]]:
        counts = self.counts
        score = counts.total()
        unknown = sum(each.outcome == UNKNOWN for each in self.judgements)
        ours = {
            "examples": len(self.examples), "base rate": 100 * score.gold / len(self.examples),
            "flagged": score.system, "unknown": unknown,
            "P": 100 * score.precision, "R": 100 * score.recall, "F": 100 * score.f1,
        }  # fmt: skip
        intervals = {}
        for name, measure in (("P", "precision"), ("F", "f1")):
            ends = confidence_interval(counts, measure, samples)
            intervals[name] = (100 * ends.low, 100 * ends.high)
        return ours, intervals


def add_row(table: Table, name: str, cell: Cell, size: Size, paper: Mapping[str, float] | None = None) -> None:
    ours, interval = cell.row(size.samples)
    table.add(name, ours, paper=paper, interval=interval)


def memorized(examples: Sequence[Example]) -> list[Judgement]:
    """Every example by the majority of the other examples of its verb."""
    metaphors: dict[str, list[int]] = {}
    for each in examples:
        both = metaphors.setdefault(each.verb, [0, 0])
        both[each.metaphor] += 1
    found = []
    for each in examples:
        other, same = metaphors[each.verb][0], metaphors[each.verb][1]
        own = (other - (not each.metaphor), same - each.metaphor)
        found.append(Judgement(each.verb, VIOLATION if own[1] > own[0] else "ok"))
    return found


def abstract_object(example: Example, resources: Resources) -> Judgement:
    """Flags a verb if all senses of its object, or of its subject if it has none, are abstract and not concrete."""
    bits = resources.nouns.bits
    senses = Filler.of_word(example.object or example.subject).senses(resources.nouns)
    flagged = all(sense.known and sense.has & bits["abstract"] and not sense.has & bits["concrete"] for sense in senses)
    return Judgement(example.verb, VIOLATION if flagged else "ok")
