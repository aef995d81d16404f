"""How well trees with crossing arcs are parsed: sentences with a crossing, and the non-projective arcs themselves.

    UAS, Complete       words with the correct head, sentences without a wrong one: in all sentences, and in those whose
                        gold tree is not projective (subset B of McDonald, Pereira, Ribarov & Hajic 2005)
    non-projective arcs gold: arcs over a word that their head does not dominate; system: the same in its tree;
                        correct: in both, with the same head

A projective parser produces no non-projective arcs, so its recall of them is 0 even if a head is correct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Mask
from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.infer.trees.projectivity import is_tree, nonprojective_arcs
from weft.text import Doc


@dataclass(frozen=True)
class CrossingReport:
    """Counts per gold sentence; `right` says whether the head of each counted word is correct."""

    crossing: Mask  # for every sentence, whether its gold tree is non-projective
    heads: Counts
    complete: Counts
    arcs: Counts
    right: Mask

    @property
    def counts(self) -> dict[str, Counts]:
        """All counts by name; those for sentences with a crossing are zero for other sentences."""
        return {
            "UAS": self.heads,
            "complete": self.complete,
            "UAS (crossing)": _only(self.heads, self.crossing),
            "complete (crossing)": _only(self.complete, self.crossing),
            "non-projective arcs": self.arcs,
        }


def evaluate_crossings(
    gold: Sequence[Doc], system: Sequence[Doc], counted: Callable[[Doc], Mask] | None = None
) -> CrossingReport:
    """Score heads of documents with the same words; `counted` selects which words of a gold document count.

    >>> gold = Doc.from_words([["a", "b", "c", "d"], ["e", "f"]], head=[[3, 4, 0, 3], [2, 0]])
    >>> system = Doc.from_words([["a", "b", "c", "d"], ["e", "f"]], head=[[3, 3, 0, 3], [2, 0]])
    >>> counts = evaluate_crossings([gold], [system]).counts
    >>> [round(counts[name].total().recall, 2) for name in ("UAS", "UAS (crossing)", "complete", "non-projective arcs")]
    [0.83, 0.75, 0.5, 0.0]
    """
    if len(gold) != len(system):
        raise WeftError(f"gold and system must be the same documents, but got {len(gold)} and {len(system)}")
    crossing, rows, right = [], [], []
    for doc, other in zip(gold, system, strict=True):
        if doc.head is None or other.head is None or not np.array_equal(doc.sentence_offsets, other.sentence_offsets):
            raise WeftError(
                f"document {doc.id!r}: heads are compared word by word; gold and system need heads and the same words"
            )
        kept = np.ones(doc.n_words, np.bool_) if counted is None else counted(doc)
        same = doc.head == other.head
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            gold_arcs, system_arcs = (_nonprojective(heads[first:end]) for heads in (doc.head, other.head))
            hit, counts = same[first:end], kept[first:end]
            crossing.append(bool(gold_arcs.any()))
            rows.append(
                [
                    int(mask.sum())
                    for mask in (counts, hit & counts, gold_arcs, system_arcs, gold_arcs & system_arcs & hit)
                ]
            )
        right.append(same[kept])
    words, good, ours, theirs, common = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    some = (words > 0).astype(np.int64)
    return CrossingReport(
        np.array(crossing, dtype=np.bool_),
        Counts.of(words, words, good),
        Counts.of(some, some, some * (good == words)),
        Counts.of(ours, theirs, common),
        np.concatenate([np.zeros(0, np.bool_), *right]),
    )


def _nonprojective(heads: NDArray[np.int32]) -> Mask:
    """The non-projective arcs of a sentence; none if its heads do not form a tree."""
    return nonprojective_arcs(heads) if is_tree(heads) else np.zeros(len(heads), np.bool_)


def _only(counts: Counts, chosen: Mask) -> Counts:
    return Counts.of(*(np.where(chosen, column, 0) for column in (counts.gold, counts.system, counts.correct)))
