"""Label tables: the relation in a scheme for a treebank's relation, given its tag and its head's tag.

    # relation   tag    head tag   new relation
    CC           ADV    *          advmod
    CC           *      *          nmod

`*` matches anything and the first matching line applies; `_` is the empty relation. Tags are the current tags of the
words, that is, after tag mapping.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from weft.errors import ConfigError, FormatError
from weft.treebanks.rewriting import WorkTree

ANY = "*"
#: Tables included in the package.
TABLES = ("stanford", "cast3lb")


class Line(NamedTuple):
    """One line in a table."""

    relation: str
    tag: str
    head_tag: str
    label: str


class LabelTable:
    """The lines of a table, tried in order.

    >>> table = LabelTable.parse("CC ADV * advmod\\nCC * * nmod")
    >>> table.find("CC", "NOUN", "VERB"), table.find("CC", "ADV", "VERB"), table.find("SUJ", "NOUN", "VERB")
    ('nmod', 'advmod', None)
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = list(lines)
        self._found: dict[tuple[str, str, str], str | None] = {}

    @classmethod
    def parse(cls, text: str, path: str = "table") -> LabelTable:
        """Parse a table from text."""
        lines = []
        for number, line in enumerate(text.splitlines(), start=1):
            parts = line.split("#", 1)[0].split()
            if not parts:
                continue
            if len(parts) != 4:
                raise FormatError(path, number, "a relation, a tag, a tag of the head and a new relation", repr(line))
            lines.append(Line(*parts))
        if not lines:
            raise ConfigError(f"{path} contains no lines with a relation, a tag, a tag of the head and a new relation")
        return cls(lines)

    @classmethod
    def load(cls, name: str | Path) -> LabelTable:
        """A table in the package by name, or from a file.

        >>> LabelTable.load("stanford").find("prep", "ADP", "VERB")
        'adpmod'
        """
        from weft.formats.streams import read_text

        if str(name) in TABLES:
            return cls.parse(files("weft.treebanks").joinpath(f"{name}.labels").read_text("utf-8"), f"{name}.labels")
        return cls.parse(read_text(str(name)), str(name))

    def find(self, relation: str, tag: str, head_tag: str) -> str | None:
        """The new relation, or None if no line matches."""
        key = (relation or "_", tag, head_tag)
        if key not in self._found:
            fitting = (
                line for line in self.lines if all(want in (ANY, have) for want, have in zip(line, key, strict=False))
            )
            line = next(fitting, None)
            self._found[key] = None if line is None else line.label
        return self._found[key]

    def apply(self, tree: WorkTree) -> None:
        """Set the new relation of every word in a tree; words that match no line keep theirs."""
        for word in range(1, len(tree) + 1):
            old = tree.relation(word)
            new = self.find(old, tree.tag(word), tree.tag(tree.head(word)) or "ROOT")
            if new is not None and new != old:
                tree.rule = f"{old or '_'} -> {new}"
                tree.log.match(tree.rule)
                tree.relabel(word, new)
        tree.rule = ""
