"""Phrase-structure trees by shift and reduce, over characters or over words (Zhang & Clark 2009, Zhang et al. 2013).

State: a stack (.., S1, S0) of partial trees and a queue of units. Nodes are subwords, full words or phrases.

    SEPARATE(t)       S0 is no subword: the next unit begins a word with tag t
    APPEND            S0 is a subword: the next unit is a subword with the tag of S0
    SUBWORD(d)        S1, S0 are subwords: one subword whose head is left, right or, in a coordination, left as well
    WORD              S0 is a subword and S1 is none: a full word
    BINARY(l, d, *)   S1, S0 are words or phrases: a phrase l with its head left or right; * is a temporary node
    UNARY(l)          S0 is a word or phrase: a phrase l above it
    TERMINATE         the queue is empty and one phrase is on the stack

A temporary node is a phrase that still lacks children: right-headed ones have their left siblings on the stack (so that
nothing is shifted before they are taken in), left-headed ones wait for right siblings; both grow by nodes of their own
label only, on their head side, and never with each other. `legal_actions` leaves out what could not be finished.

Every action makes one node, the new S0, so a state is one row of a table: its node, the state before, and the state
whose node is S1. Stacks are shared, nothing is copied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.errors import InferenceError
from weft.infer.transitions.state import Table
from weft.kernel import kernel

#: Kinds of actions, in the order in which actions are numbered.
KINDS = ("separate", "append", "subword", "word", "binary", "unary", "terminate")
SEPARATE, APPEND, SUBWORD, WORD, BINARY, UNARY, TERMINATE = range(7)
#: Kinds of nodes; a state that is done has terminated.
NO_NODE, PART, FULL, PHRASE, DONE = range(5)
LEFT, RIGHT, BOTH = range(3)
DIRECTIONS = ("l", "r", "c")
#: Temporary nodes by the side of their head.
COMPLETE, LEFT_HEADED, RIGHT_HEADED = range(3)
#: Labels of subwords of one unit: the first of its word, or another one.
FIRST_UNIT, OTHER_UNIT = 3, 4
MOST_UNARY = 3
#: Most steps that a sentence of n units can take.
STEPS_A_UNIT = 9

(PREV, BELOW, ACTION, NODE, LABEL, TAG, TEMPORARY, START, END, BEGIN, HEAD_WORD, HEAD_UNIT, LEFT_CHILD, RIGHT_CHILD,
 UNARIES, LAST_WORD, SIZE, DEPTH) = range(18)  # fmt: skip
WIDTH = 18


class Actions(NamedTuple):
    """All actions, sorted by kind: argument (tag, direction or label), side of the head, whether temporary."""

    kind: Table
    argument: Table
    head: Table
    temporary: Table
    first: Table  # actions of kind k are first[k] to first[k + 1]


class Units(NamedTuple):
    """Sentences: rows of all arrays are units (characters or words), one sentence after the other."""

    keys: Keys  # hash of every unit
    tags: Table  # tags that are known beforehand, -1 for none
    allowed: Keys  # [i, k]: bits of the tags that a word of the k units from i on may have
    longest: Table  # [i, t]: units of the longest word from i on that may have tag t, 0 for none
    prefix: Keys  # hashes of everything before a unit, one more per sentence (`prefix_hashes`)


class Subwords(NamedTuple):
    """What is known of strings of several units, sorted by key: bits of allowed directions, 8 for dictionary words."""

    keys: Keys
    bits: NDArray[np.uint8]
    tagged: Keys  # string and tag together, for those of the dictionary


ALL_DIRECTIONS = 7
KNOWN = 8
_BASE = np.uint64(0x9E3779B97F4A7C15)
_ONE, _ZERO = np.uint64(1), np.uint64(0)


def new_pool(units: int, width: int) -> Table:
    """Rows for all states of a search over that many units."""
    if width < 1:
        raise InferenceError(f"a beam needs a width of at least 1, got {width}")
    return np.zeros(((STEPS_A_UNIT * units + 2) * width + 1, WIDTH), dtype=np.int32)


@kernel
def prefix_hashes(keys: Keys, sentences: NDArray[np.int64], out: Keys) -> None:
    """Polynomial hashes of everything before each unit; sentence s begins at row sentences[s] + s of `out`."""
    for s in range(len(sentences) - 1):
        at = sentences[s] + s
        out[at] = _ZERO
        for i in range(sentences[s], sentences[s + 1]):
            out[at + 1] = out[at] * _BASE + (keys[i] | _ONE)
            at += 1


@kernel
def string_key(prefix: Keys, a: int, b: int) -> np.uint64:
    """The hash of units a to b, equal wherever the same units stand."""
    power, base, k = _ONE, _BASE, b - a
    while k > 0:
        if k & 1:
            power *= base
        base *= base
        k >>= 1
    key = prefix[b] - prefix[a] * power
    return key ^ (key >> np.uint64(29)) | _ONE


@kernel
def find(keys: Keys, key: np.uint64) -> int:
    """Where a key stands in a sorted array, -1 if it does not."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@kernel
