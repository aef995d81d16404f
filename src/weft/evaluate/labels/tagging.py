"""Accuracy of one label per word: all words, known and unknown ones, ambiguous ones, and label by label.

    accuracy = words with the gold label / words

A word is *known* if its form is in the training vocabulary, *ambiguous* if the tag dictionary lists more than one label
for its form, and its label is *unseen* if the dictionary lists the form, but not with the gold label: a tagger that
trusts its dictionary always gets these wrong. The confusion table counts pairs (gold label, system label); precision,
recall and F of a label follow from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.evaluate.counts import Counts, Score
from weft.text import Doc


@dataclass(frozen=True)
class TagReport:
    """Counts per sentence for all words and for groups of words; `right` says whether each word's label is correct."""

    counts: Counts
    groups: dict[str, Counts]  # "known", "unknown", "ambiguous", "unseen", given a vocabulary or dictionary
    confusion: Counter[tuple[str, str]]  # (gold label, system label)
    right: NDArray[np.bool_]

    @property
    def accuracy(self) -> float:
        return self.counts.total().accuracy

    @property
    def whole_sentences(self) -> float:
        """The fraction of sentences without any error."""
        full = self.counts.gold > 0
        return float((self.counts.correct == self.counts.gold)[full].mean()) if full.any() else 0.0

    @property
    def by_label(self) -> dict[str, Score]:
        """Precision, recall and F of every label, in alphabetical order."""
        gold: Counter[str] = Counter()
        system: Counter[str] = Counter()
        for (ours, theirs), count in self.confusion.items():
            gold[ours] += count
            system[theirs] += count
        return {
            label: Score(gold[label], system[label], self.confusion[label, label]) for label in sorted(gold | system)
        }

    def errors(self, most: int | None = None) -> list[tuple[str, str, int]]:
        """The most common confusions as `(gold label, system label, count)`."""
        wrong = [(ours, theirs, count) for (ours, theirs), count in self.confusion.items() if ours != theirs]
        return sorted(wrong, key=lambda row: (-row[2], row[0], row[1]))[:most]

    def __str__(self) -> str:
        lines = [f"{'words':<10} {'number':>9} {'accuracy':>9}"]
        for name, counts in {"all": self.counts, **self.groups}.items():
            score = counts.total()
            lines.append(f"{name:<10} {score.gold:>9,} {100 * score.accuracy:>9.2f}")
        return "\n".join(lines)


def evaluate_labels(
    gold: Sequence[Sequence[str]],
    system: Sequence[Sequence[str]],
    forms: Sequence[Sequence[str]] | None = None,
    vocabulary: Collection[str] | None = None,
    dictionary: Mapping[str, Collection[str]] | None = None,
) -> TagReport:
    """Score labels given sentence by sentence; a vocabulary or dictionary also needs the forms.

    >>> report = evaluate_labels([["D", "N", "V"]], [["D", "V", "V"]], [["the", "dog", "runs"]], {"the", "dog"})
    >>> round(report.accuracy, 4), report.groups["known"].total().accuracy, report.groups["unknown"].total().accuracy
    (0.6667, 0.5, 1.0)
    >>> report.errors(), report.by_label["V"].precision
    ([('N', 'V', 1)], 0.5)
    """
    if forms is None and (vocabulary is not None or dictionary is not None):
        raise WeftError("a vocabulary or a tag dictionary was given without the words' forms")
    words = forms if forms is not None else gold
    for number, rows in enumerate(zip(gold, system, words, strict=False), 1):
        if len({len(row) for row in rows}) != 1:
            raise WeftError(f"sentence {number}: {len(rows[0])} gold labels, {len(rows[1])} system labels and "
                            f"{len(rows[2])} forms; there must be one of each per word")  # fmt: skip
    if len({len(gold), len(system), len(words)}) != 1:
        raise WeftError(f"gold has {len(gold)} sentences, system has {len(system)}; both must have the same sentences")
    ours = [label for row in gold for label in row]
    theirs = [label for row in system for label in row]
    right = np.array([one == other for one, other in zip(ours, theirs, strict=True)], dtype=np.bool_)
    sentence = np.repeat(np.arange(len(gold)), [len(row) for row in gold])
    groups: dict[str, Counts] = {}
    if forms is not None:
        flat = [form for row in forms for form in row]
        if vocabulary is not None:
            known = np.array([form in vocabulary for form in flat], dtype=np.bool_)
            groups["known"] = _accuracy(right, sentence, len(gold), known)
            groups["unknown"] = _accuracy(right, sentence, len(gold), ~known)
        if dictionary is not None:
            ambiguous = np.array([len(dictionary.get(form, ())) > 1 for form in flat], dtype=np.bool_)
            groups["ambiguous"] = _accuracy(right, sentence, len(gold), ambiguous)
            unseen = [
                form in dictionary and label not in dictionary[form] for form, label in zip(flat, ours, strict=True)
            ]
            groups["unseen"] = _accuracy(right, sentence, len(gold), np.array(unseen, dtype=np.bool_))
    everywhere = np.ones(len(right), dtype=np.bool_)
    pairs = Counter(zip(ours, theirs, strict=True))
    return TagReport(_accuracy(right, sentence, len(gold), everywhere), groups, pairs, right)


