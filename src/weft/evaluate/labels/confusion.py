"""Which labels a system gives in the place of which: a matrix of counts over words or spans.

    count[g, s]   words (or spans) of the same characters that are g in the gold documents and s in the system's

Words and spans are matched by the characters that they cover, blanks aside, so that tokens may differ; what only one
side has stands against "" (nothing).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from weft.errors import ConfigError
from weft.text.doc import Doc
from weft.text.layers import chars_of_words

Pairs = Counter[tuple[str, str]]


def confusion(gold: Sequence[Doc], system: Sequence[Doc], layer: str) -> Pairs:
    """Counts of pairs (gold label, system label) of a span layer or a column of words.

    >>> gold = [Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])]
    >>> system = [Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "NOUN"]])]
    >>> dict(confusion(gold, system, "upos"))
    {('NOUN', 'NOUN'): 1, ('VERB', 'NOUN'): 1}
    """
    spans = any(layer in doc.spans for doc in gold)
    if not spans and not any(doc.has(layer) for doc in gold):
        raise ConfigError(f"the gold documents have no layer {layer!r} whose labels could be confused")
    labels = _spans if spans else _words
    wanted, found = list(labels(gold, layer)), list(labels(system, layer))
    pairs: Pairs = Counter()
    by_place: dict[Hashable, list[str]] = {}
    for place, label in found:
        by_place.setdefault(place, []).append(label)
    for place, label in wanted:
        there = by_place.get(place)
        if not there:
            pairs[label, ""] += 1
            continue
        pairs[label, there.pop(there.index(label) if label in there else 0)] += 1
    for left in by_place.values():
        pairs.update(("", label) for label in left)
    return pairs


def most_confused(pairs: Pairs, most: int) -> list[str]:
    """The labels that take part in most errors, at most so many, the most frequent first.

    >>> most_confused(Counter({("A", "B"): 2, ("C", "C"): 9, ("", "A"): 1}), 5)
    ['A', 'B']
    """
    errors: Counter[str] = Counter()
    for (gold, system), count in pairs.items():
        if gold != system:
            errors.update({label: count for label in (gold, system) if label})
    return [label for label, _ in errors.most_common(most)]


def _words(docs: Sequence[Doc], layer: str) -> Iterator[tuple[Hashable, str]]:
    for before, doc in _reached(docs):
        starts, ends = doc.word_start.tolist(), doc.word_end.tolist()
        for start, end, label in zip(starts, ends, doc.column(layer), strict=True):
            yield (before[start], before[end]), label


def _spans(docs: Sequence[Doc], layer: str) -> Iterator[tuple[Hashable, str]]:
    for before, doc in _reached(docs):
        if layer not in doc.spans:
            continue
        for row in chars_of_words(doc, doc.spans[layer]):
            yield tuple((before[start], before[end]) for start, end in row.pieces), row.label


def _reached(docs: Sequence[Doc]) -> Iterator[tuple[list[int], Doc]]:
    """For each document, the number of characters that are not blank before each of its characters, over all."""
    total = 0
    for doc in docs:
        before = [total]
        for letter in doc.text:
            total += not letter.isspace()
            before.append(total)
        yield before, doc
