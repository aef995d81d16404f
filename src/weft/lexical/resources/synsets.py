"""WordNet's synsets, senses and relations, read from the Princeton database as they are asked for.

    index.noun   dog n 7 5 @ ~ #m #p %p 7 1 02084071 10114209 ...      the synsets of a word, most frequent first
    data.noun    02084071 05 n 03 dog 0 domestic_dog 0 ... | gloss     a synset, at that byte of the file

Files stay where they are: a word is found by binary search in its index, a synset by its offset. Nothing is loaded in
advance, so opening takes a millisecond. Sense keys (`dog%1:05:00::`) are built from the data files and are the same in
every release, unlike offsets; `index.sense` is not needed.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from weft.errors import DataError
from weft.lexical.resources.source import Source, check_version
from weft.lexical.wordnet import find_wordnet

_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
#: Types of synsets in sense keys; satellites of adjectives are 5.
_TYPES = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}
_OF_TYPE = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_RELEASE = re.compile(rb"WordNet (\d+\.\d+) Copyright")
HYPERNYM, INSTANCE, HYPONYM, SIMILAR, ANTONYM = "@", "@i", "~", "&", "!"


class Pointer(NamedTuple):
    """A relation: its symbol, the part of speech and offset of its target, and the words that it joins (0: all)."""

    symbol: str
    pos: str
    offset: int
    source: int
    target: int


class Synset(NamedTuple):
    """A set of synonyms: part of speech (s: satellite), offset, number of its lexicographer file, words, relations."""

    pos: str
    offset: int
    file: int
    words: tuple[tuple[str, int], ...]  # with their numbers in the lexicographer file
    pointers: tuple[Pointer, ...]
    gloss: str

    @property
    def lemmas(self) -> list[str]:
        """The words, with spaces."""
        return [word.replace("_", " ") for word, _ in self.words]

    def __repr__(self) -> str:
        return f"Synset({self.pos}{self.offset:08d} {', '.join(self.lemmas)})"


class Database:
    """A WordNet database; see `open_wordnet`."""

    def __init__(self, folder: str | os.PathLike[str], version: str | None = None) -> None:
        self.folder = Path(folder)
        for name in _FILES.values():
            for kind in ("data", "index"):
                if not (self.folder / f"{kind}.{name}").is_file():
                    raise DataError(
                        f"no file {kind}.{name} in {folder}: name the folder of a WordNet database; Debian's packages "
                        "wordnet-base and wordnet-sense-index have it"
                    )
        match = _RELEASE.search(self._map("data.noun")[:4096])
        if match is None:
            raise DataError(f"{self.folder / 'data.noun'}, line 1: no licence that names a release of WordNet")
        check_version("WordNet", self.folder / "data.noun", match[1].decode(), version)
        self.source = Source("WordNet", match[1].decode(), str(folder))

    @cached_property
    def _maps(self) -> dict[str, mmap.mmap]:
        return {}

    def _map(self, name: str) -> mmap.mmap:
        if name not in self._maps:
            with (self.folder / name).open("rb") as file:
                self._maps[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._maps[name]

    def synset(self, pos: str, offset: int) -> Synset:
        """The synset at an offset of the data file of a part of speech: n, v, a (or s) or r."""
        name = f"data.{_FILES['a' if pos == 's' else pos]}"
        data = self._map(name)
        line = data[offset : data.find(b"\n", offset)] if 0 <= offset < len(data) else b""
        try:
            return _synset(line.decode("utf-8", "replace"), offset)
        except (ValueError, IndexError) as error:
            number = data[: max(offset, 0)].count(b"\n") + 1
            raise DataError(
                f"{self.folder / name}, line {number}: no synset at byte {offset}, got {line[:60]!r}; the database is "
                "damaged, or the offset belongs to another release"
            ) from error

    def synsets(self, word: str, pos: str = "") -> list[Synset]:
        """The synsets of a word, most frequent first; of all parts of speech, or of one."""
        found = []
        for each in pos or "nvar":
            line = self._entry(f"index.{_FILES[each]}", word)
            if line:
                cells = line.split()
                try:
                    offsets = [int(cell) for cell in cells[len(cells) - int(cells[2]) :]]
                except (ValueError, IndexError) as error:
                    raise DataError(
                        f"{self.folder / f'index.{_FILES[each]}'}: the line of {word!r} has no offsets of synsets, got "
                        f"{line[:60]!r}"
                    ) from error
                found += [self.synset(each, offset) for offset in offsets]
        return found

    def _entry(self, name: str, word: str) -> str:
        """The line of a word in a sorted index, by binary search; "" if it has none."""
        data, wanted = self._map(name), word.lower().replace(" ", "_").encode()
        low, high = 0, len(data)
        while low < high:
            start = data.rfind(b"\n", 0, (low + high) // 2) + 1
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            line = data[start:end]
            key = line.split(b" ", 1)[0]  # empty in the licence, which begins with spaces
            if key == wanted and key:
                return line.decode("utf-8", "replace")
            if key < wanted:
                low = end + 1
            else:
                high = start
        return ""

    def entries(self, pos: str) -> Iterator[tuple[str, list[int]]]:
        """All words of a part of speech, with underscores for spaces, and the offsets of their synsets."""
        name = f"index.{_FILES[pos]}"
        for number, line in enumerate(bytes(self._map(name)).splitlines(), 1):
            if not line or line.startswith(b" "):  # the licence begins with spaces
                continue
            cells = line.decode("utf-8", "replace").split()
            try:
                yield cells[0], [int(cell) for cell in cells[len(cells) - int(cells[2]) :]]
            except (ValueError, IndexError) as error:
                raise DataError(
                    f"{self.folder / name}, line {number}: no offsets of synsets, got {line[:60]!r}"
                ) from error

    def key(self, synset: Synset, word: int = 0) -> str:
        """The sense key of a word of a synset, by its number."""
        lemma, number = synset.words[word]
        head = ":"
        if synset.pos == "s":
            similar = next(pointer for pointer in synset.pointers if pointer.symbol == SIMILAR)
            first, own = self.synset("a", similar.offset).words[0]
            head = f"{_bare(first).lower()}:{own:02d}"
        return f"{_bare(lemma).lower()}%{_TYPES[synset.pos]}:{synset.file:02d}:{number:02d}:{head}"

    def sense(self, key: str) -> Synset | None:
        """The synset of a sense key, None if this release has none."""
        lemma, _, rest = key.partition("%")
        pos = _OF_TYPE.get(rest[:1])
        if pos is None:
            raise DataError(f"{key!r} is no sense key; expected one as in dog%1:05:00::")
        for synset in self.synsets(lemma, pos):
            if any(
                _bare(word).lower() == lemma and self.key(synset, number) == key
                for number, (word, _) in enumerate(synset.words)
            ):
                return synset
        return None

    def related(self, synset: Synset, *symbols: str) -> list[Synset]:
        """The synsets that a synset as a whole points to, by symbols such as `@`; hypernyms if none is given."""
        wanted = symbols or (HYPERNYM, INSTANCE)
        return [
            self.synset(each.pos, each.offset) for each in synset.pointers if each.symbol in wanted and not each.source
        ]

    def above(self, synset: Synset) -> Iterator[Synset]:
        """All hypernyms of a synset, nearest first, each once."""
        seen, waiting = {(synset.pos, synset.offset)}, [synset]
        while waiting:
            for each in self.related(waiting.pop(0)):
                if (each.pos, each.offset) not in seen:
                    seen.add((each.pos, each.offset))
                    waiting.append(each)
                    yield each


def open_wordnet(folder: str | os.PathLike[str] | None = None, version: str | None = None) -> Database:
    """The database of a folder, or the one of this machine; one of another version than the given is refused."""
    place = folder if folder is not None else find_wordnet()
    if place is None:
        raise DataError(
            "there is no WordNet database here: install Debian's packages wordnet-base and wordnet-sense-index, or set "
            "WNHOME to the folder of one"
        )
    return Database(place, version)


def _bare(word: str) -> str:
    """A word without the mark of an adjective's position: `galore(ip)`."""
    return word.partition("(")[0]


def _synset(line: str, offset: int) -> Synset:
    left, _, gloss = line.partition(" | ")
    cells = left.split()
    if int(cells[0]) != offset:
        raise ValueError(cells[0])
    count = int(cells[3], 16)
    words = tuple((cells[4 + 2 * k], int(cells[5 + 2 * k], 16)) for k in range(count))
    at = 4 + 2 * count
    pointers = []
    for k in range(int(cells[at])):
        symbol, target, pos, ends = cells[at + 1 + 4 * k : at + 5 + 4 * k]
        pointers.append(Pointer(symbol, pos, int(target), int(ends[:2], 16), int(ends[2:], 16)))
    return Synset(cells[2], offset, int(cells[1]), words, tuple(pointers), gloss.strip())
