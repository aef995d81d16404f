"""Phrases read off a dependency tree, for sentences without a phrase-structure tree.

    noun   NP  head with the words before it        NP  with what modifies it after        PP  with its preposition
    verb   VP  verb with what follows               VP  with auxiliaries and negation      S   with its subject
           SBAR  with its complementizer

The layers are those of Penn trees as far as Universal Dependencies tell: `(NP (NP every line) (PP in (NP the file)))`.
Every word projects its phrases over the words of its subtree; phrases that others would cross are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.text.constituents import Phrase

NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM", "SYM", "DET", "X"))
_VERBAL = frozenset(("VERB", "AUX"))
_PLAIN = {"ADJ": "ADJP", "ADV": "ADVP", "ADP": "PP"}
_SUBJECTS = frozenset(("nsubj", "csubj", "expl"))
#: Relations of words that stand directly in the phrase of their head if nothing depends on them.
_FUNCTION = frozenset(
    ("case", "mark", "cc", "det", "aux", "cop", "amod", "advmod", "nummod", "compound", "fixed", "flat", "goeswith")
)
_OUTSIDE = frozenset(("punct", "parataxis", "discourse", "vocative"))


class Dependencies(NamedTuple):
    """A sentence: forms, lemmas, parts of speech (universal and fine), heads from 0 (-1: none) and relations."""

    forms: Sequence[str]
    lemmas: Sequence[str]
    upos: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]

    def relation(self, word: int) -> str:
        """A relation without its subtype."""
        return self.relations[word].partition(":")[0]

    def children(self) -> list[list[int]]:
        """The dependents of every word."""
        found: list[list[int]] = [[] for _ in self.forms]
        for word, head in enumerate(self.heads):
            if 0 <= head < len(found) and head != word:
                found[head].append(word)
        return found


def phrases_of(tree: Dependencies) -> list[Phrase]:
    """The phrases of a sentence from the top down and from left to right.

    >>> tree = Dependencies(["Mark", "lines", "in", "files"], [], ["VERB", "NOUN", "ADP", "NOUN"], [],
    ...                     [-1, 0, 3, 1], ["root", "obj", "case", "nmod"])
    >>> [(phrase.label, phrase.start, phrase.end) for phrase in phrases_of(tree)]
    [('S', 0, 4), ('VP', 0, 4), ('NP', 1, 4), ('NP', 1, 2), ('PP', 2, 4), ('NP', 3, 4)]
    """
    n = len(tree.forms)
    if not n:
        return []
    children = tree.children()
    extents = _extents(tree, children)
    spans: list[tuple[int, int, int, str]] = [(0, n, -len(tree.forms), "S")]
    for word in range(n):
        layers = list(_layers(tree, children, extents, word))
        # Of two phrases over the same words, the later layer stands above.
        spans += [(start, end, -rank, label) for rank, (start, end, label) in enumerate(layers)]
    return _nested(spans)


def _layers(
    tree: Dependencies, children: Sequence[Sequence[int]], extents: Sequence[tuple[int, int]], word: int
) -> list[tuple[int, int, str]]:
    """The phrases that a word projects, from the inside out."""
    if tree.upos[word] == "PUNCT" or (tree.relation(word) in _FUNCTION and not children[word]):
        return []
    own = [child for child in children[word] if tree.relation(child) not in _OUTSIDE]
    copula = any(tree.relation(child) == "cop" for child in own)
    upos = tree.upos[word]

    def over(kept: Sequence[int]) -> tuple[int, int]:
        ends = [(word, word + 1), *(extents[child] for child in kept)]
        return min(start for start, _ in ends), max(end for _, end in ends)

    layers: list[tuple[int, int, str]] = []
    case = [child for child in own if tree.relation(child) == "case" and child < word]
    clausal = [child for child in own if tree.relation(child) in ("mark", "cc") or child in case]
    inside = [child for child in own if child not in clausal]
    if upos in NOMINAL:
        subjects = {"nsubj", "csubj", "expl", "cop", "aux", "advcl"} if copula else set()
        noun = [child for child in inside if tree.relation(child) not in subjects]
        if copula:
            noun = [child for child in noun if not (tree.relation(child) == "advmod" and child < word)]
        before = [child for child in noun if child < word and tree.relation(child) != "conj"]
        layers.append((*over(before), "NP"))
        if len(noun) > len(before):
            layers.append((*over(noun), "NP"))
        if case:
            layers.append((*over([*case, *noun]), "PP"))
    elif upos not in _VERBAL:
        layers.append(
            (*over([child for child in inside if tree.relation(child) not in _SUBJECTS]), _PLAIN.get(upos, "XP"))
        )
    if upos in _VERBAL or copula:
        after = [child for child in inside if child > word and tree.relation(child) not in _SUBJECTS]
        if not copula:
            layers.append((*over(after), "VP"))
        within = [child for child in inside if tree.relation(child) not in _SUBJECTS]
        layers.append((*over(within), "VP"))
        if len(inside) > len(within):
            layers.append((*over(inside), "S"))
        if len(own) > len(inside) or (tree.relation(word) == "acl" and tree.relations[word] != "acl"):
            layers.append((*over([child for child in own if tree.relation(child) != "cc"]), "SBAR"))
    kept = [layers[0]] if layers else []
    for layer in layers[1:]:
        if layer[:2] != kept[-1][:2]:
            kept.append(layer)
        elif layer[2] == "SBAR":  # a relative clause whose pronoun is the subject
            kept[-1] = layer
    return kept


def _extents(tree: Dependencies, children: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The range of the subtree of every word, without its punctuation at either end."""
    extents = [(word, word + 1) for word in range(len(tree.forms))]
    depth = _depths(tree)
    for word in sorted(range(len(depth)), key=lambda w: -depth[w]):
        for child in children[word]:
            if tree.relation(child) not in _OUTSIDE:
                low, high = extents[child]
                extents[word] = min(extents[word][0], low), max(extents[word][1], high)
    return extents


def _depths(tree: Dependencies) -> list[int]:
    """The number of heads above every word; words of a cycle are as deep as the sentence is long."""
    n = len(tree.heads)
    depths = []
    for word in range(n):
        depth, at = 0, word
        while 0 <= tree.heads[at] < n and depth < n:
            depth, at = depth + 1, tree.heads[at]
        depths.append(depth)
    return depths


def _nested(spans: Sequence[tuple[int, int, int, str]]) -> list[Phrase]:
    """Spans as phrases with parents; a span that crosses one before it is left out."""
    phrases: list[Phrase] = []
    waiting: list[int] = []
    for start, end, _, label in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        while waiting and phrases[waiting[-1]].end <= start:
            waiting.pop()
        if waiting and end > phrases[waiting[-1]].end:
            continue
        same = waiting and phrases[waiting[-1]][:3] == (label, start, end)
        if same:
            continue
        phrases.append(Phrase(label, start, end, waiting[-1] if waiting else -1))
        waiting.append(len(phrases) - 1)
    return phrases
