"""Selectional restrictions: boolean trees over signed types, such as `+animate | (+concrete & -region)`.

    holds(+t, s) = t in s      holds(-t, s) = t not in s      and: every part holds      or: some part holds

A sense s is a set of types, as bits. Some of its types may not be known: a part that asks for one of them holds, so
that nothing is called a violation that only might be one. A group without parts holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from weft.errors import DataError

_PIECES = re.compile(r"(?<!\s)\s*(?:([+-][A-Za-z_]+)|([()|&]))")


class Restriction(NamedTuple):
    """What may fill a role: signed types that hold together, or one of which must hold; groups may nest.

    >>> str(Restriction(("+animate", Restriction(("+concrete", "+region")))))
    '+animate & (+concrete & +region)'
    """

    parts: tuple[str | Restriction, ...] = ()
    any_of: bool = False

    @classmethod
    def parse(cls, text: str, where: str = "") -> Restriction:
        """Read what `str` writes.

        >>> Restriction.parse("+animate | (+concrete & -region)")
        Restriction(parts=('+animate', Restriction(parts=('+concrete', '-region'), any_of=False)), any_of=True)
        >>> Restriction.parse("animate", "patches.tsv, line 3")
        Traceback (most recent call last):
        ...
        weft.errors.DataError: patches.tsv, line 3: expected restrictions as in '+animate | +region', got 'animate'
        """
        wrong = DataError(
            f"{where or 'a restriction'}: expected restrictions as in '+animate | +region', got {text[:200]!r}"
        )
        open_groups: list[tuple[list[str | Restriction], set[str]]] = [([], set())]
        at, wants_part = 0, True
        while text[at:].strip():
            piece = _PIECES.match(text, at)
            if piece is None or len(open_groups) > 50:
                raise wrong
            at = piece.end()
            literal, sign = piece.groups()
            parts, signs = open_groups[-1]
            if wants_part != (literal is not None or sign == "("):
                raise wrong
            if literal is not None:
                parts.append(literal)
                wants_part = False
            elif sign == "(":
                open_groups.append(([], set()))
            elif sign == ")":
                open_groups.pop()
                if not open_groups:
                    raise wrong
                open_groups[-1][0].append(cls(tuple(parts), "|" in signs))
            else:
                signs.add(sign)
                wants_part = True
            if len(signs) > 1:
                raise wrong
        parts, signs = open_groups[-1]
        if len(open_groups) > 1 or (wants_part and parts):
            raise wrong
        return cls(tuple(parts), "|" in signs)

    def types(self) -> Iterator[str]:
        """All signed types, nested ones included."""
        for part in self.parts:
            if isinstance(part, str):
                yield part
            else:
                yield from part.types()

    def holds(self, bits: Mapping[str, int], has: int, known: int = -1) -> bool:
        """Whether a sense satisfies the restriction: it `has` some types out of those that are `known` of it.

        `bits` gives the bit of every type; a type without a bit restricts nothing.

        >>> bits = {"animate": 1, "concrete": 2}
        >>> may = Restriction.parse("+concrete & -animate")
        >>> [may.holds(bits, sense) for sense in (0, 1, 2, 3)]
        [False, False, True, False]
        >>> may.holds(bits, 0, known=1), may.holds(bits, 1, known=1), may.holds({}, 0)
        (True, False, True)
        """
        if not self.parts:
            return True
        return (any if self.any_of else all)(
            part.holds(bits, has, known) if isinstance(part, Restriction) else _holds(part, bits, has, known)
            for part in self.parts
        )

    def __str__(self) -> str:
        joined = [part if isinstance(part, str) else f"({part})" for part in self.parts]
        return (" | " if self.any_of else " & ").join(joined)


def _holds(part: str, bits: Mapping[str, int], has: int, known: int) -> bool:
    bit = bits.get(part[1:], 0)
    if not bit & known:
        return True
    return bool(has & bit) == (part[0] == "+")
