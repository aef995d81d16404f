"""Beam search against all computations, and against greedy decoding."""

from __future__ import annotations

import numpy as np
import pytest
from transition_twins import legal_actions

from weft.hashing import hash_string
from weft.infer.transitions import systems
from weft.infer.transitions.model import TransitionParser
from weft.infer.transitions.scoring import candidate_keys, score_actions
from weft.infer.transitions.state import HEAD, LABEL, LEFT, MOVES, RIGHT, new_state
from weft.infer.transitions.weights import NARROW

TEMPLATES = {
    "arc-eager": "both: S0.t N0.t S0.t|N0.t S0h.t S0.tvl,tvr",
    "arc-hybrid": "both: S0.t|N0.t S1.t|S0.t S0l.tL",
    "arc-standard": "both: S0.t|S1.t N0.t S0.tvr",
    "easy-first": "both: P0.t|P1.t P2.t M1.t|P0.tvl",
    "lr-spine": "both: S1.t|S2.t Q1.t GP.t|S2.t S1.tvl",
}


def random_parser(name: str, seed: int) -> TransitionParser:
    """A parser with two labels whose weights are drawn at random on every feature it meets."""
    system = systems.system_named(name)
    actions = [(move, label) for move in system.moves for label in ((0, 1) if move in (LEFT, RIGHT) else (-1,))]
    parser = TransitionParser(name, TEMPLATES[name], ["t"], actions)
    rng = np.random.default_rng(seed)
    features = np.unique(rng.integers(0, 2**32, 4000, dtype=np.uint64).astype(np.uint32))
    narrow = {"features": features, "weights": rng.integers(-9, 9, (len(features), NARROW)).astype(np.int16)}
    counts = np.full(len(features), NARROW + len(actions), dtype=np.uint16)
    columns = np.tile(np.arange(NARROW + len(actions), dtype=np.uint8), len(features))
    wide = {"features": features, "counts": counts, "columns": columns,
            "weights": rng.integers(-9, 9, len(columns)).astype(np.int16)}  # fmt: skip
    return parser.with_weights(narrow, wide)


def seeded(parser: TransitionParser, words: np.ndarray, n: int, seed: int) -> TransitionParser:
    """The same with weights for exactly the features of all configurations over these words."""
    room, keys = parser.new_scratch(), set()
    system = parser.system

    def visit(state: np.ndarray) -> None:
        if systems.finished(system.number, state):
            return
        for candidate, move, label in legal_actions(system, state, 2, True):
            candidate_keys(system.number, parser.model, state, candidate, words, 0, room)
            keys.update((room.keys[room.keys != 0] >> np.uint64(32)).tolist())
            after = state.copy()
            systems.apply(system.number, after, candidate, move, label)
            visit(after)

    state = new_state(n)
    systems.start(system.number, state, n)
    visit(state)
    rng = np.random.default_rng(seed)
    features = np.array(sorted(keys), dtype=np.uint32)
    columns = NARROW + len(parser.actions)
    narrow = {"features": features, "weights": rng.integers(-99, 99, (len(features), NARROW)).astype(np.int16)}
    wide = {
        "features": features,
        "counts": np.full(len(features), columns, dtype=np.uint16),
        "columns": np.tile(np.arange(columns, dtype=np.uint8), len(features)),
        "weights": rng.integers(-99, 99, columns * len(features)).astype(np.int16),
    }
    return parser.with_weights(narrow, wide)


def best_of_all(parser: TransitionParser, words: np.ndarray, n: int) -> tuple[int, set[tuple[tuple[int, ...], ...]]]:
    """The highest total of a computation, and the trees of those that reach it."""
    room, system = parser.new_scratch(), parser.system
    number = {action: i for i, action in enumerate(parser.actions)}
    found: dict[tuple[tuple[int, ...], ...], int] = {}

    def visit(state: np.ndarray, total: int) -> None:
        if systems.finished(system.number, state):
            tree = tuple(state[1 : n + 1, HEAD].tolist()), tuple(state[1 : n + 1, LABEL].tolist())
            found[tree] = max(total, found.get(tree, -(10**9)))
            return
        for candidate, move, label in legal_actions(system, state, 2, True):
            candidate_keys(system.number, parser.model, state, candidate, words, 0, room)
            scores = np.zeros(len(parser.actions), np.int32)
            score_actions(parser.model, room, scores)
            after = state.copy()
            systems.apply(system.number, after, candidate, move, label)
            visit(after, total + int(scores[number[move, label]]))

    state = new_state(n)
    systems.start(system.number, state, n)
    visit(state, 0)
    top = max(found.values())
    return top, {tree for tree, total in found.items() if total == top}


@pytest.mark.parametrize("name", list(TEMPLATES))
def test_a_wide_beam_finds_the_best_of_all_computations_and_a_narrow_one_is_greedy(name):
    n = 3
    tags = [hash_string(f"tag {i}") for i in range(n + 1)]
    words = np.array(tags, dtype=np.uint64).reshape(-1, 1)
    sentences = np.array([0, n])
    better = 0
    for seed in range(4):
        parser = seeded(random_parser(name, seed), words, n, seed)
        _, trees = best_of_all(parser, words, n)
        heads, labels = parser.parse(words, sentences, beam=5000)
        assert (tuple(heads.tolist()), tuple(labels.tolist())) in trees
        greedy, greedy_labels = parser.parse(words, sentences)
        better += (tuple(greedy.tolist()), tuple(greedy_labels.tolist())) not in trees
    assert better > 0, "greedy decoding was always best: the test cannot tell them apart"


def test_moves_have_the_names_they_are_numbered_by():
    assert MOVES[LEFT] == "left"
    assert MOVES[RIGHT] == "right"
