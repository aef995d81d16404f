"""N-gram models by definition, in dictionaries: what the arrays of `weft.learn.ngrams` are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
from hypothesis import strategies as st

from weft.learn.ngrams.counting import Counts, count
from weft.learn.ngrams.smoothing import Estimates
from weft.learn.ngrams.vocabulary import BEGIN_ID, END_ID, Vocabulary

Gram = tuple[int, ...]
SENTENCES = st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=2, max_size=12)


def counted(sentences: Sequence[Sequence[str]], order: int) -> tuple[Vocabulary, Counts, Counter[Gram]]:
    """Counts of both kinds."""
    vocabulary, counts = count(sentences, order)
    plain: Counter[Gram] = Counter()
    for sentence in sentences:
        ids = [BEGIN_ID, *(vocabulary.ids[word] for word in sentence), END_ID]
        for n in range(1, order + 1):
            plain.update(tuple(ids[i : i + n]) for i in range(len(ids) - n + 1))
    return vocabulary, counts, plain


class Plain:
    """A back-off model in dictionaries."""

    def __init__(self, estimates: Estimates) -> None:
        trie = estimates.trie
        self.order, self.words = trie.order, list(range(trie.n_words))
        self.prob = {trie.ngram(g): float(estimates.prob[g]) for g in range(1, len(trie))}
        self.alpha = {trie.ngram(g): float(estimates.alpha[g]) for g in range(trie.n_histories)}

    def p(self, history: Gram, word: int) -> float:
        """P(w|h), following the definition."""
        history = history[-(self.order - 1) :] if self.order > 1 else ()
        if (*history, word) in self.prob:
            return self.prob[*history, word]
        return self.alpha.get(history, 1.0) * self.p(history[1:], word)

    def cost(self, history: Gram, shorter: Gram) -> float:
        """The product of the weights of backing off from a history to one of its suffixes."""
        found = 1.0
        while len(history) > len(shorter):
            found *= self.alpha.get(history, 1.0)
            history = history[1:]
        return found

    def histories(self) -> list[Gram]:
        """All histories of full length, padded with `<s>` at the beginning of a sentence, and shorter ones at it."""
        inner = [word for word in self.words if word not in (BEGIN_ID, END_ID)]
        found: list[Gram] = []
        for n in range(self.order):
            for rest in product(inner, repeat=n):
                if n == self.order - 1:
                    found.append(rest)
                elif n < self.order - 1:
                    found.append((BEGIN_ID, *rest))
        return found

    def chain(self) -> tuple[list[Gram], np.ndarray]:
        """The stationary distribution of the fully expanded chain."""
        states = self.histories() if self.order > 1 else [()]
        number = {state: i for i, state in enumerate(states)}
        matrix = np.zeros((len(states), len(states)))
        for state in states:
            for word in self.words:
                if word == BEGIN_ID:
                    continue
                after = (BEGIN_ID,) if word == END_ID else (*state, word)[-(self.order - 1) :]
                matrix[number[state], number[after]] += self.p(state, word)
        matrix /= matrix.sum(axis=1, keepdims=True)
        system = np.vstack([matrix.T - np.eye(len(states)), np.ones(len(states))])
        right = np.zeros(len(states) + 1)
        right[-1] = 1
        return states, np.linalg.lstsq(system, right, rcond=None)[0]


def witten_bell(counts: Counter[Gram], gram: Gram, n_words: int) -> float:
    """P(w|h) of an interpolated Witten-Bell model, by its recursion."""
    history, word = gram[:-1], gram[-1]
    after = {g[-1]: c for g, c in counts.items() if g[:-1] == history and len(g) == len(gram)}
    if not history:
        after.pop(BEGIN_ID, None)
    lower = witten_bell(counts, gram[1:], n_words) if history else (word != BEGIN_ID) / (n_words - 1)
    total, types = sum(after.values()), len(after)
    return (after.get(word, 0) + types * lower) / (total + types) if total else lower


def kneser_ney(counts: Counter[Gram], gram: Gram, n_words: int, order: int) -> float:
    """P(w|h) of an interpolated Kneser-Ney model, by its definition."""
    n, history = len(gram), gram[:-1]

    def number(g: Gram) -> float:
        if g == (BEGIN_ID,):
            return 0
        if n == order or g[0] == BEGIN_ID:
            return counts[g]
        return len({longer[0] for longer in counts if len(longer) == n + 1 and longer[1:] == g})

    numbers = {g: number(g) for g in counts if len(g) == n}
    one, two = (sum(value == r for value in numbers.values()) for r in (1, 2))
    discount = one / (one + 2 * two) if one and two else 0.5
    after = {g: value for g, value in numbers.items() if g[:-1] == history and value > 0}
    lower = kneser_ney(counts, gram[1:], n_words, order) if history else (gram[-1] != BEGIN_ID) / (n_words - 1)
    total = sum(after.values())
    if not total:
        return lower
    return (max(0.0, after.get(gram, 0) - discount) + discount * len(after) * lower) / total
