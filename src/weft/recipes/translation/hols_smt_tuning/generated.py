"""A generated bitext in which the probabilities of phrase pairs mislead, and weights of phrase pairs help.

A sentence is a row of units of a key, a word and a filler. The word has two translations, and the key decides: usual
keys stand for the one, rare keys for the other.

    usual key, word, filler  ->  THE, first sense, filler          rare key, word, filler  ->  THE, second sense, filler

Phrases of a usual key and a word are seen often, so the decoder uses them. A rare key and a word are hardly ever seen
together; the word is then translated alone, by a phrase pair whose probability comes from all its contexts, though most
of them are not left for it. For half of the words usual keys are frequent, and the most probable translation is wrong
in all contexts where it is needed; for the others it is right, so no weight of the probability suits both. All keys
become THE, so the language model learns nothing from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.text.bitext import Links

Sentences = list[list[str]]


@dataclass(frozen=True)
class Shape:
    """How large the language is."""

    words: int = 50  #: with two senses
    usual: int = 8  #: keys that are usual
    rare: int = 400  #: keys that are not
    fillers: int = 100
    units: int = 3  #: per sentence
    shares: tuple[float, float] = (0.6, 0.35)  #: how often keys are usual, for words of even and odd numbers
    noise: float = 0.05  #: how often a sense is random


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
    source: Sentences = []
    target: Sentences = []
    for _ in range(n):
        one: list[str] = []
        other: list[str] = []
        for _ in range(shape.units):
            word, filler = int(rng.integers(shape.words)), int(rng.integers(shape.fillers))
            usual = rng.random() < shape.shares[word % 2]
            key = f"u{rng.integers(shape.usual)}" if usual else f"r{rng.integers(shape.rare)}"
            sense = "a" if usual else "b"
            if rng.random() < shape.noise:
                sense = "ab"[int(rng.integers(2))]
            one += [key, f"w{word}", f"f{filler}"]
            other += ["THE", f"W{word}{sense}", f"F{filler}"]
        source.append(one)
        target.append(other)
    links = Links.of([[(i, i) for i in range(3 * shape.units)]] * n)
    return Bitext(source, target, links)
