"""Base chunks of dependency trees: flat phrases without the post-modifiers of their heads.

    chunk(w) = the longest run of words around w that all JOIN the same word, directly or through others

A word joins its head in these cases (relations of Universal Dependencies, up to the colon unless one is given):

| head | words that join it |
|---|---|
| noun, pronoun, number | det, amod, nummod, compound, advmod and pronouns (nmod:poss) before it; nummod after it |
| verb | aux, the mark `to`, adverbs between auxiliaries and verb; a verb joins the verb that governs it as xcomp |
| adjective, adverb | advmod before it |
| any | fixed, flat, goeswith; a conjunct and its conjunction, if the first conjunct joins something after them |

A copula with its neighbouring auxiliaries and negation is a separate chunk. A possessive mark belongs to the
possessed noun: `[the dog] ['s tail]`. Hyphens inside a chunk belong to it. The word that all others join determines the
kind:

    NP noun, pronoun, number    VP verb    ADJP adjective    ADVP adverb    PP preposition    PRT verb particle
    SBAR subordinating conjunction    INTJ interjection

Everything else, mainly punctuation and coordinating conjunctions, is outside. The kinds are those of the CoNLL-2000
shared task, and so mostly are the boundaries: in both, relative clauses, objects and prepositional phrases after a noun
are separate chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.errors import DataError
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

_NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM", "SYM", "DET"))
_BEFORE_NOUN = frozenset(("det", "amod", "nummod", "compound", "advmod", "goeswith"))
_KINDS = {
    **dict.fromkeys(_NOMINAL, "NP"), "VERB": "VP", "AUX": "VP", "ADJ": "ADJP", "ADV": "ADVP", "ADP": "PP",
    "SCONJ": "SBAR", "INTJ": "INTJ",
}  # fmt: skip
_NONE = -1


class Tree(NamedTuple):
    """A sentence: forms, parts of speech, heads as word indices from 0 (-1: the root), relations."""

    forms: Sequence[str]
    upos: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]


def set_base_chunks(doc: Doc, layer: str = "chunks") -> None:
    """Add the layer of base chunks to a document with trees.

    >>> doc = Doc.from_words([["The", "old", "dog", "has", "slept", "in", "my", "bed"]],
    ...     upos=[["DET", "ADJ", "NOUN", "AUX", "VERB", "ADP", "PRON", "NOUN"]], head=[[3, 3, 5, 5, 0, 8, 8, 5]],
    ...     deprel=[["det", "amod", "nsubj", "aux", "root", "case", "nmod:poss", "obl"]])
    >>> set_base_chunks(doc)
    >>> doc.span_views("chunks")
    [Span('The old dog', 'NP'), Span('has slept', 'VP'), Span('in', 'PP'), Span('my bed', 'NP')]
    """
    if doc.head is None or not doc.has("upos"):
        raise DataError("base chunks need trees with parts of speech; the document has no heads or no upos")
    forms, upos, relations = (doc.column(name) for name in ("form", "upos", "deprel"))
    heads = (doc.head - 1).tolist()
    spans = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        tree = Tree(forms[first:end], upos[first:end], heads[first:end], relations[first:end])
        spans += [(first + start, first + stop, kind) for start, stop, kind in base_chunks(tree)]
    doc.spans[layer] = SpanLayer.of(doc.strings, spans)


def base_chunks(tree: Tree) -> list[tuple[int, int, str]]:
    """The base chunks of a sentence: first word, one past the last, kind."""
    joins = _joins(tree)
    tops = [_top(joins, i) for i in range(len(joins))]
    _fill_hyphens(tree, joins, tops)
    chunks = []
    start = 0
    for end in range(1, len(tops) + 1):
        if end == len(tops) or tops[end] != tops[start]:
            chunks += _chunk(tree, joins, start, end)
            start = end
    return chunks


def _chunk(tree: Tree, joins: Sequence[int], start: int, end: int) -> list[tuple[int, int, str]]:
    """The run as a chunk; its last word that joins none in it gives the kind; adverbs before verbs stand alone."""
    top = max((i for i in range(start, end) if not start <= joins[i] < end), default=start)
    kind = _kind(tree, top)
    if kind == "VP":
        verbs = [i for i in range(start, end) if tree.upos[i] != "ADV"]
        alone = [(i, i + 1, "ADVP") for i in range(start, verbs[0])] if verbs else []
        return [*alone, (verbs[0], end, kind)] if verbs else []
    return [(start, end, kind)] if kind else []


def _kind(tree: Tree, i: int) -> str:
    upos, relation = tree.upos[i], tree.relations[i]
    if relation == "compound:prt":
        return "PRT"
    if upos == "PART":
        return "VP" if tree.forms[i].lower() == "to" else ""
    return _KINDS.get(upos, "")


def _joins(tree: Tree) -> list[int]:
    """The word that each word joins, or -1."""
    _, upos, heads, relations = tree
    copula = {heads[i]: i for i, relation in enumerate(relations) if relation.split(":")[0] == "cop"}
    joins = [_NONE] * len(heads)
    for i, (h, relation) in enumerate(zip(heads, relations, strict=True)):
        if h < 0:
            continue
        base = relation.split(":")[0]
        before = i < h
        if base in ("fixed", "flat", "goeswith"):
            joins[i] = h
        elif base == "aux" or (base == "mark" and upos[i] == "PART"):
            joins[i] = copula.get(h, h if upos[h] in ("VERB", "AUX") else _NONE)
        elif base == "advmod" and h in copula and upos[i] == "PART":
            joins[i] = copula[h]
        elif base == "case" and upos[i] == "PART" and not before and relations[h] == "nmod:poss":
            joins[i] = heads[h]
        elif upos[h] in ("VERB", "AUX"):
            if (base == "advmod" and before and h not in copula) or (
                base == "xcomp" and not before and upos[i] == "VERB" and i not in copula
            ):
                joins[i] = h
        elif upos[h] in _NOMINAL:
            pronoun = relation == "nmod:poss" and upos[i] in ("PRON", "DET")
            if (before and (base in _BEFORE_NOUN or pronoun)) or (base == "nummod" and not before):
                joins[i] = h
        elif upos[h] in ("ADJ", "ADV") and base == "advmod" and before:
            joins[i] = h
    for i, (h, relation) in enumerate(zip(heads, relations, strict=True)):
        if relation == "conj" and 0 <= h < i < joins[h]:
            joins[i] = joins[h]
    for i, (h, relation) in enumerate(zip(heads, relations, strict=True)):
        if relation == "cc" and i < h < joins[h] and relations[h] == "conj":
            joins[i] = joins[h]
    return joins


def _top(joins: Sequence[int], i: int) -> int:
    """The word that word i joins through others; a circular chain (in a broken tree) ends somewhere."""
    for _ in joins:
        if joins[i] == _NONE:
            break
        i = joins[i]
    return i


def _fill_hyphens(tree: Tree, joins: list[int], tops: list[int]) -> None:
    for i in range(1, len(tops) - 1):
        if tree.upos[i] == "PUNCT" and tree.forms[i] in ("-", "–", "/") and tops[i - 1] == tops[i + 1]:
            joins[i], tops[i] = i - 1, tops[i - 1]
