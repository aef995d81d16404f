"""Slots by brute force: every structure of a small sentence, scored as a set of features."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np

from weft.infer.slots.features import AGAIN, ALIKE, BOTH, BOTH_IN, COUNT, MOST, OVERLAP, PAIR, SAME_ROLE
from weft.infer.slots.problem import Batch, Table, Weights, make_table
from weft.infer.slots.weights import look_up, number_key, rows_of

Structure = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]


def random_batch(draw: np.random.Generator, sizes: list[tuple[int, int]], types: int, nested: bool) -> Batch:
    """Sentences of (positions, candidates) with random features."""
    positions = np.cumsum([0, *(s for s, _ in sizes)])
    candidates = np.cumsum([0, *(m for _, m in sizes)])
    cells = np.cumsum([0, *(s * (m + (s if nested else 0)) for s, m in sizes)])
    squares, blocks = (np.cumsum([0, *(pair[k] ** 2 for pair in sizes)]) for k in (0, 1))

    def ragged(count: int) -> tuple[Any, Any]:
        lengths = draw.integers(1, 4, count)
        return np.cumsum([0, *lengths]), draw.integers(0, 6, int(lengths.sum())).astype(np.uint32)

    label_offsets, label_keys = ragged(int(positions[-1]))
    cell_offsets, cell_keys = ragged(int(cells[-1]))
    return Batch(
        positions, candidates, label_offsets, label_keys, np.full(int(positions[-1]), -1, np.int16),
        draw.integers(0, types, int(candidates[-1])).astype(np.int32),
        cells, cell_offsets, cell_keys, squares[:-1], draw.integers(0, 3, (int(squares[-1]), 2)).astype(np.uint32),
        draw.integers(0, 2, int(squares[-1])).astype(np.uint8), blocks[:-1],
        draw.integers(0, 3, (int(blocks[-1]), 1)).astype(np.uint32),
        draw.integers(0, 3, int(blocks[-1])).astype(np.uint8), int(nested),
    )  # fmt: skip


def random_table(draw: np.random.Generator, labels: int, types: int, roles: int) -> Table:
    """A table that allows about two in three roles."""
    possible = draw.random((labels, types + labels, roles)) < 0.7
    possible[:, types] = False  # nothing is an argument for having no label
    return make_table(possible, [-1, *(k % 2 for k in range(labels - 1))], [False, True, *[False] * (roles - 2)])


def random_weights(
    draw: np.random.Generator, batch: Batch, table: Table, keys: set[int], whole: bool = True
) -> Weights:
    """Weights of whole numbers for every feature, so that sums are exact."""

    def rows(names: Any, width: int) -> Any:
        names = np.array(sorted(names), np.uint32)
        return rows_of(names, draw.integers(-5, 6, (len(names), width)).astype(np.float32))

    labels = rows(set(batch.label_keys.tolist()) - {0}, table.label_width)
    roles = rows(set(batch.cell_keys.tolist()) - {0}, table.role_width)
    return Weights(labels, roles, rows(keys, 1), draw.integers(-2, 3, 2).astype(float), int(whole))


def kind(batch: Batch, table: Table, number: int, labels: tuple[int, ...], slot: int) -> int:
    """The type of a candidate, -1 for a position without a label."""
    first, end = batch.candidates[number], batch.candidates[number + 1]
    if slot < end - first:
        return int(batch.types[first + slot])
    label = labels[slot - (end - first)]
    return table.types + label if label > 0 else -1


def structures(batch: Batch, table: Table, number: int) -> list[Structure]:
    """All structures of a sentence: roles are -1 where there is no choice; edges between positions have no cycle."""
    s = int(batch.positions[number + 1] - batch.positions[number])
    m = int(batch.candidates[number + 1] - batch.candidates[number])
    found = []
    for labels in product(range(table.labels), repeat=s):
        choices = []
        for i in range(s):
            for k in range(m + (s if batch.nested else 0)):
                what = kind(batch, table, number, labels, k)
                open_ = labels[i] > 0 and what >= 0 and k - m != i
                allowed = [r for r in range(table.roles) if open_ and table.columns[labels[i], what, r] >= 0]
                choices.append(allowed or [-1])
        width = m + (s if batch.nested else 0)
        for filled in product(*choices):
            roles = tuple(tuple(filled[i * width : (i + 1) * width]) for i in range(s))
            if not _cyclic(roles, m):
                found.append((labels, roles))
    return found


def _cyclic(roles: tuple[tuple[int, ...], ...], m: int) -> bool:
    edges = {i: [k - m for k in range(m, len(row)) if row[k] > 0] for i, row in enumerate(roles)}

    def back(node: int, path: tuple[int, ...]) -> bool:
        return node in path or any(back(other, (*path, node)) for other in edges[node])

    return any(back(node, ()) for node in edges)


def features(batch: Batch, table: Table, number: int, structure: Structure) -> Counter[int]:
    """The global features of a structure, as a set function of it."""
    labels, roles = structure
    s, m = len(labels), int(batch.candidates[number + 1] - batch.candidates[number])
    square, block = int(batch.squares[number]), int(batch.blocks[number])
    found: Counter[int] = Counter()

    def fire(*parts: int, context: int = 0) -> None:
        found[int(number_key(*parts, *[0] * (5 - len(parts)), np.uint32(context)))] += 1

    def contexts(one: int, two: int) -> list[tuple[int, int]]:
        row = batch.links[square + two * s + one]
        return [(c, int(value)) for c, value in enumerate(row) if value]

    for one, two in combinations([i for i in range(s) if labels[i] > 0], 2):
        for c, value in contexts(one, two):
            fire(PAIR, labels[one], labels[two], c, context=value)
        if batch.alike[square + two * s + one]:
            fire(ALIKE, int(labels[one] == labels[two]))
    for i, label in enumerate(labels):
        if label <= 0:
            continue
        for role in range(1, table.roles):
            if (table.columns[label, :, role] >= 0).any():
                many = sum(value == role for value in roles[i])
                fire(COUNT, label, role, min(many, MOST))
                if table.shared[role]:
                    for _ in range(many - 1):
                        fire(AGAIN, label, role)
        filled = [k for k in range(m) if roles[i][k] > 0]
        for one, two in combinations(filled, 2):
            if roles[i][one] == roles[i][two]:
                for c, value in enumerate(batch.joints[block + one * m + two]):
                    if value:
                        fire(SAME_ROLE, label, roles[i][one], c, context=int(value))
            if batch.overlaps[block + one * m + two]:
                fire(OVERLAP, label, roles[i][one], roles[i][two], int(batch.overlaps[block + one * m + two]))
    for k in range(len(roles[0]) if roles else 0):
        for one, two in combinations([i for i in range(s) if roles[i][k] > 0], 2):
            parts = labels[one], roles[one][k], labels[two], roles[two][k]
            fire(BOTH, *parts)
            for _, value in contexts(one, two):
                fire(BOTH_IN, *parts, context=value)
    return found


def score(batch: Batch, table: Table, weights: Weights, number: int, structure: Structure) -> float:
    """The score of a structure."""
    labels, roles = structure
    found = 0.0
    width = len(roles[0]) if roles else 0
    for i, label in enumerate(labels):
        place = int(batch.positions[number]) + i
        own = batch.label_keys[batch.label_offsets[place] : batch.label_offsets[place + 1]]
        row = look_up(weights.labels, own[own > 0]).sum(axis=0)
        found += float(row[label]) + (float(row[table.coarse[label]]) if table.coarse[label] >= 0 else 0.0)
        found += weights.bonus[0] if label > 0 else 0.0
        for k, role in enumerate(roles[i]):
            if role >= 0 and label > 0:
                cell = int(batch.cells[number]) + i * width + k
                own = batch.cell_keys[batch.cell_offsets[cell] : batch.cell_offsets[cell + 1]]
                row = look_up(weights.roles, own[own > 0]).sum(axis=0)
                column = table.columns[label, kind(batch, table, number, labels, k), role]
                found += float(row[column]) + (float(row[1]) + weights.bonus[1] if role else 0.0)
    if weights.use_global:
        for key, count in features(batch, table, number, structure).items():
            found += count * float(look_up(weights.whole, np.array([key], np.uint32))[0, 0])
    return found
