"""English constituents (Penn Treebank) to the universal scheme: heads by rule, relations by phrase position.

    head(phrase) = head(child that the rules choose),   of a coordination: head(first conjunct)

Main verbs are the heads of their auxiliaries, prepositions of their objects, copulas of their clauses, verbs of the
subordinators before them: Stanford dependencies with copulas as heads, and punctuation. Relations follow from the
labels of a phrase and its parent and from function tags (`NP-SBJ`, `NP-TMP`, `ADJP-PRD`), which the trees should have;
empty elements are not used, so a relative pronoun is taken as the subject if the clause has no other. Tags are those
of Universal Dependencies (`to` is PRT before a verb, ADP before a noun).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import DataError
from weft.text.binarize import HeadRules, plain
from weft.text.constituents import tree_of
from weft.text.doc import Doc
from weft.text.trees import Tree
from weft.treebanks.head_rules import ENGLISH
from weft.treebanks.rewriting import Log
from weft.treebanks.scheme import ROOT

_TABLE = {
    "NP": "r NN|NNP|NNPS|NNS|NX JJR NP|NML|PRP|EX|WP $|ADJP|PRN CD JJ|JJS|RB|QP",
    "PP": "l IN TO VBG VBN RP FW PP",
    "QP": "r CD $ NNS NN JJ RB",
    "S": "l VP S SBAR ADJP UCP NP",
    "SBAR": "l S SQ SINV SBAR FRAG VP WHNP WHPP WHADVP WHADJP IN DT",
    "SINV": "l VP VBZ VBD VBP VB MD S SINV ADJP NP",
    "SQ": "l VP VBZ VBD VBP VB MD SQ",
    "UCP": "l",
    "VP": "l VP VBD|VBN|VBZ|VB|VBG|VBP MD TO ADJP NN NNS NP",
}
STANFORD = HeadRules({**ENGLISH.rules, **{label: (row[0], tuple(row[1:].split())) for label, row in _TABLE.items()}})

_BE = frozenset(("be", "is", "was", "are", "were", "been", "being", "am", "'s", "'re", "'m", "get", "got", "gets"))
_NOMINAL = frozenset(("NP", "NX", "NML", "NAC", "WHNP", "QP"))
_NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS", "NP", "NX", "NML", "PRP", "CD", "QP"))
_CLAUSES = frozenset(("S", "SINV", "SQ", "SBAR", "SBARQ", "VP"))
_ADVERBIAL = frozenset(("TMP", "ADV", "PRP", "MNR", "LOC", "CND"))
_MARKS = frozenset(("``", "''", ",", ".", ":", "-LRB-", "-RRB-", "(", ")", "!", "?"))
_TAGS = {
    "CC": "CONJ", "CD": "NUM", "DT": "DET", "EX": "PRON", "IN": "ADP", "MD": "VERB", "PDT": "DET", "POS": "PRT",
    "PRP": "PRON", "PRP$": "PRON", "RP": "PRT", "TO": "PRT", "WDT": "PRON", "WP": "PRON", "WP$": "PRON", "WRB": "ADV",
}  # fmt: skip
_BY_LETTER = {"J": "ADJ", "N": "NOUN", "R": "ADV", "V": "VERB"}
#: Relations of words and phrases that do not depend on position.
_PLAIN = {
    "DT": "det", "PDT": "det", "WDT": "det", "PRP$": "poss", "WP$": "poss", "POS": "adp", "MD": "aux", "TO": "aux",
    "RP": "prt", "PRT": "prt", "EX": "expl", "ADVP": "advmod", "WHADVP": "advmod", "WRB": "advmod", "RB": "advmod",
    "RBR": "advmod", "RBS": "advmod", "PP": "adpmod", "WHPP": "adpmod", "PRN": "parataxis", "CC": "cc", "CONJP": "cc",
}  # fmt: skip


def universal_of_penn(tree: Tree) -> tuple[list[int], list[str], list[str]]:
    """Heads, relations and tags of the words of a tree.

    >>> from weft.text.trees import parse_tree
    >>> universal_of_penn(parse_tree("(S (NP-SBJ (PRP She)) (VP (VBZ is) (PP-PRD (IN in) (NP (NNP Rome)))))"))
    ([2, 0, 2, 3], ['nsubj', 'ROOT', 'attr', 'adpobj'], ['PRON', 'VERB', 'ADP', 'NOUN'])
    """
    work = _Conversion(tree.leaves())
    head, _ = work.attach(tree, 0)
    work.relations[head] = ROOT
    return work.heads, work.relations, work.tags


def convert_penn(doc: Doc, log: Log) -> Doc:
    """A document of constituents with dependencies in the universal scheme; relations are counted as rules."""
    if doc.constituents is None:
        raise DataError(f"{doc!r} has no phrase-structure trees; read them from a bracketed file (.mrg)")
    new = doc.subset(range(doc.n_sentences))
    heads: list[int] = []
    relations: list[str] = []
    tags: list[str] = []
    for sentence in range(doc.n_sentences):
        converted = universal_of_penn(tree_of(doc, sentence))
        heads += converted[0]
        relations += converted[1]
        tags += converted[2]
        log.sentences += 1
    log.words += doc.n_words
    for relation in relations:
        log.match(relation)
        log.touched[relation] = log.touched.get(relation, 0) + 1
    new.head = np.array(heads, np.int32)
    new.set_column("deprel", relations)
    new.set_column("upos", tags)
    return new


class _Conversion:
    """The words of a sentence during conversion to a dependency tree."""

    def __init__(self, leaves: Sequence[Tree]) -> None:
        self.leaves = leaves
        self.heads = [0] * len(leaves)
        self.relations = ["dep"] * len(leaves)
        self.tags = [_tag(leaf.label) for leaf in leaves]

    def attach(self, tree: Tree, first: int) -> tuple[int, int]:
        """Attach the words of a phrase to its head; returns the head and the position after the last word."""
        if tree.is_leaf:
            return first, first + 1
        heads, end = [], first
        for child in tree.children:
            head, end = self.attach(child, end)
            heads.append(head)
        chosen, conjuncts = _chosen(tree)
        top = heads[chosen]
        if plain(tree.label) in ("PP", "WHPP") and tree.children[chosen].is_leaf:
            self.tags[top] = "ADP"
        objects = _bare_objects(tree, chosen)
        for i, child in enumerate(tree.children):
            if i == chosen:
                continue
            above, relation = top, self._relation(tree, child, heads[i], top, chosen, i)
            if i in conjuncts and plain(child.label) not in _MARKS:
                relation = "conj"
            elif len(objects) == 2 and i == objects[0]:
                relation = "iobj"
            before = heads[i - 1] if i else top
            if not conjuncts and plain(tree.label) in _NOMINAL and i and i < chosen:
                # "red and blue cars": modifiers are coordinated, not nouns
                if plain(child.label) in ("CC", "CONJP"):
                    above, relation = before, "cc"
                elif plain(tree.children[i - 1].label) in ("CC", "CONJP"):
                    above, relation = heads[i - 2] if i > 1 else top, "conj"
            self.heads[heads[i]], self.relations[heads[i]] = above + 1, relation
        return top, end

    def _relation(self, tree: Tree, child: Tree, word: int, top: int, chosen: int, place: int) -> str:
        parent, label, functions = plain(tree.label), plain(child.label), set(child.label.split("-")[1:])
        if label in _MARKS:
            return "p"
        if child.is_leaf and self.leaves[word].word.lower() in ("not", "n't"):
            return "neg"
        if parent in ("PP", "WHPP"):
            if label in _NOMINAL or (child.is_leaf and self.tags[word] in ("NOUN", "PRON")):
                return "adpobj"
            if label in _CLAUSES or label in ("PP", "ADVP", "ADJP"):
                return "adpcomp" if place > chosen else "advmod"
        if "PRD" in functions and label in ("ADJP", "NP", "PP", "ADVP", "WHNP", "QP", "UCP"):
            return "acomp" if label == "ADJP" else "attr"
        if parent == "VP" and child.is_leaf and label.startswith(("VB", "AUX")) and place < chosen:
            passive = self._form(word) in _BE and self.leaves[top].label in ("VBN", "VBD") and not self._passive(top)
            return "auxpass" if passive else "aux"
        if parent in ("SQ", "SINV") and child.is_leaf and label.startswith("VB"):
            return "aux"
        if label == "IN" and parent in ("SBAR", "S", "VP"):
            self.tags[word] = "CONJ"
            return "mark"
        if parent in _NOMINAL or parent in ("ADJP", "ADVP"):
            return self._in_phrase(parent, child, label, functions, word, place > chosen, tree)
        if label in _NOMINAL or label in ("PRP", "NN", "NNS", "NNP"):
            return self._of_noun(parent, label, functions, word, top, place < chosen, tree)
        if label in _CLAUSES or label in ("FRAG", "UCP"):
            return self._of_clause(parent, child, label, functions, place < chosen)
        if label in ("ADJP", "JJ", "WHADJP"):
            return "acomp" if parent == "VP" else "advmod"
        return _PLAIN.get(label, "dep")

    def _in_phrase(
        self, parent: str, child: Tree, label: str, functions: set[str], word: int, follows: bool, tree: Tree
    ) -> str:
        """The relation of a modifier of a noun, an adjective or an adverb."""
        if label in ("JJ", "JJR", "JJS", "ADJP", "VBG", "VBN", "WHADJP", "UCP"):
            return "amod" if parent in _NOMINAL else "advmod"
        if label in ("CD", "QP", "$", "#"):
            return "num"
        if label in ("NN", "NNS", "NNP", "NNPS", "NML", "NX", "NAC", "FW"):
            return "compmod"
        if label in ("NP", "WHNP"):
            if child.children and plain(child.children[-1].label) == "POS":
                return "poss"
            return "appos" if follows and not functions & _ADVERBIAL and parent in _NOMINAL else "nmod"
        if label == "SBAR":
            subordinate = any(plain(each.label) == "IN" for each in child.children)
            return "ccomp" if subordinate or parent not in _NOMINAL else "rcmod"
        if label in _CLAUSES:
            infinitive = any(
                self.leaves[i].label == "TO" and self.heads[i] == word + 1 for i in range(len(self.leaves))
            )
            return "infmod" if infinitive else "partmod"
        return _PLAIN.get(label, "dep")

    def _of_noun(
        self, parent: str, label: str, functions: set[str], word: int, top: int, before: bool, tree: Tree
    ) -> str:
        """The relation of a noun phrase to a verb."""
        if parent == "SBAR":  # a relative pronoun: the subject unless the clause has another
            subject = any(self.heads[i] == top + 1 and r.startswith("nsubj") for i, r in enumerate(self.relations))
            return "dobj" if subject else self._subject(top)
        if "SBJ" in functions or (parent in ("S", "SQ", "SINV") and before and not functions):
            return "expl" if self.leaves[word].label == "EX" else self._subject(top)
        if functions & (_ADVERBIAL | {"EXT", "CLR", "VOC", "TPC"}) and not functions & {"TPC"}:
            return "nmod"
        if parent == "VP":
            return "attr" if self._form(top) in _BE and self._is_main(top) else "dobj"
        return "nmod" if parent not in ("SQ", "SINV") else self._subject(top)

    def _of_clause(self, parent: str, child: Tree, label: str, functions: set[str], before: bool) -> str:
        """The relation of a clause to a verb."""
        if "SBJ" in functions:
            return "csubj"
        if functions & _ADVERBIAL:
            return "advcl"
        if parent == "VP" and label in ("S", "VP"):
            subject = any("SBJ" in each.label.split("-") for each in child.children)
            return "ccomp" if subject else "xcomp"
        if parent in ("S", "SINV", "SQ") and label == "SBAR" and "TPC" not in functions:
            return "advcl"
        return "ccomp" if parent in ("VP", "S", "SINV", "SBAR") else "dep"

    def _form(self, word: int) -> str:
        return self.leaves[word].word.lower()

    def _is_main(self, word: int) -> bool:
        return self.leaves[word].label.startswith("VB")

    def _passive(self, word: int) -> bool:
        return any(self.heads[i] == word + 1 and r == "auxpass" for i, r in enumerate(self.relations))

    def _subject(self, top: int) -> str:
        return "nsubjpass" if self._passive(top) else "nsubj"


def _tag(label: str) -> str:
    if label in _TAGS:
        return _TAGS[label]
    if label in _MARKS:
        return "."
    return _BY_LETTER.get(label[:1], "X")


def _chosen(tree: Tree) -> tuple[int, set[int]]:
    """The head among the children, and the heads of further conjuncts."""
    labels = [plain(child.label) for child in tree.children]
    joins = [i for i, label in enumerate(labels) if label in ("CC", "CONJP") and i > 0]
    if not joins:
        return _head(tree.label, labels), set()
    cuts = sorted({*joins, *(i for i, label in enumerate(labels) if label in (",", ":") and i < joins[-1])})
    parts: list[list[int]] = []
    for begin, end in zip([-1, *cuts], [*cuts, len(labels)], strict=True):
        part = [i for i in range(begin + 1, end) if labels[i] not in _MARKS]
        if part and not all(labels[i] in ("PRN", "ADVP", "CC") for i in part):
            parts.append(part)
    if len(parts) < 2:
        return _head(tree.label, labels), set()
    if plain(tree.label) in _NOMINAL and not any(labels[i] in _NOUNS for i in parts[0]):
        return _head(tree.label, labels), set()
    heads = [part[_head(tree.label, [labels[i] for i in part])] for part in parts]
    return heads[0], set(heads[1:])


def _head(label: str, labels: list[str]) -> int:
    """The head among labels; the first of adjacent noun phrases (*Mr. Lee, the editor*)."""
    if plain(label) in _NOMINAL and "NP" in labels and not any(each.startswith("NN") for each in labels):
        return labels.index("NP")
    return STANFORD.head(label, labels)


def _bare_objects(tree: Tree, chosen: int) -> list[int]:
    """Noun phrases after a verb without a function tag: two are an indirect and a direct object."""
    if plain(tree.label) != "VP" or not tree.children[chosen].is_leaf:
        return []
    return [i for i, child in enumerate(tree.children) if i > chosen and child.label == "NP"]
