"""A weighted automaton that backs off, over whole numbers: the search's view of an n-gram model.

Its nodes form a trie in three arrays (`weft.learn.ngrams.trie` describes them): the words and suffixes of nodes, and
where their children begin. From a node h a word w leads to the child hw if there is one; else the automaton pays the
weight of backing off from h and goes on from the suffix of h.
"""

from __future__ import annotations

from weft.arrays import Ids, Singles
from weft.kernel import inner_kernel


@inner_kernel
def among(words: Ids, low: int, end: int, word: int) -> int:
    """The node of a word among the nodes low ... end - 1, -1 if it is not there; without branches to guess wrongly."""
    size = end - low
    if size <= 0:
        return -1
    while size > 1:
        half = size >> 1
        low = low + half if words[low + half] <= word else low
        size -= half
    return low if words[low] == word else -1


@inner_kernel
def child(first: Ids, words: Ids, node: int, word: int) -> int:
    """The node of a history and a word, -1 if there is none."""
    if node == 0:
        return 1 + word
    return among(words, int(first[node]), int(first[node + 1]), word)


@inner_kernel
def advance(
    first: Ids, words: Ids, suffix: Ids, logp: Singles, backoff: Singles, state: int, word: int
) -> tuple[float, int]:
    """The score of a word after a state, and the state after it."""
    score = 0.0
    node = child(first, words, state, word)
    while node < 0:
        score += backoff[state]
        state = int(suffix[state])
        node = child(first, words, state, word)
    score += logp[node]
    return score, shortened(first, suffix, backoff, node)


@inner_kernel
def shortened(first: Ids, suffix: Ids, backoff: Singles, node: int) -> int:
    """The longest suffix of an n-gram that matters for what follows it."""
    histories = len(backoff)
    while node >= histories or (node > 0 and first[node] == first[node + 1] and backoff[node] == 0.0):
        node = int(suffix[node])
    return node
