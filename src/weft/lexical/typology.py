"""What is known of languages: order of words, after the World Atlas of Language Structures, and families.

    81A  subject, object, verb     SVO SOV VSO            87A  adjective and noun       AdjN NAdj
    85A  adposition and noun       Prep Post              88A  demonstrative and noun   DemN NDem
    86A  genitive and noun         GenN NGen              none: no dominant order

Two languages are *similar* when all five agree. The table of the package is `wals.tsv`: values of the 17 languages of
Naseem, Barzilay & Globerson (2012) and of some more; a file of the same columns adds others. Families are those of
Täckström, McDonald & Nivre (2013), who count Japanese and Turkish as Altaic, and Korean with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from weft.errors import DataError, FormatError

#: Traits and the values they can have.
TRAITS = {
    "81A": ("SVO", "SOV", "VSO", "VOS", "OVS", "OSV", "none"),
    "85A": ("Prep", "Post", "none"),
    "86A": ("GenN", "NGen", "none"),
    "87A": ("AdjN", "NAdj", "none"),
    "88A": ("DemN", "NDem", "none"),
}
_COLUMNS = ("code", "name", "family", *TRAITS)


@dataclass(frozen=True)
class Language:
    """A language and its traits, in the order of `TRAITS`."""

    code: str
    name: str
    family: str
    values: tuple[str, ...]

    def value(self, trait: str) -> str:
        """The value of a trait.

        >>> typology()["tr"].value("81A")
        'SOV'
        """
        return self.values[list(TRAITS).index(trait)]

    def agreement(self, other: Language) -> int:
        """How many traits have the same value in both languages.

        >>> typology()["tr"].agreement(typology()["eu"])
        3
        """
        return sum(one == another for one, another in zip(self.values, other.values, strict=True))


class Typology:
    """A table of languages by their codes.

    >>> table = typology()
    >>> table["tr"].values
    ('SOV', 'Post', 'GenN', 'AdjN', 'DemN')
    >>> [sorted(group) for group in table.groups(["de", "nl", "tr", "eu"])]
    [['de', 'nl']]
    """

    def __init__(self, languages: Mapping[str, Language]) -> None:
        self.languages = dict(languages)

    def __getitem__(self, code: str) -> Language:
        if code not in self.languages:
            raise DataError(
                f"nothing is known of a language {code!r}; known are: {', '.join(self.languages)}. Others can be added "
                f"by a file of the columns {', '.join(_COLUMNS)}"
            )
        return self.languages[code]

    def __contains__(self, code: object) -> bool:
        return code in self.languages

    def groups(self, codes: Iterable[str] | None = None) -> list[frozenset[str]]:
        """Groups of two or more similar languages, among all or among those named."""
        return [group for group in self._by("values", codes) if len(group) > 1]

    def families(self, codes: Iterable[str] | None = None) -> list[frozenset[str]]:
        """Families with two or more languages, among all or among those named.

        >>> [sorted(family) for family in typology().families(["eu", "ja", "sv", "hi", "tr"])]
        [['ja', 'tr'], ['hi', 'sv']]
        """
        return [family for family in self._by("family", codes) if len(family) > 1]

    def nearest(self, code: str, among: Iterable[str]) -> list[str]:
        """Of other languages those that agree with a language in most traits.

        >>> typology().nearest("sv", ["de", "en", "tr", "da", "sv"])
        ['da']
        """
        own = self[code]
        others = [other for other in among if other != code]
        most = max((own.agreement(self[other]) for other in others), default=0)
        return [other for other in others if own.agreement(self[other]) == most]

    def _by(self, what: str, codes: Iterable[str] | None) -> list[frozenset[str]]:
        found: defaultdict[object, set[str]] = defaultdict(set)
        for code in self.languages if codes is None else codes:
            found[getattr(self[code], what)].add(code)
        return [frozenset(codes) for codes in found.values()]


@cache
def typology() -> Typology:
    """The table of the package."""
    return Typology(_read((files("weft.lexical") / "wals.tsv").read_text(encoding="utf-8"), "wals.tsv"))


def read_typology(path: str | Path) -> Typology:
    """The table of the package with the languages of a file added, in the place of its own where both know one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     line = "gd\\tGaelic\\tIndo-European\\tVSO\\tPrep\\tNGen\\tNAdj\\tNDem"
    ...     size = Path(folder, "own.tsv").write_text("\\t".join(_COLUMNS) + "\\n" + line + "\\n")
    ...     read_typology(Path(folder, "own.tsv"))["gd"].value("88A")
    'NDem'
    """
    from weft.formats.streams import read_text

    return Typology({**typology().languages, **_read(read_text(str(path)), str(path))})


def _read(text: str, name: str) -> dict[str, Language]:
    lines = text.splitlines()
    if not lines or tuple(lines[0].split("\t")) != _COLUMNS:
        raise FormatError(
            name, 1, f"the columns {', '.join(_COLUMNS)}, parted by tabs", repr(lines[0] if lines else "")
        )
    found: dict[str, Language] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(_COLUMNS):
            raise FormatError(name, number, f"{len(_COLUMNS)} fields parted by tabs", f"{len(fields)}: {line!r}")
        code, title, family, *values = fields
        for (trait, known), value in zip(TRAITS.items(), values, strict=True):
            if value not in known:
                raise FormatError(name, number, f"{trait} as one of {', '.join(known)}", repr(value))
        found[code] = Language(code, title, family, tuple(values))
    return found
