"""The syntactic scope of a cue, after the guidelines of BioScope (Vincze et al. 2008), read off a dependency tree.

| cue | scope |
|---|---|
| auxiliary, verb | from the cue to the end of its verb's clause; with the subject for passives and raising verbs |
| attributive adjective | from the adjective to the end of the noun phrase |
| predicative adjective | the clause with its subject, unless that is an expletive (`it is likely that`) |
| adverb | from the adverb to the end of the clause, or of the phrase, that it modifies |
| `or`, `either` | the whole coordination |
| `whether`, `if` | the subordinate clause |
| noun | from the noun to the end of its phrase |

A clause ends before a coordinated clause with its own subject, before `because`, `although`, `whereas` and the like,
and before a citation or punctuation at its end. Trees follow Universal Dependencies, where auxiliaries and copulas
attach to the content word. Without a tree, words and tags alone determine the scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from weft.text.conventions.hedges import Range

#: Raising verbs, whose subject belongs to the embedded verb: it appears, it seems to.
RAISING = frozenset(["appear", "seem", "prove", "tend", "happen"])
#: Words that start a clause outside the scope of a preceding cue.
BREAKS = frozenset(
    ("because", "since", "although", "though", "whereas", "while", "but", "however", "despite", "unlike")
)
COORDINATION = frozenset(("or", "either", "nor", "and/or"))
SUBJECTS = ("nsubj", "csubj")
_RELATIVE = frozenset(("which", "who", "whom", "whose", "where"))
_OPENING, _CLOSING = frozenset("(["), frozenset(")]")


@dataclass(frozen=True)
class Tree:
    """A sentence: lower-case forms, lemmas, parts of speech, and heads (-1: none) with their relations.

    >>> forms = ["it", "may", "rain", "today", "."]
    >>> tree = Tree(forms, forms, ["PRON", "AUX", "VERB", "NOUN", "PUNCT"], [2, 2, -1, 2, 2],
    ...             ["nsubj", "aux", "root", "obl", "punct"])
    >>> syntactic_scope(tree, [1])
    (1, 4)
    """

    forms: Sequence[str]
    lemmas: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]

    def __len__(self) -> int:
        return len(self.forms)

    @cached_property
    def children(self) -> list[list[int]]:
        """The dependents of each word."""
        children: list[list[int]] = [[] for _ in self.forms]
        for word, head in enumerate(self.heads):
            if 0 <= head < len(children) and head != word:
                children[head].append(word)
        return children

    @property
    def parsed(self) -> bool:
        """Whether any word is attached to another."""
        return any(head >= 0 for head in self.heads)

    def relation(self, word: int) -> str:
        """A relation without its subtype."""
        return self._plain[word]

    @cached_property
    def _plain(self) -> list[str]:
        return [relation.partition(":")[0] for relation in self.relations]

    def dependents(self, word: int, *relations: str) -> list[int]:
        """The dependents of a word with one of the given relations."""
        return [child for child in self.children[word] if self.relation(child) in relations]

    def extent(self, word: int, without: frozenset[int] = frozenset()) -> Range:
        """The half-open range from the first to the last word of the subtree of a word."""
        low = high = word
        waiting, seen = [word], {word}
        while waiting:
            at = waiting.pop()
            low, high = min(low, at), max(high, at)
            for child in self.children[at]:
                if child not in seen and child not in without:
                    seen.add(child)
                    waiting.append(child)
        return low, high + 1


def syntactic_scope(tree: Tree, cue: Sequence[int]) -> Range:
    """The scope of a cue, given its words, as a half-open range that contains the cue.

    >>> forms = ["a", "possible", "role", "of", "x", "is", "known"]
    >>> tree = Tree(forms, forms, ["DET", "ADJ", "NOUN", "ADP", "NOUN", "AUX", "VERB"], [2, 2, 6, 4, 2, 6, -1],
    ...             ["det", "amod", "nsubj:pass", "case", "nmod", "aux:pass", "root"])
    >>> syntactic_scope(tree, [1]), syntactic_scope(tree, [6])
    ((1, 5), (0, 7))
    """
    start, end = _by_tree(tree, cue) if tree.parsed else _by_words(tree, cue)
    start, end = min(start, cue[0]), max(end, cue[-1] + 1)
    return start, _trimmed(tree, end, cue[-1] + 1)


def _by_tree(tree: Tree, cue: Sequence[int]) -> Range:
    head = _head(tree, cue)
    form, tag, relation = tree.forms[head], tree.tags[head], tree.relation(head)
    if relation == "cc" or form in COORDINATION:
        return _coordination(tree, head)
    if relation == "mark" or (tag == "SCONJ" and tree.heads[head] >= 0):
        return cue[0], _clause_end(tree, tree.heads[head] if tree.heads[head] >= 0 else head, cue)
    if tag == "AUX" and relation in ("aux", "cop") and tree.heads[head] >= 0:
        verb = tree.heads[head]
        return _with_subject(tree, verb, cue) if _passive(tree, verb) else (cue[0], _clause_end(tree, verb, cue))
    if tag == "ADJ" and relation == "amod":
        return cue[0], tree.extent(tree.heads[head])[1]
    if relation == "advmod" and tree.heads[head] >= 0:
        return cue[0], _clause_end(tree, tree.heads[head], cue)
    if tag in ("VERB", "AUX"):
        raising = tree.lemmas[head] in RAISING or tree.forms[head] in RAISING
        return _with_subject(tree, head, cue) if raising or _passive(tree, head) else (
            cue[0], _clause_end(tree, head, cue))  # fmt: skip
    if tag == "ADJ" or tree.dependents(head, "cop"):
        # A predicate that attaches to a verb (remains unclear) has the verb's subject.
        clause = head
        for _ in range(len(tree)):
            above = tree.heads[clause] if tree.relation(clause) in ("xcomp", "conj", "acl") else -1
            if above < 0 or tree.dependents(clause, *SUBJECTS):
                break
            clause = above
        return _with_subject(tree, clause, cue)
    return cue[0], _clause_end(tree, head, cue)


def _head(tree: Tree, cue: Sequence[int]) -> int:
    """The word of a cue that governs the others."""
    inside = set(cue)
    return next((word for word in cue if tree.heads[word] not in inside), cue[0])


def _passive(tree: Tree, verb: int) -> bool:
    return any(tree.relations[child] in ("nsubj:pass", "aux:pass", "csubj:pass") for child in tree.children[verb])


def _with_subject(tree: Tree, verb: int, cue: Sequence[int]) -> Range:
    """The clause of a verb starting at its subject, unless that is an expletive."""
    subjects = [child for child in tree.dependents(verb, *SUBJECTS) if child < cue[0]]
    start = cue[0]
    if subjects and tree.forms[subjects[0]] not in ("it", "there", "we", "i", "one"):
        start = tree.extent(subjects[0])[0]
    return start, _clause_end(tree, verb, cue)


def _clause_end(tree: Tree, verb: int, cue: Sequence[int]) -> int:
    """The end of a verb's clause (exclusive), which excludes independent clauses."""
    end = tree.extent(verb)[1]
    for child in tree.children[verb]:
        if child <= cue[-1]:
            continue
        relation = tree.relation(child)
        marks = [tree.forms[each] for each in tree.dependents(child, "mark", "cc", "case")]
        cut = relation == "parataxis" or any(mark in BREAKS for mark in marks)
        cut = cut or (relation == "conj" and bool(tree.dependents(child, *SUBJECTS)))
        if cut:
            end = min(end, tree.extent(child)[0])
    return max(end, cue[-1] + 1)


