"""Phrase-based search by enumeration: every derivation, scored from its whole sequence of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from weft.infer.decoding.ngrams import Automaton, NgramFeature
from weft.infer.decoding.options import Options
from weft.learn.ngrams.counting import count
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.smoothing import estimate
from weft.learn.ngrams.vocabulary import END_ID

#: The scores of a sequence of options.
Judge = Callable[[Options, tuple[int, ...]], list[float]]


class Derived(NamedTuple):
    options: tuple[int, ...]
    scores: np.ndarray
    score: float


def sequences(options: Options, limit: int) -> Iterator[tuple[int, ...]]:
    """All sequences of options that cover the source once, within a limit of distortion (-1: none)."""
    spans = list(zip(options.start.tolist(), options.end.tolist(), strict=True))

    def grow(chosen: tuple[int, ...], covered: frozenset[int]) -> Iterator[tuple[int, ...]]:
        if len(covered) == options.length:
            yield chosen
            return
        reached = spans[chosen[-1]][1] if chosen else 0
        gap = next(i for i in range(options.length) if i not in covered)
        for o, (start, end) in enumerate(spans):
            if covered & set(range(start, end)):
                continue
            if limit >= 0 and (abs(start - reached) > limit or (start > gap and end - gap > limit)):
                continue
            yield from grow((*chosen, o), covered | set(range(start, end)))

    yield from grow((), frozenset())


def distortion(options: Options, chosen: tuple[int, ...]) -> list[float]:
    reached, total = 0, 0
    for o in chosen:
        total -= abs(int(options.start[o]) - reached)
        reached = int(options.end[o])
    return [float(total)]


def orientation(one: tuple[int, int], other: tuple[int, int]) -> int:
    return 0 if other[0] == one[1] else 1 if other[1] == one[0] else 2


def reordering(table: np.ndarray, default: tuple[float, ...]) -> Judge:
    def judge(options: Options, chosen: tuple[int, ...]) -> list[float]:
        rows = [table[options.pair[o]] if options.pair[o] >= 0 else np.array(default) for o in chosen]
        spans = [(0, 0), *((int(options.start[o]), int(options.end[o])) for o in chosen)]
        spans.append((options.length, options.length + 1))
        scores = [0.0] * 6
        for k in range(len(spans) - 1):
            kind = orientation(spans[k], spans[k + 1])
            if k < len(chosen):
                scores[kind] += rows[k][kind]
            if k > 0:
                scores[3 + kind] += rows[k - 1][3 + kind]
        return scores

    return judge


def ngrams(model: NgramModel) -> Judge:
    """Scores of the whole translation, computed at once; target word w is the model's word 3 + w."""

    def judge(options: Options, chosen: tuple[int, ...]) -> list[float]:
        said = [3 + w if 3 + w < len(model.vocabulary) else 0 for o in chosen for w in options.target(o)]
        text = np.array([*said, END_ID], np.int32)
        return [float(model.scores(text, np.array([0, len(text)])).sum() * np.log(10.0))]

    return judge


def enumerated(
    options: Options, judges: list[Judge], weights: np.ndarray, sparse: np.ndarray | None, limit: int
) -> list[Derived]:
    """All derivations with their scores, best first."""
    found = []
    for chosen in sequences(options, limit):
        rows = np.array([options.scores[o] for o in chosen]).reshape(len(chosen), -1)
        scores = np.array([*rows.sum(axis=0), *distortion(options, chosen)])
        scores = np.concatenate([scores, *(judge(options, chosen) for judge in judges)])
        score = float(scores @ weights)
        for o in chosen:
            for at in range(options.sparse_offsets[o], options.sparse_offsets[o + 1]):
                score += 0.0 if sparse is None else float(sparse[options.sparse_ids[at]] * options.sparse_values[at])
        found.append(Derived(chosen, scores, score))
    return sorted(found, key=lambda each: -each.score)


def random_options(rng: np.random.Generator, length: int, more: int, words: int = 4) -> Options:
    """Options for a short sentence: one for every position, and some more of any span."""
    rows = [(i, i + 1, rng.integers(0, words, rng.integers(1, 3)).tolist()) for i in range(length)]
    for _ in range(more):
        start = int(rng.integers(0, length))
        end = int(rng.integers(start + 1, length + 1))
        rows.append((start, end, rng.integers(0, words, rng.integers(0, 4)).tolist()))
    n = len(rows)
    sparse = [[(int(rng.integers(0, 6)), float(rng.normal())) for _ in range(rng.integers(0, 3))] for _ in rows]
    return Options.of(length, rows, rng.normal(size=(n, 2)), ["one", "two"], rng.integers(-1, 5, n), sparse)


def small_model(order: int = 3) -> NgramModel:
    """A language model of four words."""
    sentences = [list(each) for each in ("abc", "abd", "cab", "dd", "bcda", "cabd", "ab")]
    vocabulary, counts = count(sentences, order)
    return NgramModel.of(vocabulary, estimate(counts, "witten-bell"))


def ngram_feature(model: NgramModel) -> NgramFeature:
    numbers = np.arange(3, len(model.vocabulary), dtype=np.int32)
    return NgramFeature(Automaton(*model.tables), model.start, END_ID, numbers)
