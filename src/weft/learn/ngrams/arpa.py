"""Models as ARPA files, the format that all tools for n-grams share.

    \\data\\            ngram 1=7          how many n-grams of each length follow
    \\1-grams:         -1.25  word  -0.3  logarithms to base 10 of P(w|h) and, if it is not 1, of alpha
    \\end\\

Numbers are written with as many digits as single precision needs, so reading gives what was written, bit by bit. Models
of other tools may lack prefixes and suffixes of their n-grams; these are added with the probabilities that the model
gives to them already, which changes nothing.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from weft.arrays import Ids, Singles
from weft.errors import DataError, FormatError
from weft.learn.ngrams.mixture import distinct
from weft.learn.ngrams.model import NEVER, NgramModel
from weft.learn.ngrams.trie import Trie
from weft.learn.ngrams.vocabulary import SPECIAL, Vocabulary

_LINES = 100_000
#: No model has longer n-grams; each length takes memory of its own.
_LONGEST = 20


def write_arpa(model: NgramModel, path: str | os.PathLike[str]) -> None:
    """Write a model; a name that ends with .gz is compressed. The file is replaced once it is complete.

    >>> import tempfile
    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["a", "b"], ["a"]], order=2)
    >>> model = NgramModel.of(vocabulary, estimate(counts, "absolute"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arpa(model, Path(folder, "model.arpa"))
    ...     again = read_arpa(Path(folder, "model.arpa"))
    >>> again.counts(), bool((again.logp == model.logp).all())
    ([5, 4], True)
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _opened(part, "w", path.name.endswith(".gz")) as file:
            file.write("\\data\\\n")
            for length, n in enumerate(model.counts(), start=1):
                file.write(f"ngram {length}={n}\n")
            for length in range(1, model.order + 1):
                file.write(f"\n\\{length}-grams:\n")
                for lines in _lines(model, length):
                    file.write(lines)
            file.write("\n\\end\\\n")
        part.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _lines(model: NgramModel, length: int) -> Iterator[str]:
    trie, words = model.trie, model.vocabulary.words
    here = trie.level(length)
    rows = trie.rows(length)
    histories = length < model.order
    for begin in range(here.start, here.stop, _LINES):
        end = min(here.stop, begin + _LINES)
        own = rows[begin - here.start : end - here.start].tolist()
        logs = [_digits(value) for value in model.logp[begin:end]]
        texts = [" ".join([words[word] for word in row]) for row in own]
        weights = [_digits(value) for value in model.backoff[begin:end]] if histories else [""] * len(own)
        yield "".join(
            f"{log}\t{text}\n" if weight in ("", "0") else f"{log}\t{text}\t{weight}\n"
            for log, text, weight in zip(logs, texts, weights, strict=True)
        )


def _digits(value: np.float32) -> str:
    return np.format_float_positional(value, unique=True, trim="-")


@dataclass
class _Level:
    """What a section holds."""

    rows: list[list[int]] = field(default_factory=list)
    logp: list[float] = field(default_factory=list)
    backoff: list[float] = field(default_factory=list)
    parts: list[tuple[Ids, Singles, Singles]] = field(default_factory=list)

    def pack(self) -> None:
        """Turn lists, which take much memory, into arrays."""
        if self.rows:
            own = np.array(self.rows, dtype=np.int32)
            self.parts.append((own, np.array(self.logp, np.float32), np.array(self.backoff, np.float32)))
            self.rows, self.logp, self.backoff = [], [], []

    def arrays(self, length: int) -> tuple[Ids, Singles, Singles]:
        self.pack()
        if not self.parts:
            return np.zeros((0, length), np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32)
        rows, logp, backoff = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        self.parts = []
        return rows, logp, backoff


def read_arpa(path: str | os.PathLike[str]) -> NgramModel:
    """Read a model."""
    name = os.fspath(path)
    with _opened(Path(path), "r", name.endswith(".gz")) as file:
        reader = _Reader(name, file)
        return reader.read()


class _Reader:
    """Reads the lines of one file."""

    def __init__(self, name: str, file: TextIO) -> None:
        self.name, self.file, self.line = name, file, 0

    def fault(self, expected: str, found: str, hint: str = "") -> FormatError:
        return FormatError(self.name, self.line, expected, found, hint)

    def lines(self) -> Iterator[str]:
        try:
            for self.line, line in enumerate(self.file, start=1):  # noqa: B020
                if text := line.rstrip("\r\n"):
                    yield text
        except UnicodeDecodeError:
            self.line += 1
            raise self.fault("UTF-8", "other bytes", "Convert the file to UTF-8 first.") from None
        except (OSError, EOFError) as error:
            self.line += 1
            raise self.fault("a whole file", f"an end or damage: {error}") from None

    def read(self) -> NgramModel:
        lines = self.lines()
        sizes = self._sizes(lines)
        vocabulary = Vocabulary([])
        levels = []
        for length, size in enumerate(sizes, start=1):
            level = self._section(lines, length, size, vocabulary, len(sizes))
            levels.append(level.arrays(length))
        if (text := next(lines, "")) != "\\end\\":
            raise self.fault("\\end\\", repr(text[:40]) if text else "the end of the file")
        return _model(vocabulary, levels, self.name)

    def _sizes(self, lines: Iterator[str]) -> list[int]:
        """The numbers of n-grams, up to the heading of the first section, which is read too."""
        if (text := next((line for line in lines if line.strip() == "\\data\\"), None)) is None:
            raise self.fault("a line \\data\\", "none", "This is no ARPA file of a language model.")
        sizes: list[int] = []
        for text in lines:
            if text == "\\1-grams:":
                break
            word, _, rest = text.partition(" ")
            length, sign, number = rest.strip().partition("=")
            if word != "ngram" or not sign or length.strip() != str(len(sizes) + 1) or not number.strip().isdecimal():
                raise self.fault(f"ngram {len(sizes) + 1}=NUMBER or \\1-grams:", repr(text[:40]))
            sizes.append(int(number))
        if not 0 < len(sizes) <= _LONGEST:
            raise self.fault(f"from 1 to {_LONGEST} lengths of n-grams", str(len(sizes)))
        return sizes

    def _section(self, lines: Iterator[str], length: int, size: int, vocabulary: Vocabulary, order: int) -> _Level:
        if length > 1 and (text := next(lines, "")) != f"\\{length}-grams:":
            raise self.fault(f"\\{length}-grams:", repr(text[:40]) if text else "the end of the file")
        level, known = _Level(), vocabulary.ids
        for number in range(size):
            text = next(lines, "")
            if not text or text[0] == "\\":
                raise self.fault(f"{size:,} n-grams of length {length}", f"{number:,}")
            columns = text.split("\t") if "\t" in text else text.split()
            words = columns[1].split(" ") if "\t" in text and len(columns) > 1 else columns[1 : 1 + length]
            weight = columns[2:] if "\t" in text else columns[1 + length :]
            if len(words) != length or len(weight) > 1:
                raise self.fault(f"a number, {length} words and perhaps a number", repr(text[:60]))
            if length == 1 and words[0] not in known:
                known[words[0]] = len(vocabulary.words)
                vocabulary.words.append(words[0])
            row = [known.get(word, -1) for word in words]
            if min(row) < 0:
                raise self.fault("words of the section \\1-grams:", repr(words[row.index(-1)]))
            level.rows.append(row)
            level.logp.append(self._log(columns[0]))
            level.backoff.append(self._log(weight[0], 99) if weight else 0.0)
            if len(level.rows) == _LINES:
                level.pack()
        return level

    def _log(self, text: str, most: float = 0.001) -> float:
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if text in ("-inf", "-Infinity"):
            return NEVER
        if not NEVER - 1 <= value <= most:
            raise self.fault(f"a logarithm to base 10 from {NEVER:.0f} to {most:.0f}", repr(text[:20]))
        return max(NEVER, value)


def _model(vocabulary: Vocabulary, levels: list[tuple[Ids, Singles, Singles]], name: str) -> NgramModel:
    """A model of the n-grams of a file in any order, closed."""
    n_words = len(vocabulary)
    rows = [level[0] for level in levels]
    closed: list[Ids] = [np.zeros((0, 1), np.int32)] * len(rows)
    for k in range(len(rows) - 1, 0, -1):
        longer = closed[k + 1] if k + 1 < len(rows) else np.zeros((0, k + 2), np.int32)
        closed[k] = distinct(np.concatenate([rows[k], longer[:, :-1], longer[:, 1:]]))
    trie = Trie.of_rows(n_words, closed[1:])
    logp = np.full(len(trie), np.nan, dtype=np.float32)
    backoff = np.zeros(trie.n_histories, dtype=np.float32)
    logp[0] = 0.0
    for length, (own, logs, weights) in enumerate(levels, start=1):
        nodes = trie.find(own)
        if len(np.unique(nodes)) < len(nodes):
            raise DataError(f"{name} has an n-gram of length {length} twice")
        logp[nodes] = logs
        if length < trie.order:
            backoff[nodes] = weights
    _complete(trie, logp, backoff)
    return NgramModel(vocabulary, trie, logp, backoff)


def _complete(trie: Trie, logp: Singles, backoff: Singles) -> None:
    """Give n-grams that were added the probabilities that the others imply."""
    for word in range(len(SPECIAL)):
        if np.isnan(logp[1 + word]):
            # A closed vocabulary: what is unknown cannot occur.
            logp[1 + word] = NEVER
    parents = trie.parents()
    for length in range(2, trie.order + 1):
        here = trie.level(length)
        lacking = here.start + np.flatnonzero(np.isnan(logp[here]))
        logp[lacking] = np.maximum(NEVER, backoff[parents[lacking]] + logp[trie.suffix[lacking]])


@contextmanager
def _opened(path: Path, mode: str, compressed: bool) -> Iterator[TextIO]:
    with ExitStack() as stack:
        try:
            raw: Any = stack.enter_context(path.open(f"{mode}b"))
        except OSError as error:
            raise DataError(f"cannot open {path}: {error.strerror}") from None
        if compressed:
            raw = stack.enter_context(gzip.GzipFile("", f"{mode}b", compresslevel=6, fileobj=raw, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline="\n"))
