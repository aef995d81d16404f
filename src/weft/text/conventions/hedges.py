"""Cues and their scopes: what a sentence says with reservation (or denies), and the words that say so.

A document keeps them in one span layer, `speculation` by default: spans labelled `cue` (in several pieces where the cue
has gaps), `scope` and `uncertain` (a whole sentence). The relation layer of the same name leads from each cue to its
scope. Here they are `Hedge`s, counted in words of their sentence.

Scopes are written as nested elements, so that all scopes of a sentence must form brackets: for any two of them

    disjoint, or one inside the other;      none begins or ends inside a piece of a cue;      each holds its own cue.

`assemble` makes such scopes of any label sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.errors import DataError
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer, words_of_chars
from weft.text.schemes import decode

LAYER = "speculation"
CUE, SCOPE, UNCERTAIN = "cue", "scope", "uncertain"
Range = tuple[int, int]


@dataclass(frozen=True)
class Hedge:
    """The words of a cue, rising, and its scope as a half-open range of words; `None` where it has no scope."""

    cue: tuple[int, ...]
    scope: Range | None = None

    @property
    def pieces(self) -> tuple[Range, ...]:
        """The runs of words of the cue.

        >>> Hedge((1, 2, 5), (0, 7)).pieces
        ((1, 3), (5, 6))
        """
        return runs(self.cue)


def runs(words: Sequence[int]) -> tuple[Range, ...]:
    """Rising numbers as half-open runs.

    >>> runs([0, 1, 4])
    ((0, 2), (4, 5))
    """
    found: list[Range] = []
    for word in words:
        if found and found[-1][1] == word:
            found[-1] = (found[-1][0], word + 1)
        else:
            found.append((word, word + 1))
    return tuple(found)


def hedges_of(doc: Doc, layer: str = LAYER) -> list[list[Hedge]]:
    """The cues of every sentence with their scopes, by their first words; what leaves its sentence is left out.

    >>> doc = Doc.from_words([["It", "rains"], ["It", "may", "rain"]])
    >>> set_hedges(doc, [[], [Hedge((1,), (1, 3))]])
    >>> hedges_of(doc)
    [[], [Hedge(cue=(1,), scope=(1, 3))]]
    """
    spans = words_of_chars(doc, _layer(doc, layer))
    scope_of = {}
    if layer in doc.relations:
        scope_of = {cue: scope for cue, scope, label in doc.relations[layer] if label == SCOPE}
    found: list[list[Hedge]] = [[] for _ in range(doc.n_sentences)]
    offsets = doc.sentence_offsets
    rows = list(spans)
    for number, (pieces, label) in enumerate(rows):
        if label != CUE:
            continue
        sentence = int(np.searchsorted(offsets, pieces[0][0], side="right")) - 1
        first, end = int(offsets[sentence]), int(offsets[sentence + 1])
        cue = tuple(sorted({word - first for start, stop in pieces for word in range(start, stop)}))
        scope = None
        if number in scope_of:
            places = rows[scope_of[number]].pieces
            scope = (min(start for start, _ in places) - first, max(stop for _, stop in places) - first)
        if cue[-1] >= end - first or (scope is not None and not 0 <= scope[0] < scope[1] <= end - first):
            continue
        found[sentence].append(Hedge(cue, scope))
    return [sorted(hedges, key=lambda hedge: hedge.cue) for hedges in found]


def uncertain_of(doc: Doc, layer: str = LAYER) -> list[bool]:
    """Whether each sentence is uncertain: marked as such, or with a cue.

    >>> doc = Doc.from_words([["It", "rains"], ["It", "may", "rain"]])
    >>> set_hedges(doc, [[], [Hedge((1,), (1, 3))]])
    >>> uncertain_of(doc)
    [False, True]
    """
    found = [False] * doc.n_sentences
    for pieces, label in words_of_chars(doc, _layer(doc, layer)):
        if label in (CUE, UNCERTAIN):
            found[int(np.searchsorted(doc.sentence_offsets, pieces[0][0], side="right")) - 1] = True
    return found


def set_hedges(
    doc: Doc, hedges: Sequence[Sequence[Hedge]], layer: str = LAYER, uncertain: Sequence[bool] | None = None
) -> None:
    """Write cues, scopes and uncertain sentences (by default those with a cue) into a document."""
    spans = SpanLayer(doc.strings)
    relations = RelationLayer(doc.strings, layer)
    marked = [bool(each) for each in hedges] if uncertain is None else uncertain
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        if marked[number]:
            spans.add([(first, end)], UNCERTAIN)
        for hedge in hedges[number]:
            cue = spans.add([(first + start, first + stop) for start, stop in hedge.pieces], CUE)
            if hedge.scope is not None:
                scope = spans.add([(first + hedge.scope[0], first + hedge.scope[1])], SCOPE)
                relations.add(cue, scope, SCOPE)
    doc.spans[layer] = spans
    doc.relations[layer] = relations


def scope_labels(scope: Range | None, length: int) -> list[str]:
    """A scope as labels B, I, O.

    >>> scope_labels((1, 3), 4)
    ['O', 'B', 'I', 'O']
    """
    if scope is None:
        return ["O"] * length
    return ["O" if not scope[0] <= i < scope[1] else "B" if i == scope[0] else "I" for i in range(length)]


def proposed_scope(labels: Sequence[str], cue: Sequence[int]) -> Range | None:
    """The scope that labels B, I, O propose for a cue: from the first to the last run that lies beside or around it.

    A run that touches the cue is kept, runs apart from it are not; `None` where no run touches the cue.

    >>> proposed_scope(["B", "O", "B", "I", "I"], [3])
    (2, 5)
    >>> proposed_scope(["B", "O", "O"], [2]) is None
    True
    """
    found = [(start, end) for start, end, _ in decode([_typed(label) for label in labels], strict=False)]
    near = [(start, end) for start, end in found if start <= cue[-1] + 1 and end >= cue[0]]
    if not near:
        return None
    return min(start for start, _ in near), max(end for _, end in near)


def assemble(cues: Sequence[Sequence[int]], scopes: Sequence[Range | None], length: int) -> list[Range]:
    """Scopes that form brackets, from any proposals, one a cue: those that cannot be placed become the whole sentence.

    All proposals are read in parallel from left to right with a stack of the scopes that are open. A scope is opened
    only if it ends no later than the one open around it, and only between cues, so that the first of two crossing
    scopes stands.

    >>> assemble([[1], [4]], [(1, 5), (3, 8)], 9)  # the second crosses the first
    [(1, 5), (0, 9)]
    >>> assemble([[1, 2]], [(2, 5)], 9)  # begins inside its cue
    [(0, 9)]
    """
    whole = (0, length)
    inside = {word for cue in cues for start, end in runs(sorted(cue)) for word in range(start + 1, end)}
    placed = [whole] * len(cues)
    opening: dict[int, list[int]] = {}
    for number, (cue, scope) in enumerate(zip(cues, scopes, strict=True)):
        if scope is None or scope[0] in inside or scope[1] in inside:
            continue
        if 0 <= scope[0] <= min(cue) and max(cue) < scope[1] <= length:
            opening.setdefault(scope[0], []).append(number)
    open_ends: list[int] = [length]
    for word in range(length):
        while open_ends[-1] <= word:
            open_ends.pop()
        # Of scopes that begin together the longest is the outermost.
        for number in sorted(opening.get(word, []), key=lambda k: -(scopes[k] or whole)[1]):
            scope = scopes[number] or whole
            if scope[1] <= open_ends[-1]:
                open_ends.append(scope[1])
                placed[number] = scope
    return placed


def _typed(label: str) -> str:
    return label if label == "O" else f"{label}-{SCOPE}"


def _layer(doc: Doc, layer: str) -> SpanLayer:
    if layer not in doc.spans:
        known = ", ".join(doc.spans) or "none"
        raise DataError(f"the data has no span layer {layer!r} (it has: {known}); set layer=NAME")
    return doc.spans[layer]