def start(pool: Table) -> None:
    """Row 0: nothing on the stack, everything in the queue."""
    pool[0] = -1
    pool[0, NODE] = NO_NODE
    pool[0, TEMPORARY] = pool[0, START] = pool[0, END] = pool[0, SIZE] = pool[0, UNARIES] = pool[0, DEPTH] = 0


@kernel
def _is_whole(pool: Table, row: int) -> bool:
    return row >= 0 and (pool[row, NODE] == FULL or pool[row, NODE] == PHRASE)


@kernel
def legal_actions(
    actions: Actions, units: Units, subwords: Subwords, flat: bool, first: int, sentence: int, n: int, pool: Table,
    row: int, out: Table,
) -> int:  # fmt: skip
    """The actions that a state allows, into `out`; gives how many. `first` is the sentence's first unit."""
    node, q, below = pool[row, NODE], pool[row, END], pool[row, BELOW]
    count = 0
    if node == PART:
        begin, tag = pool[row, BEGIN], pool[row, TAG]
        pair = pool[below, NODE] == PART
        if q < n and not (flat and pair) and units.longest[first + begin, tag] > q - begin:
            out[count] = actions.first[APPEND]
            count += 1
        if pair:
            directions = ALL_DIRECTIONS
            prefix = units.prefix[first + sentence :]
            at = find(subwords.keys, string_key(prefix, pool[below, START], q))
            if at >= 0:
                directions = subwords.bits[at] & ALL_DIRECTIONS
            for a in range(actions.first[SUBWORD], actions.first[SUBWORD + 1]):
                if (directions >> actions.argument[a]) & 1:
                    out[count] = a
                    count += 1
        elif (units.allowed[first + begin, q - begin] >> np.uint64(tag)) & _ONE != _ZERO:
            out[count] = actions.first[WORD]
            count += 1
        return count
    temporary = pool[row, TEMPORARY]
    if q < n and temporary != RIGHT_HEADED:
        for a in range(actions.first[SEPARATE], actions.first[SEPARATE + 1]):
            if units.longest[first + q, actions.argument[a]] > 0:
                out[count] = a
                count += 1
    if node == NO_NODE:
        return count
    phrases = actions.first[UNARY + 1] > actions.first[BINARY]
    if phrases and _is_whole(pool, below):
        count = _legal_binary(actions, pool, row, q == n, out, count)
    if temporary == COMPLETE and pool[row, UNARIES] < MOST_UNARY:
        for a in range(actions.first[UNARY], actions.first[UNARY + 1]):
            if node != PHRASE or actions.argument[a] != pool[row, LABEL]:
                out[count] = a
                count += 1
    if q == n and temporary == COMPLETE:
        no_unary = actions.first[UNARY + 1] == actions.first[UNARY]
        if (pool[row, SIZE] == 1 and (node == PHRASE or no_unary)) or not phrases:
            out[count] = actions.first[TERMINATE]
            count += 1
    return count


