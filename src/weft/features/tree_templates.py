"""Feature templates over the parts of dependency trees, written as data and compiled to integer programs.

    h.w                  the form of the head; m: the modifier, s: the sibling beside it, g: the head's own head
    h.wt|m.t             its form and tag with the tag of the modifier
    h.t|h+1.t|m-1.t|m.t  tags of words around the two
    m.w,t,wt             three templates
    h.t|b.t|m.t          one feature for every value found between head and modifier
    h.F|m.F              one feature for every pair of members of two sets (morphological features)
    a.1|h.t|m.t          the first mark of the arc: what else is known of it, such as another parser's opinion

Small letters are fields of words, bound by the task to columns of documents; F is the set of a word's morphological
features. A block of templates belongs to one kind of part: `arc:` (h, m, b, a), `sibling:` (h, m, s), `grand:`
(g, h, m), `grandsib:` (g, h, m, s), `crossed:` (h, m). Blanks separate templates, `#` starts a comment.

Every template gives two features a part: itself, and itself with the part's *shape*: direction and distance from h to m
(from s to m where there is a sibling), the two directions of g, h, m for grandparents. Two more blocks of arcs (h, m)
are for words of several languages, which do not agree on order: in `length:` the shape is the distance alone; in
`direction:` it is the direction alone, and the template itself is no feature. The key of a template is a multilinear
hash of its atoms, so that what each word adds to a key is worked out once a word, not once a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.errors import TemplateError
from weft.hashing import hash_string

Table = NDArray[np.int32]
#: Words that a part is made of; B are those between head and modifier.
ROLES = ("h", "m", "s", "g", "b", "a")
H, M, S, G, B, A = range(6)
#: Blocks of templates and the words they may name.
BLOCKS = {
    "arc": "hmba",
    "length": "hm",
    "direction": "hm",
    "sibling": "hms",
    "grand": "ghm",
    "grandsib": "ghms",
    "crossed": "hm",
}
#: Distances that are distinguished: 1 to 5, 6 to 10, more.
BINS = 7


class Block(NamedTuple):
    """Templates of one kind of part."""

    atoms: Table  # rows: template, role, offset, column of the word table
    factors: Keys  # of the atoms, odd
    seeds: Keys  # [role, template]: what a word gives to a key besides its atoms
    ends: Table  # of templates with the whole shape, with the distance, with the direction


class TreeProgram(NamedTuple):
    """Templates of all kinds of parts; `sets` holds seeds of head, modifier and pair sets, 0 where not asked for, and
    `bins` how many distances are distinguished."""

    arc: Block
    between: Block
    marked: Block
    sibling: Block
    grand: Block
    grandsib: Block
    crossed: Block
    sets: Keys
    bins: int


def compile_tree_templates(text: str, columns: Sequence[str], bins: int = BINS) -> TreeProgram:
    """The program of templates; `columns` are the fields in the order of the word table.

    `bins` is how many distances are told apart, at most 7 (1 to 5, 6 to 10, more); with fewer the last is all the rest.

    >>> program = compile_tree_templates("arc: h.w,t h.t|m.t h.t|b.t|m.t m.F sibling: h.t|s.t|m.t", ["w", "t"])
    >>> [block.seeds.shape[1] for block in program[:3]], (program.sets != 0).tolist()
    ([3, 1, 0], [False, True, False])
    """
    if not 1 <= bins <= BINS:
        raise TemplateError(f"between 1 and {BINS} distances can be told apart, got {bins}")
    blocks = _blocks_of(text)
    program = _program(blocks, columns, bins)
    if not program.arc.ends[-1]:
        raise TemplateError("no templates of arcs given; write at least one, such as arc: h.t|m.t")
    return program


def single_programs(text: str, columns: Sequence[str], bins: int = BINS) -> Iterator[tuple[str, str, TreeProgram]]:
    """Every template of a text with its block, and a program of it alone; features are the same as in the whole.

    >>> [(block, name) for block, name, _ in single_programs("arc: h.w,t sibling: h.t|s.t|m.t", ["w", "t"])]
    [('arc', 'h.w'), ('arc', 'h.t'), ('sibling', 'h.t|s.t|m.t')]
    """
    for block, templates in _blocks_of(text).items():
        for template in templates:
            alone = {name: [template] if name == block else [] for name in BLOCKS}
            yield block, "|".join(template), _program(alone, columns, bins)


def _blocks_of(text: str) -> dict[str, list[tuple[str, ...]]]:
    """The templates of every block, each as its atoms."""
    blocks: dict[str, list[tuple[str, ...]]] = {name: [] for name in BLOCKS}
    block = "arc"
    for line in text.splitlines():
        for token in line.split("#", 1)[0].split():
            if token.endswith(":"):
                block = token[:-1]
                if block not in blocks:
                    raise TemplateError(f"unknown block {token!r} of templates; the blocks are: {', '.join(BLOCKS)}")
                continue
            blocks[block] += [each for each in _conjunctions(token, BLOCKS[block]) if each not in blocks[block]]
    return blocks


def _is_set(template: tuple[str, ...]) -> bool:
    return any(atom.endswith(".F") for atom in template)


def _program(blocks: Mapping[str, list[tuple[str, ...]]], columns: Sequence[str], bins: int) -> TreeProgram:
    sets = [template for template in blocks["arc"] if _is_set(template)]
    between = [template for template in blocks["arc"] if any(atom.startswith("b.") for atom in template)]
    marked = [template for template in blocks["arc"] if any(atom.startswith("a.") for atom in template)]
    arc = [template for template in blocks["arc"] if template not in (*sets, *between, *marked)]
    known = [("h.F",), ("m.F",), ("h.F", "m.F")]
    for template in sets:
        if template not in known:
            raise TemplateError(f"cannot read {'|'.join(template)!r}: sets stand alone, h.F and m.F, or as h.F|m.F")
    seeds = np.array([hash_string("|".join(each)) if each in sets else 0 for each in known], dtype=np.uint64)
    columns = list(columns)
    own = {name: _block(blocks[name], columns) for name in ("sibling", "grand", "grandsib", "crossed")}
    arcs = _block(arc, columns, blocks["length"], blocks["direction"])
    return TreeProgram(arcs, _block(between, columns), _block(marked, columns), sets=seeds, bins=bins, **own)


def _conjunctions(token: str, roles: str) -> list[tuple[str, ...]]:
    """The conjunctions that one written template stands for, each as its atoms."""
    factors: list[list[tuple[str, ...]]] = []
    for factor in token.split("|"):
        place, _, attributes = factor.partition(".")
        if not re.fullmatch(rf"[{roles}]([+-][1-9])?", place) or not re.fullmatch(
            r"[A-Za-z1-9]+(,[A-Za-z1-9]+)*", attributes
        ):
            raise TemplateError(
                f"cannot read {factor!r} of the template {token!r}: expected WORD.FIELDS with a word among "
                f"{', '.join(roles)}, as in {roles[0]}.wt"
            )
        factors.append([tuple(f"{place}.{letter}" for letter in choice) for choice in attributes.split(",")])
    return [sum(choice, ()) for choice in product(*factors)]


def _block(
    templates: Sequence[tuple[str, ...]],
    columns: list[str],
    length: Sequence[tuple[str, ...]] = (),
    direction: Sequence[tuple[str, ...]] = (),
) -> Block:
    atoms, factors = [], []
    ends = np.cumsum([len(templates), len(length), len(direction)]).astype(np.int32)
    seeds = np.zeros((len(ROLES), int(ends[-1])), dtype=np.uint64)
    for t, template in enumerate((*templates, *length, *direction)):
        # The same template in another block is another feature.
        kind = "" if t < ends[0] else " length" if t < ends[1] else " direction"
        for r, role in enumerate(ROLES):
            seeds[r, t] = hash_string(f"{role} {' | '.join(template)}{kind}") | 1
        for atom in template:
            place, _, field = atom.partition(".")
            if place == "a" and field.isdigit():
                atoms.append((t, A, 0, int(field) - 1))
                factors.append(hash_string(f"{atom} of {'|'.join(template)}") | 1)
                continue
            if field not in columns:
                raise TemplateError(f"unknown field {field!r} in {atom!r}; the fields are: {', '.join(columns)}")
            atoms.append((t, ROLES.index(place[0]), int(place[1:] or 0), columns.index(field)))
            factors.append(hash_string(f"{atom} of {'|'.join(template)}") | 1)
    return Block(np.array(atoms, np.int32).reshape(-1, 4), np.array(factors, dtype=np.uint64), seeds, ends)
