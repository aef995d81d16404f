"""The universal scheme to Universal Dependencies (version 2): the inverse of `weft.treebanks.from_ud`.

    adposition    dependents of a noun's adposition attach to the noun again, and so does the adposition (`case`)
    copula        the same for a verb with `attr` or `acomp` (`cop`)
    coordination  conjunctions attach to the conjunct after them
    labels, tags  by tables; tags disambiguate names shared by several relations where possible

Expressions (`mwe`) stay attached to their first word. Some information is lost: which of two coordinations a
conjunction closed, dependents of the adposition or copula itself, subtypes of relations, proper nouns.
"""

from __future__ import annotations

from weft.treebanks.coordination import restore as restore_coordination
from weft.treebanks.rewriting import Rule, WorkTree, apply_rules
from weft.treebanks.scheme import ROOT

LABELS = {
    "nsubjpass": "nsubj:pass", "csubjpass": "csubj:pass", "auxpass": "aux:pass", "dobj": "obj", "num": "nummod",
    "p": "punct", "prt": "compound:prt", "mwe": "fixed", "rcmod": "acl:relcl", "infmod": "acl",
    "partmod": "acl", "adp": "case", "neg": "advmod", "attr": "xcomp", "acomp": "xcomp", "rel": "mark",
    "adpobj": "obj", "adpcomp": "ccomp", ROOT: "root",
}  # fmt: skip
TAGS = {"PRT": "PART", ".": "PUNCT"}
_OWN = frozenset(("mwe",))
_NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM", "X", "DET"))


def to_ud(tree: WorkTree) -> None:
    """Convert a tree from the universal scheme to Universal Dependencies.

    >>> tree = WorkTree([2, 0, 2, 5, 3], ["nsubj", "ROOT", "attr", "det", "adpobj"],
    ...                 ["PRON", "VERB", "ADP", "DET", "NOUN"], ["she", "is", "in", "the", "house"])
    >>> to_ud(tree)
    >>> tree.heads, tree.relations, tree.tags
    ([5, 5, 5, 5, 0], ['nsubj', 'cop', 'case', 'det', 'root'], ['PRON', 'AUX', 'ADP', 'DET', 'NOUN'])
    """
    apply_rules(tree, [ADPOSITION, COPULA])
    _coordination(tree)
    _labels(tree)
    _tags(tree)


def _child(tree: WorkTree, word: int, relations: tuple[str, ...]) -> int:
    """The first child with one of the relations, or 0."""
    return next((child for child in tree.children(word) if tree.relation(child) in relations), 0)


def _demote(tree: WorkTree, word: int, relations: tuple[str, ...], name: str) -> None:
    its_dependents = [child for child in tree.children(word) if tree.relation(child) in _OWN]
    tree.demote(word, _child(tree, word, relations), name, its_dependents)
    tree.settled.add(word)


_OBJECTS, _PREDICATES = ("adpobj", "adpcomp"), ("attr", "acomp")
ADPOSITION = Rule(
    "adposition",
    lambda tree, word: tree.tag(word) == "ADP" and _child(tree, word, _OBJECTS) > 0,
    lambda tree, word: _demote(tree, word, _OBJECTS, "case"),
)
COPULA = Rule(
    "copula",
    lambda tree, word: tree.tag(word) == "VERB" and _child(tree, word, _PREDICATES) > 0,
    lambda tree, word: _demote(tree, word, _PREDICATES, "cop"),
)


def _coordination(tree: WorkTree) -> None:
    heads, _ = restore_coordination(tree.heads, tree.relations, "stanford", tree.forms, commas=True)
    tree.rule = "coordination"
    for word, head in enumerate(heads, start=1):
        if head != tree.head(word):
            tree.attach(word, head)


def _labels(tree: WorkTree) -> None:
    for word in range(1, len(tree) + 1):
        old = tree.relation(word)
        new = old if word in tree.settled and old in ("case", "cop") else label_of(tree, word)
        if new != old:
            tree.rule = f"{old} -> {new}"
            tree.log.match(tree.rule)
            tree.relabel(word, new)
    tree.rule = ""


def label_of(tree: WorkTree, word: int) -> str:
    """The UD relation for a word with a universal relation."""
    relation, tag, above = tree.relation(word), tree.tag(word), tree.tag(tree.head(word))
    if relation in ("adpmod", "nmod"):
        return "nmod" if above in _NOMINAL else "obl"
    if relation == "compmod":  # names and similar expressions are flat from left to right
        return "flat" if tree.head(word) < word else "compound"
    if relation == "poss":
        return "det" if tag == "DET" else "nmod:poss"
    if relation == "ccomp" and above == "NOUN":
        return "acl"
    return LABELS.get(relation, relation)


def _tags(tree: WorkTree) -> None:
    tree.rule = "tags"
    for word, tag in enumerate(tree.tags, start=1):
        base = tree.base(word)
        new = TAGS.get(tag, tag)
        if tag == "VERB" and base in ("aux", "cop"):
            new = "AUX"
        elif tag == "CONJ":
            new = "CCONJ" if base == "cc" else "SCONJ"
        if new != tag:
            tree.retag(word, new)
    tree.rule = ""
