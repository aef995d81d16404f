"""Invariants of every document, whatever text, file or program it comes from.

tokens     0 <= start < end <= start of the next, and end <= length of the text
words      each belongs to a token, every token has at least one, in order
forms      the form of a word is its token's text, unless the token stands for several words
sentences  every word is in exactly one, none is empty
columns    one string of the document's table per word
heads      -1 (not set) or a word of the same sentence or 0, and no cycles
layers     spans lie within the words or characters of the document, their pieces rise; relations, clusters, graphs,
           multiword tokens, empty nodes and phrases refer to what exists

Readers check what they read with `faulty`, many documents at once: NumPy compares the joined arrays of all of them,
and only documents of a batch that fails are checked one by one. Files may hold forms other than the text and sentences
without words, so `faulty` allows both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids, Ints
from weft.errors import WeftError
from weft.text.constituents import ConstituentLayer
from weft.text.doc import Doc

#: Metadata and attributes may be nested this deep.
DEEPEST = 50
_SIMPLE = {str, int, float, bool, type(None)}
_N_FIELDS = 9  # of a row of CoNLL-U, from FORM to MISC


def check_doc(doc: Doc, *, trees: bool = True, strict: bool = True) -> None:
    """Raise `WeftError` for the first invariant that a document violates.

    `trees=False` allows cycles of heads, `strict=False` forms other than the text and sentences without words.

    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]])
    >>> check_doc(doc)
    >>> doc.head[1] = 1
    >>> check_doc(doc)
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: sentence 1: the heads [2, 1] form a cycle
    """
    _check_together([doc], trees)
    if strict:
        _check_forms(doc)
        lengths = np.diff(doc.sentence_offsets)
        if not lengths.all():
            raise WeftError(f"sentence {int(np.argmin(lengths)) + 1} has no words")


def faulty(docs: Sequence[Doc], *, trees: bool = True) -> dict[int, WeftError]:
    """The positions of the documents that violate an invariant, and the first that each violates.

    >>> good, bad = Doc.from_words([["Dogs"]]), Doc.from_words([["Cats"]])
    >>> bad.token_end[0] = 9
    >>> faulty([good, bad])
    {1: WeftError('a token ends at character 9 of a text of 4 characters')}
    """
    try:
        _check_together(docs, trees)
    except WeftError as error:
        if len(docs) == 1:
            return {0: error}
        return {place: error for place, doc in enumerate(docs) for error in faulty([doc], trees=trees).values()}
    return {}


def has_cycle(head: Ids, offsets: Ids) -> bool:
    """Whether some word's chain of heads does not end at a root (or at a word without a head).

    Pointer doubling: after `k` iterations every word points `2^k` heads up, so log2(longest sentence) iterations
    reach the root from everywhere except a cycle.
    """
    n_words = len(head)
    lengths = np.diff(offsets)
    ground = n_words
    above: NDArray[np.int64] = np.full(n_words + 1, ground, dtype=np.int64)
    above[:n_words] = np.where(head > 0, np.repeat(offsets[:-1], lengths) + head - 1, ground)
    climbing = np.flatnonzero(above != ground)
    for _ in range(int(lengths.max(initial=1)).bit_length()):
        above[climbing] = above[above[climbing]]
        climbing = climbing[above[climbing] != ground]
        if not len(climbing):
            return False
    return bool(len(climbing))


def _check_together(docs: Sequence[Doc], trees: bool) -> None:
    """Check documents as if they were one; what is wrong is only named exactly if there is one document."""
    if not docs:
        return
    for doc in docs:
        if type(doc.text) is not str or type(doc.meta) is not dict or "form" not in doc.columns:
            raise WeftError("a document needs a text, forms of its words, and metadata by name")
    table, headed = docs[0].strings, docs[0].head is None
    alike = all(doc.strings is table and (doc.head is None) is headed and len(doc.sentence_offsets) > 1 for doc in docs)
    if not alike and len(docs) > 1:
        for doc in docs:
            _check_together([doc], trees)
        return
    n_tokens = _check_tokens(docs)
    n_words = _check_words(docs, n_tokens)
    lengths = _check_sentences(docs, n_words)
    _check_columns(docs, n_words)
    if docs[0].head is not None:
        _check_heads(docs, n_words, lengths, trees)
    for doc in docs:
        if doc.confidence or doc.multiwords or doc.empty_nodes or doc.constituents is not None:
            _check_rare(doc)
        if doc.spans or doc.relations or doc.clusters or doc.graphs:
            _check_layers(doc)
        if doc.meta and not _SIMPLE.issuperset(map(type, doc.meta.values())):
            check_nesting(doc.meta, "the metadata")


def _joined(name: str, arrays: Sequence[Ids]) -> tuple[Ids, Ints]:
    """Arrays one after another, and their sizes."""
    try:
        sizes = np.fromiter(map(len, arrays), dtype=np.int64, count=len(arrays))
        joined = np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
        fits = joined.ndim == 1 and joined.dtype == np.int32
    except (AttributeError, TypeError, ValueError) as error:
        raise WeftError(f"{name} is no array of numbers: {error}") from error
    if not fits:
        raise WeftError(f"{name} is no row of 32-bit integers, but has the shape {joined.shape} of {joined.dtype}")
    return joined, sizes


def _check_tokens(docs: Sequence[Doc]) -> Ints:
    """The number of tokens of each document."""
    starts, sizes = _joined("token_start", [doc.token_start for doc in docs])
    ends, end_sizes = _joined("token_end", [doc.token_end for doc in docs])
    if (sizes != end_sizes).any():
        raise WeftError(f"{len(starts)} tokens begin and {len(ends)} end")
    if len(starts):
        texts = np.fromiter([len(doc.text) for doc in docs], dtype=np.int64, count=len(docs))
        limits = np.empty(len(starts), dtype=np.int64)
        limits[:-1] = starts[1:]
        limits[np.cumsum(sizes)[sizes > 0] - 1] = texts[sizes > 0]
        wrong = (starts >= ends) | (limits < ends) | (starts < 0)
        if wrong.any():
            i = int(np.argmax(wrong))
            if ends[i] > limits[i] and i + 1 == len(starts):
                raise WeftError(f"a token ends at character {ends[i]} of a text of {limits[i]} characters")
            raise WeftError(f"token {i} has the offsets {starts[i]}-{ends[i]}: empty, or not in ascending order")
    return sizes


def _check_words(docs: Sequence[Doc], n_tokens: Ints) -> Ints:
    """The number of words of each document."""
    tokens, sizes = _joined("word_token", [doc.word_token for doc in docs])
    some = sizes > 0
    if (n_tokens[~some] > 0).any():
        raise WeftError(f"{len(docs[0].token_start)} tokens, but no words")
    if len(tokens):
        ends = np.cumsum(sizes)
        firsts = (ends - sizes)[some]
        steps = np.diff(tokens, prepend=np.int32(0))
        steps[firsts] = 0
        if tokens[firsts].any() or (steps.view(np.uint32) > 1).any():
            raise WeftError("words do not belong to tokens in order, or leave tokens out")
        if (tokens[ends[some] - 1] + 1 != n_tokens[some]).any():
            last = int(tokens[-1])
            raise WeftError(f"{len(docs[0].token_start)} tokens, but the last word belongs to token {last}")
    return sizes


def _check_sentences(docs: Sequence[Doc], n_words: Ints) -> Ints:
    """The number of words of each sentence; of a document without sentences, all its words."""
    offsets, sizes = _joined("sentence_offsets", [doc.sentence_offsets for doc in docs])
    if not sizes.all():
        raise WeftError("sentence_offsets is empty; it begins with 0")
    ends = np.cumsum(sizes)
    lengths = np.diff(offsets)
    inside = np.ones(len(lengths), dtype=np.bool_)
    inside[ends[:-1] - 1] = False
    split = len(offsets) > 1
    if offsets[ends - sizes].any() or (split and (offsets[ends - 1] != n_words).any()) or (lengths[inside] < 0).any():
        shown = offsets.tolist()
        raise WeftError(f"sentences do not partition the {int(n_words[0])} words: {shown[:5]} ... {shown[-3:]}")
    if [len(doc.comments) for doc in docs] != (sizes - 1).tolist():
        raise WeftError(f"{len(docs[0].comments)} lists of comments for {docs[0].n_sentences} sentences")
    return lengths[inside] if split else n_words


def _check_columns(docs: Sequence[Doc], n_words: Ints) -> None:
    ids, sizes = _joined("a column", [ids for doc in docs for ids in doc.columns.values()])
    per_doc = np.fromiter([len(doc.columns) for doc in docs], dtype=np.int64, count=len(docs))
    if (sizes != np.repeat(n_words, per_doc)).any():
        for name, values in docs[0].columns.items():
            if len(values) != n_words[0]:
                raise WeftError(f"column {name!r} has {len(values)} values for {n_words[0]} words")
        raise WeftError("a column does not have one value per word")
    # As unsigned numbers, negative ones are large.
    if len(ids) and int(np.ascontiguousarray(ids).view(np.uint32).max()) >= len(docs[0].strings):
        raise WeftError("a column names strings that its table does not have")


def _check_heads(docs: Sequence[Doc], n_words: Ints, lengths: Ints, trees: bool) -> None:
    heads, sizes = _joined("head", [doc.head for doc in docs if doc.head is not None])
    if (sizes != n_words).any():
        raise WeftError(f"{len(heads)} heads for {int(n_words[0])} words")
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    outside = (heads < -1) | (heads > np.repeat(lengths, lengths))
    if outside.any():
        first, end, number = _sentence_at(offsets, int(np.argmax(outside)))
        shown = heads[first:end].tolist()[:20]
        raise WeftError(f"sentence {number}: the heads {shown} name words outside their sentence")
    if trees and has_cycle(heads, offsets):  # type: ignore[arg-type]
        for number, (first, end) in enumerate(pairwise(offsets.tolist()), start=1):
            if has_cycle(heads[first:end], np.array([0, end - first])):
                raise WeftError(f"sentence {number}: the heads {heads[first:end].tolist()[:20]} form a cycle")


def _sentence_at(offsets: Ints, word: int) -> tuple[int, int, int]:
    """First word, end and number (from 1) of the sentence of a word."""
    number = int(np.searchsorted(offsets, word, side="right"))
    return int(offsets[number - 1]), int(offsets[number]), number


def _check_forms(doc: Doc) -> None:
    several = {row.first: row for row in doc.multiwords}
    counts = np.bincount(doc.word_token) if doc.n_words else np.zeros(0, dtype=np.int64)
    starts, ends = doc.token_start.tolist(), doc.token_end.tolist()
    word = 0
    forms = doc.column("form")
    for token, count in enumerate(counts.tolist()):
        text = doc.text[starts[token] : ends[token]]
        if count == 1 and word not in several and forms[word] != text:
            raise WeftError(f"word {word} has the form {forms[word]!r}, its token the text {text!r}")
        if word in several and several[word].fields[0] != text:
            raise WeftError(f"the multiword token {several[word].fields[0]!r} stands at {text!r} of {count} words")
        word += count


def _check_rare(doc: Doc) -> None:
    for name, values in doc.confidence.items():
        if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or values.shape != (doc.n_words,):
            raise WeftError(f"the confidences of {name!r} are not one probability for each of {doc.n_words} words")
        if len(values) and not (values.min() >= 0 and values.max() <= 1.001):  # also false for NaN
            raise WeftError(f"the confidences of {name!r} are not probabilities, from 0 to 1")
    if doc.multiwords:
        _check_multiwords(doc)
    if doc.empty_nodes:
        _check_empty_nodes(doc)
    if doc.constituents is not None:
        _check_constituents(doc, doc.constituents)


def _check_multiwords(doc: Doc) -> None:
    """Every multiword token covers all the words of one token; sentences do not cut it."""
    tokens, n_words = doc.word_token, doc.n_words
    borders = set(doc.sentence_offsets.tolist())
    done = 0
    for first, end, fields in doc.multiwords:
        if type(first) is not int or type(end) is not int or not done <= first < end <= n_words:
            raise WeftError(f"the multiword token of words {first!r} to {end!r} is out of order")
        token = tokens[first]
        alone = (first == 0 or tokens[first - 1] != token) and (end == n_words or tokens[end] != token)
        if not alone or tokens[end - 1] != token or not borders.isdisjoint(range(first + 1, end)):
            raise WeftError(f"the multiword token of words {first} to {end} does not stand for one token")
        if len(fields) != _N_FIELDS:
            raise WeftError(f"the multiword token of words {first} to {end} needs {_N_FIELDS} fields")
        done = end
    _check_strings(chain.from_iterable(row.fields for row in doc.multiwords), "a multiword token")


def _check_empty_nodes(doc: Doc) -> None:
    """Empty nodes come in the order of their places, numbered from 1 at each."""
    lengths = np.diff(doc.sentence_offsets).tolist()
    before = (-1, 0, 0)
    for sentence, after, number, fields in doc.empty_nodes:
        if not (_whole(sentence, after, number) and 0 <= sentence < len(lengths) and 0 <= after <= lengths[sentence]):
            raise WeftError(f"the empty node {after}.{number} of sentence {sentence} stands after no word")
        expected = before[2] + 1 if (sentence, after) == before[:2] else 1
        if number != expected or (sentence, after) < before[:2] or len(fields) != _N_FIELDS:
            raise WeftError(f"the empty node {after}.{number} is out of order, or not of {_N_FIELDS} fields")
        before = (sentence, after, number)
    _check_strings(chain.from_iterable(row.fields for row in doc.empty_nodes), "an empty node")


def _check_constituents(doc: Doc, layer: ConstituentLayer) -> None:
    columns = (layer.label, layer.start, layer.end, layer.parent)
    joined, sizes = _joined("constituents", columns)
    if (sizes != sizes[0]).any():
        raise WeftError("phrases do not have one label, start, end and parent each")
    if not sizes[0]:
        return
    label, start, end, parent = joined.reshape(4, -1)
    place = np.arange(len(label))
    if label.min() < 0 or label.max() >= len(layer.strings):
        raise WeftError("phrases name strings that their table does not have")
    if ((start < 0) | (start >= end) | (end > doc.n_words)).any() or (np.diff(start) < 0).any():
        raise WeftError(f"phrases hold no words, are out of order or go beyond the document's {doc.n_words} words")
    if ((parent < -1) | (parent >= place)).any():
        raise WeftError("phrases do not stand after their parents")
    above = np.maximum(parent, 0)
    if ((parent >= 0) & ((start < start[above]) | (end > end[above]))).any():
        raise WeftError("phrases leave their parents")
    order = np.argsort(parent, kind="stable")
    beside = parent[order[1:]] == parent[order[:-1]]
    if (beside & (start[order[1:]] < end[order[:-1]])).any():
        raise WeftError("phrases of one parent overlap")
    if doc.n_sentences:
        offsets = doc.sentence_offsets
        last = np.searchsorted(offsets, end - 1, side="right")
        if (np.searchsorted(offsets, start, side="right") != last).any():
            raise WeftError("phrases go beyond their sentences")


def _check_layers(doc: Doc) -> None:
    counts = {"": 0}
    for name, spans in doc.spans.items():
        limit = doc.n_words if spans.unit == "words" else len(doc.text)
        wrong = spans.misplaced(limit)
        if wrong is not None:
            raise WeftError(f"span {spans[wrong]} of layer {name!r} is not within the {limit} {spans.unit}")
        _check_names(name, spans, len(spans))
        counts[name] = len(spans)
    for name, relations in doc.relations.items():
        n_spans = counts.get(relations.spans, 0)
        if any(not (0 <= head < n_spans and 0 <= tail < n_spans) for head, tail, _ in relations):
            raise WeftError(f"a relation of layer {name!r} names spans that {relations.spans!r} does not have")
        _check_names(name, relations, len(relations))
    for name, clusters in doc.clusters.items():
        cluster, _ = _joined(f"clusters of layer {name!r}", [clusters.cluster])
        if len(cluster) != counts.get(clusters.spans, 0) or (cluster < -1).any():
            raise WeftError(f"clusters of layer {name!r} are not one number for each span of {clusters.spans!r}")
    for name, graph in doc.graphs.items():
        n_spans, n_nodes = counts.get(graph.spans, 0), len(graph)
        if any(not -1 <= anchor < n_spans for _, anchor in graph.nodes()):
            raise WeftError(f"a node of the graph {name!r} names a span that {graph.spans!r} does not have")
        if any(not (0 <= source < n_nodes and 0 <= target < n_nodes) for source, target, _ in graph.edges()):
            raise WeftError(f"an edge of the graph {name!r} names nodes that it does not have")
        _check_names(name, graph, n_nodes)


def _check_names(name: str, layer: Any, length: int) -> None:
    """Names and attributes belong to members of a layer."""
    if layer.ids:
        if len(layer.ids) > length:
            raise WeftError(f"layer {name!r} has {len(layer.ids)} names for {length} members")
        _check_strings(layer.ids, f"a name in layer {name!r}")
    for number, values in layer.attributes.items():
        if not 0 <= number < length or type(values) is not dict:
            raise WeftError(f"layer {name!r} has attributes of {number}, but {length} members")
        check_nesting(values, f"an attribute in layer {name!r}")


def check_nesting(values: Any, what: str, deepest: int = DEEPEST) -> None:
    """Refuse values that are nested too deep to be written again.

    >>> check_nesting([[[["a"]]]], "a list", deepest=2)
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: a list is nested more than 2 deep
    """
    level = [values]
    for _ in range(deepest + 1):
        level = [
            inner
            for value in level
            for inner in (value.values() if type(value) is dict else value if type(value) in (list, tuple) else ())
            if type(inner) in (dict, list, tuple)
        ]
        if not level:
            return
    raise WeftError(f"{what} is nested more than {deepest} deep")


def _whole(*numbers: object) -> bool:
    return all(type(number) is int for number in numbers)


def _check_strings(values: Iterable[Any], what: str) -> None:
    if not set(map(type, values)) <= {str}:
        raise WeftError(f"{what} holds something else than strings")
