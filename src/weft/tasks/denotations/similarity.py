"""Similarities between a hypothesis and premises: denotational, distributional and compositional.

    nPMI, P       of nodes of the graph, if both have 10 images and share 2 (weft.graph.denotations.counts)
    cos           of vectors of non-negative nPMI with the 1,000 most frequent words
    Lin           sum over shared i of (w_i + v_i) / (sum w + sum v)
    Clk(w | v)    sum of min(w_i, v_i) / sum w             W(w | v)   sum over shared i of w_i / sum w
    Bal           sqrt(W Lin)
    Sigma, Pi     cos of sums, and of element-wise products, of the words of two texts

Words are counted by caption, by image, or by image with all their hypernyms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_array

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.graph.denotations.counts import npmi

#: Words that are no dimensions and no words of texts.
STOP_WORDS = frozenset(
    """a an the and or but if of at by for with about between into through during before after above below to from up
    down in out on off over under again then once here there all any both each few more most other some such no nor not
    only own same so than too very is are was were be been being have has had do does did while as who which that this
    these those it its he she they them his her him their . , ; : ! ? ' " ` - 's n't two three one""".split()  # noqa: SIM905
)
SIMILARITIES = ("cos", "Lin", "Bal", "Clk")


def similarities(vectors: Floats, others: Floats, which: str) -> Floats:
    """The similarities of rows with other rows: entry (a, b) is sim(a | b).

    >>> rows = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    >>> [round(float(similarities(rows, rows, name)[0, 1]), 3) for name in SIMILARITIES]
    [0.5, 0.5, 0.5, 0.5]
    """
    v, w = np.asarray(vectors, dtype=np.float64), np.asarray(others, dtype=np.float64)
    sums, rests = v.sum(axis=1), w.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if which == "cos":
            found = (v @ w.T) / np.outer(np.linalg.norm(v, axis=1), np.linalg.norm(w, axis=1))
        elif which == "Clk":
            found = np.array([np.minimum(row, w).sum(axis=1) for row in v]) / sums[:, None]
        elif which in ("Lin", "Bal"):
            own, back = v @ (w > 0).T, (v > 0).astype(np.float64) @ w.T  # [a, b]: weight of a that b shares, and of b
            found = (own + back) / (sums[:, None] + rests[None])
            if which == "Bal":
                found = np.sqrt(own / sums[:, None] * found)
        else:
            raise ConfigError(f"a similarity is one of {', '.join(SIMILARITIES)}, got {which!r}")
    clean: Floats = np.nan_to_num(found)
    return clean


class WordVectors:
    """Vectors of words: non-negative nPMI with the most frequent words, over texts or sets of texts.

    >>> vectors = WordVectors.count([["dog", "run"], ["dog", "run"], ["cat", "sleep"]], least=1)
    >>> vectors.cosine("dog", "run") > 0.9, vectors.cosine("dog", "cat")
    (True, 0.0)
    """

    def __init__(self, words: Sequence[str], rows: Floats) -> None:
        self.number = {word: k for k, word in enumerate(words)}
        self.rows = rows

    @classmethod
    def count(cls, texts: Iterable[Iterable[str]], least: int = 10, dimensions: int = 1000) -> WordVectors:
        """From texts; words of fewer than `least` texts have none."""
        sets = [set(text) - STOP_WORDS for text in texts]
        counts = Counter(word for own in sets for word in own)
        words = sorted((word for word, count in counts.items() if count >= least), key=lambda w: (-counts[w], w))
        number = {word: k for k, word in enumerate(words)}
        pairs = [(k, number[word]) for k, own in enumerate(sets) for word in own if word in number]
        table = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
        matrix = csr_array((np.ones(len(pairs)), (table[:, 0], table[:, 1])), shape=(len(sets), len(words)))
        top = min(dimensions, len(words))
        joint = (matrix.T @ matrix[:, :top]).toarray()
        size = np.array([counts[word] for word in words], dtype=np.float64)
        rows = np.maximum(npmi(joint, size[:, None], size[None, :top], max(len(sets), 1)), 0.0)
        return cls(words, rows)

    def table(self, words: Sequence[str], which: str) -> Floats:
        """The similarities of some words with all words."""
        found: Floats = similarities(self.rows[[self.number[word] for word in words]], self.rows, which)
        return found

    def cosine(self, a: str, b: str) -> float:
        """The cosine of two words; 0 if one has no vector."""
        if a not in self.number or b not in self.number:
            return 0.0
        one, other = self.rows[self.number[a]], self.rows[self.number[b]]
        norm = float(np.linalg.norm(one) * np.linalg.norm(other))
        return float(one @ other) / norm if norm else 0.0

    def known(self, words: Iterable[str]) -> list[int]:
        """The numbers of the words that have vectors."""
        return [self.number[word] for word in words if word in self.number]

    def composed(self, words: Iterable[str], product: bool) -> Floats:
        """The sum or the element-wise product of the vectors of words."""
        own = self.rows[self.known(words)]
        if not len(own):
            return np.zeros(self.rows.shape[1])
        found: Floats = own.prod(axis=0) if product else own.sum(axis=0)
        return found

    def compositional(self, hypothesis: Iterable[str], premises: Sequence[Iterable[str]], product: bool) -> float:
        """Sigma or Pi: the cosine of a hypothesis with the sum of the vectors of its premises."""
        one = self.composed(hypothesis, product)
        other = np.sum([self.composed(words, product) for words in premises], axis=0)
        norm = float(np.linalg.norm(one) * np.linalg.norm(other))
        return float(one @ other) / norm if norm > 1e-300 else 0.0
