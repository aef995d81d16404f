"""Edges between words as contexts: collapsed dependencies under one set of names, and which of them are equivalent.

Trees of Universal Dependencies and of Stanford's basic dependencies both become collapsed Stanford dependencies (de
Marneffe and Manning 2008), which are the names in the table of the paper:

    prep_in      read -prep-> in -pobj-> bed            read -obl-> bed -case-> in
    conj_and     cats -conj-> dogs, cats -cc-> and      cats -conj-> dogs -cc-> and
    nsubj ...    shared by conjuncts; xsubj: the subject of a verb is that of its xcomp, too

Function words keep their own edges (to prepositions, determiners, auxiliaries): they are evidence for function words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from weft.infer.alignment.contexts import Equivalences

Edge = tuple[int, int, str]

#: Classes of words; 0 is any other.
NOUN, VERB, ADJECTIVE, ADVERB = 1, 2, 3, 4

#: Equivalent relations where both words are heads: classes of head and dependent, and a set.
STRAIGHT = (
    (VERB, VERB, "purpcl xcomp"),
    (VERB, NOUN, "agent nsubj xsubj"),
    (VERB, NOUN, "dobj nsubjpass rel"),
    (VERB, NOUN, "tmod prep_in prep_at prep_on"),
    (VERB, NOUN, "iobj prep_to"),
    (NOUN, VERB, "infmod partmod rcmod"),
    (NOUN, NOUN, "pos nn prep_of prep_in prep_at prep_for"),
    (NOUN, ADJECTIVE, "amod rcmod"),
)
_CONJUNCTIONS = ("conj_and", "conj_or", "conj_nor")
#: Equivalent relations where the head of one is the dependent of the other: classes, and both sets.
TURNED = (
    *((each, each, name, name) for each in (VERB, NOUN, ADJECTIVE, ADVERB) for name in _CONJUNCTIONS),
    (VERB, NOUN, "dobj nsubjpass rel", "infmod partmod rcmod"),
    (VERB, ADJECTIVE, "acomp", "cop csubj"),
    (NOUN, ADJECTIVE, "amod rcmod", "nsubj"),
)

#: Relations of Universal Dependencies with another name in Stanford's.
_UD = {
    "obj": "dobj", "nsubj:pass": "nsubjpass", "nsubj:outer": "nsubj", "obl:agent": "agent", "compound": "nn",
    "flat": "nn", "flat:name": "nn", "nmod:desc": "nn", "nmod:poss": "pos", "acl:relcl": "rcmod", "obl:tmod": "tmod",
    "obl:unmarked": "tmod", "nmod:tmod": "tmod", "csubj:pass": "csubj", "advcl:relcl": "advcl", "nummod": "num",
}  # fmt: skip
_STANFORD = {"poss": "pos", "ref": "rel"}
_SUBJECTS = ("nsubj", "nsubjpass", "csubj")
_UD_LABELS = frozenset({"obj", "obl", "nmod", "case", "compound", "flat", "acl:relcl", "nummod"})


def is_universal(labels: Iterable[str]) -> bool:
    """Whether relations are those of Universal Dependencies rather than Stanford's.

    >>> is_universal(["nsubj", "root", "obj"]), is_universal(["nsubj", "root", "dobj"])
    (True, False)
    """
    return not _UD_LABELS.isdisjoint(labels)


def class_of(tag: str) -> int:
    """The class of a word by its Penn or universal part of speech.

    >>> [class_of(tag) for tag in ("NNP", "PROPN", "PRP", "VBD", "AUX", "JJ", "RB", "DT", "ADP")]
    [1, 1, 1, 2, 2, 3, 4, 0, 0]
    """
    if tag.startswith("NN") or tag in ("PRP", "NOUN", "PROPN", "PRON", "WP"):
        return NOUN
    if tag.startswith("VB") or tag in ("VERB", "AUX", "MD"):
        return VERB
    if tag.startswith("JJ") or tag == "ADJ":
        return ADJECTIVE
    return ADVERB if tag.startswith("RB") or tag == "ADV" else 0


def collapsed(
    forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], labels: Sequence[str], universal: bool
) -> list[Edge]:
    """The edges of a sentence: head, dependent, relation. Heads are counted from 1, as in CoNLL-U; 0 is the root.

    >>> collapsed(["read", "in", "bed"], ["VB", "IN", "NN"], [0, 3, 1], ["root", "case", "obl"], True)
    [(2, 1, 'case'), (0, 2, 'prep_in')]
    >>> collapsed(["read", "in", "bed"], ["VB", "IN", "NN"], [0, 1, 2], ["root", "prep", "pobj"], False)
    [(0, 1, 'prep'), (1, 2, 'pobj'), (0, 2, 'prep_in')]
    >>> collapsed(["She", "sat", "and", "read"], ["PRP", "VBD", "CC", "VBD"], [2, 0, 4, 2],
    ...           ["nsubj", "root", "cc", "conj"], True)
    [(1, 0, 'nsubj'), (3, 2, 'cc'), (1, 3, 'conj_and'), (3, 0, 'nsubj')]
    """
    edges = (_universal if universal else _basic)(forms, tags, heads, labels)
    return edges + _shared(edges)


def _universal(forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], labels: Sequence[str]) -> list[Edge]:
    marked: dict[int, str] = {}  # the first preposition, conjunction or mark of every word
    for i, label in enumerate(labels):
        if label in ("case", "cc", "mark") and heads[i] > 0:
            marked.setdefault((heads[i] - 1) * 4 + _KIND_OF_MARK[label], forms[i].lower())
    edges = []
    for i, label in enumerate(labels):
        h = heads[i] - 1
        if h < 0:
            continue
        name = _UD.get(label, label)
        if label in ("obl", "nmod", "obl:arg", "obl:tmod", "nmod:tmod"):
            word = marked.get(i * 4)
            name = f"prep_{word}" if word is not None else "tmod" if label.endswith("tmod") else "dep"
        elif label == "conj":
            name = f"conj_{marked.get(i * 4 + 1, 'and')}"
        elif label == "acl":
            name = "infmod" if marked.get(i * 4 + 2) == "to" else "partmod"
        elif label == "advcl" and marked.get(i * 4 + 2) == "to":
            name = "purpcl"
        elif label == "xcomp" and class_of(tags[i]) == ADJECTIVE:
            name = "acomp"
        edges.append((h, i, name))
    return edges


_KIND_OF_MARK = {"case": 0, "cc": 1, "mark": 2}


def _basic(forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], labels: Sequence[str]) -> list[Edge]:
    joined: dict[int, str] = {}  # the conjunction below every word
    for i, label in enumerate(labels):
        if label == "cc" and heads[i] > 0:
            joined.setdefault(heads[i] - 1, forms[i].lower())
    edges, further = [], []
    for i, label in enumerate(labels):
        h = heads[i] - 1
        if h < 0:
            continue
        name = _STANFORD.get(label, label)
        if label == "conj":
            name = f"conj_{joined.get(h, 'and')}"
        elif label in ("pobj", "pcomp") and heads[h] > 0 and labels[h] == "prep":
            word = forms[h].lower()
            if label == "pobj":
                passive = word == "by" and any(
                    heads[k] == heads[h] and labels[k] == "auxpass" for k in range(len(heads))
                )
                further.append((heads[h] - 1, i, "agent" if passive else f"prep_{word}"))
            else:
                further.append((heads[h] - 1, i, f"prepc_{word}"))
        edges.append((h, i, name))
    return edges + further


def _shared(edges: Sequence[Edge]) -> list[Edge]:
    """Edges of conjuncts that the tree gives to the first alone, and subjects of open complements."""
    conjuncts = [(h, d) for h, d, name in edges if name.startswith("conj")]
    complements = [(h, d) for h, d, name in edges if name == "xcomp"]
    if not conjuncts and not complements:
        return []
    further: list[Edge] = []
    subjects = {h: (d, name) for h, d, name in edges if name in _SUBJECTS}
    for first, other in conjuncts:
        for h, d, name in edges:
            if d == first and not name.startswith(("conj", "root")):
                further.append((h, other, name))
        if first in subjects and other not in subjects:
            further.append((other, *subjects[first]))
    further += [(other, subjects[first][0], "xsubj") for first, other in complements if first in subjects]
    return further


class Relations:
    """Numbers of relations, and the table of equivalent ones over those that it names.

    >>> relations = Relations()
    >>> table = relations.equivalences()
    >>> dobj, rcmod, nsubj = (relations.number(name) for name in ("dobj", "rcmod", "nsubj"))
    >>> int(table.turned[VERB, NOUN, dobj, rcmod]), int(table.turned[NOUN, VERB, rcmod, dobj])
    (1, 1)
    >>> int(table.straight[VERB, NOUN, dobj, nsubj])
    0
    """

    def __init__(self) -> None:
        names = " ".join([*(row[2] for row in STRAIGHT), *(f"{row[2]} {row[3]}" for row in TURNED)]).split()
        self._numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self._known = len(self._numbers)

    def number(self, name: str) -> int:
        """The number of a relation."""
        return self._numbers.setdefault(name, len(self._numbers))

    def equivalences(self) -> Equivalences:
        """The table of the paper, closed under swapping the two sentences."""
        shape = (5, 5, self._known, self._known)
        straight, turned = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.uint8)
        for head, dependent, names in STRAIGHT:
            for x, y in product(names.split(), repeat=2):
                straight[head, dependent, self.number(x), self.number(y)] = 1
        for one, other, left, right in TURNED:
            for x, y in product(left.split(), right.split()):
                turned[one, other, self.number(x), self.number(y)] = 1
                turned[other, one, self.number(y), self.number(x)] = 1
        return Equivalences(straight, turned)
