"""Grow a tag dictionary over a text: unknown words get the tags of words with similar forms and contexts.

Words and their features are the vertices of a graph (Garrette & Baldridge 2013): every word is connected to its
prefixes and suffixes, its shape, and the words before and after it in the text. Words in the dictionary are labelled
with their tags, uniformly; labels propagate over the graph (`weft.graph.propagation.quadratic`), and an unknown word
gets the tags whose share is close enough to that of its best one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from weft.errors import ConfigError, DataError
from weft.graph.csr import Graph
from weft.graph.propagation.quadratic import propagate
from weft.lexical.dictionary import TagDictionary

#: Maximum length of prefixes and suffixes used as features.
PREFIX, SUFFIX = 3, 5
#: An unknown word gets the tags whose share is at least this fraction of its best tag's share.
SHARE = 0.8


def grow_dictionary(
    sentences: Sequence[Sequence[str]],
    dictionary: TagDictionary,
    *,
    share: float = SHARE,
    mu: float = 0.1,
    nu: float = 1e-5,
    sweeps: int = 30,
) -> TagDictionary:
    """The dictionary with the unknown words of a text added; entries of known words are unchanged.

    >>> text = [["the", "dog", "barked"], ["the", "cat", "walked"], ["a", "bird", "talked"], ["the", "bird", "sang"]]
    >>> known = TagDictionary({"the": ["DET"], "a": ["DET"], "dog": ["NOUN"], "cat": ["NOUN"], "walked": ["VERB"]})
    >>> grown = grow_dictionary(text, known)
    >>> grown.tags_of("bird"), grown.tags_of("talked")
    (('NOUN',), ('VERB',))
    """
    if not 0 < share <= 1:
        raise ConfigError(f"share must be above 0 and at most 1, but is {share}")
    counts = Counter(word for sentence in sentences for word in sentence)
    words = sorted(counts.keys() | {word for word, _ in dictionary.items()})
    known = np.flatnonzero(dictionary.covers(words))
    unknown = np.setdiff1d(np.arange(len(words)), known)
    if not len(known):
        raise DataError("no word in the text is in the dictionary, so there are no tags to propagate")
    if not len(unknown):
        return dictionary
    graph = _graph(sentences, words)
    mask = dictionary.mask([words[k] for k in known.tolist()]).astype(np.float32)
    targets = mask / mask.sum(axis=1, keepdims=True)
    q = propagate(graph, known, targets, mu, nu, sweeps=sweeps, method="gauss-seidel")[unknown]
    # A word not connected to any dictionary word stays unknown: all tags are equally likely.
    informed = q.max(axis=1) > 1.01 / len(dictionary.tags)
    kept = (q >= share * q.max(axis=1, keepdims=True)) & informed[:, None]
    entries = {
        words[k]: [dictionary.tags[t] for t in np.flatnonzero(row).tolist()]
        for k, row in zip(unknown.tolist(), kept, strict=True)
        if row.any()
    }
    return dictionary | TagDictionary(entries, dictionary.tags, rules=False)


def marks_of(word: str) -> Iterator[str]:
    """Form features of a word: prefixes, suffixes, and its kinds of letters.

    >>> list(marks_of("up"))
    ['<u', 'p>', '<up', 'up>', 'x']
    """
    for n in range(1, min(len(word), SUFFIX) + 1):
        if n <= PREFIX:
            yield f"<{word[:n]}"
        yield f"{word[-n:]}>"
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in word)
    shape: list[str] = []
    for kind in kinds:
        if not shape or shape[-1] != kind:
            shape.append(kind)
    yield "".join(shape)


def _graph(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> Graph:
    """Words, then features; an edge weighs the feature's share of the word's features of its kind, less if common."""
    number = {word: k for k, word in enumerate(words)}
    looks: Counter[tuple[int, str]] = Counter()
    for word, k in number.items():
        for mark in marks_of(word):
            looks[k, f"look {mark}"] = 1
    stands: Counter[tuple[int, str]] = Counter()
    for sentence in sentences:
        for before, here in zip(["<s>", *sentence], [*sentence, "</s>"], strict=True):
            if here in number:
                stands[number[here], f"after {before.lower()}"] += 1
            if before in number:
                stands[number[before], f"before {here.lower()}"] += 1
    marks: dict[str, int] = {}
    parts = []
    for counts in (looks, stands):
        u = np.fromiter((k for k, _ in counts), dtype=np.int64, count=len(counts))
        v = np.fromiter((marks.setdefault(mark, len(marks)) for _, mark in counts), dtype=np.int64, count=len(counts))
        w = np.log1p(np.fromiter(counts.values(), dtype=np.float64, count=len(counts)))
        common = np.bincount(v, minlength=len(marks))[v]
        w *= np.log1p(len(words) / common)
        w /= np.bincount(u, w, len(words))[u]
        parts.append((u, v, w))
    u, v, w = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Graph.from_edges(len(words) + len(marks), u, len(words) + v, w.astype(np.float32))
