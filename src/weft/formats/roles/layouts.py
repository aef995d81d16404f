"""Where the columns of a file with predicates and arguments stand.

| layout | columns before those of arguments | arguments |
|---|---|---|
| `conll08` | ID FORM LEMMA GPOS PPOS SPLIT_FORM SPLIT_LEMMA PPOSS HEAD DEPREL PRED | one column per predicate |
| `conll09` | ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED | the same |
| `propbank` | ID FORM LEMMA POS PARSE PREDICATE ROLESET | the same, as brackets: `(ARG0*` ... `*)` |
| `up` | ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL, `Y` for a predicate, ROLESET | the same |
| `up-conllu` | the ten of CoNLL-U, ROLESET; without predicates one more column, which is empty | the same, with `V` |
| `misc` | the ten of CoNLL-U, with `Frame=give.01` and `Roles=A0:1,A2:3` in MISC | none |

`up` and `up-conllu` are the two layouts of Universal Propositions 1.0. Labels are read as those of CoNLL: `ARG0` is
`A0`, `ARGM-TMP` is `AM-TMP`. `V` and `C-V`, the predicate itself, are not arguments. Several roles of one word for one
predicate are joined by `|`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from weft.errors import FormatError
from weft.text.frames import FrameRow, Role

#: Values of cells that hold nothing.
EMPTY = ("_", "-", "")
_NUMBER = re.compile(r"[1-9][0-9]{0,7}")
_LONG = re.compile(r"(C-|R-)?ARG(M-|A$|[0-9])")
_MISC_ROLES = re.compile(r"(?:^|[\t|])Roles=[^|:\s]+:[0-9]", re.MULTILINE)
_BRACKET = re.compile(r"(\(([^()*\s]+))?\*(\)?)")
#: Labels of the predicate itself and of its further words.
PREDICATE_LABELS = ("V", "C-V", "R-V")
Row = Sequence[str]


@dataclass(frozen=True)
class Layout:
    """A layout: its number of fixed columns, and where they stand.

    `words` are the columns of FORM to MISC of CoNLL-U, -1 where there is none; `kept` are further columns and the names
    under which documents keep them; `mark` is the column with `Y` at predicates, -1 if only the sense marks them.
    """

    name: str
    fixed: int
    sense: int
    words: tuple[int, ...]
    mark: int = -1
    kept: dict[str, int] = field(default_factory=dict)
    brackets: bool = False


LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout(
            "conll08", 11, 10, (5, 6, -1, 7, -1, 8, 9, -1, -1),
            kept={"whole_form": 1, "whole_lemma": 2, "gpos": 3, "ppos": 4},
        ),
        Layout(
            "conll09", 14, 13, (1, 2, -1, 4, 6, 8, 10, -1, -1), 12,
            kept={"plemma": 3, "ppos": 5, "pfeats": 7, "phead": 9, "pdeprel": 11},
        ),
        Layout(
            "propbank", 7, 6, (1, 2, -1, 3, -1, -1, -1, -1, -1),
            kept={"parse": 4, "predicate": 5}, brackets=True,
        ),
        Layout("up", 10, 9, (1, 2, 3, 4, 5, 6, 7, -1, -1), 8),
        Layout("up-conllu", 11, 10, (1, 2, 3, 4, 5, 6, 7, 8, 9)),
        Layout("misc", 10, -1, (1, 2, 3, 4, 5, 6, 7, 8, 9)),
    )
}  # fmt: skip
#: Columns of CoNLL-2009 that hold predicted values, in the places of the given ones.
PREDICTED = (1, 3, -1, 5, 7, 9, 11, -1, -1)


def detect_layout(text: str) -> str:
    r"""The layout of the first sentence with a predicate, "" if no sentence of the text has one.

    >>> detect_layout("1\tDogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\tA0\n2\tbark\t_\t_\t_\t_\t0\troot\tY\tbark.01\t_\n")
    'up'
    """
    for sentence in text.split("\n\n"):
        rows = [line.split("\t") for line in sentence.strip("\n").split("\n") if line and not line.startswith("#")]
        words = [row for row in rows if row[0].isdigit()]
        width = len(words[0]) if words else 0
        if width > 7 and all(len(row) == width for row in words):
            found = _layout_of(words, width)
            if found:
                return found
    return "misc" if _MISC_ROLES.search(text) else ""


def _layout_of(words: Sequence[Row], width: int) -> str:
    if all("*" in row[4] and all("*" in cell for cell in row[7:]) for row in words):
        return "propbank"
    for name in ("conll09", "up"):
        layout = LAYOUTS[name]
        if width > layout.fixed and width - layout.fixed == sum(row[layout.mark] == "Y" for row in words):
            return name
    rolesets = sum(row[10] not in EMPTY for row in words) if width > 11 else 0
    if rolesets and width == 11 + rolesets:
        heads = [all(row[column].isdigit() for row in words) for column in (6, 8)]
        return "up-conllu" if heads[0] else "conll08" if heads[1] else ""
    return ""


def parse_frames(path: str, line: int, rows: Sequence[Row], layout: Layout) -> list[FrameRow]:
    """The frames of a sentence whose first row has this line number; words are numbered from 0.

    Rows of multiword tokens and empty nodes have no roles, and files differ in how many columns they give them.
    """
    if layout.name == "misc":
        return _misc_frames(path, line, rows)
    words = [(line + place, row) for place, row in enumerate(rows) if _NUMBER.fullmatch(row[0])]
    if not words:
        raise FormatError(path, line, "a row that begins with the number of its word", repr("\t".join(rows[0])[:40]))
    for place, row in enumerate(rows):
        least = layout.fixed if _NUMBER.fullmatch(row[0]) else max(layout.words) + 1
        if len(row) < least:
            expected = f"at least {least} tab-separated columns ({layout.name})"
            raise FormatError(path, line + place, expected, f"{len(row)} columns")
    width = len(words[0][1])
    for at, row in words:
        if len(row) != width:
            raise FormatError(path, at, f"{width} columns, as in the rows above", f"{len(row)} columns")
    predicates = [
        word for word, (_, row) in enumerate(words)
        if (row[layout.mark] == "Y" if layout.mark >= 0 else row[layout.sense] not in EMPTY)
    ]  # fmt: skip
    columns = layout.fixed + len(predicates)
    spare = layout.name == "up-conllu" and not predicates and width == 12
    if width != columns and not spare:
        several = f"{len(predicates)} predicates" if len(predicates) != 1 else "1 predicate"
        raise FormatError(
            path, words[0][0], f"{columns} columns, {layout.fixed} and one per predicate of a sentence with {several}",
            f"{width} columns",
        )  # fmt: skip
    frames = []
    for number, word in enumerate(predicates):
        column = [row[layout.fixed + number] for _, row in words]
        if layout.brackets:
            roles = _bracketed(path, [place for place, _ in words], column)
        else:
            roles = [
                Role(part, at, at + 1)
                for at, cell in enumerate(column)
                for part in (cell.split("|") if cell not in EMPTY else ())
            ]
        roleset = words[word][1][layout.sense]
        kept = [role._replace(label=short_label(role.label)) for role in roles if role.label not in PREDICATE_LABELS]
        frames.append(FrameRow(word, "" if roleset in EMPTY else roleset, tuple(kept)))
    return frames


def _bracketed(path: str, lines: Sequence[int], column: Sequence[str]) -> list[Role]:
    """The spans of one column of brackets."""
    roles: list[Role] = []
    label, start = "", 0
    for word, (line, cell) in enumerate(zip(lines, column, strict=True)):
        match = _BRACKET.fullmatch(cell)
        if match is None:
            raise FormatError(path, line, "an argument such as (ARG0*, * or *)", repr(cell[:40]))
        if match[2]:
            if label:
                raise FormatError(path, line, f"the end of {label} before the next argument", repr(cell))
            label, start = match[2], word
        if match[3]:
            if not label:
                raise FormatError(path, line, "an argument that begins before it ends", repr(cell))
            roles.append(Role(label, start, word + 1))
            label = ""
    if label:
        expected = f"the end of {label} in its sentence, as *)"
        raise FormatError(path, lines[-1], expected, "an argument that ends outside the sentence")
    return roles


def _misc_frames(path: str, line: int, rows: Sequence[Row]) -> list[FrameRow]:
    """The frames that MISC spells."""
    words = [(line + place, row) for place, row in enumerate(rows) if len(row) == 10 and _NUMBER.fullmatch(row[0])]
    frames = []
    for word, (place, row) in enumerate(words):
        misc = dict(item.split("=", 1) for item in row[9].split("|") if "=" in item)
        if "Frame" not in misc and "Roles" not in misc:
            continue
        roles = []
        for part in misc.get("Roles", "").split(",") if misc.get("Roles") else ():
            label, colon, places = part.rpartition(":")
            first, _, last = places.partition("-")
            if not colon or not label or not _NUMBER.fullmatch(first) or not _NUMBER.fullmatch(last or first):
                raise FormatError(path, place, "roles such as Roles=A0:1,A1:3-5", repr(misc["Roles"][:60]))
            start, end = int(first) - 1, int(last or first)
            if not start < end <= len(words):
                expected = f"roles at words 1 to {len(words)}, the words of the sentence"
                raise FormatError(path, place, expected, repr(part))
            roles.append(Role(label, start, end))
        sense = misc.get("Frame", "_")
        frames.append(FrameRow(word, "" if sense == "_" else sense, tuple(roles)))
    return frames


def short_label(label: str) -> str:
    """A label as CoNLL writes it.

    >>> short_label("ARG0"), short_label("R-ARGM-TMP"), short_label("ACT")
    ('A0', 'R-AM-TMP', 'ACT')
    """
    return label.replace("ARG", "A", 1) if _LONG.match(label) else label


def long_label(label: str) -> str:
    """A label as PropBank writes it.

    >>> long_label("A0"), long_label("R-AM-TMP"), long_label("ACT")
    ('ARG0', 'R-ARGM-TMP', 'ACT')
    """
    return re.sub(r"^(C-|R-)?A(M-|A$|[0-9])", r"\1ARG\2", label)


def bracket_column(roles: Sequence[Role], length: int, predicate: int) -> list[str]:
    """Arguments as a column of brackets, with `V` at the predicate.

    >>> bracket_column([Role("A0", 0, 2)], 3, 2)
    ['(ARG0*', '*)', '(V*)']
    """
    cells = ["*"] * length
    spans = [Role("V", predicate, predicate + 1), *roles]
    ordered = sorted(spans, key=lambda role: (role.start, role.end))
    for one, other in pairwise(ordered):
        if other.start < one.end and "V" not in (one.label, other.label):
            raise ValueError(f"{one.label} and {other.label} overlap")
    for label, start, end in reversed(ordered):
        if label == "V" and any(role.start <= start < role.end for role in roles):
            continue
        cells[start] = f"({long_label(label)}{cells[start]}"
        cells[end - 1] += ")"
    return cells
