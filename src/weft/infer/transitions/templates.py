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

from weft.errors import TemplateError
from weft.features.hashing import Keys, avalanche, hash_string, join
from weft.infer.transitions.comparisons import agree, innermost, prefix, right_edge, same, struck_beside
from weft.infer.transitions.state import HEAD, L1, L2, LABEL, LE, LS, LV, R1, R2, RS, RV, Table
from weft.infer.transitions.systems import TransitionSystem
from weft.kernel import kernel

_PATHS = ("", "h", "h2", "l", "l2", "r", "r2", "l0", "r0", "le", "re")
_ITSELF, _H, _H2, _L, _LL, _R, _RR, _L0, _R0, _LE, _RE = range(11)
_KINDS = ("word", "L", "vl", "vr", "sl", "sr", "~", "El", "EEl", "Er", "EEr", "==", "=", "^")
_WORD, _LABEL, _VL, _VR, _SL, _SR, _DISTANCE, _EL, _EEL, _ER, _EER, _SAME, _EQUAL, _PREFIX = range(14)
#: Atoms of one node that are no fields of words; comparisons of two nodes in a field.
_OF_NODES, _COMPARISONS = _KINDS[_LABEL:_DISTANCE] + _KINDS[_EL:_SAME], _KINDS[_SAME:]
_BLOCKS = ("moves", "both")
_ZERO = np.uint64(0)
#: Distances from here on are told apart by tens only; so many children are many.
_FAR, _MANY = 5, 6


class StateProgram(NamedTuple):
    """Templates as numbers; those before `moves_end` score moves only. Inside a block they are sorted by length."""

    places: Table  # rows: base, path
    atoms: Table  # rows: kind, place, column of the word table, second place
    runs: Table  # rows: first template, end, atoms each of them has
    members: Table  # rows: the atoms of a template
    seeds: Keys
    moves_end: int


def compile_templates(text: str, system: TransitionSystem, columns: Sequence[str]) -> StateProgram:
    """The program of templates for a system; `columns` are the fields in the order of the word table.

    >>> from weft.infer.transitions.systems import system_named
    >>> program = compile_templates("moves: S0.w,t S0l.t both: S0.t|N0.t", system_named("arc-hybrid"), ["w", "t"])
    >>> len(program.seeds), program.moves_end
    (4, 3)
    """
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
    templates = [template for name in _BLOCKS for template in blocks[name]]
    if not templates:
        raise TemplateError("no templates given; write at least one, such as S0.w")
    places: dict[tuple[int, int], int] = {}
    atoms: dict[tuple[int, int, int, int], int] = {}
    members = np.zeros((len(templates), max(map(len, templates))), dtype=np.int32)
    for t, template in enumerate(templates):
        for m, atom in enumerate(template):
            key = _atom(atom, system, list(columns), places)
            members[t, m] = atoms.setdefault(key, len(atoms))
    lengths = [(name, len(template)) for name in _BLOCKS for template in blocks[name]]
    runs = [(lengths.index(own), lengths.index(own) + lengths.count(own), own[1]) for own in dict.fromkeys(lengths)]
    return StateProgram(
        np.array(list(places), dtype=np.int32).reshape(-1, 2),
        np.array(list(atoms), dtype=np.int32).reshape(-1, 4),
        np.array(runs, dtype=np.int32),
        members,
        np.array([hash_string("|".join(template)) for template in templates], dtype=np.uint64),
        len(blocks["moves"]),
    )


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
            return places.setdefault((number, _PATHS.index(node[len(base) :])), len(places))
    known = ", ".join(system.bases)
    raise TemplateError(
        f"unknown node {node!r} in a template for {system.name}; the nodes are {known}, each alone or followed by one "
        f"of {', '.join(_PATHS[1:])}"
    )


@kernel
def _number(value: int, kind: int) -> np.uint64:
    return avalanche(np.uint64(16 * (value + 2) + kind + 1))


@kernel
def _reach(state: Table, base: int, path: int) -> int:
    """The node at the end of a path, -1 if there is none."""
    if path == _ITSELF or base < 0:
        return base if path == _ITSELF else -1
    if path == _H:
        return state[base, HEAD]
    if path == _H2:
        head = state[base, HEAD]
        return state[head, HEAD] if head >= 0 else -1
    if path == _L:
        return state[base, L1]
    if path == _LL:
        return state[base, L2]
    if path == _R:
        return state[base, R1]
    if path == _RR:
        return state[base, R2]
    if path in (_L0, _R0):
        return innermost(state, base, -1 if path == _L0 else 1)
    return state[base, LE] if path == _LE else right_edge(state, base)


@kernel
def _distance(a: int, b: int) -> int:
    d = abs(a - b)
    return d if d < _FAR else _FAR + min(d // 10, 3)


@kernel
def feature_keys(
    program: StateProgram, state: Table, bases: Table, words: Keys, first: int, nodes: Table, atoms: Keys, keys: Keys
) -> None:
    """The key of every template in a configuration, 0 where it does not fire.

    `words` has a row for ROOT and then one a word, `first` is the row in front of the sentence's first word; `nodes`
    and `atoms` are room to work in.
    """
    places = program.places
    for k in range(len(places)):
        nodes[k] = _reach(state, bases[places[k, 0]], places[k, 1])
    for a in range(len(program.atoms)):
        kind, place, column = program.atoms[a, 0], program.atoms[a, 1], program.atoms[a, 2]
        node, other = nodes[place], nodes[program.atoms[a, 3]]
        value = _ZERO
        if kind == _WORD:
            if node > 0:
                value = words[first + node, column]
            elif node == 0:
                value = words[0, column]
            elif places[place, 1] == _ITSELF:
                value = _number(-1, kind)
        elif kind == _EQUAL:
            if node != other and agree(words, first, node, other, column):
                value = _number(1, kind)
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
            elif kind <= _DISTANCE:
                if other >= 0:
                    value = _number(_distance(node, other), kind)
            elif kind == _PREFIX:
                length = prefix(state, words, first, node, other, column)
                if length > 0:
                    value = _number(length, kind)
            elif (
                same(state, words, first, node, other, column) if kind == _SAME
                else struck_beside(state, node, -1 if kind <= _EEL else 1, 1 if kind in (_EL, _ER) else 2)
            ):  # fmt: skip
                value = _number(1, kind)
        atoms[a] = value
    seeds, members = program.seeds, program.members
    for run in range(len(program.runs)):
        begin, end, length = program.runs[run, 0], program.runs[run, 1], program.runs[run, 2]
        # Short templates have loops of their own, without branches that nobody can foretell.
        if length == 1:
            for t in range(begin, end):
                one = atoms[members[t, 0]]
                keys[t] = join(seeds[t], one) if one != _ZERO else _ZERO
        elif length == 2:
            for t in range(begin, end):
                one, two = atoms[members[t, 0]], atoms[members[t, 1]]
                key = join(join(seeds[t], one), two)
                keys[t] = key if (one != _ZERO) & (two != _ZERO) else _ZERO
        else:
            for t in range(begin, end):
                key, whole = seeds[t], True
                for m in range(length):
                    value = atoms[members[t, m]]
                    whole &= value != _ZERO
                    key = join(key, value)
                keys[t] = key if whole else _ZERO
