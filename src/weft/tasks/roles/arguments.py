"""Which words are arguments of a predicate, and in which roles: two filters, a binary and a multiclass machine.

Candidates come from pruning the tree (`weft.features.predicates.candidates`) and lose those whose pair of tags,
predicate's and candidate's, was an argument in fewer than `rare` of its training occurrences. The binary machine
decides on the rest, the Crammer-Singer machine names the roles. Groups of predicates (verbs and nouns) share no
features, so that they have models of their own in one table, each with its own C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints, Keys
from weft.deadline import check
from weft.declared import Array, Stored
from weft.features.predicates import TREE_FIELDS, PairTemplates, candidates
from weft.features.weights import FrozenTable
from weft.hashing import hash_strings, join
from weft.headers import Many, Record, Text
from weft.kernel import kernel
from weft.learn.linear.dual import BinaryRows, fit_binary, fit_crammer_singer
from weft.storage import Arrays
from weft.tasks.roles.data import Groups, Predicates
from weft.tasks.roles.tables import GRID, Instances, best_c, frozen, scored

HEADER = Record(labels=Many(Text(), distinct=True))
PAIRS = Array("rare_pairs", "uint64", ("*",), rising=True)
#: Candidates whose features are in memory at once.
_BLOCK = 20_000
_UPOS, _XPOS = TREE_FIELDS.index("upos"), TREE_FIELDS.index("xpos")


class Pairs(NamedTuple):
    """Candidates: the number of the predicate, and the word."""

    predicate: Ints
    word: Ints


@dataclass
class Filters:
    """The two filters; each can be left out."""

    rare_pairs: Keys
    prune: bool = True

    def candidates(self, predicates: Predicates, own: Bools) -> Pairs:
        """The words that pass both filters."""
        pairs = all_pairs(predicates, own) if not self.prune else pruned_pairs(predicates, own)
        if not len(self.rare_pairs):
            return pairs
        keys = tag_pairs(predicates, pairs)
        place = np.minimum(np.searchsorted(self.rare_pairs, keys), len(self.rare_pairs) - 1)
        kept = self.rare_pairs[place] != keys
        return Pairs(pairs.predicate[kept], pairs.word[kept])


def pruned_pairs(predicates: Predicates, own: Bools) -> Pairs:
    """Predicates with the candidates that pruning leaves."""
    offsets, words = candidates(predicates.words, predicates.places, own)
    return Pairs(np.repeat(np.arange(len(predicates)), np.diff(offsets)), words)


def all_pairs(predicates: Predicates, own: Bools) -> Pairs:
    """Predicates with all words of their sentences."""
    words = predicates.words
    sentence = words.sentence_of[predicates.places]
    first, sizes = words.sentences[sentence], np.diff(words.sentences)[sentence]
    predicate = np.repeat(np.arange(len(predicates)), sizes)
    shift = np.repeat(first - np.concatenate([[0], np.cumsum(sizes)])[:-1], sizes)
    word = shift + np.arange(len(predicate))
    kept = own[predicate] | (word != predicates.places[predicate])
    return Pairs(predicate[kept], word[kept])


def tag_pairs(predicates: Predicates, pairs: Pairs) -> Keys:
    """A key per pair of tags."""
    keys = predicates.words.keys
    row = keys[_UPOS] if keys[_UPOS].any() else keys[_XPOS]
    out = np.empty(len(pairs.word), dtype=np.uint64)
    _join_pairs(row[predicates.places[pairs.predicate]], row[pairs.word], out)
    return out


@kernel
def _join_pairs(one: Keys, other: Keys, out: Keys) -> None:
    for i in range(len(one)):
        out[i] = join(one[i], other[i])


def rare_pairs(keys: Keys, is_argument: NDArray[np.bool_], share: float) -> Keys:
    """The pairs of tags that are arguments in fewer than a share of their occurrences, in order.

    >>> rare_pairs(np.array([7, 7, 9, 9], dtype=np.uint64), np.array([True, False, False, False]), 0.01).tolist()
    [9]
    """
    known, where = np.unique(keys, return_inverse=True)
    counts = np.bincount(where.ravel(), minlength=len(known))
    right = np.bincount(where.ravel(), weights=is_argument, minlength=len(known))
    return known[right < share * counts]


class ArgumentModel:
    """Filters, the machine that finds arguments, and the one that labels them."""

    def __init__(self, filters: Filters, labels: Sequence[str], find: FrozenTable, label: FrozenTable) -> None:
        self.filters = filters
        self.labels = list(labels)
        self.find, self.label = find, label

    def predict(
        self, predicates: Predicates, senses: Keys, groups: Ints, templates: PairTemplates
    ) -> tuple[Pairs, Ints, Floats]:
        """The arguments of all predicates, the numbers of their labels, and the scores of these."""
        pairs = self.filters.candidates(predicates, groups > 0)
        found = []
        for low in range(0, max(1, len(pairs.word)), _BLOCK):
            check()
            block = Pairs(pairs.predicate[low : low + _BLOCK], pairs.word[low : low + _BLOCK])
            offsets, keys = extract(predicates, block, senses, groups, templates)
            kept = np.flatnonzero(scored(self.find, offsets, keys)[:, 0] > 0)
            scores = scored(self.label, *_taken(offsets, keys, kept))
            best = scores.argmax(axis=1) if len(kept) else np.zeros(0, dtype=np.int64)
            found.append((block.predicate[kept], block.word[kept], best, scores[np.arange(len(best)), best]))
        heads, words, labels, values = (np.concatenate(part) for part in zip(*found, strict=True))
        return Pairs(heads, words), labels, values

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays: Arrays = {"rare_pairs": self.filters.rare_pairs}
        arrays |= {f"find/{name}": array for name, array in self.find.arrays.items()}
        arrays |= {f"label/{name}": array for name, array in self.label.arrays.items()}
        return {"labels": self.labels}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays, prune: bool) -> ArgumentModel:
        HEADER.check(header, "arguments")
        stored = Stored.of(arrays)
        filters = Filters(stored.take(PAIRS)["rare_pairs"], prune)
        find = FrozenTable(stored.under("find/"), 1)
        label = FrozenTable(stored.under("label/"), max(1, len(header["labels"])))
        return cls(filters, header["labels"], find, label)


def extract(
    predicates: Predicates, pairs: Pairs, senses: Keys, groups: Ints, templates: PairTemplates
) -> tuple[Ints, Keys]:
    """The features of pairs."""
    salts = hash_strings([f"group {number}" for number in range(int(groups.max(initial=0)) + 1)])
    places = predicates.places[pairs.predicate]
    return templates.extract(
        predicates.words, places, pairs.word, senses[pairs.predicate], salts[groups[pairs.predicate]]
    )


def _taken(offsets: Ints, keys: Keys, chosen: Ints) -> tuple[Ints, Keys]:
    """Some of many rows of keys."""
    sizes = np.diff(offsets)[chosen]
    rows = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(offsets[chosen] - rows[:-1], sizes) + np.arange(rows[-1])
    return rows, keys[places]


@dataclass(frozen=True)
class Choices:
    """How an `ArgumentModel` is trained; C = 0 asks for a search."""

    prune: bool = True
    rare: float = 0.0005
    c_arguments: float = 0.0
    c_labels: float = 0.0
    sample: int = 2000
    min_count: int = 2
    precision: str = "int16"
    small: float = 0.0
    grid: Sequence[float] = GRID


def fit_arguments(
    batches: Sequence[Predicates], groups: Groups, templates: PairTemplates, choices: Choices
) -> tuple[ArgumentModel, dict[str, Any]]:
    """Train on gold arguments, with gold senses as features; the report counts what the filters lose."""
    own = [groups.numbers(batch.tags) for batch in batches]
    candidates_of = [
        (pruned_pairs if choices.prune else all_pairs)(batch, number > 0)
        for batch, number in zip(batches, own, strict=True)
    ]
    marks = [_marked(batch, pairs) for batch, pairs in zip(batches, candidates_of, strict=True)]
    keys = np.concatenate([tag_pairs(batch, pairs) for batch, pairs in zip(batches, candidates_of, strict=True)])
    rare = rare_pairs(keys, np.concatenate(marks), choices.rare) if choices.rare > 0 else keys[:0]
    filters = Filters(rare, choices.prune)
    labels = sorted({label for batch in batches for each in batch.arguments for label in each.values()})
    number_of = {label: number for number, label in enumerate(labels)}
    find, name = Instances(), Instances()
    gold_total = kept_total = pruned_total = words_total = 0
    sentence = 0
    for batch, number in zip(batches, own, strict=True):
        senses = sense_keys(batch.lemmas, batch.senses)
        pairs = filters.candidates(batch, number > 0)
        marked = _marked(batch, pairs)
        folds = sentence + batch.words.sentence_of[batch.places]
        sentence += len(batch.words.sentences) - 1
        find.add(*extract(batch, pairs, senses, number, templates), marked.astype(np.int64),
                 number[pairs.predicate], folds[pairs.predicate])  # fmt: skip
        gold = _gold_pairs(batch)
        values = np.array([number_of[label] for each in batch.arguments for label in each.values()], dtype=np.int64)
        name.add(*extract(batch, gold, senses, number, templates), values, number[gold.predicate],
                 folds[gold.predicate])  # fmt: skip
        gold_total += len(values)
        kept_total += int(marked.sum())
        pruned_total += len(pairs.word)
        words_total += int(np.diff(batch.words.sentences)[batch.words.sentence_of[batch.places]].sum())
    report: dict[str, Any] = {
        "arguments": gold_total, "arguments kept by filters": kept_total, "candidates": pruned_total,
        "words of predicates' sentences": words_total, "labels": len(labels), "rare pairs": len(rare),
    }  # fmt: skip
    find_table = _fit(find, 0, choices, choices.c_arguments, "arguments", report)
    label_table = _fit(name, max(1, len(labels)), choices, choices.c_labels, "labels", report)
    return ArgumentModel(filters, labels, find_table, label_table), report


def _fit(
    instances: Instances, n_labels: int, choices: Choices, c: float, task: str, report: dict[str, Any]
) -> FrozenTable:
    """A machine per group, in one table; 0 labels ask for the binary one."""
    gold, group, sentences = instances.gold, instances.groups, instances.folds
    rows = instances.rows(choices.min_count)
    weights = np.zeros((rows.n_features, max(1, n_labels)), dtype=np.float32)
    for number in np.unique(group):
        chosen = np.flatnonzero(group == number)
        value = c
        if c <= 0:
            sample = chosen[_sampled(sentences[chosen], choices.sample)]
            value, means = _searched(rows.take(sample), gold[sample], n_labels, sentences[sample] % 3, choices.grid)
            report[f"cross-validated {task} {number}"] = {f"{key:g}": round(mean, 4) for key, mean in means.items()}
        report[f"C of {task} {number}"] = value
        weights += _solved(rows.take(chosen), gold[chosen], n_labels, value)
    return frozen(instances.index, weights, choices.precision, choices.small)


def _solved(rows: BinaryRows, gold: Ints, n_labels: int, c: float, tolerance: float = 0.1) -> NDArray[np.float32]:
    if n_labels:
        return fit_crammer_singer(rows, gold, n_labels, c, tolerance=tolerance, max_passes=60)
    return fit_binary(rows, gold > 0, c, tolerance=tolerance, max_passes=100)


def _searched(
    rows: BinaryRows, gold: Ints, n_labels: int, folds: Ints, grid: Sequence[float]
) -> tuple[float, dict[float, float]]:
    """C by cross-validation: F1 of arguments for the binary machine, accuracy for labels."""

    def evaluate(test: Bools, c: float) -> float:
        weights = _solved(rows.take(np.flatnonzero(~test)), gold[~test], n_labels, c, 0.3)
        scores = rows.take(np.flatnonzero(test)).scores(weights)
        if n_labels:
            return float((scores.argmax(axis=1) == gold[test]).mean())
        system, right = scores[:, 0] > 0, gold[test] > 0
        return 2 * float((system & right).sum()) / max(1, int(system.sum() + right.sum()))

    return best_c(evaluate, folds, grid)


def _sampled(sentences: Ints, most: int) -> Ints:
    """The rows of evenly spread sentences, about so many."""
    known, where = np.unique(sentences, return_inverse=True)
    step = max(1, round(len(known) / most))
    return np.flatnonzero(where.ravel() % step == 0)


def _marked(batch: Predicates, pairs: Pairs) -> Bools:
    """Which candidates are arguments."""
    gold = batch.arguments
    found = (
        word in gold[predicate] for predicate, word in zip(pairs.predicate.tolist(), pairs.word.tolist(), strict=True)
    )
    return np.fromiter(found, dtype=np.bool_, count=len(pairs.word))


def _gold_pairs(batch: Predicates) -> Pairs:
    sizes = [len(each) for each in batch.arguments]
    words = [word for each in batch.arguments for word in each]
    return Pairs(np.repeat(np.arange(len(batch)), sizes), np.array(words, dtype=np.int64))


def sense_keys(lemmas: Sequence[str], senses: Sequence[str]) -> Keys:
    """The keys of PREDICATELEMMASENSE.

    >>> len(sense_keys(["give"], ["give.01"]))
    1
    """
    return hash_strings([f"{lemma} {sense}" for lemma, sense in zip(lemmas, senses, strict=True)])
