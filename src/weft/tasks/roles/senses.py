"""Which sense a predicate has: one Crammer-Singer classifier per lemma, all in one sparse matrix.

A row of the matrix belongs to a lemma and a feature, a column to the rank of a sense among those of its lemma. Lemmas
that are rarer than `min_count` have no classifier and take their most frequent sense; lemmas never seen take the most
frequent sense tag of the training data: `lemma.01` if senses are named after lemmas, else the most frequent sense.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.arrays import Ints, Keys
from weft.errors import ModelError
from weft.features.index import FeatureIndex
from weft.features.predicates import PairTemplates
from weft.features.weights import FrozenTable, Layout
from weft.hashing import hash_strings
from weft.headers import Many, Record, Text
from weft.learn.linear.dual import BinaryRows, fit_crammer_singer
from weft.tasks.roles.data import Predicates
from weft.tasks.roles.tables import GRID, scored

HEADER = Record(lemmas=Many(Text(), distinct=True), senses=Many(Many(Text(), least=1)), unseen=Text())
#: In place of the lemma in a sense tag.
LEMMA = "{}"


class SenseModel:
    """Senses by lemma, the most frequent first; classifiers for some lemmas."""

    def __init__(self, senses: Mapping[str, Sequence[str]], unseen: str, table: FrozenTable | None) -> None:
        self.senses = {lemma: list(own) for lemma, own in senses.items()}
        self.unseen = unseen
        self.table = table

    @classmethod
    def fit(
        cls,
        predicates: Predicates,
        templates: PairTemplates,
        *,
        min_count: int = 7,
        c: float = 0.0,
        each: bool = True,
        precision: str = "int16",
        prune: float = 0.0,
        grid: Sequence[float] = GRID,
    ) -> tuple[SenseModel, dict[str, Any]]:
        """Train on gold senses; C is searched by cross-validation, per lemma or for all, unless it is given."""
        counts: dict[str, Counter[str]] = {}
        for lemma, sense in zip(predicates.lemmas, predicates.senses, strict=True):
            counts.setdefault(lemma, Counter())[sense] += 1
        senses = {
            lemma: [sense for sense, _ in sorted(own.items(), key=lambda item: (-item[1], item[0]))]
            for lemma, own in counts.items()
        }
        model = cls(senses, unseen_tag(predicates.lemmas, predicates.senses), None)
        learned = sorted(lemma for lemma, own in counts.items() if own.total() >= min_count and len(own) > 1)
        report: dict[str, Any] = {"lemmas": len(senses), "sense classifiers": len(learned)}
        if learned:
            report |= model._learn(predicates, templates, learned, c, each, precision, prune, grid)
        return model, report

    def _learn(
        self, predicates: Predicates, templates: PairTemplates, learned: Sequence[str], c: float, each: bool,
        precision: str, prune: float, grid: Sequence[float],
    ) -> dict[str, Any]:  # fmt: skip
        number = {lemma: place for place, lemma in enumerate(learned)}
        items = np.array([place for place, lemma in enumerate(predicates.lemmas) if lemma in number], dtype=np.int64)
        owner = np.array([number[predicates.lemmas[item]] for item in items])
        items, owner = items[np.argsort(owner, kind="stable")], np.sort(owner)
        offsets, keys = self._extract(predicates, templates, items)
        index = FeatureIndex()
        columns = index.add(keys)
        gold = np.array(
            [self.senses[predicates.lemmas[item]].index(predicates.senses[item]) for item in items.tolist()]
        )
        bounds = np.searchsorted(owner, np.arange(len(learned) + 1))
        problems: list[tuple[BinaryRows, Ints, int, int]] = []
        first = 0
        for place, lemma in enumerate(learned):
            low, high = int(bounds[place]), int(bounds[place + 1])
            own = columns[offsets[low] : offsets[high]]
            end = int(own.max()) + 1
            rows = BinaryRows(offsets[low : high + 1] - offsets[low], own - np.int32(first), end - first)
            problems.append((rows, gold[low:high], len(self.senses[lemma]), first))
            first = end
        chosen, report = _search(problems, c, each, grid)
        width = max(labels for _, _, labels, _ in problems)
        sizes = np.zeros(len(index), dtype=np.int64)
        weights = []
        for (rows, own_gold, labels, start), own_c in zip(problems, chosen, strict=True):
            sizes[start : start + rows.n_features] = labels
            weights.append(fit_crammer_singer(rows, own_gold, labels, own_c, tolerance=0.02).ravel())
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        ranks = (np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)).astype(np.int32)
        flat = np.concatenate(weights).astype(np.float64)
        self.table = FrozenTable.freeze(index, Layout(starts, ranks, width), flat, precision, prune)
        return report

    @staticmethod
    def _extract(predicates: Predicates, templates: PairTemplates, items: Ints) -> tuple[Ints, Keys]:
        places = predicates.places[items]
        salts = hash_strings([predicates.lemmas[item] for item in items.tolist()])
        return templates.extract(predicates.words, places, places, np.zeros(len(items), dtype=np.uint64), salts)

    def predict(self, predicates: Predicates, templates: PairTemplates) -> list[str]:
        """The sense of every predicate."""
        found = []
        several = []
        for place, lemma in enumerate(predicates.lemmas):
            own = self.senses.get(lemma)
            found.append(own[0] if own else self.unseen.replace(LEMMA, lemma))
            if own and len(own) > 1 and self.table is not None:
                several.append(place)
        if several and self.table is not None:
            items = np.array(several, dtype=np.int64)
            scores = scored(self.table, *self._extract(predicates, templates, items))
            widths = np.array([len(self.senses[predicates.lemmas[item]]) for item in several])
            scores[np.arange(scores.shape[1]) >= widths[:, None]] = -np.inf
            for item, rank in zip(several, scores.argmax(axis=1).tolist(), strict=True):
                found[item] = self.senses[predicates.lemmas[item]][rank]
        return found

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        header = {"lemmas": list(self.senses), "senses": list(self.senses.values()), "unseen": self.unseen}
        return header, {} if self.table is None else dict(self.table.arrays)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Any) -> SenseModel:
        HEADER.check(header, "senses")
        if len(header["lemmas"]) != len(header["senses"]):
            raise ModelError("the header's senses do not fit its lemmas: the file is damaged")
        width = max((len(own) for own in header["senses"]), default=1)
        # The columns of the table are at most as many as a lemma has senses; lemmas without classifiers have none.
        table = FrozenTable(arrays, width) if arrays else None
        return cls(dict(zip(header["lemmas"], header["senses"], strict=True)), header["unseen"], table)


def unseen_tag(lemmas: Sequence[str], senses: Sequence[str]) -> str:
    """What unseen lemmas get: the most frequent sense tag, with the place of the lemma where senses are named so.

    >>> unseen_tag(["give", "take", "take"], ["give.01", "take.01", "take.02"]), unseen_tag(["sein"], ["be.01"])
    ('{}.01', 'be.01')
    """
    named = Counter(
        sense.rpartition(".")[2] for lemma, sense in zip(lemmas, senses, strict=True)
        if sense.rpartition(".")[0].replace("_", " ") == lemma
    )  # fmt: skip
    if 2 * named.total() > len(lemmas):
        return f"{LEMMA}.{min(named, key=lambda tag: (-named[tag], tag))}"
    counts = Counter(senses)
    return min(counts, key=lambda tag: (-counts[tag], tag)) if counts else ""


def _search(
    problems: Sequence[tuple[BinaryRows, Ints, int, int]], c: float, each: bool, grid: Sequence[float]
) -> tuple[list[float], dict[str, Any]]:
    """C of every classifier, by three-fold cross-validation: the best for a lemma, of equals the best for all."""
    if c > 0:
        return [c] * len(problems), {"C of senses": c}
    right = np.zeros((len(problems), len(grid)))
    for place, (rows, gold, labels, _) in enumerate(problems):
        folds = np.arange(len(rows)) % 3
        for column, value in enumerate(grid):
            for fold in range(3):
                test = folds == fold
                weights = fit_crammer_singer(
                    rows.take(np.flatnonzero(~test)), gold[~test], labels, value, tolerance=0.2, max_passes=60
                )
                guesses = rows.take(np.flatnonzero(test)).scores(weights).argmax(axis=1)
                right[place, column] += int((guesses == gold[test]).sum())
    total = right.sum(axis=0)
    shared = int(total.argmax())
    means = {f"{value:g}": round(float(sum_right / sum(len(rows) for rows, *_ in problems)), 4)
             for value, sum_right in zip(grid, total, strict=True)}  # fmt: skip
    best = right.max(axis=1)
    chosen = [
        grid[int(row.argmax())] if each and row[shared] < top else grid[shared]
        for row, top in zip(right, best, strict=True)
    ]
    return chosen, {"C of senses": grid[shared], "cross-validated senses": means}
