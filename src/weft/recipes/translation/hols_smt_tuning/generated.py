"""A generated bitext in which the probabilities of phrase pairs mislead, and weights of phrase pairs help.

A sentence is a row of units. Each has a word with three translations, a key word next to it that decides between them,
and a filler on its other side that says nothing:

    key word filler  ->  THE sense FILLER            filler word key  ->  FILLER sense THE

All keys become THE, so the language model learns nothing from them. A phrase of a key and its word
is frequent, and because some translations are random it has a probability of about .9. A phrase of a word and a filler
is rare, so it often has a probability of 1, though it is right only in the contexts in which it was seen. The most
frequent sense of a word is right in 40 % of its contexts. Fillers of the second kind of unit become few words too, so
that p(s|t) is high for wrong phrases of the first kind and low for those of the second: no weight of it suits both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.text.bitext import Links

Sentences = list[list[str]]


@dataclass(frozen=True)
class Shape:
    """How large the language is."""

    words: int = 50  #: ambiguous ones
    keys: int = 30
    fillers: int = 400
    units: int = 3  #: per sentence
    noise: float = 0.2  #: how often a sense is random


@dataclass(frozen=True)
class Bitext:
    """Sentences of both sides and their links."""

    source: Sentences
    target: Sentences
    links: Links

    def cut(self, start: int, end: int) -> Bitext:
        """Some of the sentences."""
        return Bitext(self.source[start:end], self.target[start:end], self.links.take(start, end))


def generate(n: int, seed: int, shape: Shape | None = None) -> Bitext:
    """So many sentence pairs.

    >>> bitext = generate(2, 0)
    >>> len(bitext.source[0]), len(bitext.target[0]), len(bitext.links.pairs()[0])
    (9, 9, 9)
    """
    shape = shape or Shape()
    rng = np.random.default_rng(seed)
    # Of ten keys in a row, four stand for the first sense of a word and three for each of the others.
    shares = np.resize([0, 0, 0, 0, 1, 1, 1, 2, 2, 2], shape.keys)
    senses = np.array([rng.permutation(shares) for _ in range(shape.words)])
    source: Sentences = []
    target: Sentences = []
    for _ in range(n):
        one: list[str] = []
        other: list[str] = []
        for _ in range(shape.units):
            word, key, filler = (int(rng.integers(k)) for k in (shape.words, shape.keys, shape.fillers))
            sense = int(senses[word, key])
            if rng.random() < shape.noise:
                sense = int(rng.integers(3))
            unit = [f"k{key}", f"w{word}", f"f{filler}"]
            few = shape.fillers // 15 if word % 2 == 1 else shape.fillers
            said = ["THE", f"W{word}{'abc'[sense]}", f"F{filler % few}"]
            turned = word % 2 == 1  # for half of the words the key follows
            one += unit[::-1] if turned else unit
            other += said[::-1] if turned else said
        source.append(one)
        target.append(other)
    links = Links.of([[(i, i) for i in range(3 * shape.units)]] * n)
    return Bitext(source, target, links)