@kernel
def _legal_binary(actions: Actions, pool: Table, row: int, empty: bool, out: Table, count: int) -> int:
    below = pool[row, BELOW]
    right, left = pool[row, TEMPORARY], pool[below, TEMPORARY]
    if right != COMPLETE and left != COMPLETE:
        return count
    third = pool[below, BELOW]
    supported = _is_whole(pool, third) and pool[third, TEMPORARY] == COMPLETE
    for a in range(actions.first[BINARY], actions.first[BINARY + 1]):
        label, head = actions.argument[a], actions.head[a]
        if right != COMPLETE and (head != RIGHT or label != pool[row, LABEL]):
            continue
        if left != COMPLETE and (head != LEFT or label != pool[below, LABEL]):
            continue
        # A temporary node must find what it lacks: a complete node below it or, if left-headed, more units.
        if actions.temporary[a] != 0 and not supported and (head == RIGHT or empty):
            continue
        out[count] = a
        count += 1
    return count


@kernel
def apply(actions: Actions, action: int, pool: Table, row: int, new: int) -> None:
    """Row `new`: the state after an action in state `row`."""
    kind, argument = actions.kind[action], actions.argument[action]
    pool[new] = pool[row]
    pool[new, PREV], pool[new, ACTION] = row, action
    pool[new, DEPTH] = pool[row, DEPTH] + 1
    below = pool[row, BELOW]
    if kind in (SEPARATE, APPEND):
        q = pool[row, END]
        pool[new, BELOW], pool[new, NODE], pool[new, TEMPORARY] = row, PART, COMPLETE
        pool[new, SIZE] = pool[row, SIZE] + 1
        pool[new, START], pool[new, END] = q, q + 1
        pool[new, HEAD_WORD], pool[new, HEAD_UNIT] = new, q
        pool[new, LEFT_CHILD] = pool[new, RIGHT_CHILD] = -1
        pool[new, UNARIES] = 0
        if kind == SEPARATE:
            pool[new, LABEL], pool[new, TAG], pool[new, BEGIN] = FIRST_UNIT, argument, q
        else:
            pool[new, LABEL] = OTHER_UNIT
    elif kind in (SUBWORD, BINARY):
        right_head = actions.head[action] == RIGHT
        head = row if right_head else below
        pool[new, BELOW], pool[new, SIZE] = pool[below, BELOW], pool[row, SIZE] - 1
        pool[new, START] = pool[below, START]
        pool[new, TAG], pool[new, LABEL] = pool[head, TAG], argument
        pool[new, HEAD_UNIT] = pool[head, HEAD_UNIT]
        pool[new, LEFT_CHILD], pool[new, RIGHT_CHILD], pool[new, UNARIES] = below, row, 0
        if kind == SUBWORD:
            pool[new, HEAD_WORD] = new
        else:
            pool[new, NODE], pool[new, HEAD_WORD] = PHRASE, pool[head, HEAD_WORD]
            pool[new, TEMPORARY] = COMPLETE
            if actions.temporary[action] != 0:
                pool[new, TEMPORARY] = RIGHT_HEADED if right_head else LEFT_HEADED
    elif kind == WORD:
        pool[new, NODE], pool[new, LABEL], pool[new, HEAD_WORD] = FULL, -1, new
        pool[new, LEFT_CHILD], pool[new, RIGHT_CHILD] = row, -1
        # The word before this one can be reached through BEGIN, which full words do not need.
        pool[new, BEGIN], pool[new, LAST_WORD] = pool[row, LAST_WORD], new
    elif kind == UNARY:
        pool[new, NODE], pool[new, LABEL] = PHRASE, argument
        pool[new, LEFT_CHILD], pool[new, RIGHT_CHILD] = row, -1
        pool[new, UNARIES] = pool[row, UNARIES] + 1
    else:
        pool[new, NODE] = DONE


@kernel
def path(pool: Table, row: int, out: Table) -> int:
    """The rows on the way to a state, the start left out; gives how many."""
    count = pool[row, DEPTH]
    for k in range(count - 1, -1, -1):
        out[k] = row
        row = pool[row, PREV]
    return count
