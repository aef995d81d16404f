"""The twelve universal parts of speech of Petrov, Das and McDonald (2012), and mappings to them.

    NOUN  VERB  ADJ  ADV  PRON  DET  ADP  NUM  CONJ  PRT  .  X

There are three mappings: from the seventeen tags of Universal Dependencies (`universal_tag`), from a treebank's tags
through a `*.map` file (`read_map`: a tag, a tab, a universal tag on every line), and from UniMorph features
(`unimorph_tag`). They disagree on some words (`not`, `that`): use one of them within an experiment.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from weft.errors import DataError, FormatError

UNIVERSAL_TAGS = ("NOUN", "VERB", "ADJ", "ADV", "PRON", "DET", "ADP", "NUM", "CONJ", "PRT", ".", "X")

#: Parts of speech of Universal Dependencies (CONJ is from version 1) with their universal tags.
OF_UPOS = {
    "ADJ": "ADJ", "ADP": "ADP", "ADV": "ADV", "AUX": "VERB", "CCONJ": "CONJ", "CONJ": "CONJ", "DET": "DET", "INTJ": "X",
    "NOUN": "NOUN", "NUM": "NUM", "PART": "PRT", "PRON": "PRON", "PROPN": "NOUN", "PUNCT": ".", "SCONJ": "CONJ",
    "SYM": "X", "VERB": "VERB", "X": "X",
}  # fmt: skip

#: Parts of speech of the UniMorph schema; participles and converbs are verb forms.
OF_UNIMORPH = {
    "N": "NOUN", "PROPN": "NOUN", "ADJ": "ADJ", "PRO": "PRON", "CLF": "PRT", "ART": "DET", "DET": "DET", "V": "VERB",
    "ADV": "ADV", "AUX": "VERB", "V.PTCP": "VERB", "V.MSDR": "VERB", "V.CVB": "VERB", "ADP": "ADP", "COMP": "CONJ",
    "CONJ": "CONJ", "NUM": "NUM", "PART": "PRT", "INTJ": "X",
}  # fmt: skip


def universal_tag(upos: str) -> str:
    """The universal tag for a part of speech of Universal Dependencies; an empty tag stays empty.

    >>> [universal_tag(upos) for upos in ("PROPN", "AUX", "SCONJ", "PART", "PUNCT", "SYM", "_")]
    ['NOUN', 'VERB', 'CONJ', 'PRT', '.', 'X', '']
    >>> universal_tag("NN")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: 'NN' is not a part of speech of Universal Dependencies; map other tags with a *.map file
    """
    if upos in ("", "_"):
        return ""
    try:
        return OF_UPOS[upos]
    except KeyError:
        raise DataError(
            f"{upos!r} is not a part of speech of Universal Dependencies; map other tags with a *.map file"
        ) from None


def universal_tags(upos: Iterable[str]) -> list[str]:
    """The universal tags of many parts of speech.

    >>> universal_tags(["DET", "PROPN"])
    ['DET', 'NOUN']
    """
    return [universal_tag(each) for each in upos]


def unimorph_tag(features: str) -> str:
    """The universal tag for a bundle of UniMorph features, empty if its part of speech has none.

    >>> unimorph_tag("V.PTCP;PST"), unimorph_tag("N;DEF;SG"), unimorph_tag("???")
    ('VERB', 'NOUN', '')
    """
    return OF_UNIMORPH.get(features.partition(";")[0].strip(), "")


def read_map(path: str | Path) -> dict[str, str]:
    """The tags in a `*.map` file with their universal tags; lines that begin with ## or give no tag are skipped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "xx.map").write_text("NN\\tNOUN\\nVBZ\\tVERB\\n")
    ...     read_map(Path(folder, "xx.map"))
    {'NN': 'NOUN', 'VBZ': 'VERB'}
    """
    from weft.formats.streams import read_text

    mapping: dict[str, str] = {}
    for number, line in enumerate(read_text(str(path)).splitlines(), start=1):
        tag, _, universal = line.rpartition("\t") if "\t" in line else line.rpartition(" ")
        tag, universal = tag.strip(), universal.strip()
        if not tag or not universal or line.startswith("##"):
            continue
        if universal not in UNIVERSAL_TAGS:
            if line.startswith("#"):  # a comment, not the Penn Treebank tag #
                continue
            raise FormatError(str(path), number, f"a tag, a tab and one of {' '.join(UNIVERSAL_TAGS)}", repr(line))
        mapping[tag] = universal
    if not mapping:
        raise DataError(f"{path} maps no tags; expected lines with a tag, a tab and a universal tag")
    return mapping


#: Language-independent tag sets.
TAGSETS = {"Universal Dependencies": frozenset(OF_UPOS), "the twelve universal tags": frozenset(UNIVERSAL_TAGS)}


def tagsets_of(tags: Iterable[str], among: Iterable[str] = tuple(TAGSETS)) -> list[str]:
    """The names of the tag sets that contain all the given tags; an error if none does.

    >>> tagsets_of(["NOUN", "PROPN"]), len(tagsets_of(["NOUN", "VERB"]))
    (['Universal Dependencies'], 2)
    >>> tagsets_of(["NOUN", "."], ["Universal Dependencies"])
    Traceback (most recent call last):
    ...
    weft.errors.DataError: the tag '.' is not one of Universal Dependencies; all languages must use the same tags
    """
    given, names = set(tags), list(among)
    fitting = [name for name in names if given <= TAGSETS[name]]
    if not fitting:
        first = min((sorted(given - TAGSETS[name]) for name in names), key=len)[0]
        if first in ("", "_"):
            raise DataError(f"some words have no tag; expected tags of {' or '.join(names)} in the column UPOS")
        raise DataError(f"the tag {first!r} is not one of {' or '.join(names)}; all languages must use the same tags")
    return fitting
