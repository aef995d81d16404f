"""Learning the labels of dependents by MIRA on the single best sequence (McDonald, Lerman & Pereira 2006).

    w <- w + alpha * d,   d = F(gold) - F(best),   alpha = min(C, (loss - w . d) / ||d||^2)   where that is positive

for every head with its dependents; loss is the number of wrong labels. It is `weft.learn.online.mira` for k = 1, in one
kernel that reads features from trees as it goes, and the weights are the mean over all heads visited, as there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.features.tree_relations import Table, look_at, most_features
from weft.kernel import inner_kernel, kernel
from weft.learn.trees.sibling_labels import LabelModel, Room, Trees, find_best, new_room, pair_place
from weft.ragged import one_block

Steps = NDArray[np.int16]


@dataclass(frozen=True)
class SiblingLearner:
    """Options of training: passes over the trees, cap C on the step, mean weights or the last ones, order."""

    epochs: int = 6
    cap: float = math.inf
    average: bool = True
    shuffle: bool = True
    seed: int = 0

    def fit(self, model: LabelModel, trees: Trees, labels: NDArray[np.int32]) -> tuple[Floats, list[int]]:
        """The weights, and the number of wrong labels in every epoch; heads with an unknown label (-1) are left out.

        The model's own weights say how many there are and where training begins.
        """
        if self.epochs < 1 or self.cap <= 0:
            raise ConfigError(f"epochs >= 1 and cap > 0 needed, got {self.epochs} and {self.cap}")
        gold = one_block(labels, np.int32)
        if len(gold) != len(trees.heads):
            raise DataError(f"{len(trees.heads)} words need as many labels; given: {len(gold)}")
        weights = np.array(model.weights, dtype=np.float32)
        late = np.zeros(len(weights) if self.average else 0)
        model = model._replace(weights=weights)
        longest = int(np.diff(trees.sentences).max(initial=0))
        room = new_room(longest, model)
        most = most_features(model.arcs) + most_features(model.pairs)
        change, touched = np.zeros(len(weights), np.int16), np.zeros(2 * longest * most, np.int64)
        amounts = np.zeros(len(touched), np.int16)
        rng = np.random.default_rng(self.seed)
        clock, history = np.zeros(1), []
        order = np.arange(len(trees.sentences) - 1)
        for _ in range(self.epochs):
            if self.shuffle:
                order = rng.permutation(len(order))
            wrong = _epoch(model, trees, gold, order, self.cap, late, change, touched, amounts, clock, room)
            history.append(int(wrong))
        means = weights.astype(np.float64)
        return means - late / max(clock[0], 1.0) if self.average else means, history


@inner_kernel
def _take(change: Steps, touched: Ints, n: int, place: np.int64, by: int) -> int:
    """Note that a weight changes by so much; how many notes there are."""
    change[place] += by
    touched[n] = place
    return n + 1


@inner_kernel
def _difference(
    model: LabelModel, trees: Trees, gold: Table, offset: int, n: int, head: int, length: int, room: Room,
    change: Steps, touched: Ints,
) -> int:  # fmt: skip
    """Note the features of the gold sequence, less those of the one found."""
    begin = room.tree.first[head]
    notes = 0
    gold_before, found_before = -1, -1
    for m in range(length):
        label, found = gold[offset + room.tree.kids[begin + m] - 1], room.path[m]
        if label != found:
            for f in range(room.counts[m]):
                notes = _take(change, touched, notes, room.places[m, f] + label, 1)
                notes = _take(change, touched, notes, room.places[m, f] + found, -1)
        if model.sequence and (label != found or gold_before != found_before):
            for g in range(room.pair_counts[m]):
                place = pair_place(model, room, m, g, gold_before)
                notes = _take(change, touched, notes, place + label, 1)
                place = pair_place(model, room, m, g, found_before)
                notes = _take(change, touched, notes, place + found, -1)
        gold_before, found_before = label, found
    return notes


@kernel
def _epoch(
    model: LabelModel, trees: Trees, gold: Table, order: Ints, cap: float, late: Floats, change: Steps,
    touched: Ints, amounts: Steps, clock: Floats, room: Room,
) -> int:  # fmt: skip
    """One pass over all heads; the number of wrong labels. `change` is all zeros before and after."""
    weights, view = model.weights, room.tree
    errors = 0
    for s in order:
        offset = trees.sentences[s]
        n = trees.sentences[s + 1] - offset
        look_at(trees.heads, offset, n, view)
        for head in range(n + 1):
            begin, end = view.first[head], view.first[head + 1]
            known = begin < end
            for k in range(begin, end):
                known = known and gold[offset + view.kids[k] - 1] >= 0
            if not known:
                continue
            length = find_best(model, trees, offset, n, head, room)
            wrong = 0
            for m in range(length):
                if gold[offset + view.kids[begin + m] - 1] != room.path[m]:
                    wrong += 1
            if wrong > 0:
                errors += wrong
                notes = _difference(model, trees, gold, offset, n, head, length, room, change, touched)
                margin, square = 0.0, 0.0
                for note in range(notes):
                    place = touched[note]
                    by = change[place]  # the whole of it at the place's first note, nothing at later ones
                    change[place] = 0
                    amounts[note] = by
                    margin += by * weights[place]
                    square += by * by
                if square > 0.0 and wrong > margin:
                    alpha = min(cap, (wrong - margin) / square)
                    for note in range(notes):
                        weights[touched[note]] += alpha * amounts[note]
                        if len(late) > 0:
                            late[touched[note]] += clock[0] * (alpha * amounts[note])
            clock[0] += 1.0
    return errors
