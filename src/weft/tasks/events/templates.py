"""Templates of the local features of triggers and of arguments, and how they become numbers for the kernels.

A template is some atoms joined: `lower[-1] lower[0]`. Atoms with an offset are of the word so far from the trigger;
atoms without one are of the trigger in its sentence, or of the trigger and a candidate (`weft.tasks.events.atoms`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

#: Atoms of words: attributes of forms, then columns, then the form or the type of the mention that covers it.
FORM_ATOMS = ("lower", "prefix4", "prefix5", "prefix6", "suffix2", "suffix3", "suffix4", "brief")
CLASS_ATOMS = ("synset", "verb", "cluster13", "cluster16", "cluster20")  # of a network of words, and of word clusters
WORD_ATOMS = (*FORM_ATOMS, "lemma", "tag", "rel", "norm", *CLASS_ATOMS)
#: Atoms of a trigger in its sentence.
TRIGGER_ATOMS = (
    "head", "head-tag", "near", "near-side", "near-form", "mentions", "near-path", "before-type", "after-type",
    "cover",
)  # fmt: skip
#: Atoms of a trigger and a candidate.
PAIR_ATOMS = (
    "form", "stem", "tag", "type", "arg", "arg-tag", "distance", "side", "punct", "nearest", "only", "path", "length",
    "words-path", "top", "depth", "between", "arg-before", "arg-after", "clause", "after", "before", "passed",
    "tags-between", "step", "sentence", "arg-stem",
)  # fmt: skip
#: Templates for sets: one feature per child of the trigger, or per word between it and the candidate.
CHILD, BETWEEN = 200, 230

TRIGGERS = """
bias
lower[0]; lemma[0]; prefix4[0]; prefix5[0]; prefix6[0]; suffix2[0]; suffix3[0]; suffix4[0]; brief[0]; tag[0]
lower[-1]; lower[1]; lower[-2]; lower[2]; lower[-1] lower[0]; lower[0] lower[1]; lower[-2] lower[-1]
lower[1] lower[2]; prefix5[0] lower[1]; prefix5[0] lower[-1]; prefix5[0] tag[0]
tag[-1]; tag[1]; tag[-2]; tag[2]; tag[-1] tag[0]; tag[0] tag[1]; tag[-2] tag[-1]; tag[1] tag[2]
norm[-1]; norm[1]; norm[-2]; norm[2]; norm[-1] lower[0]; lower[0] norm[1]; norm[-2] norm[-1]; norm[1] norm[2]
prefix5[0] norm[-1]; prefix5[0] norm[1]; prefix5[0] norm[2]; prefix5[0] norm[-2]; prefix5[-1]; prefix5[1]
rel[0]; head; head-tag; rel[0] head; prefix5[0] head; prefix5[0] rel[0]; prefix5[0] head-tag
near; near-form; near prefix5[0]; near near-side; near near-side prefix5[0]; mentions; mentions prefix5[0]
near-path; near-path prefix5[0]; before-type; after-type; before-type after-type; cover; cover prefix5[0]
"""
PAIRS = """
bias; type; form; stem; stem type; form arg; arg; arg-stem; arg-tag; tag arg-tag; tag type; arg-before; arg-after; after; before
distance; distance type; distance stem; side; side stem; side type; side distance; punct; punct side
nearest; nearest side; nearest type; nearest stem; only; only nearest; passed; passed stem; passed side stem
nearest side stem; side after; side before; side arg-before; side arg-after; stem arg-before; stem arg-after
between; between stem; between type; tags-between; tags-between stem; arg-before arg-after
path; path type; path stem; path tag; words-path; words-path stem; length; length type; length stem; length nearest
top; top stem; depth; clause; clause type; step; step stem; step type; sentence; sentence type
stem type distance; stem side arg-before; stem side after
"""  # noqa: E501
#: Templates that only classes of words fill; they stand behind the others.
TRIGGERS_OF_CLASSES = """
synset[0]; verb[0]; synset[-1]; synset[1]; verb[0] near; synset[0] rel[0]; synset[0] head
cluster13[0]; cluster16[0]; cluster20[0]; cluster13[-1]; cluster13[1]; cluster13[0] near
"""
PAIRS_OF_CLASSES = """
synset[0]; verb[0]; synset[0] type; synset[0] side type; synset[0] path; verb[0] path
cluster13[0]; cluster20[0]; cluster13[0] type; cluster13[0] path
"""
_TOKEN = re.compile(r"^([a-z0-9-]+)(?:\[(-?\d+)\])?$")


def _read(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.replace("\n", ";").split(";") if each.strip())


@cache
def names_of(kind: str, classes: bool = False) -> tuple[str, ...]:
    """The templates of `triggers` or `pairs`, by number, with or without those of classes of words."""
    plain, more = (TRIGGERS, TRIGGERS_OF_CLASSES) if kind == "triggers" else (PAIRS, PAIRS_OF_CLASSES)
    return _read(plain + more if classes else plain)


@cache
def compiled(kind: str, classes: bool = False) -> NDArray[np.int16]:
    """Templates as rows of up to three atoms (number, offset); -1: none. Atoms of words have an offset.

    >>> compiled("triggers")[1].tolist()
    [[0, 0], [-1, 0], [-1, 0]]
    """
    own: Sequence[str] = TRIGGER_ATOMS if kind == "triggers" else PAIR_ATOMS
    rows = []
    for name in names_of(kind, classes):
        row = []
        for token in () if name == "bias" else name.split():
            found = _TOKEN.match(token)
            assert found, token
            if found[2] is None:
                row.append((len(WORD_ATOMS) + own.index(found[1]), 0))
            else:
                row.append((WORD_ATOMS.index(found[1]), int(found[2])))
        rows.append(row + [(-1, 0)] * (3 - len(row)))
    return np.array(rows, dtype=np.int16)