def evaluate_tags(
    gold: Iterable[Doc] | Doc,
    system: Iterable[Doc] | Doc,
    column: str = "upos",
    vocabulary: Collection[str] | None = None,
    dictionary: Mapping[str, Collection[str]] | None = None,
) -> TagReport:
    """Score a column of system documents against gold documents that have the same words.

    >>> gold = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> system = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "NOUN"]])
    >>> evaluate_tags(gold, system).accuracy
    0.5
    """
    forms, ours = _sentences(gold, column)
    other_forms, theirs = _sentences(system, column)
    flat, other_flat = ([form for row in rows for form in row] for rows in (forms, other_forms))
    if flat != other_flat:
        place = next((i for i, (a, b) in enumerate(zip(flat, other_flat, strict=False)) if a != b),
                     min(len(flat), len(other_flat)))  # fmt: skip
        shown = [" ".join(row[place : place + 3]) or "the end" for row in (flat, other_flat)]
        raise WeftError(
            f"gold and system have different words from word {place + 1} on: gold has {shown[0]!r}, system has "
            f"{shown[1]!r}. Accuracy needs the same words; the UD metrics align different ones (--layer ud)"
        )
    labels = iter([label for row in theirs for label in row])
    return evaluate_labels(ours, [[next(labels) for _ in row] for row in ours], forms, vocabulary, dictionary)


def vocabulary_of(docs: Iterable[Doc]) -> set[str]:
    """The forms that occur in documents.

    >>> sorted(vocabulary_of([Doc.from_words([["dogs", "bark"]])]))
    ['bark', 'dogs']
    """
    forms: set[str] = set()
    for doc in docs:
        forms.update(doc.strings.strings(np.unique(doc.columns["form"])))
    return forms


def tag_dictionary(docs: Iterable[Doc], column: str = "upos") -> dict[str, set[str]]:
    """The labels of every form in documents.

    >>> tags = tag_dictionary([Doc.from_words([["run", "run"]], upos=[["NOUN", "VERB"]])])
    >>> sorted(tags["run"])
    ['NOUN', 'VERB']
    """
    labels_of: dict[str, set[str]] = {}
    for doc in docs:
        for form, label in zip(doc.column("form"), doc.column(column), strict=True):
            labels_of.setdefault(form, set()).add(label)
    return labels_of


def _accuracy(right: NDArray[np.bool_], sentence: NDArray[np.intp], n_units: int, chosen: NDArray[np.bool_]) -> Counts:
    total = np.bincount(sentence[chosen], minlength=n_units)
    return Counts.of(total, total, np.bincount(sentence[chosen & right], minlength=n_units))


def _sentences(docs: Iterable[Doc] | Doc, column: str) -> tuple[list[list[str]], list[list[str]]]:
    """Forms and labels per sentence; a document without sentences counts as one."""
    forms: list[list[str]] = []
    labels: list[list[str]] = []
    for doc in [docs] if isinstance(docs, Doc) else docs:
        if column not in doc.columns:
            known = ", ".join(doc.columns)
            raise WeftError(f"document {doc.id!r} has no column {column!r}; it has: {known}")
        offsets = doc.sentence_offsets.tolist() if doc.n_sentences else [0, doc.n_words]
        for into, values in ((forms, doc.column("form")), (labels, doc.column(column))):
            into.extend(values[lo:hi] for lo, hi in pairwise(offsets) if lo < hi)
    return forms, labels
