"""Templates over the arcs of finished trees, compiled to tables of numbers.

    "arc|d.w d.t|l.t|side arc|B"    three templates; a template is one or more atoms, joined by |

| atom | of the arc from head h to dependent d |
|---|---|
| `h.F d.F l.F r.F f.F e.F g.F` | field F of head, dependent, nearest left and right sibling, first and last child of d, grandparent |
| `side` | whether the dependent stands before its head or after it |
| `arc` | side and tags of head and dependent in one |
| `affixes` | which affixes (a b y z) head and dependent share |
| `border` | whether the dependent is the first or the last word of the sentence |
| `alike` | whether a sibling to the left, to the right has the dependent's tag |
| `between` | whether a word between has another head, and whether one is not below the head: the arc crosses others |
| `place` | whether d is its head's leftmost or rightmost dependent, or the nearest on its side |
| `children` | number of children of d, up to 4 |
| `turn` | whether d stands before the head, is the first one behind it, or a later one |
| `B C` | one feature for every tag among the words between, among the children of d |
| `H D L R` | one feature for every morphological feature of head, dependent, left and right sibling |
| `A G` | one feature for every morphological attribute that d and its head, d and its grandparent both have, with whether they agree in its value |

A template with an atom that is not there fires no feature; a missing sibling has a tag of its own.
"""  # noqa: E501

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.errors import TemplateError
from weft.hashing import hash_strings

#: Fields of words by their letters; a table of words may lack any of them.
LETTERS = "wmtxabyz"
WORDS = "hdlrfeg"
SETS = "BCHDLRAG"
FLAGS = ("one", "side", "arc", "affixes", "border", "alike", "between", "place", "children", "turn")
#: Atoms of a template, sets not counted.
WIDTH = 3

#: The groups of McDonald, Lerman & Pereira (2006), with conjunctions of our own; no search among them was made.
EDGE = (
    "side side|h.t side|d.t arc h.t|d.t side|h.w side|d.w side|h.x side|d.x side|h.x|d.x side|h.w|d.t side|d.w|h.t "
    "side|h.m|d.m h.w|d.w side|h.m|d.t side|d.m|h.t arc|h.x arc|d.x affixes|arc border|d.t "
    "side|h.a side|h.b side|h.y side|h.z side|d.a side|d.b side|d.y side|d.z arc|d.a arc|d.b arc|d.y arc|d.z "
)
SIBLINGS = (
    "side|l.t side|r.t d.t|l.t d.t|r.t arc|l.t arc|r.t arc|l.w arc|r.w d.t|l.x d.t|r.x d.t|l.t|r.t alike|arc "
    "d.t|l.a d.t|l.b d.t|l.y d.t|l.z d.t|r.a d.t|r.b d.t|r.y d.t|r.z "
)
BETWEEN = "arc|B between|arc "
NONLOCAL = "place|side place|arc children|d.t children|arc arc|g.t "
#: Beyond them: what hangs below the dependent. Where adpositions and conjunctions hang below content words, as in
#: Universal Dependencies, they say what the published groups found in the head.
CHILDREN = "arc|f.t arc|e.t arc|f.w arc|e.w d.t|f.w d.t|e.w d.t|f.x d.t|e.x arc|C "
MORPHOLOGY = "side|D arc|D side|H arc|H A arc|A G d.t|G d.t|L d.t|R "
ARCS = EDGE + SIBLINGS + BETWEEN + NONLOCAL + CHILDREN
#: The published groups with hardly a conjunction: what is left for the label before to say is most here.
PLAIN = (
    EDGE + "l.w r.w l.x r.x l.a l.b l.y l.z r.a r.b r.y r.z side|l.t side|r.t d.t|l.t alike|d.t L R B between|side "
    "place|side children side|D arc|D side|H A G side|G"
)
#: Templates that are conjoined with the label before, too.
PAIRS = "turn d.t h.t|turn arc|turn d.t|l.t h.w|turn"


class RelationProgram(NamedTuple):
    """Templates as numbers: seeds, atoms, and the set that each runs over, -1 for none."""

    seeds: Keys
    atoms: NDArray[np.int64]
    sets: NDArray[np.int64]


def atom_number(name: str) -> int:
    """The place of an atom: first the flags, then the fields of words.

    >>> atom_number("side"), atom_number("h.w"), atom_number("d.t")
    (1, 10, 20)
    """
    if name in FLAGS:
        return FLAGS.index(name)
    word, _, letter = name.partition(".")
    if len(word) != 1 or len(letter) != 1 or word not in WORDS or letter not in LETTERS:
        raise TemplateError(
            f"unknown atom {name!r}; the atoms are {', '.join(FLAGS[1:])}, the sets {', '.join(SETS)}, "
            f"and the fields {', '.join(LETTERS)} of the words {', '.join(WORDS)}, as in h.t"
        )
    return len(FLAGS) + WORDS.index(word) * len(LETTERS) + LETTERS.index(letter)


def compile_relation_templates(text: str) -> RelationProgram:
    """The program of templates.

    >>> compile_relation_templates("arc|d.w side|D").sets.tolist()
    [-1, 3]
    """
    names = list(dict.fromkeys(text.split()))
    atoms, sets = np.zeros((len(names), WIDTH), np.int64), np.full(len(names), -1, np.int64)
    for t, name in enumerate(names):
        parts = name.split("|")
        own = [part for part in parts if part in SETS]
        rest = [part for part in parts if part not in SETS]
        if len(own) > 1 or len(rest) > WIDTH or "" in parts:
            raise TemplateError(f"template {name!r} needs at most {WIDTH} atoms and at most one set beside them")
        atoms[t, : len(rest)] = [atom_number(part) for part in rest]
        if own:
            sets[t] = SETS.index(own[0])
    return RelationProgram(hash_strings(names), atoms, sets)
