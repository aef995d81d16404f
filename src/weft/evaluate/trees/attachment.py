"""Scores for dependency trees over the same words, as in the first papers on dependency parsing.

    UAS, LAS   words with the correct head (and relation, up to the colon) / words counted
    Root       words attached to ROOT in gold and system: F1; the accuracy if all trees have one root
    Complete   sentences in which all counted heads are correct / sentences

The caller chooses which words count: all, or all but punctuation (`not_punctuation`), as is usual for English.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Mask
from weft.errors import WeftError
from weft.evaluate.counts import Counts, sum_by_unit
from weft.text import Doc


@dataclass(frozen=True)
class TreeReport:
    """Counts per gold sentence by name; `right` says whether the head of each counted word is correct."""

    counts: dict[str, Counts]
    right: Mask

    @property
    def scores(self) -> dict[str, float]:
        """F1 of every count, in percent."""
        return {name: 100 * counts.total().f1 for name, counts in self.counts.items()}


def evaluate_trees(
    gold: Sequence[Doc], system: Sequence[Doc], counted: Callable[[Doc], Mask] | None = None
) -> TreeReport:
    """Score trees of documents with the same words; `counted` selects which words of a gold document count.

    >>> gold = Doc.from_words([["dogs", "bark", "."], ["yes", "."]], head=[[2, 0, 2], [0, 1]])
    >>> system = Doc.from_words([["dogs", "bark", "."], ["yes", "."]], head=[[2, 0, 1], [0, 1]])
    >>> {name: round(score, 1) for name, score in evaluate_trees([gold], [system]).scores.items()}
    {'UAS': 80.0, 'LAS': 80.0, 'Root': 100.0, 'Complete': 50.0}
    >>> evaluate_trees([gold], [system], not_punctuation).scores["Complete"]
    100.0
    """
    if len(gold) != len(system):
        raise WeftError(f"gold and system must be the same documents, but got {len(gold)} and {len(system)}")
    sentence, head, label, root, their_root, kept = [], [], [], [], [], []
    total = 0
    for doc, other in zip(gold, system, strict=True):
        if doc.head is None or other.head is None or not np.array_equal(doc.sentence_offsets, other.sentence_offsets):
            raise WeftError(
                f"document {doc.id!r}: heads are compared word by word; gold and system need heads and the same words"
            )
        pairs = zip(doc.column("deprel"), other.column("deprel"), strict=True)
        sentence.append(total + np.repeat(np.arange(doc.n_sentences), np.diff(doc.sentence_offsets)))
        head.append(doc.head == other.head)
        label.append(np.array([one.split(":")[0] == two.split(":")[0] for one, two in pairs], dtype=np.bool_))
        root.append(doc.head == 0)
        their_root.append(other.head == 0)
        kept.append(np.ones(doc.n_words, np.bool_) if counted is None else counted(doc))
        total += doc.n_sentences
    unit, same, named, ours, theirs, counts = (
        np.concatenate([np.zeros(0, dtype), *parts])
        for dtype, parts in (
            (np.int64, sentence), (np.bool_, head), (np.bool_, label), (np.bool_, root), (np.bool_, their_root),
            (np.bool_, kept),
        )
    )  # fmt: skip

    def of(mask: Mask) -> NDArray[np.int64]:
        return np.asarray(sum_by_unit(unit[mask], total))

    words, good = of(counts), of(counts & same)
    some = (words > 0).astype(np.int64)
    return TreeReport(
        {
            "UAS": Counts.of(words, words, good),
            "LAS": Counts.of(words, words, of(counts & same & named)),
            "Root": Counts.of(of(ours), of(theirs), of(ours & theirs)),
            "Complete": Counts.of(some, some, some * (good == words)),
        },
        same[counts],
    )


def not_punctuation(doc: Doc) -> Mask:
    """The words that do not consist only of punctuation, by the Unicode categories of their characters.

    >>> not_punctuation(Doc.from_words([["No", ",", "U.S.", "``", "$"]])).tolist()
    [True, False, True, True, True]
    """
    return np.array(
        [not all(unicodedata.category(char)[0] == "P" for char in form) for form in doc.column("form")], dtype=np.bool_
    )
