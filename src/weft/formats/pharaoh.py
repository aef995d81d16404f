"""Pharaoh files: one line of links per sentence pair; `i-j` links source word i to target word j.

    0-0 1-2 2-1          words counted from 0
    0-0:0.98 1-2:0.4     with posterior probabilities

GIZA++ tools, fast_align and eflomal write this format. Gold alignments also distinguish sure links (`i-j`) from
possible ones (`ipj` or `i?j`), and some count from 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from weft.errors import ConfigError, FormatError
from weft.formats.streams import encoding_error, open_output, stray_byte, text_blocks
from weft.text.bitext import Links

PathLike = str | os.PathLike[str]

#: Nine digits fit into 32 bits.
_LINK = re.compile(r"(\d{1,9})([-p?])(\d{1,9})(?::([0-9.eE+-]{1,99}))?")
_BATCH = 10_000  # sentence pairs


def read_links(path: PathLike, *, first: int = 0) -> Links:
    """The links in a file; `first` is the index of the first word. Possible links count as sure ones.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_links(Links.of([[(0, 0), (1, 2, 0.25)], []]), f"{folder}/links.txt")
    ...     links = read_links(f"{folder}/links.txt")
    >>> links.pairs(), links.score.tolist()
    ([[(0, 0), (1, 2)], []], [1.0, 0.25])
    """
    return Links.joined(links for links, _ in _batches(os.fspath(path), first))


def stream_links(path: PathLike, *, first: int = 0) -> Iterator[Links]:
    """The links in a file in batches of sentence pairs, for files that do not fit into memory."""
    for links, _ in _batches(os.fspath(path), first):
        yield links


def read_gold_links(path: PathLike, *, first: int = 0) -> tuple[Links, Links]:
    """Sure links and possible links; every sure link is also possible."""
    batches = list(_batches(os.fspath(path), first))
    possible = Links.joined(links for links, _ in batches)
    sure = np.concatenate([mask for _, mask in batches]) if batches else np.zeros(0, np.bool_)
    return possible.where(sure), possible


def write_links(links: Links | Iterable[Links], path: PathLike, *, scores: bool | None = None) -> int:
    """Write links, one line per sentence pair, and return the number of lines.

    Scores are written if any score in the batch is below 1, or always or never, as `scores` says.
    """
    count = 0
    with open_output(os.fspath(path)) as file:
        for batch in [links] if isinstance(links, Links) else links:
            file.write("".join(f"{line}\n" for line in link_lines(batch, scores)).encode())
            count += batch.n_pairs
    return count


def link_lines(links: Links, scores: bool | None = None) -> Iterator[str]:
    """The lines of a Pharaoh file.

    >>> list(link_lines(Links.of([[(0, 0), (1, 2, 0.25)], []])))
    ['0-0:1 1-2:0.25', '']
    """
    named = scores if scores is not None else bool(len(links) and links.score.min() < 1)
    columns = zip(links.source.tolist(), links.target.tolist(), links.score.tolist(), strict=True)
    words = [f"{i}-{j}:{score:.6g}" if named else f"{i}-{j}" for i, j, score in columns]
    for start, end in pairwise(links.offsets.tolist()):
        yield " ".join(words[start:end])


def _batches(path: str, first: int) -> Iterator[tuple[Links, np.ndarray[tuple[int], np.dtype[np.bool_]]]]:
    """Links in batches, and which of them are sure."""
    if first not in (0, 1):
        raise ConfigError(f"first={first}: links count words from 0 or from 1")
    rows: list[list[tuple[int, int, float]]] = []
    sure: list[bool] = []
    for block in text_blocks(path, "\n"):
        lines = block.text.removesuffix("\n").split("\n")
        for number, line in enumerate(lines, start=block.line):
            if not block.clean and (stray := stray_byte(line)):
                raise encoding_error(path, number, stray[1])
            links = []
            for word in line.split():
                i, kind, j, score = _link(path, number, word, first)
                links.append((i, j, score))
                sure.append(kind == "-")
            rows.append(links)
            if len(rows) == _BATCH:
                yield Links.of(rows), np.array(sure, np.bool_)
                rows, sure = [], []
    if rows:
        yield Links.of(rows), np.array(sure, np.bool_)


def _link(path: str, line: int, word: str, first: int) -> tuple[int, str, int, float]:
    match = _LINK.fullmatch(word)
    if match is None:
        raise FormatError(path, line, "links such as 0-0 or 0-0:0.98", repr(word[:40]))
    i, j = int(match[1]) - first, int(match[3]) - first
    if i < 0 or j < 0:
        raise FormatError(path, line, "words counted from 1", repr(word[:40]), "Omit first=1 if they count from 0")
    try:
        score = float(match[4]) if match[4] else 1.0
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise FormatError(path, line, "a probability from 0 to 1 after the colon", repr(word[:40]))
    return i, match[2], j, score
