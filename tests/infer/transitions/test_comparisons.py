"""Comparisons of words and stretches in templates, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transition_twins import legal_actions

from weft.errors import TemplateError
from weft.infer.transitions import systems
from weft.infer.transitions.comparisons import LONGEST
from weft.infer.transitions.scoring import new_scratch
from weft.infer.transitions.state import FRONT, HEAD, LE, SCALAR, SIZE, STACK, attach, new_state
from weft.infer.transitions.systems import EDITING
from weft.infer.transitions.templates import compile_templates, feature_keys


def walk(n: int, seed: int) -> np.ndarray:
    """A configuration somewhere on a random computation."""
    rng = np.random.default_rng(seed)
    state = new_state(n)
    systems.start(EDITING.number, state, n)
    for _ in range(int(rng.integers(1, 3 * n))):
        actions = legal_actions(EDITING, state)
        if systems.finished(EDITING.number, state):
            break
        systems.apply(EDITING.number, state, *actions[int(rng.integers(len(actions)))])
    return state


def keys_of(template: str, state: np.ndarray, words: np.ndarray) -> list[int]:
    program = compile_templates(template, EDITING, ["w", "t"])
    room, bases = new_scratch(program, 1), np.zeros(16, dtype=np.int32)
    systems.bases(EDITING.number, state, 0, bases)
    feature_keys(program, program.compares, state, bases, words, 0, room.nodes, room.atoms, room.keys)
    return room.keys.tolist()


def below(heads: list[int], node: int) -> list[int]:
    found = [node]
    for child, head in enumerate(heads):
        if child != head == node and child:
            found += below(heads, child)
    return found


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10**6))
def test_comparisons_agree_with_their_definitions(n, seed):
    state = walk(n, seed)
    words = np.random.default_rng(seed).integers(1, 3, (n + 1, 2)).astype(np.uint64)
    heads = state[: n + 1, HEAD].tolist()
    s = int(state[state[SIZE, SCALAR] - 1, STACK]) if state[SIZE, SCALAR] else -1
    b = int(state[FRONT, SCALAR]) if state[FRONT, SCALAR] <= n else 0
    whole = s > 0 and b > 0
    stretches = [list(range(min(below(heads, node)), node + 1)) if node > 0 else [] for node in (s, b)]
    agree = [words[x, 0] == words[y, 0] for x, y in zip(*stretches, strict=False)]
    length = next((i for i, same in enumerate(agree) if not same), len(agree)) if whole else 0
    same = whole and len(stretches[0]) == len(stretches[1]) and all(agree)
    fired = [key != 0 for key in keys_of("S0^N0.w S0==N0.w S0=N0.t S0=N0.t|S0.t", state, words)]
    equal = bool(whole and words[s, 1] == words[b, 1])
    assert fired == [length > 0, same, equal, equal]
    end = b if b > 0 else n + 1
    struck = [1 <= word <= n and heads[word] == word for word in range(-1, n + 4)]
    expected = [struck[end], struck[end] and struck[end - 1]] if end > 0 else [False, False]
    if s > 0:
        expected += [struck[s + 2], struck[s + 2] and struck[s + 3]]
    else:
        expected += [False, False]
    assert [key != 0 for key in keys_of("N0.El,EEl S0.Er,EEr", state, words)] == expected
    if s > 0:
        family = below(heads, s)
        left = [child for child in range(1, s) if heads[child] == s]
        right = [child for child in range(s + 1, n + 1) if heads[child] == s]
        for path, node in (
            ("le", min(family)),
            ("re", max(family)),
            ("l0", left[-1] if left else -1),
            ("r0", right[0] if right else -1),
        ):
            distance = keys_of(f"S0~S0{path}", state, words)[0]
            assert (distance != 0) == (node >= 0)
            if node >= 0:
                assert distance == keys_of(f"S0~S0{path}", _with_node(s, node, n, path), words)[0]


def _with_node(s: int, node: int, n: int, path: str) -> np.ndarray:
    """A configuration in which the path from s leads to a node, built by hand: one arc between the two."""
    state = new_state(n)
    systems.start(EDITING.number, state, n)
    state[SIZE, SCALAR], state[0, STACK] = 1, s
    if node != s:
        attach(state, s, node, 0)
    state[FRONT, SCALAR] = max(s, node) + 1
    return state


def test_longer_copies_are_not_told_apart():
    n = 2 * (LONGEST + 2)
    words = np.array([[9, 9]] + [[1 + i % (LONGEST + 2), 1] for i in range(n)], dtype=np.uint64)
    half = n // 2
    state = new_state(n)
    systems.start(EDITING.number, state, n)
    seen = []
    for length in range(1, half + 1):
        # Two stretches of the same words: all but the last of each hang on it.
        systems.start(EDITING.number, state, n)
        state[SIZE, SCALAR], state[0, STACK] = 1, length
        state[FRONT, SCALAR] = half + length
        state[length, LE], state[half + length, LE] = 1, half + 1
        seen.append(keys_of("S0^N0.w", state, words)[0])
    assert len(set(seen[:LONGEST])) == LONGEST
    assert len(set(seen[LONGEST - 1 :])) == 1


@pytest.mark.parametrize("template", ["S0=N9.w", "S0=N0.q", "S0==N0", "S0^.w"])
def test_comparisons_of_unknown_nodes_and_fields_are_refused(template):
    with pytest.raises(TemplateError):
        compile_templates(template, EDITING, ["w", "t"])
