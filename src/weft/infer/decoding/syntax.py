"""The second pass of translation with a shift-reduce parser: what needs the pieces on the stack, not their types alone.

    dependency model   log P of every child given its head and its sibling, as soon as it is attached; P of the root
    reductions         log P of the action at h on h, by a classifier that sees the upper two pieces

A piece on the stack is its root with the leftmost and rightmost child, or the roots of a floating one. Stacks are
linked lists whose equal ones are stored once, so the state of a hypothesis is one number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints, Keys, Singles
from weft.infer.decoding.features import Batch, Control
from weft.infer.decoding.ngrams import Automaton
from weft.infer.decoding.options import Options
from weft.infer.decoding.pieces import Pieces
from weft.infer.decoding.shift_reduce import LEFT_ACTION, RIGHT_ACTION, SHIFT, H, labels_of
from weft.infer.decoding.siblings import ROOT_HEAD, STOP, event
from weft.kernel import inner_kernel, kernel

N_TEMPLATES = 21


@inner_kernel
def _mixed(template: int, first: int, second: int, third: int) -> np.uint64:
    value = np.uint64(template + 1) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ np.uint64(first + 2)) * np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(29)
    value = (value ^ np.uint64(second + 2)) * np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    value = (value ^ np.uint64(third + 2)) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(32))


@inner_kernel
def write_keys(
    complete: int, wt: int, tt: int, wtr: int, ttr: int, ws: int, ts: int, wsl: int, tsl: int, out: Keys
) -> None:
    """The features of h on h: words w and tags t of the root of t and its rightmost child, of s and its leftmost."""
    out[0] = _mixed(0, complete, 0, 0)
    out[1] = _mixed(1, ws, 0, 0)
    out[2] = _mixed(2, wt, 0, 0)
    out[3] = _mixed(3, wsl, 0, 0)
    out[4] = _mixed(4, wtr, 0, 0)
    out[5] = _mixed(5, ts, 0, 0)
    out[6] = _mixed(6, tt, 0, 0)
    out[7] = _mixed(7, tsl, 0, 0)
    out[8] = _mixed(8, ttr, 0, 0)
    out[9] = _mixed(9, ws, wt, 0)
    out[10] = _mixed(10, ts, tt, 0)
    out[11] = _mixed(11, ws, ts, 0)
    out[12] = _mixed(12, wt, tt, 0)
    out[13] = _mixed(13, ws, wtr, 0)
    out[14] = _mixed(14, wt, wsl, 0)
    out[15] = _mixed(15, complete, ws, wt)
    out[16] = _mixed(16, complete, ts, tt)
    out[17] = _mixed(17, ws, wt, tsl)
    out[18] = _mixed(18, ws, wt, ttr)
    out[19] = _mixed(19, ts, tt, tsl)
    out[20] = _mixed(20, ts, tt, ttr)


@kernel
def keys_of_events(events: Ids, found: Keys) -> None:
    """The features of events: rows of c, then words and tags as `write_keys` takes them."""
    for i in range(len(events)):
        e = events[i]
        write_keys(e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8], found[i])


class Reductions(NamedTuple):
    """The weights of a classifier of actions: a row per slot of a hashed table, a column per action."""

    weights: Singles
    word: Ids  #: the word of every token, as the classifier and the dependency model number it
    tag: Ids

    def probabilities(self, events: Ids) -> Floats:
        """The probabilities of the actions for events."""
        found = np.empty((len(events), 3))
        _probabilities(self.weights, np.ascontiguousarray(events, np.int32), np.empty(N_TEMPLATES, np.uint64), found)
        return found


@inner_kernel
def _log_probabilities(weights: Singles, keys: Keys, complete: int, out: Floats) -> None:
    """Log probabilities of the three actions; if all is translated the first is left as it is: nothing is shifted."""
    mask = np.uint64(len(weights) - 1)
    shift, left, right = 0.0, 0.0, 0.0
    for k in range(len(keys)):
        row = weights[np.int64(keys[k] & mask)]
        shift += row[SHIFT]
        left += row[LEFT_ACTION]
        right += row[RIGHT_ACTION]
    most = max(left, right) if complete else max(shift, left, right)
    total = np.exp(left - most) + np.exp(right - most)
    if not complete:
        total += np.exp(shift - most)
        out[SHIFT] = shift - most - np.log(total)
    out[LEFT_ACTION], out[RIGHT_ACTION] = left - most - np.log(total), right - most - np.log(total)


@kernel
def _probabilities(weights: Singles, events: Ids, keys: Keys, found: Floats) -> None:
    for i in range(len(events)):
        e = events[i]
        write_keys(e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8], keys)
        found[i, SHIFT] = -np.inf
        _log_probabilities(weights, keys, e[0], found[i])
        for action in range(3):
            found[i, action] = np.exp(found[i, action])


@dataclass(frozen=True, eq=False)
class Syntax:
    """The feature; labels of options number their pieces."""

    pieces: Pieces
    inner: Floats  #: of every piece, by the dependency model
    left: Automaton
    right: Automaton
    reductions: Reductions
    kept: tuple[str, ...] = ("dependency model", "reductions")
    stops: bool = False  #: whether the dependency model predicts where children end

    @property
    def names(self) -> tuple[str, ...]:
        return self.kept

    def bind(self, options: Options) -> _Bound:
        """The scorer of one sentence."""
        return _Bound(self, labels_of(options, len(self.pieces)))


#: Columns of a stack: the one below, the piece if it floats (-1: it does not), root, leftmost and rightmost child.
_BELOW, _FLOATS, _ROOT, _LEFTMOST, _RIGHTMOST = 0, 1, 2, 3, 4
_WIDTH = 5


class _Bound:
    control: Control | None = None

    def __init__(self, feature: Syntax, piece: Ids) -> None:
        self._feature, self._piece = feature, piece
        self._columns = np.array([("dependency model", "reductions").index(name) for name in feature.kept])
        self.start = np.zeros(1, np.int32)
        self.estimate = np.zeros((len(piece), len(feature.kept)))
        self.estimate[:, self._columns == 0] = np.where(piece >= 0, feature.inner[piece], 0.0)[:, None]
        self._stacks, self._slots = np.zeros((1 << 10, _WIDTH), np.int32), np.full(1 << 11, -1, np.int32)
        self._size = np.ones(1, np.int64)  # stack 0 is empty
        # Log probabilities of the actions at a stack: three while something is left to translate, then two; 1: not yet.
        self._known = np.ones((len(self._stacks), 5))

    def expand(self, batch: Batch, states: Ids) -> tuple[Floats, Ids]:
        self._make_room(len(batch))
        scores, after = np.zeros((len(batch), 2)), np.empty(len(batch), np.int32)
        own, pieces = self._feature, self._feature.pieces
        _expand(
            batch.option, batch.complete, batch.n_options, states, self._piece, pieces.kind, pieces.root_offsets,
            pieces.roots, pieces.left, pieces.right, own.inner, own.left, own.right, own.stops, own.reductions,
            self._stacks, self._slots, self._size, self._known, np.empty(N_TEMPLATES, np.uint64), scores, after,
        )  # fmt: skip
        return scores[:, self._columns], after[:, None]

    def finish(self, states: Ids) -> Floats:
        scores = np.zeros((len(states), 2))
        own = self._feature
        _finish(states, self._stacks, own.reductions.word, own.left, own.right, own.stops, scores)
        return scores[:, self._columns]

    def _make_room(self, more: int) -> None:
        """Let the table of stacks hold so many more."""
        need = int(self._size[0]) + more
        if need > len(self._stacks):
            stacks = np.zeros((2 * need, _WIDTH), np.int32)
            stacks[: self._size[0]] = self._stacks[: self._size[0]]
            known = np.ones((2 * need, 5))
            known[: self._size[0]] = self._known[: self._size[0]]
            self._stacks, self._known = stacks, known
        if 2 * need > len(self._slots):
            self._slots = np.full(1 << (4 * need).bit_length(), -1, np.int32)
            _rehash(self._stacks, self._slots, int(self._size[0]))


@inner_kernel
def _ends(left: Automaton, right: Automaton, root: int, leftmost: int, rightmost: int) -> float:
    """The score of having no more children on either side."""
    return event(left, leftmost, root, STOP) + event(right, rightmost, root, STOP)


@kernel
def _finish(
    states: Ids, stacks: Ids, word: Ids, left: Automaton, right: Automaton, stops: bool, scores: Floats
) -> None:  # fmt: skip
    for i in range(len(states)):
        s = int(states[i, 0])
        root = _word(word, stacks[s, _ROOT])
        scores[i, 0] = event(left, -1, ROOT_HEAD, root)
        if stops:
            left_end, right_end = _word(word, stacks[s, _LEFTMOST]), _word(word, stacks[s, _RIGHTMOST])
            scores[i, 0] += _ends(left, right, root, left_end, right_end)


@inner_kernel
def _slot(stacks: Ids, slots: Ids, below: int, floats: int, root: int, leftmost: int, rightmost: int) -> int:
    value = np.uint64(below + 2) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ np.uint64(floats + 2)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ np.uint64(root + 2)) * np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(29)
    value = (value ^ np.uint64(leftmost + 2)) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ np.uint64(rightmost + 2)) * np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(32)
    mask = len(slots) - 1
    at = np.int64(value & np.uint64(mask))
    while slots[at] >= 0:
        s = slots[at]
        if (
            stacks[s, 0] == below and stacks[s, 1] == floats and stacks[s, 2] == root
            and stacks[s, 3] == leftmost and stacks[s, 4] == rightmost
        ):  # fmt: skip
            break
        at = (at + 1) & mask
    return int(at)


@inner_kernel
def _stored(
    stacks: Ids, slots: Ids, size: Ints, below: int, floats: int, root: int, leftmost: int, rightmost: int
) -> int:
    """The number of a stack, new if there is none like it yet."""
    at = _slot(stacks, slots, below, floats, root, leftmost, rightmost)
    if slots[at] < 0:
        s = size[0]
        stacks[s, 0], stacks[s, 1], stacks[s, 2] = below, floats, root
        stacks[s, 3], stacks[s, 4] = leftmost, rightmost
        slots[at] = s
        size[0] += 1
    return int(slots[at])


@kernel
def _rehash(stacks: Ids, slots: Ids, size: int) -> None:
    for s in range(1, size):
        slots[_slot(stacks, slots, stacks[s, 0], stacks[s, 1], stacks[s, 2], stacks[s, 3], stacks[s, 4])] = s


@inner_kernel
def _word(table: Ids, token: int) -> int:
    return int(table[token]) if token >= 0 else -1


@kernel
def _expand(
    option: Ids, complete: np.ndarray, n_options: int, states: Ids, piece: Ids, kind: Ids, root_offsets: Ints,
    roots: Ids, left: Ids, right: Ids, inner: Floats, left_model: Automaton, right_model: Automaton,
    stops: bool, reductions: Reductions, stacks: Ids, slots: Ids, size: Ints, known: Floats, keys: Keys, scores: Floats,
    after: Ids,
) -> None:  # fmt: skip
    word, tag = reductions.word, reductions.tag
    for i in range(len(option)):
        top = int(states[i, 0])
        below = int(stacks[top, _BELOW])
        o = option[i]
        if top > 0 and below > 0 and stacks[top, _FLOATS] < 0 and stacks[below, _FLOATS] < 0:
            ended = 1 if complete[i] and o >= n_options else 0
            action = SHIFT if o < n_options else LEFT_ACTION + o - n_options
            column = action + 2 * ended
            if known[top, column] > 0:
                t, t_right = stacks[below, _ROOT], stacks[below, _RIGHTMOST]
                s, s_left = stacks[top, _ROOT], stacks[top, _LEFTMOST]
                write_keys(
                    ended, _word(word, t), _word(tag, t), _word(word, t_right), _word(tag, t_right),
                    _word(word, s), _word(tag, s), _word(word, s_left), _word(tag, s_left), keys,
                )  # fmt: skip
                _log_probabilities(reductions.weights, keys, ended, known[top, 2 * ended : 2 * ended + 3])
            scores[i, 1] = known[top, column]
        if o < n_options:
            p = piece[o]
            scores[i, 0] = inner[p]
            if kind[p] == H:
                root = roots[root_offsets[p]]
                after[i] = _stored(stacks, slots, size, top, -1, root, left[p], right[p])
            else:
                after[i] = _stored(stacks, slots, size, top, p, -1, -1, -1)
            continue
        to_left = o == n_options
        head, child = (top, below) if to_left else (below, top)
        root, leftmost, rightmost = stacks[head, _ROOT], stacks[head, _LEFTMOST], stacks[head, _RIGHTMOST]
        floating = stacks[child, _FLOATS]
        first, last = 0, 1
        if floating >= 0:
            first, last = root_offsets[floating], root_offsets[floating + 1]
        total = 0.0
        if stops and floating < 0:
            total += _ends(
                left_model, right_model, _word(word, stacks[child, _ROOT]), _word(word, stacks[child, _LEFTMOST]),
                _word(word, stacks[child, _RIGHTMOST]),
            )  # fmt: skip
        for k in range(last - first):
            # The nearest one first.
            token = stacks[child, _ROOT]
            if floating >= 0:
                token = roots[last - 1 - k] if to_left else roots[first + k]
            if to_left:
                total += event(left_model, _word(word, leftmost), _word(word, root), _word(word, token))
                leftmost = token
            else:
                total += event(right_model, _word(word, rightmost), _word(word, root), _word(word, token))
                rightmost = token
        scores[i, 0] = total
        after[i] = _stored(stacks, slots, size, int(stacks[below, _BELOW]), -1, root, leftmost, rightmost)
