"""Brute force for transition systems: every configuration, every tree, and what can be reached from where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from weft.infer.transitions import systems
from weft.infer.transitions.state import FRONT, HEAD, LABEL, MOVES, NEXT, SCALAR, SIZE, STACK, gold_table, new_state
from weft.infer.transitions.systems import TransitionSystem, system_named
from weft.infer.trees.projectivity import is_tree


def projective_trees(n: int, single_root: bool = False) -> list[tuple[int, ...]]:
    """The heads of every projective tree over n words; arcs from ROOT count as arcs from position 0."""
    return [heads for heads in product(range(n + 1), repeat=n) if is_projective_tree(heads, single_root)]


def all_trees(n: int) -> list[tuple[int, ...]]:
    """The heads of every tree over n words, crossing or not."""
    return [heads for heads in product(range(n + 1), repeat=n) if is_tree(np.array(heads, np.int32))]


def is_projective_tree(heads: tuple[int, ...], single_root: bool = False) -> bool:
    if single_root and heads.count(0) != 1:
        return False
    nodes = (0, *heads)
    for word in range(1, len(nodes)):
        seen, at = set(), word
        while at:
            if at in seen:
                return False
            seen.add(at)
            at = nodes[at]
    for word in range(1, len(nodes)):
        low, high = sorted((word, nodes[word]))
        for inside in range(low + 1, high):
            at = inside
            while at not in (0, nodes[word]):
                at = nodes[at]
            if at != nodes[word]:
                return False
    return True


def candidates(system: TransitionSystem, state: np.ndarray) -> Iterator[int]:
    candidate = 0
    while candidate >= 0:
        yield candidate
        candidate = systems.following(system.number, state, candidate)


def legal_actions(
    system: TransitionSystem, state: np.ndarray, labels: int = 1, single_root: bool = False
) -> list[tuple[int, int, int]]:
    """Every legal (candidate, move, label)."""
    found = []
    for candidate in candidates(system, state):
        moves = systems.legal(system.number, state, candidate, single_root)
        for move in range(len(MOVES)):
            if moves >> move & 1:
                choices = range(labels) if move in system.arcs else [-1]
                found += [(candidate, move, label) for label in choices]
    return found


def key_of(system: TransitionSystem, state: np.ndarray, n: int) -> tuple[object, ...]:
    """What tells configurations apart."""
    arcs = (tuple(state[1 : n + 1, HEAD].tolist()), tuple(state[1 : n + 1, LABEL].tolist()))
    size = int(state[SIZE, SCALAR])
    if not size:
        return (*arcs, tuple(state[: n + 1, NEXT].tolist()), tuple(state[:6, SCALAR].tolist()))
    return (*arcs, tuple(state[:size, STACK].tolist()), int(state[FRONT, SCALAR]))


@dataclass
class Configuration:
    """A configuration with its actions and, for every tree, the least loss of what can be reached from it."""

    state: np.ndarray
    actions: list[tuple[int, int, int]]
    after: list[Configuration]
    least: np.ndarray


def explore(
    system: TransitionSystem, n: int, trees: list[tuple[tuple[int, ...], tuple[int, ...]]], labels: int = 1,
    single_root: bool = False,
) -> dict[tuple[object, ...], Configuration]:  # fmt: skip
    """All configurations over n words; `trees` are heads and labels."""
    gold_heads = np.array([heads for heads, _ in trees])
    gold_labels = np.array([marks for _, marks in trees])
    found: dict[tuple[object, ...], Configuration] = {}

    def visit(state: np.ndarray) -> Configuration:
        key = key_of(system, state, n)
        if key in found:
            return found[key]
        configuration = Configuration(state, [], [], np.zeros(0))
        found[key] = configuration
        if systems.finished(system.number, state):
            wrong = (gold_heads != state[1 : n + 1, HEAD]) | (gold_labels != state[1 : n + 1, LABEL])
            configuration.least = wrong.sum(axis=1)
            return configuration
        configuration.actions = legal_actions(system, state, labels, single_root)
        for candidate, move, label in configuration.actions:
            after = state.copy()
            systems.apply(system.number, after, candidate, move, label)
            configuration.after.append(visit(after))
        assert configuration.after, "a configuration without legal moves that is not final"
        configuration.least = np.min([one.least for one in configuration.after], axis=0)
        return configuration

    state = new_state(n)
    systems.start(system.number, state, n)
    visit(state)
    return found


def unlabelled(trees: list[tuple[int, ...]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(heads, (0,) * len(heads)) for heads in trees]


def labelled(trees: list[tuple[int, ...]], labels: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(heads, marks) for heads in trees for marks in product(range(labels), repeat=len(heads))]


def cost_of(
    system: TransitionSystem, state: np.ndarray, gold: np.ndarray, candidate: int, move: int, label: int
) -> int:
    number = system.number
    own = systems.cost(number, state, gold, candidate, move)
    return own + systems.label_cost(number, state, gold, candidate, move, label)


def gold_of(tree: tuple[tuple[int, ...], tuple[int, ...]]) -> np.ndarray:
    return gold_table(np.array(tree[0], dtype=np.int32), np.array(tree[1], dtype=np.int32))


def check_costs(name: str, n: int, labels: int = 1, single_root: bool = False) -> int:
    """Compare every cost with exhaustive search; returns the number of transitions looked at."""
    system = system_named(name)
    trees = projective_trees(n, single_root) if system.projective else all_trees(n)
    golds = labelled(trees, labels) if labels > 1 else unlabelled(trees)
    tables = [gold_of(tree) for tree in golds]
    checked = 0
    for configuration in explore(system, n, golds, labels, single_root).values():
        if system.quadratic and len(configuration.actions) == 1:
            continue  # ROOT takes what is left: costs are those of a single root
        for action, after in zip(configuration.actions, configuration.after, strict=True):
            difference = after.least - configuration.least
            for gold, expected in zip(tables, difference.tolist(), strict=True):
                assert cost_of(system, configuration.state, gold, *action) == expected, (action, gold)
                checked += 1
    return checked


def random_tree(n: int, seed: int) -> tuple[int, ...]:
    """A projective tree: random spans, each with a random head."""
    rng = np.random.default_rng(seed)
    heads = [0] * (n + 1)

    def hang(low: int, high: int, head: int) -> None:
        while low <= high:
            end = int(rng.integers(low, high + 1))
            root = int(rng.integers(low, end + 1))
            heads[root] = head
            hang(low, root - 1, root)
            hang(root + 1, end, root)
            low = end + 1

    hang(1, n, 0)
    found = tuple(heads[1:])
    assert is_projective_tree(found)
    return found
