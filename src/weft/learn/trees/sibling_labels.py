"""Labels of the dependents of a head as a sequence (McDonald, Lerman & Pereira 2006).

    best(i) = argmax over l_1..l_M of  sum_m w . f(l_m, i, j_m, y, x)  +  w . g(l_{m-1}, l_m, i, j_m, x),   l_0 = start

for every head i of a finished tree y with dependents j_1 < ... < j_M: Viterbi in O(M * |L|^2), over the labels that the
tags of head and dependent allow. Atomic labelling drops g and takes every arc by itself.

Weights are hashed: a feature's key names a place in one array, its labels' weights begin there and overlap with those
of others, as chance will have it. `f` sums such rows; `g` sums rows of keys joined with the label before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Keys
from weft.errors import InferenceError
from weft.features.morphology import Morphology
from weft.features.relation_templates import LETTERS, RelationProgram
from weft.features.tree_relations import (
    Atoms,
    T,
    Table,
    TreeView,
    look_at,
    most_features,
    new_atoms,
    new_view,
    read_arc,
    run_templates,
)
from weft.hashing import join
from weft.kernel import inner_kernel, kernel
from weft.ragged import check_offsets, one_block

_EMPTY = np.uint64(0)


class Trees(NamedTuple):
    """Sentences with finished trees: words as a parser reads them (row 0 is ROOT), and heads (0 is ROOT)."""

    words: Keys
    members: Morphology
    sentences: Ints
    heads: Table


class AllowedLabels(NamedTuple):
    """Labels that go with a side of the head and the tags of head and dependent; row 0 has them all."""

    keys: Keys  # open addressing; 0: free
    rows: Table
    offsets: Ints
    labels: Table


class LabelModel(NamedTuple):
    """Hashed weights (floats in training, int16 in use) and what says which of them are asked for."""

    weights: NDArray[Any]
    arcs: RelationProgram  # templates of f
    pairs: RelationProgram  # templates of g
    columns: Ints  # where the table of words has the fields `LETTERS`, -1 for those it lacks
    allowed: AllowedLabels
    n_labels: int
    sequence: bool
    morphology: bool


class Room(NamedTuple):
    """What finding the labels of one head needs room for; one per thread."""

    tree: TreeView
    atoms: Atoms
    keys: Keys
    places: Ints  # [position, feature]: where the weights of an arc's features begin
    counts: Ints
    pairs: Keys  # [position, pair feature]
    pair_counts: Ints
    allowed: Ints  # [position, 2]: where the list of its labels begins, how many there are
    node: Floats
    delta: Floats
    edge: Floats
    back: Table
    path: Table


def new_room(longest: int, model: LabelModel) -> Room:
    """Room for sentences of up to that many words."""
    n, most, pairs, labels = max(longest, 1), most_features(model.arcs), most_features(model.pairs), model.n_labels
    return Room(
        new_view(n), new_atoms(), np.zeros(max(most, pairs), np.uint64), np.zeros((n, most), np.int64),
        np.zeros(n, np.int64), np.zeros((n, pairs), np.uint64), np.zeros(n, np.int64), np.zeros((n, 2), np.int64),
        np.zeros((n, labels)), np.zeros((n, labels)), np.zeros(labels), np.zeros((n, labels), np.int32),
        np.zeros(n, np.int32),
    )  # fmt: skip


def columns_of(fields: str) -> Ints:
    """Where a table of words, whose columns have these letters, has the fields that features read.

    >>> columns_of("wt").tolist()
    [0, -1, 1, -1, -1, -1, -1, -1]
    """
    return np.array([fields.find(letter) for letter in LETTERS], dtype=np.int64)


def check_trees(words: Keys, members: Morphology, sentences: Ints, heads: Table) -> Trees:
    """The trees of a batch, once their arrays fit together.

    >>> words = np.ones((3, 2), np.uint64)
    >>> check_trees(words, Morphology.none(2), np.array([0, 2]), np.array([2, 0])).heads
    array([2, 0], dtype=int32)
    """
    n = len(words) - 1
    offsets = check_offsets(sentences, n)
    tree = one_block(heads, np.int32)
    if len(tree) != n or len(members.offsets) != n + 1:
        raise InferenceError(
            f"{n} words need as many heads, and offsets of morphological features one longer; "
            f"given: {len(tree)} and {len(members.offsets)}"
        )
    if n and (tree.min() < 0 or np.any(tree > np.repeat(np.diff(offsets), np.diff(offsets)))):
        raise InferenceError(
            "every word needs a head from 0 (ROOT) up to the length of its sentence; relations are found for finished "
            "trees only: parse first"
        )
    return Trees(one_block(words, np.uint64), members, offsets, tree)


def best_labels(model: LabelModel, trees: Trees) -> Table:
    """The best label of every arc."""
    out = np.zeros(len(trees.heads), dtype=np.int32)
    _label(model, trees, new_room(_longest(trees), model), out)
    return out


def score_labels(model: LabelModel, trees: Trees, labels: Table) -> Floats:
    """The score of given labels, one number per sentence."""
    out = np.zeros(len(trees.sentences) - 1)
    _score(model, trees, new_room(_longest(trees), model), one_block(labels, np.int32), out)
    return out


def _longest(trees: Trees) -> int:
    return int(np.diff(trees.sentences).max(initial=0))


def pair_keys(trees: Trees, columns: Ints) -> tuple[Keys, Keys]:
    """Of every arc the key of its side and tags, and that of the dependent's tag alone."""
    whole, alone = np.zeros(len(trees.heads), np.uint64), np.zeros(len(trees.heads), np.uint64)
    _pair_keys(trees, columns, whole, alone)
    return whole, alone


