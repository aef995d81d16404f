"""Dependency scores as defined by the CoNLL-X shared task (2006), with its error tables.

    LAS, UAS, label accuracy    scoring words with the correct head and relation, head, relation / scoring words
    a relation                  gold: words that have it; system: words predicted to have it; correct: both, with
                                the correct head (`arcs`) or any head (`labels`)
    a tag                       the three accuracies over the words with this gold tag

A scoring word contains a character that is not Unicode punctuation (general category P): `%` is excluded; `$` and `+`,
which are symbols, are not. Relations are compared completely, including what follows a colon.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Mask
from weft.errors import WeftError
from weft.evaluate.counts import Counts, sum_by_unit
from weft.text import Doc


@dataclass(frozen=True)
class ConllxReport:
    """Which scoring words are correct, their gold and system relations, gold tags, and sentences."""

    head_right: Mask
    label_right: Mask
    gold: list[str]
    system: list[str]
    tags: list[str]
    sentence: NDArray[np.int64]
    sentences: int

    @property
    def counts(self) -> dict[str, Counts]:
        """Counts per gold sentence of LAS, UAS and label accuracy, of every relation, and of the heads of every tag."""
        everywhere = np.ones(len(self.sentence), np.bool_)
        whole = {
            "LAS": (everywhere, everywhere, self.head_right & self.label_right),
            "UAS": (everywhere, everywhere, self.head_right),
            "label accuracy": (everywhere, everywhere, self.label_right),
        }
        return {
            **{name: self._sums(*masks) for name, masks in whole.items()},
            **self.arcs,
            **{f"heads of {tag}": counts for tag, counts in self.heads_by_tag.items()},
        }

    @property
    def arcs(self) -> dict[str, Counts]:
        """For every relation, most frequent first, the predicted arcs: head and relation."""
        return self._relations(self.head_right & self.label_right)

    @property
    def labels(self) -> dict[str, Counts]:
        """For every relation, the words it was predicted for, with any head."""
        return self._relations(self.label_right)

    @property
    def heads_by_tag(self) -> dict[str, Counts]:
        """For every gold tag, most frequent first, the predicted heads."""
        tags = np.array(self.tags, dtype=np.str_)
        return {name: self._sums(tags == name, tags == name, (tags == name) & self.head_right) for name in _names(tags)}

    def _relations(self, right: Mask) -> dict[str, Counts]:
        gold, system = np.array(self.gold, dtype=np.str_), np.array(self.system, dtype=np.str_)
        return {
            name: self._sums(gold == name, system == name, right & (gold == name))
            for name in dict.fromkeys([*_names(gold), *_names(system)])
        }

    def _sums(self, *masks: Mask) -> Counts:
        return Counts.of(*(sum_by_unit(self.sentence[mask], self.sentences) for mask in masks))


def evaluate_conllx(
    gold: Iterable[Doc], system: Iterable[Doc], punctuation: bool = False, tag: str = "upos"
) -> ConllxReport:
    """Score trees of documents with the same words; `punctuation` also counts punctuation.

    >>> words, tags = [["dogs", "bark", "."]], [["NOUN", "VERB", "PUNCT"]]
    >>> gold = Doc.from_words(words, upos=tags, head=[[2, 0, 2]], deprel=[["nsubj", "root", "punct"]])
    >>> found = Doc.from_words(words, upos=tags, head=[[2, 0, 1]], deprel=[["obj", "root", "punct"]])
    >>> report = evaluate_conllx([gold], [found])
    >>> {name: counts.total().accuracy for name, counts in report.counts.items() if name in ("LAS", "UAS")}
    {'LAS': 0.5, 'UAS': 1.0}
    >>> {name: counts.total()[:3] for name, counts in report.arcs.items()}
    {'nsubj': (1, 0, 0), 'root': (1, 1, 1), 'obj': (0, 1, 0)}
    """
    ours, theirs = list(gold), list(system)
    if len(ours) != len(theirs):
        raise WeftError(f"gold and system must be the same documents, but got {len(ours)} and {len(theirs)}")
    heads: list[Mask] = []
    sentence: list[NDArray[np.int64]] = []
    kept: list[bool] = []
    names: tuple[list[str], list[str], list[str]] = ([], [], [])
    done = 0
    for doc, other in zip(ours, theirs, strict=True):
        heads.append(_same_heads(doc, other))
        sentence.append(done + np.repeat(np.arange(doc.n_sentences), np.diff(doc.sentence_offsets)))
        done += doc.n_sentences
        kept += [punctuation or not is_punctuation(form) for form in doc.column("form")]
        for values, column in zip(names, (doc.column("deprel"), other.column("deprel"), doc.column(tag)), strict=True):
            values.extend(column)
    counted = np.array(kept, dtype=np.bool_)
    relations, predicted, tags = ([value for value, keep in zip(each, kept, strict=True) if keep] for each in names)
    return ConllxReport(
        np.concatenate([np.zeros(0, np.bool_), *heads])[counted],
        np.array([one == other for one, other in zip(relations, predicted, strict=True)], dtype=np.bool_),
        relations,
        predicted,
        tags,
        np.concatenate([np.zeros(0, np.int64), *sentence])[counted],
        done,
    )


@cache
def is_punctuation(form: str) -> bool:
    """Whether a form consists only of punctuation.

    >>> [is_punctuation(form) for form in ("...", "%", "$", "Mr.", "«")]
    [True, True, False, False, True]
    """
    return bool(form) and all(unicodedata.category(character).startswith("P") for character in form)


def _same_heads(doc: Doc, other: Doc) -> Mask:
    if doc.head is None or other.head is None:
        raise WeftError(f"document {doc.id!r}: gold and system need trees; fill the column HEAD")
    if not np.array_equal(doc.sentence_offsets, other.sentence_offsets) or doc.column("form") != other.column("form"):
        raise WeftError(
            f"document {doc.id!r}: words are compared one by one, but gold and system differ; the layer `ud` "
            "scores documents with different tokens"
        )
    return np.asarray(doc.head == other.head)


def _names(values: NDArray[np.str_]) -> Sequence[str]:
    """Names by frequency, then alphabetically."""
    names, counts = np.unique(values, return_counts=True)
    return [str(names[i]) for i in np.lexsort((names, -counts))]
