"""WordNet's vocabulary: the parts of speech of every entry, and which entries are multiword.

Reads the index files of the Princeton database (`index.noun`, `index.verb`, `index.adj`, `index.adv`), in which each
line begins with an entry, with `_` for spaces. The database is not part of Weft; it is looked for in `$WNHOME` (or its
`dict`) and where Debian's package wordnet-base puts it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from weft.errors import DataError

#: Parts of speech and their index files.
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
        entries: dict[str, str] = {}
        for letter, name in FILES.items():
            path = Path(folder) / name
            if not path.is_file():
                raise DataError(
                    f"no file {name} in {folder}: name the folder of a WordNet database (usually called dict)"
                )
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line[:1].isspace():  # the licence text
                        continue
                    entry = line.split(" ", 1)[0].replace("_", " ").lower()
                    entries[entry] = entries.get(entry, "") + letter
        return cls(entries)

    def __contains__(self, entry: str) -> bool:
        return entry in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def parts_of_speech(self, entry: str) -> str:
        """The letters of an entry's parts of speech, empty for an unlisted word."""
        return self.entries.get(entry, "")

    def multiwords(self) -> Iterator[tuple[str, str]]:
        """Multiword entries and their parts of speech."""
        return ((entry, letters) for entry, letters in self.entries.items() if " " in entry)


def find_wordnet() -> Path | None:
    """The folder of the WordNet database on this machine, or None."""
    named = os.environ.get("WNHOME")
    places = [Path(named), Path(named) / "dict"] if named else []
    return next((place for place in [*places, Path(PACKAGED)] if (place / FILES["n"]).is_file()), None)