def allowed_labels(keys: Keys, labels: Table, n_labels: int) -> AllowedLabels:
    """Lists of the labels seen with each key.

    >>> lists = allowed_labels(np.array([7, 9, 7], np.uint64), np.array([1, 0, 2], np.int32), 3)
    >>> lists.offsets.tolist(), lists.labels.tolist()
    ([0, 3, 5, 6], [0, 1, 2, 1, 2, 0])
    """
    distinct, which = np.unique(keys, return_inverse=True)
    seen = np.zeros((len(distinct), n_labels), dtype=np.bool_)
    seen[which, labels] = True
    offsets = np.concatenate([[0, n_labels], n_labels + np.cumsum(seen.sum(axis=1))]).astype(np.int64)
    listed = np.concatenate([np.arange(n_labels), np.nonzero(seen)[1]]).astype(np.int32)
    slots = 1 << max(4, (4 * len(distinct)).bit_length())
    table = AllowedLabels(np.zeros(slots, np.uint64), np.zeros(slots, np.int32), offsets, listed)
    _fill(table, distinct)
    return table


def keys_in_order(allowed: AllowedLabels) -> Keys:
    """The keys of the lists, in the order of the lists."""
    used = allowed.keys != _EMPTY
    return allowed.keys[used][np.argsort(allowed.rows[used])]


@inner_kernel
def _slot(keys: Keys, key: np.uint64) -> np.int64:
    mask = len(keys) - 1
    slot = np.int64(key >> np.uint64(32)) & mask
    while keys[slot] != _EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def _fill(table: AllowedLabels, keys: Keys) -> None:
    for i in range(len(keys)):
        slot = _slot(table.keys, keys[i])
        table.keys[slot] = keys[i]
        table.rows[slot] = i + 1


@inner_kernel
def _side_and_tags(words: Keys, columns: Ints, offset: int, head: int, word: int) -> tuple[np.uint64, np.uint64]:
    tag = columns[T]
    ht = words[offset + head if head > 0 else 0, tag] if tag >= 0 else _EMPTY
    dt = words[offset + word, tag] if tag >= 0 else _EMPTY
    whole = join(join(np.uint64(1 if word > head else 2), ht), dt)
    return whole | np.uint64(1), join(np.uint64(3), dt) | np.uint64(1)


@kernel
def _pair_keys(trees: Trees, columns: Ints, whole: Keys, alone: Keys) -> None:
    for s in range(len(trees.sentences) - 1):
        offset = trees.sentences[s]
        for i in range(offset, trees.sentences[s + 1]):
            whole[i], alone[i] = _side_and_tags(trees.words, columns, offset, trees.heads[i], i - offset + 1)


@inner_kernel
def _allow(model: LabelModel, trees: Trees, offset: int, head: int, room: Room) -> int:
    """Find the labels that each dependent of a head may have; how many dependents there are."""
    view, allowed = room.tree, model.allowed
    begin = view.first[head]
    length = view.first[head + 1] - begin
    for m in range(length):
        whole, alone = _side_and_tags(trees.words, model.columns, offset, head, view.kids[begin + m])
        row = allowed.rows[_slot(allowed.keys, whole)]  # free slots hold row 0
        if row == 0:
            row = allowed.rows[_slot(allowed.keys, alone)]
        room.allowed[m, 0] = allowed.offsets[row]
        room.allowed[m, 1] = allowed.offsets[row + 1] - allowed.offsets[row]
    return length


@inner_kernel
def place_of(key: np.uint64, model: LabelModel) -> np.int64:
    """Where the weights of a feature begin: at one of a power of two of places, with room for the last one's labels."""
    return np.int64(key >> np.uint64(16)) & np.int64(len(model.weights) - model.n_labels - 1)


@inner_kernel
def fill_places(model: LabelModel, trees: Trees, offset: int, n: int, head: int, m: int, arc: bool, room: Room) -> None:
    """Find the features of the head's dependent number `m`: with `arc` those of its label, and those of pairs."""
    read_arc(
        trees.words, model.columns, trees.members, model.morphology, trees.heads, offset, n, room.tree, head,
        room.tree.first[head] + m, room.atoms,
    )  # fmt: skip
    count = run_templates(model.arcs, room.atoms, room.keys) if arc else 0
    for f in range(count):
        room.places[m, f] = place_of(room.keys[f], model)
    room.counts[m] = count
    if model.sequence:
        room.pair_counts[m] = run_templates(model.pairs, room.atoms, room.pairs[m])


