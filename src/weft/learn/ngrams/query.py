"""Scores of words after histories, in compiled code; kernels call `weft.infer.decoding.backoff` themselves.

A state is the node of the longest history that can still matter, one whole number: equal states have equal futures.

    score, state = advance(first, words, suffix, logp, backoff, state, word)

Scores are logarithms to base 10. The state of a sentence's beginning is that of `<s>`; 0 knows nothing of what came
before. States fit into arrays of int32, so a decoder keeps one per hypothesis, and hypotheses of one state recombine.
"""

from __future__ import annotations

from weft.arrays import Floats, Ids, Ints, Singles
from weft.infer.decoding.backoff import advance
from weft.kernel import kernel


@kernel
def step_all(
    first: Ids, words: Ids, suffix: Ids, logp: Singles, backoff: Singles,
    states: Ids, following: Ids, scores: Floats, after: Ids,
) -> None:  # fmt: skip
    """Scores of words after states, one of each per place, and the states after them."""
    for i in range(len(states)):
        score, state = advance(first, words, suffix, logp, backoff, int(states[i]), int(following[i]))
        scores[i] = score
        after[i] = state


@kernel
def score_sentences(
    first: Ids, words: Ids, suffix: Ids, logp: Singles, backoff: Singles,
    text: Ids, offsets: Ints, start: int, scores: Floats,
) -> None:  # fmt: skip
    """The score of every word of sentences, each of which begins in the state `start`."""
    for s in range(len(offsets) - 1):
        state = start
        for i in range(offsets[s], offsets[s + 1]):
            score, state = advance(first, words, suffix, logp, backoff, state, int(text[i]))
            scores[i] = score
