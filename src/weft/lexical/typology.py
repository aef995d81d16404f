"""Typology of languages: word order, from the World Atlas of Language Structures, and language families.

    81A  subject, object, verb     SVO SOV VSO            87A  adjective and noun       AdjN NAdj
    85A  adposition and noun       Prep Post              88A  demonstrative and noun   DemN NDem
    86A  genitive and noun         GenN NGen              none: no dominant order

Two languages are *similar* if all five agree. The package's table is `wals.tsv`: values for the 17 languages of Naseem,
Barzilay & Globerson (2012) and some more; a file with the same columns adds others. Families follow Täckström,
McDonald & Nivre (2013), who count Japanese and Turkish as Altaic, and Korean with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from weft.errors import DataError, FormatError

#: Traits and their possible values.
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
        """The number of traits with the same value in both languages.

        >>> typology()["tr"].agreement(typology()["eu"])
        3
        """
        return sum(one == another for one, another in zip(self.values, other.values, strict=True))


class Typology:
    """A table of languages by code.

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
                f"there is no typology for the language {code!r}; known languages: {', '.join(self.languages)}. "
                f"Add others with a file with the columns {', '.join(_COLUMNS)}"
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
        """The other languages that agree with a language in most traits.

        >>> typology().nearest("sv", ["de", "en", "tr", "da", "sv"])
        ['da']
        """
        language = self[code]
        others = [other for other in among if other != code]
        most = max((language.agreement(self[other]) for other in others), default=0)
        return [other for other in others if language.agreement(self[other]) == most]

    def _by(self, what: str, codes: Iterable[str] | None) -> list[frozenset[str]]:
        groups: defaultdict[object, set[str]] = defaultdict(set)
        for code in self.languages if codes is None else codes:
            groups[getattr(self[code], what)].add(code)
        return [frozenset(codes) for codes in groups.values()]


@cache
def typology() -> Typology:
    """The package's table."""
    return Typology(_read((files("weft.lexical") / "wals.tsv").read_text(encoding="utf-8"), "wals.tsv"))


def read_typology(path: str | Path) -> Typology:
    """The package's table with the languages in a file added; the file's entry replaces an existing one.

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
            name, 1, f"the columns {', '.join(_COLUMNS)}, separated by tabs", repr(lines[0] if lines else "")
        )
    languages: dict[str, Language] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(_COLUMNS):
            raise FormatError(name, number, f"{len(_COLUMNS)} tab-separated fields", f"{len(fields)}: {line!r}")
        code, title, family, *values = fields
        for (trait, known), value in zip(TRAITS.items(), values, strict=True):
            if value not in known:
                raise FormatError(name, number, f"{trait} as one of {', '.join(known)}", repr(value))
        languages[code] = Language(code, title, family, tuple(values))
    return languages
