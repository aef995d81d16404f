"""The words of a WordNet: which parts of speech every entry has, and which entries are of several words.

Reads the index files of the Princeton database (`index.noun`, `index.verb`, `index.adj`, `index.adv`), of which each
line begins with an entry, blanks written as `_`. The database is not part of Weft; the folder is found in `$WNHOME`
(or its `dict`), or where Debian's package wordnet-base puts it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from weft.errors import DataError

#: Parts of speech and the files of their entries.
FILES = {"n": "index.noun", "v": "index.verb", "a": "index.adj", "r": "index.adv"}
PACKAGED = "/usr/share/wordnet"  # Debian: wordnet-base


class WordNet:
    """Entries and their parts of speech, as letters: n, v, a, r.

    >>> net = WordNet({"look": "nv", "look up": "v"})
    >>> net.parts_of_speech("look"), "look up" in net, list(net.multiwords())
    ('nv', True, [('look up', 'v')])
    """

    def __init__(self, entries: Mapping[str, str]) -> None:
        self.entries = dict(entries)

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> WordNet:
        """Read the index files of a folder."""
        found: dict[str, str] = {}
        for letter, name in FILES.items():
            path = Path(folder) / name
            if not path.is_file():
                raise DataError(f"no file {name} in {folder}: name the folder of a WordNet database (dict)")
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line[:1].isspace():  # the licence
                        continue
                    entry = line.split(" ", 1)[0].replace("_", " ").lower()
                    found[entry] = found.get(entry, "") + letter
        return cls(found)

    def __contains__(self, entry: str) -> bool:
        return entry in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def parts_of_speech(self, entry: str) -> str:
        """The letters of an entry's parts of speech, empty for a word that is not listed."""
        return self.entries.get(entry, "")

    def multiwords(self) -> Iterator[tuple[str, str]]:
        """Entries of several words and their parts of speech."""
        return ((entry, letters) for entry, letters in self.entries.items() if " " in entry)


def find_wordnet() -> Path | None:
    """The folder of the WordNet database on this machine, or None."""
    named = os.environ.get("WNHOME")
    places = [Path(named), Path(named) / "dict"] if named else []
    return next((place for place in [*places, Path(PACKAGED)] if (place / FILES["n"]).is_file()), None)
