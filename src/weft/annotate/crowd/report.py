"""All that is known of a crowd from one table of answers: workers, languages, flags, and what they are good for.

measure      answers in free text (translations): qualities, cheats, regions, a dictionary, pairs to be judged
consensus    answers from a few classes (labels): the most probable class of every item, and of every worker how
             often she is right; earlier results are the history of the next
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.annotate.crowd.answers import AnswerLog, normalized
from weft.annotate.crowd.cheats import CUT, Evidence, Flag, evidence, flags, without
from weft.annotate.crowd.dictionary import Entry, dictionary
from weft.annotate.crowd.quality import Controls, Estimate, Tally, Work, by_country, estimates
from weft.annotate.crowd.regions import Class, Regions, classify, regions
from weft.annotate.crowd.synonyms import Judgements, Pair
from weft.arrays import Floats
from weft.errors import DataError, FormatError
from weft.learn.generative.dawid_skene import UNKNOWN, aggregate

#: How many answers per class count as those of the mean worker; chosen by answers held out of three sets of labels
#: (`weft reproduce mturk-language-demographics`), not by their gold.
SHRINKAGE = 8.0


@dataclass(frozen=True)
class CrowdReport:
    """What `measure` finds; `work` has every worker, `languages` those that no flag takes out."""

    work: list[Work]
    evidence: list[Evidence]
    flags: list[Flag]
    languages: list[Estimate]
    unfiltered: list[Estimate]
    regions: list[Regions]
    classes: list[Class]
    entries: list[Entry]
    open_pairs: list[Pair]


def measure(
    log: AnswerLog, controls: Controls, machine: Controls | None = None, judgements: Judgements | None = None,
    countries: Mapping[str, set[str]] | None = None, keep: Collection[str] = (), cut: float = CUT,
    agreement: int = 1, least_quality: float = 0.0, seed: int = 0,
) -> CrowdReport:  # fmt: skip
    """Measure a crowd that translates words; workers in `keep` are never taken out.

    >>> log = AnswerLog.of([("w", "pani", "water"), ("v", "pani", "river"), ("v", "din", "day")])
    >>> report = measure(log, {("", "pani"): "water"})
    >>> [(row.worker, row.quality) for row in report.work], report.open_pairs
    ([('v', 0.0), ('w', 1.0)], [Pair(first='river', second='water')])
    """
    known = judgements or Judgements()
    tally = Tally(controls, known.same)
    tally.add(log)
    work = tally.work()
    found = evidence(log, machine or {}, controls, known.same)
    taken_out = [flag for flag in flags(found, cut) if flag.worker not in set(keep)]
    out = {(flag.language, flag.worker) for flag in taken_out}
    honest = [row for row in work if (row.language, row.worker) not in out]
    languages = estimates(honest, seed=seed)
    places = regions(honest, by_country(log), countries, seed) if countries else []
    inside = {row.language: row.n_inside for row in places}
    qualities = {(row.language, row.worker): row.quality for row in work}
    entries = dictionary(
        log, qualities, least_quality=least_quality, agreement=agreement, rows=without(log, taken_out)
    )  # fmt: skip
    return CrowdReport(
        work, found, taken_out, languages, estimates(work, seed=seed), places,
        [classify(row.language, inside.get(row.language, row.workers), row.quality, None) for row in languages],
        entries, known.open_pairs(unmatched(log, controls)),
    )  # fmt: skip


def unmatched(log: AnswerLog, controls: Controls) -> list[tuple[str, str]]:
    """The answers to controls that are not the gold one, each with it: somebody has to judge them.

    >>> unmatched(AnswerLog.of([("w", "pani", "river"), ("v", "pani", "water")]), {("", "pani"): "Water"})
    [('river', 'water')]
    """
    _, first = log.groups("language", "item", "answer")
    pairs = []
    for row in first.tolist():
        item = log.items[log.item[row]]
        gold = controls.get((log.languages[log.language[row]], item), controls.get(("", item)))
        answer = log.answers[log.answer[row]]
        if gold is not None and answer and answer != normalized(gold):
            pairs.append((answer, normalized(gold)))
    return sorted(set(pairs))


@dataclass(frozen=True)
class Agreed:
    """The most probable class of every item, and what is known of every worker."""

    items: list[str]
    labels: list[str]
    probability: Floats
    workers: list[str]
    accuracy: Floats
    classes: list[str]
    counts: Floats

    def save_history(self, path: str | os.PathLike[str]) -> None:
        """Keep what workers did, for the next job."""
        rows = {worker: self.counts[number].tolist() for number, worker in enumerate(self.workers)}
        Path(path).write_text(json.dumps({"classes": self.classes, "workers": rows}), encoding="utf-8")


def consensus(
    log: AnswerLog, controls: Controls | None = None, history: str | os.PathLike[str] | None = None,
    smoothing: float = 0.01, shrinkage: float = SHRINKAGE,
) -> Agreed:  # fmt: skip
    """The consensus of a crowd that labels items with a few classes.

    `shrinkage` is how many answers per class count as those of the mean worker, for workers of whom little is known.

    >>> votes = [("a", "1", "yes"), ("b", "1", "yes"), ("c", "1", "no"), ("a", "2", "no"), ("b", "2", "no")]
    >>> agreed = consensus(AnswerLog.of([*votes, ("c", "2", "yes")]))
    >>> dict(zip(agreed.items, agreed.labels))
    {'1': 'yes', '2': 'no'}
    """
    golds = {item: normalized(gold) for (_, item), gold in (controls or {}).items()}
    earlier, known_classes = _read_history(history) if history is not None else ({}, [])
    classes = sorted({*log.answers, *golds.values(), *known_classes})
    if len(classes) > max(20, len(log) // 20):
        raise DataError(
            f"{len(classes)} different answers are too many for classes; for answers in free text leave out --consensus"
        )
    number = {name: k for k, name in enumerate(classes)}
    label = np.array([number[name] for name in log.answers], dtype=np.int32)[log.answer]
    known = np.array([number.get(golds.get(item, ""), UNKNOWN) for item in log.items], dtype=np.int32)
    before = np.zeros((len(log.workers), len(classes), len(classes)))
    places = [number[name] for name in known_classes]
    for row, worker in enumerate(log.workers):
        if worker in earlier:
            before[row][np.ix_(places, places)] = earlier[worker]
    found = aggregate(
        log.item, log.worker, label, len(classes), known=known, history=before, smoothing=smoothing,
        shrinkage=shrinkage,
    )  # fmt: skip
    return Agreed(
        log.items, [classes[k] for k in found.labels.tolist()], found.posteriors.max(axis=1), log.workers,
        _shares_right(found.counts + before, found.accuracies), classes, found.counts + before,
    )  # fmt: skip


def _shares_right(counts: Floats, otherwise: Floats) -> Floats:
    """The share of right answers of every worker: of what she answered, not of what the crowd lets expect."""
    total = counts.sum(axis=(1, 2))
    right = np.einsum("wkk->w", counts)
    shares: Floats = np.where(total > 0, right / np.maximum(total, 1e-12), otherwise)
    return shares


def _read_history(path: str | os.PathLike[str]) -> tuple[dict[str, Floats], list[str]]:
    expected = 'an object with "classes" and "workers", as `weft label crowd --consensus` writes it'
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
        classes = [str(each) for each in value["classes"]]
        rows = {str(name): np.array(counts, dtype=np.float64) for name, counts in value["workers"].items()}
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(str(path), None, expected, str(error)[:80]) from None
    for name, counts in rows.items():
        if counts.shape != (len(classes), len(classes)) or not (np.isfinite(counts) & (counts >= 0)).all():
            raise FormatError(str(path), None, expected, f"counts of the shape {counts.shape} for {name!r}")
    return rows, classes


def rounded(value: object) -> object:
    """Numbers for tables: four digits, and nothing where there is no figure.

    >>> rounded(0.123456), rounded(float("nan")), rounded("hi")
    (0.1235, None, 'hi')
    """
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 4)
    return value


#: Tables of a report, by file name: the rows, and how a row becomes cells.
TABLES: dict[str, tuple[tuple[str, ...], Callable[[CrowdReport], list[tuple[object, ...]]]]] = {
    "workers.csv": (Work._fields, lambda report: [tuple(row) for row in report.work]),
    "languages.csv": (Estimate._fields, lambda report: [tuple(row) for row in report.languages]),
    "flags.csv": (
        (*Flag._fields, "reason"),
        lambda report: [(*row, row.reason) for row in report.flags],
    ),
    "regions.csv": (
        (*Regions._fields, "stars", "suspicious"),
        lambda report: [(*row, row.stars, row.suspicious) for row in report.regions],
    ),
    "classes.csv": (Class._fields, lambda report: [tuple(row) for row in report.classes]),
    "dictionary.csv": (Entry._fields, lambda report: [tuple(row) for row in report.entries]),
    "to-judge.csv": (Pair._fields, lambda report: [tuple(row) for row in report.open_pairs]),
}  # fmt: skip
