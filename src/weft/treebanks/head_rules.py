"""Phrase-structure trees to dependency trees: every word except the head of a phrase attaches to that head.

    head(phrase) = head(child that the rules choose);   the heads of its other children attach to head(phrase)

The English rules are those of Collins (1999) as adapted by Yamada & Matsumoto (2003): auxiliaries head their verb
phrase, prepositions and subordinating conjunctions their phrase, the last noun its noun phrase. The trees have no
relations.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.text.binarize import HeadRules
from weft.text.doc import Doc
from weft.text.trees import Tree

#: For every phrase the side to search children from, and labels in order of preference, `|` between equals.
_TABLE = {
    "ADJP": "l NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    "ADVP": "r RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    "CONJP": "r CC RB IN",
    "FRAG": "r",
    "INTJ": "l",
    "LST": "r LS :",
    "NAC": "l NN|NNS NNP|NNPS NP NAC EX $ CD QP PRP VBG JJ|JJS|JJR ADJP FW",
    "NML": "r NN|NNP|NNPS|NNS|NX|POS JJR NML|NP CD JJ|JJS|RB|QP",
    "NP": "r NN|NNP|NNPS|NNS|NX|POS JJR NP|NML|PRP|EX|WP $|ADJP|PRN CD JJ|JJS|RB|QP",
    "NX": "r NN|NNP|NNPS|NNS|NX|POS JJR NP $|ADJP|PRN CD JJ|JJS|RB|QP",
    "PP": "r IN TO VBG VBN RP FW PP",
    "PRN": "l",
    "PRT": "r RP",
    "QP": "l $ IN NNS NN JJ RB DT CD QP JJR JJS",
    "RRC": "r VP NP ADVP ADJP PP",
    "S": "l TO IN VP S SBAR ADJP UCP NP",
    "SBAR": "l WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    "SBARQ": "l SQ S SINV SBARQ FRAG",
    "SINV": "l VBZ VBD VBP VB MD VP S SINV ADJP NP",
    "SQ": "l VBZ VBD VBP VB MD VP SQ",
    "UCP": "r",
    "VP": "l VBD|VBN|MD|VBZ|VB|VBG|VBP|VP ADJP NN NNS NP",
    "WHADJP": "l CC WRB JJ ADJP",
    "WHADVP": "r CC WRB",
    "WHNP": "l NN|NNS|NNP WDT WP WP$ WHADJP WHPP WHNP",
    "WHPP": "r IN TO FW",
    "TOP": "l S|SQ|SBARQ|SINV|SBAR|VP FRAG|NP|UCP|X|PP|ADVP|ADJP|INTJ",
}
ENGLISH = HeadRules({label: (row[0], tuple(row[1:].split())) for label, row in _TABLE.items()})


def heads_of(tree: Tree, rules: HeadRules = ENGLISH) -> list[int]:
    """The head of every word, counted from 1; 0 for the root.

    >>> from weft.text.trees import parse_tree
    >>> heads_of(parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (PRP it))))"))
    [2, 3, 0, 3]
    """
    heads = [0] * len(tree.leaves())
    _hang(tree, 0, rules, heads)
    return heads


def doc_of_heads(trees: Sequence[Tree], rules: HeadRules = ENGLISH) -> Doc:
    """Sentences with the dependency trees of phrase-structure trees, tags as XPOS.

    >>> from weft.text.trees import parse_tree
    >>> doc = doc_of_heads([parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")])
    >>> doc.column("xpos"), doc.head.tolist()
    (['DT', 'NN', 'VBZ'], [2, 3, 0])
    """
    leaves = [tree.leaves() for tree in trees]
    return Doc.from_words(
        [[leaf.word for leaf in row] for row in leaves],
        xpos=[[leaf.label for leaf in row] for row in leaves],
        head=[heads_of(tree, rules) for tree in trees],
    )


def _hang(tree: Tree, first: int, rules: HeadRules, heads: list[int]) -> tuple[int, int]:
    """Attach the words of a phrase; returns its head and the position after its last word, counted from 0."""
    if tree.is_leaf:
        return first, first + 1
    child_heads, end = [], first
    for child in tree.children:
        head, end = _hang(child, end, rules, heads)
        child_heads.append(head)
    chosen = child_heads[rules.head(tree.label, [child.label for child in tree.children])]
    for head in child_heads:
        if head != chosen:
            heads[head] = chosen + 1
    return chosen, end
