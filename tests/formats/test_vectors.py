"""Files of word vectors: what they hold, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import FormatError
from weft.formats.vectors import read_vectors


def test_files_of_dense_vectors_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("dog 1 2\ncat 1\n")
    with pytest.raises(FormatError, match="2"):
        read_vectors(file)
    file.write_text("dog 1 2\n\ncat 1 2\n")
    with pytest.raises(FormatError, match="line 2: expected a word and 2 numbers"):
        read_vectors(file)
    file.write_text("")
    with pytest.raises(FormatError):
        read_vectors(file)
