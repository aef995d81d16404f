"""Feature templates over states of the constituent parser, written as data.

    S0.ntl                kind, tag and label of the top of the stack; S1, S2, S3 below it
    S0.nw|S1.nl           two nodes; fields of nodes: n subword or not, w head word or subword, t its tag, l label,
                          c head character, s first and e last unit of w
    S0l.twl               children of S0 and S1: l left, r right, u only child; fields t, w, l
    Q0.c Q1.t             units of the queue and, where they are given, their tags
    W0.we                 words as strings: W0 the word being built, W1 and W2 the two completed before it; fields
                          w all of it, t tag, s first unit, e last one, m length, o (only if it has one unit), i each
                          unit but the last
    C1.c C2.c             the last two units in front of the queue
    D.d D.g               whether S1 and S0 together are a known subword, by length; the same with the tag

Templates are separated by blanks, `#` starts a comment. A word that ends with a colon opens a block: `all:` for all
actions; `separate:`, `append:`, `subword:` or `word:` for actions of that kind alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.errors import TemplateError
from weft.hashing import avalanche, hash_string, join
from weft.infer.constituents.system import (
    BEGIN,
    BELOW,
    END,
    HEAD_UNIT,
    HEAD_WORD,
    KNOWN,
    LABEL,
    LAST_WORD,
    LEFT_CHILD,
    NO_NODE,
    NODE,
    PART,
    RIGHT_CHILD,
    START,
    TAG,
    TEMPORARY,
    Subwords,
    Units,
    find,
    string_key,
)
from weft.infer.transitions.state import Table
from weft.kernel import kernel

#: Blocks in the order of their templates; the block of words is last, as templates over each unit add to its end.
BLOCKS = ("all", "separate", "append", "subword", "word")
_NODES = {
    **{f"S{k}": "nwtlcse" for k in range(4)},
    **{f"S{k}{child}": "twl" for k in range(2) for child in "lru"},
    **{f"Q{k}": "ct" for k in range(4)},
    **{f"W{k}": "wtsemo" for k in range(3)},
    "C1": "c",
    "C2": "c",
    "D": "dg",
}
_NAMES = [f"{node}.{letter}" for node, fields in _NODES.items() for letter in fields]
ATOMS = {name: number for number, name in enumerate(_NAMES)}
_STACK, _CHILDREN, _QUEUE, _WORDS, _BEFORE, _PAIR = (ATOMS[n] for n in ("S0.n", "S0l.t", "Q0.c", "W0.w", "C1.c", "D.d"))
_EACH = -1
#: At most so many units of a long word are looked at one by one.
MOST_EACH = 8
_ZERO = np.uint64(0)


class ConstituentProgram(NamedTuple):
    """Templates as numbers: template t joins atoms `members[starts[t]:starts[t + 1]]`; -1 stands for each unit."""

    starts: NDArray[np.int64]
    members: Table
    seeds: Keys
    each: Table  # whether a template is made for each unit of a word
    blocks: NDArray[np.int64]  # templates of block b are blocks[b] to blocks[b + 1]


def compile_templates(text: str) -> ConstituentProgram:
    """The program of templates.

    >>> program = compile_templates("all: S0.nw|S1.nl Q0.c word: W0.w W0.ite")
    >>> program.blocks.tolist(), program.each.tolist()
    ([0, 2, 2, 2, 2, 4], [0, 0, 0, 1])
    """
    blocks: dict[str, list[list[int]]] = {name: [] for name in BLOCKS}
    names: dict[str, list[str]] = {name: [] for name in BLOCKS}
    block = "all"
    for line in text.splitlines():
        for token in line.split("#", 1)[0].split():
            if token.endswith(":"):
                block = token[:-1]
                if block not in blocks:
                    raise TemplateError(f"unknown block {token!r} of templates; the blocks are: {', '.join(BLOCKS)}")
            elif token not in names[block]:
                names[block].append(token)
                blocks[block].append(_atoms(token, block))
    order = [(name, k) for name in BLOCKS for k in range(len(names[name])) if _EACH not in blocks[name][k]]
    order += [("word", k) for k, template in enumerate(blocks["word"]) if _EACH in template]
    templates = [blocks[name][k] for name, k in order]
    if not templates:
        raise TemplateError("no templates given; write at least one, such as S0.nw")
    return ConstituentProgram(
        np.cumsum([0, *map(len, templates)]).astype(np.int64),
        np.array([atom for template in templates for atom in template], dtype=np.int32),
        np.array([hash_string(f"{name}:{names[name][k]}") for name, k in order], dtype=np.uint64),
        np.array([_EACH in template for template in templates], dtype=np.int32),
        np.cumsum([0, *(len(names[name]) for name in BLOCKS)]).astype(np.int64),
    )


def _atoms(token: str, block: str) -> list[int]:
    found: list[int] = []
    for factor in token.split("|"):
        node, dot, fields = factor.partition(".")
        if not dot or not fields or node not in _NODES:
            raise TemplateError(
                f"cannot read {factor!r} of the template {token!r}: expected NODE.FIELDS, with the nodes "
                f"{', '.join(_NODES)}"
            )
        for letter in re.findall(".", fields):
            if node == "W0" and letter == "i":
                if block != "word":
                    raise TemplateError(f"template {token!r}: each unit of a word is for the block word: only")
                found.append(_EACH)
                continue
            if letter not in _NODES[node]:
                raise TemplateError(f"template {token!r}: {node} has no field {letter!r}; it has {_NODES[node]}")
            found.append(ATOMS[f"{node}.{letter}"])
    return found


@kernel
def _number(value: int, field: int) -> np.uint64:
    return avalanche(np.uint64(16 * (value + 4) + field + 1))


@kernel
def _node_atoms(units: Units, first: int, prefix: Keys, pool: Table, row: int, atoms: Keys, at: int) -> None:
    if row < 0 or pool[row, NODE] == NO_NODE:
        for k in range(7):
            atoms[at + k] = _number(-2, 15)
        return
    word = pool[row, HEAD_WORD]
    atoms[at] = _number(int(pool[row, NODE] == PART), 0)
    atoms[at + 1] = string_key(prefix, pool[word, START], pool[word, END])
    atoms[at + 2] = _number(pool[row, TAG], 1)
    part = 1 if pool[row, NODE] == PART else 0
    atoms[at + 3] = _number(4 * pool[row, LABEL] + 2 * part + int(pool[row, TEMPORARY] != 0), 2)
    atoms[at + 4] = units.keys[first + pool[row, HEAD_UNIT]]
    atoms[at + 5] = units.keys[first + pool[word, START]]
    atoms[at + 6] = units.keys[first + pool[word, END] - 1]


@kernel
def _child_atoms(prefix: Keys, pool: Table, row: int, atoms: Keys, at: int) -> None:
    atoms[at] = atoms[at + 1] = atoms[at + 2] = _ZERO
    if row >= 0:
        word = pool[row, HEAD_WORD]
        atoms[at] = _number(pool[row, TAG], 3)
        atoms[at + 1] = string_key(prefix, pool[word, START], pool[word, END])
        part = 1 if pool[row, NODE] == PART else 0
        atoms[at + 2] = _number(4 * pool[row, LABEL] + 2 * part + int(pool[row, TEMPORARY] != 0), 4)


@kernel
def _word_atoms(units: Units, first: int, prefix: Keys, start: int, end: int, tag: int, atoms: Keys, at: int) -> None:
    if start < 0:
        for k in range(5):
            atoms[at + k] = _number(-2, 14)
        atoms[at + 5] = _ZERO
        return
    atoms[at] = string_key(prefix, start, end)
    atoms[at + 1] = _number(tag, 5)
    atoms[at + 2] = units.keys[first + start]
    atoms[at + 3] = units.keys[first + end - 1]
    atoms[at + 4] = _number(min(end - start, 9), 6)
    atoms[at + 5] = _number(1, 7) if end - start == 1 else _ZERO


@kernel
def fill_atoms(
    units: Units, subwords: Subwords, first: int, sentence: int, n: int, pool: Table, row: int, atoms: Keys
) -> None:
    """The values of all atoms in a state, 0 where there is none."""
    prefix = units.prefix[first + sentence :]
    node = row
    for k in range(4):
        _node_atoms(units, first, prefix, pool, node, atoms, _STACK + 7 * k)
        if k < 2:
            left = right = only = -1
            if node >= 0 and pool[node, NODE] != NO_NODE and pool[node, LEFT_CHILD] >= 0:
                left, right = pool[node, LEFT_CHILD], pool[node, RIGHT_CHILD]
                if right < 0:
                    left, only = -1, left
            _child_atoms(prefix, pool, left, atoms, _CHILDREN + 9 * k)
            _child_atoms(prefix, pool, right, atoms, _CHILDREN + 9 * k + 3)
            _child_atoms(prefix, pool, only, atoms, _CHILDREN + 9 * k + 6)
        node = pool[node, BELOW] if node >= 0 else -1
    q = pool[row, END]
    for k in range(4):
        inside = q + k < n
        atoms[_QUEUE + 2 * k] = units.keys[first + q + k] if inside else _number(-2, 13)
        atoms[_QUEUE + 2 * k + 1] = _number(units.tags[first + q + k], 8) if inside else _number(-2, 13)
    building = pool[row, NODE] == PART
    _word_atoms(units, first, prefix, pool[row, BEGIN] if building else -1, q, pool[row, TAG], atoms, _WORDS)
    word = pool[row, LAST_WORD]
    for k in range(1, 3):
        begin = pool[word, START] if word >= 0 else -1
        end, tag = (pool[word, END], pool[word, TAG]) if word >= 0 else (0, 0)
        _word_atoms(units, first, prefix, begin, end, tag, atoms, _WORDS + 6 * k)
        word = pool[word, BEGIN] if word >= 0 else -1
    for k in range(2):
        atoms[_BEFORE + k] = units.keys[first + q - 1 - k] if q - 1 - k >= 0 else _number(-2, 12)
    atoms[_PAIR] = atoms[_PAIR + 1] = _ZERO
    below = pool[row, BELOW]
    if building and pool[below, NODE] == PART:
        key = string_key(prefix, pool[below, START], q)
        at = find(subwords.keys, key)
        known = int(at >= 0 and (subwords.bits[at] & KNOWN) != 0)
        length = min(q - pool[below, START], 9)
        atoms[_PAIR] = _number(2 * length + known, 9)
        tagged = int(find(subwords.tagged, tagged_key(key, pool[row, TAG])) >= 0)
        atoms[_PAIR + 1] = _number(2 * length + tagged, 10)


@kernel
def tagged_key(key: np.uint64, tag: int) -> np.uint64:
    """The key of a string with a tag."""
    return join(key, _number(tag, 11))


@kernel
def block_keys(
    program: ConstituentProgram, block: int, units: Units, first: int, pool: Table, row: int, atoms: Keys, keys: Keys
) -> int:
    """The keys of a block's templates at their places, 0 where one does not fire; gives where they end."""
    begin, end = program.blocks[block], program.blocks[block + 1]
    extra = end
    for t in range(begin, end):
        key = program.seeds[t]
        for m in range(program.starts[t], program.starts[t + 1]):
            atom = program.members[m]
            if atom < 0:
                continue
            if atoms[atom] == _ZERO:
                key = _ZERO
                break
            key = join(key, atoms[atom])
        keys[t] = key
        if program.each[t] != 0 and key != _ZERO:
            keys[t] = _ZERO
            begin_of_word = pool[row, BEGIN]
            for i in range(begin_of_word, min(pool[row, END] - 1, begin_of_word + MOST_EACH)):
                if extra < len(keys):
                    keys[extra] = join(key, units.keys[first + i])
                    extra += 1
    return extra
