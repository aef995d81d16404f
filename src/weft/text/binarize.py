"""Trees with at most two children a phrase, and back: heads by rule, temporary nodes for what is split.

    (X a b H c)  ->  (X#r a (X#r* b (X#l* H c)))

The children left of the head are peeled off first, from the outside, then those right of it, until two remain. Labels
of the binary tree end in `#l`, `#r` (side of the head) or `#s` (a single child), with `*` for temporary nodes, which
`unbinarize` takes out again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.errors import WeftError
from weft.text.trees import Tree, rebuild

#: In the first column from which end children are searched (l: first to last), then labels in order of preference, `|`
#: between those that are as good as each other.
Rule = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class HeadRules:
    """Which child of a phrase is its head: the first of the labels that a child has, else the outermost child.

    >>> rules = HeadRules({"PP": ("l", ("P",))}, default="r")
    >>> rules.head("PP", ["AD", "P", "NP"]), rules.head("XX", ["A", "B"])
    (1, 1)
    """

    rules: Mapping[str, Rule]
    default: str = "r"

    def head(self, label: str, children: Sequence[str]) -> int:
        """The number of the head among the labels of the children; function tags (`NP-SBJ`) do not matter."""
        side, wanted = self.rules.get(plain(label), (self.default, ()))
        order = range(len(children)) if side == "l" else range(len(children) - 1, -1, -1)
        for tag in wanted:
            for number in order:
                if plain(children[number]) in tag.split("|"):
                    return number
        return order[0]


#: Heads of the Chinese Treebank, after Zhang & Clark (2008).
CHINESE = HeadRules(
    {
        "ADJP": ("r", ("ADJP", "JJ", "AD")),
        "ADVP": ("r", ("ADVP", "AD", "CS", "JJ", "NP", "PP", "P", "VA", "VV")),
        "CLP": ("r", ("CLP", "M", "NN", "NP")),
        "CP": ("r", ("DEC", "CP", "ADVP", "IP", "VP")),
        "DNP": ("r", ("DEG", "DNP", "DEC", "QP")),
        "DP": ("r", ("M", "QP", "DP", "CLP", "OD")),
        "DVP": ("r", ("DEV", "AD", "VP")),
        "FRAG": ("r", ("VV", "NR", "NN", "NT")),
        "IP": ("r", ("VP", "IP", "NP")),
        "LCP": ("r", ("LCP", "LC")),
        "LST": ("r", ("CD", "NP", "QP")),
        "NP": ("r", ("NP", "NN", "IP", "NR", "NT")),
        "NN": ("r", ("NP", "NN", "IP", "NR", "NT")),
        "PP": ("l", ("P", "PP")),
        "PRN": ("l", ("PU",)),
        "QP": ("r", ("QP", "CLP", "CD")),
        "UCP": ("r", ("IP", "NP", "VP")),
        "VCD": ("r", ("VV", "VA", "VE")),
        "VP": ("l", ("VE", "VC", "VV", "VNV", "VPT", "VRD", "VSB", "VCD", "VP", "IP")),
        "VPT": ("l", ("VA", "VV")),
        "VRD": ("l", ("VV", "VA")),
        "VSB": ("r", ("VV", "VE")),
    }
)


def plain(label: str) -> str:
    """A label without function tags and marks.

    >>> plain("NP-SBJ"), plain("NP#r*"), plain("-NONE-")
    ('NP', 'NP', '-NONE-')
    """
    if label.startswith("-"):
        return label
    for sign in "#-=":
        cut = label.find(sign, 1)
        label = label[:cut] if cut > 0 else label
    return label


def mark(label: str) -> str:
    """The mark after a label of a binary tree, "" if it has none.

    >>> mark("NP#r*"), mark("NP")
    ('r*', '')
    """
    return label.rpartition("#")[2] if "#" in label[1:] else ""


def binarize(tree: Tree, rules: HeadRules = CHINESE, stop: str = "t") -> Tree:
    """The binary tree; what stands below labels with the mark `stop` (words over their characters) stays as it is.

    >>> from weft.text.trees import parse_tree
    >>> str(binarize(parse_tree("(NP (AD a) (JJ b) (NN H) (PU c))")))
    '(NP#r (AD a) (NP#r* (JJ b) (NP#l* (NN H) (PU c))))'
    """
    made = rebuild(
        tree,
        lambda word: word,
        lambda label, children: _split(label, children, rules),
        lambda node: node.is_leaf or mark(node.label) == stop,
    )
    assert made is not None
    return made


def _split(label: str, children: tuple[Tree, ...], rules: HeadRules) -> Tree:
    if "#" in label[1:]:
        raise WeftError(f"the label {label!r} already has a mark after #; binarize trees without marks")
    if len(children) == 1:
        return Tree(f"{label}#s", children)
    head = rules.head(label, [child.label for child in children])
    # From the inside out: the head takes in its right siblings, the last of them last, then its left ones.
    node = children[head]
    todo = [("l", k) for k in range(head + 1, len(children))] + [("r", k) for k in range(head - 1, -1, -1)]
    for number, (side, k) in enumerate(todo, 1):
        pair = (node, children[k]) if side == "l" else (children[k], node)
        node = Tree(f"{label}#{side}{'*' if number < len(todo) else ''}", pair)
    return node


def unbinarize(tree: Tree, stop: str = "t") -> Tree:
    """The tree that `binarize` was given.

    >>> from weft.text.trees import parse_tree
    >>> text = "(NP (AD a) (JJ b) (NN H) (PU c))"
    >>> str(unbinarize(binarize(parse_tree(text)))) == text
    True
    """
    done: list[list[Tree]] = [[]]
    waiting: list[tuple[Tree, bool]] = [(tree, False)]
    while waiting:
        node, closing = waiting.pop()
        kind = mark(node.label)
        if closing:
            children = done.pop()
            done[-1].append(Tree(node.label.rpartition("#")[0] if kind else node.label, tuple(children)))
        elif node.is_leaf or kind == stop:
            done[-1].append(node)
        else:
            if not kind.endswith("*"):
                done.append([])
                waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(node.children))
    return done[0][0]
