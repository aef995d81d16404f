"""Scores of relation tuples: a tuple is right only if its relation, all its slots and all their mentions are right.

    P = correct / predicted     R = correct / gold     F = 2 P R / (P + R)

Counts are per sentence, or per document where tuples cross sentences, in total and by the number of filled slots; pairs
of mentions that stand together in a tuple are counted besides.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import combinations

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.tuples import LAYER, tuple_rows
from weft.text.doc import Doc
from weft.text.layers import chars_of_words

#: A tuple: its relation, and its slots with their mentions.
Tuple = tuple[str, frozenset[tuple[str, Hashable]]]
#: Tuples of more slots are counted together.
LARGEST = 6


def score_tuples(gold: Sequence[Collection[Tuple]], system: Sequence[Collection[Tuple]], arity: int = 0) -> Counts:
    """Counts of tuples per unit; of those of one arity only if it is given (`LARGEST` counts larger ones too).

    >>> one = ("work", frozenset([("who", 0), ("where", 1)]))
    >>> other = ("work", frozenset([("who", 0), ("where", 1), ("does", 2)]))
    >>> score_tuples([{one}], [{one, other}]).total().precision
    0.5
    >>> score_tuples([{one}], [{other}], arity=3).total().system
    1
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} units, system has {len(system)}; both must have the same")

    def chosen(tuples: Collection[Tuple]) -> set[Tuple]:
        return {each for each in tuples if not arity or min(len(each[1]), LARGEST) == arity}

    sides = [(chosen(one), chosen(other)) for one, other in zip(gold, system, strict=True)]
    return Counts.of(
        [len(one) for one, _ in sides], [len(other) for _, other in sides], [len(one & other) for one, other in sides]
    )


def pairs_of(tuples: Collection[Tuple]) -> set[Hashable]:
    """All pairs of filled slots that stand together in a tuple.

    >>> len(pairs_of([("work", frozenset([("who", 0), ("where", 1), ("does", 2)]))]))
    3
    """
    return {(label, frozenset(pair)) for label, members in tuples for pair in combinations(members, 2)}


def score_pairs(gold: Sequence[Collection[Tuple]], system: Sequence[Collection[Tuple]]) -> Counts:
    """Counts of pairs per unit."""
    sides = [(pairs_of(one), pairs_of(other)) for one, other in zip(gold, system, strict=True)]
    return Counts.of(
        [len(one) for one, _ in sides], [len(other) for _, other in sides], [len(one & other) for one, other in sides]
    )


def evaluate_tuples(gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER) -> dict[str, Counts]:
    """Counts of the documents of two sides: tuples, by arity if there are several, and pairs of mentions.

    Mentions are compared by their characters.
    """
    ours, theirs = ([placed_tuples(doc, layer) for doc in docs] for docs in (gold, system))
    counts = {"tuples": score_tuples(ours, theirs)}
    arities = sorted({min(len(members), LARGEST) for tuples in ours for _, members in tuples})
    if len(arities) > 1:
        names = {arity: f"{arity} slots" if arity < LARGEST else f"{arity} slots or more" for arity in arities}
        counts |= {names[arity]: score_tuples(ours, theirs, arity) for arity in arities}
    counts["pairs"] = score_pairs(ours, theirs)
    labels = sorted({label for tuples in ours for label, _ in tuples})
    if len(labels) > 1:
        for label in labels:
            own = [[each for each in tuples if each[0] == label] for tuples in ours]
            counts[label] = score_tuples(own, [[each for each in tuples if each[0] == label] for tuples in theirs])
    return counts


def placed_tuples(doc: Doc, layer: str = LAYER) -> set[Tuple]:
    """The tuples of a document with their mentions as characters."""
    rows = tuple_rows(doc, layer)
    if not rows:
        return set()
    spans = chars_of_words(doc, doc.spans[doc.relations[layer].spans])
    return {(row.label, frozenset((slot, spans[number].pieces) for slot, number in row.members)) for row in rows}
