"""How often every history occurs in endless text of a model: the steady state of its chain, without expanding it.

Sentences follow each other: `</s>` leads to `<s>`. A history h passes the share alpha(h) of its mass on to the shorter
h', from which all words are emitted; what h' emits for words that h has n-grams for is taken back:

    mass(h) = x(h) + sum over k that back off to h of alpha(k) mass(k)
    y(hw)  += mass(h) P(w|h),     y(h'w) -= mass(h) alpha(h) P(w|h')     for all n-grams hw of the model

One step touches every n-gram once. An n-gram of full order stands for its longest suffix that is a history.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ids
from weft.kernel import kernel
from weft.learn.ngrams.smoothing import Estimates
from weft.learn.ngrams.vocabulary import BEGIN_ID, END_ID


@kernel
def _emit(
    first: Ids, words: Ids, suffix: Ids, prob: Floats, alpha: Floats, mass: Floats, after: Floats, start: int, end: int
) -> None:
    """One step: `mass` holds the steady state on entry, and `after` what it becomes."""
    histories = len(alpha)
    for h in range(histories - 1, 0, -1):
        mass[suffix[h]] += alpha[h] * mass[h]
    for h in range(histories):
        after[h] = 0.0
    for h in range(histories):
        share = mass[h]
        if share == 0.0:
            continue
        for g in range(first[h], first[h + 1]):
            lower = suffix[g]
            to = g if g < histories else lower
            if words[g] == end:
                to = start
                lower = start
            after[to] += share * prob[g]
            if h > 0:
                after[lower] -= share * alpha[h] * prob[suffix[g]]


def steady_state(estimates: Estimates, tolerance: float = 1e-9, most: int = 500, begin: Floats | None = None) -> Floats:
    """The probability of every history in endless text, by the power method.

    It ends when a step moves less than `tolerance` of the mass, or after `most` steps; `begin` is where it starts.

    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["a", "b"], ["a"]], order=2)
    >>> found = steady_state(estimate(counts, "absolute"))
    >>> round(float(found.sum()), 6), round(float(found[1 + BEGIN_ID]), 3)
    (1.0, 0.357)
    """
    trie, prob, alpha = estimates
    start = 1 + BEGIN_ID if trie.order > 1 else 0
    state = np.zeros(trie.n_histories)
    if begin is None:
        state[start] = 1.0
    else:
        state[:] = begin
    after = np.zeros_like(state)
    for _ in range(most):
        mass = state.copy()
        _emit(trie.first, trie.words, trie.suffix, prob, alpha, mass, after, start, END_ID)
        # What is taken back is what was given, but for rounding.
        np.maximum(after, 0.0, out=after)
        after /= after.sum()
        moved = float(np.abs(after - state).sum())
        state, after = after, state
        if moved < tolerance:
            break
    return state
