"""Exact counts of pairs of strings in bounded memory.

    n(left, right)   kept in a table; a full table is sorted and written to disk as a run
    all counts       the merge of the runs and the table, in the order of the pairs

Memory holds at most `most` pairs, whatever is counted; the counts do not depend on it. Counts of parts of a text can be
merged in any order, and give the counts of the whole.
"""

from __future__ import annotations

import gzip
import heapq
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from weft.errors import ConfigError, FormatError

Row = tuple[str, str, int]
#: Pairs in memory, some 200 bytes each.
MOST = 1_000_000
#: Runs that are merged at a time: each is an open file.
RUNS = 64
#: The largest count: sums of many stay within 64 bits.
LARGEST = 2**40


class PairCounts:
    """Counts of pairs, at most `most` of them in memory.

    >>> counts = PairCounts(most=2)
    >>> for pair in [("dog", "animal"), ("cat", "animal"), ("oak", "tree"), ("dog", "animal")]:
    ...     counts.add(*pair)
    >>> list(counts)
    [('cat', 'animal', 1), ('dog', 'animal', 2), ('oak', 'tree', 1)]
    >>> counts.total
    4
    """

    def __init__(self, most: int = MOST) -> None:
        if most < 1:
            raise ConfigError(f"the number of pairs in memory must be at least 1, got {most}")
        self.most, self.total = most, 0
        self._table: dict[tuple[str, str], int] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runs: list[Path] = []
        self._written = 0

    def add(self, left: str, right: str, count: int = 1) -> None:
        """Count a pair."""
        key = left, right
        self._table[key] = self._table.get(key, 0) + count
        self.total += count
        if len(self._table) >= self.most:
            self._spill()

    def merge(self, other: Iterable[Row]) -> None:
        """Add all counts of another part."""
        for left, right, count in other:
            self.add(left, right, count)

    def __iter__(self) -> Iterator[Row]:
        """Every pair once, sorted, with its count."""
        parts = [_read_run(path) for path in self._runs]
        own = ((left, right, count) for (left, right), count in sorted(self._table.items()))
        return _summed(heapq.merge(*parts, own, key=_pair))

    def _spill(self) -> None:
        """Write the table as a sorted run; many runs become one."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="weft-counts-")
        rows = [(left, right, count) for (left, right), count in sorted(self._table.items())]
        self._table.clear()
        self._runs.append(self._write(rows))
        if len(self._runs) >= RUNS:
            merged = self._write(_summed(heapq.merge(*map(_read_run, self._runs), key=_pair)))
            for path in self._runs:
                path.unlink()
            self._runs = [merged]

    def _write(self, rows: Iterable[Row]) -> Path:
        assert self._folder is not None
        path = Path(self._folder.name, f"{self._written}.tsv")
        self._written += 1
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{left}\t{right}\t{count}\n" for left, right, count in rows)
        return path

    def close(self) -> None:
        """Remove the runs from disk; the counts are gone."""
        self._table.clear()
        self._runs.clear()
        if self._folder is not None:
            with suppress(OSError):
                self._folder.cleanup()
            self._folder = None


def _pair(row: Row) -> tuple[str, str]:
    return row[0], row[1]


def _summed(rows: Iterable[Row]) -> Iterator[Row]:
    """Equal neighbours as one row."""
    for (left, right), group in groupby(rows, key=_pair):
        yield left, right, sum(map(itemgetter(2), group))


def _read_run(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            left, right, count = line.rstrip("\n").split("\t")
            yield left, right, int(count)


def write_counts(rows: Iterable[Row], path: str | os.PathLike[str]) -> int:
    """Write counts as a gzipped table, one pair per line; returns the number of lines."""
    lines = 0
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        for left, right, count in rows:
            file.write(f"{left}\t{right}\t{count}\n".encode())
            lines += 1
    return lines


def read_counts(path: str | os.PathLike[str]) -> Iterator[Row]:
    """The rows of a table of counts, gzipped or not; a line that is none is an error that names it."""
    name, number = os.fspath(path), 0
    try:
        with open(path, "rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if zipped else open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                cells = line.decode("utf-8").rstrip("\r\n").split("\t")
                if len(cells) != 3 or not (cells[0].strip() and cells[1].strip()):
                    raise FormatError(name, number, "two phrases and a count, separated by tabs", repr(line[:40]))
                if not (cells[2].isascii() and cells[2].isdigit() and 0 < int(cells[2][:20]) <= LARGEST):
                    raise FormatError(name, number, "a count of at least 1", repr(cells[2][:40]))
                yield _plain(cells[0]), _plain(cells[1]), int(cells[2])
    except UnicodeDecodeError:
        raise FormatError(name, number, "UTF-8", "another encoding") from None
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(name, number + 1, "a table of counts", f"a file that cannot be read ({error})") from None


def _plain(phrase: str) -> str:
    return " ".join(phrase.split())
