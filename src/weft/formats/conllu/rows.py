"""Rows of CoNLL-U, put together from arrays as UTF-8.

A kernel copies the columns of all words of a document into one buffer. It reads the strings of a table as bytes, which
`TableBytes` encodes once each, and runs without the interpreter's lock, so that other threads annotate meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids, Ints
from weft.kernel import inner_kernel
from weft.text.strings import StringTable

Bytes = NDArray[np.uint8]

_TAB, _LINE, _NOTHING, _ZERO = ord("\t"), ord("\n"), ord("_"), ord("0")
#: Bytes of a number at most: heads and numbers of words are 32-bit integers.
_WIDTH = 10
#: The column that heads stand in front of.
_BEFORE_HEADS = 5


class TableBytes:
    """The strings of a table as UTF-8: string k is `data[starts[k]:starts[k + 1]]`.

    >>> table = StringTable(["tea", "né"])
    >>> data, starts = TableBytes(table).arrays()
    >>> data[starts[2] : starts[3]].tobytes().decode()
    'né'
    """

    def __init__(self, strings: StringTable) -> None:
        self.strings = strings
        self._data, self._starts = np.zeros(1 << 12, dtype=np.uint8), np.zeros(1 << 8, dtype=np.int64)
        self._count = 0

    def arrays(self) -> tuple[Bytes, Ints]:
        """The bytes and starts of all strings that the table has now."""
        new = self.strings.since(self._count)
        if new:
            encoded = [string.encode("utf-8", "surrogatepass") for string in new]
            joined = b"".join(encoded)
            first, end = int(self._starts[self._count]), self._count + len(new)
            self._data, self._starts = _grown(self._data, first + len(joined)), _grown(self._starts, end + 1)
            self._data[first : first + len(joined)] = np.frombuffer(joined, dtype=np.uint8)
            self._starts[self._count + 1 : end + 1] = first + np.cumsum([len(each) for each in encoded])
            self._count = end
        return self._data, self._starts


def is_valid(data: bytes) -> bool:
    """Whether bytes are UTF-8.

    >>> is_valid("né".encode()), is_valid(b"n\\xe9")
    (True, False)
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def assemble(
    columns: Ids,
    heads: Ids,
    sentences: Ints,
    table: TableBytes,
    notes: Sequence[Sequence[str]],
    others: Sequence[tuple[int, int, str]],
) -> bytes:
    """A document: for every sentence its notes, the rows of its words and an empty line.

    `columns[c, i]` is the string of word i in column c, the heads left out; `others` are rows that are not words, by
    sentence and by the number of words before them.

    >>> strings = StringTable(["Dogs", "bark"])
    >>> columns = np.zeros((8, 2), np.int32)
    >>> columns[0] = 1, 2
    >>> found = assemble(columns, np.array([2, 0], np.int32), np.array([0, 2]), TableBytes(strings), [["# a"]], [])
    >>> found.decode().replace("\\t", " ").splitlines()
    ['# a', '1 Dogs _ _ _ _ 2 _ _ _', '2 bark _ _ _ _ 0 _ _ _', '']
    """
    data, starts = table.arrays()
    note_data, note_starts = _lines(["".join(f"{line}\n" for line in lines) for lines in notes])
    row_data, row_starts = _lines([f"{row}\n" for *_, row in others])
    places = np.array([place for *place, _ in others], dtype=np.int64).reshape(-1, 2)
    size = int(np.diff(starts)[columns].sum()) + columns.shape[1] * (2 * _WIDTH + 2 * len(columns) + 3)
    out = np.empty(size + len(note_data) + len(row_data) + len(sentences), dtype=np.uint8)
    end = _fill(columns, heads, sentences, data, starts, note_data, note_starts, places, row_data, row_starts, out)
    return out[:end].tobytes()


def _lines(texts: Sequence[str]) -> tuple[Bytes, Ints]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    starts = np.cumsum(np.array([0, *map(len, encoded)], dtype=np.int64))
    # An array that cannot be written to has a type of its own, for which Numba would compile everything again.
    return np.frombuffer(bytearray(b"".join(encoded)), dtype=np.uint8), starts


def _grown(array: Any, size: int) -> Any:
    if size <= len(array):
        return array
    grown = np.zeros(2 * size, dtype=array.dtype)
    grown[: len(array)] = array
    return grown


@inner_kernel
def _fill(
    columns: Ids, heads: Ids, sentences: Ints, data: Bytes, starts: Ints, notes: Bytes, note_starts: Ints,
    places: Ints, rows: Bytes, row_starts: Ints, out: Bytes,
) -> int:  # fmt: skip
    """Write everything and return where it ends."""
    at, row = 0, 0
    for s in range(len(sentences) - 1):
        at = _copy(notes, note_starts, s, out, at)
        first = sentences[s]
        for i in range(first, sentences[s + 1] + 1):
            while row < len(places) and places[row, 0] == s and places[row, 1] == i - first:
                at = _copy(rows, row_starts, row, out, at)
                row += 1
            if i == sentences[s + 1]:
                break
            at = _number(i - first + 1, out, at)
            for c in range(len(columns)):
                out[at] = _TAB
                at += 1
                if c == _BEFORE_HEADS:
                    at = _number(heads[i], out, at)
                    out[at] = _TAB
                    at += 1
                if columns[c, i] == 0:
                    out[at] = _NOTHING
                    at += 1
                else:
                    at = _copy(data, starts, columns[c, i], out, at)
            out[at] = _LINE
            at += 1
        out[at] = _LINE
        at += 1
    return at


@inner_kernel
def _copy(data: Bytes, starts: Ints, k: int, out: Bytes, at: int) -> int:
    for c in range(starts[k], starts[k + 1]):
        out[at] = data[c]
        at += 1
    return at


@inner_kernel
def _number(value: int, out: Bytes, at: int) -> int:
    """Write a number, `_` if it is negative."""
    if value < 0:
        out[at] = _NOTHING
        return at + 1
    end = at + 1
    rest = value // 10
    while rest > 0:
        rest //= 10
        end += 1
    for k in range(end - 1, at - 1, -1):
        out[k] = _ZERO + value % 10
        value //= 10
    return end
