"""Mentions in dependency trees: pronouns, names and other noun phrases with all that belongs to them.

A mention is a nominal word (NOUN, PROPN, PRON) with its dependents, without what precedes or follows the phrase itself:
case markers, conjunctions, punctuation at its ends, other conjuncts, and the subject and copula of a predicate. A
coordination is a mention of its own. As in the sieve system of Lee et al. (2011), left out are expletives, quantities,
percentages and sums of money, heads of partitives, names of peoples used as modifiers, words that stop a phrase, and
any mention that shares its head with a larger one. Rules read universal tags, features and relations only, so they hold
for every treebank of Universal Dependencies.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from weft.arrays import Ints
from weft.text.doc import Doc

NOMINAL, PROPER, PRONOUN = 0, 1, 2
_HEADS = {"NOUN": NOMINAL, "PROPN": PROPER, "PRON": PRONOUN}
#: Relations of dependents that are no part of the noun phrase.
_OUTSIDE = frozenset((
    "case", "cc", "conj", "punct", "mark", "cop", "aux", "nsubj", "csubj", "advcl", "parataxis", "discourse",
    "vocative", "dislocated", "expl", "list", "orphan", "reparandum", "obl", "ccomp", "xcomp",
))  # fmt: skip
#: Entities that are numbers in words, by the labels of OntoNotes.
_QUANTITIES = frozenset(("PERCENT", "MONEY", "QUANTITY", "CARDINAL", "ORDINAL"))
_MODIFIERS = frozenset(("amod", "compound", "flat", "fixed", "goeswith"))


class Mention(NamedTuple):
    """The words of a mention and its head, counted in the document."""

    start: int
    end: int
    head: int


class Trees(NamedTuple):
    """The dependency trees of a document over its words: governors (-1: none), and the words that each governs.

    `low` and `high` bound the words below a word; `enter` and `leave` number a walk through the trees, so that u is
    below v if enter[v] <= enter[u] < leave[v].
    """

    governor: Ints
    low: Ints
    high: Ints
    enter: Ints
    leave: Ints
    children: list[list[int]]


def trees_of(doc: Doc) -> Trees:
    """The trees of a document; words without a head stand alone."""
    n = doc.n_words
    governor = np.full(n, -1, dtype=np.int64)
    if doc.head is not None:
        bounds = doc.sentence_offsets
        first = np.repeat(bounds[:-1], np.diff(bounds)).astype(np.int64)
        size = np.repeat(np.diff(bounds), np.diff(bounds))
        inside = (doc.head > 0) & (doc.head <= size)
        governor = np.where(inside, first + doc.head - 1, -1).astype(np.int64)
    children: list[list[int]] = [[] for _ in range(n)]
    for word, own in enumerate(governor.tolist()):
        if own >= 0:
            children[own].append(word)
    low, high = np.arange(n), np.arange(1, n + 1)
    enter, leave = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    clock = 0
    for root in np.flatnonzero(governor < 0).tolist():
        stack = [(root, 0)]
        enter[root] = clock
        clock += 1
        while stack:
            word, seen = stack.pop()
            if seen < len(children[word]):
                stack.append((word, seen + 1))
                child = children[word][seen]
                enter[child] = clock
                clock += 1
                stack.append((child, 0))
            else:
                leave[word] = clock
                if governor[word] >= 0:
                    above = governor[word]
                    low[above], high[above] = min(low[above], low[word]), max(high[above], high[word])
    return Trees(governor, low, high, enter, leave, children)


def detect(doc: Doc, trees: Trees, entities: str = "entities", possessive: bool = False) -> list[Mention]:
    """The mentions of a tagged and parsed document, in text order, longer ones first.

    With `possessive`, the mark of a possessor belongs to it ("the queen's"), as in OntoNotes.

    >>> doc = Doc.from_words([["The", "queen", "of", "Spain", "saw", "it", "."]],
    ...     upos=[["DET", "NOUN", "ADP", "PROPN", "VERB", "PRON", "PUNCT"]], head=[[2, 5, 4, 2, 0, 5, 5]],
    ...     deprel=[["det", "nsubj", "case", "nmod", "root", "obj", "punct"]])
    >>> [" ".join(doc.column("form")[start:end]) for start, end, _ in detect(doc, trees_of(doc))]
    ['The queen of Spain', 'Spain', 'it']
    """
    tags, relations, feats = doc.column("upos"), doc.column("deprel"), doc.column("feats")
    plain = [relation.partition(":")[0] for relation in relations]
    skipped = _quantities(doc, entities)
    found: dict[int, Mention] = {}
    groups: list[Mention] = []
    for word, tag in enumerate(tags):
        if tag not in _HEADS or word in skipped or _is_no_mention(word, tags, plain, relations, feats, trees):
            continue
        start, end = _extent(word, trees, plain, tags)
        if possessive and end < len(tags) and tags[end] == "PART" and trees.governor[end] == word:
            end += 1
        found[word] = Mention(start, end, word)
        others = [child for child in trees.children[word] if plain[child] == "conj" and tags[child] in _HEADS]
        if others:
            last = max(_extent(child, trees, plain, tags)[1] for child in others)
            groups.append(Mention(start, max(end, last), word))
    for start, end in _named(doc, entities, skipped):
        inside = [word for word in range(start, end) if not start <= trees.governor[word] < end]
        head = inside[-1] if inside else end - 1
        if head not in found and plain[head] not in _MODIFIERS and tags[head] in _HEADS:
            found[head] = Mention(start, end, head)
    spans = {(mention.start, mention.end): mention for mention in groups}
    spans.update({(mention.start, mention.end): mention for mention in found.values()})
    return sorted(spans.values(), key=lambda mention: (mention.start, -mention.end))


def given(doc: Doc, spans: list[tuple[int, int]], trees: Trees) -> list[Mention]:
    """Mentions that are given by their words; the head is the word whose governor is outside, nouns before others."""
    tags = doc.column("upos")
    found = []
    for start, end in spans:
        tops = [word for word in range(start, end) if not start <= trees.governor[word] < end]
        nominal = [word for word in tops if tags[word] in _HEADS]
        found.append(Mention(start, end, (nominal or tops or [end - 1])[0]))
    return found


def marks_possessors(doc: Doc, spans: list[tuple[int, int]], trees: Trees) -> int:
    """How many more of the given possessors end with their mark than before it."""
    tags = doc.column("upos")
    total = 0
    for _, end in spans:
        if tags[end - 1] == "PART" and trees.governor[end - 1] >= 0:
            total += 1
        elif end < len(tags) and tags[end] == "PART" and trees.governor[end] == end - 1 and _is_mark(end, trees):
            total -= 1
    return total


def _is_mark(word: int, trees: Trees) -> bool:
    return not trees.children[word]


def kind_of(tag: str) -> int:
    """NOMINAL, PROPER or PRONOUN, by the universal tag of a mention's head."""
    return _HEADS.get(tag, NOMINAL)


