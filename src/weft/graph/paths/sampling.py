"""Which known facts to learn from, and which wrong ones: stratified positives, biased negatives, sampled sentences.

    keep (s, r, t) with probability  min(1, sqrt(m + N_t) / N_t),     N_t the number of facts with target t
    wrong answers of s: its candidates by falling score, known answers left out; ranks 0, 1, 3, 6, 10, ... k (k + 1) / 2
    keep a sentence for concept c with probability  min(1, sqrt(k + S_c) / S_c);   one concept that keeps it is enough

A target with N facts is met about sqrt(N) times, so that popular ones do not crowd out the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError


def keeping(count: int, offset: float) -> float:
    """The probability with which one of `count` items is kept.

    >>> keeping(1, 100), round(keeping(300, 100), 4), keeping(10_000, 0)
    (1.0, 0.0667, 0.01)
    """
    if count < 1 or offset < 0:
        raise ConfigError(f"a count must be at least 1 and the offset at least 0, got {count} and {offset}")
    return float(min(1.0, np.sqrt(offset + count) / count))


def stratified(queries: Mapping[int, Sequence[int]], offset: float = 100, seed: int = 0) -> dict[int, list[int]]:
    """Known facts, by source, sampled so that targets count by the square root of their frequency.

    >>> stratified({0: [9], 1: [9], 2: [8]}, offset=100)
    {0: [9], 1: [9], 2: [8]}
    """
    counts = Counter(target for targets in queries.values() for target in targets)
    draw = np.random.default_rng(seed)
    kept: dict[int, list[int]] = {}
    for source in sorted(queries):
        own = [t for t in queries[source] if draw.random() < keeping(counts[t], offset)]
        if own:
            kept[source] = own
    return kept


def at_random(queries: Mapping[int, Sequence[int]], size: int, seed: int = 0) -> dict[int, list[int]]:
    """As many facts drawn alike, for comparison."""
    pairs = [(source, target) for source in sorted(queries) for target in queries[source]]
    chosen = np.sort(np.random.default_rng(seed).permutation(len(pairs))[:size])
    kept: dict[int, list[int]] = {}
    for number in chosen.tolist():
        kept.setdefault(pairs[number][0], []).append(pairs[number][1])
    return kept


def negatives(nodes: Ids, scores: Floats, known: Collection[int]) -> Ints:
    """The places, among the candidates, of those taken as wrong answers.

    >>> negatives(np.array([5, 6, 7, 8, 9], np.int32), np.array([.1, .9, .5, .4, .3]), {6}).tolist()
    [2, 3, 0]
    """
    order = np.lexsort((nodes, -scores))
    order = order[~np.isin(nodes[order], np.fromiter(known, np.int64, len(known)))]
    ranks = []
    k = 0
    while k * (k + 1) // 2 < len(order):
        ranks.append(k * (k + 1) // 2)
        k += 1
    return order[np.array(ranks, dtype=np.int64)]


def sampled_sentences(concepts: Sequence[Collection[int]], offset: float = 1e5, seed: int = 0) -> list[int]:
    """The sentences that are kept, of which `concepts` lists those mentioned in each.

    >>> sampled_sentences([{1}, {1, 2}, set()])
    [0, 1]
    """
    counts = Counter(concept for own in concepts for concept in set(own))
    draw = np.random.default_rng(seed)
    return [
        number
        for number, own in enumerate(concepts)
        if max([draw.random() < keeping(counts[concept], offset) for concept in sorted(set(own))], default=False)
    ]
