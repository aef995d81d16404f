"""A dependency language model: how likely words are as children of their heads (Shen et al. 2008).

    P(tree) = P(root) * product over heads h of  prod_i P_L(L_i | L_i-1, h)  prod_i P_R(R_i | R_i-1, h)

L_1 is the nearest child to the left. Both sides are n-gram models over (sibling, head, child) with Witten-Bell
smoothing; a history loses its sibling first, then its head. `weft.infer.decoding.siblings` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Heads, Ids
from weft.errors import DataError
from weft.infer.decoding.ngrams import Automaton
from weft.infer.decoding.siblings import event_scores, tree_events
from weft.learn.ngrams.counting import Counts
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.smoothing import estimate
from weft.learn.ngrams.trie import Trie
from weft.learn.ngrams.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class DependencyModel:
    """Models of the children on either side; that of the left also predicts the root.

    >>> trees = [(["dogs", "bark"], [2, 0]), (["cats", "bark"], [2, 0]), (["dogs", "chase", "cats"], [2, 0, 2])]
    >>> model = DependencyModel.fit(trees)
    >>> [round(model.score(words, heads), 3) for words, heads in trees]
    [-1.324, -1.382, -1.495]
    """

    vocabulary: Vocabulary
    left: NgramModel
    right: NgramModel
    stops: bool = False  #: whether the end of a head's children is an event

    @classmethod
    def fit(
        cls, trees: Iterable[tuple[Sequence[str], Sequence[int]]], least: int = 1, stops: bool = False
    ) -> DependencyModel:
        """Estimate a model from sentences with heads; words with fewer than `least` occurrences are unknown."""
        counts: dict[str, int] = {}
        listed = [(list(words), np.asarray(heads, np.int32)) for words, heads in trees]
        if not listed:
            raise DataError("there is no tree to estimate a dependency language model of")
        for words, _ in listed:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
        vocabulary = Vocabulary.counted(counts, least)
        sides = [tree_events(vocabulary.encode(words), heads, stops) for words, heads in listed]
        left, right = (_estimated(np.concatenate(rows), vocabulary) for rows in zip(*sides, strict=True))
        return cls(vocabulary, left, right, stops)

    @property
    def automata(self) -> tuple[Automaton, Automaton]:
        """The models as the search reads them."""
        return Automaton(*self.left.tables), Automaton(*self.right.tables)

    def score(self, words: Sequence[str], heads: Sequence[int] | Heads) -> float:
        """The natural logarithm of a tree's probability."""
        total = 0.0
        events = tree_events(self.vocabulary.encode(words), np.asarray(heads, np.int32), self.stops)
        for automaton, rows in zip(self.automata, events, strict=True):
            found = np.empty(len(rows))
            event_scores(automaton, rows, found)
            total += float(found.sum())
        return total


def _estimated(events: Ids, vocabulary: Vocabulary) -> NgramModel:
    """The model of rows of sibling, head and child."""
    trigrams, times = np.unique(events, axis=0, return_counts=True)
    # Histories of a sibling and a head are n-grams that predict nothing: they occur 0 times.
    pairs, where = np.unique(np.concatenate([trigrams[:, 1:], trigrams[:, :2]]), axis=0, return_inverse=True)
    weights = np.concatenate([times, np.zeros(len(times))])
    of_pairs = np.bincount(where.reshape(-1), weights, len(pairs))
    of_words = np.bincount(trigrams[:, 2], times, len(vocabulary))
    trie = Trie.of_rows(len(vocabulary), [pairs.astype(np.int32), trigrams.astype(np.int32)])
    counted = Counts(trie, np.concatenate([[of_words.sum()], of_words, of_pairs, times]))
    return NgramModel.of(vocabulary, estimate(counted, "witten-bell"), "witten-bell")
