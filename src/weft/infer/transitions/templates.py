"""Feature templates over configurations, written as data and compiled to one integer program.

    S0.w                 the form of the top of the stack
    S0.wt|N0.t           its form and tag with the tag of the first word of the buffer
    S0.w,t,wt            three templates
    S0l2.L               the label of its second outermost child on the left; also l, r, r2, h (head), h2 (its head),
                         l0, r0 (innermost child), le, re (leftmost and rightmost descendant)
    S0.tvr  N0.tsl       number of children on the right (vl, vr), set of the labels of those on the left (sl, sr)
    S0~N0|S0.t           the distance between two nodes
    S0=N0.w  S0=N0.w|S0.w      whether two nodes have the same form; which form it is, if they do
    S0^N0.w  S0==N0.t    rough copies: how many words of the stretches S0le..S0 and N0le..N0 agree from their beginnings
                         on; whether all tags of the two agree
    N0.El,EEl  S0.Er,EEr whether the word, the two words, on the left or the right are struck out

Nodes are those that the transition system names (`S0 S1 S2 S3` from the top of the stack down, `N0 N1 N2 N3` from the
front of the buffer on; `M2 M1 P0 P1 P2 P3` around a pair of easy-first). Small letters are fields of words, bound by
the task to columns of documents; `L` is the label a node has got. Templates are separated by blanks, `#` starts a
comment. A word `moves:` opens the block of templates that score moves only, `both:` that of templates that score moves
and also moves with their labels.

A template fires where all of its nodes exist; outside the stack and the buffer a boundary mark stands for a word.
Questions (`=`, `==`, `El` ...) fire where the answer is yes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from weft.arrays import Halves, Keys
from weft.errors import TemplateError
from weft.hashing import hash_string
from weft.infer.transitions.comparisons import agree, innermost, prefix, right_edge, same, struck_beside
from weft.infer.transitions.state import HEAD, L1, L2, LABEL, LE, LS, LV, R1, R2, RS, RV, WIDTH, Table
from weft.infer.transitions.systems import TransitionSystem
from weft.kernel import inlined, inner_kernel

_ITSELF, _H2, _L0, _R0, _RE = -1, WIDTH, WIDTH + 1, WIDTH + 2, WIDTH + 3
#: Paths from a node to another: a column of the state, or what takes more than looking there.
_PATHS = {
    "": _ITSELF, "h": HEAD, "h2": _H2, "l": L1, "l2": L2, "r": R1, "r2": R2, "l0": _L0, "r0": _R0, "le": LE, "re": _RE,
}  # fmt: skip
_KINDS = ("word", "L", "vl", "vr", "sl", "sr", "~", "El", "EEl", "Er", "EEr", "==", "=", "^")
_WORD, _LABEL, _VL, _VR, _SL, _SR, _DISTANCE, _EL, _EEL, _ER, _EER, _SAME, _EQUAL, _PREFIX = range(14)
#: Atoms of one node that are no fields of words; comparisons of two nodes in a field.
_OF_NODES, _COMPARISONS = _KINDS[_LABEL:_DISTANCE] + _KINDS[_EL:_SAME], _KINDS[_SAME:]
_BLOCKS = ("moves", "both")
_ZERO = np.uint64(0)
#: Distances from here on are told apart by tens only; so many children are many.
_FAR, _MANY = 5, 6


class StateProgram(NamedTuple):
    """Templates as numbers; those before `moves_end` score moves only. Inside a block they are sorted by length.

    The key of a template is a multilinear hash of its atoms: seed + sum of factor * value, modulo 2^64.
    """

    places: Table  # rows: base, path
    atoms: Table  # rows: kind, place, column of the word table, second place; fields of words first
    fields: int  # how many atoms are fields of words
    factors: Keys  # of the atoms, odd
    runs: Table  # rows: first template, end, atoms each of them has
    members: Halves  # rows: the atoms of a template; unsigned, as such indices are never checked for being negative
    seeds: Keys
    moves_end: int
    compares: bool | None  # whether atoms compare words or ask for neighbours; None, not False, where none does


def compile_templates(text: str, system: TransitionSystem, columns: Sequence[str]) -> StateProgram:
    """The program of templates for a system; `columns` are the fields in the order of the word table.

    >>> from weft.infer.transitions.systems import system_named
    >>> program = compile_templates("moves: S0.w,t S0l.t both: S0.t|N0.t", system_named("arc-hybrid"), ["w", "t"])
    >>> len(program.seeds), program.moves_end
    (4, 3)
    """
    blocks = _blocks_of(text)
    templates = [template for name in _BLOCKS for template in blocks[name]]
    if not templates:
        raise TemplateError("no templates given; write at least one, such as S0.w")
    places: dict[tuple[int, int], int] = {}
    atoms = {
        atom: _atom(atom, system, list(columns), places)
        for atom in dict.fromkeys(atom for template in templates for atom in template)
    }
    names = sorted(atoms, key=lambda atom: atoms[atom][0])
    number = {atom: a for a, atom in enumerate(names)}
    members = np.zeros((len(templates), max(map(len, templates))), dtype=np.uint32)
    for t, template in enumerate(templates):
        members[t, : len(template)] = [number[atom] for atom in template]
    lengths = [(name, len(template)) for name in _BLOCKS for template in blocks[name]]
    runs = [(lengths.index(own), lengths.index(own) + lengths.count(own), own[1]) for own in dict.fromkeys(lengths)]
    return StateProgram(
        np.array(list(places), dtype=np.int32).reshape(-1, 2),
        np.array([atoms[atom] for atom in names], dtype=np.int32).reshape(-1, 4),
        sum(kind == _WORD for kind, *_ in atoms.values()),
        np.array([hash_string(atom) | 1 for atom in names], dtype=np.uint64),
        np.array(runs, dtype=np.int32),
        members,
        np.array([hash_string("|".join(template)) for template in templates], dtype=np.uint64),
        len(blocks["moves"]),
        True if any(kind > _DISTANCE for kind, *_ in atoms.values()) else None,
    )


def template_names(text: str) -> list[str]:
    """The templates that a text stands for, in the order of their program.

    >>> template_names("both: S0.wt moves: S0.t|N0.t S0.w,t")
    ['S0.w', 'S0.t', 'S0.t|N0.t', 'S0.w|S0.t']
    """
    return ["|".join(template) for templates in _blocks_of(text).values() for template in templates]


def place_of(node: str, program: StateProgram, system: TransitionSystem) -> int:
    """The place of a node, as templates write it, in a program that reads it."""
    places: dict[tuple[int, int], int] = {}
    _place(node, system, places)
    (wanted,) = places
    return program.places.tolist().index(list(wanted))


def _blocks_of(text: str) -> dict[str, list[tuple[str, ...]]]:
    """The templates of every block, each as its atoms, short ones first."""
    blocks: dict[str, list[tuple[str, ...]]] = {name: [] for name in _BLOCKS}
    block = "both"
    for line in text.splitlines():
        for token in line.split("#", 1)[0].split():
            if token.endswith(":"):
                block = token[:-1]
                if block not in blocks:
                    raise TemplateError(f"unknown block {token!r} of templates; the blocks are: {', '.join(_BLOCKS)}")
                continue
            blocks[block] += [each for each in _conjunctions(token) if each not in blocks[block]]
    for own in blocks.values():
        own.sort(key=len)
    return blocks


def _conjunctions(token: str) -> list[tuple[str, ...]]:
    """The conjunctions that one written template stands for, each as its atoms."""
    factors: list[list[tuple[str, ...]]] = []
    for factor in token.split("|"):
        place, dot, attributes = factor.partition(".")
        if "~" in factor and not dot:
            factors.append([(factor,)])
            continue
        choices = [re.findall(r"EE?[lr]|v[lr]|s[lr]|[A-Za-z]", choice) for choice in attributes.split(",")]
        if not place or not all(choices) or ["".join(choice) for choice in choices] != attributes.split(","):
            raise TemplateError(f"cannot read {factor!r} of the template {token!r}: expected NODE.FIELDS, as in S0.wt")
        factors.append([tuple(f"{place}.{attribute}" for attribute in choice) for choice in choices])
    return [sum(choice, ()) for choice in product(*factors)]


def _atom(
    text: str, system: TransitionSystem, columns: Sequence[str], places: dict[tuple[int, int], int]
) -> tuple[int, int, int, int]:
    if "~" in text:
        one, _, other = text.partition("~")
        return _DISTANCE, _place(one, system, places), 0, _place(other, system, places)
    node, _, attribute = text.partition(".")
    if attribute in _OF_NODES:
        return _KINDS.index(attribute), _place(node, system, places), 0, 0
    if attribute not in columns:
        raise TemplateError(f"template {text!r}: unknown field {attribute!r}; the fields are: {', '.join(columns)}, L")
    column = columns.index(attribute)
    for sign in _COMPARISONS:
        one, found, other = node.partition(sign)
        if found:
            return _KINDS.index(sign), _place(one, system, places), column, _place(other, system, places)
    return _WORD, _place(node, system, places), column, 0


def _place(node: str, system: TransitionSystem, places: dict[tuple[int, int], int]) -> int:
    for number, base in enumerate(system.bases):
        if node.startswith(base) and node[len(base) :] in _PATHS:
            return places.setdefault((number, _PATHS[node[len(base) :]]), len(places))
    known = ", ".join(system.bases)
    raise TemplateError(
        f"unknown node {node!r} in a template for {system.name}; the nodes are {known}, each alone or followed by one "
        f"of {', '.join(filter(None, _PATHS))}"
    )


@inlined
def _number(value: int, kind: int) -> np.uint64:
    return np.uint64(16 * (value + 2) + kind + 1)


@inner_kernel
def _reach(state: Table, base: int, path: int) -> int:
    """The node at the end of a path, -1 if there is none."""
    if path == _ITSELF or base < 0:
        return base if path == _ITSELF else -1
    if path < WIDTH:
        return state[base, path]
    if path == _H2:
        head = state[base, HEAD]
        return state[head, HEAD] if head >= 0 else -1
    if path == _RE:
        return right_edge(state, base)
    return innermost(state, base, -1 if path == _L0 else 1)


@inlined
def _distance(a: int, b: int) -> int:
    d = abs(a - b)
    return d if d < _FAR else _FAR + min(d // 10, 3)


@inner_kernel
def _holds(state: Table, words: Keys, first: int, node: int, other: int, kind: int, column: int) -> bool:
    """The answer to a question about a node, or about two."""
    if kind == _EQUAL:
        return node != other and agree(words, first, node, other, column)
    if node < 0 or kind == _PREFIX:
        return False
    if kind == _SAME:
        return same(state, words, first, node, other, column)
    return struck_beside(state, node, -1 if kind <= _EEL else 1, 1 if kind in (_EL, _ER) else 2)


@inner_kernel
def feature_keys(
    program: StateProgram, compares: bool | None, state: Table, bases: Table, words: Keys, first: int, nodes: Table,
    atoms: Keys, keys: Keys,
) -> None:  # fmt: skip
    """The key of every template in a configuration, 0 where it does not fire.

    `words` has a row for ROOT and then one per word, `first` is the row in front of the sentence's first word; `nodes`
    and `atoms` are room to work in. With None for `compares`, which is the program's, comparisons are not compiled.
    """
    places, factors = program.places, program.factors
    for k in range(len(places)):
        nodes[k] = _reach(state, bases[places[k, 0]], places[k, 1])
    for a in range(program.fields):
        place = program.atoms[a, 1]
        node = nodes[place]
        value = words[first + node if node > 0 else 0, program.atoms[a, 2]]
        if node < 0:
            value = _number(-1, _WORD) if places[place, 1] == _ITSELF else _ZERO
        atoms[a] = value * factors[a]
    for a in range(program.fields, len(factors)):
        kind, column = program.atoms[a, 0], program.atoms[a, 2]
        node, other = nodes[program.atoms[a, 1]], nodes[program.atoms[a, 3]]
        value = _ZERO
        if compares is not None and kind > _DISTANCE:
            if _holds(state, words, first, node, other, kind, column):
                value = _number(1, kind)
            elif kind == _PREFIX and node >= 0:
                length = prefix(state, words, first, node, other, column)
                if length > 0:
                    value = _number(length, kind)
        elif node >= 0:
            if kind == _LABEL:
                value = _number(state[node, LABEL], kind)
            elif kind == _VL:
                value = _number(min(state[node, LV], _MANY), kind)
            elif kind == _VR:
                value = _number(min(state[node, RV], _MANY), kind)
            elif kind == _SL:
                value = _number(state[node, LS], kind)
            elif kind == _SR:
                value = _number(state[node, RS], kind)
            elif other >= 0:
                value = _number(_distance(node, other), kind)
        atoms[a] = value * factors[a]
    seeds, members = program.seeds, program.members
    for run in range(len(program.runs)):
        begin, end, length = program.runs[run, 0], program.runs[run, 1], program.runs[run, 2]
        # Short templates have loops of their own, without branches that nobody can foretell. An odd factor makes
        # no value zero that was not.
        if length == 1:
            for t in range(begin, end):
                one = atoms[members[t, 0]]
                keys[t] = seeds[t] + one if one != _ZERO else _ZERO
        elif length == 2:
            for t in range(begin, end):
                one, two = atoms[members[t, 0]], atoms[members[t, 1]]
                keys[t] = seeds[t] + one + two if (one != _ZERO) & (two != _ZERO) else _ZERO
        elif length == 3:
            for t in range(begin, end):
                one, two, three = atoms[members[t, 0]], atoms[members[t, 1]], atoms[members[t, 2]]
                whole = (one != _ZERO) & (two != _ZERO) & (three != _ZERO)
                keys[t] = seeds[t] + one + two + three if whole else _ZERO
        else:
            for t in range(begin, end):
                key, whole = seeds[t], True
                for m in range(length):
                    value = atoms[members[t, m]]
                    whole &= value != _ZERO
                    key += value
                keys[t] = key if whole else _ZERO
