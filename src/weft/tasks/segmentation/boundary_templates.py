"""Templates of boundary features, compiled to tables of numbers.

A template is a number and atoms, `22 l0 r0 l1`. Its feature combines the gap at the boundary (none, space, line end),
the number and the values of the atoms, in this order. Models store these keys, so neither numbers nor the order of
atoms may change. Each group of templates fires only where it applies (`GROUPS`). A line end has the features of a space
and those of the last group, which tell lines that end because they are full from those that end on purpose.

| atom | at a boundary |
|---|---|
| `l0` to `l5`, `r0` to `r5` | the characters on the left and on the right, nearest first |
| `L0` to `L3`, `R0` to `R3` | their classes |
| `ending` `starting` `spanning` | segments of the longest known token that ends here, starts here, spans the boundary |
| `here` `there` | the part of the chunk between spaces that ends here, that starts here |
| `here.shape` `there.shape` | its classes, runs counted once |
| `previous` `next` | the chunk before `here`, after `there` |
| `next.class` | the class of the first character of `next` |
| `before` | the class of the last character of `previous`; of a line end, if one stands between |
| `lengths` | the lengths of `here` and `there`, up to 9 each |
| `word` `follower` | the last word of `here`, the first word of `there`, without surrounding punctuation |
| `word.length` | the length of `word`, up to 6 |
| `capitals` | whether `word` and `follower` start with capitals |
| `open` | whether a quotation, whether a bracket is open |
| `blanks` | the number of spaces in the paragraph before the boundary, up to 6 |
| `ahead` | the length of the rest of the paragraph, up to 12, in steps of 3 |
| `line` `next.line` | the length of the line that ends here and of the next one, in steps that grow |
| `room` | how much space the longest of the lines around has left after the first chunk of the next line |
| `first` | the class of the first character of the line |
| `mark` | the kind of the mark on the left, also of the one before closing marks |
| `=1` to `=4` | a constant: distinguishes templates with the same number |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.hashing import join

#: Number of characters and of character classes on each side that are atoms.
N_CHARACTERS, N_CLASSES = 6, 4
_AROUND = (
    *(f"l{k}" for k in range(N_CHARACTERS)), *(f"r{k}" for k in range(N_CHARACTERS)),
    *(f"L{k}" for k in range(N_CLASSES)), *(f"R{k}" for k in range(N_CLASSES)),
)  # fmt: skip
_NAMED = (
    "ending", "starting", "spanning", "here", "there", "here.shape", "there.shape", "previous", "next", "next.class",
    "lengths", "word", "follower", "word.length", "capitals", "open", "blanks", "ahead", "line", "next.line", "room",
    "first", "before", "mark",
)  # fmt: skip
_CONSTANTS = ("=1", "=2", "=3", "=4")
ATOMS = (*_AROUND, *_NAMED, *_CONSTANTS)
LEFT, RIGHT, LEFT_CLASS, RIGHT_CLASS = (ATOMS.index(name) for name in ("l0", "r0", "L0", "R0"))
(
    ENDING, STARTING, SPANNING, HERE, THERE, HERE_SHAPE, THERE_SHAPE, PREVIOUS, NEXT, NEXT_CLASS,
    LENGTHS, WORD, FOLLOWER, WORD_LENGTH, CAPITALS, OPEN, BLANKS, AHEAD, LINE_LENGTH, NEXT_LINE, ROOM, FIRST,
    BEFORE, MARK,
) = (ATOMS.index(name) for name in _NAMED)  # fmt: skip

#: Where each group applies, and its templates.
GROUPS = {
    "everywhere": (
        "1 L0 R0",
        "2 l1", "3 l2", "4 l3", "5 l4", "6 l5",
        "10 r0", "11 r1", "12 r2", "13 r3", "14 r4",
        "20 l0 l1", "21 r0 r1",
        "20 l0 l1 l2", "21 r0 r1 r2",
        "20 l0 l1 l2 l3", "21 r0 r1 r2 r3",
        "20 l0 l1 l2 l3 l4", "21 r0 r1 r2 r3 r4",
        "22 l0 r0", "22 l0 r0 l1", "22 l0 r0 r1 =1", "22 l0 r0 l1 r1 =2", "22 l0 r0 l1 l2 =3", "22 l0 r0 r1 r2 =4",
        "50 l1 r0", "51 l0 r1",
        "23 L1 L0 R0 R1", "23 L1 L0 R0 R1 L2 R2", "23 L1 L0 R0 R1 L2 R2 L3 R3",
        "24 L0 L1 L2 L3", "25 R0 R1 R2 R3",
    ),
    "at known tokens": ("26 ending", "27 starting", "28 spanning", "29 ending starting spanning"),
    "unless both sides are written without spaces": (
        "30 here", "31 there", "32 here there",
        "33 here.shape", "34 there.shape", "35 here.shape there.shape",
        "36 here R0", "37 there l0", "38 previous here", "39 there next", "40 lengths L0 R0",
    ),
    "the same, at gaps": (
        "52 previous", "53 next", "54 previous here there", "55 here there next", "56 mark capitals", "57 mark R0",
    ),
    "the same, with or without a gap": (
        "41 word l0 R0", "42 follower l0 capitals", "43 word follower", "44 word.length l0 R0 capitals",
        "45 L0 capitals next.class",
        "46 open l0 r0", "47 open L0 R0", "48 blanks ahead L0",
        "49 before here.shape R0",
    ),
    "at line ends": (
        "60 room line", "61 room line L0 R0", "62 room L0 R0", "63 line next.line L0", "64 first R0",
        "65 first R0 room", "66 room L0 capitals", "67 line L0 R0", "68 l0 r0", "69 here", "70 there",
    ),
}  # fmt: skip
EVERYWHERE, KNOWN_TOKENS, SPACED, SPACED_GAPS, SPACED_WORDS, LINE_ENDS = range(len(GROUPS))
#: Gaps at a boundary: none, space, line end.
_N_GAPS = 3


class Program(NamedTuple):
    """Templates as joins of nodes: `node[n] = join(node[sources[gap, n]], value[atoms[n]])`, in the order of n.

    The first nodes are the keys of a gap and a number; templates share the joins of their common prefixes. Indices are
    unsigned, so that kernels need not check for negative ones.
    """

    groups: Keys  # templates groups[g] to groups[g + 1] form group g ...
    joins: Keys  # ... and need the nodes joins[g] to joins[g + 1]
    sources: NDArray[np.uint32]
    atoms: NDArray[np.uint32]
    ends: NDArray[np.uint32]  # template -> its node
    values: Keys  # atom -> its initial value: constants are themselves, all others 0
    nodes: Keys  # the first nodes, and space for the others


def compile_templates(groups: Mapping[str, Sequence[str]]) -> Program:
    """Translate templates into arrays.

    >>> program = compile_templates({"everywhere": ["1 L0 R0", "1 L0 R0 L1"]})
    >>> program.joins.tolist(), program.ends.tolist(), [ATOMS[atom] for atom in program.atoms[3:]]
    ([3, 6], [4, 5], ['L0', 'R0', 'L1'])
    """
    templates = [[tuple(template.split()) for template in group] for group in groups.values()]
    numbers = list(dict.fromkeys(template[0] for group in templates for template in group))
    first = [join(np.uint64(gap + 1), np.uint64(number)) for gap in range(_N_GAPS) for number in numbers]
    sources: list[list[int]] = [[0] * _N_GAPS for _ in first]
    atoms = [0] * len(first)
    joins = [len(first)]
    node: dict[tuple[str, ...], int] = {}  # prefix of templates -> its node
    for group in templates:
        # All first atoms, then all second ones: a processor computes independent joins in parallel.
        for k in range(2, max(map(len, group)) + 1):
            for beginning in dict.fromkeys(template[:k] for template in group if len(template) >= k):
                if beginning not in node:
                    node[beginning] = len(atoms)
                    starts = [numbers.index(beginning[0]) + gap * len(numbers) for gap in range(_N_GAPS)]
                    sources.append(starts if k == 2 else [node[beginning[:-1]]] * _N_GAPS)
                    atoms.append(ATOMS.index(beginning[-1]))
        joins.append(len(atoms))
    return Program(
        np.cumsum([0, *map(len, templates)]).astype(np.uint64),
        np.array(joins, dtype=np.uint64),
        np.ascontiguousarray(np.array(sources, dtype=np.uint32).T),
        np.array(atoms, dtype=np.uint32),
        np.array([node[template] for group in templates for template in group], dtype=np.uint32),
        np.array([int(name[1:]) if name in _CONSTANTS else 0 for name in ATOMS], dtype=np.uint64),
        np.array([*first, *[0] * (len(atoms) - len(first))], dtype=np.uint64),
    )
