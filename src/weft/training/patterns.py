r"""Training text for a segmenter, generated from a file of patterns.

    # Citations
    = name: Adams, Baker, Chen
    Smith et al.|, p. {99}|. // {name} disagreed|.|[|{9}|]
    Shopping list \ - milk \ - eggs

Each line is a paragraph. Its tokens are separated by spaces, or by `|` where the text has no space.

| notation | meaning |
|---|---|
| `# ...` | a comment |
| `= name: a, b` | a list of values |
| `{name}` | a value drawn from the list; `{year}`: a year |
| `{9}`, `{99}`, `{A}`, `{AA}`, `{a}` | a number of so many digits, so many capitals, so many small letters |
| `//` | a sentence ends, and a space follows |
| `\` | a sentence ends, and a line end follows |
| `/` | a line ends, but not the sentence |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weft.errors import DataError
from weft.formats.streams import read_text
from weft.text.doc import Doc

#: How often each pattern is filled in.
COPIES = 8
_SLOT = re.compile(r"\{(\w+)\}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_YEAR, _YEARS = "year", (1850, 2030)
_LINE, _SENTENCE, _SENTENCE_AND_LINE = "/", "//", "\\"


def read_patterns(path: str | Path, seed: int = 0, copies: int = COPIES) -> list[Doc]:
    """The paragraphs that a file of patterns describes, one document each; slots are filled in at random."""
    lists: dict[str, list[str]] = {}
    docs = []
    random = np.random.default_rng([seed, 21])
    for number, line in enumerate(read_text(str(path)).splitlines(), 1):
        if line.startswith("="):
            name, _, values = line[1:].partition(":")
            lists[name.strip()] = [value.strip() for value in values.split(",")]
        elif line.strip() and not line.startswith("#"):
            for slot in _SLOT.findall(line):
                if slot not in lists and slot != _YEAR and not re.fullmatch("9+|A+|a+", slot):
                    raise DataError(
                        f"{path}, line {number}: there is no list {slot!r} above it; add a line `= {slot}: ...`"
                    )
            docs += [paragraph(_filled(line, lists, random)) for _ in range(copies)]
    return docs


def _filled(pattern: str, lists: Mapping[str, Sequence[str]], random: np.random.Generator) -> str:
    def draw(slot: re.Match[str]) -> str:
        name, size = slot[1], len(slot[1])
        if name in lists:
            return lists[name][int(random.integers(len(lists[name])))]
        if name == _YEAR:
            return str(random.integers(*_YEARS))
        if name[0] == "9":
            return str(random.integers(10 ** (size - 1), 10**size))
        letters = "".join(_LETTERS[i] for i in random.integers(len(_LETTERS), size=size))
        return letters.upper() if name[0] == "A" else letters

    return _SLOT.sub(draw, pattern)


def paragraph(pattern: str) -> Doc:
    r"""The document that a pattern without slots describes.

    >>> doc = paragraph("See p. 4|. // Buy|: \\ - milk / and eggs")
    >>> doc.text
    'See p. 4. Buy:\n- milk\nand eggs'
    >>> [[word.form for word in sentence.words] for sentence in doc.sentences]
    [['See', 'p.', '4', '.'], ['Buy', ':'], ['-', 'milk', 'and', 'eggs']]
    """
    sentences: list[list[str]] = [[]]
    spaces: list[list[bool]] = [[]]
    lasts: list[int] = []  # tokens before line ends
    for chunk in pattern.split():
        if chunk in (_LINE, _SENTENCE_AND_LINE):
            lasts.append(sum(map(len, sentences)) - 1)
        if chunk in (_SENTENCE, _SENTENCE_AND_LINE):
            sentences.append([])
            spaces.append([])
        elif chunk != _LINE:
            tokens = chunk.split("|")
            sentences[-1] += tokens
            spaces[-1] += [False] * (len(tokens) - 1) + [True]
    doc = Doc.from_words(sentences, spaces)
    text = list(doc.text)
    for end in doc.token_end[lasts].tolist():
        text[end] = "\n"
    doc.text = "".join(text)
    return doc
