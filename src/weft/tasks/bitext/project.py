"""Projection of annotation from one language to another across the word links of a bitext.

The links of each target word vote on its annotation (`weft.learn.bitext.projection`). The weight of a vote is the
score of the link times the probability of the source value, if the source document gives one:

    tags        a column, with the best of its votes as probability          (`project_column`)
    entities    a label inside or outside a phrase (IO) for every linked word; runs of a label are phrases, with the
                mean of their words' votes as probability                    (`project_spans`)
    dictionary  the tags with at least a given share of the votes of a word type       (`project_dictionary`)
    clusters    the cluster with the most votes of a word type                         (`project_clusters`)

Words without a link get no tag and are outside entities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import DataError
from weft.learn.bitext.projection import project_counts, project_labels
from weft.lexical.clusters.monolingual import WordClusters
from weft.lexical.dictionary import THRESHOLD, TagDictionary
from weft.text.bitext import Links, check_links
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

OUTSIDE = "O"


def project_column(source: Sequence[Doc], target: Sequence[Doc], links: Links, column: str = "upos") -> float:
    """Set a column of the target documents, with probabilities; returns the share of their words with a value.

    >>> source = [Doc.from_words([["red", "houses"]], upos=[["ADJ", "NOUN"]])]
    >>> target = [Doc.from_words([["maisons", "rouges", "!"]])]
    >>> round(project_column(source, target, Links.of([[(0, 1, 0.9), (1, 0, 0.8)]])), 2)
    0.67
    >>> target[0].column("upos"), target[0].confidence["upos"].round(1).tolist()
    (['NOUN', 'ADJ', ''], [0.800000011920929, 0.8999999761581421, 0.0])
    """
    values = [value for doc in source for value in doc.column(column)]
    if not any(values):
        raise DataError(f"the source documents have no values in the column {column!r}; there is nothing to project")
    certain = _confidence(source, column)
    found, score = _project(links, values, certain, source, target)
    at = 0
    for doc in target:
        words = slice(at, at + doc.n_words)
        doc.set_column(column, found[words])
        doc.confidence[column] = score[words].astype(np.float32)
        at = words.stop
    return sum(map(bool, found)) / max(len(found), 1)


def project_spans(source: Sequence[Doc], target: Sequence[Doc], links: Links, layer: str = "entities") -> float:
    """Set a layer of flat spans of the target documents; returns the share of their words with a link.

    >>> source = [Doc.from_words([["in", "New", "York"]])]
    >>> source[0].spans["entities"] = SpanLayer.of(source[0].strings, [(1, 3, "LOC")])
    >>> target = [Doc.from_words([["New", "Yorkissa"]])]
    >>> project_spans(source, target, Links.of([[(1, 0), (2, 1, 0.5), (0, 1, 0.4)]]))
    1.0
    >>> [(span.text, span.label) for span in target[0].span_views("entities")]
    [('New Yorkissa', 'LOC')]
    """
    values, certain = [], []
    for doc in source:
        if layer not in doc.spans:
            raise DataError(f"a source document has no layer {layer!r}; there is nothing to project")
        labels, p = [OUTSIDE] * doc.n_words, [1.0] * doc.n_words
        for number, (pieces, label) in enumerate(doc.spans[layer]):
            for first, end in pieces:
                labels[first:end] = [label] * (end - first)
                p[first:end] = [doc.spans[layer].attributes.get(number, {}).get("probability", 1.0)] * (end - first)
        values += labels
        certain += p
    found, score = _project(links, values, np.array(certain), source, target)
    at = 0
    for doc in target:
        doc.spans[layer] = _runs(doc, found[at : at + doc.n_words], score[at : at + doc.n_words])
        at += doc.n_words
    return sum(map(bool, found)) / max(len(found), 1)


def project_dictionary(
    source: Sequence[Doc],
    target: Sequence[Doc],
    links: Links,
    column: str = "upos",
    *,
    share: float = THRESHOLD,
    lower: bool = False,
    rename: Callable[[str], str] | None = None,
) -> TagDictionary:
    """The tags with at least `share` of the votes of each linked target type; `rename` maps the tags first.

    >>> source = [Doc.from_words([["red", "houses"], ["houses"]], upos=[["ADJ", "NOUN"], ["NOUN"]])]
    >>> target = [Doc.from_words([["maisons", "rouges"], ["maisons"]])]
    >>> found = project_dictionary(source, target, Links.of([[(0, 1), (1, 0)], [(0, 0)]]))
    >>> dict(found.items())
    {'maisons': ('NOUN',), 'rouges': ('ADJ',)}
    """
    values = [value for doc in source for value in doc.column(column)]
    if not any(values):
        raise DataError(f"the source documents have no values in the column {column!r}; there is nothing to project")
    if rename is not None:
        values = [rename(value) for value in values]
    tags = sorted(set(values) - {""})
    words, counts = _counts(links, values, tags, _confidence(source, column), source, target, lower)
    linked = counts.sum(axis=1) > 0
    listed = [word for word, kept in zip(words, linked, strict=True) if kept]
    return TagDictionary.from_counts(listed, counts[linked], tags, share)


def project_clusters(
    source: Sequence[Doc], target: Sequence[Doc], links: Links, clusters: Mapping[str, str], *, lower: bool = True
) -> WordClusters:
    """The cluster of every linked target type, by vote of the clusters of source words.

    >>> source, target = [Doc.from_words([["red", "houses"]])], [Doc.from_words([["maisons", "rouges"]])]
    >>> project_clusters(source, target, Links.of([[(0, 1), (1, 0)]]), {"red": "01", "houses": "10"}).paths()
    {'maisons': '10', 'rouges': '01'}
    """
    forms = [form for doc in source for form in doc.column("form")]
    values = [clusters.get(form) or clusters.get(form.lower(), "") for form in forms]
    paths = sorted(set(values) - {""})
    if not paths:
        raise DataError("no word of the source documents is in these clusters")
    words, counts = _counts(links, values, paths, np.ones(len(values)), source, target, lower)
    linked = np.flatnonzero(counts.sum(axis=1) > 0)
    types = _types(target, lower)[0]
    seen = np.bincount(types, minlength=len(words))[linked]
    return WordClusters([words[i] for i in linked.tolist()], counts[linked].argmax(axis=1), paths, seen)


def _project(
    links: Links, values: Sequence[str], certain: Floats, source: Sequence[Doc], target: Sequence[Doc]
) -> tuple[list[str], Floats]:
    """The value of every target word, "" for no value, and its best vote."""
    names = sorted(set(values) - {""})
    labels = _numbers(values, names)
    offsets = _offsets(source), _offsets(target)
    votes = _votes(links, certain, *offsets)
    found = project_labels(votes, labels, *offsets)
    score = np.zeros(len(found))
    at = votes.sentence()
    other = offsets[1][at] + votes.target
    voted = (labels[offsets[0][at] + votes.source] == found[other]) & (found[other] >= 0)
    np.maximum.at(score, other[voted], votes.score[voted])
    return [names[i] if i >= 0 else "" for i in found.tolist()], score


def _counts(
    links: Links,
    values: Sequence[str],
    names: Sequence[str],
    certain: Floats,
    source: Sequence[Doc],
    target: Sequence[Doc],
    lower: bool,
) -> tuple[list[str], Floats]:
    """Target types, and the votes of each type for every name."""
    offsets = _offsets(source), _offsets(target)
    types, words = _types(target, lower)
    votes, labels = _votes(links, certain, *offsets), _numbers(values, names)
    return words, project_counts(votes, labels, types, *offsets, n_types=len(words), n_labels=len(names))


def _votes(links: Links, certain: Floats, offsets: Ints, other_offsets: Ints) -> Links:
    """Multiply the scores of links by the probabilities of the source values."""
    check_links(links, offsets, other_offsets)
    word = offsets[links.sentence()] + links.source
    return Links(links.offsets, links.source, links.target, links.score * certain[word])


def _numbers(values: Sequence[str], names: Sequence[str]) -> Ints:
    """Encode values as numbers, -1 for no value."""
    number = {name: i for i, name in enumerate(names)} | {"": -1}
    return np.fromiter((number[value] for value in values), np.int64, len(values))


def _types(docs: Sequence[Doc], lower: bool) -> tuple[Ints, list[str]]:
    """The type number of every word, and the types."""
    known: dict[str, int] = {}
    forms = (form.lower() if lower else form for doc in docs for form in doc.column("form"))
    types = np.array([known.setdefault(form, len(known)) for form in forms], dtype=np.int64)
    return types, list(known)


def _offsets(docs: Sequence[Doc]) -> Ints:
    sizes = [np.diff(doc.sentence_offsets) for doc in docs]
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes) if sizes else [])]).astype(np.int64)


def _confidence(docs: Sequence[Doc], column: str) -> Floats:
    """The probability of every value of a column, 1 if the document gives none."""
    parts = [doc.confidence.get(column, np.ones(doc.n_words)) for doc in docs]
    return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)


def _runs(doc: Doc, labels: Sequence[str], score: Floats) -> SpanLayer:
    """Runs of a label within sentences as spans, with their mean score."""
    layer = SpanLayer(doc.strings)
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        start = first
        for word in range(first, end + 1):
            if word == end or labels[word] != labels[start]:
                if start < word and labels[start] not in ("", OUTSIDE):
                    layer.add([(start, word)], labels[start], probability=float(score[start:word].mean()))
                start = word
    return layer
