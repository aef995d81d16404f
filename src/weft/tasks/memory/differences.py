"""What differs between a segment and its match, for people to read.

Save the [-old-] {+new+} file.        words of the match alone in [-...-], words of the segment alone in {+...+}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from weft.infer.fuzzy.distance import edit_links

Kind = Literal["same", "added", "removed"]


class Piece(NamedTuple):
    """Neighbouring words of one kind: in both, in the segment only, or in the match only."""

    kind: Kind
    words: tuple[str, ...]


def pieces(segment: Sequence[str], match: Sequence[str]) -> list[Piece]:
    """The pieces of a segment and its match, in order.

    >>> [tuple(piece) for piece in pieces("save the new file".split(), "save the old file now".split())]
    [('same', ('save', 'the')), ('removed', ('old',)), ('added', ('new',)), ('same', ('file',)), ('removed', ('now',))]
    """
    known = dict[str, int]()
    sides = [[known.setdefault(word.lower(), len(known)) for word in side] for side in (segment, match)]
    links = edit_links(np.array(sides[0], np.int32), np.array(sides[1], np.int32)).tolist()
    found: list[Piece] = []
    added: list[str] = []
    removed: list[str] = []

    def close() -> None:
        if removed:
            found.append(Piece("removed", tuple(removed)))
        if added:
            found.append(Piece("added", tuple(added)))
        added.clear()
        removed.clear()

    at = 0
    for own, place in enumerate(links):
        if place < 0:
            added.append(segment[own])
            continue
        removed.extend(match[at:place])
        at = place + 1
        if sides[0][own] != sides[1][place]:
            removed.append(match[place])
            added.append(segment[own])
            continue
        close()
        if found and found[-1].kind == "same":
            found[-1] = Piece("same", (*found[-1].words, segment[own]))
        else:
            found.append(Piece("same", (segment[own],)))
    removed.extend(match[at:])
    close()
    return found


def shown(found: Sequence[Piece]) -> str:
    """Pieces as text.

    >>> shown(pieces("save the new file".split(), "save the old file".split()))
    'save the [-old-] {+new+} file'
    """
    marks = {"same": ("", ""), "added": ("{+", "+}"), "removed": ("[-", "-]")}
    return " ".join(f"{marks[piece.kind][0]}{' '.join(piece.words)}{marks[piece.kind][1]}" for piece in found)


def html(found: Sequence[Piece]) -> str:
    """Pieces as HTML, with `<ins>` and `<del>`.

    >>> html([Piece("removed", ("a<b",)), Piece("same", ("c",))])
    '<del>a&lt;b</del> c'
    """
    from html import escape

    tags = {"same": "{}", "added": "<ins>{}</ins>", "removed": "<del>{}</del>"}
    return " ".join(tags[piece.kind].format(escape(" ".join(piece.words))) for piece in found)