@inner_kernel
def pair_place(model: LabelModel, room: Room, m: int, g: int, before: int) -> np.int64:
    """Where the weights of pair feature `g` at position `m` after the label `before` begin; -1 is the start."""
    return place_of(join(room.pairs[m, g], np.uint64(before + 2)), model)


@inner_kernel
def _add_rows(model: LabelModel, room: Room, m: int, before: int, out: Floats) -> None:
    """Add the weights of pairs with the label before."""
    labels, weights = model.allowed.labels, model.weights
    first, count = room.allowed[m, 0], room.allowed[m, 1]
    for g in range(room.pair_counts[m]):
        place = pair_place(model, room, m, g, before)
        for a in range(count):
            out[a] += weights[place + labels[first + a]]


@inner_kernel
def find_best(model: LabelModel, trees: Trees, offset: int, n: int, head: int, room: Room) -> int:
    """The best labels of a head's dependents into `room.path`; how many there are.

    Arcs with one label only are not scored: what they add is the same for all sequences.
    """
    length = _allow(model, trees, offset, head, room)
    labels, weights = model.allowed.labels, model.weights
    delta, node, back, edge = room.delta, room.node, room.back, room.edge
    open_arcs = 0
    for m in range(length):
        room.path[m] = labels[room.allowed[m, 0]]
        open_arcs += 1 if room.allowed[m, 1] > 1 else 0
    if open_arcs == 0:
        return length
    for m in range(length):
        first, count = room.allowed[m, 0], room.allowed[m, 1]
        for a in range(count):
            node[m, a] = 0.0
        if count > 1 or model.sequence:
            fill_places(model, trees, offset, n, head, m, count > 1, room)
            for f in range(room.counts[m]):
                place = room.places[m, f]
                for a in range(count):
                    node[m, a] += weights[place + labels[first + a]]
    if not model.sequence:
        for m in range(length):
            best = 0
            for a in range(1, room.allowed[m, 1]):
                if node[m, a] > node[m, best]:
                    best = a
            room.path[m] = labels[room.allowed[m, 0] + best]
        return length
    for m in range(length):
        count = room.allowed[m, 1]
        if m == 0:
            if count > 1:
                _add_rows(model, room, 0, -1, node[0])
            for a in range(count):
                delta[0, a] = node[0, a]
            continue
        first_before, before = room.allowed[m - 1, 0], room.allowed[m - 1, 1]
        if count == 1 and before == 1:
            delta[m, 0] = delta[m - 1, 0]
            back[m, 0] = 0
            continue
        for a in range(count):
            delta[m, a] = -np.inf
        for b in range(before):
            for a in range(count):
                edge[a] = delta[m - 1, b]
            _add_rows(model, room, m, labels[first_before + b], edge)
            for a in range(count):
                if edge[a] > delta[m, a]:
                    delta[m, a] = edge[a]
                    back[m, a] = b
        for a in range(count):
            delta[m, a] += node[m, a]
    best = 0
    for a in range(1, room.allowed[length - 1, 1]):
        if delta[length - 1, a] > delta[length - 1, best]:
            best = a
    for m in range(length - 1, -1, -1):
        room.path[m] = labels[room.allowed[m, 0] + best]
        best = back[m, best] if m > 0 else 0
    return length


@kernel
def _label(model: LabelModel, trees: Trees, room: Room, out: Table) -> None:
    for s in range(len(trees.sentences) - 1):
        offset = trees.sentences[s]
        n = trees.sentences[s + 1] - offset
        look_at(trees.heads, offset, n, room.tree)
        for head in range(n + 1):
            if room.tree.first[head + 1] > room.tree.first[head]:
                for m in range(find_best(model, trees, offset, n, head, room)):
                    out[offset + room.tree.kids[room.tree.first[head] + m] - 1] = room.path[m]


@kernel
def _score(model: LabelModel, trees: Trees, room: Room, labels: Table, out: Floats) -> None:
    view, weights = room.tree, model.weights
    for s in range(len(trees.sentences) - 1):
        offset = trees.sentences[s]
        n = trees.sentences[s + 1] - offset
        look_at(trees.heads, offset, n, view)
        for head in range(n + 1):
            begin = view.first[head]
            before = -1
            for m in range(view.first[head + 1] - begin):
                label = labels[offset + view.kids[begin + m] - 1]
                fill_places(model, trees, offset, n, head, m, True, room)
                for f in range(room.counts[m]):
                    out[s] += weights[room.places[m, f] + label]
                if model.sequence:
                    for g in range(room.pair_counts[m]):
                        out[s] += weights[pair_place(model, room, m, g, before) + label]
                before = label
