"""The initial state of an adaptor grammar's chain: encoded utterances, empty restaurants, scratch space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import DataError
from weft.infer.forests.grammar import CodedGrammar
from weft.infer.forests.pcfg import make_chart, parse_room
from weft.learn.adaptor.restaurants import FREE_ENTRY, FREE_TABLE, Restaurants
from weft.learn.adaptor.sampler import Scratch

#: From about so many sounds on, the probability of any parse may be too small for a float.
_LONG = 100
_SHOWN = 40


def encode_all(coded: CodedGrammar, utterances: Sequence[Sequence[str]]) -> list[list[int]]:
    """Utterances as numbers of terminals; empty ones and unknown sounds are errors."""
    if not utterances:
        raise DataError("there are no utterances to parse")
    number = {terminal: t for t, terminal in enumerate(coded.terminals)}
    found = []
    for u, utterance in enumerate(utterances, 1):
        if not utterance:
            raise DataError(f"utterance {u} is empty")
        unknown = [name for name in utterance if name not in number]
        if unknown:
            raise DataError(f"utterance {u} has {unknown[0]!r}, which is no terminal of the grammar")
        found.append([number[name] for name in utterance])
    return found


def no_parse(u: int, coded: CodedGrammar, terminals: NDArray[Any], starts: NDArray[Any]) -> DataError:
    """The error for an utterance that the grammar cannot parse, or whose parses are too improbable for a float."""
    size = int(starts[u + 1] - starts[u])
    shown = " ".join(coded.terminals[t] for t in terminals[starts[u] : starts[u] + min(size, _SHOWN)].tolist())
    if size > _LONG:
        return DataError(f"utterance {u + 1} ({shown} ...) is too long with {size} sounds, or has no parse; cut it")
    return DataError(f"the grammar has no parse of utterance {u + 1} ({shown}); leave it out or add rules")


def make_scratch(coded: CodedGrammar, longest: int) -> Scratch:
    """Room for steps over strings of that many terminals."""
    n, room = len(coded.symbols), parse_room(longest, len(coded.symbols))
    return Scratch(
        make_chart(n, longest), np.zeros(len(coded.rules) + 1), np.ones(n), np.zeros((room, 3), dtype=np.int64),
        np.zeros((room, 3), dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros(2, dtype=np.int64),
    )  # fmt: skip


def empty_restaurants(
    coded: CodedGrammar, n_strings: int, discount: float, strength: float, seed: int, touched: int
) -> Restaurants:
    """Restaurants without customers; arrays that grow have no rows yet."""
    n, rules = len(coded.symbols), len(coded.rules)
    alpha = np.array([rule.alpha for rule in coded.rules])
    left_alpha = np.bincount(coded.arrays.left_of, weights=alpha, minlength=n).astype(np.float64)
    places = np.zeros(8, dtype=np.int64)
    places[[FREE_TABLE, FREE_ENTRY]] = -1
    return Restaurants(
        heads=np.full(n_strings, -1, dtype=np.int64),
        entries=np.zeros((0, 6), dtype=np.int64),
        tables=np.zeros((0, 5), dtype=np.int64),
        hashes=np.zeros(0, dtype=np.uint64),
        codes=np.zeros(0, dtype=np.int64),
        customers=np.zeros(n, dtype=np.int64),
        n_tables=np.zeros(n, dtype=np.int64),
        discount=np.full(n, discount),
        strength=np.full(n, strength),
        rule_counts=np.zeros(rules, dtype=np.int64),
        left_counts=np.zeros(n, dtype=np.int64),
        alpha=alpha,
        left_alpha=left_alpha,
        places=places,
        touched=np.zeros(touched, dtype=np.int64),
        logs=np.zeros(2),
        random=np.array([seed], dtype=np.uint64),
    )


def from_below(coded: CodedGrammar) -> list[int]:
    """Adapted symbols, each after those that its trees contain."""
    arrays = coded.arrays
    below: dict[int, set[int]] = {s: set() for s in range(coded.n_named)}
    for r, left in enumerate(arrays.left_of.tolist()):
        below[left].update(
            s for s in arrays.rights[arrays.right_starts[r] : arrays.right_starts[r + 1]].tolist() if s >= 0
        )
    for _ in below:
        for inside in below.values():
            for s in list(inside):
                inside |= below[s]
    return sorted(coded.adapted, key=lambda s: len(below[s]))
