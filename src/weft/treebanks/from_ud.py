"""Universal Dependencies (version 2) to the universal scheme, step by step.

    tags          seventeen to twelve
    coordination  conjunctions attach to the first conjunct
    copula        she <- happy -> is         becomes   she <- is -> happy (acomp; attr if not an adjective)
    adposition    sleeps -> house -> in      becomes   sleeps -> in (adpmod) -> house (adpobj)
    labels        by tables, using features and tags to distinguish relations

A copula takes over the dependents of the clause (subject, auxiliaries, markers, clauses, punctuation) and leaves those
of the phrase. Several adpositions on one side of a noun become a chain with the outermost on top (*out of the house*:
out -> of (adpcomp) -> house (adpobj)); one on the other side stays as `adp`. A word that is not tagged as an adposition
or a verb does not become a head: `case` of a particle is `adp`, and `cop` of a pronoun is unchanged.
"""

from __future__ import annotations

from collections.abc import Collection

from weft.lexical.universal_tags import universal_tag
from weft.treebanks.coordination import convert as convert_coordination
from weft.treebanks.rewriting import Rule, WorkTree, apply_rules
from weft.treebanks.scheme import ROOT

#: Relations of dependents that belong to a clause, not to the predicate phrase.
CLAUSAL = frozenset((
    "nsubj", "csubj", "aux", "cop", "mark", "expl", "advcl", "punct", "parataxis", "discourse", "vocative",
    "dislocated", "obl", "obj", "iobj", "ccomp", "orphan", "dep",
))  # fmt: skip
_VERBS = frozenset(("VERB", "AUX"))
_SUBJECTS = frozenset(("nsubj", "csubj", "expl", "aux", "mark", "cop"))

#: Renamed relations; those with the same name in both schemes, and those that depend on context, are not listed.
LABELS = {
    "nsubj:pass": "nsubjpass", "csubj:pass": "csubjpass", "aux:pass": "auxpass", "obj": "dobj", "nummod": "num",
    "punct": "p", "compound:prt": "prt", "compound": "compmod", "flat": "compmod", "clf": "compmod", "fixed": "mwe",
    "goeswith": "mwe", "nmod:poss": "poss", "det:poss": "poss", "acl:relcl": "rcmod", "case": "adp", "root": ROOT,
    "vocative": "dep", "dislocated": "dep", "discourse": "dep", "list": "dep", "orphan": "dep", "reparandum": "dep",
}  # fmt: skip
SAME = frozenset((
    "nsubj", "csubj", "iobj", "ccomp", "xcomp", "advcl", "amod", "appos", "aux", "cc", "conj", "cop", "dep", "det",
    "expl", "mark", "nmod", "parataxis",
))  # fmt: skip
STEPS = ("tags", "coordination", "copula", "adposition", "labels")


def from_ud(tree: WorkTree, steps: Collection[str] = STEPS) -> None:
    """Convert a UD tree to the universal scheme, or apply only some of the steps.

    >>> tree = WorkTree([5, 5, 5, 5, 0], ["nsubj", "cop", "case", "det", "root"],
    ...                 ["PRON", "AUX", "ADP", "DET", "NOUN"], ["she", "is", "in", "the", "house"])
    >>> from_ud(tree)
    >>> tree.heads, tree.relations
    ([2, 0, 2, 5, 3], ['nsubj', 'ROOT', 'attr', 'det', 'adpobj'])
    """
    if "tags" in steps:
        _tags(tree)
    if "coordination" in steps:
        _coordination(tree)
    apply_rules(tree, [rule for rule in (COPULA, ADPOSITION) if rule.name in steps])
    if "labels" in steps:
        _labels(tree)


def _tags(tree: WorkTree) -> None:
    tree.rule = "tags"
    for word, tag in enumerate(tree.tags, start=1):
        if (new := universal_tag(tag)) != tag:
            tree.retag(word, new)


def _coordination(tree: WorkTree) -> None:
    heads, _ = convert_coordination(tree.heads, tree.relations, tree.forms, "stanford", commas=True)
    tree.rule = "coordination"
    for word, head in enumerate(heads, start=1):
        if head != tree.head(word):
            tree.attach(word, head)


