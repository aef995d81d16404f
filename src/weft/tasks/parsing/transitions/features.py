"""Features of transition-based parsers: templates of the systems, and words as rows of 64-bit values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.features.extract import gather_rows, read_column, runs_of, sentence_offsets
from weft.features.lexicon import Lexicon
from weft.hashing import hash_string
from weft.text.doc import Doc

#: Fields of templates: columns of documents, with an attribute of `weft.features.attributes` after a dot.
FIELDS = {"w": "form.lower", "m": "lemma", "t": "upos", "x": "xpos", "f": "feats"}

_BUFFER_PAIRS = (
    "S0.wt|N0.wt S0.wt|N0.w S0.w|N0.wt S0.wt|N0.t S0.t|N0.wt S0.w|N0.w S0.t|N0.t N0.t|N1.t "
    "N0.t|N1.t|N2.t S0.t|N0.t|N1.t S0~N0|S0.w,t S0~N0|N0.w,t S0~N0|S0.w|N0.w S0~N0|S0.t|N0.t "
)
_STACK_PAIRS = (
    "S1.wt|S0.wt S1.wt|S0.w S1.w|S0.wt S1.wt|S0.t S1.t|S0.wt S1.w|S0.w S1.t|S0.t S1.t|S0.t|N0.t S2.t|S1.t|S0.t "
    "S1~S0|S1.t|S0.t S1~S0|S0.w,t S1~S0|S1.w,t "
)
_WORDS = (
    "S0.wt,w,t,x,f,m N0.wt,w,t,x,f,m N1.wt,w,t,x N2.wt,w,t "
    "S0.x|N0.x S0.f|N0.f S0.m|N0.m "
    "S0.wvr,tvr,wvl,tvl N0.wvl,tvl S0.wsr,tsr,wsl,tsl N0.wsl,tsl "
    "S0l.w,t,L S0r.w,t,L N0l.w,t,L S0l2.w,t,L S0r2.w,t,L N0l2.w,t,L "
    "S0.t|S0l.t|N0.t S0.t|S0r.t|N0.t S0.t|N0.t|N0l.t "
    "S0.t|S0l.t|S0l2.t S0.t|S0r.t|S0r2.t N0.t|N0l.t|N0l2.t "
)
#: Templates of the systems, after Zhang & Nivre (2011). In arc-eager, features with little to say about labels only
#: score moves.
TEMPLATES = {
    "arc-eager": (
        "moves: N1.wt,w N2.wt,w,t N0.t|N1.t|N2.t S0.wvl,tvl,wsl,tsl S0~N0|S0.w S0~N0|N0.w S0~N0|S0.w|N0.w "
        "S0l2.w,t,L S0r2.w,t,L N0l2.w,t S0l.t S0.L S0h.w,t,L S0h2.w,t,L S0h.t|S0.t|N0.t S0.t|S0h.t|S0h2.t "
        "S1.t,w S1.t|S0.t|N0.t S1.t|N0.t S0.t|S0l.t|N0.t S0.t|S0l.t|S0l2.t S0.t|S0r.t|S0r2.t N0.t|N0l.t|N0l2.t "
        "both: S0.wt,w,t,x,f,m N0.wt,w,t,x,f,m N1.t,x S0.x|N0.x S0.f|N0.f S0.m|N0.m "
        "S0.wvr,tvr,wsr,tsr N0.wvl,tvl,wsl,tsl S0l.w,L S0r.w,t,L N0l.w,t,L N0l2.L S0.t|S0r.t|N0.t S0.t|N0.t|N0l.t "
        "S0.wt|N0.wt S0.wt|N0.w S0.w|N0.wt S0.wt|N0.t S0.t|N0.wt S0.w|N0.w S0.t|N0.t N0.t|N1.t S0.t|N0.t|N1.t "
        "S0~N0|S0.t S0~N0|N0.t S0~N0|S0.t|N0.t"
    ),
    "arc-hybrid": "both: " + _WORDS + _BUFFER_PAIRS + _STACK_PAIRS + (
        "S1.wt,w,t,x,f,m S1.x|S0.x S1.f|S0.f S1.m|S0.m S1.wvr,tvr,wvl,tvl S1.wsr,tsr,tsl "
        "S1.t|S0.t|S0l.t S1.t|S0.t|S0r.t S1.t|S0.t|S1l.t S1.t|S0.t|S1r.t "
        "S1.t|S0.t|S0l2.t S1.t|S0.t|S0r2.t S1.t|S0.t|S1l2.t S1.t|S0.t|S1r2.t "
        "S1l.w,t,L S1r.w,t,L S1l2.w,t,L S1r2.w,t,L S1.t|S1r.t|S1r2.t"
    ),
    "easy-first": "both: " + (
        "M2.t,w,tw M1.t,w,tw P0.t,w,wt,x,f,m P1.t,w,wt,x,f,m P2.t,w,wt P3.t,w,wt "
        "M1.tvl,tvr P0.tvl,tvr,tsl,tsr,wvl,wvr P1.tvl,tvr,tsl,tsr,wvl,wvr P2.tvl,tvr "
        "M1l.t M1r.t P0l.t,w,L P0r.t,w,L P1l.t,w,L P1r.t,w,L P2l.t P2r.t P0l2.t P0r2.t P1l2.t P1r2.t "
        "P0~P1 P0~P1|P0.t|P1.t P0~P1|P0.w|P1.w P0.t|P1.t P0.w|P1.w P0.t|P1.w P0.w|P1.t P0.wt|P1.wt "
        "P0.x|P1.x P0.f|P1.f P0.m|P1.m "
        "P0.t|P2.t P0.w|P2.w P0.t|P2.w P0.w|P2.t M1.t|P0.t M1.w|P0.w M1.t|P0.w M1.w|P0.t "
        "M1.t|P2.t M1.w|P2.w P1.t|P2.t P1.w|P2.w P1.t|P2.w P1.w|P2.t "
        "M1.t|P0.t|P1.t P0.t|P1.t|P2.t M2.t|M1.t|P0.t P1.t|P2.t|P3.t M1.t|P0.t|P1.t|P2.t "
        "P0.t|P1.t|P0l.t P0.t|P1.t|P0r.t P0.t|P1.t|P1l.t P0.t|P1.t|P1r.t "
        "P0.t|P1.t|P0l.t|P1l.t P0.t|P1.t|P0r.t|P1r.t P0.t|P1.t|P0r.t|P1l.t P0.t|P1.t|P0l.t|P1r.t "
        "P0.w|P1.w|P1r.w P0.t|P1.w|P1r.w P0.w|P1.t|P1r.t P0.w|P1.w|P0r.w P1.w|P2.w|P2r.w P0.w|P2.w|P1.t"
    ),
    # Context of a move on a spine: S1 and S2 are the ends of its arc, GP and GG the heads above the dependent's head.
    "lr-spine": "both: " + (
        "S1.wt,w,t,x,f,m S2.wt,w,t,x,f,m S3.wt,w,t Q1.wt,w,t,x,f,m Q2.wt,w,t "
        "S1.wt|S2.wt S1.wt|S2.w S1.w|S2.wt S1.wt|S2.t S1.t|S2.wt S1.w|S2.w S1.t|S2.t S1.x|S2.x S1.f|S2.f S1.m|S2.m "
        "S1.wt|Q1.wt S1.wt|Q1.w S1.w|Q1.wt S1.wt|Q1.t S1.t|Q1.wt S1.w|Q1.w S1.t|Q1.t S1.x|Q1.x S1.f|Q1.f "
        "S2.wt|Q1.wt S2.wt|Q1.w S2.w|Q1.wt S2.wt|Q1.t S2.t|Q1.wt S2.w|Q1.w S2.t|Q1.t "
        "S1.t|S2.t|Q1.t S1.t|S2.t|S3.t S1.t|Q1.t|Q2.t Q1.t|Q2.t "
        "S1.t|S2.t|S1l.t S1.t|S2.t|S1r.t S1.t|S2.t|S2l.t S1.t|S2.t|S2r.t S2.t|S1l.w S2.t|S1r.w "
        "S1~S2|S1.w,t S1~S2|S2.w,t S1~S2|S1.t|S2.t "
        "S1.wvl,tvl,wvr,tvr,wsl,tsl,wsr,tsr S2.wvl,tvl,wvr,tvr,wsl,tsl,wsr,tsr "
        "S1l.w,t,L S1l2.w,t,L S1r.w,t,L S1r2.w,t,L S2l.w,t,L S2l2.w,t,L S2r.w,t,L S2r2.w,t,L "
        "S1.t|S1l.t|S1l2.t S1.t|S1r.t|S1r2.t S2.t|S2l.t|S2l2.t S2.t|S2r.t|S2r2.t "
        "GP.w,t,L GG.w,t,L S1.t|S2.t|GP.t S1.t|GP.t|GG.t S2.t|GP.t|GG.t"
    ),
}  # fmt: skip
TEMPLATES["arc-standard"] = TEMPLATES["arc-hybrid"]
# C0 and C1 are the ends of what was passed over between the two words that are compared.
TEMPLATES["covington-projective"] = TEMPLATES["covington"] = TEMPLATES["arc-eager"] + (
    " both: C0.t C1.t S0.t|C0.t|N0.t S0.t|C1.t|N0.t S0~N0 N0.L N0h.t,L N0.t|S0.t|S1.t N0r.t"
)

#: Fields of word clusters, as full paths and path prefixes, and the templates that read them.
CLUSTER_FIELDS = {"c": "form.cluster", "d": "form.cluster4", "e": "form.cluster6"}
_CLUSTERS = "{0}.c,d,e {1}.c,d,e {0}.c|{1}.c {0}.d|{1}.d {0}.e|{1}.e {0}.c|{1}.t {0}.t|{1}.c "
CLUSTER_TEMPLATES = {
    "arc-eager": ("moves: N1.c,d N2.d S1.d S0.d|N0.d|N1.d S0h.d|S0.d|N0.d both: " + _CLUSTERS.format("S0", "N0")),
    "arc-hybrid": "both: " + _CLUSTERS.format("S0", "N0") + _CLUSTERS.format("S1", "S0"),
    "arc-standard": "both: " + _CLUSTERS.format("S0", "N0") + _CLUSTERS.format("S1", "S0"),
    "easy-first": "both: " + _CLUSTERS.format("P0", "P1"),
    "lr-spine": "both: " + _CLUSTERS.format("S1", "S2"),
}
CLUSTER_TEMPLATES["covington-projective"] = CLUSTER_TEMPLATES["covington"] = CLUSTER_TEMPLATES["arc-eager"]

#: The same for a second clustering.
NATIVE_FIELDS = {"n": "form.native", "o": "form.native4", "p": "form.native6"}
_SECOND = dict(zip(CLUSTER_FIELDS, NATIVE_FIELDS, strict=True))
NATIVE_TEMPLATES = {
    system: re.sub(r"(?<=[.,])[cde]\b", lambda match: _SECOND[match[0]], templates)
    for system, templates in CLUSTER_TEMPLATES.items()
}

# A parser with so much knowledge of words also learns which prepositions and conjunctions they take (in UD these are
# children of the noun or verb that follows), and what the next words are.
NATIVE_TEMPLATES["arc-eager"] += (
    " both: S0.w|N0l.w S0.t|N0l.w|N0.t S0.n|N0l.w "
    "moves: S0h.w|N0l.w S0h.t|S0.t|N0l.w S0.n|N0l.w|N0.n S0h.n|N0l.w|N0.n "
    "S0.t|S0r.L|N0.t S0.t|N0.t|N0l.L S0h.t|S0.t|N0.t|N0l.t S0.L|N0.t S0h.w|S0.t|N0.t N0.w|N1.t N0.t|N1.w S0.t|N1.w"
)

#: The only field of a delexicalized parser: it reads no forms, no lemmas and no treebank-specific tags.
DELEXICALIZED_FIELDS = {"t": "upos"}


def _without_words(templates: str) -> str:
    """Templates of a system without the conjunctions that read words.

    >>> _without_words("both: S0.wt,t,wvr,tvr S0~N0|S0.t|N0.t S0.w|N0.t S0l.L,w")
    'both: S0.t,tvr S0~N0|S0.t|N0.t S0l.L'
    """
    kept = []
    for template in templates.split():
        factors = []
        for factor in template.split("|"):
            place, dot, attributes = factor.partition(".")
            delexicalized = [name for name in attributes.split(",") if not set(name) & set("wmxf")]
            factors.append(place + dot + ",".join(delexicalized) if delexicalized else "")
        if all(factors):
            kept.append("|".join(factors))
    return " ".join(kept)


#: Templates of parsers for languages without a treebank: tags, labels, distance, valency and sets of labels. For
#: arc-eager they are Zhang & Nivre's (2011) without words, as in Täckström et al. (2012) and McDonald et al. (2013).
DELEXICALIZED_TEMPLATES = {
    **{system: _without_words(templates) for system, templates in TEMPLATES.items()},
    "arc-eager": (
        "both: S0.t N0.t N1.t N2.t S0.t|N0.t N0.t|N1.t N0.t|N1.t|N2.t S0.t|N0.t|N1.t S0h.t|S0.t|N0.t S0.t|S0l.t|N0.t "
        "S0.t|S0r.t|N0.t S0.t|N0.t|N0l.t S0~N0|S0.t S0~N0|N0.t S0~N0|S0.t|N0.t S0.tvr,tvl N0.tvl "
        "S0.L S0h.t,L S0l.t,L S0r.t,L N0l.t,L S0h2.t,L S0l2.t,L S0r2.t,L N0l2.t,L "
        "S0.t|S0l.t|S0l2.t S0.t|S0r.t|S0r2.t S0.t|S0h.t|S0h2.t N0.t|N0l.t|N0l2.t S0.tsr,tsl N0.tsl"
    ),
}

#: Zhang & Nivre's templates (2011) as printed by Täckström et al. (2012), all for moves and labels.
ZHANG_NIVRE = (
    "both: S0.wt,w,t N0.wt,w,t N1.wt,w,t N2.wt,w,t "
    "S0.wt|N0.wt S0.wt|N0.w S0.w|N0.wt S0.wt|N0.t S0.t|N0.wt S0.w|N0.w S0.t|N0.t N0.t|N1.t "
    "N0.t|N1.t|N2.t S0.t|N0.t|N1.t S0h.t|S0.t|N0.t S0.t|S0l.t|N0.t S0.t|S0r.t|N0.t S0.t|N0.t|N0l.t "
    "S0~N0|S0.w,t S0~N0|N0.w,t S0~N0|S0.w|N0.w S0~N0|S0.t|N0.t S0.wvr,tvr,wvl,tvl N0.wvl,tvl "
    "S0.L S0h.w,t,L S0l.w,t,L S0r.w,t,L N0l.w,t,L S0h2.w,t S0l2.w,t,L S0r2.w,t,L N0l2.w,t,L "
    "S0.t|S0l.t|S0l2.t S0.t|S0r.t|S0r2.t S0.t|S0h.t|S0h2.t N0.t|N0l.t|N0l2.t S0.wsr,tsr,wsl,tsl N0.wsl,tsl"
)
#: Their cluster templates for arc-eager parsers: full clusters, since path prefixes do not match across languages.
ZHANG_NIVRE_CLUSTERS = (
    "both: S0.c,ct N0.c,ct N1.c,ct N2.c,ct S0.c,ct|N0.c,ct S0.ct|N0.t S0.t|N0.ct S0.w|N0.c S0.c|N0.w "
    "N0.c|N1.c N1.c|N2.c N0.c|N1.c|N2.c S0.c|N0.c|N1.c S0h.c|S0.c|N0.c S0.c|S0l.c|N0.c S0.c|S0r.c|N0.c S0.c|N0.c|N0l.c "
    "S0~N0|S0.c S0~N0|N0.c S0~N0|S0.c|N0.c S0.cvl,cvr N0.cvl "
    "S0h.c S0l.c S0r.c N0l.c S0h2.c S0l2.c S0r2.c N0l2.c S0.csl,csr N0.csl,csr"
)
#: Cluster templates for delexicalized parsers.
DELEXICALIZED_CLUSTERS = {**CLUSTER_TEMPLATES, "arc-eager": _without_words(ZHANG_NIVRE_CLUSTERS)}


class WordReader:
    """Converts documents to the rows of values that templates read.

    >>> reader = WordReader({"w": "form.lower", "t": "upos"})
    >>> words, sentences = reader.read([Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])])
    >>> words.shape, sentences.tolist()
    ((3, 2), [0, 2])
    """

    def __init__(
        self,
        fields: Mapping[str, str],
        clusters: Mapping[str, str] | None = None,
        native: Mapping[str, str] | None = None,
    ) -> None:
        self.fields = dict(fields)
        of_columns: dict[str, list[tuple[int, str]]] = {}
        for k, binding in enumerate(self.fields.values()):
            column, _, attribute = binding.partition(".")
            of_columns.setdefault(column, []).append((k, attribute or "form"))
        self._sources = [
            (column, Lexicon([attribute for _, attribute in own], clusters, native=native), [k for k, _ in own])
            for column, own in of_columns.items()
        ]
        self._root = np.array([hash_string(f"ROOT {binding}") for binding in self.fields.values()], dtype=np.uint64)

    def read(self, docs: Sequence[Doc]) -> tuple[Keys, NDArray[np.int64]]:
        """Rows of ROOT and all words, and the sentence offsets."""
        sentences = sentence_offsets(docs)
        words = np.zeros((int(sentences[-1]) + 1, len(self.fields)), dtype=np.uint64)
        words[0] = self._root
        runs = runs_of(docs)
        for column, lexicon, places in self._sources:
            at = 1
            for table, group in runs:
                ids = read_column(group, column)
                rows, values = lexicon.lookup(table, ids)
                gather_rows(values, rows, np.arange(len(places)), np.array(places), words, at)
                at += len(ids)
        return words, sentences
