"""Scores of words after histories, in compiled code; kernels call `weft.infer.decoding.backoff` themselves.

A state is the node of the longest history that can still matter, one whole number: equal states have equal futures.

    score, state = advance(first, words, suffix, logp, backoff, state, word)

Scores are logarithms to base 10. The state of a sentence's beginning is that of `<s>`; 0 knows nothing of what came
before. States fit into arrays of int32, so a decoder keeps one per hypothesis, and hypotheses of one state recombine.
"""

from __future__ import annotations

from weft.arrays import Floats, Ids, Ints, Singles
from weft.infer.decoding.backoff import advance, among, child, shortened
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
    text: Ids, offsets: Ints, start: int, lanes: Ints, scores: Floats,
) -> None:  # fmt: skip
    """The score of every word of sentences, each of which begins in the state `start`.

    A row of `lanes` is a sentence on its way: where it is, its end, its state and the children to search there. All
    rows go one word ahead in turn, so that the processor waits for the memory of several sentences at once.
    """
    sentences, coming = len(offsets) - 1, 0
    lanes[:, :] = 0
    live = True
    while live:
        live = False
        for k in range(len(lanes)):
            while lanes[k, 0] == lanes[k, 1] and coming < sentences:
                lanes[k, 0], lanes[k, 1], lanes[k, 2] = offsets[coming], offsets[coming + 1], start
                coming += 1
            if lanes[k, 0] < lanes[k, 1]:
                live = True
                lanes[k, 3], lanes[k, 4] = first[lanes[k, 2]], first[lanes[k, 2] + 1]
        for k in range(len(lanes)):
            at = lanes[k, 0]
            if at == lanes[k, 1]:
                continue
            word, state = int(text[at]), lanes[k, 2]
            score = 0.0
            node = 1 + word if state == 0 else among(words, lanes[k, 3], lanes[k, 4], word)
            while node < 0:
                score += backoff[state]
                state = int(suffix[state])
                node = child(first, words, state, word)
            scores[at] = score + logp[node]
            lanes[k, 2] = shortened(first, suffix, backoff, node)
            lanes[k, 0] = at + 1
