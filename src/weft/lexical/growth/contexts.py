"""From the occurrences of known entities to automata of their contexts.

    context      c = W words before an occurrence, the slot, one word after it
    dominating   d_c = argmax_{w in c} idf(w)
    triggers     the n words that dominate most contexts
    segments     of a trigger w: from w through the slot and the word after it, of every context that contains w

The segments of one trigger form one `TokenAutomaton`, pruned by the posteriors of its transitions. For patterns to the
right of the slot, sentences are read backwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints, Keys
from weft.errors import InferenceError
from weft.features.gazetteer import Gazetteer
from weft.kernel import kernel
from weft.lexical.growth.automata import TokenAutomaton
from weft.lexical.growth.token_store import EDGE, SLOT, Piece, TokenStore


class Contexts(NamedTuple):
    """Contexts of one class: `before[i]` are the words before the slot, nearest last, 0 where there is none."""

    before: Ids  # [context, W]
    after: Ids  # the word after the slot


def seed_places(piece: Piece, seeds: Gazetteer, keys: Keys, capitalized: Bools | None) -> Ints:
    """Rows (first, end, class) of seeds in a piece of text.

    With `capitalized` (a flag per word), seeds next to a capitalized word are skipped: they may be part of a longer
    name, as California is in University of California.
    """
    places = seeds.occurrences(keys[piece.tokens], piece.sentences)
    if capitalized is None or not len(places):
        return places
    return places[_stand_alone(places, piece.tokens, piece.sentences, capitalized)]


def contexts_at(piece: Piece, places: Ints, window: int, n_classes: int, right: bool = False) -> list[Contexts]:
    """The contexts of occurrences, by class; with `right`, those after the slot, read backwards.

    >>> piece = Piece(np.array([9, 8, 5, 6, 7], dtype=np.int32), np.array([0, 5]))
    >>> contexts_at(piece, np.array([[2, 4, 0]]), 3, 1)[0]
    Contexts(before=array([[0, 9, 8]], dtype=int32), after=array([7], dtype=int32))
    >>> contexts_at(piece, np.array([[2, 4, 0]]), 3, 1, right=True)[0]
    Contexts(before=array([[0, 0, 7]], dtype=int32), after=array([8], dtype=int32))
    """
    before = np.zeros((len(places), window), dtype=np.int32)
    after = np.empty(len(places), dtype=np.int32)
    _fill_contexts(places, piece.tokens, piece.sentences, right, before, after)
    return [Contexts(before[places[:, 2] == c], after[places[:, 2] == c]) for c in range(n_classes)]


def dominating_words(contexts: Contexts, idf: Floats) -> Ids:
    """The word with the highest idf in every context, the nearest to the slot among ties; 0 for an empty context.

    >>> contexts = Contexts(np.array([[3, 4, 3], [0, 0, 0]], dtype=np.int32), np.array([4, 4], dtype=np.int32))
    >>> dominating_words(contexts, np.array([0.0, 0.0, 0.0, 0.5, 2.0])).tolist()
    [4, 0]
    """
    if not contexts.before.size:
        return np.zeros(len(contexts.before), dtype=np.int32)
    weights = np.where(contexts.before > SLOT, idf[contexts.before], -1.0)[:, ::-1]
    nearest = contexts.before[:, ::-1]
    return nearest[np.arange(len(nearest)), np.argmax(weights, axis=1)]


def trigger_words(dominating: Ids, n: int) -> Ids:
    """The `n` words that dominate most contexts; ties go to the first in string order.

    >>> trigger_words(np.array([7, 5, 5, 0, 7, 9], dtype=np.int32), 2).tolist()
    [5, 7]
    """
    words, multiplicity = np.unique(dominating[dominating > SLOT], return_counts=True)
    return words[np.argsort(-multiplicity, kind="stable")[:n]]


def segments(contexts: Contexts, triggers: Ids) -> dict[int, tuple[Ints, Ints]]:
    """The segments of every trigger as one array of tokens and offsets.

    >>> contexts = Contexts(np.array([[8, 3, 9]], dtype=np.int32), np.array([4], dtype=np.int32))
    >>> segments(contexts, np.array([3], dtype=np.int32))
    {3: (array([3, 9, 2, 4]), array([0, 4]))}
    """
    rows, columns = np.nonzero(np.isin(contexts.before, triggers))
    words = contexts.before[rows, columns]
    # If a trigger occurs twice in a context, use the one nearer to the slot: its segment does not repeat it.
    order = np.lexsort((columns, rows, words))
    rows, columns, words = rows[order], columns[order], words[order]
    last = np.ones(len(rows), dtype=bool)
    last[:-1] = (rows[1:] != rows[:-1]) | (words[1:] != words[:-1])
    rows, columns, words = rows[last], columns[last], words[last]
    segments: dict[int, tuple[Ints, Ints]] = {}
    window = contexts.before.shape[1]
    for first, end in zip(*_runs(words), strict=True):
        chosen, starts = rows[first:end], columns[first:end]
        whole = np.column_stack(
            [contexts.before[chosen], np.full(len(chosen), SLOT, dtype=np.int32), contexts.after[chosen]]
        )
        kept = np.arange(window + 2)[None, :] >= starts[:, None]
        offsets = np.concatenate([[0], np.cumsum(window + 2 - starts)])
        segments[int(words[first])] = (whole[kept].astype(np.int64), offsets.astype(np.int64))
    return segments


def induce(contexts: Contexts, idf: Floats, triggers: int, k: float) -> dict[int, TokenAutomaton]:
    """The pruned automata of the contexts of a class, by trigger."""
    automata: dict[int, TokenAutomaton] = {}
    for trigger, (tokens, offsets) in segments(
        contexts, trigger_words(dominating_words(contexts, idf), triggers)
    ).items():
        try:
            automata[trigger] = TokenAutomaton.induce_ragged(tokens, offsets).prune(k)
        except InferenceError:  # the strongest transitions form a cycle: nothing can match
            continue
    return automata


def gather(
    store: TokenStore, seeds: Mapping[str, Sequence[str]], window: int, whole_names: bool, sides: Sequence[bool]
) -> dict[bool, list[Contexts]]:
    """The contexts of all seeds in a text: for each side (False: left of the slot) one `Contexts` per class."""
    gazetteer = Gazetteer(seeds)
    keys = store.keys
    capitalized = np.array([word[:1].isupper() for word in store.words]) if whole_names else None
    collected: dict[bool, list[list[Contexts]]] = {side: [[] for _ in seeds] for side in sides}
    for number in range(len(store)):
        piece = store.piece(number)
        places = seed_places(piece, gazetteer, keys, capitalized)
        for side in sides:
            for c, each in enumerate(contexts_at(piece, places, window, len(seeds), side)):
                collected[side][c].append(each)
    return {
        side: [
            Contexts(np.concatenate([part.before for part in parts]), np.concatenate([part.after for part in parts]))
            for parts in by_class
        ]
        for side, by_class in collected.items()
    }


def _runs(values: Ids) -> tuple[list[int], list[int]]:
    """Start and end of every run of equal values."""
    borders = np.flatnonzero(np.diff(values)) + 1
    firsts = [0, *borders.tolist()] if len(values) else []
    return firsts, [*firsts[1:], len(values)] if firsts else []


@kernel
def _stand_alone(places: Ints, tokens: Ids, sentences: Ints, capitalized: Bools) -> Bools:
    """Which occurrences have no capitalized word next to them in their sentence."""
    out = np.ones(len(places), dtype=np.bool_)
    s = 0
    for i in range(len(places)):
        first, end = places[i, 0], places[i, 1]
        while sentences[s + 1] <= first:
            s += 1
        if first > sentences[s] and capitalized[tokens[first - 1]]:
            out[i] = False
        if end < sentences[s + 1] and capitalized[tokens[end]]:
            out[i] = False
    return out


@kernel
def _fill_contexts(places: Ints, tokens: Ids, sentences: Ints, right: bool, before: Ids, after: Ids) -> None:
    s = 0
    window = before.shape[1]
    for i in range(len(places)):
        first, end = places[i, 0], places[i, 1]
        while sentences[s + 1] <= first:
            s += 1
        left_word = tokens[first - 1] if first > sentences[s] else EDGE
        right_word = tokens[end] if end < sentences[s + 1] else EDGE
        after[i] = left_word if right else right_word
        for j in range(window):
            if right:
                if end + j < sentences[s + 1]:
                    before[i, window - 1 - j] = tokens[end + j]
            elif first - 1 - j >= sentences[s]:
                before[i, window - 1 - j] = tokens[first - 1 - j]