def _is_no_mention(
    word: int, tags: list[str], plain: list[str], relations: list[str], feats: list[str], trees: Trees
) -> bool:
    if plain[word] in ("expl", "fixed", "goeswith", "flat", "reparandum") or plain[word] in ("compound",):
        return plain[word] != "compound" or tags[word] != "PROPN"
    if relations[word] == "nmod:desc":
        return True
    if tags[word] == "PRON" and ("PronType=Rel" in feats[word] or "PronType=Int" in feats[word]):
        return True
    return tags[word] == "NOUN" and plain[word] in ("amod", "advmod", "case", "mark", "cc", "discourse")


def _extent(word: int, trees: Trees, plain: list[str], tags: list[str]) -> tuple[int, int]:
    """The words of a phrase, without punctuation at its ends."""
    start, end = word, word + 1
    for child in trees.children[word]:
        relation = plain[child]
        if relation in _OUTSIDE:
            continue
        start, end = min(start, int(trees.low[child])), max(end, int(trees.high[child]))
    while start < word and tags[start] in ("PUNCT", "ADP", "CCONJ", "SCONJ"):
        start += 1
    while end - 1 > word and tags[end - 1] == "PUNCT":
        end -= 1
    return start, end


def _quantities(doc: Doc, entities: str) -> set[int]:
    layer = doc.spans.get(entities)
    if layer is None or layer.unit != "words":
        return set()
    rows = [row for row in layer if row.label in _QUANTITIES]
    return {word for row in rows for start, end in row.pieces for word in range(start, end)}


def _named(doc: Doc, entities: str, skipped: set[int]) -> list[tuple[int, int]]:
    layer = doc.spans.get(entities)
    if layer is None or layer.unit != "words":
        return []
    rows = [row.pieces[0] for row in layer if len(row.pieces) == 1]
    return [(start, end) for start, end in rows if start not in skipped]


def sentence_numbers(doc: Doc) -> Ints:
    """The sentence of every word."""
    bounds = doc.sentence_offsets.tolist()
    numbers = np.zeros(doc.n_words, dtype=np.int64)
    for number, (first, end) in enumerate(pairwise(bounds)):
        numbers[first:end] = number
    return numbers
