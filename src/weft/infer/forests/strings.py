"""Numbers of all substrings of a text, so that tables by substring are plain arrays.

    number(w_p .. w_q) = node of the trie of all substrings, in the order in which they are first met

A text is a row of utterances; substrings do not run over their ends. Other texts are looked up in the same trie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.infer.forests.pcfg import Text
from weft.kernel import kernel

_K = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Strings:
    """The substrings of a text: where each is first met and how long it is.

    >>> text, starts, strings = number_strings([[0, 1, 0, 1], [1, 0]])
    >>> len(strings), strings.look_up([[1, 0, 2]])[0].strings.tolist()
    (7, [4, 5, -1, 0, -1, -1])
    """

    where: NDArray[np.int64]
    sizes: Ints
    _keys: NDArray[np.int64]  # open addressing: node * width + terminal
    _nodes: Ints
    _width: int

    def __len__(self) -> int:
        return len(self.where)

    def look_up(self, utterances: Sequence[Sequence[int]]) -> tuple[Text, NDArray[np.int64]]:
        """Another text with the numbers of its substrings, -1 for those not met, and where its utterances start."""
        text, starts = _text(utterances)
        _number(text.terminals, starts, text.rows, text.strings, self._keys, self._nodes, self._width, False,
                self.where, self.sizes)  # fmt: skip
        return text, starts


def number_strings(utterances: Sequence[Sequence[int]]) -> tuple[Text, NDArray[np.int64], Strings]:
    """A text with the numbers of its substrings, where its utterances start, and the substrings."""
    text, starts = _text(utterances)
    most = len(text.strings)
    slots = 1 << max(4, (2 * most).bit_length())
    keys, nodes = np.full(slots, -1, dtype=np.int64), np.zeros(slots, dtype=np.int64)
    width = int(text.terminals.max(initial=0)) + 1
    where, sizes = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    n = _number(text.terminals, starts, text.rows, text.strings, keys, nodes, width, True, where, sizes)
    return text, starts, Strings(where[:n].copy(), sizes[:n].copy(), keys, nodes, width)


def _text(utterances: Sequence[Sequence[int]]) -> tuple[Text, NDArray[np.int64]]:
    sizes = np.array([len(utterance) for utterance in utterances], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    terminals = np.array([t for utterance in utterances for t in utterance], dtype=np.int64)
    left = np.repeat(starts[1:], sizes) - np.arange(len(terminals))  # terminals from here to the end
    rows = np.concatenate([[0], np.cumsum(left)])
    return Text(terminals, rows[:-1], np.full(int(rows[-1]), -1, dtype=np.int64)), starts


@kernel
def _number(
    terminals: Ints, starts: NDArray[np.int64], rows: NDArray[np.int64], strings: Ints, keys: NDArray[np.int64],
    nodes: Ints, width: int, grow: bool, where: NDArray[np.int64], sizes: Ints,
) -> int:  # fmt: skip
    """Walk the trie from every position; with `grow` substrings not met are added. How many there are."""
    mask = keys.shape[0] - 1
    n = 0
    for u in range(starts.shape[0] - 1):
        for p in range(starts[u], starts[u + 1]):
            node = 0  # the root; string s is node s + 1
            for q in range(p, starts[u + 1]):
                t = terminals[q]
                if t >= width:
                    break
                key = np.int64(node) * width + t
                slot = np.int64((np.uint64(key) * _K) >> np.uint64(32)) & mask
                while keys[slot] >= 0 and keys[slot] != key:
                    slot = (slot + 1) & mask
                if keys[slot] < 0:
                    if not grow:
                        break
                    keys[slot], nodes[slot] = key, n + 1
                    where[n], sizes[n] = p, q - p + 1
                    n += 1
                node = nodes[slot]
                strings[rows[p] + q - p] = node - 1
    return n
