"""A generated language whose order only syntax explains: English in cipher, every head after all its dependents.

English is that of a treebank. Words that occur once become their tags, so that test sentences have no unknown words to
speak of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import DataError
from weft.recipes.translation.shift_reduce_string_to_dependency.data import Parsed
from weft.text.bitext import Links


def head_final(heads: Sequence[int]) -> list[int]:
    """The words of a tree, counted from 0, in an order in which each follows all its dependents.

    >>> head_final([2, 0, 4, 2])  # dogs chase the cat
    [0, 2, 3, 1]
    """
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads):
        children[head].append(word)
    order: list[int] = []

    def visit(word: int) -> None:
        for child in children[word + 1]:
            visit(child)
        order.append(word)

    for root in children[0]:
        visit(root)
    return order


@dataclass
class Generated:
    """A bitext: cipher, English, and the links between them."""

    source: list[list[str]]
    target: Parsed
    links: Links


def with_rare_words_as_tags(sentences: Parsed, least: int) -> Parsed:
    """The sentences with words that occur fewer than so many times replaced by their tags."""
    counts = Counter(word for words in sentences.words for word in words)
    words = [
        [word if counts[word] >= least else tag.lower() + "-word" for word, tag in zip(*row, strict=True)]
        for row in zip(sentences.words, sentences.tags, strict=True)
    ]
    return Parsed(words, sentences.heads, sentences.tags, sentences.labels)


def generate(sentences: Parsed) -> Generated:
    """The bitext of sentences in cipher, their heads last."""
    if not len(sentences):
        raise DataError("there is no sentence to generate a bitext of")
    numbers: dict[str, int] = {}
    source, links = [], []
    for words, heads in zip(sentences.words, sentences.heads, strict=True):
        order = head_final(heads)
        source.append([f"w{numbers.setdefault(words[k], len(numbers))}" for k in order])
        links.append([(at, k) for at, k in enumerate(order)])
    return Generated(source, sentences, Links.of(links))
