"""Text files of word vectors, as word2vec and GloVe write them: a word and its numbers per line, space-separated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weft.errors import FormatError
from weft.formats.streams import read_text


def read_vectors(path: str | Path) -> tuple[list[str], NDArray[np.float32]]:
    """Read words and a table with one row per word; a first line that gives the sizes is skipped.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vectors.txt").write_text("2 3\\ndog 1 0 0\\ncat 0 1 0\\n")
    ...     words, table = read_vectors(Path(folder, "vectors.txt"))
    >>> words, table.shape
    (['dog', 'cat'], (2, 3))
    """
    words: list[str] = []
    rows: list[list[float]] = []
    for number, line in enumerate(read_text(str(path)).splitlines(), 1):
        word, *numbers = line.split() or [""]
        if number == 1 and len(numbers) == 1:
            continue
        try:
            row = list(map(float, numbers))
        except ValueError:
            row = []
        if not row or (rows and len(row) != len(rows[0])):
            expected = f"a word and {len(rows[0])} numbers" if rows else "a word and numbers"
            raise FormatError(str(path), number, expected, repr(line[:60]))
        words.append(word)
        rows.append(row)
    if not words:
        raise FormatError(str(path), 1, "a word and numbers", "nothing")
    return words, np.array(rows, dtype=np.float32)
