"""Models of the words written by hand: what a person would say the words mean, in the bins of the features.

Bins of speed count from still to fast, those of distance from near to far; a twentieth of the probability is left for
detections that are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats
from weft.learn.generative.word_hmms import WordClass, WordLexicon, WordModel

#: Speeds of what stands still, moves, moves slowly, and moves quickly.
STILL, MOVES = (0.62, 0.37, 0.01, 0.0, 0.0), (0.02, 0.18, 0.3, 0.3, 0.2)
SLOW, QUICK = (0.05, 0.6, 0.35, 0.0, 0.0), (0.0, 0.0, 0.02, 0.38, 0.6)
#: Left, up, right, down.
ANY, ACROSS = (0.25, 0.25, 0.25, 0.25), (0.47, 0.03, 0.47, 0.03)
UP, DOWN = (0.12, 0.7, 0.17, 0.01), (0.12, 0.01, 0.17, 0.7)
#: Near, normal, far.
NEAR, AWAY, WHERE = (0.97, 0.03, 0.0), (0.3, 0.5, 0.2), (0.6, 0.3, 0.1)
EITHER = (0.5, 0.5)
_ERRORS = 0.05
#: Rows of features for the states of verbs: speed and direction of both, distance, ratio of sizes.
_VERBS = {
    "approached": (
        (STILL, ANY, STILL, ANY, AWAY, EITHER), (MOVES, ACROSS, STILL, ANY, WHERE, EITHER),
        (STILL, ANY, STILL, ANY, NEAR, EITHER),
    ),
    "carried": (
        (STILL, ANY, STILL, ANY, NEAR, EITHER), (MOVES, ACROSS, MOVES, ACROSS, NEAR, EITHER),
        (STILL, ANY, STILL, ANY, NEAR, EITHER),
    ),
    "picked up": (
        (MOVES, ACROSS, STILL, ANY, WHERE, EITHER), (STILL, ANY, MOVES, UP, NEAR, EITHER),
        (STILL, ANY, STILL, ANY, NEAR, EITHER),
    ),
    "put down": (
        (STILL, ANY, STILL, ANY, NEAR, EITHER), (STILL, ANY, MOVES, DOWN, NEAR, EITHER),
        (MOVES, ACROSS, STILL, ANY, WHERE, EITHER),
    ),
}  # fmt: skip
_OTHERS = {
    "quickly": ((STILL,), (QUICK,), (STILL,)), "slowly": ((STILL,), (SLOW,), (STILL,)),
    "towards": ((STILL, AWAY), (MOVES, WHERE), (STILL, NEAR)),
    "away from": ((STILL, WHERE), (MOVES, WHERE), (STILL, AWAY)),
    "to the left of": (((0.99, 0.01),),), "to the right of": (((0.01, 0.99),),),
}  # fmt: skip


def hand_lexicon(words: Sequence[str], classes: Sequence[WordClass], kinds: Sequence[str]) -> WordLexicon:
    """Models of words, none of them learned; a noun means the detections of its kind.

    >>> noun = WordClass("N", 1, 1, (2,))
    >>> hand_lexicon(["chair"], [noun], ("backpack", "chair")).models[0].outputs[0].round(2).tolist()
    [[0.05, 0.95]]
    """
    models = []
    for word, kind in zip(words, classes, strict=True):
        if word in kinds:
            rows: Sequence[Sequence[Sequence[float]]] = ((tuple(float(name == word) for name in kinds),),)
            errors = _ERRORS * len(kinds) / (len(kinds) - 1)
        else:
            rows, errors = {**_VERBS, **_OTHERS}[word], _ERRORS
        outputs = tuple(
            _mixed(np.array([state[n] for state in rows], dtype=np.float64), errors) for n in range(len(kind.bins))
        )
        n = kind.states
        moves = np.full((n, n), 0.005)
        for q in range(n):
            moves[q, q] = 1.0 if q + 1 == n else 0.9
            if q + 1 < n:
                moves[q, q + 1] = 0.1
        initial = np.array([0.7, 0.25, 0.05]) if n == 3 else np.full(n, 1 / n)
        models.append(WordModel(initial, moves / moves.sum(axis=1, keepdims=True), outputs))
    return WordLexicon(list(classes), models)


def _mixed(rows: Floats, errors: float) -> Floats:
    found: Floats = (1 - errors) * rows / rows.sum(axis=1, keepdims=True) + errors / rows.shape[1]
    return found