def _is_copula(tree: WorkTree, word: int) -> bool:
    """Whether a word is the copula that takes its predicate's place: the nearest, if there are several."""
    predicate = tree.head(word)
    if tree.base(word) != "cop" or tree.tag(word) not in _VERBS or predicate == 0 or predicate in tree.settled:
        return False
    rivals = [child for child in tree.children(predicate) if tree.base(child) == "cop" and tree.tag(child) in _VERBS]
    return word == min(rivals, key=lambda child: (abs(child - predicate), child))


def _promote_copula(tree: WorkTree, word: int) -> None:
    predicate = tree.head(word)
    moving, following = set(), False
    for child in reversed(tree.children(predicate)):
        base = tree.base(child)
        if base == "conj":
            following = any(tree.base(dependent) in _SUBJECTS for dependent in tree.children(child))
        if base in CLAUSAL or (base in ("conj", "cc") and following):
            moving.add(child)
    tree.promote(word, "acomp" if tree.tag(predicate) == "ADJ" else "attr", moving)
    tree.settled.add(predicate)


def _is_adposition(tree: WorkTree, word: int) -> bool:
    """Whether a word is the adposition that takes its object's place: the nearest, the left one of two."""
    object_ = tree.head(word)
    if tree.base(word) != "case" or tree.tag(word) != "ADP" or object_ == 0:
        return False
    rivals = [child for child in tree.children(object_) if tree.base(child) == "case" and tree.tag(child) == "ADP"]
    return word == min(rivals, key=lambda child: (abs(child - object_), child))


def _promote_adposition(tree: WorkTree, word: int) -> None:
    """Promote an adposition, then those beyond it, which are attached to it by then."""
    object_ = tree.head(word)
    kept = object_ in tree.settled
    tree.promote(word, "adpcomp" if tree.tag(object_) in _VERBS else "adpobj")
    for child in tree.children(object_):
        if tree.base(child) == "case":
            tree.relabel(child, "adp", settle=True)
    # A predicate keeps its relation to the copula, which its adposition now has.
    tree.settled.add(object_)
    while beyond := [child for child in tree.children(word) if tree.base(child) == "case"]:
        side = word - object_
        outer = [child for child in beyond if (child - word) * side > 0 and tree.tag(child) == "ADP"]
        for child in beyond:
            if child not in outer:
                tree.relabel(child, "adp", settle=True)
        if not outer:
            break
        nearest = min(outer, key=lambda child: abs(child - word))
        tree.promote(nearest, "adpcomp")
        tree.settled.add(word)
        object_, word = word, nearest
    if kept:
        tree.settled.add(word)


COPULA = Rule("copula", _is_copula, _promote_copula)
ADPOSITION = Rule("adposition", _is_adposition, _promote_adposition)


def _labels(tree: WorkTree) -> None:
    for word in range(1, len(tree) + 1):
        if word in tree.settled:
            continue
        old = tree.relation(word)
        new = label_of(tree, word)
        if new != old:
            tree.rule = f"{old} -> {new}"
            tree.log.match(tree.rule)
            tree.relabel(word, new)
    tree.rule = ""


def label_of(tree: WorkTree, word: int) -> str:
    """The universal relation for a word with a relation of Universal Dependencies.

    >>> tree = WorkTree([0, 1], ["root", "advmod"], ["VERB", "PRT"], ["came", "not"], ["", "Polarity=Neg"])
    >>> label_of(tree, 2)
    'neg'
    """
    relation, base = tree.relation(word), tree.base(word)
    if base in ("obl", "nmod") and _has_object(tree, word):
        return "adpmod"
    if base == "obl":
        return "advmod" if tree.tag(word) == "ADV" else "nmod"
    if base == "advmod":
        return "neg" if tree.feature(word, "Polarity") == "Neg" else "advmod"
    if base == "det" and (tree.feature(word, "Poss") == "Yes" or relation == "det:poss"):
        return "poss"
    if base == "acl" and relation != "acl:relcl":
        form = tree.feature(word, "VerbForm")
        if form in ("Inf", "Part", "Ger", "Conv", "Gdv", "Sup", "Vnoun"):
            return "infmod" if form == "Inf" else "partmod"
        return "ccomp"
    renamed = LABELS.get(relation) or LABELS.get(base)
    if renamed:
        return renamed
    return base if base in SAME else "dep"


def _has_object(tree: WorkTree, word: int) -> bool:
    return tree.tag(word) == "ADP" and any(
        tree.relation(child) in ("adpobj", "adpcomp") for child in tree.children(word)
    )