def _coordination(tree: Tree, conjunction: int) -> Range:
    """From the first to the last conjunct; the conjunction attaches to the conjunct after it."""
    member = tree.heads[conjunction]
    if member < 0:
        return conjunction, conjunction + 1
    first = tree.heads[member] if tree.relation(member) == "conj" and tree.heads[member] >= 0 else member
    last = tree.dependents(first, "conj")
    # All conjuncts share the words before a preposition or after the subject of the first conjunct.
    left = [child for child in tree.children[first] if child < first]
    shared = {child for child in left if tree.relation(child) in ("case", "mark", "cc", *SUBJECTS, "aux", "punct")}
    start = tree.extent(first, frozenset(shared))[0]
    end = max([tree.extent(each)[1] for each in last], default=tree.extent(first)[1])
    return min(start, conjunction), max(end, conjunction + 1)


def _by_words(tree: Tree, cue: Sequence[int]) -> Range:
    """From the cue to the next word that starts another clause; for attributive adjectives, to the next noun."""
    last = cue[-1]
    tags = tree.tags
    if tags[cue[0]] == "ADJ" and last + 1 < len(tree) and tags[last + 1] in ("NOUN", "PROPN", "ADJ"):
        end = last + 1
        while end < len(tree) and tags[end] in ("NOUN", "PROPN", "ADJ"):
            end += 1
        return cue[0], end
    for word in range(last + 1, len(tree)):
        comma = word and tree.forms[word - 1] in (",", ";")
        if tree.forms[word] in BREAKS or tree.forms[word] in (";", ":"):
            return cue[0], word
        if comma and (tree.forms[word] in _RELATIVE or tags[word] in ("SCONJ", "CCONJ")):
            return cue[0], word
    return cue[0], len(tree)


def _trimmed(tree: Tree, end: int, least: int) -> int:
    """The end of a scope without trailing punctuation, conjunctions and citations."""
    while end > least:
        form = tree.forms[end - 1]
        if form in _CLOSING:
            opening = end - 1
            while opening > least and tree.forms[opening] not in _OPENING:
                opening -= 1
            inside = tree.forms[opening + 1 : end - 1]
            if tree.forms[opening] in _OPENING and all(not each.isalpha() or each in ("and", "ref") for each in inside):
                end = opening
                continue
            return end
        if not any(map(str.isalnum, form)) or (tree.tags[end - 1] == "CCONJ" and form not in COORDINATION):
            end -= 1
            continue
        return end
    return least
